/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_busy - tells how long each CPU has been at work, for whomever (/proc/stat): whether a step
 * had its cache to itself, also from programs that berth knows nothing of. */
#ifndef BERTH_SYSTEM_CPU_BUSY_H
#define BERTH_SYSTEM_CPU_BUSY_H

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct cpu_busy {
    double s[CPUS_MAX]; /* seconds since boot, but those idle or waiting for I/O; in ticks of 10 ms
                           as a rule */
    struct cpus known;  /* CPUs that are on line */
};

/* Reads them all. 0, or -1 with errno and err. */
int cpu_busy_read(const struct rootfs *root, struct cpu_busy *busy, struct berth_error *err);

/* Returns the seconds of these CPUs together. */
double cpu_busy_sum(const struct cpu_busy *busy, const struct cpus *cpus);

#endif
