/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siblings - who shares a core, where each hardware thread is a place (topo_split).
 *
 * Policies find each thread its cache. The places of a cache are equal to them, so which of these a
 * thread gets, and who stands on the other threads of its core then, is found here. A search has to
 * guess it for each standing that it looks at: as if all on a cache were divided anew
 * (models/placing/cosit.h). Once it has decided, threads change places within their caches as far
 * as that pays on the terms of the decision. */
#ifndef BERTH_PLACE_SIBLINGS_H
#define BERTH_PLACE_SIBLINGS_H

#include "packer/place/forecast.h"
#include "packer/place/place.h"
#include "packer/place/units.h"

/* Guesses who shares a core of n threads at work on a cache that has so many cores: fills in their
 * seat, whole and apart.siblings. The numbers are no places of the machine. */
void siblings_guess(const struct forecast *forecast, size_t cache, size_t cores, size_t n,
                    struct forecast_core *const *core);

/* Exchanges places within caches in the scene's pool, on the terms of the policy's decision by
 * which `units` were placed; before: the pool as it was before that one. Who has changed caches by
 * it moves on for nothing. 0, or -1 and err (no memory): nothing has changed. Nothing to do where
 * cores are whole.
 */
int siblings_settle(const struct scene *scene, const struct place_terms *terms,
                    enum wire_policy policy, const struct units *units, const struct pool *before,
                    struct berth_error *err);

/* Returns the work that the scene's steps lose by those on the other threads of their cores; 0
 * where cores are whole. */
double siblings_lost(const struct scene *scene);

#endif
