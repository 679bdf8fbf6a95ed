/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_look - what the event loop may ask about a process of a user: nothing here waits for that
 * process.
 *
 * Who reads /proc/PID/stat waits for a process that is in exec (its exec_update_lock; Linux from
 * the middle of 2026 on, and the older series' updates of that time), and exec may wait for a file
 * server of its user, for ever. So another thread reads that one (base/hands.h), and here the
 * kernel is asked by other ways, which together cost less: taskstats (system/taskstats.h) says when
 * the process began, who its parent is and whether it exits, in one request; the links of
 * /proc/PID/task are its threads. Where taskstats does not answer, /proc/PID/status and a pidfd
 * say the same.
 *
 * A recorded tree has /proc/PID/stat, which nobody can hold. */
#ifndef BERTH_SYSTEM_PROCESS_LOOK_H
#define BERTH_SYSTEM_PROCESS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

/* A process; or a thread, by its number: whose process has these threads. */
struct process_look {
    pid_t parent;
    uint64_t started; /* with the number, who it is: for process_same() only */
    bool exiting; /* its main thread runs only to end, or has ended: the kernel moves it no more */
    size_t threads; /* that have not been waited for: its main thread is one until then */
};

/* It is there, and nobody can tell when it began: by a kernel before 6.9 without taskstats. */
#define PROCESS_STARTED_UNKNOWN (UINT64_C(1) << 52)

/* Looks. 0, or -1 with errno: there is no such process (ENOENT, ESRCH). */
int process_look(const struct rootfs *root, pid_t pid, struct process_look *look);

/* The same without taskstats, on this machine. */
int process_look_status(const struct rootfs *root, pid_t pid, struct process_look *look);

/* Returns when a process or a thread began, in the kernel's clock ticks; PROCESS_STARTED_UNKNOWN;
 * or 0: there is none. */
uint64_t process_started(const struct rootfs *root, pid_t pid);

/* Say whether two beginnings, neither of them 0, are the same one, or the first is later: as far as
 * can be told. They are off by a tick or two where taskstats has said them. */
bool process_same(uint64_t started, uint64_t other);
bool process_later(uint64_t started, uint64_t other);

/* Is there a process or a thread that began then? */
bool process_is(const struct rootfs *root, pid_t pid, uint64_t started);

/* Did it begin by that time (CLOCK_MONOTONIC), as far as can be told? */
bool process_began_by(uint64_t started, double at_s);

/* Counts the threads of a process, of which those that exit are some. 0, or -1 with errno. */
int process_threads(const struct rootfs *root, pid_t pid, size_t *threads);

/* Is a process stopped by a signal, as Slurm suspends a job, or traced? */
bool process_stopped(const struct rootfs *root, pid_t pid);

/* Reads the CPU time of all threads of a process, those that have ended too. 0, or -1 with errno.
 */
int process_cpu(const struct rootfs *root, pid_t pid, double *user_ns, double *system_ns);

#endif
