/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_counts - what the counters have said of one step: readings, windows and running averages. */
#ifndef BERTH_STEPS_STEP_COUNTS_H
#define BERTH_STEPS_STEP_COUNTS_H

#include "packer/counters/counters.h"
#include "packer/counters/rates.h"
#include "packer/steps/registry.h"

struct packer;

/* What a run alone says of the program, for models and as what slowdowns are measured against. */
enum solo_rate { SOLO_SPEED, SOLO_MISSES, SOLO_RATES };

/* The last window, as observe/slowdown.h looks at it. */
struct last_window {
    double x[SOLO_RATES], y[SOLO_RATES]; /* of those rates */
    double bytes;                        /* memory traffic in it; NAN not known */
    double clock_ghz;                    /* of its cores while they worked; NAN not known */
    double stalled;                      /* of its cycles; NAN not known */
    double seconds;
    double cpu;       /* cores that the step used; NAN not known */
    double foreign_s; /* what the other CPUs of its caches worked meanwhile */
    bool whole;       /* it was spent in one place, and foreign_s is known */
    bool alone;       /* and nobody else was at work there */
    bool changed;     /* with it a phase began */
};

/* Who has CPUs of a step beside it: processes outside Slurm, other jobs, its own job's other steps.
 */
enum step_rival { RIVAL_OUTSIDE, RIVAL_JOBS, RIVAL_OWN_JOB, STEP_RIVALS };
extern const char *const step_rival_name[STEP_RIVALS]; /* "outside", "jobs", "own-job" */

/* Who else ran on its CPUs, and on the other hardware threads of its cores: sums over those of its
 * windows that tell it (observe/rivals.h), seconds. */
struct step_rivals {
    double room_s;               /* CPU time that its CPUs have */
    double taken_s[STEP_RIVALS]; /* of that, what others had */
    double cores_s;              /* the time of its cores */
    double siblings_s;           /* for which others ran on their other hardware threads */
    double here_s, beside_s;     /* busy time of both since boot, as of the last reading */
};

struct step_sets; /* observe/slowdown.c */

/* What is counted of one step; the stage of observe/window.h writes it. */
struct step_counts {
    struct counters_step *counters; /* NULL until the start-up is over */
    struct reuse_step *reuse;       /* reuse.h; NULL: not sampled */
    bool reuse_hung;                /* nor any more: a process of it lets nobody watch it */
    bool unread;                    /* attached, and not read yet */
    bool held;                      /* its windows wait (window_hold) */
    double due_s;                   /* when it is read next */
    struct counters_sample last;    /* the reading that the present window began with */
    double foreign_s;   /* busy time of the CPUs beside its own on its caches, at that time */
    bool foreign_known; /* and it has not moved since */
    struct phase phase; /* running averages of the present phase */
    struct rate alone[RATES], beside[RATES]; /* of the whole run: windows in which nobody else
                                                 worked on its caches, and the others */
    double instructions[2], seconds[2];      /* counted in them, [0] alone, [1] beside */
    uint64_t ended[2];                       /* windows of these two kinds */
    uint64_t windows;                        /* all, also those that are neither */
    uint64_t read_in;                        /* the turn that its last window ended in (windows) */
    struct last_window window;               /* that one */
    uint64_t behaviours;                     /* times that the program has changed by itself */
    struct rate solo[SOLO_RATES]; /* windows alone since the program last changed by itself */
    struct step_spells *spells;   /* who it was beside, and how fast; NULL: nobody yet */
    struct step_rivals rivals;
    double scaling[RATES]; /* relative standard error for multiplexing, in the last window */
};

/* The steps whose window one turn has ended (observe/window.h): window_turn() returns them, and who
 * follows from windows is handed them. */
struct windows {
    uint64_t turn; /* its number, from 1 */
    size_t n;
};

/* Is the step, which is live, one of these? */
static inline bool windows_have(const struct windows *windows, const struct step *step)
{
    return step->counts && step->counts->read_in == windows->turn;
}

/* Fills in the running average of the present phase, with half its 95 % interval (multiplexing
 * included; NAN where that is not known; NULL: nobody asks). Returns false where the rate is not
 * known. */
bool step_counts_rate(const struct step *step, enum rate_id id, double *mean, double *error);

/* Fills in the mean of a rate alone, in this run since the program last changed by itself, and the
 * standard deviation of that mean (NAN where that is not known). Returns false where the rate is
 * not known. */
bool step_counts_solo(const struct step *step, enum solo_rate id, double *mean, double *error);

/* Returns the mean of a rate over all windows of the run, those alone on its caches and the others,
 * in the rate's unit; NAN not known. */
double step_counts_run(const struct step *step, enum rate_id id);

/* Returns the measured slowdown of the step, which is this everywhere: explain, status, job, the
 * metrics, the ledger and report. It is the CPU time that the instructions of all windows of the
 * run took, divided by the CPU time that they would have taken alone, less 1: a fraction of the
 * time alone. A step that was alone for half of its CPU time, and half as fast beside others, has
 * 1 / 0.75 - 1.
 *
 * Alone is by the profile of a run alone, or else by STEP_ALONE_WINDOWS of its own windows in which
 * it was: *source is then "profile" or "own windows alone". NAN not known: *source is as it was. */
#define STEP_ALONE_WINDOWS 3
double step_counts_slowdown(const struct step *step, const char **source);

/* Returns what of that the clock makes: its cores were slower over its run than alone, in GHz, and
 * its time goes with the clock but for what it waits. NAN where one of the clocks is not known. */
double step_counts_clock_slowdown(const struct step *step);

/* Returns by what factor the step would be faster at `ghz` than it is in this phase, at the clock
 * that was counted in it; 1 where one of the clocks is not known. */
double step_counts_at_clock(const struct step *step, double ghz);

/* Returns what part of its CPUs' time others had (by whom that is said, or STEP_RIVALS: by
 * anybody), and for what part of its cores' time others ran on their other hardware threads; 0 to
 * 1, NAN not known. */
double step_counts_taken(const struct step *step, enum step_rival by);
double step_counts_siblings(const struct step *step);

/* Is more than a twentieth of the step's memory on nodes on which it does not stand, by its last
 * sample? Less costs no more than what nobody sees. No where nobody counts it. */
bool step_counts_far(const struct step *step);

/* Returns what counters borrow of berthd, for as long as they are open. */
struct counters_node step_counts_node(const struct packer *packer);

#endif
