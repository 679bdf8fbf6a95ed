/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_exe - which executable a process runs.
 *
 * The link /proc/PID/exe of other users' processes takes CAP_SYS_PTRACE; without it there is the
 * name of the process, which anybody may change. To open an executable may hang where its file
 * system does: that is for a thread that nobody waits for. */
#ifndef BERTH_SYSTEM_PROCESS_EXE_H
#define BERTH_SYSTEM_PROCESS_EXE_H

#include <limits.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

/* Reads the executable's path, or the name of the process (15 bytes at most, no slash) where that
 * is all that may be read; "": there is no such process. One that was replaced meanwhile keeps its
 * name. */
void process_exe_read(const struct rootfs *root, pid_t pid, char exe[PATH_MAX]);

/* Opens it: not what the path says, which may be of another mount namespace. Such a link leads out
 * of any root: a recorded tree has nothing to open. Returns -1 where it cannot. */
int process_exe_open(const struct rootfs *root, pid_t pid);

#endif
