/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/cohort.h"

#include <math.h>
#include <stdbool.h>

#include "models/tasks/chance.h"

#define NOBODY ((size_t)-1)

struct thread {
    size_t node, next; /* next: behind it in its queue; NOBODY: it is the last */
    double asks_s;     /* when it asks for the lock next, or did */
    bool waits;
    uint64_t turns;
};

struct queue {
    size_t first, last;
};

struct run {
    const struct cohort_lock *lock;
    struct cohort_outcome *outcome;
    struct chance chance;
    size_t n;
    struct thread thread[COHORT_THREADS_MAX];
    struct queue queue[COHORT_NODES_MAX]; /* with bound 0 the first one has all */
    double now_s;
    size_t node;     /* whose turn was the last one; NOBODY: there was none */
    unsigned passed; /* within it, one after the other */
};

/* ---- queues ---- */

static struct queue *queue_of(struct run *run, size_t node)
{
    return &run->queue[run->lock->bound ? node : 0];
}

static void enqueue(struct run *run, size_t thread)
{
    struct queue *queue = queue_of(run, run->thread[thread].node);

    run->thread[thread].waits = true;
    run->thread[thread].next = NOBODY;
    if (queue->first == NOBODY)
        queue->first = thread;
    else
        run->thread[queue->last].next = thread;
    queue->last = thread;
}

static size_t dequeue(struct run *run, struct queue *queue)
{
    size_t thread = queue->first;

    queue->first = run->thread[thread].next;
    run->thread[thread].waits = false;
    return thread;
}

/* ---- threads come ---- */

/* The thread that thinks and asks soonest; NOBODY: all wait. */
static size_t soonest(const struct run *run)
{
    size_t best = NOBODY;

    for (size_t i = 0; i < run->n; i++)
        if (!run->thread[i].waits &&
            (best == NOBODY || run->thread[i].asks_s < run->thread[best].asks_s))
            best = i;
    return best;
}

/* All that have asked until now stand in their queues, in their order. */
static void come(struct run *run)
{
    for (size_t i = soonest(run); i != NOBODY && run->thread[i].asks_s <= run->now_s;
         i = soonest(run))
        enqueue(run, i);
}

/* ---- the lock ---- */

/* The queue that is served next; NULL: nobody waits. */
static struct queue *next_queue(struct run *run)
{
    size_t nodes = run->lock->nodes, from = run->node == NOBODY ? 0 : run->node;
    bool stays = run->node != NOBODY && run->passed < run->lock->bound;

    for (size_t i = 0; i < nodes; i++) {
        size_t node = (from + i + !stays) % nodes;

        if (queue_of(run, node)->first != NOBODY)
            return queue_of(run, node);
    }
    return NULL;
}

/* What it takes to have the lock from whoever had it last. */
static double take_over(struct run *run, size_t node)
{
    bool first = run->node == NOBODY, local = run->node == node;

    run->passed = local && run->passed < run->lock->bound ? run->passed + 1 : 0;
    run->node = node;
    if (first)
        return 0;
    run->outcome->local += local;
    run->outcome->remote += !local;
    return local ? run->lock->t_local_s : run->lock->t_remote_s;
}

/* A thread has its turn, and thinks from its end on. */
static void serve(struct run *run, size_t i)
{
    struct thread *thread = &run->thread[i];

    run->now_s += take_over(run, thread->node);
    run->outcome->worst_wait_s = fmax(run->outcome->worst_wait_s, run->now_s - thread->asks_s);
    run->now_s += run->lock->hold_s;
    thread->turns++;
    thread->asks_s = run->now_s + chance_time(&run->chance, run->lock->think_s);
}

static void turn(struct run *run)
{
    struct queue *queue;

    come(run);
    queue = next_queue(run);
    if (!queue) {
        run->now_s = run->thread[soonest(run)].asks_s;
        come(run);
        queue = next_queue(run);
    }
    serve(run, dequeue(run, queue));
}

static void start_threads(struct run *run)
{
    run->node = NOBODY;
    for (size_t node = 0; node < run->lock->nodes; node++) {
        run->queue[node].first = NOBODY;
        for (unsigned i = 0; i < run->lock->threads[node]; i++)
            run->thread[run->n++] = (struct thread){
                .node = node, .asks_s = chance_time(&run->chance, run->lock->think_s)};
    }
}

void cohort_run(const struct cohort_lock *lock, struct cohort_outcome *outcome)
{
    struct run run = {.lock = lock, .outcome = outcome, .chance = {lock->seed}};
    uint64_t most = 0;

    *outcome = (struct cohort_outcome){0};
    start_threads(&run);
    for (uint64_t i = 0; i < lock->turns; i++)
        turn(&run);
    for (size_t i = 0; i < run.n; i++)
        most = run.thread[i].turns > most ? run.thread[i].turns : most;
    outcome->seconds = run.now_s;
    outcome->most_turns = (double)most * (double)run.n / (double)lock->turns;
}
