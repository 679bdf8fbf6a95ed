/* SPDX-License-Identifier: GPL-2.0-or-later */
/* address_source - finds the event of this processor that samples the addresses of accesses to the
 * last-level cache, and the one that counts them.
 *
 *   PEBS  (Intel, Haswell and later) loads that missed the second-level cache, sampled and counted
 *         by the same event
 *   IBS   (AMD, Zen) micro-operations, of which those are kept that the record says were served
 *         beyond the second-level cache; counted by that cache's misses */
#ifndef BERTH_REUSE_ADDRESS_SOURCE_H
#define BERTH_REUSE_ADDRESS_SOURCE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct address_source {
    const char *name;              /* "PEBS" */
    struct perf_event_attr sample; /* ready to be opened */
    struct perf_event_attr clock;  /* for watch_clock_open */
    bool filter;                   /* by where the record says that the data came from */
};

/* Finds what samples here. 0, or -1 and err: nothing, or the kernel does not let us. */
int address_source_find(struct address_source *source, const struct rootfs *root,
                        struct berth_error *err);

/* Makes the attributes that sample an event so that address_sample_read understands them. rate:
 * samples a second and CPU. */
void address_source_prepare(struct perf_event_attr *sample, uint64_t rate);

struct address_sample {
    pid_t tid;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t address; /* in user space */
};

/* Understands a record of `size` bytes. False: it is no sample, of no address in user space, or not
 * of an access to the last-level cache. */
bool address_sample_read(struct address_sample *sample, const struct address_source *source,
                         const void *record, size_t size);

#endif
