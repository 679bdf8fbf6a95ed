/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_pairs - what the profile store knows of programs beside others, on its way to who predicts
 * (steps/pairs.h): at berthd's start, and when a program comes that was not among it. A user's
 * pairs tell of his own programs only; root's of all that have the key. */
#ifndef BERTH_OBSERVE_KNOWN_PAIRS_H
#define BERTH_OBSERVE_KNOWN_PAIRS_H

#include "packer/steps/packer.h"

/* What the profile store knows of users' pairs on machines of this type, the newest
 * KNOWN_PAIRS_MAX of them, is taken into packer->steps->pairs when berthd starts. */
#define KNOWN_PAIRS_MAX 1024

/* The same of the step's program, its user's and root's, where they were not asked for yet: of each
 * KNOWN_PAIRS_OF_ONE. */
#define KNOWN_PAIRS_OF_ONE 64
void known_pairs_begin(const struct packer *packer, struct step *step);

#endif
