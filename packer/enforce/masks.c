/* SPDX-License-Identifier: GPL-2.0-or-later */
/* masks - see masks.h */
#include "packer/enforce/masks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/enforce/enforce.h"

/* A thread that is not listed is compared with so many that are: a search of each would cost more
 * than the move. */
#define COMPARED 64

void enforce_masks_free(struct enforce_masks *masks)
{
    free(masks->mask);
    *masks = (struct enforce_masks){0};
}

struct enforce_mask *enforce_masks_add(struct enforce_masks *masks, pid_t tid)
{
    struct enforce_mask *mask;

    if (array_grow(&masks->mask, &masks->room, masks->n + 1, sizeof(*masks->mask)) < 0)
        return NULL;
    mask = &masks->mask[masks->n++];
    *mask = (struct enforce_mask){.tid = tid};
    return mask;
}

static int by_tid(const void *a, const void *b)
{
    const struct enforce_mask *left = a, *right = b;

    return (left->tid > right->tid) - (left->tid < right->tid);
}

void enforce_masks_sort(struct enforce_masks *masks)
{
    if (masks->n)
        qsort(masks->mask, masks->n, sizeof(*masks->mask), by_tid);
}

int enforce_masks_copy(struct enforce_masks *to, const struct enforce_masks *from)
{
    *to = (struct enforce_masks){0};
    if (from->n == 0)
        return 0;
    if (array_grow(&to->mask, &to->room, from->n, sizeof(*to->mask)) < 0)
        return -1;
    memcpy(to->mask, from->mask, from->n * sizeof(*to->mask));
    to->n = from->n;
    return 0;
}

static const struct enforce_mask *find_alike(const struct enforce_masks *masks,
                                             const struct cpus *now)
{
    for (size_t i = 0; i < masks->n && i < COMPARED; i++)
        if (cpus_equal(&masks->mask[i].cpus, now) || cpus_equal(&masks->mask[i].was, now))
            return &masks->mask[i];
    return NULL;
}

const struct enforce_mask *enforce_masks_find(const struct enforce_masks *masks, pid_t tid,
                                              const struct cpus *now)
{
    struct enforce_mask key = {.tid = tid}, *found;

    if (masks->n == 0)
        return NULL;
    found = bsearch(&key, masks->mask, masks->n, sizeof(key), by_tid);
    return found ? found : find_alike(masks, now);
}

/* ---- reading ---- */

struct walk {
    struct enforce *enforce;
    size_t left; /* threads that may still be visited */
    enforce_visit_mask *visit;
    void *arg;
};

static void visit_thread(struct walk *walk, pid_t tid, long task)
{
    struct cpus now;

    if (enforce_get_affinity(tid, &now) == 0)
        walk->visit(tid, task, &now, walk->arg);
    walk->left--;
}

/* Returns false where there are more threads than may be visited. */
static bool visit_process(struct walk *walk, pid_t pid, size_t threads, long task)
{
    char path[64], **thread;
    size_t i = 0;
    bool all;

    if (threads > walk->left)
        return false;
    if (threads == 1) {
        visit_thread(walk, pid, task);
        return true;
    }
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(walk->enforce->root, path);
    for (; thread && thread[i] && walk->left; i++)
        visit_thread(walk, (pid_t)strtol(thread[i], NULL, 10), task);
    all = !thread || !thread[i];
    rootfs_list_free(thread);
    return all;
}

int enforce_each_mask(struct enforce *enforce, const struct enforce_step *step, size_t limit,
                      enforce_visit_mask *visit, void *arg)
{
    struct walk walk = {enforce, limit, visit, arg};
    struct enforce_pids list = {0};
    struct process_table table;
    int rc = enforce->way->pids(enforce, step, &list);

    process_table_open(&table, enforce->root);
    for (size_t i = 0; rc == 0 && i < list.n; i++) {
        const struct process_row *row = process_table_get(&table, list.pid[i]);
        size_t threads = row ? (size_t)row->stat.threads : 0;

        if (row && !row->stat.exiting &&
            !visit_process(&walk, list.pid[i], threads, enforce_task_of(&table, step, list.pid[i])))
            rc = 1;
    }
    process_table_close(&table);
    free(list.pid);
    return rc;
}
