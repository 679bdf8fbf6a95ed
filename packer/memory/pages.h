/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages - moves the pages of processes from some NUMA nodes to others, by move_pages(2); or deals
 * them over several nodes, and puts them back to where they were.
 *
 * Which pages: those of writable memory, and of read-only memory that is no file's, on a node of
 * `from` where the process does not stand now. Memory that has a policy of the program's own (by
 * set_mempolicy, mbind or mem=interleave|bind) stays where that put it. A few pages at a time are
 * looked for (/proc/PID/pagemap: most of a great reservation is empty), asked for their node,
 * moved, and asked again; what is still elsewhere (a page in use at that moment, or the second page
 * of a huge one) is tried twice more. Pages that automatic NUMA balancing has made inaccessible, to
 * see who touches them, are hidden from move_pages in Linux 6.1 to 6.5: then all is done once more,
 * a little later. The target has to be in the process's cpuset.
 *
 * The race it lives with: a process may end, or exchange its memory by execve, between any two
 * calls. The open pagemap stays the first memory's, and reads as empty when that is gone. */
#ifndef BERTH_MEMORY_PAGES_H
#define BERTH_MEMORY_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/memory/origin.h"
#include "packer/system/rootfs.h"
#include "packer/wire/wire.h"

struct hand_link; /* packer/hand/ask.h */

#define MEMORY_CHUNK_BYTES ((size_t)4 << 20) /* that are moved in one go; or one greater page */
#define MEMORY_LIMIT_S 60.
#define MEMORY_TRIES 3
#define MEMORY_PASSES 10
#define MEMORY_PASS_S 1 /* between two of them */

/* The kernel, or a test's. */
struct memory_system {
    const struct rootfs *root; /* /proc and /sys */
    /* As move_pages(2): >= 0, or -1 with errno. */
    long (*move_pages)(void *arg, pid_t pid, size_t count, void *const *page, const int *node,
                       int *status, int flags);
    void *arg;
    double limit_s; /* a call that has not come back by then hangs */
};

/* Returns the one of this machine, with its files below root, where the hand moves the pages. */
struct memory_system memory_system(const struct rootfs *root, struct hand_link *hand);

struct memory_process {
    pid_t pid;
    uint64_t started;  /* ticks since boot: with the pid, who is meant; 0: not known */
    struct cpus nodes; /* NUMA nodes (os_index) where its task stands; never empty */
};

enum memory_way {
    MEMORY_FOLLOW, /* from nodes that are left to where the processes stand */
    MEMORY_DEAL,   /* by turns over the nodes of `to`, MEMORY_DEAL_BYTES each; origin is told where
                      they were */
    MEMORY_BACK    /* to where they were, as origin knows */
};
#define MEMORY_DEAL_BYTES ((uint64_t)2 << 20) /* a transparent huge page */

struct memory_job {
    struct wire_step_id id;
    uint32_t user;
    enum memory_way way;
    struct memory_origin *origin; /* NULL with MEMORY_FOLLOW; the job's own reference */
    struct cpus from;             /* nodes that are left; else all whose pages are meant */
    struct cpus to;               /* where the step stands: for memory that its processes share */
    size_t n;
    struct memory_process *process; /* [n] */
    double queued_s; /* CLOCK_MONOTONIC: one that began later, where that is all that is known of
                        it, is a stranger */
};

struct memory_progress {
    double bytes;         /* to be moved, by what the processes' maps said so far */
    double moved, failed; /* bytes; what remains of `bytes` is left */
    char why[160];        /* why not all of it was moved; "" */
};

/* Moves what is to be moved. `pace` (with its arg) is called before each chunk with what was done
 * so far, and waits for wait_s at least, and with NULL before a process's maps are read; false ends
 * it all. Returns when everything was tried,
 * progress filled in. */
typedef bool memory_pace(void *arg, const struct memory_progress *progress, double wait_s);
void memory_pages_move(const struct memory_system *system, const struct memory_job *job,
                       memory_pace *pace, void *arg, struct memory_progress *progress);

#endif
