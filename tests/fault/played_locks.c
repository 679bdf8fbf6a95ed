/* SPDX-License-Identifier: GPL-2.0-or-later */
/* played_locks - what packer/counters/lock_time.h promises, played, in a berthd for tests of
 * kernels that have no tracepoints of system calls: threads named `first` wait for locks 9/10 of
 * their time, the others never. */
#include <stdio.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/counters/lock_time.h"

struct lock_time {
    char none;
};

int lock_time_open(struct lock_time **out, const struct rootfs *root, struct berth_error *err)
{
    static struct lock_time lock;

    (void)root, (void)err;
    *out = &lock;
    return 0;
}

void lock_time_close(struct lock_time *lock)
{
    (void)lock;
}

int lock_time_watch(struct lock_time *lock, pid_t pid)
{
    (void)lock, (void)pid;
    return 0;
}

void lock_time_forget(struct lock_time *lock, pid_t pid)
{
    (void)lock, (void)pid;
}

int lock_time_read(struct lock_time *lock, pid_t pid, uint64_t *ns)
{
    (void)lock, (void)pid;
    *ns = (uint64_t)(clock_s() * 0.9e9);
    return 0;
}

int lock_time_watch_thread(struct lock_time *lock, pid_t pid, pid_t tid)
{
    (void)lock, (void)pid, (void)tid;
    return 0;
}

void lock_time_forget_thread(struct lock_time *lock, pid_t pid, pid_t tid)
{
    (void)lock, (void)pid, (void)tid;
}

int lock_time_read_thread(struct lock_time *lock, pid_t pid, pid_t tid, uint64_t *ns)
{
    char path[64], name[16] = "";
    FILE *file;

    (void)lock;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    file = fopen(path, "r");
    if (!file)
        return -1;
    if (!fgets(name, sizeof(name), file))
        name[0] = '\0';
    fclose(file);
    *ns = strncmp(name, "first", 5) == 0 ? (uint64_t)(clock_s() * 0.9e9) : 0;
    return 0;
}
