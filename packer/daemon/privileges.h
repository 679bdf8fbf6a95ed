/* SPDX-License-Identifier: GPL-2.0-or-later */
/* privileges - which of root's capabilities berthd needs, by its configuration and this machine.
 * berthd(8), PRIVILEGES, has the same as a table; the unit file and its drop-ins follow it. */
#ifndef BERTH_DAEMON_PRIVILEGES_H
#define BERTH_DAEMON_PRIVILEGES_H

#include <linux/capability.h>

#include "packer/conf/conf.h"
#include "packer/system/capabilities.h"
#include "packer/system/rootfs.h"

/* Steps stand where they are placed. The top folders of cgroupfs have no writer (0555). */
#define PRIVILEGES_PLACE (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_SYS_NICE))
/* Memory follows, and is known by NUMA node: of other users' tasks. */
#define PRIVILEGES_MEMORY (CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SYS_NICE))
/* What berth-hand does for a berthd that has none. */
#define PRIVILEGES_HAND (PRIVILEGES_PLACE | PRIVILEGES_MEMORY)
/* perf_event_open of other users' tasks, of cgroups and of packages. */
#define PRIVILEGES_PERF CAPABILITY(CAP_PERFMON)
/* The unit leaves it although /proc tells the same: 64 processes of 64 threads cost 18 ms of CPU
 * time by /proc, thread by thread, and 0.1 ms by taskstats; as many are read in a second. */
#define PRIVILEGES_TASKSTATS CAPABILITY(CAP_NET_ADMIN)
#define PRIVILEGES_LOCK_TIME (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))
/* Ring buffers for each CPU are more locked memory than everybody may have. */
#define PRIVILEGES_REUSE (CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_IPC_LOCK))
/* /dev/cpu/N/msr is opened. */
#define PRIVILEGES_PREFETCH CAPABILITY(CAP_SYS_RAWIO)
/* berthd becomes another user, who gets its folders, and whom berth-hand tells of signals. */
#define PRIVILEGES_APART                                                                           \
    (CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_KILL))
/* A file or a socket is given to a group. */
#define PRIVILEGES_GROUP CAPABILITY(CAP_CHOWN)

/* Returns all that such a configuration needs on the machine whose files are below root. A key
 * that a running berthd takes over does not count: it may be changed later. But prefetch in `allow`
 * does: what it needs is more than others may have for it. */
uint64_t privileges_needed(const struct conf *conf, const struct rootfs *root);

/* Drops all others, for good, and what a program that berthd runs could gain by its file's mode.
 * Call it before the first thread is started. What cannot be dropped is logged. */
void privileges_drop(const struct conf *conf);

#endif
