/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hwmon_tree - see hwmon_tree.h */
#include "tests/unit/common/hwmon_tree.h"

#include <stdio.h>

#include "tests/unit/common/folder.h"

/* The first sensor of a package is its own. */
static unsigned sensor_of(size_t core)
{
    return (unsigned)(core + core / 2 + 2);
}

static void put(const char *folder, size_t package, unsigned sensor, const char *what,
                const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu/temp%u_%s", package + 1, sensor, what);
    folder_put(folder, path, text);
}

static void put_sensor(const char *folder, size_t package, unsigned sensor, const char *label,
                       double celsius)
{
    char text[48];

    put(folder, package, sensor, "label", label);
    snprintf(text, sizeof(text), "%d000\n", HWMON_TREE_T1);
    put(folder, package, sensor, "max", text);
    snprintf(text, sizeof(text), "%d000\n", HWMON_TREE_T2);
    put(folder, package, sensor, "crit", text);
    snprintf(text, sizeof(text), "%.0f\n", celsius * 1e3);
    put(folder, package, sensor, "input", text);
}

static void put_cpu(const char *folder, size_t cpu, size_t package, size_t core_id)
{
    char path[128], text[48];

    snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%zu/topology/physical_package_id", cpu);
    snprintf(text, sizeof(text), "%zu\n", package);
    folder_put(folder, path, text);
    snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%zu/topology/core_id", cpu);
    snprintf(text, sizeof(text), "%zu\n", core_id);
    folder_put(folder, path, text);
}

void hwmon_tree_make(const char *folder, size_t packages, size_t cores)
{
    char path[128], label[48];

    folder_put(folder, "sys/class/hwmon/hwmon0/name", "acpitz\n");
    for (size_t p = 0; p < packages; p++) {
        snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu/name", p + 1);
        folder_put(folder, path, "coretemp\n");
        snprintf(label, sizeof(label), "Package id %zu\n", p);
        put_sensor(folder, p, 1, label, 99);
        for (size_t core = 0; core < cores; core++) {
            snprintf(label, sizeof(label), "Core %zu\n", core + core / 2);
            put_sensor(folder, p, sensor_of(core), label, 40);
            put_cpu(folder, p * cores + core, p, core + core / 2);
        }
    }
}

void hwmon_tree_set(const char *folder, size_t cores, size_t core, double celsius)
{
    char text[48];

    snprintf(text, sizeof(text), "%.0f\n", celsius * 1e3);
    put(folder, core / cores, sensor_of(core % cores), "input", text);
}
