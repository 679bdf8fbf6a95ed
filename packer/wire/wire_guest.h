/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_guest - the steps that stand on cores which Slurm has given to nobody, as a file says them:
 * the mark of idle cores (WIRE_IDLE_MARK), beside berthd's socket.
 *
 * A step that starts asks berthd for its cores. Where berthd is dead or hangs, the plugin, which is
 * root like it, reads here who stands on them, and sends these home itself. A line for each step:
 * the CPUs of nobody on which it stands, the CPUs that Slurm gave it, and the folder of the cgroup
 * in which, or below which, its processes are. */
#ifndef BERTH_WIRE_GUEST_H
#define BERTH_WIRE_GUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/cpus.h"

#define WIRE_GUEST_DIR_MAX 1024
#define WIRE_GUEST_LINE_MAX (2 * CPUS_TEXT_MAX + WIRE_GUEST_DIR_MAX + 3)

struct wire_guest {
    struct cpus on, home;
    char dir[WIRE_GUEST_DIR_MAX]; /* absolute */
};

/* Writes the line, with its newline; "" where it cannot be said. */
void wire_guest_write(const struct wire_guest *guest, char line[WIRE_GUEST_LINE_MAX]);

/* Reads a line, up to its end or a newline. False: it is none. */
bool wire_guest_read(const char *line, struct wire_guest *guest);

#endif
