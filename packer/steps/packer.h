/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packer - everything the daemon holds: the world, which all read, the steps, where they stand,
 * what each stage holds, and who wakes the event loop. */
#ifndef BERTH_STEPS_PACKER_H
#define BERTH_STEPS_PACKER_H

#include <stdio.h>

#include "packer/base/clock.h"
#include "packer/conf/conf.h"
#include "packer/enforce/enforce.h"
#include "packer/machine/bandwidth.h"
#include "packer/machine/profile.h"
#include "packer/machine/topo.h"
#include "packer/steps/lacks.h"
#include "packer/steps/pool.h"
#include "packer/steps/registry.h"
#include "packer/steps/tally.h"
#include "packer/system/rootfs.h"

/* What berthd stands on: the configuration, the machine, and the way to change it. It changes when
 * berth.conf is read again, and else by nobody. */
struct world {
    struct conf conf;
    struct topo *topo;
    struct rootfs root;
    struct rootfs devices;   /* what berth.conf has for the machine's devices (device_root) */
    struct enforce *enforce; /* how steps are put on CPUs */
    struct machine_profile *machine;        /* NULL: none, or none that fits this machine */
    char machine_type[PROFILE_MACHINE_MAX]; /* machine/type.h */
    struct bandwidth bandwidth;             /* of its memory nodes, as known when berthd started */
    bool private_data;                      /* users are told nothing of others */
    double turn_s;  /* of the event loop, for what needs no haste: the rest is for the next one */
    double quiet_s; /* between steps that come or go (registry_change_due) */
    double end_patience_s; /* for how long the end of a step without processes is waited for */
    double watchdog_s;     /* within which systemd wants a sign of life; 0: it does not */
    double started_mono_s;
};

/* What the stages hold. What a pointer leads to is known to its own room, and to others by that
 * room's functions; NULL where it is not there. The last ones all may read, as they read steps. */
struct states {
    /* what is known of programs, and where that comes from */
    struct profiles *profiles;
    struct learner *learner;
    struct orders *orders; /* NULL: no user has put anything into the store yet */
    struct counters *counters;
    struct seeker *seeker; /* looks who uses the CPUs (observe/seek.h) */
    struct reuse_sampler *reuse;
    struct probe *probe;
    /* where steps stand, and on how many cores */
    struct devices *gear; /* GPUs and network adapters; NULL: nobody can read them */
    struct bindings *bindings;
    struct forecast *forecast; /* NULL: no memory */
    struct replace *replace;
    struct trial *trial; /* who of the steps is only observed, to compare with (enact/trial.h) */
    struct temperatures *temperatures;
    struct thermal *thermal;    /* NULL: nobody leaves a hot core */
    struct memory_mover *mover; /* NULL: memory does not follow */
    struct size_state *size;
    /* what is told and billed */
    struct node_power *power; /* of the packages (node_power.h) */
    struct bill *bill;        /* what the meters say, and who gets it */
    struct board *board;
    struct node_news *node_news;       /* NULL: nobody looks at all nodes */
    struct pressure *pressure;         /* NULL: berth-steer is told nothing */
    struct ledger *ledger;             /* NULL: no record is kept */
    struct record_pages *record_pages; /* of the ledger, for users */
    struct settler *settler;           /* NULL: slurmdbd is told nothing */
    /* what is heard of Slurm, and remembered over a restart */
    struct journal *journal;
    struct admit_names *names;    /* users and groups of berth.conf that are looked up */
    struct job_watch *watch;      /* NULL: Slurm undoes nothing, or nobody can tell */
    struct folder_watch *folders; /* NULL: nobody tells of new jobs and steps but the sweep */
    struct process_watch *stepds; /* those of the live steps; NULL: their ends are not heard of */
    struct asker *asker;          /* asks who jobs are; NULL: nobody does */
    struct known_jobs *jobs;      /* who the jobs of this node are */
    struct strangers *strangers;  /* of the last reading of Slurm's folders */
    /* what all may read */
    struct pool *pool;  /* packer->pool, which `enact` changes */
    struct pool *as_if; /* as observed steps would stand (enact/as_if.h); stand NULL: none */
    struct registers *registers; /* that berth has taken over for steps */
    struct tally *tally;
    struct idle_cores {
        struct cpus never;  /* for no step even when nobody has them (enact/idle.c) */
        struct cpus used;   /* at work though nobody has them */
        struct cpus nobody; /* of the pool, though Slurm has given them to nobody (stand.c) */
        bool marked;        /* whoever starts asks for his cores: others may stand there */
        unsigned unasked;   /* new jobs in a row that run and have not (strangers.h) */
        unsigned asked;     /* jobs in a row that have, the last one this: */
        uint32_t asker;
        uint64_t guests; /* what the marker says of who stands there, as a hash */
        struct idle_looks *looks;
    } idle;
    struct proposals {     /* of the site's own policies (daemon/propose.h) */
        double left, at_s; /* so many more were left, at CLOCK_MONOTONIC; 0: there was none yet */
        bool looked;       /* for sensors of the cores, once one asked */
    } proposals;
    char *lacks[LACKS]; /* lacks.h */
};

/* Has pipeline_observe called in so many seconds, if not sooner. */
struct wake {
    void (*call)(void *arg, double in_s); /* NULL: nobody calls it */
    void *arg;
};

struct packer {
    struct world world;
    struct registry *steps;
    const struct pool *pool; /* where the steps stand; `enact` changes it (states) */
    struct states *state;
    struct wake wake;
};

/* Makes room for all of it, empty: enforce, registry and pool are the caller's to open, and to
 * close before packer_free(). Returns 0, or -1 and err: no memory. */
int packer_make(struct packer *packer, struct berth_error *err);
void packer_free(struct packer *packer);

static inline void packer_wake(const struct packer *packer, double in_s)
{
    if (packer->wake.call)
        packer->wake.call(packer->wake.arg, in_s);
}

/* Who runs here has changed: what that means for others is decided in a turn soon, once for all of
 * a burst (registry.h). */
static inline void packer_note_change(const struct packer *packer)
{
    registry_note_change(packer->steps);
    packer_wake(packer, packer->world.quiet_s);
}

/* The node is called as Slurm calls it in registrations, which the journal keeps. */
static inline void packer_call_node(const struct packer *packer, const struct step *step)
{
    snprintf(packer->steps->node, sizeof(packer->steps->node), "%s", step->request.node);
}

#endif
