/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - the scores of all pairs of a list of apps, as JSON to print. */
#ifndef BERTH_LAB_PLAN_PAIRS_H
#define BERTH_LAB_PLAN_PAIRS_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "lab/plan/apps.h"

#define CTL_PAIRS_APPS_MAX 4096 /* eight million pairs: a gigabyte of text */

/* Returns how many pairs a <= b of n apps there are, self pairs included. */
static inline size_t ctl_pairs_count(size_t n)
{
    return n * (n + 1) / 2;
}

/* Returns room for all pairs of the apps; NULL and err when they are too many. */
struct app_pair *ctl_pairs_alloc(const struct ctl_apps *apps, struct berth_error *err);

/* Makes the list [{"a","b","score","a_given_b","b_given_a"}] of the pairs (0,0), (0,1), ...
 * (0,n-1), (1,1), ... of the apps; with error[], also {"a_error","b_error"}: two standard
 * deviations a pair (NULL: none). pair[] (ctl_pairs_alloc) and error[] are taken over in any case
 * (free()), apps are needed no longer. NULL without memory.
 *
 * It is there to be printed, not to be read: a thousand apps have half a million pairs, which as
 * json-c objects take a gigabyte and seconds. So the elements come into being as text only. */
struct json_object *ctl_pairs_new(const struct ctl_apps *apps, struct app_pair *pair,
                                  double *error);

#endif
