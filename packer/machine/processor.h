/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processor - which processor a machine has, and what the memory of that kind gives by its data
 * sheet. */
#ifndef BERTH_MACHINE_PROCESSOR_H
#define BERTH_MACHINE_PROCESSOR_H

#include <stdbool.h>

#include "packer/system/rootfs.h"

struct processor {
    char vendor[32]; /* "GenuineIntel"; Arm: its implementer, "0x41"; "" not known */
    char name[96];   /* "" not known */
    long family;     /* -1 not known, and on Arm */
    long model;      /* Arm: the part; -1 not known */
};

/* What the sockets of a kind of processors have. */
struct processor_memory {
    double package_gbps; /* nominal, 1e9 bytes/s: channels x transfers per second x 8 bytes */
    double port_gbps;    /* that one last-level cache can draw; NAN: not known */
};

/* Fills in the processor: of the machine below the root where topology is NULL or "", else of an
 * hwloc XML file, as far as that says it; a synthetic topology has none. */
void processor_read(const struct rootfs *root, const char *topology, struct processor *processor);

/* Says what is known of its kind. Returns false where the table has no row for it. */
bool processor_memory(const struct processor *processor, struct processor_memory *memory);

#endif
