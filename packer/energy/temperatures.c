/* SPDX-License-Identifier: GPL-2.0-or-later */
/* temperatures - see temperatures.h */
#include "packer/energy/temperatures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/energy/parts.h"

#define CLASS "/sys/class/hwmon"
#define CPU "/sys/devices/system/cpu"
#define SENSORS_MAX 1024 /* tempN of a package: N begins at 1, or 2, and has gaps */
#define PLACE 80

struct temperatures {
    const struct rootfs *root;
    size_t cores, n;
    char (*sensor)[PLACE]; /* [cores] "/sys/class/hwmon/hwmon3/temp2"; "": none */
};

/* ---- numbers ---- */

/* Reads a whole number of a file; false: there is none. */
static bool read_number(const struct rootfs *root, const char *path, long *number)
{
    char text[32], rest;

    return energy_line(root, path, text, sizeof(text)) && sscanf(text, "%ld%c", number, &rest) == 1;
}

/* Returns what a sensor's file says, in degrees. */
static double read_degrees(const struct rootfs *root, const char *sensor, const char *what)
{
    char path[PLACE + 16];
    long number;

    snprintf(path, sizeof(path), "%s_%s", sensor, what);
    return read_number(root, path, &number) ? (double)number / 1e3 : NAN;
}

/* ---- which core ---- */

/* A core as the kernel numbers it. */
struct name {
    long package, core;
};

static bool name_core(const struct rootfs *root, const struct topo_core *core, struct name *name)
{
    size_t cpu = cpus_next(&core->cpus, 0);
    char path[PLACE];

    snprintf(path, sizeof(path), CPU "/cpu%zu/topology/physical_package_id", cpu);
    if (!read_number(root, path, &name->package))
        return false;
    snprintf(path, sizeof(path), CPU "/cpu%zu/topology/core_id", cpu);
    return read_number(root, path, &name->core);
}

/* Reads the number in the label of a folder's i-th sensor, which begins with this text: "Core 3".
 */
static bool label_of(const struct rootfs *root, const char *folder, unsigned i, const char *begins,
                     long *number)
{
    char path[PLACE + 16], text[32], rest;

    snprintf(path, sizeof(path), CLASS "/%.32s/temp%u_label", folder, i);
    return energy_line(root, path, text, sizeof(text)) &&
           strncmp(text, begins, strlen(begins)) == 0 &&
           sscanf(text + strlen(begins), "%ld%c", number, &rest) == 1;
}

/* Which package is the folder of? Processors that do not say so are of one package, 0. */
static long package_of(const struct rootfs *root, const char *folder)
{
    long package;

    for (unsigned i = 1; i <= 2; i++)
        if (label_of(root, folder, i, "Package id ", &package) ||
            label_of(root, folder, i, "Physical id ", &package))
            return package;
    return 0;
}

/* ---- finding ---- */

static void add_sensor(struct temperatures *temperatures, const struct name *names,
                       const struct name *name, const char *folder, unsigned i)
{
    for (size_t core = 0; core < temperatures->cores; core++) {
        char *sensor = temperatures->sensor[core];

        if (names[core].package != name->package || names[core].core != name->core || sensor[0])
            continue;
        snprintf(sensor, PLACE, CLASS "/%.32s/temp%u", folder, i);
        temperatures->n++;
    }
}

static void add_folder(struct temperatures *temperatures, const struct name *names,
                       const char *folder)
{
    struct name name = {.package = package_of(temperatures->root, folder)};

    for (unsigned i = 1; i < SENSORS_MAX; i++)
        if (label_of(temperatures->root, folder, i, "Core ", &name.core))
            add_sensor(temperatures, names, &name, folder, i);
}

/* Adds the sensors of all packages; notes whether there is a driver that knows no cores. */
static void add_folders(struct temperatures *temperatures, const struct name *names, bool *k10temp)
{
    char **folder = energy_folders(temperatures->root, CLASS), path[PLACE], driver[32];

    for (size_t i = 0; folder && folder[i]; i++) {
        snprintf(path, sizeof(path), CLASS "/%.32s/name", folder[i]);
        if (!energy_line(temperatures->root, path, driver, sizeof(driver)))
            continue;
        *k10temp |= strcmp(driver, "k10temp") == 0;
        if (strcmp(driver, "coretemp") == 0)
            add_folder(temperatures, names, folder[i]);
    }
    rootfs_list_free(folder);
}

static struct temperatures *make(const struct rootfs *root, size_t cores)
{
    struct temperatures *temperatures = calloc(1, sizeof(*temperatures));

    if (!temperatures)
        return NULL;
    temperatures->root = root;
    temperatures->cores = cores;
    temperatures->sensor = calloc(cores, sizeof(*temperatures->sensor));
    if (temperatures->sensor)
        return temperatures;
    free(temperatures);
    return NULL;
}

int temperatures_open(struct temperatures **out, const struct rootfs *root, const struct topo *topo,
                      struct berth_error *err)
{
    struct temperatures *temperatures = make(root, topo->cores);
    struct name *names = calloc(topo->cores, sizeof(*names));
    bool k10temp = false;

    for (size_t i = 0; names && i < topo->cores; i++)
        if (!name_core(root, &topo->core[i], &names[i]))
            names[i].core = -1;
    if (names && temperatures)
        add_folders(temperatures, names, &k10temp);
    free(names);
    if (temperatures && temperatures->n) {
        *out = temperatures;
        return 0;
    }
    if (!temperatures)
        return berth_no_memory(err);
    temperatures_close(temperatures);
    return berth_error_set(err, k10temp
                                    ? "the sensors of this processor (k10temp) have no figure for "
                                      "each core"
                                    : "no sensor of a core in " CLASS " (the module coretemp)");
}

void temperatures_close(struct temperatures *temperatures)
{
    if (!temperatures)
        return;
    free(temperatures->sensor);
    free(temperatures);
}

size_t temperatures_count(const struct temperatures *temperatures)
{
    return temperatures->n;
}

void temperatures_read(const struct temperatures *temperatures, size_t core,
                       struct temperature *temperature)
{
    const char *sensor = temperatures->sensor[core];

    *temperature = (struct temperature){NAN, NAN, NAN};
    if (!sensor[0])
        return;
    temperature->celsius = read_degrees(temperatures->root, sensor, "input");
    temperature->t1 = read_degrees(temperatures->root, sensor, "max");
    temperature->t2 = read_degrees(temperatures->root, sensor, "crit");
}
