/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry - the steps that berthd knows, and what each stage of the pipeline found out about them.
 *
 * A step's struct holds one plain struct per stage, in the order of the way of the data; `berthctl
 * explain` prints them in this order. The state machine:
 *
 *     new -> placed | observed | left -> ended        placed -> failed -> ended
 *
 *                                                  placed | observed -> left (released)
 *                                                  left -> placed (its ranks are known)
 *
 * placed: berth decides where it stands. observed: decided, recorded, not touched. left: berth
 * keeps off (hand-bound, not opted in, released, ...). failed: could not be verified, put back,
 * kept off from then on. */
#ifndef BERTH_STEPS_REGISTRY_H
#define BERTH_STEPS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "models/numa/numem.h"
#include "models/online/opticore.h"
#include "packer/base/hands.h"
#include "packer/base/json_fields.h"
#include "packer/conf/conf.h"
#include "packer/energy/energy.h"
#include "packer/enforce/enforce.h"
#include "packer/memory/mover.h"
#include "packer/profiles/profiles.h"
#include "models/slowdown/null_test.h"
#include "packer/steps/pairs.h"
#include "packer/steps/programs.h"
#include "packer/wire/wire.h"
#include "packer/wire/wire_calls.h"
#include "packer/wire/wire_left.h"

enum step_state {
    STEP_NEW,
    STEP_PLACED,
    STEP_OBSERVED,
    STEP_LEFT,
    STEP_FAILED,
    STEP_ENDED,
    STEP_STATES
};
extern const char *const step_state_name[STEP_STATES];

/* Tells whether root has released a step, and which words did it: those that name this step, or
 * those that name all steps of its job. */
enum step_released { STEP_NOT_RELEASED, STEP_RELEASED, STEP_JOB_RELEASED, STEP_RELEASES };
extern const char *const step_released_name[STEP_RELEASES];

/* Does a step take part in the standing trial (enact/trial.h): only observed, to compare with, or
 * placed? */
enum step_trial { STEP_NO_TRIAL, STEP_CONTROL, STEP_TREATED, STEP_TRIALS };
extern const char *const step_trial_name[STEP_TRIALS]; /* "no", "control", "placed" */

enum step_class_id { STEP_UNPROFILED, STEP_TURTLE, STEP_DEVIL, STEP_CLASSES };
extern const char *const step_class_name[STEP_CLASSES];

struct step_profile {
    bool known;      /* found in the store under program_key(), or counted */
    bool reference;  /* of a run alone: misses counted beside others do not replace it */
    bool counted;    /* that was, by counters; else it was simulated */
    double miss_pmi; /* LLC misses per million instructions; NAN when not known */
    char source[32];
    bool truncated;
    int64_t measured_at;
    double instructions_per_s; /* of one core alone, at full speed; NAN when not known */
    double clock_ghz;          /* at which that was counted; NAN when not known */
    double core_gbps; /* what such a core reads from memory, 1e9 bytes/s; NAN when not known */
    unsigned ways;    /* of its stack-distance profile; 0: not known */
    double hits[PROFILE_WAYS_MAX]; /* [ways] per million instructions by LRU position, [0] MRU */
    double misses;                 /* of the same profile, per million instructions */
    double accesses;               /* alone, per million instructions; NAN not known */
    double ipc;                    /* alone, instructions per cycle; NAN not known */
    double solo_pmi;               /* misses alone, per million instructions; NAN not known */
    int64_t bound_at; /* unix seconds: an earlier run was seen to bind its threads; 0: none was */
};

/* Who uses its CPUs, where the command line does not tell (observe/seek.h). */
struct step_seek {
    bool asked;              /* somebody is looking */
    enum hands_state looked; /* how the last look ended; HANDS_HUNG: there is no other one */
    bool found, mixed;       /* it is known; several programs took turns: it is none */
    unsigned rest, apart;    /* windows until the next look, and between the last two */
    char seen[128];          /* the end of the path that was found last */
};

/* A rank of an MPI program that a launcher has started in the step. */
struct step_rank {
    pid_t pid;
    uint64_t started; /* ticks since boot: with the pid, who it is */
    struct cpus cpus; /* where its main thread may run */
};

#define STEP_LAUNCHER_MAX 32

/* Its ranks, where launchers start some in it (observe/ranks.h). */
struct step_ranks {
    bool asked;              /* somebody is looking: */
    enum hands_state looked; /* how the last look ended; HANDS_HUNG: there is no other one */
    double asked_s;          /* since then (CLOCK_MONOTONIC); */
    double due_s;            /* when the next look is due */
    double apart_s;          /* between two looks, while there is no rank */
    uint64_t heard;          /* looks that have told something */
    char launcher[STEP_LAUNCHER_MAX]; /* who has started them; "": there is none */
    struct wire_calls calls;          /* what their executables say of themselves */
    size_t n;
    struct step_rank *rank; /* [n], as the last look has found them, in the order of their starts */
    bool steady;            /* so they were at the look before it */
    bool busy;              /* something else in the step has worked meanwhile, */
    double others_ns;       /* the CPU time of which was this, at: */
    double at_s;            /* CLOCK_MONOTONIC */
};

struct step_class {
    enum step_class_id id;
    char reason[160];
};

/* By the interference probe: of this run, or of earlier ones. */
struct step_probe {
    double intensity; /* the fraction by which a reporter beside it slows down */
    double error;     /* its standard error; NAN not known */
    double rank;      /* misses per million instructions that it ranks like; NAN: not known */
    unsigned probes;  /* that tell it; 0: nothing is known */
    bool stored;      /* of earlier runs */
};

/* What a prediction of the step's slowdown rests on, the least first: the ladder of knowledge. */
enum step_rung {
    RUNG_NOTHING,
    RUNG_AVERAGE,   /* of the node's programs that something is known of */
    RUNG_PROBE,     /* what the interference probe says of it */
    RUNG_MISSES,    /* its miss rate */
    RUNG_COUNTERS,  /* accesses, misses and instructions per cycle, counted */
    RUNG_DISTANCES, /* its stack-distance profile */
    RUNG_PAIRS,     /* slowdowns measured beside others, on top of one of those above */
    STEP_RUNGS
};
extern const char *const step_rung_name[STEP_RUNGS];

struct step_knowledge {
    enum step_rung rung;  /* the best */
    enum step_rung model; /* the best that is no measured pair: what the model predicts from */
    double windows;       /* of measuring that the pairs are from; 0: none were measured */
};

/* OptiCore's loop about a step that runs (size/loop.h). */
struct step_loop {
    bool on; /* it is followed: what stands here says something */
    enum opticore_state state;
    uint32_t phase; /* the number of its phase among those of its program; 0: nobody knows it */
    bool known;     /* the phase was measured, now or before */
    uint32_t profiles;
    double profiled_s; /* all profiling runs together */
    double profile_s;  /* when the last one began, on the step's clock; NAN: there was none */
    char why[128];     /* why there is none, or what it waits for; "": there is nothing to say */
    struct cpus only;  /* of its home while it is profiled; else empty */
    const struct size_traffic *traffic; /* of the phase; NULL: what the store says counts */
    struct size_loop *run;              /* size/loop.c; NULL: it is not followed */
};

/* What its size has cost it, as measured (size/judge.h). */
struct step_verdict {
    double measured, error; /* the part of its speed that it lost on fewer cores, when that was last
                               known, with its standard error; NAN not known */
    uint64_t undone;        /* times that it got all its cores back for that */
    bool refused;           /* it keeps all of them: its program lost more lately */
    size_t freed;           /* cores that it gives up */
    double freed_core_s;    /* and has given up, until: */
    double counted_s;       /* CLOCK_MONOTONIC; 0: it was not looked at yet */
    struct size_judge *run; /* size/judge.c; NULL: nothing was measured */
};

/* Which cores: the tasks' `use` (enforce.h). */
struct step_size {
    size_t cores, given; /* what Slurm gave, what the step gets */
    size_t threads;      /* OMP_NUM_THREADS of each of its tasks; 0: not for berth to set */
    bool stored;         /* `threads` is what the profile store has (threads=auto) */
    bool asked;          /* this berthd has asked the model how many cores it needs, */
    uint64_t moves;      /* when `enacted.moves` was this */
    bool modelled;       /* NuCore has answered: the members below are known */
    enum numem_constraint constraint; /* what limits its bandwidth on the cores that it gets */
    unsigned where[2]; /* the memory that this is (NUMA node), twice; of a link: from and to */
    unsigned matrix;   /* where what it asks of the memories is from: enum size_matrix */
    bool measured;  /* that was measured, in this run or, as the store says, in an earlier one: */
    bool disturbed; /* others ran beside it */
    double error;   /* relative standard error of its counters */
    double measured_s;     /* for so long */
    double gbps, gbps_all; /* predicted with these cores, with all of them; NAN when not known */
    char reason[256];
    char others[96];  /* how many other steps were in the question, as a part of the sentence: */
    size_t others_at; /* there in the reason (size_reason) */
    struct step_loop loop;
    struct step_verdict verdict;
};

/* What sizing found out as JSON: berthctl is shown it, the journal has it to be read back. */
extern const struct json_field step_size_fields[];
extern const struct json_field step_loop_fields[]; /* of its loop */

/* What ADAPT says about its cores, where others have them, too (size/share_adapt.h). */
struct step_adapt {
    bool on;                   /* it was asked */
    bool parts;                /* each has a part; else all use all */
    const char *why;           /* why they share by need all the same; NULL: it has decided */
    bool counted;              /* by what the programs do now, and of parts only */
    double usr_all, usr_parts; /* user time that it predicts for all on all cores, and for the best
                                  parts: percent of their threads' time, mean of the programs */
    uint64_t changes;          /* times that it has decided otherwise since one came or went */
    const char *rule;          /* which of its rules asked for the last one; NULL: there was none */
    bool faithful;             /* its threads are to have FaithFul's slices */
    bool interleave;           /* its memory is to be dealt over the nodes of its cores */
};

/* Cores that Slurm gave to several jobs (share.h). */
struct step_share {
    size_t others;    /* groups of steps of other jobs that have cores in common with it */
    size_t cores;     /* its part of them; 0: not divided */
    uint64_t changes; /* times that its part has changed the tasks' `use` */
    bool waits;       /* for its part: its first window is not over */
    struct step_adapt adapt;
};

/* DIO-POWER's decision (place.h); PLACE_NO_CHOICE: another policy's. */
enum step_choice { PLACE_NO_CHOICE, PLACE_CLUSTERED, PLACE_SPREAD, PLACE_CHOICES };
extern const char *const step_choice_name[PLACE_CHOICES]; /* NULL, "cluster", "spread" */

/* The predicted energy-delay products of the node's steps (models/energy/power.h), J s; NAN where
 * the packages' power is not known. */
struct step_edp {
    enum step_choice choice;
    double cluster, spread;
    const char *source; /* of the power figures: "measured", "model"; NULL: not known */
};

struct step_place {
    enum wire_policy policy;       /* which one has decided where it stands (place.h) */
    enum wire_policy policy_asked; /* by its user, else by the site */
    struct step_edp edp;
    size_t rank, of;  /* place in the order of miss rates, 1 = most intensive; 0: not ranked */
    struct cpus home; /* where Slurm put it */
    struct cpus cpus; /* where it shall stand */
    struct cpus idle; /* those of these that are of cores which Slurm has given to nobody */
    struct {          /* its time on such cores: */
        size_t cores; /* on so many */
        double since_s, core_s; /* since then (CLOCK_MONOTONIC), and until then */
    } on_idle;
    struct cpus mems; /* the NUMA nodes of these */
    bool adopted;     /* where a berthd before this one had placed it */
    bool decided;     /* anew, since then: */
    char why[128];    /* why it stands there, as it is journaled (reason.h) */
    /* How much slower than alone it is, as a fraction (forecast.h); NAN not known, not asked for:
     */
    double max_slowdown; /* at most, as its user asked */
    double predicted;    /* where it shall stand, by the decision that put it there */
    double confidence; /* in predicted: one less the relative error (one standard deviation) that is
                          to be expected of what it rests on; >= 0 */
    bool met;          /* predicted is known, and not above max_slowdown */
    double bearable;   /* the most that the last decision might make of it for others' sake */
};

/* Its devices (place/near.h). */
struct step_near {
    bool holds;       /* all of them were found, and say where it stands */
    struct cpus cpus; /* near them; all CPUs where the place of one is not known */
};

/* Whose program presses on its caches (place/culprits.h), and how hard: by what the average program
 * slows down beside it, a core each. */
#define STEP_CULPRITS 8
#define STEP_CULPRIT_MAX 32
struct culprit {
    char program[STEP_CULPRIT_MAX]; /* "": there is none */
    double presses, sum;            /* now; until culprits_s, times the seconds */
};

/* How much slower than alone it is, as contend predicts it (forecast.h): fractions; NAN not known.
 */
struct step_slowdown {
    double now, home; /* as the steps stand; if all stood where Slurm put them */
    double model;     /* now, by the model alone, whatever was measured */
    double sibling;   /* while others run on its cores' other hardware threads, beside that */
    double as_if;     /* if steps that are only observed stood where berth would put them; NAN of
                         one that is not observed */
    double since_s;   /* CLOCK_MONOTONIC: for so long that has been so */
    double sum, home_sum, seconds; /* before that, times the seconds, and these */
    double as_if_sum, as_if_s;     /* the same of as_if, of the time of which it is known */
    struct culprit culprit[STEP_CULPRITS];
    double culprits_s; /* CLOCK_MONOTONIC */
};

struct step_enacted {
    bool verified;          /* read back as wanted */
    bool away;              /* not berth's to place any more, and not yet seen at home again */
    bool again;             /* it is on its way home once more, after a turn failed */
    bool unplaced;          /* it could not be placed when it began: its launch is told why */
    uint64_t shared;        /* share.changes that its tasks have followed */
    uint64_t moves;         /* times it was moved */
    unsigned undone;        /* looks in a row that found its binding undone (bindings.h) */
    bool kept;              /* it may begin elsewhere, and stays from then on (kept.h) */
    bool unread;            /* it is left only since nobody knows what it starts (ranks_care.h) */
    uint64_t ranks_heard;   /* ranks.heard that it has followed */
    char ranks_why[160];    /* why its ranks are not placed one by one; "": they are, or none is */
    double lately, moved_s; /* step_moved_lately() as of its last move, and CLOCK_MONOTONIC then */
    char reason[384];
    enum wire_left left_for; /* of one that is left alone: for what */
    enum step_trial trial;   /* of one that is not, when it began */
};

/* What was seen of threads that its program has bound, though nothing said before that it would
 * (enact/binders.h). */
struct step_binder {
    bool seen;      /* it has bound one */
    bool blind;     /* its masks tell nothing any more, or are too many */
    unsigned looks; /* how many were due: the next one is twice as far from its start */
    bool looked;    /* one was made */
};

/* The policies inside a step (inside/policy.h). */
enum step_policy {
    STEP_FAITHFUL,
    STEP_TRANQUIL,
    STEP_SHUFFLE,
    STEP_ADAPT,
    STEP_FOLLOW,
    STEP_THROTTLE,
    STEP_FLEX,
    STEP_LOCKS,
    STEP_PREFETCH,
    STEP_FREQUENCY, /* no word asks for it, but a site's own policy (daemon/propose.h) */
    STEP_POLICIES
};
#define STEP_WORDS STEP_FREQUENCY /* so many have a word that users ask with */
extern const char *const step_policy_word[STEP_POLICIES]; /* of --contention-aware and `allow` */

/* What a policy, or any of them, had in effect in the step. */
struct step_effect {
    uint64_t changes; /* times that it changed something */
    double seconds;   /* that it was in effect until since_s */
    double since_s;   /* CLOCK_MONOTONIC: since then it is in effect; 0: it is not */
};

/* What its processes have said of their loops (throttle). */
struct step_throttled {
    uint64_t times;                /* that contention began in one of them */
    double seconds, idle_thread_s; /* that it lasted, and that threads rested: sums over them */
};

/* Its memory that is dealt over several nodes, and the way back (inside/deal.c). */
struct step_deal {
    bool dealt;       /* pages of it may lie where berth has dealt them: in the journal */
    bool returning;   /* to where they were; else over these nodes: */
    struct cpus over; /* empty: no berthd that still runs has dealt them */
    bool running;     /* they are under way, or wait for their turn */
    double tried_s;   /* when that was asked for last (CLOCK_MONOTONIC) */
    char why[160];    /* why not all of them are where they shall be; "" */
    struct memory_origin *origin; /* where they were; NULL: not read yet, or lost */
};

/* What is changed inside the step, beside where it stands (inside/inside.h). */
struct step_inside {
    struct step_effect effect[STEP_POLICIES], any;
    bool mem_auto;        /* mem=auto asked for it, where there are several memory nodes */
    bool sliced;          /* threads of it may have berth's class and time slice: */
    struct cpus given_ms; /* those that berth has given, in ms; */
    struct cpus own_ms;   /* and not those that its program had before, in ms */
    bool shuffled;        /* threads of it may be bound to a part of their task's CPUs by berth */
    unsigned asked_ms;    /* that slice, as it was asked for last; 0: none */
    double slice_ms;      /* and as it was read back; NAN: this kernel has none */
    size_t threads, own;  /* that have it; whose class or slice is their program's */
    uint64_t changes;     /* times that another one was given */
    struct inside_slicing *slicing; /* inside/slice.c: threads that later turns see to; NULL */
    unsigned undo_failed; /* bits of the policies that could not take back theirs: it was said */
    struct step_deal deal;
    struct step_throttled throttled;
    uint64_t region; /* the parallel region of OpenMP that has its time; 0: none has, not known */
    const char *why; /* why nothing is done in it; NULL: there is a run, or nothing was asked */
    struct inside_run *run; /* inside/policy.h; NULL: no word asked for it, or `why` */
};

/* The last proposal to move the running step (replace.h). */
struct step_replace {
    uint64_t decisions;  /* that were about it */
    double gain, cost_s; /* of the node: cores, core-seconds; NAN not known */
    bool energy;         /* gain is in energy times time, as cores (replace.c) */
    double bytes;        /* memory of the step that would follow */
    struct cpus cpus;    /* where it would stand */
    char verdict[64];    /* "": no proposal was about it */
};

/* What became of its cores that were too hot (enact/thermal.h). */
struct step_thermal {
    struct cpus hot; /* first hardware threads of cores that it does not come back to */
    uint64_t moves;  /* times that it left a core, or exchanged it with one who did */
    /* The last core that reached a limit: its first hardware thread, its degrees, and where the
     * step went, CPUS_MAX: nowhere. limit NULL: none has. */
    const char *limit;
    size_t core, moved_to;
    double celsius;
    int64_t at; /* unix seconds */
};

/* What a site's own policy has proposed of it (daemon/propose.h). */
#define STEP_PROPOSAL_WHY_MAX 160
struct step_proposed {
    uint64_t changes, refused;       /* proposals that were carried out, and that were not */
    char by[64];                     /* the policy that proposed something last; "": none did */
    char what[16];                   /* what: "cpus", "khz" or "prefetch" */
    char why[STEP_PROPOSAL_WHY_MAX]; /* why that was refused; "": it was carried out */
    int64_t at;                      /* unix seconds */
    uint64_t khz;                    /* its cores' greatest frequency; 0: none is proposed */
    double khz_until_s;              /* CLOCK_MONOTONIC: so long that holds */
    enum wire_prefetch prefetch;     /* ON or OFF; NONE: none is proposed */
    double prefetch_until_s;
};

struct step_use {
    double user_s, system_s; /* CPU time; < 0 unknown */
    uint64_t maxrss_kib;     /* 0 unknown */
    bool counted;            /* by its counters, which began with so much: */
    double base_user_s, base_system_s;
    double counted_at_s; /* of the counters' reading that this is from */
    double next_s;       /* CLOCK_MONOTONIC: when its processes are read next, if not counted */
    struct usage_folder *folder; /* observe/usage_folder.h; NULL: not looked for yet */
    struct hands_work *ask;      /* of a thread that reads them, and has not answered; NULL: none */
    bool hung;                   /* it did not come back: they are not read any more */
};

/* What the step is billed (bill.h). */
struct step_bill {
    bool known[ENERGY_DOMAINS];  /* a meter of that kind was read while it ran */
    uint64_t uj[ENERGY_DOMAINS]; /* microjoules until now */
    uint64_t gaps;               /* intervals of its life that were not metered, or in part */
    char source[32];             /* of the meters: "rapl-powercap", "model", ..; "": none */
    bool modelled;               /* nothing was measured: the site's watts say what was drawn */
    char by[32];                 /* what the dynamic part went by: "counters", "busy time",
                                    "cores" (held); several, with commas, in the course of time */
    struct bill_step *running;   /* bill/parts.h; NULL: it is not billed (yet, or any more) */
    /* Of uj, what the node takes when idle, and who pays for that: the rule of when it began. */
    uint64_t idle_uj[ENERGY_DOMAINS];
    enum conf_idle_energy idle;
};

/* Who its job is, as Slurm says (wire_identity.h). */
struct step_identity {
    struct wire_identity is; /* the source none: nobody has said it (yet) */
    /* Words that wait for the job's account or QOS: slurmctld is being asked for it. */
    bool isolate_waits;
    double slowdown_waits_pct; /* that max-slowdown asked for; < 0: it does not wait */
    bool granted;              /* one of them may take effect now: to be placed anew */
    char why[128];             /* why nobody says it; "": it is not known why, or it is said */
};

struct step {
    TAILQ_ENTRY(step) link;
    uint64_t serial;              /* in order of registration, from 1 */
    enum step_state state, was;   /* was: before it ended */
    enum step_released released;  /* release.h */
    int64_t started_at, ended_at; /* unix seconds; 0 not yet */
    int64_t started_ms, ended_ms; /* the same moments in milliseconds */
    double started_mono_s, ended_mono_s;
    double empty_mono_s; /* when no process of it was found; 0: there was one */
    int exit_status;     /* wait(2) status; -1 unknown */
    bool late;           /* its tasks ran before anybody had heard what berthd says of it */
    struct wire_register request;
    char refused[160]; /* words that the site does not allow (berth.conf), taken out of the request
                        */
    bool isolate_refused;  /* isolate is one of these words */
    bool slowdown_refused; /* max-slowdown is */
    struct step_identity identity;
    struct step_profile profile;
    double figures[FIGURES]; /* its program's, by what was counted; NAN not known */
    struct step_probe probe;
    struct step_class class;
    struct step_knowledge knowledge;
    struct step_seek seek;
    struct step_ranks ranks;
    size_t program; /* its number (programs.h); PROGRAM_NONE: it has no key */
    size_t slot;    /* what it is to the models (forecast.h); 0: idle */
    struct step_size size;
    struct step_share share;
    struct step_place place;
    struct step_near near;
    struct step_slowdown slowdown;
    struct step_enacted enacted;
    struct step_binder binder;
    struct step_replace replace;
    struct step_memory memory;
    struct step_thermal thermal;
    struct step_proposed proposed;
    struct step_inside inside;
    struct step_use use;
    struct step_bill bill;
    struct step_counts *counts;      /* observe/window.h; NULL: nothing is counted */
    struct course *course;           /* observe/course.h; NULL: nothing is kept */
    struct enforce_step body;        /* cgroup, homes and tasks */
    struct enforce_task *registered; /* while its tasks are ranks, those that Slurm has started; */
    size_t nregistered;              /* [so many]; else NULL (rank_tasks.h) */
};

TAILQ_HEAD(step_list, step);

/* Somebody goes from step to step (walk.h). */
struct step_walk {
    LIST_ENTRY(step_walk) link;
    struct registry *registry;
    struct step *next;
    bool wants_ended, in_ended;
    uint64_t last;  /* serial number of the newest step when it began */
    uint64_t met;   /* of the live step that was met last */
    uint64_t *late; /* of steps that ended before they were met as live ones */
    size_t nlate, late_room;
    double began_s; /* CLOCK_MONOTONIC */
};

struct registry {
    struct step_list live;  /* in order of registration */
    struct step_list ended; /* newest first */
    size_t nlive, nended, history;
    uint64_t serial;                        /* of the newest step */
    LIST_HEAD(step_walks, step_walk) walks; /* under way */
    bool released;                          /* root wants new steps left alone */
    bool changed;                           /* steps, or their tasks, have come or gone, */
    double changed_first_s, changed_s;      /* the first of them then, the last one now */
    struct programs programs;   /* those of the steps, and others that were beside them */
    struct pairs pairs;         /* slowdowns measured, that no prediction has taken in yet */
    struct null_test null_test; /* do neighbours matter on this machine? */
    char node[64];              /* as the last registration called it */
};

void registry_init(struct registry *registry, size_t history);
void registry_free(struct registry *registry);

/* Steps, or tasks of one, have come or gone. They do so in bursts, and what follows for others is
 * decided once for all of a burst: no registration waits for what another one has caused. */
void registry_note_change(struct registry *registry);

/* Returns when that is to be decided (CLOCK_MONOTONIC): when nothing has changed for quiet_s, and
 * at the latest REGISTRY_BURST_S after the first change; < 0: nothing has changed. */
#define REGISTRY_BURST_S 1
double registry_change_due(const struct registry *registry, double quiet_s);

/* A new live step; takes over the request's tasks, and copies the rest of it. NULL when out of
 * memory. */
struct step *registry_add(struct registry *registry, struct wire_register *request);
struct step *registry_find(const struct registry *registry,
                           struct wire_step_id id); /* live only; NULL */

/* Says whether the step is of this very registration, and not only of its name. Returns the ended
 * one that is remembered of it, or NULL. */
bool step_is_of(const struct step *step, const struct wire_register *reg);
struct step *registry_find_ended(const struct registry *registry, const struct wire_register *reg);

/* The live steps in the order of their numbers, for who asks about many: a scan of the list for
 * each of 500 jobs takes milliseconds. Good until a step comes or goes. */
struct step_index {
    size_t n;
    const struct step **step; /* [n] */
};

int step_index_make(const struct registry *registry, struct step_index *index); /* 0, or -1 */
void step_index_free(struct step_index *index);

/* Returns the step of that name, or NULL; the position of the first step of the job, or where it
 * would be. */
const struct step *step_index_find(const struct step_index *index, struct wire_step_id id);
size_t step_index_of_job(const struct step_index *index, uint32_t job);

/* Returns the live step of that serial, or NULL: it has ended. */
struct step *registry_find_serial(const struct registry *registry, uint64_t serial);

/* Does the job have a live step here? */
bool registry_job_lives(const struct registry *registry, uint32_t job);

/* Is the step a batch script or an interactive shell that only waits for other steps of its job? It
 * presses on nobody, and goes where the job's cores go. */
bool registry_only_waits(const struct registry *registry, const struct step *step);

/* Follow an edge of the state machine; -1 with errno EINVAL where there is none. */
int step_go(struct step *step, enum step_state to);

/* Has the step observed as if its user had asked for that. */
int step_observe(struct step *step);

/* Notes when and how a step that is still live has ended; `end` NULL: nobody knows how. */
void step_ends(struct step *step, const struct wire_end *end);

/* Lets words take effect that were refused at first: isolate, and max-slowdown with so many percent
 * (< 0: not that one). */
void step_admit(struct step *step, bool isolate, double max_slowdown_pct);

/* The step is over: it becomes history, and the oldest history is forgotten. */
void registry_end(struct registry *registry, struct step *step);
void registry_drop(struct registry *registry, struct step *step); /* without a trace */

/* Tells whether `id` (step UINT32_MAX: the whole job, job UINT32_MAX: the whole node) names it. */
bool step_is_named(const struct step *step, struct wire_step_id id);

/* Marks what `id` names as released by root, of the whole node also the steps to come. Marks only:
 * release_leave() takes them out of berth's care. */
void registry_release(struct registry *registry, struct wire_step_id id);

/* Marks a new step as released if its node or its job is. */
void registry_inherit(const struct registry *registry, struct step *step);

/* Ends that for steps to come. Steps that were released stay so. */
void registry_manage(struct registry *registry);

/* May the step stand on CPUs of these NUMA nodes? */
bool step_may_use(const struct step *step, const struct cpus *nodes);

/* Returns the CPUs where it stands: one that is only observed has not followed the decision. */
const struct cpus *step_stands(const struct step *step);

/* Is it a batch script or an interactive shell, of which no ranks are the tasks? */
bool step_is_shell(const struct step *step);
bool step_movable(const struct step *step);  /* berth decides where it stands */
bool step_may_move(const struct step *step); /* also while it runs */

/* Returns how often the step was moved of late since it should be better elsewhere, and not to make
 * room: each move counts 1, and half as much after STEP_REST_S. */
#define STEP_REST_S 1200
double step_moved_lately(const struct step *step, double now_s);

/* Tells whether the step has just begun: nothing of it is in a cache or in memory yet, so it goes
 * elsewhere for nothing. Who comes is decided about within REGISTRY_BURST_S. */
#define STEP_BEGINS_S (2 * REGISTRY_BURST_S)
bool step_begins(const struct step *step, double now_s);

/* Returns how long the step is expected to run on: as long as it has run, but least_s at least. Of
 * jobs whose durations spread over powers of ten, as those of sites do, that is what is left of
 * half of them; nobody has to know the program. */
double step_remaining_s(const struct step *step, double now_s, double least_s);

#endif
