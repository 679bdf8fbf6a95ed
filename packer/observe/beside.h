/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside - who was at work beside a step on its caches while its last window lasted.
 *
 * Made anew for each turn in which windows end, from where the steps stand and what each has used.
 */
#ifndef BERTH_OBSERVE_BESIDE_H
#define BERTH_OBSERVE_BESIDE_H

#include <stdbool.h>

#include "packer/steps/packer.h"
#include "packer/steps/pairs.h"

struct beside;
struct windows;

/* Looks at where all live steps stand, now that these windows have ended. NULL when out of memory.
 */
struct beside *beside_new(const struct packer *packer, const struct windows *windows);
void beside_free(struct beside *beside); /* NULL is fine */

/* In all that follows `step` says which of the live steps is meant, from 0 in their order. */

/* Returns a number for who stands beside the step, at work or not: another one where somebody came,
 * left or moved. */
uint64_t beside_standing(const struct beside *beside, size_t step);

/* Tells whether one of those beside it began a phase in the window that has just ended. */
bool beside_changed(const struct beside *beside, size_t step);

/* Fills in the step itself and who was at work beside it in the window that has just ended, as far
 * as berth's steps go: pair->self and pair->beside. Returns 1; 0 where nobody was; -1 where that
 * cannot be told: a window of a neighbour did not end with this one, or it was spent in two places,
 * or it worked for a part of it only; the step's caches have different neighbours; somebody was at
 * work whom berth does not know; or programs have no key. */
int beside_pair(const struct beside *beside, size_t step, struct pair *pair);

#endif
