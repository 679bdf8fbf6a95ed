/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices_tree - see device.h. Here: /sys/bus/pci/devices, and what drivers say beside it.
 *
 * Virtual functions are left out: they are where their adapter is, and may be hundreds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/machine/device.h"

#define PCI "/sys/bus/pci/devices"

/* Returns the number in a file of a device's folder; `none` where there is no such file. */
static long read_number(const struct rootfs *root, const char *pci, const char *file, int base,
                        long none)
{
    char path[128], *text, *end;
    long number;

    snprintf(path, sizeof(path), PCI "/%.64s/%s", pci, file);
    text = rootfs_read(root, path);
    number = text ? strtol(text, &end, base) : none;
    if (text && end == text)
        number = none;
    free(text);
    return number;
}

/* Finds the name of the first entry of a device's folder that begins so, in the order of the
 * alphabet; "" there is none. */
static void first_name(const struct rootfs *root, const char *pci, const char *folder,
                       const char *prefix, char name[DEVICE_NAME_MAX])
{
    char path[128], **names;

    snprintf(path, sizeof(path), PCI "/%.64s/%s", pci, folder);
    names = rootfs_list(root, path);
    name[0] = '\0';
    for (size_t i = 0; names && names[i]; i++)
        if (strncmp(names[i], prefix, strlen(prefix)) == 0 && strlen(names[i]) < DEVICE_NAME_MAX &&
            (!name[0] || strcmp(names[i], name) < 0))
            strcpy(name, names[i]);
    rootfs_list_free(names);
}

/* Copies the value of a line "KEY: value" of NVIDIA's driver; nothing where there is none. */
static void value_of(const char *text, const char *key, char *value, size_t size)
{
    const char *line = text ? strstr(text, key) : NULL;

    if (!line)
        return;
    line += strlen(key);
    line += strspn(line, " \t");
    snprintf(value, size, "%.*s", (int)strcspn(line, " \t\n"), line);
}

static void read_nvidia(const struct rootfs *root, struct device *device)
{
    char path[96], minor[16] = "", *text;

    snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s/information", device->pci);
    text = rootfs_read(root, path);
    value_of(text, "Device Minor:", minor, sizeof(minor));
    value_of(text, "GPU UUID:", device->uuid, sizeof(device->uuid));
    if (minor[0] >= '0' && minor[0] <= '9')
        device->minor = (int)strtol(minor, NULL, 10);
    free(text);
}

static void read_gpu(const struct rootfs *root, struct device *device)
{
    char name[DEVICE_NAME_MAX];

    first_name(root, device->pci, "drm", "renderD", name);
    if (name[0])
        device->render = (int)strtol(name + strlen("renderD"), NULL, 10);
    read_nvidia(root, device);
}

/* In a virtual machine the interface belongs to a device of virtio's, which the adapter carries. */
static void read_virtio(const struct rootfs *root, struct device *device)
{
    char carried[DEVICE_NAME_MAX], folder[DEVICE_NAME_MAX + 8];

    first_name(root, device->pci, ".", "virtio", carried);
    snprintf(folder, sizeof(folder), "%s/net", carried);
    if (carried[0])
        first_name(root, device->pci, folder, "", device->name);
}

/* An adapter is called as its InfiniBand driver calls it, else as its network interface. */
static void read_network(const struct rootfs *root, struct device *device)
{
    first_name(root, device->pci, "infiniband", "", device->name);
    if (!device->name[0])
        first_name(root, device->pci, "net", "", device->name);
    if (!device->name[0])
        read_virtio(root, device);
}

static int add(struct devices *devices, const struct topo *topo, const struct rootfs *root,
               const char *pci)
{
    struct device device = device_none();
    struct berth_error err;
    char path[128];

    device.class = (unsigned)read_number(root, pci, "class", 16, 0) >> 8;
    device.vendor = (unsigned)read_number(root, pci, "vendor", 16, 0);
    snprintf(path, sizeof(path), PCI "/%.64s/physfn", pci);
    if (strlen(pci) >= sizeof(device.pci) ||
        !device_is_wanted(device.class, device.vendor, &device.kind) || rootfs_exists(root, path))
        return 0;
    strcpy(device.pci, pci);
    device.node = (int)read_number(root, pci, "numa_node", 10, -1);
    snprintf(path, sizeof(path), PCI "/%.64s/local_cpulist", pci);
    if (rootfs_read_cpus(root, path, &device.cpus, &err) < 0)
        cpus_zero(&device.cpus);
    if (device.kind == DEVICE_GPU)
        read_gpu(root, &device);
    else
        read_network(root, &device);
    return devices_add(devices, topo, &device);
}

int devices_read_tree(struct devices *devices, const struct topo *topo, const struct rootfs *root)
{
    char **names = rootfs_list(root, PCI);
    int rc = 0;

    for (size_t i = 0; names && names[i] && rc == 0; i++)
        rc = add(devices, topo, root, names[i]);
    rootfs_list_free(names);
    return rc;
}
