/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proposed - what a site's own policy has proposed of a step and holds for a while: a proposal that
 * nobody renews ends, so that a policy that has died leaves nothing behind. */
#ifndef BERTH_STEPS_PROPOSED_H
#define BERTH_STEPS_PROPOSED_H

#include "packer/steps/packer.h"

/* Returns the greatest frequency, kHz, that is proposed for its cores now; 0: none is. */
uint64_t proposed_khz(const struct step *step);

/* Returns what is proposed of its prefetchers now: NONE, ON or OFF. */
enum wire_prefetch proposed_prefetch(const struct step *step);

/* Returns the seconds until the first proposal ends that holds; < 0: none does. */
double proposed_due(const struct packer *packer);

#endif
