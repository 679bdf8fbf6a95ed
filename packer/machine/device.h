/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device - a GPU, accelerator or network adapter of the node, and the list that they are read into
 * (devices.h). */
#ifndef BERTH_MACHINE_DEVICE_H
#define BERTH_MACHINE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

#define DEVICES_MAX 256 /* of a node; what is read after them is left out */
#define DEVICE_NAME_MAX 32
#define DEVICE_PCI_MAX 16
#define DEVICE_UUID_MAX 48

#define DEVICE_NVIDIA 0x10de /* vendors */
#define DEVICE_AMD 0x1002
#define DEVICE_INTEL 0x8086

enum device_kind { DEVICE_GPU, DEVICE_NETWORK, DEVICE_KINDS };
extern const char *const device_kind_name[DEVICE_KINDS]; /* "gpu", "network" */

struct device {
    enum device_kind kind;
    unsigned class, vendor;     /* as PCI has them: 0x0302, 0x10de */
    char pci[DEVICE_PCI_MAX];   /* "0000:3b:00.0" */
    char name[DEVICE_NAME_MAX]; /* "gpu0", "mlx5_0", "eth0"; its address where it has none */
    char uuid[DEVICE_UUID_MAX]; /* of a GPU of NVIDIA's; "" unknown */
    int number;                 /* of a GPU, as Slurm counts it; -1 */
    int minor;                  /* N of /dev/nvidiaN; -1 unknown */
    int render;                 /* N of /dev/dri/renderDN; -1 unknown */
    int node;                   /* its memory node, as the kernel counts; -1 unknown, or several */
    struct cpus cpus;           /* near it; empty: not known */
};

struct devices {
    size_t n;
    struct device *device; /* [n] in the order of their addresses */
};

/* Writes "gpu0 (PCI 0000:3b:00.0, node 0)". Returns text. */
#define DEVICE_TEXT_MAX 96
const char *device_text(const struct device *device, char text[DEVICE_TEXT_MAX]);

/* Is a PCI device of that class and vendor one that programs are given? If so, of which kind? The
 * picture of a server's own management processor is none. */
bool device_is_wanted(unsigned class, unsigned vendor, enum device_kind *kind);

/* Makes an empty device; appends a copy of one, of whose CPUs those count that the topology has. 0,
 * or -1 for want of memory. */
struct device device_none(void);
int devices_add(struct devices *devices, const struct topo *topo, const struct device *device);

/* Reads those of an hwloc XML file. 0, or -1 and err. */
int devices_read_xml(struct devices *devices, const struct topo *topo, const char *path,
                     struct berth_error *err);

/* Reads those of a tree. 0, or -1 for want of memory. */
int devices_read_tree(struct devices *devices, const struct topo *topo, const struct rootfs *root);

#endif
