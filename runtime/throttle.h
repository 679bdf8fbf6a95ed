/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - of the threads that come for the next chunk of a loop those that are too many rest,
 * until there is room for them again, or the loop has no more chunks (Adaptive Scheduling,
 * Porterfield 2012, section 3.1).
 *
 * A loop that hands out its iterations while it runs needs none of its threads: one that rests
 * holds nothing, and what it would have done is done by the others. All of them meet at the loop's
 * end, where those that rested come, too. Never does the last thread that is in a loop rest. */
#ifndef BERTH_RUNTIME_THROTTLE_H
#define BERTH_RUNTIME_THROTTLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/nodes.h"

typedef int throttle_query(void);

/* A region's threads, on the stack of who has begun it, who does not return before all have left
 * it. Filled with 0 but for: */
struct throttle_team {
    const void *region;         /* the outlined function */
    throttle_query *level;      /* omp_get_level of the run-time whose region it is */
    throttle_query *threads_in; /* omp_get_num_threads */
    bool begun;                 /* its first loop begins with it, and without a call */

    _Atomic uint32_t threads;
    /* The loop that a thread of it has come to last: its number in the region, how many threads
     * have come to it, and whether it has no more chunks. */
    _Atomic uint64_t loop;
    _Atomic uint32_t asleep;
    _Atomic uint32_t bell;     /* is rung when a loop has no more chunks */
    _Atomic uint64_t taken_ns; /* when somebody came for a chunk last, while others rest */
    struct {
        _Atomic uint32_t threads, asleep;
    } domain[NODES_MAX];
    _Atomic uint32_t tasks_asleep; /* threads that rest with a task (runtime/tasking.h) */
    _Atomic bool tasks_freed;      /* none does any more */
};

/* One thread of a region, on its own stack. */
struct throttle_member {
    struct throttle_team *team;
    struct throttle_member *outer; /* of the region around it */
    uint32_t process, loops;       /* how many loops it has come to */
    bool in_loop;
    unsigned others; /* loops that are not its region's, and in which it is now */
    int level;
    unsigned domain;
};

/* The calling thread begins a region, and has left it. */
void throttle_enter(struct throttle_member *member, struct throttle_team *team);
void throttle_leave(struct throttle_member *member);

/* Returns how many of the team's threads should rest. */
uint32_t throttle_most(const struct throttle_team *team);

/* It comes to a loop, before it calls the run-time. level: omp_get_level of that; `dealt`: the loop
 * hands out its iterations while it runs. */
void throttle_loop(throttle_query *level, bool dealt);

/* It comes for a chunk, and rests here if it is too many. */
void throttle_chunk(void);

/* The run-time has said that the loop that it is in has no chunks for it, or is cancelled. */
void throttle_over(void);

/* Returns how many threads of so many a region should begin with: fewer where there is contention
 * and the region had no loops whose threads can rest. */
unsigned throttle_region(const void *region, unsigned threads);

#endif
