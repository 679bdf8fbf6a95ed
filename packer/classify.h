/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - from a step's key to its miss rate and its class. */
#ifndef BERTH_CLASSIFY_H
#define BERTH_CLASSIFY_H

#include "packer.h"

/* Look the step's program up in the profile store: fills step->profile. An unreadable store is
 * logged, the step is then unprofiled. */
void classify_profile(struct packer *packer, struct step *step);

/* The store's best sample of the step's program that knows the rate: 1 found, 0 not, -1 and err. */
int classify_sample(struct packer *packer, const struct step *step, enum profile_rate rate,
                    struct profile_sample *sample, struct berth_error *err);

/* Devil, turtle or unprofiled, from the miss rate: fills step->class. */
void classify_step(const struct packer *packer, struct step *step);

/* A window of counting is over: the running average of its phase is the step's rate from now on,
 * where it lies off the present one by more than CLASSIFY_CHANGE; but what the store has of a run
 * alone holds until the program enters another phase. True when the rate has changed. */
#define CLASSIFY_CHANGE 0.1
bool classify_counted(struct packer *packer, struct step *step);

/* The rate that ranks the step among the others, misses per million instructions: its own, or the
 * configured neutral one. */
double classify_rate(const struct packer *packer, const struct step *step);

#endif
