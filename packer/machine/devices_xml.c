/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices_xml - see device.h. Here: the I/O objects of an hwloc XML file.
 *
 * The file is loaded once more than topo_read() does, with all its objects: that one leaves most of
 * them out, and a device would be found at a place that is wider than its own. */
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "packer/machine/device.h"

static int load(hwloc_topology_t *out, const char *path, struct berth_error *err)
{
    hwloc_topology_t hwloc = NULL;

    if (hwloc_topology_init(&hwloc) < 0)
        return berth_error_set(err, "hwloc: %s", strerror(errno));
    if (hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_set_io_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_set_xml(hwloc, path) == 0 && hwloc_topology_load(hwloc) == 0) {
        *out = hwloc;
        return 0;
    }
    hwloc_topology_destroy(hwloc);
    return berth_error_set(err, "%s: no hwloc XML file", path);
}

static void take_cpus(hwloc_const_bitmap_t set, struct cpus *cpus)
{
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && cpu < CPUS_MAX;
         cpu = hwloc_bitmap_next(set, cpu))
        cpus_add(cpus, (size_t)cpu);
}

/* Takes what operating systems call the device: an InfiniBand adapter's name before that of its
 * network interface. */
static void take_names(hwloc_obj_t pci, struct device *device)
{
    for (hwloc_obj_t child = pci->io_first_child; child; child = child->next_sibling) {
        const char *uuid = hwloc_obj_get_info_by_name(child, "NVIDIAUUID");
        bool fabric;

        if (child->type != HWLOC_OBJ_OS_DEVICE || !child->name)
            continue;
        fabric = child->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
        if (device->kind == DEVICE_NETWORK &&
            (fabric || (child->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK && !device->name[0])))
            snprintf(device->name, sizeof(device->name), "%s", child->name);
        if (device->kind == DEVICE_GPU && uuid)
            snprintf(device->uuid, sizeof(device->uuid), "%s", uuid);
    }
}

/* A device that hangs on the whole machine, where that has several memory nodes, has no place. */
static void take_place(hwloc_topology_t hwloc, hwloc_obj_t pci, struct device *device)
{
    hwloc_obj_t at = hwloc_get_non_io_ancestor_obj(hwloc, pci);

    if (!at || !at->cpuset)
        return;
    take_cpus(at->cpuset, &device->cpus);
    if (hwloc_bitmap_weight(at->nodeset) == 1)
        device->node = hwloc_bitmap_first(at->nodeset);
}

int devices_read_xml(struct devices *devices, const struct topo *topo, const char *path,
                     struct berth_error *err)
{
    hwloc_topology_t hwloc = NULL;
    hwloc_obj_t pci = NULL;
    int rc = 0;

    if (load(&hwloc, path, err) < 0)
        return -1;
    while (rc == 0 && (pci = hwloc_get_next_pcidev(hwloc, pci))) {
        const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
        struct device device = device_none();

        device.class = attr->class_id;
        device.vendor = attr->vendor_id;
        if (!device_is_wanted(device.class, device.vendor, &device.kind))
            continue;
        snprintf(device.pci, sizeof(device.pci), "%04x:%02x:%02x.%01x", attr->domain & 0xffff,
                 attr->bus, attr->dev, attr->func & 0xf);
        take_names(pci, &device);
        take_place(hwloc, pci, &device);
        rc = devices_add(devices, topo, &device);
    }
    hwloc_topology_destroy(hwloc);
    return rc < 0 ? berth_no_memory(err) : 0;
}
