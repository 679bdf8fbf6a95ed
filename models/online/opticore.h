/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opticore - when a program that runs is measured, sized and sized again (Wang 2015, chapter 8:
 * profile half a second, solve, remap, watch for phases), without the mechanism: this says when,
 * somebody else does it.
 *
 * A phase is known by its signature: cache misses and bytes of memory traffic per million
 * instructions. Both change little with the number of cores, so that what sizing does to a program
 * is not taken for something that the program does. The paper's traffic per second would.
 *
 * Where a program of OpenMP says in which parallel region it is, each region is a phase, as in the
 * paper (section 8.2): it begins with the first window that is another region's, and is looked up
 * at once.
 *
 * What keeps it from swinging:
 *   - a phase begins with two windows in a row that are off the phase before (phase.h); one window
 *     is nothing
 *   - nobody asks which phase it is before its rates are known to within a tenth (95 % confidence)
 *   - windows that began before the last change of the cores say nothing
 *   - the first run comes early in the program, as in the paper: when its phase has lasted
 * `first_s`. Another phase that nobody knows is profiled when it has lasted `stay_s`, when `rest_s`
 * have passed since the last profiling run began, and when all of them, the next one included, are
 * at most `cost` of the time that the program has run
 *   - a phase that lasts less than `stay_s` takes no cores away: it would have them back before the
 *     next phase has been seen
 *
 * Pure arithmetic: no I/O, no clock (the caller says what time it is), no globals. */
#ifndef BERTH_MODELS_ONLINE_OPTICORE_H
#define BERTH_MODELS_ONLINE_OPTICORE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/online/phase.h"

/* stored: sized by what was known before, or not at all. profiling: on one core of each node.
 * sized: its cores have just changed, and no two windows have been seen since. watching: its phases
 * are. */
enum opticore_state {
    OPTICORE_STORED,
    OPTICORE_PROFILING,
    OPTICORE_SIZED,
    OPTICORE_WATCHING,
    OPTICORE_STATES
};
extern const char *const opticore_state_name[OPTICORE_STATES]; /* "sized-by-store", .. */

enum opticore_rate { OPTICORE_MISSES, OPTICORE_BYTES, OPTICORE_RATES };

/* Per million instructions; NAN: not known. */
struct opticore_signature {
    double rate[OPTICORE_RATES];
    uint64_t region; /* the parallel region of OpenMP that it is in; 0: not known, or several */
};

#define OPTICORE_NEAR 0.1 /* of the larger one: nearer rates are the same phase's */

struct opticore_rules {
    double profile_s; /* that a profiling run lasts, > 0 */
    double rest_s;    /* from the beginning of one to that of the next, at least */
    double cost;      /* fraction of the run time that they may take together, but for one run;
                         0: there is none */
    double stay_s;    /* that a phase must last to be worth it */
    double first_s;   /* that it must last before the first run */
};

/* A window of the program, on its own clock: seconds since it began. */
struct opticore_window {
    double began_s, ended_s;
    double instructions, misses, bytes; /* in it; NAN: not known */
    uint64_t region;                    /* that had most of it; 0: none had, or nobody says */
};

struct opticore {
    enum opticore_state state;
    struct phase seen;            /* the two rates since the phase, or the cores, have changed */
    struct opticore_signature at; /* when the phase was looked up */
    uint64_t region;              /* that it is in; 0: nobody says */
    unsigned phase;               /* its number; 0: nobody knows it */
    bool looked;                  /* it was looked up */
    double began_s;               /* when the phase was seen to have begun */
    double changed_s;             /* when its cores changed last */
    double profile_began_s;       /* the last profiling run; NAN: there was none */
    double profiled_s;            /* all of them */
    unsigned profiles;
};

/* Says whether two signatures are of one phase: what both know is near, and there is something that
 * both know. Where both know the region it tells: another one is another phase, and in the same one
 * the rates have to be alike only. */
bool opticore_same(const struct opticore_signature *a, const struct opticore_signature *b);

/* Says whether they can be of one phase seen on different cores: no rate that both know is more
 * than twice the other one. */
bool opticore_alike(const struct opticore_signature *a, const struct opticore_signature *b);

void opticore_init(struct opticore *core);

/* Takes in a window. Returns whether the phase is to be looked up now, by opticore_signature(); the
 * answer goes to opticore_is(). */
bool opticore_window(struct opticore *core, const struct opticore_window *window);

/* Returns what the phase looks like as far as it was seen. */
struct opticore_signature opticore_signature(const struct opticore *core);

/* The phase that was looked up has this number; 0: nobody knows it. */
void opticore_is(struct opticore *core, unsigned phase, double now_s);

/* Returns how long the present phase has lasted. */
double opticore_lasted(const struct opticore *core, double now_s);

/* Says whether it is to be found out what the present phase asks: nobody knows it, and it has
 * lasted `stay_s`, or `first_s` where there was no run yet. */
bool opticore_is_due(const struct opticore *core, const struct opticore_rules *rules, double now_s);

/* Says whether a profiling run is worth its cost now: only of a phase that was looked up and is not
 * known. */
bool opticore_may_profile(const struct opticore *core, const struct opticore_rules *rules,
                          double now_s);

/* Begins a profiling run. */
void opticore_profile(struct opticore *core, double now_s);

/* Ends it, whatever it has shown. */
void opticore_profiled(struct opticore *core, double now_s);

/* The program's cores have changed. */
void opticore_resized(struct opticore *core, double now_s);

#endif
