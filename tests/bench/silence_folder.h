/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_folder - the cgroups of a step of its own, as Slurm makes them: what counts its CPU time,
 * page faults and memory. */
#ifndef BERTH_BENCH_SILENCE_FOLDER_H
#define BERTH_BENCH_SILENCE_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

struct silence_folder {
    char path[2][128]; /* v1: of cpuacct and of memory; v2: one; "" none */
};

/* Makes them for step 0 of job 1, and puts the processes there. Where this machine lets nobody
 * make them it says so, and the step has none. */
void silence_folder_make(struct silence_folder *folder, const pid_t *pid, size_t n);

/* Removes them. Their processes have ended. */
void silence_folder_remove(struct silence_folder *folder);

#endif
