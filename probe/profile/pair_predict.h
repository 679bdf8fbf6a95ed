/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_predict - what contend says of stored pairs, from what the store knows of their programs. */
#ifndef BERTH_PROBE_PROFILE_PAIR_PREDICT_H
#define BERTH_PROBE_PROFILE_PAIR_PREDICT_H

#include "packer/profiles/profiles.h"

/* Returns the slowdown that contend (models/slowdown/contend.h) predicts of a core of the pair's
 * program, a fraction, from the programs' stored profiles and from what was counted of them on the
 * pair's type of machine, whose memory carries at least what one of them asks for alone; NAN where
 * neither is known of one of them. */
double pair_predict(struct profiles *store, const struct profile_pair *pair);

#endif
