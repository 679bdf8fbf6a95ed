/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - Distributed Intensity: spread the most memory-intensive threads over the memory hierarchy.
 *
 * Blagodurov 2010, section 4.1, Algorithms 1 and 2, in these readings: ties between equal miss
 * rates, which it leaves open, go by input order; a core that is assigned counts as holding its
 * thread, which line 8 says of inner entities only; and where there are more threads than cores,
 * which section 5.1 excludes, counting goes on in the same way. Pure arithmetic: no I/O, no clock,
 * no globals.
 */
#ifndef BERTH_MODELS_PLACING_DI_H
#define BERTH_MODELS_PLACING_DI_H

#include <stdbool.h>
#include <stddef.h>

/* One level of the memory hierarchy: `count` entities in ascending order, parent[i] is the index of
 * entity i's container in the level above (level 0's parents are all 0: the machine). Parents never
 * descend (depth-first numbering). */
struct di_level {
    size_t count;
    const size_t *parent;
};

/* A machine: levels from the packages (level 0) down to the cores (level depth-1). Trees may be
 * irregular. */
struct di_machine {
    size_t depth;
    const struct di_level *level;
};

/* Says whether the machine has at least that many levels (1 or more) and a core, and whether all
 * parents are in range and never descend. */
bool di_machine_is_sound(const struct di_machine *machine, size_t depth_min);

/* One unit to place: a thread, or a task whose threads stay together. */
struct di_unit {
    double miss_pmi; /* LLC misses per million instructions */
    size_t cores;    /* cores it takes, >= 1 */
};

/* Places the units (n of them, any order; equal miss rates keep their input order) on the machine.
 * core[] receives, for unit 0, then unit 1, ..., the indices of its cores in the last level (sum of
 * units[i].cores entries), ascending within a unit. With one core per unit and a regular machine
 * this is Algorithms 1 and 2 to the letter. A unit of several cores counts as that many threads and
 * goes, at each level, into the least-filled entity where one cache has room for all of it, else
 * into the least-filled with room for all of it; only where none has is it split, over as few as
 * possible. Entities without a free core are skipped until fewer cores are free than the unit
 * takes; then every core is free once more and counting goes on in the same way: a unit's cores are
 * distinct unless it is larger than the machine. Returns 0; -1 with errno EINVAL (no level, no
 * core, a parent out of range or descending, a unit of no core, a miss rate that is negative or not
 * finite) or ENOMEM. */
int di_place(const struct di_machine *machine, size_t n, const struct di_unit *units, size_t *core);

/* Returns how unevenly memory is pressed on: the sum of squares of the miss rates over caches,
 * memory nodes and packages. rate: [2 * caches + packages], of which the first `caches` are the
 * miss rates of the cores on each cache; the others become the sums. domain: [caches], the first
 * cache of each one's memory node; package: [caches]. */
double di_uneven(size_t caches, size_t packages, const size_t *domain, const size_t *package,
                 double *rate);

#endif
