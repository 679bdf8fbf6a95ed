/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_kinds - which cores hwloc takes for one kind. Only for packer/machine. */
#ifndef BERTH_MACHINE_TOPO_KINDS_H
#define BERTH_MACHINE_TOPO_KINDS_H

#include <hwloc.h>

/* Returns the number of the kind of these CPUs: the first of hwloc's kinds that is like theirs. -1
 * where hwloc knows none of them, or has them in several.
 *
 * Kinds are alike if their texts (the type of core) are equal and no number (megahertz, the
 * kernel's capacity) differs by more than a tenth: some cores of a processor may be clocked a
 * little higher than the rest, which hwloc tells as kinds, too. Of kinds of which it tells nothing
 * but that they differ, none is like another. */
int topo_kind_of(hwloc_topology_t hwloc, hwloc_const_bitmap_t cpus);

#endif
