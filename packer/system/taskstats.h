/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taskstats - asks the kernel by netlink what it counts of a whole process: one request for each
 * process instead of two files for each of its threads (linux/taskstats.h,
 * TASKSTATS_CMD_ATTR_TGID).
 *
 * The kernel needs CONFIG_TASKSTATS, CONFIG_TASK_DELAY_ACCT and CAP_NET_ADMIN in its first network
 * namespace. Waiting for a CPU comes from sched_info, which counts without kernel.task_delayacct
 * and the delayacct parameter since 5.14; before it counted unless booted with nodelayacct.
 * Threads that have ended are in run_delay_ns and switches of every kernel; in voluntary and
 * involuntary of recent ones only, so those two may fall. */
#ifndef BERTH_SYSTEM_TASKSTATS_H
#define BERTH_SYSTEM_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"

/* One process, all its threads together, since it was forked. */
struct taskstats_usage {
    bool known; /* false: there is no such process, and nothing below is filled */
    uint64_t run_delay_ns, switches, voluntary, involuntary;
};

/* One thread; of a process: the main one. */
struct taskstats_thread {
    pid_t parent;     /* the process that hears of its process's end */
    double elapsed_s; /* since it began, by CLOCK_MONOTONIC */
    bool has_memory;  /* false: it exits, or has ended; or it is the kernel's */
};

/* A connection to the kernel. */
struct taskstats_link {
    int fd;
    uint16_t family;
    uint32_t sequence;
    bool asks;              /* the kernel does not allow it to this process, and another asks */
    unsigned char *answers; /* room for one batch of answers */
};

#define TASKSTATS_BATCH 32 /* processes that another is asked of at once */

/* Who asks the kernel for this process: as taskstats_read() with at most TASKSTATS_BATCH processes,
 * and as taskstats_thread(). 0, or -1 with errno. */
struct taskstats_asker {
    int (*read)(const pid_t *pid, size_t n, struct taskstats_usage *usage);
    int (*thread)(pid_t tid, struct taskstats_thread *thread);
};

/* Says who is asked where the kernel does not allow it to this process; NULL: nobody. It is for the
 * whole process, and for links that are opened from then on. */
void taskstats_ask(const struct taskstats_asker *asker);

/* Connects. 0, or -1 and err: the kernel does not offer it here; nothing is left open. */
int taskstats_connect(struct taskstats_link *link, struct berth_error *err);

/* Connects, and tries it on the own process. 0, or -1 and err: the kernel does not offer it here,
 * does not allow it, or counts no waiting; nothing is left open. */
int taskstats_open(struct taskstats_link *link, struct berth_error *err);
void taskstats_close(struct taskstats_link *link);

/* Fills usage[i] for the process pid[i] (its own pid, not that of another thread), i < n. 0, or -1
 * and err when the connection is of no more use. */
int taskstats_read(struct taskstats_link *link, const pid_t *pid, size_t n,
                   struct taskstats_usage *usage, struct berth_error *err);

/* Asks about one thread. 0, or -1 with errno: there is none (ESRCH), or the kernel does not answer.
 */
int taskstats_thread(struct taskstats_link *link, pid_t tid, struct taskstats_thread *thread);

#endif
