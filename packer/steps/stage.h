/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stage - what a stage of the pipeline is: a row of one table (daemon/stages.c), which says what it
 * does when berthd opens and closes, when a step begins, is adopted and ends, and in each turn of
 * the event loop. The order of the rows is the order of all of that.
 *
 * Each function may be NULL: the stage does nothing then. */
#ifndef BERTH_STEPS_STAGE_H
#define BERTH_STEPS_STAGE_H

#include <stdbool.h>

#include "packer/steps/packer.h"
#include "packer/steps/step_counts.h"

/* What a turn has found out so far, for the rows below. */
struct turn {
    struct windows windows; /* those that have ended in it */
    bool steps_changed;     /* steps have come or gone, and no more for a while (registry.h) */
    bool rates_changed;     /* the rate of a step is another one */
    bool learnt;            /* slowdowns were measured: what is predicted has changed */
    bool places;            /* cores are to be dealt anew: `arrange` does it, `predict` follows */
    bool again;             /* there is more to do: the next turn is to begin at once */
};

struct stage {
    const char *name;
    /* berthd starts. Returns 0, or -1 and err: it cannot go on without. Before the first step. */
    int (*open)(const struct packer *packer, struct berth_error *err);
    /* berthd stops: frees what the stage holds, also of live steps. The rows from the last to the
     * first. Also after an open that has failed, of this row or another one. */
    void (*close)(const struct packer *packer);
    /* berth.conf was read again. */
    void (*configure)(const struct packer *packer);
    /* A step begins: its tasks wait for that. */
    void (*begin)(const struct packer *packer, struct step *step);
    /* A step of the journal runs on. NULL: as begin. */
    void (*adopt)(const struct packer *packer, struct step *step);
    /* A step has ended, and is live still; end NULL: nobody knows how. From the last to the first.
     */
    void (*end)(const struct packer *packer, struct step *step, const struct wire_end *end);
    /* A step of this name is live no more. */
    void (*gone)(const struct packer *packer, struct wire_step_id id);
    /* berthd is about to stop, the step runs on: takes back what must not outlive berthd. From the
     * last to the first. */
    void (*undo)(const struct packer *packer, struct step *step);
    /* Takes its part of a turn. */
    void (*turn)(const struct packer *packer, struct turn *turn);
    bool unhurried; /* which is left to the next turn when this one has taken long */
    /* Returns the seconds until it wants a turn, < 0: only what happens wakes it. Reads nothing. */
    double (*due)(const struct packer *packer);
    bool rests; /* and which may come later while there is nothing to decide (steps/rest.h) */
};

/* For `adopt`: there is nothing to do for a step of the journal, though there is for one that
 * begins.
 */
void stage_keeps(const struct packer *packer, struct step *step);

#endif
