/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_sim - a simulated cluster: jobs wait, start, disturb each other, and end.
 *
 * The queue is Slurm's: first come, first served at each start and end, and each 30 s backfill
 * (EASY: the first that waits has a reservation by the others' time limits; who starts before it
 * ends by then, or leaves its nodes their room), which looks at 500 jobs, as sched/backfill does.
 * No limit ends a job. A job goes on by the slowest of its pieces, each of which is recomputed
 * whenever its neighbours change. Which node a piece comes to is the choice's doing; wide pieces
 * come first, and those that fill a node to the first that is empty. */
#ifndef BERTH_BENCH_CLUSTER_SIM_H
#define BERTH_BENCH_CLUSTER_SIM_H

#include "tests/bench/cluster_node.h"

#define CLUSTER_WEIGHED_S 30 /* a node's weight is that old at most */

enum cluster_by {
    CLUSTER_PACKED,     /* the first with room, as Slurm with equal weights */
    CLUSTER_SPREAD,     /* the least loaded, CR_LLN */
    CLUSTER_LOT,        /* one of those with room */
    CLUSTER_WEIGHT,     /* the least traffic, as measured each 30 s at most: a node's weight */
    CLUSTER_COMPLEMENT, /* where contend says that least work is lost, with noisy counters */
    CLUSTER_KNOWS,      /* where least work is lost in truth, at this moment: greedy */
    CLUSTER_STEER       /* as Slurm does with the weights and features of a moment ago */
};

/* What steering from beside Slurm has to say: flags. */
enum cluster_steer {
    BY_EMPTY = 1,  /* weights: empty nodes last */
    BY_LEVELS = 2, /* weights: nodes in use by their level of traffic, the quiet first */
    BY_HEAVY = 4,  /* programs known as heavy prefer the quieter half of the nodes in use */
    BY_LIGHT = 8,  /* those known as light the busier half */
    BY_LOT = 16,   /* a level is drawn by lot each time: what measuring does not bring */
    BY_LLN = 32    /* of equal weight Slurm takes the least loaded (LLN=yes), not the first */
};

struct cluster_choice {
    const char *name;
    enum cluster_by by;
    bool packed;    /* an empty node only where no other has room */
    unsigned steer; /* of cluster_steer */
};

extern const struct cluster_choice cluster_choice[];
extern const size_t cluster_choices;

/* What came of the jobs that count, and of the cluster in the time in which these arrived. */
struct cluster_tally {
    double jobs, slowdowns, waits_s, moves;        /* sums over jobs */
    double longest_s;                              /* that one of them waited */
    double alone_core_s, more_core_s, done_core_s; /* asked, more than that, done (of all jobs) */
    double asked_core_s;                           /* of all that ended */
    double users, user_slowdowns;       /* a user: his core-seconds more by those alone */
    double node_s, core_s, work_core_s; /* in that time: nodes in use, cores, work */
};

struct cluster_sim {
    struct cluster_work *work;
    struct cluster_machine *machine;
    const struct cluster_choice *choice;
    struct day_noise noise;
    uint64_t seed;
    size_t look;   /* nodes that complement and knows look at, by lot */
    double known;  /* part of the jobs whose program steering knows */
    bool backfill; /* else first come, first served, and nobody overtakes */
    /* What runs and waits. */
    double now_s, backfill_s, weighed_s;
    size_t *heap, running;      /* jobs by the time at which they end */
    size_t *after, first, last; /* jobs that wait: who is behind each */
    size_t next;                /* that arrives */
    size_t *has_free;           /* [cores + 1] nodes with so many free cores */
    size_t *spare;              /* [nodes] free cores that the reservation leaves */
    size_t *marked;             /* [nodes] the last job that a piece was given there to, + 1 */
    double nodes_used, cores_used;
    bool changed; /* since the last backfill */
    struct cluster_tally tally;
};

/* Lets all jobs that count end. `tell` hears which part is over. 0, or -1 and err. */
int cluster_sim_run(struct cluster_sim *sim, void (*tell)(double part), struct berth_error *err);

/* Takes the weights and features of a moment that is a multiple of CLUSTER_WEIGHED_S; the nodes are
 * as they were then. */
void cluster_steer(struct cluster_sim *sim, double at_s);

/* Finds the node of a piece (room: spare cores of each node are asked too), or CLUSTER_NOBODY. */
size_t cluster_choose(struct cluster_sim *sim, size_t piece, bool spare);

#endif
