/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill - the stage that divides what the meters say among the steps.
 *
 * An interval lasts from one reading of the meters to the next: a second or so, and shorter where a
 * step begins, ends or changes its cores in between. Each zone's energy of the interval is divided,
 * in whole microjoules, among the steps on its package, `idle` (of cores that
 * nobody holds, and what the site bills nobody) and
 * `unmanaged` (work of processes that berth does not know), and nothing is left over:
 *
 *     sum over steps + idle + unmanaged = metered, for each zone, per interval and in total.
 *
 * The idle power's part goes by the rule that the step began with (idle_energy of berth.conf): by
 * allocated cores, evenly to the package's steps, or to nobody, which is `idle`. The dynamic part
 * goes by activity (models/energy/attribute.h). A step's total outlives berthd: it is in the state
 * folder, as are the node's accounts. A berthd that is stopped leaves its last reading, and the
 * next one goes on from there. What was used after the last writing of one that was killed, or
 * where the meters do not allow to go on, is nobody's: it is not in `metered`, and counts as a gap.
 * What a step did in a zone that was not known when it ended is in `unmanaged`. */
#ifndef BERTH_BILL_BILL_H
#define BERTH_BILL_BILL_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/energy/energy.h"

struct packer;
struct step;

/* Of one zone; metered = steps + idle + unmanaged, always. */
struct bill_account {
    uint64_t metered_uj, steps_uj, idle_uj, unmanaged_uj, gaps;
    bool counts; /* its meter has moved since this berthd opened it, and does not stand still now */
};

struct bill;

void bill_close(struct bill *bill); /* NULL is fine */

/* An interval ends now: at each window, and before a step begins, ends, or changes its cores. One
 * of less than a millisecond goes on. */
void bill_turn(const struct packer *packer);

/* bill_turn, if it is time for it. */
void bill_tick(const struct packer *packer);

/* Returns the seconds until it is next; < 0: there are no meters. Reads nothing. */
double bill_due(const struct packer *packer);

/* From now on the step is billed; it goes on with the total that a berthd before this one has left,
 * if it is `adopted`: what was used meanwhile is a gap, unless that one was stopped and left its
 * last reading. */
void bill_begin(const struct packer *packer, struct step *step, bool adopted);

/* Nothing more is billed to the step: its total stays. After its last bill_turn. */
void bill_end(const struct packer *packer, struct step *step);

/* An interval ends, and totals are written for the next berthd, and the reading that it goes on
 * from: before a stop, and nothing is billed after it. */
void bill_keep(const struct packer *packer);

/* All that were running have been adopted: the interval in which there was no berthd ends, and what
 * is left of others' totals is forgotten. */
void bill_adopted(const struct packer *packer);

/* Tells of the i-th way to read meters; false after the last one. */
bool bill_meter(const struct packer *packer, size_t i, struct energy_about *about);

/* The i-th zone and its account. False after the last. */
bool bill_zone(const struct packer *packer, size_t i, struct energy_zone *zone,
               struct bill_account *account);

/* The step's energy in all, microjoules: packages and their DRAM, or the whole node's meter where
 * there is no other. False: not metered. */
bool bill_total(const struct step *step, uint64_t *uj);

/* Of that, what the node takes when idle, as far as its idle power was known. False: not metered.
 */
bool bill_idle(const struct step *step, uint64_t *uj);

#endif
