/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resctrl_caches - which NUMA node each monitored last-level cache is of.
 *
 * resctrl numbers its domains by the caches' ids (/sys/devices/system/cpu/cpuN/cache/indexI/id).
 * A cache whose CPUs are of several nodes (sub-NUMA clusters) is of none. */
#ifndef BERTH_COUNTERS_RESCTRL_CACHES_H
#define BERTH_COUNTERS_RESCTRL_CACHES_H

#include <stddef.h>

#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

struct resctrl_cache {
    unsigned id, node; /* node: os_index */
};

struct resctrl_caches {
    size_t nodes; /* more than the greatest os_index; 0: there is one node, or nothing is known */
    size_t n;
    struct resctrl_cache *cache; /* [n] */
};

/* Finds them; topo NULL: nothing is known. Free with resctrl_caches_free. */
void resctrl_caches_find(struct resctrl_caches *caches, const struct rootfs *root,
                         const struct topo *topo);
void resctrl_caches_free(struct resctrl_caches *caches);

/* Returns the id of an L3, by which resctrl calls its domain, or -1: it has none, or the cache is a
 * part of one. */
long resctrl_cache_id(const struct rootfs *root, const struct topo_llc *llc);

/* Returns the NUMA node (os_index) of a domain, "mon_L3_01", or -1: not known. */
long resctrl_caches_node(const struct resctrl_caches *caches, const char *domain);

#endif
