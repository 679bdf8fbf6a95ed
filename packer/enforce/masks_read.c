/* SPDX-License-Identifier: GPL-2.0-or-later */
/* masks_read - the affinities of all threads of a step; see masks.h */
#include <stdio.h>
#include <stdlib.h>

#include "packer/enforce/enforce.h"

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
        size_t threads = row ? row->look.threads : 0;

        if (row && !row->look.exiting &&
            !visit_process(&walk, list.pid[i], threads, enforce_task_of(&table, step, list.pid[i])))
            rc = 1;
    }
    process_table_close(&table);
    free(list.pid);
    return rc;
}
