/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal - workers that steal tasks from each other, event by event: what thresholds and domains
 * change (Vikranth 2018, chapters 3 and 4).
 *
 * Each worker has a queue: it adds and takes at one end, thieves take at the other. A flat program
 * is created by the first worker, task by task; a task of a tree creates two others, which have
 * between them what is below it, cut where chance has it. A worker whose queue is empty chooses a
 * victim, looks at that queue after the latency between the two domains, and after it once more has
 * a task, or has missed. After a miss, or when there is no victim, it waits for a time that doubles
 * (eq. 3.2), at most for a task's mean.
 *
 * Who steals from another domain brings more for the others of its own, which are nearer to them
 * then: a shepherd's worker one for each of them (Porterfield 2012, 2.3), by topology half of each
 * queue there, at most 64.
 *
 * How long a task takes depends on the task and the seed only, so that the same program is run by
 * any number of workers, by any policy.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_STEAL_H
#define BERTH_MODELS_TASKS_STEAL_H

#include <stddef.h>
#include <stdint.h>

#define STEAL_WORKERS_MAX 1024
#define STEAL_DOMAINS_MAX 64
#define STEAL_TASKS_MAX 10000000

enum steal_policy {
    STEAL_RANDOM,    /* any other worker */
    STEAL_THRESHOLD, /* any whose queue is long enough (section 3.5) */
    STEAL_TOPOLOGY,  /* of the own domain; of others only where that has none (section 4.4) */
    STEAL_SHEPHERD,  /* a queue a domain; one worker steals for all of it (Porterfield 2012, 2.3) */
    STEAL_LITERAL,   /* topology, with the thresholds as section 3.4 prints them */
    STEAL_POLICIES
};

enum steal_kind { STEAL_FLAT, STEAL_TREE, STEAL_KINDS };

struct steal_program {
    enum steal_kind kind;
    uint32_t n;              /* 1 .. STEAL_TASKS_MAX tasks */
    double mean_s, sd_s;     /* of a task: normally distributed, none below 0 */
    size_t domains;          /* 1 .. STEAL_DOMAINS_MAX */
    const unsigned *cores;   /* [domains] each at least 1, together at most STEAL_WORKERS_MAX */
    const double *latency_s; /* [domains * domains] from the one, a row, to the other */
    double push_s, pop_s;    /* of the own queue */
    double capacity;         /* C of eq. 3.3 */
    enum steal_policy policy;
    uint64_t seed;
};

struct steal_outcome {
    double seconds;
    double work_s;   /* of all tasks, one after the other */
    uint64_t steals;   /* tasks that were brought from another queue */
    uint64_t remote;   /* of these, from another domain */
    uint64_t journeys; /* attempts that brought one task or more */
    uint64_t misses;   /* attempts that found none */
};

/* Runs the program. Returns -1: no memory. */
int steal_run(const struct steal_program *program, struct steal_outcome *outcome);

#endif
