/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_nodes - tells on which NUMA nodes memory lies: of a memory cgroup (memory.numa_stat of v1
 * and v2, cheap) or of a process (/proc/PID/numa_maps, for which the kernel walks all its page
 * tables).
 *
 * A cgroup's figure is memory that the step uses as anonymous or mapped, shared pages once; v1
 * knows no mapped files apart from other page cache and gives anonymous, shared (shmem) and locked
 * memory. Neither has the pages of hugetlbfs. numa_maps has those, too; pages that several
 * processes share are counted for each. Linux: mm/memcontrol.c, mm/memcontrol-v1.c
 * (memcg_numa_stat_show, memory_numa_stat_show), fs/proc/task_mmu.c (show_numa_map). */
#ifndef BERTH_SYSTEM_MEMORY_NODES_H
#define BERTH_SYSTEM_MEMORY_NODES_H

#include <stddef.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

#define MEMORY_NODES_MAX 64

/* Bytes by NUMA node (os_index). All zero: nothing yet. */
struct memory_nodes {
    size_t n; /* nodes that were named; 0: not known */
    double bytes[MEMORY_NODES_MAX];
};

/* Returns how many NUMA nodes have memory; 0: the kernel does not say. */
size_t memory_nodes_count(const struct rootfs *root);

/* Adds what the text of memory.numa_stat says; page_bytes is the unit of v1. 0, or -1: it says
 * nothing. */
int memory_nodes_add_stat(struct memory_nodes *nodes, const char *text, double page_bytes);

/* Adds the text of /proc/PID/numa_maps; page_bytes for lines that do not tell their pages' size. 0,
 * or -1: it names no node. */
int memory_nodes_add_maps(struct memory_nodes *nodes, const char *text, double page_bytes);

/* Adds those of a memory cgroup, by its folder, or of a process. 0, or -1: not known (it is gone,
 * or this kernel does not tell). */
int memory_nodes_of_cgroup(struct memory_nodes *nodes, const struct rootfs *root, const char *dir);
int memory_nodes_of_process(struct memory_nodes *nodes, const struct rootfs *root, pid_t pid);

#endif
