/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partition - the perfect policy for any number of cores per cache: programs into equal caches,
 * such that the sum of what the groups cost is least (Jiang 2008).
 *
 * Two cores per cache: exact (matching.h). More: the problem is NP-hard; exact up to
 * PARTITION_EXACT_MAX programs, beyond that the best that was found until the caller says stop,
 * with a proven lower bound. */
#ifndef BERTH_MODELS_PARTITION_PARTITION_H
#define BERTH_MODELS_PARTITION_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#define PARTITION_EXACT_MAX 16
#define PARTITION_PROGRAMS_MAX 32768

struct partition {
    size_t n;      /* programs */
    size_t group;  /* cores of a cache: a group has at most as many members, */
    size_t groups; /* caches: there are at most as many groups; group * groups >= n */
    /* What the members (distinct, at least one, in any order) suffer together: finite, the same for
     * every order. */
    double (*cost)(const size_t *members, size_t n, void *arg);
    void *arg;
    /* Beyond what is exact: asked often; true ends the search with the best so far. NULL: the
     * search ends when it has found nothing better for a while. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
    const size_t *start; /* a partition to begin with, as it is returned; NULL: none */
    /* For the lower bound, cost is asked of every possible group, if these are no more than that
     * (of partition_pairs_cost, another bound is at hand when they are). 0: no bound. */
    size_t bound_groups;
};

struct partition_found {
    double total; /* sum of the groups' costs */
    double
        bound; /* no partition costs less: total if it is optimal, -INFINITY if nothing is known */
    bool optimal;
};

/* group_of[i] is program i's group; groups are numbered in the order of their first members. 0, or
 * -1 with errno EINVAL or ENOMEM, and nothing changed. */
int partition_solve(const struct partition *partition, size_t *group_of,
                    struct partition_found *found);

/* A cost: the sum of degradation[i * n + j] over i != j in the group; arg is a struct
 * partition_pairs. */
struct partition_pairs {
    size_t n;
    const double *degradation; /* what i suffers beside j */
};

double partition_pairs_cost(const size_t *members, size_t n, void *arg);

#endif
