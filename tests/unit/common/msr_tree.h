/* SPDX-License-Identifier: GPL-2.0-or-later */
/* msr_tree - a made machine: what /proc/cpuinfo says of its processor, and a file for each CPU in
 * which the register MISC_FEATURE_CONTROL stands where /dev/cpu/N/msr has it. */
#ifndef BERTH_TESTS_MSR_TREE_H
#define BERTH_TESTS_MSR_TREE_H

#include <stddef.h>
#include <stdint.h>

#define MSR_TREE_CPUINFO(vendor, family, model)                                                    \
    "processor\t: 0\nvendor_id\t: " vendor "\ncpu family\t: " family "\nmodel\t\t: " model         \
    "\nmodel name\t: a made one\n\nprocessor\t: 1\nmodel\t\t: 1\n"
#define MSR_TREE_HASWELL MSR_TREE_CPUINFO("GenuineIntel", "6", "63")

/* Makes it below the folder, with so many CPUs, each with all prefetchers on. */
void msr_tree_make(const char *folder, size_t cpus, const char *cpuinfo);

/* Reads and writes a CPU's register. */
uint64_t msr_tree_get(const char *folder, size_t cpu);
void msr_tree_put(const char *folder, size_t cpu, uint64_t value);

#endif
