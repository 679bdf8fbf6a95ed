/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attribute - an amount in whole units (microjoules) divided among claimants by their weights, so
 * that the parts are whole and add up to the amount exactly.
 *
 * Each claimant gets its quota rounded down; the units that are left go to the largest remainders
 * (Hamilton's method, the largest remainder), equal ones in the order of the claims. Weights become
 * 53-bit integers of the greatest one first, and all that follows is integer arithmetic: nothing
 * depends on how a compiler rounds.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ENERGY_ATTRIBUTE_H
#define BERTH_MODELS_ENERGY_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

#define ATTRIBUTE_CLAIMS 4096 /* at most */

struct attribute_claim {
    double weight;       /* negative and NaN are 0; beside an infinite one every finite one is 0 */
    uint64_t share;      /* filled: units */
    uint64_t part, rest; /* for attribute_divide itself */
};

/* Divides total among claim[n]; the shares add up to it. Where nobody has a weight (or n is 0) all
 * shares are 0. Returns what is left over: 0, or total in that case, or where n is above
 * ATTRIBUTE_CLAIMS.
 */
uint64_t attribute_divide(uint64_t total, struct attribute_claim *claim, size_t n);

#endif
