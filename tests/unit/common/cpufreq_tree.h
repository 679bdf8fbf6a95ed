/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq_tree - made policies of cpufreq: a folder for each CPU with the files that the kernel's
 * acpi-cpufreq shows below /sys/devices/system/cpu, whose frequencies have steps of 200 MHz. */
#ifndef BERTH_TESTS_CPUFREQ_TREE_H
#define BERTH_TESTS_CPUFREQ_TREE_H

#include <stddef.h>

#define CPUFREQ_TREE_LOWEST 1200000
#define CPUFREQ_TREE_HIGHEST 2400000

/* Makes them below the folder for so many CPUs, `together` of which have a clock together. */
void cpufreq_tree_make(const char *folder, size_t cpus, size_t together);

/* Returns the greatest frequency that the CPU is to have now, kHz, and writes it. */
long cpufreq_tree_get(const char *folder, size_t cpu);
void cpufreq_tree_put(const char *folder, size_t cpu, long khz);

#endif
