/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_said - what the processes of a step say in the FIFO beside their page (runtime/page.h). */
#ifndef BERTH_INSIDE_STEP_SAID_H
#define BERTH_INSIDE_STEP_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/page.h"

#define STEP_SAID_MOST ((uint64_t)1 << 53) /* of each sum */

/* What all processes of a step have said. They are their user's: none of it is believed of others.
 */
struct step_said {
    uint64_t processes, followed, own, nested, objects; /* sums of struct rt_said */
    uint32_t threads;          /* of the last region that followed; 0: none did */
    enum rt_surprise surprise; /* the first one */
    uint64_t reduced, throttled_ns, rests, idle_ns, freed; /* sums of struct rt_rested */
};

/* Adds what was said since the last time, without waiting, as far as there is not too much. Returns
 * whether there was anything. */
bool step_said_read(int fifo, struct step_said *said);

/* Says what a surprise was; NULL: there was none. */
const char *step_said_surprise(enum rt_surprise surprise);

#endif
