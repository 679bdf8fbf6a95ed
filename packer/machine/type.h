/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_type - tells which machines count alike: processor and last-level cache, as a text. */
#ifndef BERTH_MACHINE_TYPE_H
#define BERTH_MACHINE_TYPE_H

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

/* Writes "AMD EPYC 7543 32-Core Processor; LLC 33554432:16": the model by /proc/cpuinfo with its
 * blanks normalised (Arm: implementer, part and variant, which have no name there), then bytes and
 * ways of the first last-level cache, 0 where they are not known. "" where the processor is not
 * known. Cut to size. */
void machine_type(const struct topo *topo, const struct rootfs *root, char *text, size_t size);

#endif
