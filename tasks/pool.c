/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool - starting and stopping a pool. Each worker is pinned before it writes to anything of its
 * own, so that it all lies on its memory node; none begins before all have what they need. */
#include "tasks/pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tasks/forks.h"
#include "tasks/memory.h"
#include "tasks/moves.h"
#include "tasks/wake.h"
#include "tasks/worker.h"
#include "enum_table.h"

#define QUEUE_AT_FIRST 64 /* tasks */
#define MEASURED 1024     /* tasks that are pushed and popped to know what that costs */

/* What a thread is started with. */
struct start {
    struct berth_tasks *pool;
    struct place place;
    unsigned number;
};

/* ---- threads ---- */

static bool is_first_of_domain(const struct start *start)
{
    const struct berth_tasks *pool = start->pool;
    const char *base = pool->region[start->place.domain].base;

    return (const char *)pool->worker[start->number] == base + sizeof(struct domain);
}

/* Fills what the worker has. Returns -1: no memory. */
static int begin_worker(const struct start *start)
{
    struct berth_tasks *pool = start->pool;
    struct worker *me = pool->worker[start->number];

    if (is_first_of_domain(start)) {
        moves_begin_domain(pool->domain[start->place.domain]);
        if (start->place.exists)
            moves_note_memory(pool, pool->domain[start->place.domain]);
    }
    me->pool = pool;
    me->number = start->number;
    me->chance = (start->number + 1) * 0x9e3779b97f4a7c15u;
    me->threshold = threshold_of(&pool->rates, pool->stealing.literal);
    return deque_begin(&me->deque, QUEUE_AT_FIRST);
}

/* Tells that this worker is ready, and waits for the others. Says whether there is anything to do.
 */
static bool is_to_work(struct berth_tasks *pool, int begun)
{
    bool works;

    pthread_mutex_lock(&pool->outside);
    pool->failed = pool->failed || begun < 0;
    pool->ready++;
    pthread_cond_broadcast(&pool->news);
    while (!pool->go)
        pthread_cond_wait(&pool->news, &pool->outside);
    works = !pool->failed;
    pthread_mutex_unlock(&pool->outside);
    return works;
}

static void *thread_main(void *argument)
{
    const struct start start = *(struct start *)argument;

    free(argument);
    if (start.place.exists)
        moves_pin_to(start.place.cpu);
    if (is_to_work(start.pool, begin_worker(&start)))
        worker_work(start.pool->worker[start.number]);
    return NULL;
}

static int start_thread(struct berth_tasks *pool, unsigned number, const struct place *place)
{
    struct start *start = malloc(sizeof(*start));
    int why = ENOMEM;

    if (start) {
        *start = (struct start){.pool = pool, .place = *place, .number = number};
        why = pthread_create(&pool->thread[number], NULL, thread_main, start);
    }
    if (why) {
        free(start);
        errno = why;
    }
    return why ? -1 : 0;
}

/* Starts as many as can be; signals are for the program's own threads. Returns how many there are.
 */
static unsigned start_threads(struct berth_tasks *pool, const struct places *places)
{
    sigset_t all, before;
    unsigned n = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (n < pool->n && start_thread(pool, n, places_of(places, n, pool->n)) == 0)
        n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n;
}

/* ---- what a pool has ---- */

/* Gives each domain memory for what it and its workers have. */
static int map_domains(struct berth_tasks *pool, const struct places *places)
{
    unsigned workers[BERTH_TASKS_DOMAINS_MAX] = {0};

    for (unsigned i = 0; i < pool->n; i++)
        workers[places_of(places, i, pool->n)->domain]++;
    for (unsigned d = 0, i = 0; d < places->domains; d++) {
        char *base = moves_map(pool, d, sizeof(struct domain) + workers[d] * sizeof(struct worker));

        if (!base)
            return -1;
        pool->domain[d] = (struct domain *)base;
        for (unsigned k = 0; k < workers[d]; k++, i++)
            pool->worker[i] = (struct worker *)(base + sizeof(struct domain)) + k;
    }
    pool->domains = places->domains;
    return 0;
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

/* Measures what it costs to push a task, and to pop it. */
static int measure_rates(struct threshold_rates *rates)
{
    struct timespec at[3];
    struct deque deque;
    int64_t left;

    if (deque_begin(&deque, MEASURED) < 0)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &at[0]);
    for (int i = 0; i < MEASURED; i++)
        deque_push(&deque, &deque);
    clock_gettime(CLOCK_MONOTONIC, &at[1]);
    for (int i = 0; i < MEASURED; i++)
        deque_pop(&deque, &left);
    clock_gettime(CLOCK_MONOTONIC, &at[2]);
    deque_end(&deque);
    rates->push_s = seconds_between(&at[0], &at[1]) / MEASURED;
    rates->pop_s = seconds_between(&at[1], &at[2]) / MEASURED;
    return 0;
}

static void free_pool(struct berth_tasks *pool)
{
    for (unsigned i = 0; i < pool->ready; i++) {
        deque_end(&pool->worker[i]->deque);
        memory_end(pool->worker[i]);
    }
    for (unsigned d = 0; d < BERTH_TASKS_DOMAINS_MAX; d++)
        if (pool->region[d].base)
            munmap(pool->region[d].base, pool->region[d].bytes);
    places_close(&pool->source);
    free(pool);
}

void pool_release(struct berth_tasks *pool)
{
    if (atomic_fetch_sub(&pool->references, 1) == 1)
        free_pool(pool);
}

/* ---- starting ---- */

static bool are_fine(const struct berth_tasks_options *options)
{
    return options->size == sizeof(*options) && options->workers <= BERTH_TASKS_WORKERS_MAX &&
           (unsigned)options->stealing <= BERTH_TASKS_LITERAL;
}

static struct berth_tasks *new_pool(const struct berth_tasks_options *options)
{
    static const struct stealing TABLE(stealing, BERTH_TASKS_LITERAL + 1) = {
        ROW(BERTH_TASKS_TOPOLOGY) = {.thresholds = true, .domains = true},
        ROW(BERTH_TASKS_THRESHOLD) = {.thresholds = true},
        ROW(BERTH_TASKS_RANDOM) = {0},
        ROW(BERTH_TASKS_LITERAL) = {.thresholds = true, .domains = true, .literal = true},
    };
    TABLE_COMPLETE(stealing);
    struct berth_tasks *pool = aligned_alloc(TASKS_LINE, sizeof(*pool));
    bool literal;

    if (!pool)
        return NULL;
    memset(pool, 0, sizeof(*pool));
    pthread_mutex_init(&pool->outside, NULL);
    pthread_mutex_init(&pool->moving, NULL);
    pthread_cond_init(&pool->news, NULL);
    atomic_store(&pool->references, 1);
    pool->stealing = stealing[options->stealing];
    literal = pool->stealing.literal;
    pool->rates.capacity = options->capacity ? options->capacity
                           : literal         ? THRESHOLD_CAPACITY_LITERAL
                                             : THRESHOLD_CAPACITY;
    pool->fences = wake_needs_fences();
    places_open(&pool->source);
    return pool;
}

/* Lets all begin that are there, or end where some are not. */
static int pool_begin(struct berth_tasks *pool, unsigned started, const struct places *places)
{
    int why = started < pool->n ? errno : ENOMEM;

    pthread_mutex_lock(&pool->outside);
    while (pool->ready < started)
        pthread_cond_wait(&pool->news, &pool->outside);
    if (started < pool->n || pool->failed || moves_assign(pool, places) < 0)
        pool->failed = true;
    pool->go = true;
    pthread_cond_broadcast(&pool->news);
    pthread_mutex_unlock(&pool->outside);
    if (!pool->failed)
        return 0;
    for (unsigned i = 0; i < started; i++)
        pthread_join(pool->thread[i], NULL);
    errno = why;
    return -1;
}

static int start(struct berth_tasks *pool, unsigned workers, struct places *places)
{
    uint32_t generation = places_generation(&pool->source);

    places_read(&pool->source, places);
    atomic_store(&pool->generation, generation);
    pool->faked = places->faked;
    pool->n = workers ? workers : places->n;
    if (pool->n > BERTH_TASKS_WORKERS_MAX)
        pool->n = BERTH_TASKS_WORKERS_MAX;
    if (forks_begin(pool) < 0 || measure_rates(&pool->rates) < 0 || map_domains(pool, places) < 0) {
        errno = ENOMEM;
        return -1;
    }
    return pool_begin(pool, start_threads(pool, places), places);
}

struct berth_tasks *berth_tasks_start(const struct berth_tasks_options *options)
{
    static const struct berth_tasks_options usual = {.size = sizeof(usual)};
    struct places *places = malloc(sizeof(*places));
    struct berth_tasks *pool = NULL;
    int why = ENOMEM;

    options = options ? options : &usual;
    if (!are_fine(options))
        why = EINVAL;
    else if (places)
        pool = new_pool(options);
    if (pool && start(pool, options->workers, places) < 0) {
        why = errno;
        pool_release(pool);
        pool = NULL;
    }
    free(places);
    if (!pool)
        errno = why;
    return pool;
}

/* ---- stopping ---- */

static void end_threads(struct berth_tasks *pool)
{
    pthread_mutex_lock(&pool->outside);
    while (atomic_load(&pool->pending))
        pthread_cond_wait(&pool->news, &pool->outside);
    pthread_mutex_unlock(&pool->outside);
    atomic_store(&pool->stopping, true);
    for (unsigned i = 0; i < pool->n; i++)
        wake_worker(pool->worker[i]);
    for (unsigned i = 0; i < pool->n; i++)
        pthread_join(pool->thread[i], NULL);
}

int berth_tasks_stop(struct berth_tasks *pool)
{
    if (!pool)
        return 0;
    if (forks_self && forks_self->pool == pool) {
        errno = EDEADLK;
        return -1;
    }
    if (forks_is_ours(pool))
        end_threads(pool);
    atomic_store(&pool->stopping, true);
    pool_release(pool);
    return 0;
}

/* ---- asking ---- */

unsigned berth_tasks_workers(const struct berth_tasks *pool)
{
    return pool->n;
}

unsigned berth_tasks_domains(const struct berth_tasks *pool)
{
    return pool->domains;
}

void berth_tasks_counts(const struct berth_tasks *pool, struct berth_tasks_counts *counts)
{
    *counts = (struct berth_tasks_counts){0};
    for (unsigned i = 0; i < pool->n; i++) {
        const struct counts *one = &pool->worker[i]->counts;

        counts->run += load_u64(&one->run);
        counts->steals += load_u64(&one->steals);
        counts->remote += load_u64(&one->remote);
        counts->misses += load_u64(&one->misses);
        counts->dealt += load_u64(&one->dealt);
        counts->placed += load_u64(&one->placed);
        counts->placed_away += load_u64(&one->placed_away);
        counts->asked += load_u64(&one->asked);
        counts->sleeps += load_u64(&one->sleeps);
    }
}
