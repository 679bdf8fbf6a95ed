/* SPDX-License-Identifier: GPL-2.0-or-later */
/* saturation - whether a shared resource is idle, normally used or saturated, out of samples of its
 * utilisation (RCRdaemon, Porterfield 2012, sections 2.4 and 3.1).
 *
 * A threshold marks saturation, a lower one idleness. What a sample says becomes the state when
 * `hold` samples in a row have said it: the paper's scheduler that is lazy, baseline or aggressive
 * to see contention and its end. The paper prints neither thresholds nor holds; the holds here are
 * for 100 samples a second.
 *
 * A sample that is NAN says that nothing is known, which becomes the state as any other, after
 * `hold` in a row: one that is missed does not end contention, a counter that is gone does.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_SATURATION_H
#define BERTH_MODELS_TASKS_SATURATION_H

#include <stdbool.h>
#include <stddef.h>

enum saturation_state {
    SATURATION_UNKNOWN,
    SATURATION_IDLE,
    SATURATION_NORMAL,
    SATURATION_SATURATED,
    SATURATION_STATES
};
extern const char *const saturation_name[SATURATION_STATES]; /* NULL, "idle", .. */

#define SATURATION_HOLD_LAZY 50
#define SATURATION_HOLD_BASELINE 5
#define SATURATION_HOLD_AGGRESSIVE 1
#define SATURATION_IDLE_PART 0.7 /* of the threshold of saturation, where idleness has none */

/* A core that adds less than this part of what the first one draws finds its memory saturated. */
#define SATURATION_KNEE 0.10

/* Returns how many cores saturate a memory: the fewest to which the next one adds less than
 * SATURATION_KNEE of what the first one draws. curve: [cores + 1], what so many cores draw
 * together; [0] is 0. `cores`: none does; 0: the curve is not known (a NAN before the knee). */
size_t saturation_knee(size_t cores, const double *curve);

struct saturation_rules {
    double saturated; /* a utilisation as high as this is saturated, */
    double idle;      /* one as low as this idle; idle < saturated */
    unsigned hold;    /* >= 1: samples in a row that make a state */
};

/* All zero at first. */
struct saturation {
    enum saturation_state state; /* what holds */
    enum saturation_state said;  /* what the last sample said, */
    unsigned row;                /* and how many before it did, one after the other, with it */
};

/* Takes the next sample: a utilisation, or NAN. Returns whether the state is another one now. */
bool saturation_take(struct saturation *saturation, const struct saturation_rules *rules,
                     double utilisation);

#endif
