/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partition - the perfect policy for any number of cores per cache: programs into caches, such that
 * the sum of what the groups cost is least (Jiang 2008).
 *
 * Two cores per cache: exact (matching.h). More: the problem is NP-hard; exact for a few programs,
 * beyond that the best that was found until the caller says stop, with a proven lower bound where
 * that is asked for. Equal input gives an equal result, unless it is stopped. */
#ifndef BERTH_MODELS_PARTITION_PARTITION_H
#define BERTH_MODELS_PARTITION_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#define PARTITION_EXACT_MAX 16     /* programs, if a bound of pairwise costs is asked for */
#define PARTITION_EXACT_ANY_MAX 12 /* programs of any cost */
#define PARTITION_PROGRAMS_MAX 32768

struct partition {
    size_t n;            /* programs */
    const size_t *cores; /* [n] that each takes of one cache, >= 1; NULL: one */
    const size_t *kind; /* [n] programs of a kind are the same to the cost; NULL: each is its own */
    size_t groups;      /* caches: there are at most as many groups */
    size_t group;       /* cores of a cache */
    const size_t *room; /* [groups] instead of `group`, where caches differ; NULL: they do not */
    /* What the members (distinct, at least one, in any order) suffer together: finite, the same for
     * every order. */
    double (*cost)(const size_t *members, size_t n, void *arg);
    void *arg;
    bool pairwise; /* the cost is the sum of the costs of all pairs; one alone costs nothing */
    /* Asked often; true ends the search with the best so far. NULL: the search ends when it has
     * found nothing better for a while. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
    /* A partition to begin with, as it is returned; NULL: none, if all programs take one core. */
    const size_t *start;
    size_t patience; /* disturbances in vain that end the search; 0: 50 for each program */
    /* For the lower bound, cost is asked of every possible group, if these are no more than that
     * (of pairwise costs, another bound is at hand when they are). 0: no bound; nor is there one
     * where programs or caches differ in cores. */
    size_t bound_groups;
};

struct partition_found {
    double total; /* sum of the groups' costs */
    double
        bound; /* no partition costs less: total if it is optimal, -INFINITY if nothing is known */
    bool optimal;
    bool stopped; /* the search was, by the caller */
};

/* Finds the best partition it can. group_of[i] receives program i's group: its cache, where there
 * is partition->room; else groups are numbered in the order of their first members. Returns 0, or
 * -1 with errno EINVAL (the programs do not fit, or not as they start) or ENOMEM, and nothing
 * changed. */
int partition_solve(const struct partition *partition, size_t *group_of,
                    struct partition_found *found);

/* Returns what the groups of a partition cost together; NAN with errno ENOMEM. */
double partition_cost(const struct partition *partition, const size_t *group_of);

/* A pairwise cost: the sum of degradation[i * n + j] over i != j in the group; arg is a struct
 * partition_pairs. */
struct partition_pairs {
    size_t n;
    const double *degradation; /* what i suffers beside j */
};

double partition_pairs_cost(const size_t *members, size_t n, void *arg);

#endif
