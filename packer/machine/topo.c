/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo - see topo.h
 *
 * hwloc's tree is walked from the hardware threads up, not by levels: real machines (and their
 * recordings) have packages, caches or cores that hwloc was not told of, caches on some cores only,
 * and NUMA nodes above or below packages. A package, cache or core begins where a thread has
 * another one above it than the thread before, which makes all indices ascend depth first. A cache
 * is cut where another memory node begins below it (sub-NUMA clusters, cluster-on-die): each
 * cluster keeps the lines of its own memory in its own part of the cache. */
#include "packer/machine/topo.h"

#include <hwloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/machine/topo_kinds.h"
#include "packer/machine/topo_load.h"

/* What the last hardware thread had above it. */
struct above {
    hwloc_obj_t package, domain, node, core; /* NULL: hwloc knows none */
    int core_kind;
};

/* The NUMA node that a hardware thread is of: the narrowest around it, of equals the first as the
 * kernel counts. A node of memory only (high-bandwidth or expansion memory) stands beside or above
 * one with CPUs and has a greater number. */
static hwloc_obj_t home_node(hwloc_topology_t hwloc, hwloc_obj_t pu)
{
    hwloc_obj_t node = NULL, best = NULL;
    int best_weight = 0;

    while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node))) {
        int weight = hwloc_bitmap_weight(node->cpuset);

        if (!hwloc_bitmap_isset(node->cpuset, pu->os_index))
            continue;
        if (!best || weight < best_weight ||
            (weight == best_weight && node->os_index < best->os_index)) {
            best = node;
            best_weight = weight;
        }
    }
    return best;
}

/* What stands for the last-level cache of a hardware thread: its L3, else its L2, else its NUMA
 * node. Where others have an L3, a core that has nothing but an L2 of its own shares something that
 * hwloc does not see, or the memory. */
static hwloc_obj_t domain_of(hwloc_topology_t hwloc, hwloc_obj_t pu, hwloc_obj_t node)
{
    hwloc_obj_t l3 = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_L3CACHE, pu);
    hwloc_obj_t l2 = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_L2CACHE, pu);
    bool others_have_l3 = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_L3CACHE) > 0;

    if (l3)
        return l3;
    if (l2 && (!others_have_l3 ||
               hwloc_get_nbobjs_inside_cpuset_by_type(hwloc, l2->cpuset, HWLOC_OBJ_CORE) > 1))
        return l2;
    return node;
}

static void read_cache(hwloc_obj_t cache, size_t *size_bytes, unsigned *ways, unsigned *line_bytes)
{
    if (!cache || !hwloc_obj_type_is_cache(cache->type))
        return;
    *size_bytes = cache->attr->cache.size;
    if (cache->attr->cache.associativity > 0)
        *ways = (unsigned)cache->attr->cache.associativity;
    if (line_bytes)
        *line_bytes = cache->attr->cache.linesize;
}

/* The part of the cache that so many of its hardware threads have, where it is cut. */
static void cut_cache(struct topo_llc *llc, hwloc_obj_t cache)
{
    size_t all = (size_t)hwloc_bitmap_weight(cache->cpuset), own = cpus_count(&llc->cpus);

    llc->cut = own < all;
    if (llc->cut && hwloc_obj_type_is_cache(cache->type))
        llc->size_bytes = llc->size_bytes * own / all;
}

/* Add the hardware thread to the last package, cache and core, after beginning those that are new.
 */
static void add_thread(struct topo *topo, struct above *last, const struct above *now, size_t cpu)
{
    bool first = topo->cores == 0;
    bool new_package = first || now->package != last->package;
    bool new_llc = new_package || now->domain != last->domain || now->node != last->node;
    bool new_core = new_llc || now->core != last->core;

    if (new_package)
        topo->packages++;
    if (new_llc) {
        struct topo_llc *llc = &topo->llc[topo->llcs++];

        if (!first && last->domain)
            cut_cache(llc - 1, last->domain);
        llc->package = topo->packages - 1;
        llc->node = now->node ? now->node->logical_index : 0;
        read_cache(now->domain, &llc->size_bytes, &llc->ways, &llc->line_bytes);
    }
    if (new_core) {
        struct topo_core *core = &topo->core[topo->cores++];

        core->package = topo->packages - 1;
        core->llc = topo->llcs - 1;
        core->whole = topo->cores - 1;
        core->cpukind = now->core_kind;
    }
    cpus_add(&topo->llc[topo->llcs - 1].cpus, cpu);
    cpus_add(&topo->core[topo->cores - 1].cpus, cpu);
    cpus_add(&topo->cpus, cpu);
    *last = *now;
}

static void read_threads(struct topo *topo, hwloc_topology_t hwloc)
{
    hwloc_obj_t pu = NULL;
    struct above last = {0};

    while ((pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu))) {
        hwloc_obj_t node = home_node(hwloc, pu);
        struct above now = {
            .package = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, pu),
            .domain = domain_of(hwloc, pu, node),
            .node = node,
            .core = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_CORE, pu),
        };

        if (!now.core)
            now.core = pu;
        now.core_kind = topo_kind_of(hwloc, now.core->cpuset);
        add_thread(topo, &last, &now, pu->os_index);
        if (node)
            cpus_add(&topo->node[node->logical_index].cpus, pu->os_index);
    }
    if (last.domain)
        cut_cache(&topo->llc[topo->llcs - 1], last.domain);
}

/* Returns the kind of a core: that of the first one like it. Of those before it `kind` is known. */
static size_t kind_of(const struct topo *topo, size_t core)
{
    for (size_t i = 0; i < core; i++)
        if (topo->core[i].cpukind == topo->core[core].cpukind &&
            topo->core[i].threads == topo->core[core].threads &&
            topo->core[i].isolated == topo->core[core].isolated)
            return topo->core[i].kind;
    return topo->kinds;
}

void topo_index(struct topo *topo)
{
    memset(topo->core_of, 0, sizeof(topo->core_of));
    topo->kinds = 0;
    for (size_t i = 0; i < topo->cores; i++) {
        struct topo_core *core = &topo->core[i];

        core->threads = cpus_count(&core->cpus);
        core->kind = kind_of(topo, i);
        if (core->kind == topo->kinds)
            topo->kinds++;
        cpus_foreach(cpu, &core->cpus) topo->core_of[cpu] = (int16_t)(i + 1);
    }
}

int topo_split(struct topo *topo, struct berth_error *err)
{
    struct topo_core *thread = calloc(cpus_count(&topo->cpus) + 1, sizeof(*thread));
    size_t n = 0;

    if (!thread)
        return berth_no_memory(err);
    for (size_t i = 0; i < topo->cores; i++)
        cpus_foreach(cpu, &topo->core[i].cpus)
        {
            thread[n] = topo->core[i];
            cpus_zero(&thread[n].cpus);
            cpus_add(&thread[n++].cpus, cpu);
        }
    free(topo->core);
    topo->core = thread;
    topo->cores = n;
    topo->split = true;
    topo_index(topo);
    return 0;
}

size_t topo_wholes(const struct topo *topo)
{
    return topo->split ? topo->core[topo->cores - 1].whole + 1 : topo->cores;
}

bool topo_siblings(const struct topo *topo, size_t a, size_t b)
{
    return a != b && topo->split && topo->core[a].whole == topo->core[b].whole;
}

void topo_whole(const struct topo *topo, size_t core, struct cpus *cpus)
{
    *cpus = topo->core[core].cpus;
    for (size_t i = core; i-- > 0 && topo_siblings(topo, i, core);)
        cpus_or(cpus, &topo->core[i].cpus);
    for (size_t i = core + 1; i < topo->cores && topo_siblings(topo, i, core); i++)
        cpus_or(cpus, &topo->core[i].cpus);
}

void topo_shared(const struct topo *topo, const struct cpus *cpus, const struct cpus *others,
                 struct cpus *shared)
{
    struct cpus core;

    cpus_zero(shared);
    for (size_t i = 0; topo->split && i < topo->cores; i++) {
        if (!cpus_intersect(&topo->core[i].cpus, cpus))
            continue;
        topo_whole(topo, i, &core);
        cpus_andnot(&core, &topo->core[i].cpus);
        if (cpus_intersect(&core, others))
            cpus_or(shared, &topo->core[i].cpus);
    }
}

/* The inner caches of the first core. */
static void read_inner_caches(struct topo *topo, hwloc_topology_t hwloc)
{
    hwloc_obj_t pu = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PU, 0);

    read_cache(hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_L1CACHE, pu), &topo->l1_bytes,
               &topo->l1_ways, NULL);
    read_cache(hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_L2CACHE, pu), &topo->l2_bytes,
               &topo->l2_ways, NULL);
}

/* Are all numbers small enough for struct cpus? */
static int check_numbers(hwloc_topology_t hwloc, const char *spec, struct berth_error *err)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *name;
    } numbered[] = {{HWLOC_OBJ_PU, "CPU"}, {HWLOC_OBJ_NUMANODE, "NUMA node"}};

    for (size_t i = 0; i < 2; i++) {
        hwloc_obj_t obj = NULL;

        while ((obj = hwloc_get_next_obj_by_type(hwloc, numbered[i].type, obj)))
            if (obj->os_index >= CPUS_MAX)
                return berth_error_set(err, "%s: %s number %u is beyond what berth can hold (%d)",
                                       spec[0] ? spec : "this machine", numbered[i].name,
                                       obj->os_index, CPUS_MAX - 1);
    }
    return 0;
}

static struct topo *topo_alloc(hwloc_topology_t hwloc)
{
    /* hwloc has both in one level, always; there are no more cores or caches than threads */
    size_t threads = (size_t)hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PU);
    struct topo *topo = calloc(1, sizeof(*topo));

    if (!topo)
        return NULL;
    topo->nodes = (size_t)hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_NUMANODE);
    topo->llc = calloc(threads, sizeof(*topo->llc));
    topo->core = calloc(threads, sizeof(*topo->core));
    topo->node = calloc(topo->nodes + 1, sizeof(*topo->node));
    if (!topo->llc || !topo->core || !topo->node) {
        topo_free(topo);
        return NULL;
    }
    return topo;
}

static void name_topo(struct topo *topo, const char *spec)
{
    const char *slash = access(spec, F_OK) == 0 ? strrchr(spec, '/') : NULL;
    const char *name = !spec[0] ? "this machine" : slash ? slash + 1 : spec;

    snprintf(topo->name, sizeof(topo->name), "%s", name);
}

int topo_read(struct topo **out, const char *spec, struct berth_error *err)
{
    hwloc_topology_t hwloc = NULL;
    hwloc_obj_t node = NULL;
    struct topo *topo = NULL;

    if (!spec)
        spec = "";
    if (topo_load(&hwloc, spec, err) < 0)
        return -1;
    if (check_numbers(hwloc, spec, err) < 0)
        goto out;
    topo = topo_alloc(hwloc);
    if (!topo) {
        berth_error_set(err, "topology: out of memory");
        goto out;
    }
    while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)))
        topo->node[node->logical_index].os_index = node->os_index;
    read_threads(topo, hwloc);
    topo_index(topo);
    read_inner_caches(topo, hwloc);
    name_topo(topo, spec);
    *out = topo;
out:
    hwloc_topology_destroy(hwloc);
    return topo ? 0 : -1;
}

void topo_free(struct topo *topo)
{
    if (!topo)
        return;
    free(topo->llc);
    free(topo->core);
    free(topo->node);
    free(topo->distance);
    free(topo);
}

const struct topo_llc *topo_cache(const struct topo *topo)
{
    const struct topo_llc *largest = &topo->llc[0];

    for (size_t i = 1; i < topo->llcs; i++)
        if (topo->llc[i].size_bytes > largest->size_bytes)
            largest = &topo->llc[i];
    return largest;
}

double topo_small(const struct topo *topo, size_t llc)
{
    size_t own = topo->llc[llc].size_bytes;

    return own ? 1 - (double)own / (double)topo_cache(topo)->size_bytes : 0;
}

void topo_cpus_of_kind(const struct topo *topo, size_t kind, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < topo->cores; i++)
        if (topo->core[i].kind == kind)
            cpus_or(cpus, &topo->core[i].cpus);
}

size_t topo_sharing(const struct topo *topo)
{
    size_t n = 0;

    for (size_t i = 0; i < topo->nodes; i++)
        n += !cpus_empty(&topo->node[i].cpus);
    return topo->llcs / (n ? n : 1);
}

long topo_core_of_cpu(const struct topo *topo, size_t cpu)
{
    return cpu < CPUS_MAX ? (long)topo->core_of[cpu] - 1 : -1;
}

/* ---- what only the kernel tells ---- */

void topo_read_isolated(struct topo *topo, const struct rootfs *root)
{
    char *text = rootfs_read(root, "/sys/devices/system/cpu/isolated");
    struct cpus isolated;

    if (text && cpus_parse(&isolated, text) == 0) {
        for (size_t i = 0; i < topo->cores; i++)
            topo->core[i].isolated = cpus_intersect(&topo->core[i].cpus, &isolated);
        topo_index(topo);
    }
    free(text);
}

/* The kernel lists nodes by their numbers. */
static size_t rank_of(const struct topo *topo, size_t os_index)
{
    size_t rank = 0;

    for (size_t i = 0; i < topo->nodes; i++)
        rank += topo->node[i].os_index < os_index;
    return rank;
}

/* Takes one node's line: "10 21", where 10 is a node's own memory. */
static void take_distances(const char *text, double *distance, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++) {
        char *end = NULL;
        double value = text ? strtod(text, &end) : 0;

        distance[i] = value > 0 ? value / 10 : NAN;
        text = end != text ? end : NULL;
    }
}

int topo_read_distances(struct topo *topo, const struct rootfs *root, struct berth_error *err)
{
    double *distance = calloc(topo->nodes * topo->nodes + 1, sizeof(*distance));

    if (!distance)
        return berth_no_memory(err);
    for (size_t i = 0; i < topo->nodes; i++) {
        unsigned node = topo->node[i].os_index;
        char path[96], *text;

        snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/distance", node);
        text = rootfs_read(root, path);
        take_distances(text, distance + rank_of(topo, node) * topo->nodes, topo->nodes);
        free(text);
    }
    free(topo->distance);
    topo->distance = distance;
    return 0;
}

double topo_distance(const struct topo *topo, size_t from, size_t to)
{
    size_t row = rank_of(topo, to), column = rank_of(topo, from);

    if (!topo->distance || row >= topo->nodes || column >= topo->nodes)
        return NAN;
    return topo->distance[row * topo->nodes + column];
}

void topo_cores_of(const struct topo *topo, const struct cpus *cpus, struct cpus *cores)
{
    cpus_zero(cores);
    cpus_foreach(cpu, cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0)
            cpus_add(cores, (size_t)core);
    }
}

size_t topo_cores_by_llc(const struct topo *topo, const struct cpus *cpus, size_t *on)
{
    struct cpus cores;

    memset(on, 0, topo->llcs * sizeof(*on));
    topo_cores_of(topo, cpus, &cores);
    cpus_foreach(core, &cores) on[topo->core[core].llc]++;
    return cpus_count(&cores);
}

void topo_nodes_of(const struct topo *topo, const struct cpus *cpus, struct cpus *nodes)
{
    cpus_zero(nodes);
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_intersect(&topo->node[i].cpus, cpus))
            cpus_add(nodes, topo->node[i].os_index);
}

/* ---- the tree for DI ---- */

static int tree_alloc(struct topo_tree *tree, const struct topo *topo)
{
    bool whole = true;

    *tree = (struct topo_tree){.machine = {.depth = TOPO_LEVELS}};
    tree->core_index = calloc(topo->cores, sizeof(*tree->core_index));
    for (size_t i = 0; i < TOPO_LEVELS; i++) {
        tree->parent[i] = calloc(topo->cores, sizeof(*tree->parent[i]));
        whole = whole && tree->parent[i];
    }
    if (!whole || !tree->core_index) {
        topo_tree_free(tree);
        return -1;
    }
    return 0;
}

/* Adds an entity below the last one of the level above. */
static void level_add(struct topo_tree *tree, enum topo_level level)
{
    size_t above = level == TOPO_PACKAGE ? 0 : tree->level[level - 1].count - 1;

    tree->parent[level][tree->level[level].count++] = above;
}

/* Adds a core, after its package, memory node and cache where it is their first. */
static void tree_add(struct topo_tree *tree, const struct topo *topo, size_t index)
{
    const struct topo_core *core = &topo->core[index], *last = NULL;
    size_t n = tree->level[TOPO_CORE].count;
    bool package, node;

    if (n > 0)
        last = &topo->core[tree->core_index[n - 1]];
    package = !last || last->package != core->package;
    node = package || topo->llc[last->llc].node != topo->llc[core->llc].node;
    if (package)
        level_add(tree, TOPO_PACKAGE);
    if (node)
        level_add(tree, TOPO_MEMORY);
    if (node || last->llc != core->llc)
        level_add(tree, TOPO_CACHE);
    tree->core_index[n] = index;
    level_add(tree, TOPO_CORE);
}

int topo_tree_build(struct topo_tree *tree, const struct topo *topo, const struct cpus *within,
                    struct berth_error *err)
{
    if (tree_alloc(tree, topo) < 0)
        return berth_error_set(err, "topology: out of memory");
    for (size_t i = 0; i < topo->cores; i++)
        if (cpus_intersect(&topo->core[i].cpus, within))
            tree_add(tree, topo, i);
    if (tree->level[TOPO_CORE].count == 0) {
        topo_tree_free(tree);
        return berth_error_set(err, "%s: none of its cores is among those asked for", topo->name);
    }
    for (size_t i = 0; i < TOPO_LEVELS; i++)
        tree->level[i].parent = tree->parent[i];
    tree->machine.level = tree->level;
    return 0;
}

size_t topo_tree_package(const struct topo_tree *tree, size_t core)
{
    for (size_t level = TOPO_CORE; level > TOPO_PACKAGE; level--)
        core = tree->parent[level][core];
    return core;
}

void topo_tree_free(struct topo_tree *tree)
{
    for (size_t i = 0; i < TOPO_LEVELS; i++)
        free(tree->parent[i]);
    free(tree->core_index);
    *tree = (struct topo_tree){0};
}
