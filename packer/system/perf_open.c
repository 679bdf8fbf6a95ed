/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/perf_open.h"

#include <sys/syscall.h>
#include <unistd.h>

int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader,
              unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, flags | PERF_FLAG_FD_CLOEXEC);
}
