/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk - the walk of a thread down the memory hierarchy (Blagodurov 2010, Algorithms 2 and 4),
 * where some caches stay idle and some entities are barred to devils.
 *
 * At each level the first child with the fewest threads is taken, in the level's order of browsing,
 * which is reversed when all entities of the level hold the same number of threads. Children
 * without a free core are skipped. Idle entities do not count as entities. */
#ifndef MODELS_WALK_H
#define MODELS_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "di.h"

struct walk;

/* Begin with an empty machine of at least two levels; caches are its last level but one, of which
 * only the first `open` ones are used. NULL with errno EINVAL (as di_place, and where no open cache
 * has a core) or ENOMEM. Free with walk_free. */
struct walk *walk_new(const struct di_machine *machine, size_t open);
void walk_free(struct walk *walk);

/* The core that a thread's walk ends at. A devil's goes to entities that are not barred, while one
 * of these has a free core. When no core is free, every core is free once more; bars stay. */
size_t walk_choose(struct walk *walk, bool devil);

/* Place a thread on a free core. */
void walk_take(struct walk *walk, size_t core);

/* Bar the entity of that level (as in di_machine) above the core to devils that come later. */
void walk_bar(struct walk *walk, size_t level, size_t core);

/* Ranks for placement: order[] receives 0..n-1 by descending miss rate; equal ones keep their
 * order. 0, or -1 with errno EINVAL (a miss rate that is negative or not finite) or ENOMEM. */
int walk_rank(size_t n, const double *miss_pmi, size_t *order);

#endif
