/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room - how much more memory a NUMA node can take. */
#ifndef BERTH_MEMORY_ROOM_H
#define BERTH_MEMORY_ROOM_H

#include <stddef.h>

#include "packer/system/rootfs.h"

/* Returns the bytes that a node (os_index) can take without anybody else losing memory: free ones,
 * and files that nobody has used lately. < 0: not known. */
double memory_room(const struct rootfs *root, size_t node);

#endif
