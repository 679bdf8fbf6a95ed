/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/resctrl_caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/counters/by_node.h"

#define CACHE "/sys/devices/system/cpu/cpu%zu/cache/index%d/%s"
#define INDICES 8 /* more than a CPU has caches */

/* The number in a file of a CPU's cache, or -1. */
static long read_number(const struct rootfs *root, size_t cpu, int index, const char *file)
{
    char path[sizeof(CACHE) + 64], *text, *end;
    long number = -1;

    snprintf(path, sizeof(path), CACHE, cpu, index, file);
    text = rootfs_read(root, path);
    if (text) {
        number = strtol(text, &end, 10);
        number = end == text || number > INT32_MAX ? -1 : number;
    }
    free(text);
    return number;
}

long resctrl_cache_id(const struct rootfs *root, const struct topo_llc *llc)
{
    size_t cpu = cpus_next(&llc->cpus, 0);

    for (int index = 0; !llc->cut && index < INDICES; index++)
        if (read_number(root, cpu, index, "level") == 3)
            return read_number(root, cpu, index, "id");
    return -1;
}

/* The node that has all of these CPUs; NULL: none has. */
static const struct topo_node *node_of(const struct topo *topo, const struct cpus *cpus)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_subset(cpus, &topo->node[i].cpus))
            return &topo->node[i];
    return NULL;
}

void resctrl_caches_find(struct resctrl_caches *caches, const struct rootfs *root,
                         const struct topo *topo)
{
    *caches = (struct resctrl_caches){.nodes = 0};
    if (!topo || topo->nodes < 2)
        return;
    caches->cache = calloc(topo->llcs, sizeof(*caches->cache));
    for (size_t i = 0; caches->cache && i < topo->llcs; i++) {
        const struct topo_node *node = node_of(topo, &topo->llc[i].cpus);
        long id = resctrl_cache_id(root, &topo->llc[i]);

        if (id >= 0 && node && node->os_index < BY_NODE_MAX)
            caches->cache[caches->n++] = (struct resctrl_cache){(unsigned)id, node->os_index};
    }
    for (size_t i = 0; i < topo->nodes && caches->n > 0; i++)
        if (topo->node[i].os_index < BY_NODE_MAX && topo->node[i].os_index >= caches->nodes)
            caches->nodes = topo->node[i].os_index + 1;
}

void resctrl_caches_free(struct resctrl_caches *caches)
{
    free(caches->cache);
    *caches = (struct resctrl_caches){.nodes = 0};
}

long resctrl_caches_node(const struct resctrl_caches *caches, const char *domain)
{
    unsigned id;

    if (sscanf(domain, "mon_L3_%u", &id) != 1)
        return -1;
    for (size_t i = 0; i < caches->n; i++)
        if (caches->cache[i].id == id)
            return caches->cache[i].node;
    return -1;
}
