/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool - see pool.h */
#include "packer/steps/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pool_init(struct pool *pool, size_t cores)
{
    pool->cores = cores;
    pool->stand = malloc((cores ? cores : 1) * sizeof(*pool->stand));
    if (!pool->stand)
        return -1;
    for (size_t i = 0; i < cores; i++)
        pool->stand[i] = POOL_OUTSIDE;
    return 0;
}

int pool_copy(struct pool *to, const struct pool *from)
{
    if (pool_init(to, from->cores) < 0)
        return -1;
    memcpy(to->stand, from->stand, from->cores * sizeof(*to->stand));
    return 0;
}

bool pool_same(const struct pool *a, const struct pool *b)
{
    return a->cores == b->cores && memcmp(a->stand, b->stand, a->cores * sizeof(*a->stand)) == 0;
}

void pool_free(struct pool *pool)
{
    free(pool->stand);
    pool->stand = NULL;
    pool->cores = 0;
}

bool pool_has(const struct pool *pool, size_t core)
{
    return core < pool->cores && pool->stand[core] != POOL_OUTSIDE;
}

size_t pool_count(const struct pool *pool)
{
    size_t count = 0;

    for (size_t i = 0; i < pool->cores; i++)
        count += pool_has(pool, i);
    return count;
}

void pool_join(struct pool *pool, size_t core)
{
    if (core < pool->cores && !pool_has(pool, core))
        pool->stand[core] = core;
}

void pool_leave(struct pool *pool, size_t core)
{
    if (!pool_has(pool, core))
        return;
    for (size_t i = 0; i < pool->cores; i++)
        if (pool->stand[i] == core)
            pool->stand[i] = pool->stand[core];
    pool->stand[core] = POOL_OUTSIDE;
}

void pool_reset(struct pool *pool)
{
    for (size_t i = 0; i < pool->cores; i++)
        if (pool_has(pool, i))
            pool->stand[i] = i;
}

/* Let `core` stand on `place` if both are still free. */
static void settle(size_t *stand, bool *taken, size_t core, size_t place)
{
    if (stand[core] == POOL_OUTSIDE && !taken[place]) {
        stand[core] = place;
        taken[place] = true;
    }
}

/* The pool's other cores: keep their place, else go home, else take what is left. */
static void fill(const struct pool *pool, size_t *stand, bool *taken)
{
    size_t free_place = 0;

    for (size_t i = 0; i < pool->cores; i++)
        if (pool_has(pool, i))
            settle(stand, taken, i, pool->stand[i]);
    for (size_t i = 0; i < pool->cores; i++)
        if (pool_has(pool, i))
            settle(stand, taken, i, i);
    for (size_t i = 0; i < pool->cores; i++) {
        if (!pool_has(pool, i) || stand[i] != POOL_OUTSIDE)
            continue;
        while (!pool_has(pool, free_place) || taken[free_place])
            free_place++;
        settle(stand, taken, i, free_place);
    }
}

/* Take over the n wished pairs. -1 when one is not a pool core or named twice. */
static int wish(const struct pool *pool, size_t n, const size_t *from, const size_t *to,
                size_t *stand, bool *taken)
{
    for (size_t i = 0; i < n; i++) {
        if (!pool_has(pool, from[i]) || !pool_has(pool, to[i]) || taken[to[i]] ||
            stand[from[i]] != POOL_OUTSIDE)
            return -1;
        settle(stand, taken, from[i], to[i]);
    }
    return 0;
}

int pool_assign(struct pool *pool, size_t n, const size_t *from, const size_t *to)
{
    struct pool next;
    bool *taken = calloc(pool->cores ? pool->cores : 1, sizeof(*taken));

    if (!taken || pool_init(&next, pool->cores) < 0) {
        free(taken);
        errno = ENOMEM;
        return -1;
    }
    if (wish(pool, n, from, to, next.stand, taken) < 0) {
        pool_free(&next);
        free(taken);
        errno = EINVAL;
        return -1;
    }
    fill(pool, next.stand, taken);
    free(taken);
    pool_free(pool);
    *pool = next;
    return 0;
}
