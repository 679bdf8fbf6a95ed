/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_waiting - does a process wait in the kernel: for a disk, a lock, or a file server of
 * FUSE?
 *
 * The first two are a state, which /proc/PID/task/TID/status tells. In a page fault a thread waits
 * for FUSE with the process's memory map locked, and can be interrupted: only `wchan` tells that
 * one from who sleeps. Who reads that may wait for a process in exec, as with `stat`
 * (system/process_look.h): a thread reads it (base/hands.h). */
#ifndef BERTH_SYSTEM_PROCESS_WAITING_H
#define BERTH_SYSTEM_PROCESS_WAITING_H

#include <stdbool.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

/* Does any thread of it wait? One that nobody can look at within a moment is taken to. FUSE is seen
 * with CAP_SYS_PTRACE only, where the process is another user's. */
bool process_waiting(const struct rootfs *root, pid_t pid);

#endif
