/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock_time - how long the threads of chosen processes wait for locks: the time inside futex(2)
 * calls that wait, counted by the kernel with eBPF programs on the tracepoints of the system call.
 *
 * What spins in user space before it sleeps is not in it; waiting for a condition, a barrier or a
 * semaphore is, as in the paper (Pusukuri 2012, section 2.2: "locks, condition-variables etc.").
 * It needs root (CAP_BPF and CAP_PERFMON), tracepoints of system calls (CONFIG_FTRACE_SYSCALLS) and
 * no library. All of it lives in file descriptors: whatever way berthd ends, nothing is left.
 *
 * While it is open every system call of every process of the node takes the kernel's slower path,
 * since that is how tracepoints of system calls are made: 0.15 us more each, and 1.2 us for a futex
 * call of a watched process (measured on Linux 6.18). That is why it is off by default. */
#ifndef BERTH_COUNTERS_LOCK_TIME_H
#define BERTH_COUNTERS_LOCK_TIME_H

#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct lock_time;

/* Load and attach the programs. 0, or -1 and err: not here; nothing is left. */
int lock_time_open(struct lock_time **out, const struct rootfs *root, struct berth_error *err);
void lock_time_close(struct lock_time *lock); /* NULL is fine */

/* Count a process's waits that begin from now on. 0, or -1 with errno: there are too many. */
int lock_time_watch(struct lock_time *lock, pid_t pid);
void lock_time_forget(struct lock_time *lock, pid_t pid);

/* Time that all threads of a watched process have waited, summed, ns; waits that last are in it,
 * and what threads that have ended waited. 0, or -1: it is not watched. It may seem to fall by a
 * wait that ends while it is read. */
int lock_time_read(struct lock_time *lock, pid_t pid, uint64_t *ns);

/* Counts one thread's waits by itself from now on; its process has to be watched, too (the lock
 * share of each thread: Pusukuri 2012, section 4.2). 0, or -1 with errno: there are too many. */
int lock_time_watch_thread(struct lock_time *lock, pid_t pid, pid_t tid);
void lock_time_forget_thread(struct lock_time *lock, pid_t pid, pid_t tid);

/* Time that a watched thread has waited, ns, in waits that ended since it was watched, and all of
 * one that lasts. 0, or -1: it is not watched. */
int lock_time_read_thread(struct lock_time *lock, pid_t pid, pid_t tid, uint64_t *ns);

#endif
