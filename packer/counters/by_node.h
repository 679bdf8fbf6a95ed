/* SPDX-License-Identifier: GPL-2.0-or-later */
/* by_node - what a step asks of the memories, apart for each NUMA node whose cores asked, and what
 * these count of all who run: counts since it was attached, which never fall.
 *
 * Nodes are numbered as the kernel numbers them (os_index). Reads and writes are cache lines.
 * What is not known is absent: one node's figure is known when all of its kind are. */
#ifndef BERTH_COUNTERS_BY_NODE_H
#define BERTH_COUNTERS_BY_NODE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

#define BY_NODE_MAX 64   /* NUMA nodes */
#define BY_NODE_PAIRS 16 /* NUMA nodes, of what is counted apart for each memory as well */

enum by_node_kind {
    BY_NODE_CPU_NS,        /* time on the node's CPUs */
    BY_NODE_READS_LOCAL,   /* lines that its cores read from its own memory */
    BY_NODE_READS_REMOTE,  /* and from all others together */
    BY_NODE_WRITES_LOCAL,  /* lines that its cores write to its own memory */
    BY_NODE_WRITES_REMOTE, /* and to all others */
    BY_NODE_BYTES_LOCAL,   /* traffic of its caches with its own package's memory, bytes */
    BY_NODE_BYTES,         /* and with all memory */
    /* Of all who run, not of the step: what the memories and their controllers count. */
    BY_NODE_MEMORY_READS,         /* lines read from the node's memory */
    BY_NODE_MEMORY_READS_REMOTE,  /* those of them that cores of other nodes read */
    BY_NODE_MEMORY_WRITES,        /* lines written to it */
    BY_NODE_MEMORY_WRITES_REMOTE, /* those that cores of other nodes wrote */
    BY_NODE_DRAM_REQUESTS,        /* reads and writes of its DRAM */
    BY_NODE_DRAM_OPENINGS,        /* those that found their row closed, whatever was open */
    BY_NODE_DRAM_CONFLICTS,       /* those that found another row open */
    BY_NODE_DRAM_WRITE_TO_READ,   /* reads that came after a write */
    BY_NODE_DRAM_RANK_TURNS,      /* requests that went to another rank than the one before */
    BY_NODE_READS_FROM,    /* a matrix: row: whose cores read; column: from which memory */
    BY_NODE_WRITES_TO,     /* a matrix: row: whose cores write; column: to which memory */
    BY_NODE_ALL_READS_FROM, /* as the two before, of all who run */
    BY_NODE_ALL_WRITES_TO,
    BY_NODE_KINDS
};

/* "cpu_ns", "reads_local", .. "all_writes_to" */
extern const char *const by_node_name[BY_NODE_KINDS];

struct by_node {
    size_t nodes;                /* 0: nothing is known */
    uint32_t known;              /* bit i: of kind i */
    double error[BY_NODE_KINDS]; /* relative standard error of the least certain node, where events
                                    were multiplexed; 0 exact */
    double each[BY_NODE_READS_FROM][BY_NODE_MAX];
    double pair[BY_NODE_KINDS - BY_NODE_READS_FROM][BY_NODE_PAIRS * BY_NODE_PAIRS];
};

static inline bool by_node_knows(const struct by_node *by, enum by_node_kind kind)
{
    return by->known & 1u << kind;
}

/* Returns how many numbers a kind has on so many nodes: one for each, or a matrix; 0: there is no
 * room for them. */
size_t by_node_count(size_t nodes, enum by_node_kind kind);

/* Returns the numbers of a kind: of each node, or [row * nodes + column]; to read, and to write. */
const double *by_node_values(const struct by_node *by, enum by_node_kind kind);
double *by_node_room(struct by_node *by, enum by_node_kind kind);

/* Enters the numbers of a kind with their error, unless somebody before has entered some, or
 * something of another number of nodes. Without effect where there are more nodes than fit. */
void by_node_set(struct by_node *by, enum by_node_kind kind, size_t nodes, const double *values,
                 double error);

/* Enters each kind that `from` knows, as by_node_set does. */
void by_node_add(struct by_node *by, const struct by_node *from);

/* Takes over what another one knows in place of what was known of it. */
void by_node_update(struct by_node *by, const struct by_node *from);

/* Enters what a recording that plays again and again, and counts `whole` each time, has counted
 * after `times` whole times and `part` (0 to 1) of the way from one reading to the next. `before`
 * NULL: nothing was counted there; with part 1 it is not looked at. No number is more than that of
 * `after`, nor than (times + 1) * whole. */
void by_node_play(struct by_node *by, const struct by_node *before, const struct by_node *after,
                  double part, const struct by_node *whole, double times);

/* Fills grown[by_node_count] with what a kind has counted between two readings. Returns false where
 * one of them does not know it, or one number has fallen. */
bool by_node_grown(const struct by_node *before, const struct by_node *after,
                   enum by_node_kind kind, double *grown);

/* Returns a kind that both know and of which a number has fallen, or that changed its number of
 * nodes; BY_NODE_KINDS: there is none. */
enum by_node_kind by_node_fallen(const struct by_node *before, const struct by_node *after);

/* ---- all numbers in a row: for each kind that is known its error and its values ---- */

#define BY_NODE_NUMBERS_MAX                                                                        \
    (BY_NODE_READS_FROM * (1 + BY_NODE_MAX) +                                                      \
     (BY_NODE_KINDS - BY_NODE_READS_FROM) * (1 + BY_NODE_PAIRS * BY_NODE_PAIRS))

/* Returns how many numbers there are. */
size_t by_node_numbers(const struct by_node *by);

/* Writes them to number[]; makes of them, and of `nodes` and `known`, the same again. */
void by_node_pack(const struct by_node *by, double *number);
void by_node_unpack(struct by_node *by, size_t nodes, uint32_t known, const double *number);

/* ---- JSON ---- */

/* Returns {"cpu_ns":[..],..,"reads_from":[[..],..],"error":{"cpu_ns":0.01}}, which the caller
 * releases; NULL where nothing is known. */
struct json_object *by_node_json(const struct by_node *by);

/* Reads that; keys that are not known here are ignored. Returns 0, or -1 and err: "reads_local[1]:
 * -3: between 0 and .. expected". */
int by_node_take(struct json_object *object, struct by_node *by, struct berth_error *err);

#endif
