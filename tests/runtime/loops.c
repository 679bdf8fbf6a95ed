/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loops - runs loops of all kinds while the number of threads that should run in them changes.
 *
 *   loops WORD..
 *
 * Each word is a kind of loop, or what is done between them; NAME=N takes a number. "WORD" is
 * printed when all of its iterations were done once and no more threads were in the loop at a time
 * than should have been, else "WORD wrong: ..". Regions have THREADS threads by a clause. A word
 * that takes longer than LIMIT_S has hung, and it is said where.
 *
 *   correct=N   so many should run from the next loop on; 0: all
 *   random=1    the number changes within loops, from iteration to iteration; 0: it stays
 *   rounds=N    the kinds that follow are run so often
 *   play        runs loops until there is no blackboard beside the page, and counts them in the file
 *               loops there */
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/page.h"

#define THREADS 8
#define ITEMS 200
#define LIMIT_S 300 /* beside other work a loop that spins waits for its threads in turn */

static struct rt_page *page;
static const char *word;
static int correct, rounds = 1, at_random, round_now;
static int done[4 * ITEMS], inside, most_inside, turns;

/* ---- what is checked ---- */

static void set_correct(int n)
{
    __atomic_store_n(&page->threads, (uint32_t)n, __ATOMIC_RELEASE);
}

static void begin(void)
{
    memset(done, 0, sizeof(done));
    most_inside = 0;
    set_correct(correct);
}

/* An iteration: long enough for others to come by, and where the number is changed. */
static void item(int i)
{
    unsigned seed = (unsigned)(i * 7919 + round_now * 104729);
    int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST), before = most_inside;

    while (now > before && !__atomic_compare_exchange_n(&most_inside, &before, now, false,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    if (at_random && rand_r(&seed) % 4 == 0)
        set_correct(1 + rand_r(&seed) % THREADS);
    if (i % 16 == 0)
        usleep(1);
    __atomic_fetch_add(&done[i], 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* items: so many were to be done; limited: not by more threads at a time than should be. */
static bool check(int items, bool limited)
{
    int limit = at_random || !limited || correct == 0 ? THREADS * THREADS : correct;

    for (int i = 0; i < 4 * ITEMS; i++)
        if (done[i] != (i < items)) {
            printf("%s wrong: iteration %d was done %d times, in round %d\n", word, i, done[i],
                   round_now);
            return false;
        }
    if (most_inside > limit)
        printf("%s wrong: %d threads were in it, of %d that should, in round %d\n", word,
               most_inside, limit, round_now);
    return most_inside <= limit;
}

/* ---- kinds ---- */

#define LOOP(name, type, pragma)                                                                   \
    static bool name(void)                                                                         \
    {                                                                                              \
        begin();                                                                                   \
        _Pragma(pragma) for (type i = 0; i < ITEMS; i++) item((int)i);                             \
        return check(ITEMS, true);                                                                 \
    }

LOOP(dynamic, int, "omp parallel for num_threads(THREADS) schedule(monotonic : dynamic, 3)")
LOOP(guided, int, "omp parallel for num_threads(THREADS) schedule(monotonic : guided)")
LOOP(any_dynamic, int, "omp parallel for num_threads(THREADS) schedule(nonmonotonic : dynamic)")
LOOP(any_guided, long, "omp parallel for num_threads(THREADS) schedule(nonmonotonic : guided, 2)")
LOOP(runtime, long, "omp parallel for num_threads(THREADS) schedule(runtime)")
LOOP(of_unsigned, unsigned, "omp parallel for num_threads(THREADS) schedule(dynamic)")

/* Loops that are called, not begun with their region, as most are; with more shared variables than
 * there are registers. */
#define INNER(name, type, pragma)                                                                  \
    static bool name(void)                                                                         \
    {                                                                                              \
        int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, sum = 0;                       \
                                                                                                   \
        begin();                                                                                   \
        _Pragma("omp parallel num_threads(THREADS)")                                               \
        {                                                                                          \
            _Pragma(pragma) for (type i = 0; i < ITEMS; i++) item((int)i);                         \
            _Pragma("omp single") sum = a + b + c + d + e + f + g + h;                             \
            _Pragma("omp single") a = b = c = d = e = f = g = h = 0;                               \
        }                                                                                          \
        return check(ITEMS, true) && sum == 36 && a + b + c + d + e + f + g + h == 0;              \
    }

INNER(inner_dynamic, int, "omp for schedule(monotonic : dynamic, 3)")
INNER(inner_guided, int, "omp for schedule(guided)")
INNER(inner_any, long, "omp for schedule(nonmonotonic : dynamic)")
INNER(inner_runtime, int, "omp for schedule(runtime)")
INNER(inner_ull, unsigned long long, "omp for schedule(dynamic, 2)")
INNER(inner_ull_guided, unsigned long long, "omp for schedule(guided)")
INNER(inner_ull_runtime, unsigned long long, "omp for schedule(runtime)")

/* Each iteration waits for the one before it. */
static bool ordered(void)
{
    int next = 0, wrong = 0;

    begin();
#pragma omp parallel for num_threads(THREADS) schedule(dynamic) ordered
    for (int i = 0; i < ITEMS; i++) {
        item(i);
#pragma omp ordered
        wrong += next++ != i;
    }
    return check(ITEMS, false) && wrong == 0;
}

/* Of two threads: libgomp has them wait by turning round and round. */
static bool across(void)
{
    int sum[ITEMS + 1] = {0};

    begin();
#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic) ordered(1)
    for (int i = 0; i < ITEMS; i++) {
        item(i);
#pragma omp ordered depend(sink : i - 1)
        sum[i + 1] = sum[i] + i;
#pragma omp ordered depend(source)
    }
    return check(ITEMS, false) && sum[ITEMS] == ITEMS * (ITEMS - 1) / 2;
}

/* A loop is begun while another still has iterations that are being done. */
static bool nowait(void)
{
    begin();
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++)
            item(i);
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < 7; i++)
            item(ITEMS + i);
#pragma omp for schedule(dynamic, 5) nowait
        for (int i = 7; i < ITEMS; i++)
            item(ITEMS + i);
#pragma omp for schedule(static) nowait
        for (int i = 0; i < ITEMS; i++)
            item(2 * ITEMS + i);
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++)
            item(3 * ITEMS + i);
    }
    return check(4 * ITEMS, false);
}

/* No iterations, one, and fewer than threads. */
static bool few(void)
{
    begin();
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < inside; i++)
            item(i);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1; i++)
            item(i);
#pragma omp for schedule(guided)
        for (int i = 1; i < 4; i++)
            item(i);
    }
    return check(4, true);
}

static bool nested(void)
{
    begin();
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for num_threads(4) schedule(dynamic)
        for (int i = 0; i < ITEMS; i++)
            item(k * ITEMS + i);
    }
    return check(4 * ITEMS, false);
}

/* Tasks that a thread leaves behind when it comes for its next chunk, and waits for or not: whoever
 * does not rest does them. */
static bool tasks(void)
{
    begin();
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic)
        for (int k = 0; k < 40; k++) {
            for (int i = 0; i < 5; i++)
#pragma omp task
                item(5 * k + i);
#pragma omp taskwait
        }
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++)
#pragma omp task
            item(ITEMS + i);
#pragma omp for schedule(guided)
        for (int k = 0; k < 10; k++)
#pragma omp taskloop grainsize(3)
            for (int i = 0; i < 20; i++)
                item(2 * ITEMS + 20 * k + i);
    }
    return check(3 * ITEMS, false);
}

/* Of one thread's making, in a region without other loops: all of its threads do them. */
static bool taskloop(void)
{
    begin();
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskloop
        for (int i = 0; i < ITEMS; i++)
            item(i);
#pragma omp taskloop num_tasks(7) nogroup
        for (unsigned long long i = 0; i < ITEMS; i++)
            item(ITEMS + (int)i);
    }
    return check(2 * ITEMS, false);
}

/* A region of one thread within an iteration, without a team of its own. */
static bool alone(void)
{
    begin();
#pragma omp parallel for num_threads(THREADS) schedule(dynamic)
    for (int k = 0; k < 40; k++) {
#pragma omp parallel if (inside < 0)
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 5; i++)
            item(5 * k + i);
    }
    return check(ITEMS, true);
}

/* One thread comes when all has been done, and others wait for it in a later loop. */
static bool late(void)
{
    int left = ITEMS;

    begin();
#pragma omp parallel num_threads(THREADS)
    {
        while (omp_get_thread_num() == 0 && __atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0)
            usleep(100);
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++) {
            item(i);
            __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < ITEMS; i++)
            item(ITEMS + i);
    }
    return check(2 * ITEMS, false);
}

/* All but one come when all has been done: the one in the loop must not rest. */
static bool lone(void)
{
    int left = ITEMS;

    begin();
#pragma omp parallel num_threads(THREADS)
    {
        while (omp_get_thread_num() != 3 && __atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0)
            usleep(100);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < ITEMS; i++) {
            item(i);
            __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
        }
    }
    return check(ITEMS, false);
}

/* With OMP_CANCELLATION=true; libomp 14 cannot cancel a loop that is not monotonic. What is left of
 * the loop is left out. */
static bool cancelled(void)
{
    int after = 0;

    begin();
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(monotonic : dynamic)
        for (int i = 0; i < ITEMS; i++) {
            item(i);
#pragma omp cancel for if (i > 20)
        }
#pragma omp atomic
        after++;
#pragma omp for schedule(monotonic : dynamic)
        for (int i = 0; i < ITEMS; i++) {
            item(ITEMS + i);
#pragma omp cancellation point for
        }
    }
    for (int i = 0; i < ITEMS; i++)
        done[i] = 1;
    return check(2 * ITEMS, false) && after == THREADS;
}

/* A thread leaves the region before its loops, while others are in one. */
static bool cancelled_region(void)
{
    begin();
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp cancel parallel if (omp_get_thread_num() == 2)
#pragma omp for schedule(dynamic)
        for (int i = 0; i < ITEMS; i++)
            item(i);
#pragma omp for schedule(guided)
        for (int i = 0; i < ITEMS; i++)
            item(ITEMS + i);
    }
    for (int i = 0; i < 2 * ITEMS; i++)
        done[i] = 1;
    return check(2 * ITEMS, false);
}

/* A child of a thread that is in a loop goes on alone, and ends; not with libomp, which begins anew
 * in a child. */
static bool forked(void)
{
    int status = 0;
    pid_t child = 0;

    begin();
#pragma omp parallel num_threads(THREADS)
    {
        bool mine = false;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++) {
            item(i);
            if (i == ITEMS / 2) {
                child = fork();
                mine = child == 0;
            }
        }
        if (mine)
            _exit(0);
    }
    if (child <= 0 || waitpid(child, &status, 0) != child || status != 0)
        printf("%s wrong: the child ended with %x\n", word, (unsigned)status);
    return check(ITEMS, true) && child > 0 && status == 0;
}

/* A child of a thread that is in no loop has loops, and a number, of its own. */
static bool between(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(inner_any() ? 0 : 1);
    return inner_any() && child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A thread holds a lock while it comes for a chunk, and the others wait for it in theirs: nothing
 * but a thread that is freed ends it. */
static bool locked(void)
{
    omp_lock_t lock;
    int holder = -1;

    begin();
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 1) {
            omp_set_lock(&lock);
            __atomic_store_n(&holder, 1, __ATOMIC_SEQ_CST);
        }
        while (omp_get_thread_num() == 1 && __atomic_load_n(&turns, __ATOMIC_SEQ_CST) == 0)
            usleep(100);
        while (__atomic_load_n(&holder, __ATOMIC_SEQ_CST) < 0)
            usleep(100);
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < ITEMS; i++) {
            item(i);
            __atomic_store_n(&turns, 1, __ATOMIC_SEQ_CST);
            if (omp_get_thread_num() != 1) {
                omp_set_lock(&lock);
                omp_unset_lock(&lock);
            }
        }
        if (omp_get_thread_num() == 1)
            omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return check(ITEMS, false);
}

/* The path of a file beside the page. */
static char *beside_page(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s", getenv(RT_PAGE_ENV));
    snprintf(strrchr(path, '/'), 64, "/%s", name);
    return path;
}

static void *map_file(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        abort();
    close(fd);
    return at;
}

/* Loops one after the other until the blackboard is gone. */
static bool play(void)
{
    uint64_t *loops = map_file(beside_page("loops"), sizeof(*loops));
    const char *board = beside_page("blackboard");
    long sum = 0, wanted = 0;

    for (; access(board, F_OK) == 0; wanted += (long)ITEMS * (ITEMS - 1) / 2) {
        alarm(LIMIT_S); /* of one loop */
#pragma omp parallel for num_threads(THREADS) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < ITEMS; i++) {
            usleep(100);
            sum += i;
        }
        __atomic_fetch_add(loops, 1, __ATOMIC_SEQ_CST);
    }
    return wanted > 0 && sum == wanted;
}

/* ---- words ---- */

static const struct {
    const char *word;
    bool (*run)(void);
} kinds[] = {{"dynamic", dynamic},
             {"guided", guided},
             {"any-dynamic", any_dynamic},
             {"any-guided", any_guided},
             {"runtime", runtime},
             {"unsigned", of_unsigned},
             {"inner-dynamic", inner_dynamic},
             {"inner-guided", inner_guided},
             {"inner-any", inner_any},
             {"inner-runtime", inner_runtime},
             {"inner-ull", inner_ull},
             {"inner-ull-guided", inner_ull_guided},
             {"inner-ull-runtime", inner_ull_runtime},
             {"ordered", ordered},
             {"across", across},
             {"nowait", nowait},
             {"few", few},
             {"nested", nested},
             {"alone", alone},
             {"tasks", tasks},
             {"taskloop", taskloop},
             {"late", late},
             {"lone", lone},
             {"cancelled", cancelled},
             {"cancelled-region", cancelled_region},
             {"between", between},
             {"fork", forked},
             {"locked", locked},
             {"play", play}};

static const struct {
    const char *word;
    int *number;
} numbers[] = {{"correct", &correct}, {"rounds", &rounds}, {"random", &at_random}};

static void hung(int signal)
{
    dprintf(STDOUT_FILENO,
            "%s wrong: hung in round %d, with %u threads that should run, %d inside\n", word,
            round_now, page->threads, inside);
    _exit(signal);
}

static bool run_kind(bool (*run)(void))
{
    alarm(LIMIT_S);
    for (round_now = 0; round_now < rounds; round_now++)
        if (!run())
            return false;
    return true;
}

static void run_word(void)
{
    const char *number = strchr(word, '=');

    for (size_t i = 0; number && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strncmp(word, numbers[i].word, (size_t)(number - word)) == 0)
            *numbers[i].number = atoi(number + 1);
    for (size_t i = 0; !number && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(word, kinds[i].word) == 0)
            printf("%s%s\n", word, run_kind(kinds[i].run) ? "" : " failed");
}

int main(int argc, char **argv)
{
    (void)argc;
    signal(SIGALRM, hung);
    page = map_file(getenv(RT_PAGE_ENV), sizeof(*page));
    for (argv++; *argv; argv++) {
        word = *argv;
        run_word();
    }
    return 0;
}
