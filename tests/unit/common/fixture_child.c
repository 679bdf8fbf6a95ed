/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fixture_child - see fixture_child.h */
#include "tests/unit/common/fixture_child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/hand/ask.h"
#include "tests/unit/common/folder.h"

pid_t fixture_child;

void fixture_child_start(void)
{
    fixture_child = fork();
    if (fixture_child == 0) {
        pause();
        _exit(0);
    }
}

/* The tasks, and the process. */
static int list_child(struct enforce *enforce, const struct enforce_step *step,
                      struct enforce_pids *list)
{
    (void)enforce;
    for (size_t i = 0; i < step->ntasks; i++)
        if (enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    return enforce_pids_add(list, fixture_child);
}

/* A hand that sees the machine, of which the process is, and a cpuset of step 1.0 that has it. */
static void use_machine(struct fixture *f)
{
    static char cgroup_root[PATH_MAX];
    static struct rootfs machine;
    struct enforce *enforce = f->packer.world.enforce;
    char pid[16];

    snprintf(pid, sizeof(pid), "%d\n", (int)fixture_child);
    folder_make(f->dir, "cgroup/cpuset/berth/1.0");
    folder_put(f->dir, "cgroup/cpuset/berth/1.0/cgroup.procs", pid);
    snprintf(cgroup_root, sizeof(cgroup_root), "%s/cgroup", f->dir);
    rootfs_close(&machine);
    assert_int_equal(rootfs_open(&machine, "/", NULL), 0);
    hand_link_close(enforce->hand);
    enforce->hand = hand_link_open(
        &(struct hand_site){.root = &machine, .cgroup_root = cgroup_root, .tree = "berth"});
    assert_non_null(enforce->hand);
}

void fixture_child_add(struct fixture *f)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/task/%d", (int)fixture_child, (int)fixture_child);
    folder_make(f->dir, path);
    f->way.pids = list_child;
    use_machine(f);
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
}

int fixture_child_teardown(void **state)
{
    kill(fixture_child, SIGKILL);
    waitpid(fixture_child, NULL, 0);
    return fixture_teardown(state);
}
