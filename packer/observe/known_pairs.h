/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_pairs - what the profile store knows of programs beside others, on its way to who predicts
 * (steps/pairs.h): at berthd's start, and when a program comes that was not among it. */
#ifndef BERTH_OBSERVE_KNOWN_PAIRS_H
#define BERTH_OBSERVE_KNOWN_PAIRS_H

#include "packer/steps/packer.h"

/* Takes what the profile store knows of pairs on machines of this type, the newest KNOWN_PAIRS_MAX
 * of them, into packer->pairs. */
#define KNOWN_PAIRS_MAX 1024
void known_pairs_open(struct packer *packer);

/* The same of the step's program, where it was not asked for yet: KNOWN_PAIRS_OF_ONE. */
#define KNOWN_PAIRS_OF_ONE 64
void known_pairs_begin(struct packer *packer, const struct step *step);

#endif
