/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpusets - cpusets of cgroup v1 that a test makes on this machine. */
#ifndef BERTH_TESTS_CPUSETS_H
#define BERTH_TESTS_CPUSETS_H

#include <stdbool.h>

#define CPUSET "/sys/fs/cgroup/cpuset"

/* May a test make some on CPUs 0 and 1 here? It takes root. */
bool cpusets_usable(void);

/* Makes the cpuset, or takes the one that is there, and gives it these CPUs and memory node 0. */
void cpuset_make(const char *dir, const char *cpus);

/* Gives it other CPUs. */
void cpuset_set(const char *dir, const char *cpus);

#endif
