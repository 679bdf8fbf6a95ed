/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile - holds what a machine's memory can do: bandwidth and latency of each NUMA node,
 * and between the nodes.
 *
 * `berthctl calibrate` measures and writes one, berthd reads it (machine_profile of berth.conf),
 * and etc/machines has those of published machines. The file is JSON, with the unit in each field's
 * name; berthctl(1) describes it. What was not measured is null there and NAN here, never 0.
 * Bandwidths are in GB/s, 1e9 bytes per second. */
#ifndef BERTH_MACHINE_PROFILE_H
#define BERTH_MACHINE_PROFILE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/numa/numem.h"
#include "models/slowdown/clock.h"
#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/machine/adapt.h"
#include "packer/machine/dram.h"

#define MACHINE_NODES_MAX NUMEM_NODES_MAX
#define MACHINE_CORES_MAX NUMEM_CORES_MAX /* of a node */

/* A measured quantity: the median of the runs, and how far they were apart: (greatest - least) /
 * median. NAN: not known. */
struct machine_figure {
    double value, spread;
};

struct machine_node {
    unsigned os_index;            /* NUMA node, as the kernel numbers it */
    struct cpus cpus;             /* empty: not known */
    size_t cores;                 /* at least 1 */
    struct machine_figure *local; /* [cores + 1] GB/s that so many of its cores read from its
                                     own memory; [0] is 0 */
    struct machine_figure cache;  /* GB/s that the cores of one last-level cache read together from
                                     it; NAN too where the node has one cache */
    struct machine_figure *triad; /* [cores + 1] GB/s of STREAM's triad, as STREAM counts */
    struct machine_figure alpha;  /* GB/s: the memory's most (Wang 2015, eq. 5.7) */
    struct machine_figure beta;   /* the share of local demand that is kept from the others */
    double correlation;           /* of the regression that gave alpha and beta */
};

/* The way of data: node[0] is where the memory is, node[hops] who reads it. */
struct machine_route {
    size_t hops;  /* 0: not known, or from a node to itself */
    size_t *node; /* [hops + 1], indices into machine_profile.node */
};

struct machine_profile {
    char host[256], cpu[256]; /* "" not known */
    char date[32];            /* when it was measured, "2026-11-21T14:26:09Z" */
    char source[256];         /* "measured", or the document that has the figures */
    unsigned runs;            /* of which the figures are medians; 0 not known */
    size_t nodes;
    struct machine_node *node; /* [nodes] */
    /* [from * nodes + to]: from the memory of one node to the cores of another. */
    struct machine_figure *uni;          /* GB/s in this direction; NAN on the diagonal */
    struct machine_figure *bi;           /* GB/s in both directions together; symmetric */
    struct machine_figure *latency_ns;   /* a load from that memory, nothing else running */
    struct machine_figure *core_latency; /* ns for a cache line from a core of the one node to a
                                            core of the other; on the diagonal within the node */
    struct machine_figure suspend_ns;    /* a system call that suspends its thread: another of the
                                            same CPU is woken and goes on (T_syscall) */
    struct machine_route *route;         /* [nodes * nodes] */
    struct machine_dram dram;            /* of each node */
    struct machine_adapt adapt;          /* what programs that share cores gain and lose */
    struct clock_curve clock;            /* of a package, by its busy cores */
};

/* Makes a profile of that many nodes (at most MACHINE_NODES_MAX) with cores[i] cores (at most
 * MACHINE_CORES_MAX) on node i, its figures all NAN but local[0], and no routes. Free with
 * machine_profile_free (NULL is fine). NULL: errno EINVAL or ENOMEM. */
struct machine_profile *machine_profile_new(size_t nodes, const size_t *cores);
void machine_profile_free(struct machine_profile *profile);

/* Gives data from one node's memory to another node the way node[0] = from .. node[hops] = to.
 * 0, or -1 with ENOMEM. */
int machine_profile_set_route(struct machine_profile *profile, const size_t *node, size_t hops);

/* Returns the index of the node that the system calls so; -1: it is not there, or profile is NULL.
 */
long machine_profile_node(const struct machine_profile *profile, size_t os_index);

/* Returns the way from one node's memory to another node. */
const struct machine_route *machine_profile_route(const struct machine_profile *profile,
                                                  size_t from, size_t to);

/* Reads a profile: from a file (NULL and err "FILE: field: what is wrong"), or from its JSON object
 * (NULL and err that begins with the field). */
struct machine_profile *machine_profile_read(const char *path, struct berth_error *err);
struct machine_profile *machine_profile_parse(struct json_object *object, struct berth_error *err);

/* Returns the same as JSON, which the caller releases. */
struct json_object *machine_profile_json(const struct machine_profile *profile);

/* Writes it to a file, all of it or nothing: a temporary file beside it is renamed. An existing
 * file is refused unless `force`. 0, or -1 and err "FILE: why". */
int machine_profile_write(const struct machine_profile *profile, const char *path, bool force,
                          struct berth_error *err);

/* Returns how many GB/s `cores` cores of a node read from its own memory (of all cores, where it
 * has not so many). Between core counts that were measured, a straight line; NAN where nothing is
 * known. */
double machine_profile_local(const struct machine_profile *profile, size_t node, size_t cores);

/* Makes of it the machine as NuMem and NuCore take it, of all its nodes and cores. The only node of
 * a machine has none to share its memory with: its alpha is then the best local bandwidth, its beta
 * 0. Free with machine_profile_numem_free (NULL is fine). NULL and err, which names the figure that
 * is not known. */
struct numem_machine *machine_profile_numem(const struct machine_profile *profile,
                                            struct berth_error *err);
void machine_profile_numem_free(struct numem_machine *machine);

#endif
