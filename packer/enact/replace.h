/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace - the stage that moves running steps (DIO): when counted rates have changed, or steps
 * have come or gone, the policy decides anew, weigh.h says what that gains and costs, and
 * models/online/dio.h whether it is done. What was done is watched: where all steps of the caches
 * concerned do less for it, it is put back.
 *
 * A proposal that moves a step of DIO-POWER is judged by energy times time, where the power of the
 * packages is known (node_power.h): it may cost speed, and what was done is put back only when that
 * is more than it saves.
 *
 * For steps in `observe` mode the same is decided and recorded, and nothing is touched. */
#ifndef BERTH_ENACT_REPLACE_H
#define BERTH_ENACT_REPLACE_H

#include "packer/steps/packer.h"

/* How long what was measured of steps beside each other waits for a decision, if nothing else
 * changes. */
#define REPLACE_LEARNT_S 60

#endif
