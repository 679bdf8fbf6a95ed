/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_events - which hardware events make which counter, on each micro-architecture.
 *
 * The table is a file (etc/events.conf, which explains its format): a section for each family of
 * core PMUs, as libpfm4 calls them, and a line for each counter. libpfm4 knows what number the
 * kernel wants for a name. */
#ifndef BERTH_COUNTERS_PERF_EVENTS_H
#define BERTH_COUNTERS_PERF_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/counters/counter_info.h"

struct perf_table; /* a table as it was read */

/* Read a table. 0 and *table, which perf_table_free ends; or -1 and err, with FILE:LINE. */
int perf_table_read(struct perf_table **table, const char *path, struct berth_error *err);
void perf_table_free(struct perf_table *table); /* NULL is fine */

#define PERF_EVENTS_MAX 20 /* different events of a section */
#define PERF_SUM_MAX 8     /* events that are added up to make a counter */
#define PERF_PMU_MAX 48

/* A counter: the sum of events. */
struct perf_sum {
    size_t n; /* 0: not known here */
    unsigned char event[PERF_SUM_MAX];
};

struct perf_events {
    char pmu[PERF_PMU_MAX]; /* the core PMU, as libpfm4 calls it; "generic" */
    size_t n;
    struct perf_event_attr event[PERF_EVENTS_MAX]; /* all different, as libpfm4 encodes them */
    struct perf_sum sum[COUNTERS];
};

/* Would the kernel count such an event? */
typedef bool perf_usable(const struct perf_event_attr *attr, void *arg);

/* The events of a PMU: for each counter the first alternative of which libpfm4 knows every event
 * and `usable` (NULL: anything is) accepts them. A counter that has none is left out. The PMU is
 * the one named, or with NULL this machine's; the section is the first that fits it, else
 * [generic]. libpfm4 is initialised and ended here. 0, or -1 and err: libpfm4 does not work, or no
 * section fits. */
int perf_events_find(struct perf_events *events, const struct perf_table *table, const char *pmu,
                     perf_usable *usable, void *arg, struct berth_error *err);

/* Does the section that fits this PMU speak of the counter? */
bool perf_table_mentions(const struct perf_table *table, const char *pmu, enum counter counter);

#endif
