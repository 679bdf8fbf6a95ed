/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_keep - what a policy leaves open is decided for staying, and what memory forbids is not
 * done.
 *
 * The policy's targets are in units->to; they are exchanged there. */
#ifndef BERTH_PLACE_KEEP_H
#define BERTH_PLACE_KEEP_H

#include "packer/place/units.h"

/* Units of equal rate and size are equal, but for isolated ones: a policy puts them anywhere among
 * themselves. Who stands where one of them is meant to stand is the one: a job that has all cores
 * to itself is not shuffled, and nobody moves for his equal. */
void keep_equals(const struct packer *packer, const struct pool *pool, struct units *units);

/* A step whose memory is bound to some nodes stays inside them: it exchanges its place with the
 * unit that is most like it. False where there is none: then nobody is to move. */
bool keep_bound(const struct packer *packer, struct units *units);

/* The cores of a unit are interchangeable, and so are the cores of a cache: who stands in the right
 * cache keeps his core. */
void keep_cores(const struct packer *packer, const struct pool *pool, struct units *units);

#endif
