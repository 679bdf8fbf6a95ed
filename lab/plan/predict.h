/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict - what a division of the units over the caches costs, as contend predicts it and what was
 * observed corrects it; and the search for the best one where caches share a memory node.
 *
 * The measure is berthd's (place/forecast.h): the work that the node loses, over all cores in use
 * the slowdown s of the unit there as s / (1 + s). */
#ifndef BERTH_LAB_PLAN_PREDICT_H
#define BERTH_LAB_PLAN_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/plan/plan.h"

/* Fills in the slowdowns of n units on one cache that has its memory node to itself; those of their
 * apps that are not among them are on other caches. */
void ctl_plan_beside(const struct ctl_plan *plan, size_t n, const size_t *member, double *slowdown);

/* Fills in the slowdowns of all units, on caches cache[]. 0, or -1 with errno. */
int ctl_plan_predict(const struct ctl_plan *plan, const size_t *cache, double *slowdown);

/* Returns the work that n units lose which slow down so. */
double ctl_plan_lost(const struct ctl_plan *plan, size_t n, const size_t *member,
                     const double *slowdown);

/* Returns what comes to that for threads on one cache which somebody wants to be spread: far more
 * than there is to lose. */
double ctl_plan_broken(const struct ctl_plan *plan, size_t n, const size_t *member);

/* Says how far a search may go; and how far it has come. */
struct ctl_plan_limit {
    uint64_t looks, most; /* units whose cost was asked for, each time */
    double end_s;         /* CLOCK_MONOTONIC; INFINITY: by looks alone */
};

/* Is the limit reached? The `stop` of models that search; arg is a struct ctl_plan_limit. */
bool ctl_plan_limit_is_over(void *arg);

/* Improves a division where caches share a memory node: of few units the best is found, and *best
 * is set; else the search begins at cache[] and at DI's division, and ends at the limit. 0, or -1
 * with errno. */
int ctl_plan_improve(const struct ctl_plan *plan, struct ctl_plan_limit *limit, size_t *cache,
                     bool *best);

#endif
