/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_box - see perf_box.h */
#include "tests/unit/common/perf_box.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/counters/perf_plan.h"
#include "packer/system/perf_open.h"

bool perf_box_usable(const struct rootfs *root, struct perf_hierarchy *hierarchy)
{
    struct berth_error err = {""};
    struct perf_plan plan;
    int dir, fd;

    if (geteuid() != 0) {
        print_message("needs root\n");
        return false;
    }
    if (perf_plan_software(&plan, &err) < 0 || perf_hierarchy_find(hierarchy, root, &err) < 0) {
        print_message("%s\n", err.text);
        return false;
    }
    dir = rootfs_openat(root, hierarchy->mount, O_RDONLY | O_DIRECTORY);
    fd = dir < 0 ? -1 : perf_open(&plan.event[0], dir, 0, -1, PERF_FLAG_PID_CGROUP);
    if (fd < 0)
        print_message("events cannot be counted by cgroup here: %s\n", strerror(errno));
    close(fd);
    close(dir);
    return fd >= 0;
}

static void run(bool busy)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        if (!busy)
            pause();
}

pid_t perf_box_start(size_t cpu, bool busy, bool with_child)
{
    pid_t pid = fork();
    cpu_set_t cpus;

    assert_true(pid >= 0);
    if (pid > 0) {
        setpgid(pid, pid);
        return pid;
    }
    setpgid(0, 0);
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    if (with_child && fork() == 0)
        run(busy);
    run(busy);
    _exit(0);
}

void perf_box_stop(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
