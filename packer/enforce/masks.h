/* SPDX-License-Identifier: GPL-2.0-or-later */
/* masks - which threads of a step a program has bound: those whose affinity is not what their task
 * has. They keep their binding when the step moves (bindings.h decides what becomes of it). */
#ifndef BERTH_ENFORCE_MASKS_H
#define BERTH_ENFORCE_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"

struct enforce;
struct enforce_step;

struct enforce_mask {
    pid_t tid;
    uint64_t started; /* ticks since boot: with the tid, who it is; 0: not known */
    struct cpus home; /* the mask, in CPUs that Slurm gave */
    struct cpus was;  /* as it was read: where these stood then */
    struct cpus cpus; /* where it shall run: where these stand now */
};

/* All zero is the empty list; enforce_masks_free() ends it. */
struct enforce_masks {
    size_t n, room;
    struct enforce_mask *mask; /* [n], ascending by tid */
};

void enforce_masks_free(struct enforce_masks *masks);

/* Returns a new entry for the thread; NULL for want of memory. The list is to be sorted then. */
struct enforce_mask *enforce_masks_add(struct enforce_masks *masks, pid_t tid);
void enforce_masks_sort(struct enforce_masks *masks);

/* 0, or -1 for want of memory, with `to` empty. */
int enforce_masks_copy(struct enforce_masks *to, const struct enforce_masks *from);

/* Returns the entry of a thread, or NULL. */
const struct enforce_mask *enforce_masks_of(const struct enforce_masks *masks, pid_t tid);

/* The same; of a thread that is not listed, but has a mask that a
 * listed one has or had, it is that one's: a child has its parent's mask. */
const struct enforce_mask *enforce_masks_find(const struct enforce_masks *masks, pid_t tid,
                                              const struct cpus *now);

/* Calls visit with each thread of the step, `limit` of them at most: `task` is the index of its
 * task, or -1 where nobody can tell; `now` is its affinity. 0; 1: the step has more; or -1 with
 * errno. */
typedef void enforce_visit_mask(pid_t tid, long task, const struct cpus *now, void *arg);
int enforce_each_mask(struct enforce *enforce, const struct enforce_step *step, size_t limit,
                      enforce_visit_mask *visit, void *arg);

#endif
