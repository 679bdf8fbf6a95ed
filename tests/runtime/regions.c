/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regions - runs parallel regions of all kinds and prints how many threads each had.
 *
 *   regions WORD..    a program; as a library, with -DLIBRARY: regions(), which host opens
 *
 * Each word is a region, or what is done between them; NAME=N takes a number. "WORD N" is printed
 * for a region: N threads ran it, as many as the run-time said they are, and what they computed is
 * right; else "WORD N wrong: ..". */
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/page.h"

#define ITEMS 1000

static int said, came, total; /* of a region: threads by its run-time, by count, and its sum */

static void begin(void)
{
    said = came = total = 0;
}

/* Each thread of a region comes here once. */
static void here(void)
{
#pragma omp atomic
    came++;
#pragma omp single
    said = omp_get_num_threads();
}

static void end(const char *word, int sum)
{
    if (came != said || total != sum)
        printf("%s %d wrong: %d threads, sum %d and not %d\n", word, said, came, total, sum);
    else
        printf("%s %d\n", word, said);
}

#define SUM (ITEMS * (ITEMS - 1) / 2)

static void plain(int n)
{
    (void)n;
    begin();
#pragma omp parallel
    here();
    end("plain", 0);
}

/* A call as the last thing that a function does: with -O2 it is a jump. */
__attribute__((noinline)) static void jump(void)
{
#pragma omp parallel
    here();
}

static void tail(int n)
{
    (void)n;
    begin();
    jump();
    end("tail", 0);
}

static void clause(int n)
{
    (void)n; /* without OpenMP nobody reads it */
    begin();
#pragma omp parallel num_threads(n)
    here();
    end("clause", 0);
}

static void condition(int n)
{
    (void)n; /* without OpenMP nobody reads it */
    begin();
#pragma omp parallel if (n)
    here();
    end("if", 0);
}

/* LLVM has told the number before it looks at the condition. */
static void clause_condition(int n)
{
    (void)n; /* without OpenMP nobody reads it */
    begin();
#pragma omp parallel num_threads(5) if (n)
    here();
    end("clause-if", 0);
}

/* Combined constructs: who comes by is not counted but by what it says of itself. */
#define LOOP(function, word, schedule)                                                             \
    static void function(int n)                                                                    \
    {                                                                                              \
        char seen[256] = {0};                                                                      \
                                                                                                   \
        (void)n;                                                                                   \
        begin();                                                                                   \
        _Pragma(schedule) for (int i = 0; i < ITEMS; i++)                                          \
        {                                                                                          \
            total += i;                                                                            \
            said = omp_get_num_threads();                                                          \
            seen[omp_get_thread_num()] = 1;                                                        \
        }                                                                                          \
        for (int i = said; i < 256; i++)                                                           \
            came += seen[i];                                                                       \
        came += said;                                                                              \
        end(word, SUM);                                                                            \
    }

LOOP(loop_static, "static", "omp parallel for reduction(+ : total) schedule(static, 7)")
LOOP(loop_dynamic, "dynamic",
     "omp parallel for reduction(+ : total) schedule(monotonic : dynamic, 7)")
LOOP(loop_guided, "guided", "omp parallel for reduction(+ : total) schedule(monotonic : guided, 7)")
LOOP(loop_free, "free", "omp parallel for reduction(+ : total) schedule(nonmonotonic : dynamic, 7)")
LOOP(loop_free_guided, "free-guided",
     "omp parallel for reduction(+ : total) schedule(nonmonotonic : guided, 7)")
LOOP(loop_runtime, "runtime", "omp parallel for reduction(+ : total) schedule(runtime)")
LOOP(loop_task, "task", "omp parallel for reduction(task, + : total)")

static void sections(int n)
{
    (void)n;
    begin();
#pragma omp parallel sections reduction(+ : total)
    {
#pragma omp section
        said = came = omp_get_num_threads();
#pragma omp section
        total += 3;
#pragma omp section
        total += 4;
    }
    end("sections", 7);
}

/* More variables than there are registers for arguments. */
static void many(int n)
{
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;

    (void)n;
    begin();
#pragma omp parallel reduction(+ : total)
    {
        here();
#pragma omp single nowait
        total += a + b + c + d + e + f + g + h + i + j;
#pragma omp single
        a = b = c = d = e = f = g = h = i = j = 0;
    }
    end("many", 55);
}

/* Inner regions have two threads by OMP_NUM_THREADS=..,2. */
static void nested(int n)
{
    int inner = 0;

    (void)n;
    begin();
#pragma omp parallel reduction(+ : inner)
    {
        here();
#pragma omp parallel reduction(+ : inner)
        inner++;
    }
    end("nested", 0);
    printf("inner %d\n", came ? inner / came : 0);
}

static void teams(int n)
{
    int threads = 0;

    (void)n;
    begin();
#pragma omp teams num_teams(n) thread_limit(4) reduction(max : threads)
    {
#pragma omp parallel reduction(max : threads)
        threads = omp_get_num_threads();
    }
    printf("teams %d\n", threads);
}

static void set(int n)
{
    omp_set_num_threads(n);
}

/* berthd writes the page. */
static void page(int n)
{
    int fd = open(getenv(RT_PAGE_ENV), O_RDWR);
    struct rt_page now;

    if (fd < 0 || pread(fd, &now, sizeof(now), 0) != sizeof(now))
        abort();
    now.generation += 2;
    now.threads = (uint32_t)n;
    if (pwrite(fd, &now, sizeof(now), 0) != sizeof(now))
        abort();
    close(fd);
}

static void removed(int n)
{
    (void)n;
    if (unlink(getenv(RT_PAGE_ENV)) < 0)
        abort();
}

static void *thread_body(void *arg)
{
    for (int i = 0; i < 100; i++) {
#pragma omp parallel
        (void)omp_get_thread_num();
    }
    return arg;
}

/* N threads of the program's own with 100 regions each. */
static void threads(int n)
{
    pthread_t thread[64];

    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, thread_body, NULL) != 0)
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* N children, each of which goes on with the words that follow. */
static void forked(int n)
{
    int status;

    fflush(stdout);
    for (int i = 0; i < n; i++)
        if (fork() == 0)
            return;
    for (int i = 0; i < n; i++)
        if (wait(&status) < 0 || status != 0)
            printf("fork wrong: a child ended with %x\n", (unsigned)status);
    exit(0);
}

static void secure(int n)
{
    (void)n;
    printf("secure %lu\n", getauxval(AT_SECURE));
}

static const struct {
    const char *word;
    void (*run)(int n);
} words[] = {{"plain", plain},
             {"tail", tail},
             {"clause", clause},
             {"if", condition},
             {"clause-if", clause_condition},
             {"static", loop_static},
             {"dynamic", loop_dynamic},
             {"guided", loop_guided},
             {"free", loop_free},
             {"free-guided", loop_free_guided},
             {"runtime", loop_runtime},
             {"task", loop_task},
             {"sections", sections},
             {"many", many},
             {"nested", nested},
             {"teams", teams},
             {"set", set},
             {"page", page},
             {"remove", removed},
             {"threads", threads},
             {"fork", forked},
             {"secure", secure}};

static int run_word(const char *word)
{
    const char *number = strchr(word, '=');
    size_t len = number ? (size_t)(number - word) : strlen(word);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == len && strncmp(word, words[i].word, len) == 0) {
            words[i].run(number ? atoi(number + 1) : 0);
            return 0;
        }
    fprintf(stderr, "regions: what is %s?\n", word);
    return 2;
}

int regions(char **word);

int regions(char **word)
{
    int rc = 0;

    for (; *word && rc == 0; word++)
        rc = run_word(*word);
    fflush(stdout);
    return rc;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
    (void)argc;
    return regions(argv + 1);
}
#endif
