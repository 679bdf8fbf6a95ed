/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_events - what the memories, their controllers and the links between nodes count of all who
 * run: the PMUs that are none of a core's, and AMD's northbridge, which the cores' PMU counts.
 *
 * A table says which event of which PMU is which kind of by_node.h. An event belongs to a package:
 * where a package has several NUMA nodes, only AMD's northbridge, one of each, tells them apart. */
#ifndef BERTH_COUNTERS_MEMORY_EVENTS_H
#define BERTH_COUNTERS_MEMORY_EVENTS_H

#include <linux/perf_event.h>

#include "packer/base/error.h"
#include "packer/counters/by_node.h"
#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct memory_events;

/* Opens an event on a CPU. Returns the descriptor, or -1 with errno. */
typedef int memory_opener(const struct perf_event_attr *attr, int cpu, void *arg);

/* Finds what is counted here, and opens each event once to see that it may be. open_event NULL: the
 * kernel is asked, where root is this machine's. root and topo are borrowed until it is closed.
 * Returns 0; or -1 and err: nothing is counted. */
int memory_events_open(struct memory_events **events, const struct rootfs *root,
                       const struct topo *topo, memory_opener *open_event, void *arg,
                       struct berth_error *err);
void memory_events_close(struct memory_events *events); /* NULL is fine */

/* Returns which kinds are counted: bit i of kind i. */
uint32_t memory_events_can(const struct memory_events *events);

/* Enters what was counted since the first call, by by_node_set; the events are open from then on.
 * A kind of which one event had no turn is left out. */
void memory_events_read(struct memory_events *events, struct by_node *by);

/* Nobody asks for the next time: the events rest, and what they have counted is kept. */
void memory_events_rest(struct memory_events *events);

#endif
