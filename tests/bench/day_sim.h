/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_sim - the simulated node: jobs arrive, Slurm gives them cores, a placer says where they
 * stand, and they go on as fast as their neighbours there let them.
 *
 * Beside where they stand it keeps account of where they would stand at home, and at the best
 * (day_best.h), and how much work the node would do there at that time.
 *
 * Arrivals and lengths are drawn beforehand, so that each placer has the same days. Slurm's queue
 * is first come, first served; a job gets the free cores with the lowest numbers. A job with a core
 * on a cache suffers there the sum of what it suffers beside each other job with cores on it, by
 * the part of that job's cores which are there; it goes on by the mean over its cores. One that
 * comes to another cache does that much work again, as long as DAY_COLD_S is; but for one that has
 * only begun (DAY_BEGINS_S), which has not yet come to its place: that is no move. Where jobs have
 * memory (day_memory.h), it slows those that stand far from it: at home and at the best nobody
 * does.
 *
 * Where hardware threads are places the topology is split into them (topo_split), and each thread's
 * core is shared with whoever is on the others (day_threads.h). Slurm gives them as it does with
 * CR_CPU where it was not told of threads: one core's after the other's.
 *
 * That is for jobs of the size that was measured. With sizes (day_sizes.h) jobs share, fill and
 * span caches: Slurm's cores are day_slurm.h's then, and what they suffer day_beside.h's. */
#ifndef BERTH_BENCH_DAY_SIM_H
#define BERTH_BENCH_DAY_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/machine/topo.h"
#include "tests/bench/day_beside.h"
#include "tests/bench/day_noise.h"
#include "tests/bench/day_sizes.h"
#include "tests/bench/day_slurm.h"
#include "tests/bench/day_truth.h"

#define DAY_S 86400.0
#define DAY_COLD_S 0.005 /* to fill the caches again; PRICE_COLD_S */
#define DAY_BEGINS_S                                                                               \
    2 /* a job that has run for less has nothing in caches or memory yet: STEP_BEGINS_S */
#define DAY_NS 1000000000ll
#define DAY_NEVER INT64_MAX

/* What counters would have counted. */
struct day_counts {
    double instructions, cycles, accesses, misses, bytes, cpu_s;
};

/* Where the running jobs stand, might stand if Slurm's word were the last, and if day_best had
 * placed them; and where a placer that thinks puts them meanwhile. */
enum day_where { DAY_STAND, DAY_HOME, DAY_BEST, DAY_WHERES, DAY_PLAN = DAY_WHERES, DAY_PLACES };

/* Whether a job may be moved: freely; not at all, for it binds its threads, but berthd watches it;
 * not at all, for it has not opted in. */
enum day_will { DAY_FREE, DAY_KEPT, DAY_STRANGER };

struct day_job {
    uint32_t id;
    size_t app, day; /* that it arrives on, from 0 */
    enum day_will will;
    int64_t arrives;      /* nanoseconds since the simulation began, as all that follow */
    double work_s;        /* how long it runs alone */
    int64_t starts, ends; /* DAY_NEVER: not yet */
    size_t cores;
    size_t tasks, width;      /* cores = tasks * width */
    size_t *core[DAY_PLACES]; /* [cores] of the topology */
    size_t *given;            /* [cores] that Slurm gave, task by task; with sizes only */
    double slowdown[DAY_WHERES];
    double far;    /* what memory is of slowdown[DAY_STAND] */
    double shared; /* what is more of it for other threads of its cores (day_threads.h) */
    double left_s; /* alone */
    struct day_counts counts;
};

/* What came of a day's jobs. */
struct day_tally {
    double jobs, alone_s, took_s; /* seconds: if each had run alone; from their starts to ends */
    double stretches, wait_s;     /* sums over the jobs */
    double moves;
    double moved_bytes, far_s; /* of memory; seconds that jobs lost to it */
    double work_s[DAY_WHERES]; /* work that these jobs would have done, had all stood there */
};

/* A job that is given, and not drawn. */
struct day_given {
    double arrives_s, work_s;
    size_t app, tasks, width;
};

struct day_plan {
    double load; /* of the node's cores, by what jobs would take alone */
    size_t jobs; /* a day */
    size_t days;
    uint64_t seed;
    double strangers,
        keep; /* part of the jobs that do not opt in; part of the others that are kept */
    struct day_noise noise;
    double memory_gib;             /* of a job, median; 0: jobs have none (day_memory.h) */
    const struct day_sizes *sizes; /* NULL: all jobs have the size that was measured */
    const struct day_given *given; /* [jobs * days] in the order of arrival, with sizes (which are
                                      not asked then); NULL: jobs are drawn */
    enum day_socket socket;        /* with sizes */
    bool threads;                  /* hardware threads are places; the topology is split */
    bool idle;                     /* cores that Slurm has given nobody are places, too */
};

struct day_sim {
    const struct day_truth *truth;
    const struct topo *topo;
    struct day_plan plan;
    size_t n, days;
    struct day_job *job; /* [n] in the order of arrival */
    int64_t now;
    struct day_job **slurm; /* [topo->cores] to whom Slurm gave each core; NULL: free */
    size_t live;
    struct day_job **running;  /* [live] in the order of their starts */
    double *busy_s;            /* [topo->cores] that somebody has worked there */
    struct day_beside beside;  /* with sizes */
    size_t *core;              /* of all jobs */
    struct day_tally *tally;   /* [days] */
    struct day_memory *memory; /* NULL: jobs have none */
    /* Somebody who looks on: called whenever all have come to where they stand. NULL: nobody. */
    void (*seen)(void *by, const struct day_sim *sim);
    void *seen_by;
};

/* Who says where jobs stand; may move any running one by day_sim_stand. A new job stands at home
 * unless its start says otherwise. Each returns 0, or -1 and
 * err, and each may be NULL. */
struct day_placer {
    const char *name;
    bool idle; /* it uses cores that Slurm has given nobody */
    void *state;
    int (*start)(void *state, struct day_sim *sim, struct day_job *job, struct berth_error *err);
    int (*end)(void *state, struct day_sim *sim, struct day_job *job, struct berth_error *err);
    /* Jobs have started or ended, all is told, and DAY_BEST is as it should be. */
    int (*changed)(void *state, struct day_sim *sim, struct berth_error *err);
    /* It is sim->now. */
    int (*advance)(void *state, struct day_sim *sim, struct berth_error *err);
    /* Returns when it wants to be told the time at the latest. */
    int64_t (*next)(void *state);
    /* A day is over. */
    void (*day)(void *state, size_t day);
};

/* Draws the jobs: Poisson arrivals, programs by lot, lengths log-normal (sigma 1) with the mean
 * that gives the load. 0, or -1 and err: no memory, or no room for a program. */
int day_sim_open(struct day_sim *sim, const struct day_truth *truth, const struct topo *topo,
                 const struct day_plan *plan, struct berth_error *err);
void day_sim_close(struct day_sim *sim);

/* Takes everything back to the beginning. */
void day_sim_rewind(struct day_sim *sim);

/* Has all jobs run, from the beginning. `tell` is called now and then with the part that is over.
 * 0, or -1 and err. */
int day_sim_run(struct day_sim *sim, const struct day_placer *placer, void (*tell)(double part),
                struct berth_error *err);

/* Has the job only begun, in_s seconds from now? */
bool day_sim_begins(const struct day_sim *sim, const struct day_job *job, double in_s);

/* Returns whether a job may stand on the core: Slurm has given it somebody, or it may be idle. */
bool day_sim_is_place(const struct day_sim *sim, size_t core);

/* Puts a running job on these cores. */
void day_sim_stand(struct day_sim *sim, struct day_job *job, const size_t *core);

/* Returns how many of a job's cores are on the cache, if it stands there. */
size_t day_sim_cores_on(const struct day_sim *sim, const struct day_job *job, enum day_where where,
                        size_t llc);

/* Returns what a job suffers if the jobs stand there. */
double day_sim_slowdown(const struct day_sim *sim, const struct day_job *job, enum day_where where);

/* Says whether each running job has cores of its own, which Slurm has given somebody, or which may
 * be idle. */
bool day_sim_is_sound(const struct day_sim *sim, bool idle);

#endif
