/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packer - everything the daemon holds: the world, which all read, the steps, where they stand,
 * what each stage holds, and who wakes the event loop. */
#ifndef BERTH_STEPS_PACKER_H
#define BERTH_STEPS_PACKER_H

#include <stdio.h>

#include "models/online/opticore.h"
#include "packer/base/clock.h"
#include "packer/conf/conf.h"
#include "packer/counters/counters.h"
#include "packer/enforce/enforce.h"
#include "packer/enforce/folder_watch.h"
#include "packer/enforce/job_watch.h"
#include "packer/machine/devices.h"
#include "packer/machine/profile.h"
#include "packer/machine/topo.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/journal_file.h"
#include "packer/steps/pairs.h"
#include "packer/steps/pool.h"
#include "packer/steps/registers.h"
#include "packer/steps/registry.h"
#include "packer/steps/strangers.h"
#include "packer/system/process_watch.h"
#include "packer/system/rootfs.h"

#define SIZE_REFUSALS 32

/* A phase of a program that lost too much on fewer cores (size/judge.h). */
struct size_refusal {
    uint64_t owner, serial; /* the program (programs.h: born; 0: not known) and the step */
    struct opticore_signature look;
    double until_s; /* CLOCK_MONOTONIC; 0: none */
};

/* Why a launch went on without berthd. */
enum packer_missed {
    PACKER_LATE, /* berthd answered when the launch had gone on */
    PACKER_UNHEARD /* berthd was not reached, or refused it: it heard of the step at its end */,
    PACKER_MISSED
};

/* A slowdown summed up over steps: one plus it, which is above 0, times their core time. */
struct packer_slowdown {
    double sum, core_s;
};

/* What the steps that have ended since the start say of berth's help (daemon/tally.h). By what is
 * predicted, gained [0] and lost [1]; of steps that berth placed [0], and observed [1]. */
struct packer_tally {
    uint64_t failed_open[PACKER_MISSED];
    uint64_t steps[2]; /* of which nothing is known, and something is */
    double core_s[2][2], energy_j[2][2];
    double freed_core_s; /* by sizes */
    struct packer_slowdown slowdown[2][3];
#define PACKER_SLURM 0    /* predicted where Slurm put all */
#define PACKER_BERTH 1    /* where berth put them, or would have */
#define PACKER_MEASURED 2 /* as they stood */
};

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
    bool private_data;                      /* users are told nothing of others */
    double turn_s; /* of the event loop, for what needs no haste: the rest is for the next one */
    double end_patience_s; /* for how long the end of a step without processes is waited for */
    double watchdog_s;     /* within which systemd wants a sign of life; 0: it does not */
    double started_mono_s;
};

/* What the stages hold, each its own. NULL where a stage is not there. */
struct states {
    /* what is known of programs, and where that comes from */
    struct profiles *profiles;
    struct learner *learner;
    struct orders *orders;              /* NULL: no user has put anything into the store yet */
    struct counters_node counters_node; /* what the counters borrow */
    struct counters *counters;
    uint64_t window_turns; /* of the windows (observe/window.h), until now */
    struct seeker *seeker; /* looks who uses the CPUs (observe/seek.h) */
    struct reuse_sampler *reuse;
    struct probe *probe;
    bool probing;             /* a probe is under way */
    struct programs programs; /* those of the steps, and others that were beside them */
    struct pairs pairs;       /* slowdowns measured, that no prediction has taken in yet */
    bool steps_changed;       /* which ones there are, since slowdowns were predicted */
    /* where steps stand */
    struct devices *gear; /* GPUs and network adapters; NULL: nobody can read them */
    struct pool pool;     /* which only `enact` changes; others read packer->pool */
    struct pool as_if;    /* as observed steps would stand (enact/as_if.h); stand NULL: nobody is */
    struct cpus offline;  /* CPUs that are off (offline.h) */
    double bindings_s;    /* CLOCK_MONOTONIC of the last look at them (bindings.h) */
    struct forecast *forecast;           /* NULL: no memory */
    struct replace *replace;             /* replace.h */
    struct temperatures *temperatures;   /* NULL: nobody wants them */
    struct thermal *thermal;             /* NULL: nobody leaves a hot core */
    char thermal_why[256];               /* why there is none though it is asked for */
    struct memory_mover *mover;          /* NULL: memory does not follow */
    uint64_t decisions, moves, failures; /* counted since the start */
    /* how many cores they have */
    double size_patience_s;  /* for how long a launch may wait for its size */
    double size_unhurried_s; /* for how long that of those that run may take, where nobody waits */
    double size_together_s;  /* and for how long for that of those that run */
    struct share_groups *share_groups; /* size/share_adapt.c; NULL: nobody shares by ADAPT */
    struct size_refusal refusal[SIZE_REFUSALS]; /* whose size cost too much lately */
    struct phases *phases; /* of programs, for their size (size/phases.h); NULL: none yet */
    unsigned size_asked;   /* times that this was done in vain */
    bool size_later; /* the steps are to be sized together as soon as there is time (size.h) */
    /* what is changed inside them, told and billed */
    struct registers registers; /* that berth has taken over for them */
    uint64_t prefetchers;       /* bits of such a register that switch a prefetcher off; 0: */
    char prefetchers_why[256];  /* why none is switched here */
    struct node_power *power;   /* of the packages (node_power.h) */
    struct bill *bill;          /* what the meters say, and who gets it */
    struct board *board;        /* NULL: no blackboard */
    char board_why[256];        /* why there is none though it is asked for */
    struct ledger *ledger;      /* NULL: no record is kept */
    struct record_pages *record_pages;        /* of the ledger, for users; NULL: there are none */
    struct settler *settler;                  /* NULL: slurmdbd is told nothing */
    char metrics_why[256], textfile_why[256]; /* why metrics are not shown there; "" they are */
    struct packer_tally tally;
    /* the journal */
    struct journal_file *journal;
    bool stale;       /* it could not be written: to be written anew by the next sweep */
    bool settling;    /* it says that threads are on their way to their CPUs */
    bool interrupted; /* it said so when it was read: a berthd was killed before they had them */
    /* what is heard of Slurm */
    struct admit_names *names;    /* users and groups of berth.conf that are looked up */
    struct job_watch *watch;      /* NULL: Slurm undoes nothing, or nobody can tell */
    struct folder_watch *folders; /* NULL: nobody tells of new jobs and steps but the sweep */
    struct process_watch *stepds; /* those of the live steps; NULL: their ends are not heard of */
    struct asker *asker;          /* asks who jobs are; NULL: nobody does */
    struct known_jobs *jobs;      /* who the jobs of this node are */
    struct strangers strangers;   /* of the last reading of Slurm's folders */
    char node[64];                /* as the last registration called it */
    uint64_t registrations;       /* counted since the start */
    struct {
        uint64_t n, in_a_row; /* since the start; since one was not */
        char why[256];        /* of the last one */
    } refused;                /* registrations: their steps run where Slurm put them */
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

/* The node is called as Slurm calls it in registrations, which the journal keeps. */
static inline void packer_call_node(const struct packer *packer, const struct step *step)
{
    snprintf(packer->state->node, sizeof(packer->state->node), "%s", step->request.node);
}

#endif
