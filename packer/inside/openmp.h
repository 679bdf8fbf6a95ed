/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp - whether a program's OpenMP library binds its threads to places of their own. */
#ifndef BERTH_INSIDE_OPENMP_H
#define BERTH_INSIDE_OPENMP_H

#include <stdbool.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

/* Says whether the environment that the process began with asks for it: OMP_PROC_BIND, which comes
 * before all others, or a list of places; the first 64 KiB are looked at. False where they cannot
 * be read: it takes CAP_SYS_PTRACE. */
bool openmp_binds(const struct rootfs *root, pid_t pid);

/* The same of an environment: `length` bytes, each variable with a NUL at its end. */
bool openmp_binds_by(const char *environment, size_t length);

#endif
