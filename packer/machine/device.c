/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device - see device.h */
#include "packer/machine/device.h"

#include <stdio.h>

#include "packer/base/array.h"
#include "enum_table.h"

const char *const TABLE(device_kind_name, DEVICE_KINDS) = {ROW(DEVICE_GPU) = "gpu",
                                                           ROW(DEVICE_NETWORK) = "network"};
TABLE_COMPLETE(device_kind_name);

bool device_is_wanted(unsigned class, unsigned vendor, enum device_kind *kind)
{
    unsigned base = class >> 8;
    bool known = vendor == DEVICE_NVIDIA || vendor == DEVICE_AMD || vendor == DEVICE_INTEL;

    if (base == 0x02) {
        *kind = DEVICE_NETWORK;
        return true;
    }
    *kind = DEVICE_GPU;
    return base == 0x12 || class == 0x0302 || class == 0x0380 || (class == 0x0300 && known);
}

struct device device_none(void)
{
    return (struct device){.number = -1, .minor = -1, .render = -1, .node = -1};
}

int devices_add(struct devices *devices, const struct topo *topo, const struct device *device)
{
    struct device *added;
    size_t room = devices->n;

    if (devices->n == DEVICES_MAX)
        return 0;
    if (array_grow(&devices->device, &room, devices->n + 1, sizeof(*devices->device)) < 0)
        return -1;
    added = &devices->device[devices->n++];
    *added = *device;
    cpus_and(&added->cpus, &topo->cpus);
    return 0;
}

const char *device_text(const struct device *device, char text[DEVICE_TEXT_MAX])
{
    char node[24] = "node unknown";

    if (device->node >= 0)
        snprintf(node, sizeof(node), "node %d", device->node);
    snprintf(text, DEVICE_TEXT_MAX, "%s (PCI %s, %s)", device->name, device->pci, node);
    return text;
}
