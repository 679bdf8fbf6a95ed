/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim - a node that exists in memory only, for the property test: a Slurm that gives away cores and
 * starts steps on them, and a kernel that remembers where each task stands.
 *
 * It is berthd's way to enforce (enforce.h), and keeps its own books: what holds is judged by
 * them, not by what berthd believes. It fails when told to, and it can let the daemon die at any
 * call: nothing that the daemon does from then on happens, and its journal is as it was. */
#ifndef BERTH_TESTS_SIM_H
#define BERTH_TESTS_SIM_H

#include "tests/unit/common/fixture.h"

#define SIM_JOBS 24
#define SIM_STEPS 64
#define SIM_TASKS 4
#define SIM_WHY 512

struct sim_step {
    bool alive, told; /* its processes run; berthd was told of it */
    bool own;         /* it has a cgroup of berth's */
    bool stuck;       /* bringing it home has failed */
    bool touched;     /* berthd has moved it */
    bool keeps;       /* its environment binds it: where it begins elsewhere, its cgroup stays */
    pid_t thread;     /* a process of this machine, whose class berthd may change */
    uint64_t born;    /* of all steps on this node: which one, whatever its name */
    struct wire_step_id id;
    struct cpus job, home; /* what Slurm gave to the job, to the step */
    size_t ntasks;
    struct sim_task {
        struct cpus home, stand;
    } task[SIM_TASKS];
};

struct sim_job {
    bool live, has_batch;
    uint32_t id, next_step, restart;
    struct cpus cpus;
};

struct sim {
    struct fixture *f;
    uint64_t random; /* state of the generator */
    uint64_t births;
    uint32_t next_job;
    struct cpus online;
    struct sim_job job[SIM_JOBS];
    struct sim_step step[SIM_STEPS];
    unsigned fail_apply, fail_restore; /* per cent */
    long calls_left;                   /* until the daemon dies; < 0: it lives */
    bool dead;
    char *journal; /* as it was then */
    size_t journal_file_size;
    uint64_t applied, failed, killed; /* counted */
};

/* Starts the processes that the steps of all nodes have, one after the other, and ends them. To be
 * called before the first node: they would keep its journal open. */
void sim_threads_start(void);
void sim_threads_end(void);

/* A node of that topology, of whole cores or (split) of hardware threads, with nothing on it.
 * sim_close brings everybody home first: it returns what was left behind, or NULL. */
struct sim *sim_open(const char *topology, bool split);
void sim_close(struct sim *sim);

/* Steps may stand on cores that Slurm has given to nobody, and those that have to stay, stay. */
void sim_use_idle(struct sim *sim);

/* All CPUs of the machine, switched on or not. */
void sim_all_cpus(const struct sim *sim, struct cpus *cpus);

/* A number below n (n > 0). */
size_t sim_random(struct sim *sim, size_t n);
bool sim_chance(struct sim *sim, unsigned per_cent);

/* ---- Slurm ---- */

/* A new job on free cores (or, `shared`, on another job's too); NULL when the node is full. */
struct sim_job *sim_job_start(struct sim *sim, bool shared);
/* A step of it: on some of the cores that no other step of the job has, or, `overlap`, on all. NULL
 * when there are none. Berthd does not know of it yet. */
struct sim_step *sim_step_start(struct sim *sim, struct sim_job *job, uint32_t id, bool overlap);
void sim_step_end(struct sim_step *step); /* its processes are gone */

struct sim_step *sim_find(struct sim *sim, struct wire_step_id id); /* alive; NULL */
struct sim_job *sim_pick_job(struct sim *sim);                      /* any live one; NULL */
struct sim_step *sim_pick_step(struct sim *sim);                    /* any live one; NULL */

/* ---- the daemon ---- */

/* It dies at its n-th call from now, or lives on when there are fewer. */
void sim_die_after(struct sim *sim, long calls);

/* Another one takes over, after a death that is real or, else, now. Whom the journal does not tell
 * of because it could not be written (`stale`) is not known any more. */
void sim_resume(struct sim *sim, bool stale);

/* ---- what must hold ---- */

/* false and why[SIM_WHY]: the books show what must not be. */
bool sim_holds(struct sim *sim, char *why);
void sim_print(const struct sim *sim);
/* The same after everybody was sent home. A step that began elsewhere, because it has to stay,
 * keeps its cgroup as long as it runs (enact/kept.h). */
bool sim_all_home(struct sim *sim, char *why);
/* A daemon that starts now would know what this one knows. */
bool sim_journal_tells(struct sim *sim, char *why);

#endif
