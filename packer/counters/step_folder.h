/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_folder - what a step has used since counting began, by the cgroups of its own that Slurm has
 * made for it: one look for all of its processes, those that have ended too. */
#ifndef BERTH_COUNTERS_STEP_FOLDER_H
#define BERTH_COUNTERS_STEP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/counters/counters.h"
#include "packer/slurm/step_cgroup.h"

struct step_folder {
    struct step_cgroup cgroup;
    bool cpu, memory, threads; /* which of them it counts */
    struct step_cgroup_cpu base;
    double base_faults;
};

/* Finds them by the first of pid[n] that is still there; there may be none of them. The caller
 * closes it in any case. */
void step_folder_open(struct step_folder *folder, const struct counters_node *node,
                      struct wire_step_id id, const pid_t *pid, size_t n);
void step_folder_close(struct step_folder *folder);

/* Adds what they have counted to the sample: CPU time, page faults, resident bytes, threads. What
 * cannot be read any more, since the step has ended, is left out. */
void step_folder_add(const struct step_folder *folder, struct counters_sample *sample);

#endif
