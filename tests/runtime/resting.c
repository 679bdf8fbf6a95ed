/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resting - runs programs of OpenMP's tasks while fewer threads should run than there are.
 *
 *   resting THREADS WORD..
 *
 * Each word is a program; THREADS is how many should run (0: all of the eight). For each of them
 * "WORD" is printed when its result was right, else "WORD wrong". With -v in front of the words the
 * mean number of threads that were in a task when one began follows. play runs regions until there
 * is no blackboard beside the page, and counts them in the file loops there. */
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/page.h"

#define THREADS 8
#define LIMIT_S 300

static struct rt_page *page;
static const char *word;
static int inside, tasks, sum_inside;

/* ---- work ---- */

/* What a task does: others come by meanwhile, also where there are fewer CPUs. */
static void work(void)
{
    int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);

    __atomic_fetch_add(&tasks, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&sum_inside, now, __ATOMIC_SEQ_CST);
    usleep(200);
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* ---- programs ---- */

/* All of one thread's making, and nobody waits for them but the region. */
static bool flat(void)
{
    int done = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < 2000; i++)
#pragma omp task
    {
        work();
        __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    }
    return done == 2000;
}

static void grow(int depth, int *leaves)
{
    if (depth == 0) {
        work();
        __atomic_fetch_add(leaves, 1, __ATOMIC_SEQ_CST);
        return;
    }
    for (int i = 0; i < 2; i++) {
#pragma omp task shared(leaves) firstprivate(depth)
        grow(depth - 1, leaves);
    }
#pragma omp taskwait
}

/* A tree in which each one waits for its children, as Strassen's and Sort's. */
static bool tree(void)
{
    int leaves = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    grow(11, &leaves);
    return leaves == 1 << 11;
}

/* Steps of many small tasks each, as Health's, in groups; with more arguments than there are
 * registers, one of them aligned. */
struct wide {
    _Alignas(64) int value[40];
};

static bool steps(void)
{
    int wrong = 0, done = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int step = 0; step < 40; step++) {
        struct wide wide = {{step}};
        int before = done;

#pragma omp taskgroup
        for (int i = 0; i < 40; i++)
#pragma omp task firstprivate(wide, step, i) shared(done, wrong)
        {
            work();
            wide.value[0] += i;
            if (wide.value[0] != step + i || (uintptr_t)&wide % 64)
                __atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
#pragma omp task shared(done)
            __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
        }
        wrong += done != before + 40;
    }
    return wrong == 0 && done == 40 * 40;
}

/* A chain, beside which nothing can run: it would stand still if one of it rested. */
static bool chain(void)
{
    int at = 0, wrong = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < 300; i++)
#pragma omp task depend(inout : at) shared(at, wrong) firstprivate(i)
    {
        work();
        wrong += at++ != i;
    }
    return wrong == 0 && at == 300;
}

/* Each task needs a lock for a moment. */
static bool locks(void)
{
    omp_lock_t lock;
    int done = 0;

    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < 200; i++)
#pragma omp task shared(done, lock)
    {
        work();
        omp_set_lock(&lock);
        done++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return done == 200;
}

/* Two tasks wait for each other to begin: nothing but a thread that is freed ends them. */
static bool both(void)
{
    int begun = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int i = 0; i < 2; i++)
#pragma omp task shared(begun)
    {
        __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 2)
            usleep(1000);
    }
    return begun == 2;
}

/* Regions within tasks, each with tasks of its own; loops of tasks; what is final, or at once. */
static bool nested(void)
{
    int done = 0;

#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int i = 0; i < 20; i++)
#pragma omp task shared(done)
        {
#pragma omp parallel num_threads(2)
#pragma omp single
            for (int k = 0; k < 10; k++)
#pragma omp task shared(done)
            {
                work();
                __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
            }
        }
#pragma omp taskloop grainsize(3) shared(done)
        for (int i = 0; i < 100; i++)
            __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 50; i++)
#pragma omp task shared(done) final(i % 2) untied priority(i % 3)
        {
#pragma omp task shared(done) if (i % 3)
            __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
#pragma omp taskyield
        }
    }
    return done == 350;
}

/* The path of a file beside the page. */
static char *beside_page(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s", getenv(RT_PAGE_ENV));
    snprintf(strrchr(path, '/'), 64, "/%s", name);
    return path;
}

/* Regions of tasks one after the other until the blackboard is gone, counted in a file. */
static bool play(void)
{
    int fd = open(beside_page("loops"), O_RDWR), done = 0, wanted = 0;
    uint64_t *loops = mmap(NULL, sizeof(*loops), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const char *board = beside_page("blackboard");

    for (; loops != MAP_FAILED && access(board, F_OK) == 0; wanted += 100) {
        alarm(LIMIT_S); /* of one region */
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        for (int i = 0; i < 100; i++)
#pragma omp task shared(done)
        {
            work();
            __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
        }
        __atomic_fetch_add(loops, 1, __ATOMIC_SEQ_CST);
    }
    return wanted > 0 && done == wanted;
}

/* ---- words ---- */

static const struct {
    const char *word;
    bool (*run)(void);
} kinds[] = {{"flat", flat},   {"tree", tree},     {"steps", steps}, {"chain", chain},
             {"locks", locks}, {"nested", nested}, {"both", both},   {"play", play}};

static void hung(int signal)
{
    dprintf(STDOUT_FILENO, "%s wrong: hung, %d inside\n", word, inside);
    _exit(signal);
}

static void run_word(bool tell)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        bool right;

        if (strcmp(kinds[i].word, word) != 0)
            continue;
        tasks = sum_inside = 0;
        alarm(LIMIT_S);
        right = kinds[i].run();
        printf("%s%s", word, right ? "" : " wrong");
        if (tell)
            printf(" %.2f", (double)sum_inside / tasks);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    int fd = open(getenv(RT_PAGE_ENV), O_RDWR);
    bool tell = false;

    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (argc < 3 || page == MAP_FAILED)
        return 2;
    signal(SIGALRM, hung);
    page->threads = (uint32_t)atoi(argv[1]);
    for (argv += 2; *argv; argv++)
        if (strcmp(*argv, "-v") == 0)
            tell = true;
        else {
            word = *argv;
            run_word(tell);
        }
    return 0;
}
