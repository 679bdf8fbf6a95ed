/* SPDX-License-Identifier: GPL-2.0-or-later */
/* constructor - a library whose constructor has loops, and threads that wait for each other: for
 * host, which opens it, and so has the dynamic linker's lock while they run. */
#include <pthread.h>
#include <stdio.h>

#define ITEMS 1000

static int sums[3], woken;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static int sum_dynamic(void)
{
    int sum = 0;

#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += i;
    return sum;
}

/* The first call of a function comes from a thread that the linker's lock is not of. */
static void sum_guided(int *sum)
{
    int all = 0;

#pragma omp parallel reduction(+ : all)
    {
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < ITEMS; i++)
            all += i;
#pragma omp for schedule(runtime)
        for (unsigned long long i = 0; i < ITEMS; i++)
            all += (int)i;
    }
    *sum = all;
}

static void *wake(void *arg)
{
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    woken = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    sum_guided(arg);
    return NULL;
}

static void be_woken(void)
{
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    while (!woken)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;

    sums[0] = sum_dynamic();
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, wake, &sums[1]);
    be_woken();
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    sum_guided(&sums[2]);
}

int regions(char **words);

int regions(char **words)
{
    (void)words;
    printf("woken %d sums %d %d %d\n", woken, sums[0], sums[1], sums[2]);
    return 0;
}
