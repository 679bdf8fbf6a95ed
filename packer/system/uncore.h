/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uncore - the PMUs that are none of a core's, as the kernel describes them in
 * /sys/bus/event_source/devices/PMU (Linux: Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{events,format}). */
#ifndef BERTH_SYSTEM_UNCORE_H
#define BERTH_SYSTEM_UNCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/system/rootfs.h"

#define UNCORE_DEVICES "/sys/bus/event_source/devices"

struct uncore_event {
    uint64_t config; /* for struct perf_event_attr */
    double scale;    /* of a count, in the event's unit; > 0 */
};

/* Reads the PMU's type, for struct perf_event_attr. 0, or -1: there is no such PMU. */
int uncore_type(const struct rootfs *root, const char *pmu, uint32_t *type);

/* Returns whether the PMU has an event of that name which is counted in `unit` ("Joules", "MiB").
 */
bool uncore_event(const struct rootfs *root, const char *pmu, const char *name, const char *unit,
                  struct uncore_event *event);

/* Reads which CPUs are to be asked: one of each package, or of each die. 0, or -1 and err. */
int uncore_cpus(const struct rootfs *root, const char *pmu, struct cpus *cpus,
                struct berth_error *err);

#endif
