/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listed - the processes of steps as they were listed last.
 *
 * Where a step has no cgroup, its processes are found by the children of each of their threads: 512
 * files for 64 tasks of eight threads. A list of them stays whole as long as nobody was born on the
 * machine: who has died since is found out by whoever looks at him, as ever. /proc/loadavg says
 * which number was given last to a process or thread. A recorded tree is read each time. */
#ifndef BERTH_ENFORCE_LISTED_H
#define BERTH_ENFORCE_LISTED_H

#include "packer/enforce/enforce.h"

struct listed;

#define LISTED_TASKS 4 /* of fewer tasks nothing is remembered: to look is as fast */

/* Returns an empty memory, which the caller frees, or NULL for want of memory: then everything is
 * read each time. */
struct listed *listed_new(void);
void listed_free(struct listed *listed); /* NULL is fine */

/* Forgets all of them. NULL is fine. */
void listed_forget(struct listed *listed);

/* Returns the number that was given last; 0: not known, and nothing is remembered then. */
pid_t listed_newest(const struct rootfs *root);

/* Adds the processes of the step to the list, as they were listed when `newest` was the newest.
 * Returns false, and adds nothing: they were not, or its tasks were others. */
bool listed_get(const struct listed *listed, const struct enforce_step *step, pid_t newest,
                struct enforce_pids *list);

/* Remembers that they are pid[n]. What was listed before another birth is forgotten. */
void listed_put(struct listed *listed, const struct enforce_step *step, pid_t newest,
                const pid_t *pid, size_t n);

#endif
