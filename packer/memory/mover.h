/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mover - has a step's pages follow it to another NUMA node, while berthd does something else.
 *
 * A thread moves them, one step after another, in small chunks (memory/pages.h) and not
 * faster than memory_rate of berth.conf. A step that ends or moves once more is not followed any
 * further; what was moved is where it is. A process can hold up who looks at its memory: a thread
 * that hangs for limit_s of the memory_system is given up, and the next step has another one
 * (base/hands.h). The kernel's own way, cpuset.memory_migrate of cgroup v1
 * and cpuset.mems of v2, moves everything inside the write(2): berth writes neither. */
#ifndef BERTH_MEMORY_MOVER_H
#define BERTH_MEMORY_MOVER_H

#include "packer/memory/pages.h"

/* What is known of a step's memory and its moves: `memory` of explain. */
struct step_memory {
    struct cpus bound;  /* mem=bind: the nodes that its tasks were told; empty: not bound */
    struct cpus behind; /* nodes that it has left, where pages of it may still be */
    bool asked;         /* it has moved between nodes: what follows says something */
    bool dealt;         /* it stays because it is dealt (inside/deal.h), and follows after that */
    bool running;       /* pages are under way, or wait for their turn */
    double bytes;       /* to move; NAN not known */
    double moved, failed;
    double rate;         /* bytes per second at most; 0: memory does not follow */
    double gain;         /* cores that near pages save; NAN not known */
    double lost;         /* core-seconds that moving costs; NAN not known */
    double break_even_s; /* INFINITY never; NAN not known */
    char why[160];       /* why not all of it is moved; "" */
};

struct memory_mover;

/* Makes one, whose thread starts with the first job; rate in bytes per second, > 0. NULL for want
 * of memory. The system's root must stay. */
struct memory_mover *memory_mover_open(const struct memory_system *system, double rate);

/* Goes on at another rate, in bytes per second, > 0 (INFINITY: as fast as it can be); also with
 * what is under way. */
void memory_mover_pace(struct memory_mover *mover, double rate);

/* Stops with the present chunk; one that hangs is left alone. NULL is fine. */
void memory_mover_close(struct memory_mover *mover);

/* Lists the processes of a job when its turn comes, into job->process (from malloc) and job->n, in
 * the mover's thread: a step may have thousands. 0, or -1 with errno. */
struct memory_finder {
    int (*find)(void *arg, struct memory_job *job); /* NULL: the job has them already */
    void (*release)(void *arg);
    void *arg; /* is the mover's from then on */
};

/* Has a job done; an older job of the same step is given up. The processes are taken over (from
 * malloc), the job's origin and the finder's arg, also when it fails. 0, or -1 with ENOMEM. */
int memory_mover_put(struct memory_mover *mover, const struct memory_job *job,
                     const struct memory_finder *finder);

/* Gives up and forgets the step's job. */
void memory_mover_drop(struct memory_mover *mover, struct wire_step_id id);

/* Tells how far the step's job is. False: there is none. */
bool memory_mover_look(struct memory_mover *mover, struct wire_step_id id,
                       struct memory_progress *progress, bool *running);

/* Waits until the step has no job under way or waiting (one that hangs is none), or until the time
 * until_s (CLOCK_MONOTONIC). */
void memory_mover_wait(struct memory_mover *mover, struct wire_step_id id, double until_s);

#endif
