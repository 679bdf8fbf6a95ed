/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns - threads that take turns with one mutex; tests/bench/cohort runs it with the preload
 * library and without.
 *
 *   turns domains                       prints the words of BERTH_RT_NODES for the next
 *   turns fight THREADS TURNS HOLD THINK   threads, bound to the domains' CPUs by turns, have so
 * many turns together; HOLD lines of memory are written in each, and THINK loops are run after it
 *   turns pairs N                       locks and unlocks, in a function of that name, without
 * rivals turns pairs-fought N                a mutex that was fought for before */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DOMAINS 2
#define THREADS_MAX 256
#define LINES_MAX 64

static struct {
    int cpu[DOMAINS];
    int domains, threads, hold, think, yield;
    long turns;
} asked;

/* Of who has the mutex. */
static struct {
    pthread_mutex_t mutex;
    long had, local, remote;
    int last;
    struct {
        _Alignas(64) long count;
    } line[LINES_MAX];
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = -1};

static _Atomic long seen; /* as `had`, for who has not got it */
static long longest[THREADS_MAX];

/* One CPU for each domain, as many as there are. */
static void find_cpus(void)
{
    cpu_set_t mine;

    sched_getaffinity(0, sizeof(mine), &mine);
    for (int cpu = 0; cpu < CPU_SETSIZE && asked.domains < DOMAINS; cpu++)
        if (CPU_ISSET(cpu, &mine))
            asked.cpu[asked.domains++] = cpu;
}

static int have_turn(int domain)
{
    int more = shared.had < asked.turns;

    for (int i = 0; i < asked.hold; i++)
        shared.line[i].count++;
    shared.local += shared.last == domain;
    shared.remote += shared.last != domain && shared.last >= 0;
    shared.last = domain;
    if (asked.yield)
        sched_yield();
    seen = ++shared.had;
    return more;
}

static void *member(void *arg)
{
    int thread = (int)(size_t)arg, domain = thread % asked.domains, more = 1;
    cpu_set_t one;
    long before, waited;

    CPU_ZERO(&one);
    CPU_SET(asked.cpu[domain], &one);
    sched_setaffinity(0, sizeof(one), &one);
    while (more) {
        before = seen;
        pthread_mutex_lock(&shared.mutex);
        waited = shared.had - before;
        more = have_turn(domain);
        pthread_mutex_unlock(&shared.mutex);
        longest[thread] = waited > longest[thread] ? waited : longest[thread];
        for (volatile int i = 0; i < asked.think; i++)
            ;
    }
    return NULL;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double fight(void)
{
    pthread_t thread[THREADS_MAX];
    double began = now_s();

    for (int i = 0; i < asked.threads; i++)
        if (pthread_create(&thread[i], NULL, member, (void *)(size_t)i) != 0)
            exit(1);
    for (int i = 0; i < asked.threads; i++)
        pthread_join(thread[i], NULL);
    return now_s() - began;
}

/* Each turn adds one to each line: a turn of two at once would lose some. */
static int say_fight(double seconds)
{
    long most = 0;

    for (int i = 0; i < asked.threads; i++)
        most = longest[i] > most ? longest[i] : most;
    for (int i = 0; i < asked.hold; i++)
        if (shared.line[i].count != shared.had)
            return 1;
    printf("%10.0f turns/s  %6.0f ns each  local %5.1f %%  longest wait %ld turns\n",
           (double)shared.had / seconds, seconds / (double)shared.had * 1e9,
           100.0 * (double)shared.local / (double)(shared.local + shared.remote), most);
    return 0;
}

__attribute__((noinline)) void pairs(long n);

void pairs(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&shared.mutex);
        pthread_mutex_unlock(&shared.mutex);
    }
}

static int run(int argc, char **argv)
{
    if (strcmp(argv[1], "domains") == 0)
        return printf("%d|%d\n", asked.cpu[0], asked.cpu[asked.domains - 1]) < 0;
    if (strcmp(argv[1], "fight") == 0 && argc == 6) {
        asked.threads = atoi(argv[2]);
        asked.turns = atol(argv[3]);
        asked.hold = atoi(argv[4]);
        asked.think = atoi(argv[5]);
        if (asked.threads < 1 || asked.threads > THREADS_MAX || asked.hold > LINES_MAX)
            return 2;
        return say_fight(fight());
    }
    if (strcmp(argv[1], "pairs-fought") == 0) {
        asked.threads = 8;
        asked.turns = 20000;
        asked.yield = 1;
        fight();
    }
    pairs(argc > 2 ? atol(argv[2]) : 1000);
    return 0;
}

int main(int argc, char **argv)
{
    find_cpus();
    return argc > 1 ? run(argc, argv) : 2;
}
