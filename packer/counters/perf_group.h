/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_group - the events of a plan, opened for one cgroup on each of its CPUs.
 *
 * The kernel counts a cgroup's events by CPU. They stay open while the step lives, and each group
 * is read by one call. Of a CPU that the step leaves, what was counted is kept, apart for each NUMA
 * node where the plan says which CPU is of which. */
#ifndef BERTH_COUNTERS_PERF_GROUP_H
#define BERTH_COUNTERS_PERF_GROUP_H

#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/counters/perf_plan.h"
#include "packer/counters/perf_scale.h"

struct perf_cpu; /* what is open on one CPU */

struct perf_set {
    const struct perf_plan *plan; /* borrowed */
    int cgroup;                   /* its directory, owned by the caller */
    size_t n;
    struct perf_cpu *cpu;       /* [n] */
    struct perf_estimate *kept; /* [nodes][PERF_PLAN_EVENTS] of CPUs that it has left */
};

/* Open a set. 0, or -1 and err: nothing is open then. */
int perf_set_open(struct perf_set *set, const struct perf_plan *plan, int cgroup,
                  const struct cpus *cpus, struct berth_error *err);
void perf_set_close(struct perf_set *set); /* all zero is fine */

/* Count on these CPUs from now on; one that is offline is left out. 0, or -1 and err: then it
 * counts on some of them, and what it says is no longer whole. */
int perf_set_follow(struct perf_set *set, const struct cpus *cpus, struct berth_error *err);

/* Read all groups. 0, or -1 and err. */
int perf_set_read(struct perf_set *set, struct berth_error *err);

/* What an event of the plan has counted until the last read. */
void perf_set_estimate(const struct perf_set *set, size_t event, struct perf_estimate *estimate);

/* Fills in what it has counted on the CPUs of one NUMA node, whose number is less than the plan's
 * nodes, or 0. */
void perf_set_estimate_on(const struct perf_set *set, size_t event, size_t node,
                          struct perf_estimate *estimate);

#endif
