/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace - the stage that moves running steps (DIO): when counted rates have changed, the policy
 * decides anew, contend (models/slowdown/contend.h) predicts what that gains, and
 * models/online/dio.h says whether it is done. What was done is watched: who became slower for it
 * is put back.
 *
 * A proposal that moves a step of DIO-POWER is judged by energy times time, where the power of the
 * packages is known (node_power.h): it may cost speed, and what was done is put back only when that
 * is more than it saves.
 *
 * For steps in `observe` mode the same is decided and recorded, and nothing is touched. */
#ifndef BERTH_ENACT_REPLACE_H
#define BERTH_ENACT_REPLACE_H

#include "packer/steps/packer.h"

/* What a move of a step costs at least, core-seconds of one core: its caches are cold. */
#define REPLACE_COLD_S 0.005
/* Windows after a move before its effect is judged. */
#define REPLACE_WINDOWS 3

struct replace;

/* NULL when out of memory. */
struct replace *replace_open(void);
void replace_close(struct replace *replace); /* NULL is fine */

/* Considers whether running steps are to be moved; `changed`: a step's rate has, since the last
 * turn. */
void replace_turn(struct packer *packer, bool changed);

#endif
