/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_load - loads what hwloc knows of a machine, with the objects that topo needs; or says why it
 * cannot. Only for packer/machine. */
#ifndef BERTH_MACHINE_TOPO_LOAD_H
#define BERTH_MACHINE_TOPO_LOAD_H

#include <hwloc.h>

#include "packer/base/error.h"

/* Loads the machine that spec names, as topo_read has it. 0 and *out (free with
 * hwloc_topology_destroy), or -1 and err. */
int topo_load(hwloc_topology_t *out, const char *spec, struct berth_error *err);

#endif
