/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool - the cores that berth may permute, and the permutation.
 *
 * The pool is the union of the cores of jobs that opted in. The whole state of enforcement is one
 * permutation of it: stand[c] says where what Slurm put on core c stands now. A step's cores are
 * then the images of its own, so
 *   - a step never grows (a permutation keeps counts),
 *   - steps that Slurm kept apart stay apart (it is one-to-one), steps that it let overlap still
 * do,
 *   - a core's image is one of its kind (topo.h), for policies exchange no others, and what is
 *     done below keeps that,
 *   - a job that leaves takes its cores along by the first-return map: who stood on them goes on to
 * where the leavers stood. Pure arithmetic over topology core indices. */
#ifndef BERTH_STEPS_POOL_H
#define BERTH_STEPS_POOL_H

#include <stdbool.h>
#include <stddef.h>

#define POOL_OUTSIDE ((size_t)-1)

struct pool {
    size_t cores;  /* cores of the machine */
    size_t *stand; /* [cores] image of each core; POOL_OUTSIDE where the core is not in the pool */
};

int pool_init(struct pool *pool, size_t cores);          /* 0, or -1 with ENOMEM */
int pool_copy(struct pool *to, const struct pool *from); /* to is uninitialised; 0 or -1 */
bool pool_same(const struct pool *a,
               const struct pool *b); /* does everybody stand where he does? */
void pool_free(struct pool *pool);

bool pool_has(const struct pool *pool, size_t core);
size_t pool_count(const struct pool *pool);

/* The core joins, standing on itself. No effect if it is in already. */
void pool_join(struct pool *pool, size_t core);

/* The core leaves: whoever stood on it moves to where the leaver stood (first-return map). No
 * effect if it is not in. */
void pool_leave(struct pool *pool, size_t core);

/* Rewrite the permutation: from[i] shall stand on to[i] (n distinct cores of the pool each); the
 * pool's other cores fill what is left, keeping their place where it is free, else going home, else
 * in ascending order. 0, or -1 with EINVAL (then unchanged) or ENOMEM. */
int pool_assign(struct pool *pool, size_t n, const size_t *from, const size_t *to);

/* Everybody home. */
void pool_reset(struct pool *pool);

#endif
