/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo - reads the node's shape as the models see it: packages, last-level caches, cores, CPUs,
 * NUMA nodes.
 *
 * Read once by hwloc: from this machine, an XML file or a synthetic string ("package:2 l3:2 core:4
 * pu:1"). */
#ifndef BERTH_MACHINE_TOPO_H
#define BERTH_MACHINE_TOPO_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placing/di.h"
#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct topo_core {
    size_t threads;      /* how many hardware threads */
    size_t package, llc; /* logical indices over the whole machine */
    size_t whole;        /* the core of the machine that it is, or is a thread of: they ascend */
    size_t kind;         /* cores of one change places: cpukind, isolated and threads are equal */
    int cpukind;         /* a number for hwloc's kind of core; -1: not known */
    bool isolated;       /* the kernel balances no load there (isolcpus) */
    struct cpus cpus;    /* its hardware threads, as the kernel numbers them */
};

/* Where Slurm lets jobs share cores, each hardware thread is a core of its own here (topo_split):
 * what the pool exchanges, and what a step has so many of. */

struct topo_llc {
    size_t package, node; /* node: index into topo->node */
    struct cpus cpus;
    bool cut;                  /* it is a part of the machine's cache: that of one memory node */
    size_t size_bytes;         /* 0: the machine names no cache (the package stands in for it);
                                  of a part its even share */
    unsigned ways, line_bytes; /* 0: unknown */
};

struct topo_node {
    unsigned os_index; /* NUMA node number as the kernel counts */
    struct cpus cpus;  /* each CPU is of one node; empty for a node of memory only */
};

struct topo {
    char name[128]; /* "this machine", the file's base name or the synthetic string */
    size_t packages, llcs, cores, nodes;
    size_t kinds;              /* of cores */
    bool split;                /* each core is a hardware thread */
    struct topo_llc *llc;      /* [llcs] depth first: each core's L3, else L2, else NUMA node,
                                  cut at borders of packages and memory nodes */
    struct topo_core *core;    /* [cores] depth first: package and llc ascend */
    struct topo_node *node;    /* [nodes] in hwloc's order */
    size_t l1_bytes, l2_bytes; /* of the first core; 0: unknown */
    unsigned l1_ways, l2_ways;
    struct cpus cpus;          /* all CPUs */
    int16_t core_of[CPUS_MAX]; /* for topo_core_of_cpu: core + 1; 0 no core */
    double *distance;          /* [nodes][nodes] for topo_distance; NULL: not read */
};

/* Reads a topology. spec: NULL or "" for this machine (with what is offline or disallowed left out
 * only as hwloc does with HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), else a path to an hwloc XML file
 * if one exists there, else a synthetic string. 0 and *out (free with topo_free), or -1 and err
 * naming spec and what would be right. */
int topo_read(struct topo **out, const char *spec, struct berth_error *err);
void topo_free(struct topo *topo);

/* Makes each hardware thread a core; `whole` tells which ones share one. 0, or -1 and err (no
 * memory), and nothing has changed. */
int topo_split(struct topo *topo, struct berth_error *err);

/* Returns how many cores the machine has, whatever is taken for one. */
size_t topo_wholes(const struct topo *topo);

/* Collects the CPUs of all that have that core's hardware core. */
void topo_whole(const struct topo *topo, size_t core, struct cpus *cpus);

/* Collects which of these CPUs are of a hardware core of which one of the others is a thread, too.
 * None where cores are whole. */
void topo_shared(const struct topo *topo, const struct cpus *cpus, const struct cpus *others,
                 struct cpus *shared);

/* Do the two share a hardware core? Not where they are the same one. */
bool topo_siblings(const struct topo *topo, size_t a, size_t b);

/* Fills each core's `threads`, `kind` and `core_of` from the cores' CPUs (topo_read has done it;
 * for who changes a topology). */
void topo_index(struct topo *topo);

/* Returns the largest cache, the first of equals: programs are studied on it. */
const struct topo_llc *topo_cache(const struct topo *topo);

/* Collects the CPUs of the cores of a kind. */
void topo_cpus_of_kind(const struct topo *topo, size_t kind, struct cpus *cpus);

/* Returns which part of the largest cache a cache has not; 0 where its size is not known. */
double topo_small(const struct topo *topo, size_t llc);

/* Returns how many last-level caches share a memory node, by the mean of those that have CPUs. */
size_t topo_sharing(const struct topo *topo);

/* Returns which core a CPU belongs to: index into topo->core, or -1. */
long topo_core_of_cpu(const struct topo *topo, size_t cpu);

/* Collects the cores, by their index in topo->core, of which some CPU is in the set. */
void topo_cores_of(const struct topo *topo, const struct cpus *cpus, struct cpus *cores);

/* Counts the cores that CPUs are of, and those on each last-level cache (on[topo->llcs]). */
size_t topo_cores_by_llc(const struct topo *topo, const struct cpus *cpus, size_t *on);

/* Finds the NUMA nodes (os_index) that hold any of the CPUs. */
void topo_nodes_of(const struct topo *topo, const struct cpus *cpus, struct cpus *nodes);

/* Reads which cores the kernel has isolated (isolcpus) from /sys below the root: they are of other
 * kinds than the rest. What it does not tell stays as it is. */
void topo_read_isolated(struct topo *topo, const struct rootfs *root);

/* Reads the kernel's distances between the NUMA nodes (ACPI SLIT) from /sys below the root. What
 * the kernel does not tell stays unknown. 0, or -1 and err (no memory). */
int topo_read_distances(struct topo *topo, const struct rootfs *root, struct berth_error *err);

/* Returns how many times as long node `to` takes to reach the memory of node `from` as a node takes
 * to reach its own, by the kernel's distances; NAN where they are not known. Both are os_index. */
double topo_distance(const struct topo *topo, size_t from, size_t to);

/* Makes the hierarchy that DI walks, restricted to the cores that have a CPU in `within`, and to
 * the caches, memory nodes and packages of these; a node over several packages is cut at their
 * borders. core_index[i] is the topo core of the machine's i-th core. 0, or -1 and err (no core is
 * within, no memory). Free with topo_tree_free. */
enum topo_level { TOPO_PACKAGE, TOPO_MEMORY, TOPO_CACHE, TOPO_CORE, TOPO_LEVELS };
struct topo_tree {
    struct di_machine machine; /* depth TOPO_LEVELS */
    struct di_level level[TOPO_LEVELS];
    size_t *parent[TOPO_LEVELS];
    size_t *core_index; /* [level[TOPO_CORE].count] */
};
int topo_tree_build(struct topo_tree *tree, const struct topo *topo, const struct cpus *within,
                    struct berth_error *err);
void topo_tree_free(struct topo_tree *tree);

/* Returns the tree's package of its i-th core. */
size_t topo_tree_package(const struct topo_tree *tree, size_t core);

#endif
