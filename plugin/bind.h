/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind - has the user bound the step's tasks (--cpu-bind), or has an outer srun left its own
 * binding?
 *
 * Slurm writes how it has bound a task into that task's environment, SLURM_CPU_BIND and its parts
 * SLURM_CPU_BIND_VERBOSE, _TYPE and _LIST, also where it bound by itself, which it does by
 * "mask_cpu:". An srun that is started there takes SLURM_CPU_BIND for its user's wish, and an
 * sbatch hands it to the job. In slurmstepd both look alike; srun and sbatch themselves can still
 * tell: a user sets SLURM_CPU_BIND alone, or gives another list. */
#ifndef BERTH_BIND_H
#define BERTH_BIND_H

#include <stdbool.h>
#include <stddef.h>

/* What srun or sbatch has found of an outer srun's list, for slurmstepd. Of a job without its
 * user's environment (--export=NONE) the SLURM_ ones are there. */
#define BIND_LEFT "SLURM_BERTH_BIND_LEFT"

/* In srun, sbatch and salloc, before they read their environment: notes there what an outer srun
 * left. */
void bind_note_left(void);

/* Says whether the user bound the tasks, by SLURM_CPU_BIND_TYPE and _LIST and BIND_LEFT of the
 * step's environment (NULL: not there). map_ and mask_ldom: are always a user's. */
bool bind_by_hand(const char *type, const char *list, const char *left);

/* Writes the CPUs that the masks of "mask_cpu:" have in common, as "0-3,8", into text[size]; "" of
 * another type, or where they cannot be read. */
void bind_common(const char *type, const char *list, char *text, size_t size);

#endif
