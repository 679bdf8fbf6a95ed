/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tranquil - which memory policy and which time slice make a running program fast and even
 * (Pusukuri 2012, chapter 3, Fig. 3.7), pass by pass.
 *
 * A pass begins with a burst: ten readings, 100 ms apart, of cache misses per instruction and of
 * involuntary switches per second. Where the mean of the misses is above a threshold, interleaved
 * memory and slices of 100 ms are tried and judged by the misses, else slices of 20 ms, judged by
 * the switches. The trial is a second burst. What was tried stays if both the mean and the standard
 * deviation have fallen; else the first goes back to local memory, with slices of 100 ms, and the
 * second to the default class. Then the pass waits for its end.
 *
 * The paper's rule (TRANQUIL_PRINTED) compares by "<" alone: on two bursts of mere noise it keeps a
 * quarter of the trials, and it tries anew in each pass what is in effect already. Ours
 * (TRANQUIL_SIGNIFICANT) differs in three points:
 *   - Both have to be lower, and one of them by more than chance explains: the mean by Welch's
 * test, or the deviation by that of Brown and Forsythe (the same test, of the distances from the
 *     burst's median), each one-sided at 2.5 %. Mere noise is kept in a fortieth of the cases. That
 *     both tests have to hold would refuse most that halves the deviation: ten readings hardly show
 *     it.
 *   - What is in effect already is not tried again; the pass leaves it as it is.
 *   - A trial of slices that was not kept is made again 2 passes later, then 4, up to
 *     TRANQUIL_REST_MAX, until one is kept or the program is of the other kind. What was before it
 *     comes back, but for the slices. One of memory carries all pages there and back: it is made
 *     again only when the program misses twice as often or half as often, or has been of the other
 *     kind meanwhile.
 *
 * Where the misses are not known the program counts as one of the second kind.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_INSIDE_TRANQUIL_H
#define BERTH_MODELS_INSIDE_TRANQUIL_H

#include <stdbool.h>
#include <stddef.h>

#define TRANQUIL_READINGS 10
#define TRANQUIL_READINGS_MIN 5 /* of those that are known: a burst with fewer says nothing */
#define TRANQUIL_READING_MS 100
#define TRANQUIL_MEMORY_SLICE_MS 100
#define TRANQUIL_CPU_SLICE_MS 20
#define TRANQUIL_REST_MAX 64 /* passes */

enum tranquil_rule { TRANQUIL_SIGNIFICANT, TRANQUIL_PRINTED, TRANQUIL_RULES };
extern const char *const tranquil_rule_name[TRANQUIL_RULES]; /* "significant", "printed" */

enum tranquil_memory { TRANQUIL_LOCAL, TRANQUIL_INTERLEAVE, TRANQUIL_MEMORIES };
extern const char *const tranquil_memory_name[TRANQUIL_MEMORIES]; /* "local", "interleave" */

/* What is in effect: all zero is what a program starts with. */
struct tranquil_policy {
    enum tranquil_memory memory;
    unsigned slice_ms; /* of the fixed class; 0: the default class */
};

/* Up to TRANQUIL_READINGS readings; those that are NAN are not known. */
struct tranquil_burst {
    size_t n;
    double miss[TRANQUIL_READINGS]; /* misses per instruction, or in any other unit of them */
    double icx[TRANQUIL_READINGS];  /* involuntary switches per second */
};

struct tranquil_rules {
    enum tranquil_rule rule;
    double miss; /* a program with a greater mean of tranquil_burst.miss is memory-intensive */
};

/* Mean and standard deviation of a burst; NAN: not known. */
struct tranquil_profile {
    double miss, miss_sd, icx, icx_sd;
};

/* What the next burst is. */
enum tranquil_state {
    TRANQUIL_PROFILE, /* the first one of the next pass, when its time has come */
    TRANQUIL_TRIAL,   /* of what is tried: as soon as tranquil.policy is in effect */
    TRANQUIL_STATES
};
extern const char *const tranquil_state_name[TRANQUIL_STATES]; /* "profile", "trial" */

struct tranquil { /* all zero: nothing has happened */
    enum tranquil_state state;
    struct tranquil_policy policy;         /* to be in effect until the next burst has ended */
    unsigned pass;                         /* passes that have begun */
    bool memory_intensive;                 /* as the pass has found it */
    struct tranquil_profile now;           /* the last burst */
    bool tried, kept;                      /* ever; and what was tried last */
    struct tranquil_profile before, after; /* that trial's two bursts */

    /* its own */
    struct tranquil_policy left; /* what was in effect before the trial */
    struct tranquil_burst first; /* the pass' first burst */
    unsigned rest, rests;        /* passes to come without a trial; as many as there were last */
    double refused_miss;         /* before a trial of memory that was not kept; 0: none was */
};

/* Takes in the burst that has just been read under tranquil->policy, and decides: the caller puts
 * tranquil->policy into effect, and takes the next burst when tranquil->state says. Returns whether
 * the policy is another one than before. A burst that says nothing ends the pass as it stands; in
 * a trial as one that was not kept. */
bool tranquil_burst(struct tranquil *tranquil, const struct tranquil_rules *rules,
                    const struct tranquil_burst *burst);

/* Says whether mean and standard deviation of the n values `after` are below those of the m values
 * `before`, by that rule. Values that are NAN are left out. */
bool tranquil_fell(enum tranquil_rule rule, size_t m, const double *before, size_t n,
                   const double *after);

#endif
