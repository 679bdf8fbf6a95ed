/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bandwidth - what a memory node can give, and a last-level cache can draw, by the best that is
 * known of it: measured, else by the memory's modules, else by the processor's kind, else by the
 * number of cores. What is not measured is assumed, and who goes by it says so. */
#ifndef BERTH_MACHINE_BANDWIDTH_H
#define BERTH_MACHINE_BANDWIDTH_H

#include "packer/machine/profile.h"
#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

enum bandwidth_source {
    BANDWIDTH_CORES,      /* nothing says it: what nodes of as many cores give */
    BANDWIDTH_SEEN,       /* more was drawn than anything else says */
    BANDWIDTH_PROCESSOR,  /* nominal: the processor's kind (processor.h) */
    BANDWIDTH_MODULES,    /* nominal: channels and speed of the modules (dram.h) */
    BANDWIDTH_CALIBRATED, /* what all cores of a node were measured to read */
    BANDWIDTH_SOURCES
};
extern const char *const bandwidth_source_name[BANDWIDTH_SOURCES]; /* "cores", "seen", ... */
extern const char *const bandwidth_source_text[BANDWIDTH_SOURCES]; /* "by its number of cores" */

struct bandwidth {
    enum bandwidth_source source;
    double gbps; /* of one memory node, 1e9 bytes/s; as its data sheet says unless calibrated */
    double port_gbps; /* that one last-level cache can draw; NAN not known */
    double core_gbps; /* that one core can read; NAN not known */
    size_t nodes;     /* memory nodes with CPUs, at least 1 */
};

/* Finds it. profile: of this machine, NULL where there is none. The topology that was read as
 * `spec` ("" or NULL: this machine, whose root is asked); root may be NULL where spec names another
 * one. */
void bandwidth_find(const struct topo *topo, const char *spec,
                    const struct machine_profile *profile, const struct rootfs *root,
                    struct bandwidth *bandwidth);

/* Takes in that so much was drawn from one memory node, 1e9 bytes/s. */
void bandwidth_seen(struct bandwidth *bandwidth, double gbps);

static inline bool bandwidth_assumed(const struct bandwidth *bandwidth)
{
    return bandwidth->source != BANDWIDTH_CALIBRATED;
}

/* Writes "2 x 66 GB/s, calibrated", or "not calibrated: assumed 2 x 100 GB/s by the processor's
 * kind; `berthctl calibrate` takes a minute". Returns text. */
#define BANDWIDTH_TEXT 160
const char *bandwidth_text(const struct bandwidth *bandwidth, char text[BANDWIDTH_TEXT]);

#endif
