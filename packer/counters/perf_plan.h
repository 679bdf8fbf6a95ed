/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_plan - what is counted of every step on this node, and in which groups.
 *
 * Events of a group are counted at the same time, and read by one call. The kernel's software
 * events are the first group; they work where there is no PMU, too. Hardware events are put into as
 * few groups as the PMU can take: this is tried out once, on the calling thread. */
#ifndef BERTH_COUNTERS_PERF_PLAN_H
#define BERTH_COUNTERS_PERF_PLAN_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/counters/perf_events.h"
#include "packer/system/rootfs.h"

#define PERF_SOFTWARE 4 /* events of the first group, in the order of perf_software[] */
#define PERF_PLAN_EVENTS (PERF_SOFTWARE + PERF_EVENTS_MAX)
#define PERF_PLAN_GROUPS (1 + PERF_EVENTS_MAX)

extern const enum counter perf_software[PERF_SOFTWARE];

struct perf_plan {
    size_t n;
    struct perf_event_attr event[PERF_PLAN_EVENTS]; /* ready to be opened */
    size_t groups;
    size_t first[PERF_PLAN_GROUPS + 1]; /* group g is event first[g] to first[g + 1] - 1 */
    size_t nodes;                       /* more than 1: counts are kept apart for each NUMA node */
    unsigned char node[CPUS_MAX];       /* of each CPU: less than nodes */
};

/* A plan of the software events alone. 0, or -1 and err: why this process may count nothing. */
int perf_plan_software(struct perf_plan *plan, struct berth_error *err);

/* Does the kernel count such an event here? root may be NULL: then perf_plan_listed is not asked.
 */
bool perf_plan_usable(const struct perf_event_attr *attr, const struct rootfs *root);

/* An Arm kernel opens raw events that its PMU does not have, too, and counts nothing then. Those
 * that it has are listed in /sys: false where this one is not. */
bool perf_plan_listed(const struct perf_event_attr *attr, const struct rootfs *root);

/* Add hardware events, in their order. */
void perf_plan_hardware(struct perf_plan *plan, const struct perf_events *events);

/* The plan's index of the i-th hardware event. */
static inline size_t perf_plan_index(size_t event)
{
    return PERF_SOFTWARE + event;
}

#endif
