/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - from a step's key to its miss rate and its class. */
#ifndef BERTH_OBSERVE_CLASSIFY_H
#define BERTH_OBSERVE_CLASSIFY_H

#include "packer/steps/packer.h"

/* Look the step's program up in the profile store: fills step->profile. An unreadable store is
 * logged, the step is then unprofiled. */
void classify_profile(struct packer *packer, struct step *step);

/* Devil, turtle or unprofiled, from the miss rate: fills step->class. */
void classify_step(const struct packer *packer, struct step *step);

/* Says of each live step what a prediction of its slowdown rests on: fills step->knowledge. A step
 * that was measured beside others (RUNG_PAIRS) stays so. */
void classify_knowledge(struct packer *packer);

/* Takes over what was counted of the steps that had a window end: the running average of its phase
 * is the step's rate from now on, where it lies off the present one by more than CLASSIFY_CHANGE;
 * but what the store has of a run alone holds until the program enters another phase.
 * Returns whether any step's rate has changed. */
#define CLASSIFY_CHANGE 0.1
bool classify_windows(struct packer *packer);

/* The rate that ranks the step among the others, misses per million instructions: its own, or the
 * configured neutral one. */
double classify_rate(const struct packer *packer, const struct step *step);

#endif
