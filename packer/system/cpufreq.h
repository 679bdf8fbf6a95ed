/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq - the greatest frequency of CPUs, by the files of a policy of the kernel's cpufreq, which
 * is for one CPU or several that have one clock (Linux: Documentation/admin-guide/pm/cpufreq.rst).
 *
 * What is written is scaling_max_freq: the governor stays who he is, and goes no higher. All paths
 * are below a root, so that a machine is a directory. */
#ifndef BERTH_SYSTEM_CPUFREQ_H
#define BERTH_SYSTEM_CPUFREQ_H

#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/system/rootfs.h"

/* What the policy of a CPU says; kHz. */
struct cpufreq {
    struct cpus cpus;         /* that have this clock together */
    uint64_t lowest, highest; /* that the hardware can */
    uint64_t limit;           /* scaling_max_freq: the greatest that it is to have now */
    uint64_t now;             /* by the driver, else by the governor; 0: nobody says it */
};

/* Reads it. 0, or -1 and err: the CPU has no policy, or its files say nothing that holds. */
int cpufreq_read(const struct rootfs *root, size_t cpu, struct cpufreq *out,
                 struct berth_error *err);

/* Reads only the limit, which is what an undo compares. 0, or -1 and err. */
int cpufreq_get(const struct rootfs *root, size_t cpu, uint64_t *khz, struct berth_error *err);

/* Writes the limit, and reads it back. 0, or -1 and err: it holds something else (somebody else
 * wants less, or the driver has steps), or is not known. */
int cpufreq_put(const struct rootfs *root, size_t cpu, uint64_t khz, struct berth_error *err);

/* Returns the greatest step of the CPU's driver that is not above khz, where the driver has steps
 * (scaling_available_frequencies); else khz. At least its lowest one. */
uint64_t cpufreq_step(const struct rootfs *root, size_t cpu, uint64_t khz);

#endif
