/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_tree - a recorded tree of PMUs, as the kernel describes them, whose events are files that
 * count what the test says. */
#ifndef BERTH_TESTS_MEMORY_TREE_H
#define BERTH_TESTS_MEMORY_TREE_H

#include "packer/counters/memory_events.h"

#define MEMORY_TREE_EVENTS 512

struct memory_tree {
    char dir[64];
    struct rootfs root;
    size_t n;
    struct {
        struct perf_event_attr attr;
        int cpu, fd; /* the other end of what was opened */
    } event[MEMORY_TREE_EVENTS];
    uint64_t refuse; /* an event of this config may not be opened; 0: each may */
};

/* Makes an empty tree. */
void memory_tree_new(struct memory_tree *tree);
void memory_tree_free(struct memory_tree *tree);

/* Puts a file of a PMU: "uncore_cha_0", "type", "30\n". */
void memory_tree_put(struct memory_tree *tree, const char *pmu, const char *file, const char *text);

/* AMD family 10h: the cores' PMU, type 4. */
void memory_tree_family_10h(struct memory_tree *tree);

/* Nehalem-EX: two memory controllers a package, types 20 and 21, on these CPUs: "0,8". */
void memory_tree_nehalem_ex(struct memory_tree *tree, const char *cpus);

/* Opens an event: the memory_opener of this tree, which is its arg. */
int memory_tree_open(const struct perf_event_attr *attr, int cpu, void *tree);

/* Each open event has counted so much, `running` ns of `enabled` ns, when it is read next. */
void memory_tree_count(struct memory_tree *tree,
                       double counted(const struct perf_event_attr *attr, int cpu, void *arg),
                       void *arg, uint64_t enabled, uint64_t running);

#endif
