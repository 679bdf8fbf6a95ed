/* SPDX-License-Identifier: GPL-2.0-or-later */
/* origin - where the pages of some processes were before they were dealt over several nodes, so
 * that they can be put back: runs of neighbouring pages on one node.
 *
 * It is kept in memory and in a file, which knows of a page before that is moved: whoever kills
 * berthd at any instruction leaves a file by which the next one puts all of them back. A run is a
 * line of 64 bytes there, which is written again where the run grows: a TiB that lay on one node is
 * one line, and MEMORY_ORIGIN_RUNS of them are 4 MiB. Lines are aligned, so that none is half an
 * old one and half a new one; a torn one at the end was never acted upon. As the journal it has to
 * outlive berthd, not the kernel. */
#ifndef BERTH_MEMORY_ORIGIN_H
#define BERTH_MEMORY_ORIGIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"

#define MEMORY_ORIGIN_RUNS 65536 /* more are not kept: such a program's pages lie too scattered */

struct memory_origin;

/* Pages next to each other that were on one node. */
struct memory_run {
    pid_t pid;
    int node;            /* os_index */
    uint64_t started;    /* ticks since boot: with the pid, who is meant; 0: not known */
    uint64_t start, end; /* addresses, in bytes */
};

/* Makes an empty one with the file at path, whatever was there; or reads one back, to be gone on
 * with. Returns it, which has one owner; NULL and err, which names the path (missing, of another
 * version of berth, or damaged). */
struct memory_origin *memory_origin_create(const char *path, struct berth_error *err);
struct memory_origin *memory_origin_open(const char *path, struct berth_error *err);

/* One owner more; one less, the last of whom frees it (NULL is fine). The file stays. Owners may be
 * in different threads, but only one at a time may use it. */
struct memory_origin *memory_origin_hold(struct memory_origin *origin);
void memory_origin_release(struct memory_origin *origin);

/* Notes where the pages of a run are. What was noted before of some of them stays. 0, or -1 with
 * errno: ENOMEM, E2BIG for too many runs, EOVERFLOW for one that no line can hold (an address from
 * 2^60 on, a node above 0xfff), or what write(2) says of the file; then part of the run may have
 * been noted. */
int memory_origin_add(struct memory_origin *origin, const struct memory_run *run);

/* Returns the node of the process's page at that address; -1: nothing was noted of it. */
int memory_origin_node(const struct memory_origin *origin, pid_t pid, uint64_t started,
                       uint64_t address);

#endif
