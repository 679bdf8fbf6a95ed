/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_said - what the processes of a step say in the FIFO beside their page (runtime/page.h). */
#ifndef BERTH_INSIDE_STEP_SAID_H
#define BERTH_INSIDE_STEP_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/page.h"

#define STEP_SAID_MOST ((uint64_t)1 << 53) /* of each sum */

#define STEP_SAID_REGIONS 8  /* that are told apart between two looks */
#define STEP_SAID_MOSTLY 0.8 /* of the time: then it is this region's */

/* Which regions had the time since somebody looked. */
struct step_said_regions {
    struct {
        uint64_t number, ns;
    } of[STEP_SAID_REGIONS];
    uint64_t all_ns, now; /* now: the one that began last, in the last record; 0: none did */
    bool any;             /* there was a record */
};

/* What all processes of a step have said. They are their user's: none of it is believed of others.
 */
struct step_said {
    uint64_t processes, followed, own, nested, objects; /* sums of struct rt_said */
    uint32_t threads;          /* of the last region that followed; 0: none did */
    enum rt_surprise surprise; /* the first one */
    uint64_t reduced, throttled_ns, rests, idle_ns, freed; /* sums of struct rt_rested */
    struct step_said_regions regions;
};

/* Adds what was said since the last time, without waiting, as far as there is not too much. Returns
 * whether there was anything. */
bool step_said_read(int fifo, struct step_said *said);

/* Returns the number of the parallel region that had the step's time since the last call: the one
 * with most of it; where nobody has said anything since, the one that began last and has gone on.
 * 0: none had most of it, or nobody says. */
uint64_t step_said_region(struct step_said *said);

/* Says what a surprise was; NULL: there was none. */
const char *step_said_surprise(enum rt_surprise surprise);

#endif
