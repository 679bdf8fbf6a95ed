/* SPDX-License-Identifier: GPL-2.0-or-later */
/* temperatures - how hot each core is, and from when on it is slowed down and stopped, by the
 * sensors of hwmon.
 *
 * Only coretemp (Intel) has a figure for each core: tempN_input with the label "Core C" in the
 * folder of a package, which the label "Package id P" names; tempN_max is where the processor slows
 * down (T1), tempN_crit where it stops (T2). A package's own figure is nobody's. k10temp (AMD) has
 * none of a core. Linux: Documentation/hwmon/{coretemp,k10temp}.rst. */
#ifndef BERTH_ENERGY_TEMPERATURES_H
#define BERTH_ENERGY_TEMPERATURES_H

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct temperature { /* of a core, degrees Celsius; NAN: not known */
    double celsius, t1, t2;
};

struct temperatures;

/* Finds the sensors of the cores, below the root. 0 and *out, or -1 and err: no core has one. Root
 * and topology are borrowed. */
int temperatures_open(struct temperatures **out, const struct rootfs *root, const struct topo *topo,
                      struct berth_error *err);
void temperatures_close(struct temperatures *temperatures); /* NULL is fine */

/* Returns how many cores have a sensor. */
size_t temperatures_count(const struct temperatures *temperatures);

/* Reads a core's sensor now; index into topo->core. */
void temperatures_read(const struct temperatures *temperatures, size_t core,
                       struct temperature *temperature);

#endif
