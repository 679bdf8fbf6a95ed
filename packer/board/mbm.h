/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mbm - the memory traffic of each last-level cache, whoever's it is, as the kernel's resctrl file
 * system counts it (Documentation/filesystems/resctrl.rst).
 *
 * A control group's mon_data says what all of its tasks did, those of its monitoring groups, so of
 * berth's steps, too; the sum over the control groups is the machine. Which there are is looked at
 * once a second. A reading in which one of them says nothing, has come or gone, or counted less
 * than before is not known: a sum without it would be too low. */
#ifndef BERTH_BOARD_MBM_H
#define BERTH_BOARD_MBM_H

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct mbm;

/* Begins to count; root is borrowed. 0; or -1 and err: no traffic is counted here. */
int mbm_open(struct mbm **mbm, const struct rootfs *root, const struct topo *topo,
             struct berth_error *err);
void mbm_close(struct mbm *mbm); /* NULL is fine */

/* Reads all now, at_s (CLOCK_MONOTONIC). total, local: [topo->llcs] bytes per second since the last
 * reading, with any memory and with that of the cache's own package; NAN not known. */
void mbm_read(struct mbm *mbm, double at_s, double *total, double *local);

#endif
