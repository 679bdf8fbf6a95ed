/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sync_program - the benchmark sync of Wang 2015 (section 6.4): threads multiply, and meet after so
 * many multiplications each, until so many are done in all. Prints the seconds it took.
 *
 *   sync_program none|barrier|cond|mutex THREADS TOTAL EACH
 *
 * none: they do not meet; cond: at a barrier that is made of a mutex and a condition variable;
 * mutex: each adds to a sum under one mutex. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enum_table.h"

enum meeting { NONE, BARRIER, COND, MUTEX, MEETINGS };

static const char *const TABLE(meeting_name, MEETINGS) = {
    ROW(NONE) = "none",
    ROW(BARRIER) = "barrier",
    ROW(COND) = "cond",
    ROW(MUTEX) = "mutex",
};
TABLE_COMPLETE(meeting_name);

static struct {
    enum meeting meeting;
    unsigned threads;
    uint64_t rounds, each;
    pthread_barrier_t start, barrier;
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    unsigned came;
    uint64_t round, sum;
} bench = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};

static uint64_t multiply(uint64_t number)
{
    for (uint64_t i = 0; i < bench.each; i++) {
        number *= number;
        __asm__ volatile("" : "+r"(number));
    }
    return number;
}

static void meet_by_cond(void)
{
    uint64_t round;

    pthread_mutex_lock(&bench.mutex);
    round = bench.round;
    if (++bench.came == bench.threads) {
        bench.came = 0;
        bench.round++;
        pthread_cond_broadcast(&bench.turned);
    }
    while (bench.round == round)
        pthread_cond_wait(&bench.turned, &bench.mutex);
    pthread_mutex_unlock(&bench.mutex);
}

static void meet(uint64_t number)
{
    if (bench.meeting == BARRIER)
        pthread_barrier_wait(&bench.barrier);
    if (bench.meeting == COND)
        meet_by_cond();
    if (bench.meeting != MUTEX)
        return;
    pthread_mutex_lock(&bench.mutex);
    bench.sum += number;
    pthread_mutex_unlock(&bench.mutex);
}

static void *work(void *unused)
{
    uint64_t number = 3;

    (void)unused;
    pthread_barrier_wait(&bench.start);
    for (uint64_t i = 0; i < bench.rounds; i++) {
        number = multiply(number);
        meet(number);
    }
    return NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double run(void)
{
    pthread_t *thread = calloc(bench.threads, sizeof(*thread));
    double from;

    if (!thread)
        exit(1);
    pthread_barrier_init(&bench.start, NULL, bench.threads + 1);
    pthread_barrier_init(&bench.barrier, NULL, bench.threads);
    for (unsigned i = 0; i < bench.threads; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            exit(1);
    from = seconds();
    pthread_barrier_wait(&bench.start);
    for (unsigned i = 0; i < bench.threads; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return seconds() - from;
}

int main(int argc, char **argv)
{
    double total = argc == 5 ? strtod(argv[3], NULL) : 0,
           each = argc == 5 ? strtod(argv[4], NULL) : 0;

    while (argc == 5 && bench.meeting < MEETINGS &&
           strcmp(argv[1], meeting_name[bench.meeting]) != 0)
        bench.meeting++;
    bench.threads = argc == 5 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (bench.threads == 0 || bench.meeting == MEETINGS || each < 1 || total < each) {
        fprintf(stderr, "usage: sync_program none|barrier|cond|mutex THREADS TOTAL EACH\n");
        return 2;
    }
    bench.each = (uint64_t)each;
    bench.rounds = (uint64_t)(total / each / bench.threads);
    printf("%.6f\n", run());
    return 0;
}
