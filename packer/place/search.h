/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - where the units of the pool stand better, found by a few moves from where they stand
 * (models/placing/improve.h): for policies that have an opinion of who should share a cache.
 *
 * What moves are a unit's cores on one cache together, first; then each core by itself of the units
 * that may be divided (threads.h): whether a memory-bound task is better off on one cache or on
 * several is for the model to say, with what its threads lose that way. */
#ifndef BERTH_PLACE_SEARCH_H
#define BERTH_PLACE_SEARCH_H

#include "packer/place/place.h"
#include "packer/place/units.h"

/* Has the policy an opinion of who should share a cache? (DI and DIO-POWER place by rule.) */
bool search_can(enum wire_policy policy);

/* Fills units->to with topology cores: where the units stand now, but for those that better stand
 * elsewhere. The forecast is up to date. Returns 0; -1 and err, units->to undefined. */
int search_units(const struct scene *scene, const struct place_terms *terms,
                 enum wire_policy policy, struct units *units, struct berth_error *err);

#endif
