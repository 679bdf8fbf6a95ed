/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_policy - what the policies say of the units: DI with its prioritised mode, and DIO-POWER.
 *
 * Each fills units->to with topology cores. No task is put on more caches than it stands on, unless
 * its threads are apart (threads.h). 0, or -1 and err. */
#ifndef BERTH_PLACE_POLICY_H
#define BERTH_PLACE_POLICY_H

#include "packer/place/units.h"

/* Spread all units: DI (models/placing/di.h), or its prioritised mode where one is to be isolated
 * (models/placing/isolate.h), which also fills units->isolated. */
int policy_spread(const struct scene *scene, struct units *units, struct berth_error *err);

/* DIO-POWER: cluster those that are packed, spread the others (models/placing/cluster.h). */
int policy_cluster(const struct scene *scene, struct units *units, struct berth_error *err);

#endif
