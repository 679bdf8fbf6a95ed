/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handed - processes that the hand may change: root's plugin has named them as the tasks of a step
 * that has no folder, whose job has all CPUs. */
#ifndef BERTH_TESTS_HANDED_H
#define BERTH_TESTS_HANDED_H

#include <assert.h>
#include <stdlib.h>

#include "packer/enforce/enforce.h"

#define HANDED_ID ((struct wire_step_id){1, 0})

/* Tells the hand of enforce, which is open, of the step. */
static inline void handed_tell(struct enforce *enforce, struct wire_step_id id, size_t n,
                               const pid_t *pid)
{
    struct enforce_task *task = calloc(n + 1, sizeof(*task));
    struct enforce_step step = {.id = id, .ntasks = n, .task = task};
    struct berth_error err;
    int rc;

    for (size_t i = 0; i < n; i++)
        task[i].pid = pid[i];
    for (size_t i = 0; i < 64; i++)
        cpus_add(&step.job_home, i);
    rc = enforce_register(enforce, &step, &err);
    assert(rc == 0);
    (void)rc;
    free(task);
}

/* Opens enforce, with a hand that knows HANDED_ID; enforce_close() ends it. */
static inline void handed_open(struct enforce *enforce, const struct rootfs *root, size_t n,
                               const pid_t *pid)
{
    int rc = enforce_open(enforce, root, "/sys/fs/cgroup", "dryrun", NULL);

    assert(rc == 0);
    (void)rc;
    handed_tell(enforce, HANDED_ID, n, pid);
}

#endif
