/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - the prefetchers of some cores are switched off for a while, and on again whatever
 * happens to berthctl: a process beside it, which no signal to its group reaches, waits for the end
 * of a pipe and then writes what the registers held (system/prefetchers.h). */
#ifndef BERTH_PROBE_STUDY_PREFETCH_H
#define BERTH_PROBE_STUDY_PREFETCH_H

#include <stdint.h>

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct study_prefetch {
    size_t n;
    struct {
        size_t cpu;
        uint64_t was, off;
    } core[CPUS_MAX]; /* [n] */
    int alive, done;  /* the pipe whose end it waits for, and the one that it ends; -1 */
};

/* Finds the registers of these CPUs' cores, and reads them. 0, or -1 and err: this machine's cannot
 * be switched. */
int study_prefetch_find(struct study_prefetch *prefetch, const struct rootfs *root,
                        const struct topo *topo, const struct cpus *cpus, struct berth_error *err);

/* Switches them off. To be called while the caller is no subreaper. 0, or -1 and err: they are as
 * they were. */
int study_prefetch_off(struct study_prefetch *prefetch, const struct rootfs *root,
                       struct berth_error *err);

/* Has them as they were before, and waits until they are. 0, or -1 and err: one is not. */
int study_prefetch_back(struct study_prefetch *prefetch, const struct rootfs *root,
                        struct berth_error *err);

#endif
