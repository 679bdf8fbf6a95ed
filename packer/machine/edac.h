/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edac - the channels of the memory by the kernel's error detection (EDAC), below
 * /sys/devices/system/edac/mc: one folder a memory controller, in it one a module or a rank. */
#ifndef BERTH_MACHINE_EDAC_H
#define BERTH_MACHINE_EDAC_H

#include "packer/system/rootfs.h"

struct edac_memory {
    size_t channels; /* of all controllers, with memory on them */
    size_t ranks;    /* of all channels, where the controller tells ranks and not modules; else 0 */
};

/* Fills in what is there. Returns 0; -1 and err: no controller, or a place of a module that does
 * not say its channel. */
int edac_read(const struct rootfs *root, struct edac_memory *memory, struct berth_error *err);

/* Reads a module's or rank's place, "channel 0 slot 1" or "csrow 2 channel 1". Returns its channel,
 * or -1. */
long edac_channel(const char *location);

#endif
