/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measured - a step's slowdowns that were measured, summed up by who was beside it, until they are
 * in the profile store: every five minutes, when a step has not been beside these neighbours for
 * longest, and at its end. */
#ifndef BERTH_OBSERVE_MEASURED_H
#define BERTH_OBSERVE_MEASURED_H

#include <stddef.h>

struct measured_set;
struct packer;
struct pair;

struct measured { /* all zero: nothing was measured */
    size_t n, room;
    struct measured_set *set; /* [n] */
};

/* Adds a slowdown that was measured in windows of so many seconds. Out of memory it is lost. */
void measured_add(const struct packer *packer, struct measured *measured, const struct pair *pair,
                  double window_s);

/* Hands all of it to the store, and forgets it. */
void measured_save(const struct packer *packer, struct measured *measured);

/* Forgets it. */
void measured_drop(struct measured *measured);

#endif
