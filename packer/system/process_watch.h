/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_watch - hears of it at once when a process of somebody else's ends: a slurmstepd that is
 * killed tells nobody.
 *
 * Each is watched by a descriptor of its own (pidfd_open(2), Linux 5.3), a quarter of the process's
 * limit of descriptors at most. Where there is none, by a look at /proc/PID/stat once a second (3
 * us each). A process is its pid and its start: another one that got the pid is not it. */
#ifndef BERTH_SYSTEM_PROCESS_WATCH_H
#define BERTH_SYSTEM_PROCESS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct process_watch;

/* 0 and a watch that the caller closes, or -1 and err. Processes are looked up below root, which
 * must stay. */
int process_watch_open(struct process_watch **watch, const struct rootfs *root,
                       struct berth_error *err);
void process_watch_close(struct process_watch *watch); /* NULL is fine */

/* Returns a descriptor that can be read when a process has ended. */
int process_watch_fd(const struct process_watch *watch);

/* Watches the process that began at `started` (process.h), under a number of the caller's own that
 * no other one has. One that has ended already is told by the next process_watch_next(). 0, or -1
 * and err: no memory. */
int process_watch_add(struct process_watch *watch, uint64_t tag, pid_t pid, uint64_t started,
                      struct berth_error *err);
void process_watch_drop(struct process_watch *watch,
                        uint64_t tag); /* none of that number is fine */

/* Finds a process that has ended, and watches it no more. False when there is none. */
bool process_watch_next(struct process_watch *watch, uint64_t *tag);

/* Returns the seconds until process_watch_next() is to be called, whether or not the descriptor can
 * be read; < 0: never. */
double process_watch_due(const struct process_watch *watch);

/* Says whether the end of each is heard at once; else some are looked at once a second. */
bool process_watch_at_once(const struct process_watch *watch);

#endif
