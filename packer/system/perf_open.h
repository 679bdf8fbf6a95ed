/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_open - calls perf_event_open(2), which the C library does not wrap. */
#ifndef BERTH_SYSTEM_PERF_OPEN_H
#define BERTH_SYSTEM_PERF_OPEN_H

#include <linux/perf_event.h>
#include <sys/types.h>

/* Opens an event of a process (or cgroup, with PERF_FLAG_PID_CGROUP) on a CPU, close-on-exec.
 * Returns the descriptor, or -1 with errno. */
int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader,
              unsigned long flags);

#endif
