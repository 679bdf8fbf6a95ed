/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - from a step's key to its miss rate and its class. */
#ifndef BERTH_OBSERVE_CLASSIFY_H
#define BERTH_OBSERVE_CLASSIFY_H

#include "packer/steps/packer.h"

struct windows;

/* Look the step's program up in the profile store: fills step->profile. An unreadable store is
 * logged, the step is then unprofiled. */
void classify_profile(const struct packer *packer, struct step *step);

/* Devil, turtle or unprofiled, from the miss rate: fills step->class. */
void classify_step(const struct packer *packer, struct step *step);

/* Says of each live step what a prediction of its slowdown rests on: fills step->knowledge. A step
 * whose program was measured beside others is on RUNG_PAIRS. */
void classify_knowledge(const struct packer *packer);

/* Takes over what was counted of the steps that had a window end, where it lies off the present
 * rate by more than CLASSIFY_CHANGE. What was counted alone in this run replaces whatever the store
 * says, at once. What was counted beside others never replaces what was counted alone, as long as
 * the program does not change by itself; it replaces a simulated rate that is apart from it
 * (profile_apart). Stack distances that the count contradicts (profile_contradicts) are forgotten.
 * Returns whether any step's rate has changed. */
#define CLASSIFY_CHANGE 0.1
bool classify_windows(const struct packer *packer, const struct windows *windows);

/* The rate that ranks the step among the others, misses per million instructions: its own, or the
 * configured neutral one. */
double classify_rate(const struct packer *packer, const struct step *step);

#endif
