/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetchers - switches a core's hardware prefetchers by its register MISC_FEATURE_CONTROL (MSR
 * 0x1A4), through /dev/cpu/N/msr below a root: then a machine is a directory, in which that file
 * holds the register's 8 bytes at offset 0x1A4.
 *
 * Each of bits 0 to 3 switches one of the four off when it is 1: the L2's stream and adjacent line
 * prefetchers, the L1's (DCU) next line and IP prefetchers. It is a core's register: its hardware
 * threads have one together. Bits that are reserved stay as they are. */
#ifndef BERTH_SYSTEM_PREFETCHERS_H
#define BERTH_SYSTEM_PREFETCHERS_H

#include <stdint.h>

#include "packer/system/rootfs.h"

/* Finds out, by the text of /proc/cpuinfo, which bits of the register switch a prefetcher off on
 * this machine. 0 and *mask, or -1 and err: none do, or nobody has said so of this processor. The
 * processors are those of Intel's "Disclosure of Hardware Prefetcher Control on Some Intel
 * Processors" (2014: Nehalem to Broadwell), and later ones for which the Software Developer's
 * Manual, volume 4, lists the same register (Skylake to Sapphire Rapids). */
int prefetchers_by_cpuinfo(const char *cpuinfo, uint64_t *mask, struct berth_error *err);

/* Does the same for the machine below the root. */
int prefetchers_find(const struct rootfs *root, uint64_t *mask, struct berth_error *err);

/* Reads the register of the CPU's core. 0, or -1 and err. */
int prefetchers_get(const struct rootfs *root, size_t cpu, uint64_t *value,
                    struct berth_error *err);

/* Writes it, and reads it back. 0, or -1 and err: it holds something else, or is not known. */
int prefetchers_put(const struct rootfs *root, size_t cpu, uint64_t value, struct berth_error *err);

#endif
