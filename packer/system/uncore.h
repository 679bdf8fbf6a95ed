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

/* What the kernel has to be asked for: config, config1 and config2 of struct perf_event_attr. */
#define UNCORE_WORDS 3
struct uncore_code {
    uint64_t config[UNCORE_WORDS];
};

/* Fills the code of the event of that name, whatever its unit. Returns whether there is one. */
bool uncore_named(const struct rootfs *root, const char *pmu, const char *name,
                  struct uncore_code *code);

/* Fills the code of an event that the kernel gives no name: "event=0x50,umask=0x03". Returns
 * whether the PMU has these terms, with room for their values. */
bool uncore_terms(const struct rootfs *root, const char *pmu, const char *terms,
                  struct uncore_code *code);

/* Reads which CPUs are to be asked: one of each package, or of each die. 0, or -1 and err. */
int uncore_cpus(const struct rootfs *root, const char *pmu, struct cpus *cpus,
                struct berth_error *err);

#endif
