/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bandwidth - see bandwidth.h */
#include "packer/machine/bandwidth.h"

#include <math.h>
#include <stdio.h>

#include "enum_table.h"
#include "models/numa/roof.h"
#include "packer/machine/dram.h"
#include "packer/machine/processor.h"

/* GB/s for each core of a node, where nothing else is known: half of the machines that RRZE has
 * measured for kerncraft give more to all cores of a node (3.4 to 19, 16 of them), half less. */
#define CORE_GBPS 5.0

const char *const TABLE(bandwidth_source_name, BANDWIDTH_SOURCES) = {
    ROW(BANDWIDTH_CORES) = "cores",           ROW(BANDWIDTH_SEEN) = "seen",
    ROW(BANDWIDTH_PROCESSOR) = "processor",   ROW(BANDWIDTH_MODULES) = "modules",
    ROW(BANDWIDTH_CALIBRATED) = "calibrated",
};
TABLE_COMPLETE(bandwidth_source_name);

const char *const TABLE(bandwidth_source_text, BANDWIDTH_SOURCES) = {
    ROW(BANDWIDTH_CORES) = "by its number of cores",
    ROW(BANDWIDTH_SEEN) = "by the most that was seen drawn",
    ROW(BANDWIDTH_PROCESSOR) = "by the processor's kind",
    ROW(BANDWIDTH_MODULES) = "by its memory modules",
    ROW(BANDWIDTH_CALIBRATED) = "as measured",
};
TABLE_COMPLETE(bandwidth_source_text);

static size_t nodes_with_cpus(const struct topo *topo)
{
    size_t n = 0;

    for (size_t i = 0; i < topo->nodes; i++)
        n += !cpus_empty(&topo->node[i].cpus);
    return n ? n : 1;
}

/* ---- the sources, the best one last ---- */

static void by_cores(const struct topo *topo, struct bandwidth *bandwidth)
{
    double cores = (double)topo_wholes(topo) / (double)bandwidth->nodes;

    bandwidth->gbps = fmax(ROOF_CHANNEL_GBPS, CORE_GBPS * cores);
    bandwidth->source = BANDWIDTH_CORES;
}

static void by_processor(const struct topo *topo, const char *spec, const struct rootfs *root,
                         struct bandwidth *bandwidth)
{
    struct processor_memory memory;
    struct processor processor;

    processor_read(root, spec, &processor);
    if (!processor_memory(&processor, &memory))
        return;
    bandwidth->gbps = memory.package_gbps * (double)topo->packages / (double)bandwidth->nodes;
    bandwidth->port_gbps = memory.port_gbps;
    bandwidth->source = BANDWIDTH_PROCESSOR;
}

static void by_modules(const struct rootfs *root, struct bandwidth *bandwidth)
{
    double gbps = machine_dram_nominal(root, bandwidth->nodes);

    if (!(gbps > 0))
        return;
    bandwidth->gbps = gbps;
    bandwidth->source = BANDWIDTH_MODULES;
}

static void by_profile(const struct machine_profile *profile, struct bandwidth *bandwidth)
{
    double gbps = machine_profile_local(profile, 0, profile->node[0].cores);

    bandwidth->core_gbps = profile->node[0].local[1].value;
    if (profile->node[0].cache.value > 0)
        bandwidth->port_gbps = profile->node[0].cache.value;
    if (!(gbps > 0))
        return;
    bandwidth->gbps = gbps;
    bandwidth->source = BANDWIDTH_CALIBRATED;
}

void bandwidth_find(const struct topo *topo, const char *spec,
                    const struct machine_profile *profile, const struct rootfs *root,
                    struct bandwidth *bandwidth)
{
    *bandwidth =
        (struct bandwidth){.port_gbps = NAN, .core_gbps = NAN, .nodes = nodes_with_cpus(topo)};
    by_cores(topo, bandwidth);
    by_processor(topo, spec, root, bandwidth);
    if (!spec || !spec[0])
        by_modules(root, bandwidth);
    if (profile)
        by_profile(profile, bandwidth);
}

void bandwidth_seen(struct bandwidth *bandwidth, double gbps)
{
    if (!bandwidth_assumed(bandwidth) || !(gbps > bandwidth->gbps))
        return;
    bandwidth->gbps = gbps;
    bandwidth->source = BANDWIDTH_SEEN;
}

const char *bandwidth_text(const struct bandwidth *bandwidth, char text[BANDWIDTH_TEXT])
{
    if (bandwidth_assumed(bandwidth))
        snprintf(text, BANDWIDTH_TEXT,
                 "not calibrated: assumed %zu x %.0f GB/s %s; `berthctl calibrate` takes a minute",
                 bandwidth->nodes, bandwidth->gbps, bandwidth_source_text[bandwidth->source]);
    else
        snprintf(text, BANDWIDTH_TEXT, "calibrated: %zu x %.0f GB/s", bandwidth->nodes,
                 bandwidth->gbps);
    return text;
}
