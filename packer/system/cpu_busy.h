/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy - how long each CPU has been at work, whoever it worked for (/proc/stat): tells whether a
 * step had its cache to itself, also from programs that berth knows nothing of. */
#ifndef BERTH_SYSTEM_CPU_BUSY_H
#define BERTH_SYSTEM_CPU_BUSY_H

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct busy {
    double s[CPUS_MAX]; /* seconds since boot, but those idle or waiting for I/O; in ticks of 10 ms
                           as a rule */
    struct cpus known;  /* CPUs that are on line */
};

/* 0, or -1 with errno and err. */
int busy_read(const struct rootfs *root, struct busy *busy, struct berth_error *err);

/* Of these CPUs together. */
double busy_sum(const struct busy *busy, const struct cpus *cpus);

#endif
