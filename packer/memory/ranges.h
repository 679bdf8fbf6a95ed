/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranges - finds the parts of a process's memory that hold pages to be moved, by the text of
 * /proc/PID/maps and /proc/PID/numa_maps.
 *
 * numa_maps (Linux: fs/proc/task_mmu.c, show_numa_map) tells policy and pages of each mapping, maps
 * its end and what it is of. A mapping that only one of them knows has come or gone meanwhile, and
 * is left out. */
#ifndef BERTH_MEMORY_RANGES_H
#define BERTH_MEMORY_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/cpus.h"

#define MEMORY_DESERT_BYTES (64.0 * (1 << 30))

struct memory_range {
    uint64_t start, end;
    size_t page_bytes;
    double bytes; /* on nodes that are left */
    bool shared;  /* memory that processes share: shm, memfd, MAP_SHARED without a file */
    bool all;     /* pages that several processes map are moved, too */
};

/* All zero is the empty list; free(ranges.range) ends it. */
struct memory_ranges {
    size_t n, room;
    struct memory_range *range; /* [n], ascending */
};

/* Adds the mappings with pages on a node of `leave`, or, where processes share them, of
 * `leave_shared`. Left out: read-only mappings of files, the kernel's own ([vdso]), those under a
 * policy other than default and local, and those greater than MEMORY_DESERT_BYTES with less than
 * one page in 4096 to be moved. 0, or -1 with ENOMEM. */
int memory_ranges_add(struct memory_ranges *ranges, const char *maps, const char *numa_maps,
                      size_t page_bytes, const struct cpus *leave, const struct cpus *leave_shared);

#endif
