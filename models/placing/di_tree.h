/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di_tree - the walk of units down the memory hierarchy (Blagodurov 2010, Algorithm 2), as DI and
 * its prioritised mode share it.
 *
 * At each level the child is taken where the whole unit fits into one cache, among those the one
 * with the most room (as far as the unit needs it), among those the least filled, among those the
 * first in the level's order, which is reversed when all entities of the level hold the same number
 * of threads. Entities of a level can be closed to some units, or be where others have to go. */
#ifndef BERTH_MODELS_PLACING_DI_TREE_H
#define BERTH_MODELS_PLACING_DI_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placing/di.h"

/* Where a unit may go. */
enum di_tree_kind {
    DI_TREE_ANYWHERE,
    DI_TREE_OPEN,    /* not into what is closed */
    DI_TREE_SHELTER, /* into shelters only */
    DI_TREE_TARGET,  /* into targets only */
    DI_TREE_KINDS
};

/* A unit in the order in which units are placed. */
struct di_ranked {
    double miss_pmi;
    size_t cores;
    size_t unit;  /* index in the caller's array */
    size_t first; /* where its cores go in the caller's array */
};

/* Returns the n units by descending miss rate, those of equal ones by their index. `units` is an
 * array of elements of `size` bytes that begin with a struct di_unit. NULL with errno EINVAL (a
 * unit of no core, a miss rate that is negative or not finite) or ENOMEM. The caller frees it. */
struct di_ranked *di_rank(size_t n, const void *units, size_t size);

struct di_tree;

/* Returns the tree of an empty machine, which must be sound (di_machine_is_sound); NULL with errno
 * ENOMEM. Free with di_tree_free. */
struct di_tree *di_tree_new(const struct di_machine *machine);
struct di_tree *di_tree_copy(const struct di_tree *tree);
void di_tree_free(struct di_tree *tree);

/* Returns how many cores are free where units of that kind may go. */
size_t di_tree_room(const struct di_tree *tree, enum di_tree_kind kind);

/* Places a unit: core[cores] receives its cores, ascending. Where fewer cores are free than it
 * takes, every core is free once more and counting goes on; where its kind has too little room, it
 * goes anywhere. */
void di_tree_place(struct di_tree *tree, size_t cores, enum di_tree_kind kind, size_t *core);

/* Takes out of an empty tree the caches (the last level above the cores) that are not open. What
 * has no core then is no entity, unless `counted`: then the order of a level is reversed only when
 * what is idle holds as many threads as the others, which is never. */
void di_tree_idle(struct di_tree *tree, const bool *open, bool counted);

/* Counts a thread on that free core, whoever put it there. */
void di_tree_take(struct di_tree *tree, size_t core);

/* The one makes the entities of that level (as in di_machine) above the cores, which ascend,
 * targets, or no more targets; the other closes them, as shelters or not. */
void di_tree_target(struct di_tree *tree, size_t level, size_t cores, const size_t *core,
                    bool target);
void di_tree_close(struct di_tree *tree, size_t level, size_t cores, const size_t *core,
                   bool shelter);

#endif
