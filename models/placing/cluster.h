/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - DIO-POWER for units of several cores, and beside units that want none of it.
 *
 * Blagodurov 2010, section 6, Algorithms 3 and 4; these to the letter where the machine is regular
 * and all units are packed and of one core. Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_PLACING_CLUSTER_H
#define BERTH_MODELS_PLACING_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placing/di.h"

struct cluster_unit {
    struct di_unit unit;
    bool packed; /* it is clustered; the others are spread */
};

/* By which rule units are clustered. */
struct cluster_rule {
    double devil_miss_pmi; /* a unit that misses so often or more is a devil */
    /* Algorithm 4 reverses the order of browsing when all entities of a level, those that stay idle
     * included (its line 1), hold the same number of threads, which so never happens while a cache
     * stays idle. false: when all open ones do. That sets the weakest threads beside the strongest,
     * as Algorithm 2 does on a machine of the open caches alone, and is the better balance; true:
     * as printed, which are the partners of Table V's LAMP workload 2. */
    bool idle_count;
};

/* Places n units; those that miss `rule->devil_miss_pmi` and more are devils. Caches are the
 * machine's last level but one. Units that are not packed are placed first, as di_place places them
 * alone. The packed ones then get as few caches as have cores enough for them, and as many without
 * a devil among the others as they have devils themselves (one that is larger than a cache counts
 * for each cache that it needs), but so many that none of them is split which would be whole with
 * all caches open. Caches of packages where somebody is anyway (an unpacked unit, or awake[package]
 * with the level 0 of the machine; NULL: nobody else) are opened first, then those of packages with
 * more free cores, then depth first. Among the open caches they are placed as DI places them, by
 * descending miss rate, but a devil goes where no cache holds one while there is room.
 *
 * core[] receives the cores as from di_place. Returns 0; -1 with errno EINVAL (a machine of less
 * than two levels, or what di_place refuses) or ENOMEM. */
int cluster_place(const struct di_machine *machine, const struct cluster_rule *rule,
                  const bool *awake, size_t n, const struct cluster_unit *unit, size_t *core);

#endif
