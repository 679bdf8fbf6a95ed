/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq_tree - see cpufreq_tree.h */
#include "tests/unit/common/cpufreq_tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/common/folder.h"

static const char *path_of(size_t cpu, const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%zu/cpufreq/%s", cpu, name);
    return path;
}

static void put(const char *folder, size_t cpu, const char *name, long number)
{
    char text[32];

    snprintf(text, sizeof(text), "%ld\n", number);
    folder_put(folder, path_of(cpu, name), text);
}

static void put_cpus(const char *folder, size_t cpu, size_t together)
{
    char text[256] = "";
    size_t used = 0, first = cpu - cpu % together;

    for (size_t i = first; i < first + together && used < sizeof(text); i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu", i > first ? " " : "", i);
    folder_put(folder, path_of(cpu, "affected_cpus"), text);
}

void cpufreq_tree_make(const char *folder, size_t cpus, size_t together)
{
    for (size_t cpu = 0; cpu < cpus; cpu++) {
        put(folder, cpu, "cpuinfo_min_freq", CPUFREQ_TREE_LOWEST);
        put(folder, cpu, "cpuinfo_max_freq", CPUFREQ_TREE_HIGHEST);
        put(folder, cpu, "scaling_max_freq", CPUFREQ_TREE_HIGHEST);
        put(folder, cpu, "scaling_cur_freq", 1800000);
        folder_put(folder, path_of(cpu, "scaling_available_frequencies"),
                   "2400000 2200000 2000000 1800000 1600000 1400000 1200000 \n");
        put_cpus(folder, cpu, together);
    }
}

/* CPUs that have a clock together have one file on a real machine: here it is the first one's. */
long cpufreq_tree_get(const char *folder, size_t cpu)
{
    char path[PATH_MAX], text[32];

    snprintf(path, sizeof(path), "%s/%s", folder, path_of(cpu, "scaling_max_freq"));
    file_line(path, text, sizeof(text));
    return atol(text);
}

void cpufreq_tree_put(const char *folder, size_t cpu, long khz)
{
    put(folder, cpu, "scaling_max_freq", khz);
}
