/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dio_power - see dio_power.h
 *
 * Algorithm 4 as printed drops a thread whose walk ends beside another devil (its lines 5 to 9 have
 * no else). Here the walk avoids such caches from the machine down, so it ends nowhere else while
 * there is a choice. */
#include "dio_power.h"

#include <errno.h>
#include <stdlib.h>

#include "walk.h"

/* Algorithm 3, line 8: how many caches to use for that many threads and devils. */
static size_t count_open(const struct di_machine *machine, size_t threads, size_t devils)
{
    const struct di_level *cores = &machine->level[machine->depth - 1];
    size_t caches = machine->level[machine->depth - 2].count, for_all;

    if (threads >= cores->count)
        return caches;
    for_all =
        cores->parent[threads > 0 ? threads - 1 : 0] + 1; /* up to the cache of the n-th core */
    if (for_all < devils)
        for_all = devils;
    return for_all < caches ? for_all : caches;
}

int dio_power_place(const struct di_machine *machine, double devil_miss_pmi, size_t n,
                    const double *miss_pmi, size_t *core)
{
    size_t *order = NULL, devils = 0;
    struct walk *walk = NULL;
    int rc = -1;

    if (machine->depth < 2) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        devils += miss_pmi[i] >= devil_miss_pmi;
    order = calloc(n + 1, sizeof(*order)); /* + 1: calloc(0) may be NULL */
    walk = walk_new(machine, count_open(machine, n, devils));
    if (!order || !walk || walk_rank(n, miss_pmi, order) < 0)
        goto out;
    for (size_t i = 0; i < n; i++) {
        bool devil = miss_pmi[order[i]] >= devil_miss_pmi;
        size_t chosen = walk_choose(walk, devil);

        walk_take(walk, chosen);
        if (devil)
            walk_bar(walk, machine->depth - 2, chosen);
        core[order[i]] = chosen;
    }
    rc = 0;
out:
    walk_free(walk);
    free(order);
    return rc;
}
