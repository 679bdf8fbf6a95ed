/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reinforce - how many threads a program should have, found by a few short runs (Thread Reinforcer,
 * Pusukuri 2012, Algorithm 1).
 *
 * Each run has more threads than the one before: by a step where waiting for locks, voluntary
 * switches (up to as many threads as cores) and migrations (beyond) rise slowly, else by half of
 * it. It ends where the CPUs are not used more than before, where waiting for locks is high and one
 * of the three rises fast, or at the most threads; the last run but one is the best, at the most
 * threads the last one.
 *
 * Where the print cannot be meant this departs from it: the step is computed from the last two
 * runs, before the last one becomes the best (as printed all differences would be 0 and the half
 * step would never be); the lost second branch of ComputeNextT is as the prose has it, with
 * migrations; and where locks are high but nothing rises it goes on to ask for the most threads.
 *
 * Even so half a step is rare: where locks are high and rise fast the search ends, and where they
 * do not the next step is a whole one. The counts that the paper's Tables 2.4 and 2.5 found are
 * whole steps apart, too. What makes a half step here is a figure that is not known. Half of an odd
 * step is rounded up, so that there are no more runs than (t_max - t_min) / (t_step / 2) + 2.
 *
 * The paper prints no thresholds, and there are none here: they are found from recorded sweeps of
 * the machine's own programs (reinforce_learn).
 *
 * A profile's field that is NAN is not known: no exit that needs it is taken, and no slow rise is
 * seen. Unknown use of the CPUs ends the search.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_INSIDE_REINFORCE_H
#define BERTH_MODELS_INSIDE_REINFORCE_H

#include <stdbool.h>
#include <stddef.h>

/* What is above one is high, what is not is low. */
struct reinforce_thresholds {
    double cpu_util_delta;
    double lock, lock_delta;
    double vcx_delta;
    double migr_delta;
};

struct reinforce_rules {
    unsigned cores;
    unsigned t_min, t_max; /* 1 <= t_min <= t_max */
    unsigned t_step;       /* >= 1 */
    struct reinforce_thresholds thresholds;
};

/* Of a run, in any units that are the thresholds', too. */
struct reinforce_profile {
    double cpu_util, lock; /* of the cores' time; of the threads' time */
    double vcx, migr;      /* per second */
};

enum reinforce_end {
    REINFORCE_RUNNING,
    REINFORCE_UTIL, /* the CPUs are not used more */
    REINFORCE_LOCK, /* locks, with switches or migrations */
    REINFORCE_MAX,  /* there are no more threads */
    REINFORCE_ENDS
};
extern const char *const reinforce_end_name[REINFORCE_ENDS]; /* NULL, "util", "lock", "max" */

struct reinforce {
    unsigned next; /* how many threads are to be run now; 0: it has ended */
    unsigned best; /* 0: nothing was run */
    enum reinforce_end end;
    unsigned tried;                        /* runs so far */
    struct reinforce_profile best_profile; /* its own */
};

void reinforce_init(struct reinforce *reinforce, const struct reinforce_rules *rules);

/* Takes in the profile of a run of reinforce->next threads. Returns how many are to be run next; 0:
 * it has ended, with reinforce->best, as reinforce->end says. */
unsigned reinforce_run(struct reinforce *reinforce, const struct reinforce_rules *rules,
                       const struct reinforce_profile *profile);

/* Returns how many runs there can be at the most, which is no more than
 * (t_max - t_min) / (t_step / 2) + 2. */
unsigned reinforce_most(const struct reinforce_rules *rules);

/* ---- thresholds ---- */

struct reinforce_point {
    unsigned threads;
    struct reinforce_profile profile;
};

/* A program that was run with ever more threads. */
struct reinforce_sweep {
    size_t n;
    const struct reinforce_point *point; /* threads rising */
};

#define REINFORCE_SWEEPS_MIN 3 /* as many programs as the paper has taken */

/* Finds thresholds from sweeps: those "after which the value became more sensitive to the number of
 * threads and showed a rapid increase" (2.2.2), or for the use of the CPUs, stopped rising. By that
 * the text means a place in a figure; here it is the knee of each figure: the point that is
 * farthest below the line from the first to the last one (above, for the use of the CPUs, which
 * flattens). A figure of which no point is off that line by a tenth of its rise has no knee, and
 * says nothing.
 *
 * `lock` is the value at the knee of LOCK. A delta is the mean of the largest rise up to the knee
 * (of the use of the CPUs the smallest) and the one right behind it, per t_step threads. What comes
 * later says little: the part of all threads that wait rises ever more slowly.
 *
 * Of several programs' values it takes the median. Each program gives what it has; what none of
 * them has a knee of stays NAN, and its exit is closed. sweeps: n of them, each of 4 points or
 * more. Returns how many programs gave each threshold, in `from` (as numbers; may be NULL), and the
 * thresholds. */
struct reinforce_thresholds reinforce_learn(size_t n, const struct reinforce_sweep *sweep,
                                            unsigned t_step, struct reinforce_thresholds *from);

#endif
