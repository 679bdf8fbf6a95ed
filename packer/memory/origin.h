/* SPDX-License-Identifier: GPL-2.0-or-later */
/* origin - where the pages of some processes were before they were dealt over several nodes, so
 * that they can be put back: runs of neighbouring pages on one node. */
#ifndef BERTH_MEMORY_ORIGIN_H
#define BERTH_MEMORY_ORIGIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_ORIGIN_RUNS 65536 /* more are not kept: such a program's pages lie too scattered */

struct memory_origin;

/* Makes an empty one, which has one owner; one owner more; one less, the last of whom frees it
 * (NULL is fine). Owners may be in different threads, but only one at a time may use it. */
struct memory_origin *memory_origin_new(void);
struct memory_origin *memory_origin_hold(struct memory_origin *origin);
void memory_origin_release(struct memory_origin *origin);

/* Notes that the process has a page of so many bytes at that address on a node. What was noted
 * before stays. 0, or -1 with errno: ENOMEM, or E2BIG for too many runs. */
int memory_origin_add(struct memory_origin *origin, pid_t pid, uint64_t address, size_t bytes,
                      int node);

/* Returns the node of the page at that address; -1: nothing was noted of it. */
int memory_origin_node(const struct memory_origin *origin, pid_t pid, uint64_t address);

#endif
