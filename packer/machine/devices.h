/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices - the node's GPUs, accelerators and network adapters, and which CPUs are near each.
 *
 * Read by its PCI devices: of this machine or a recorded one from /sys and /proc, else from the I/O
 * objects of an hwloc XML file. What the kernel does not say stays unknown: a device without a
 * memory node has no CPUs here, and nobody is kept near it. */
#ifndef BERTH_MACHINE_DEVICES_H
#define BERTH_MACHINE_DEVICES_H

#include "packer/machine/device.h"

/* Reads the devices of the machine that `topo` is of: from the hwloc XML file `spec` if that is
 * one, else from the tree below root. A tree without PCI devices has none. 0 and *out (free with
 * devices_free), or -1 and err. */
int devices_read(struct devices **out, const struct topo *topo, const char *spec,
                 const struct rootfs *root, struct berth_error *err);
void devices_free(struct devices *devices); /* NULL is fine */

/* Finds a device by what a registration calls it (wire.h): "gpu:0", "cuda:0", "cuda:GPU-9fe...",
 * "rocm:0", "ze:0", "nic:0". NULL: there is none, or it is not certain which one is meant. */
const struct device *devices_find(const struct devices *devices, const char *name);

#endif
