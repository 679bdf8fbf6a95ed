/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill - the stage that divides what the meters say among the steps.
 *
 * An interval lasts from one reading of the meters to the next: a second or so, and shorter where a
 * step begins, ends or changes its cores in between. Each zone's energy of the interval is divided,
 * in whole microjoules, among the steps on its package, `idle` (cores that nobody holds) and
 * `unmanaged` (work of processes that berth does not know), and nothing is left over:
 *
 *     sum over steps + idle + unmanaged = metered, for each zone, per interval and in total.
 *
 * The idle power's part goes by allocated cores, the dynamic part by activity (models/attribute.h).
 * A step's total outlives berthd: it is in the state folder, as are the node's accounts. */
#ifndef BERTH_BILL_H
#define BERTH_BILL_H

#include <stdbool.h>
#include <stdint.h>

#include "energy.h"

struct packer;
struct step;

/* Of one step; part of struct step. */
struct step_bill {
    bool known[ENERGY_DOMAINS];  /* a meter of that kind was read while it ran */
    uint64_t uj[ENERGY_DOMAINS]; /* microjoules until now */
    uint64_t gaps;               /* intervals of its life that were not metered, or in part */
    char source[32];             /* of the meters: "rapl-powercap", "model", ..; "": none */
    char by[32];                 /* what the dynamic part went by: "counters", "busy time" */
};

/* Of one zone; metered = steps + idle + unmanaged, always. */
struct bill_account {
    uint64_t metered_uj, steps_uj, idle_uj, unmanaged_uj, gaps;
};

struct bill;

/* The meters, and what a berthd before this one left in the state folder. */
int bill_open(struct bill **out, struct packer *packer, struct berth_error *err);
void bill_close(struct bill *bill); /* NULL is fine */

/* An interval ends now: at each window, and before a step begins, ends, or changes its cores. */
void bill_turn(struct packer *packer);

/* The i-th zone and its account. False after the last. */
bool bill_zone(const struct packer *packer, size_t i, struct energy_zone *zone,
               struct bill_account *account);

/* The step's energy in all, microjoules: packages and their DRAM, or the whole node's meter where
 * there is no other. False: not metered. */
bool bill_total(const struct step *step, uint64_t *uj);

#endif
