/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - threads of several NUMA nodes that take turns with one lock, event by event: what it
 * gains to hand the lock over within a node (Vikranth 2018, sections 6.3 and 6.4; lock cohorting,
 * Dice 2012).
 *
 * A thread thinks, waits, and holds the lock. Each node has a queue, the first to come is the first
 * served. Whoever releases the lock hands it to the next thread of its own node, if one waits and
 * fewer than `bound` were handed so one after the other; else to the next node, in turn, in which
 * one waits. With bound 0 there is one queue of all threads, as with a lock that knows no nodes.
 * Taking the lock over costs t_local_s from a thread of the same node, t_remote_s from another one
 * (the terms of eq. 6.2 and 6.3 for one test); the thesis gives no bound.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_COHORT_H
#define BERTH_MODELS_TASKS_COHORT_H

#include <stddef.h>
#include <stdint.h>

#define COHORT_THREADS_MAX 1024 /* of all nodes */
#define COHORT_NODES_MAX 64
#define COHORT_BOUND 64

struct cohort_lock {
    size_t nodes;            /* 1 .. COHORT_NODES_MAX */
    const unsigned *threads; /* [nodes], together 1 .. COHORT_THREADS_MAX */
    double hold_s;           /* >= 0, of each turn */
    double think_s;          /* >= 0, mean between two turns; exponentially distributed */
    double t_local_s, t_remote_s;
    unsigned bound;
    uint64_t turns; /* >= 1, of all threads together */
    uint64_t seed;
};

struct cohort_outcome {
    double seconds;
    uint64_t local, remote; /* hand-overs: the turn before was of the same node, of another one */
    double worst_wait_s;    /* from asking for the lock to having it */
    double most_turns;      /* of the thread that had the most, by the mean of all */
};

void cohort_run(const struct cohort_lock *lock, struct cohort_outcome *outcome);

#endif
