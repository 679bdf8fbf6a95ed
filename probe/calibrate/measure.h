/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure - measure this machine's memory, for a machine profile.
 *
 * For each NUMA node: what 1, 2, ... of its cores read from its memory, and STREAM's triad; what
 * the cores of one of its last-level caches read, where it has several; what the other nodes' cores
 * still get of it beside them, which gives alpha and beta (Wang 2015, Figure 5.4); the latency of a
 * load. For each pair: bandwidth one way and both ways, latency of a load and of a cache line
 * between cores. Before all that the clock of a package with one, half and all of its cores busy,
 * by the cycles that the kernel counts. A node's cores are taken from its last-level caches in
 * turn, one hardware thread each. */
#ifndef BERTH_PROBE_CALIBRATE_MEASURE_H
#define BERTH_PROBE_CALIBRATE_MEASURE_H

#include <stdbool.h>

#include "packer/base/error.h"
#include "packer/machine/profile.h"
#include "packer/machine/topo.h"

struct calibrate_wish {
    const struct topo *topo; /* of this machine */
    struct cpus cpus, mems;  /* the CPUs and the NUMA nodes that may be used */
    unsigned runs;           /* of each measurement, at least 1 */
    bool quick;              /* shorter ones, and not every core count */
    /* Before each measurement, with the seconds done, those in all, and what comes; true to end. */
    bool (*progress)(double done_s, double total_s, const char *what, void *arg);
    /* Something that whoever reads the profile should know: one line. */
    void (*note)(const char *line, void *arg);
    void *arg;
};

/* Returns a profile of the nodes that may be used. NULL and err; after progress said to end, err is
 * "interrupted". */
struct machine_profile *calibrate(const struct calibrate_wish *wish, struct berth_error *err);

#endif
