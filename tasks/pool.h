/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool - a pool of workers, and what its files share.
 *
 * What a worker and a domain have lies on the memory node of its user (Vikranth 2018, section 6.2):
 * a domain has pages of its own, which its workers are the first to write to. */
#ifndef BERTH_TASKS_POOL_H
#define BERTH_TASKS_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/tasks/threshold.h"
#include "tasks/berth_tasks.h"
#include "tasks/deque.h"
#include "tasks/places.h"
#include "tasks/record.h"

#define TASK_BYTES 128
#define OBJECT_SLOTS 8192    /* a power of two */
#define TASK_QUEUE_MOST 2048 /* tasks on a worker's queue: then a new one runs at once */
#define TASK_QUEUE_DEEP 32   /* more than a tree of tasks leaves on it */
#define TASK_LIST_MOST 65536 /* and in a domain's list: 8 MiB of tasks */

struct task {
    struct record record;
    berth_task_function *function;
    const void *arguments; /* its own copy: here, or of malloc() */
    struct worker *owner;  /* whose memory it is; NULL: of malloc() */
    struct task *next;     /* in a list */
    _Alignas(16) unsigned char copy[TASK_BYTES - 64];
};

_Static_assert(sizeof(struct task) == TASK_BYTES, "a task is two lines");

/* How workers of a pool steal. */
struct stealing {
    bool thresholds; /* of victims only */
    bool domains;    /* in the own one first */
    bool literal;
};

struct counts {
    _Atomic uint64_t run, steals, remote, misses, dealt, placed, placed_away, asked, sleeps;
};

/* What a domain's workers share. */
struct domain {
    pthread_mutex_t lock; /* of the lists */
    struct task *first, *last;
    struct worker *asleep, *joining;
    _Alignas(TASKS_LINE) _Atomic uint32_t waiting; /* how many tasks are in the list */
    _Atomic uint32_t searching;                    /* workers that look for any task */
    _Atomic uint32_t sleepers;                     /* and that sleep until there is any */
    _Atomic uint32_t resting;                      /* and that rest (rest.h) */
    _Atomic bool outside;                          /* one of its workers looks in other domains */
    _Atomic int memory_node; /* as the kernel numbers it; -1: it did not say */
    _Alignas(TASKS_LINE) _Atomic uint32_t members;
    _Atomic uint16_t member[BERTH_TASKS_WORKERS_MAX];
};

/* What a worker's word says; futex(2) waits while it is not WORKER_AWAKE. */
enum worker_state {
    WORKER_AWAKE,
    WORKER_ASLEEP,
    WORKER_JOINING /* asleep, and can run only what the task that it waits for has created */
};

struct worker {
    /* its own */
    struct deque deque;
    _Alignas(TASKS_LINE) struct berth_tasks *pool;
    struct record *current; /* of the task that it runs */
    struct task *free;
    struct slab *slabs;
    struct threshold threshold;
    bool was_empty;
    uint32_t turns; /* tasks until it looks at the places again */
    uint64_t chance, pushed;
    uint32_t created, turn; /* of domains, for tasks that it deals */
    double begun_s;
    const char *stack_low; /* what is below is kept for tasks that nobody else may run */
    uint32_t layout;       /* of the pool's, that it stands by */
    unsigned number;
    struct counts counts;
    /* others write here, too */
    _Alignas(TASKS_LINE) _Atomic(struct task *) given_back; /* its tasks that others have ended */
    _Atomic uint32_t word;
    _Atomic(struct domain *) idle_in;          /* where it searches or sleeps */
    struct worker *next_asleep, **link_asleep; /* under that domain's lock */
    _Atomic uint32_t domain;
    _Atomic int cpu; /* where it is to be pinned; -1: nowhere */
};

struct berth_tasks {
    struct stealing stealing;
    struct places_source source;
    struct threshold_rates rates; /* what queues cost */
    bool faked, fences;
    unsigned n;
    _Atomic uint32_t domains; /* never less */
    struct worker *worker[BERTH_TASKS_WORKERS_MAX];
    struct domain *domain[BERTH_TASKS_DOMAINS_MAX];
    pthread_t thread[BERTH_TASKS_WORKERS_MAX];
    struct region {
        void *base;
        size_t bytes;
    } region[BERTH_TASKS_DOMAINS_MAX];
    unsigned forks;              /* of the process, when it was started */
    _Atomic unsigned references; /* its own until it is stopped, and one of each group */
    /* A byte of each worker: 1: its queue is a victim. */
    _Alignas(TASKS_LINE) _Atomic uint8_t stealable[BERTH_TASKS_WORKERS_MAX];
    _Alignas(TASKS_LINE) _Atomic uint32_t sleepers;
    _Atomic uint32_t layout, generation;
    _Atomic bool stopping;
    _Atomic bool freed; /* nobody rests any more, until the memory is saturated anew */
    _Atomic uint64_t object[OBJECT_SLOTS]; /* objects.c */
    _Atomic uint32_t turn;                 /* of domains, for tasks from outside */
    /* Threads outside wait here: for workers to be ready, for groups, for all tasks. */
    pthread_mutex_t outside;
    pthread_cond_t news;
    unsigned ready;
    bool go, failed;
    _Atomic uint64_t pending; /* tasks whose group was made outside, and that have not ended */
    pthread_mutex_t moving;   /* who reads the places anew */
};

/* Frees the pool when this was the last reference. */
void pool_release(struct berth_tasks *pool);

/* Counts where only the worker itself counts. */
static inline void count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static inline struct domain *domain_of(const struct worker *worker)
{
    return worker->pool->domain[atomic_load_explicit(&worker->domain, memory_order_relaxed)];
}

static inline uint64_t load_u64(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static inline int64_t load_u32(const _Atomic uint32_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

#endif
