/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolate - DI for units of which some are chosen to be isolated from contention: the prioritised
 * mode of DIO (Blagodurov 2010, section 5.3). The paper isolates memory-intensive threads only; who
 * is sensitive is the caller's to say (packer/place/isolation.h: turtles with many hits to lose,
 * too). It shows both cache and package as domains; isolate_place_best takes the one where most
 * groups fit.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_PLACING_ISOLATE_H
#define BERTH_MODELS_PLACING_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placing/di.h"

/* A thread, or a task whose threads stay together. */
struct isolate_unit {
    struct di_unit unit;
    size_t group;     /* isolated units of one number share their domain: those of a program */
    bool prioritised; /* chosen by its user */
    bool sensitive;   /* suffers from contention; devils do, by rule */
};

/* Places n units; those that miss `devil_miss_pmi` and more are devils. A group whose units are
 * both prioritised and sensitive gets a domain, an entity of level `level` of the machine (as many
 * as it needs), whose other tenants are no devils: peaceful units may still share it, so nothing is
 * wasted. Isolated groups are placed first, then devils, then the others, each by descending miss
 * rate (of equal ones, in their order) as DI places them; a group that has a domain is spread in it
 * by the same rule. A group is not isolated, and placed as others are, where the devils that are
 * left would find too few cores outside of the isolated domains; but one without a devil then
 * shares the domain of isolated ones without a devil, if there is room.
 *
 * core[] receives the cores as from di_place, isolated[i] whether unit i is isolated. Returns the
 * number of isolated groups; -1 with errno EINVAL (no such level above the cores, or what di_place
 * refuses) or ENOMEM. */
long isolate_place(const struct di_machine *machine, size_t level, double devil_miss_pmi, size_t n,
                   const struct isolate_unit *unit, size_t *core, bool *isolated);

/* Does the same at the level where the most groups can be isolated; of equal ones the outermost,
 * which isolates best. *level receives it. */
long isolate_place_best(const struct di_machine *machine, double devil_miss_pmi, size_t n,
                        const struct isolate_unit *unit, size_t *core, bool *isolated,
                        size_t *level);

#endif
