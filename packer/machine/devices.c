/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices - see devices.h. Here: their order and their names. */
#include "packer/machine/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RENDER_FIRST 128 /* the kernel counts /dev/dri/renderDN from there */

/* ---- order and names ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct device *)a)->pci, ((const struct device *)b)->pci);
}

/* Are all GPUs of one vendor? Then they can be counted. */
static bool are_alike(const struct devices *devices)
{
    unsigned vendor = 0;

    for (size_t i = 0; i < devices->n; i++) {
        if (devices->device[i].kind != DEVICE_GPU)
            continue;
        if (vendor && devices->device[i].vendor != vendor)
            return false;
        vendor = devices->device[i].vendor;
    }
    return true;
}

/* Slurm counts a GPU by its file: of /dev/nvidiaN it is N, where the driver says that. Else they
 * are counted in the order of their addresses, as drivers make their files. */
static void count_gpus(struct devices *devices)
{
    bool alike = are_alike(devices), minors = false;
    int next = 0;

    for (size_t i = 0; i < devices->n; i++)
        minors |= devices->device[i].minor >= 0;
    for (size_t i = 0; i < devices->n; i++) {
        struct device *device = &devices->device[i];

        if (device->kind != DEVICE_GPU)
            continue;
        device->number = minors ? device->minor : alike ? next : -1;
        next++;
        if (device->number >= 0)
            snprintf(device->name, sizeof(device->name), "gpu%d", device->number);
    }
}

static void name_all(struct devices *devices)
{
    if (devices->n)
        qsort(devices->device, devices->n, sizeof(*devices->device), compare);
    count_gpus(devices);
    for (size_t i = 0; i < devices->n; i++)
        if (!devices->device[i].name[0])
            snprintf(devices->device[i].name, sizeof(devices->device[i].name), "%s",
                     devices->device[i].pci);
}

/* Finds the CPUs near a device: where it says only its memory node, those of that node. One that is
 * near all CPUs of several nodes is one whose place nobody knows; where there is one node, all is
 * near. */
static void place(struct device *device, const struct topo *topo)
{
    struct cpus nodes;

    for (size_t n = 0; cpus_empty(&device->cpus) && n < topo->nodes; n++)
        if ((int)topo->node[n].os_index == device->node)
            device->cpus = topo->node[n].cpus;
    topo_nodes_of(topo, &topo->cpus, &nodes);
    if (cpus_count(&nodes) == 1 && cpus_empty(&device->cpus))
        device->cpus = topo->cpus;
    else if (cpus_count(&nodes) > 1 && device->node < 0 && cpus_equal(&device->cpus, &topo->cpus))
        cpus_zero(&device->cpus);
    topo_nodes_of(topo, &device->cpus, &nodes);
    if (device->node < 0 && cpus_count(&nodes) == 1)
        device->node = (int)cpus_next(&nodes, 0);
}

int devices_read(struct devices **out, const struct topo *topo, const char *spec,
                 const struct rootfs *root, struct berth_error *err)
{
    struct devices *devices = calloc(1, sizeof(*devices));
    bool xml = spec && spec[0] && access(spec, F_OK) == 0;
    int rc = -1;

    if (!devices)
        return berth_no_memory(err);
    if (xml)
        rc = devices_read_xml(devices, topo, spec, err);
    else if ((rc = devices_read_tree(devices, topo, root)) < 0)
        berth_no_memory(err);
    if (rc < 0) {
        devices_free(devices);
        return -1;
    }
    name_all(devices);
    for (size_t i = 0; i < devices->n; i++)
        place(&devices->device[i], topo);
    *out = devices;
    return 0;
}

void devices_free(struct devices *devices)
{
    if (!devices)
        return;
    free(devices->device);
    free(devices);
}

/* ---- a device by its name ---- */

/* Reads a number that is all of the text; -1: it is none. */
static int number_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && !*end && number < 1 << 20 ? (int)number : -1;
}

/* Finds the GPU that Slurm counts so: by the number of its file. */
static const struct device *find_gpu(const struct devices *devices, int number)
{
    for (size_t i = 0; number >= 0 && i < devices->n; i++) {
        const struct device *device = &devices->device[i];

        if (device->kind == DEVICE_GPU &&
            (device->number == number || (number >= RENDER_FIRST && device->render == number)))
            return device;
    }
    return NULL;
}

/* Finds the n-th GPU of a vendor, or the one with that UUID. */
static const struct device *find_of(const struct devices *devices, unsigned vendor,
                                    const char *which)
{
    int number = number_of(which), next = 0;

    for (size_t i = 0; i < devices->n; i++) {
        const struct device *device = &devices->device[i];

        if (device->kind != DEVICE_GPU || device->vendor != vendor)
            continue;
        if (number < 0 ? device->uuid[0] && strcmp(device->uuid, which) == 0 : next == number)
            return device;
        next++;
    }
    return NULL;
}

/* Finds the adapter whose driver's name ends with "_N"; where several do, it is not certain. */
static const struct device *find_nic(const struct devices *devices, int number)
{
    const struct device *found = NULL;

    for (size_t i = 0; number >= 0 && i < devices->n; i++) {
        const struct device *device = &devices->device[i];
        const char *digits = strrchr(device->name, '_');

        if (device->kind != DEVICE_NETWORK || !digits || number_of(digits + 1) != number)
            continue;
        if (found)
            return NULL;
        found = device;
    }
    return found;
}

const struct device *devices_find(const struct devices *devices, const char *name)
{
    static const struct {
        const char *kind;
        unsigned vendor;
    } counted[] = {{"cuda:", DEVICE_NVIDIA}, {"rocm:", DEVICE_AMD}, {"ze:", DEVICE_INTEL}};

    if (strncmp(name, "gpu:", 4) == 0)
        return find_gpu(devices, number_of(name + 4));
    if (strncmp(name, "nic:", 4) == 0)
        return find_nic(devices, number_of(name + 4));
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        size_t length = strlen(counted[i].kind);

        if (strncmp(name, counted[i].kind, length) == 0)
            return find_of(devices, counted[i].vendor, name + length);
    }
    return NULL;
}
