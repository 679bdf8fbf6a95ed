/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strangers - who runs on cores of the pool and is not in berth's care, as Slurm's own folders say:
 * jobs that no placed step is of, and steps of the pool's jobs that are not registered, because
 * berthd was dead when they started, or the plugin was missing, or the journal was cut.
 *
 * A step's folder is there before its registration. What is not registered counts as soon as a task
 * of it runs its program, which tasks do when berthd has answered or slurmstepd has given up; one
 * that hides that, by its name, counts after STRANGERS_PATIENCE_S. A batch script or an interactive
 * shell that is not registered does not count: it waits for the steps that it starts. */
#ifndef BERTH_SLURM_STEPS_STRANGERS_H
#define BERTH_SLURM_STEPS_STRANGERS_H

#include <stdbool.h>

#include "packer/steps/stranger_list.h"

#define STRANGERS_PATIENCE_S 2

/* Reads the folders of the pool's jobs, and which jobs stand on their cores. Logs what begins to
 * count, and what has gone. Returns whether what counts has changed. */
bool strangers_read(const struct packer *packer);

/* Does the same of the steps of one job of the pool: cheap enough for each registration. */
bool strangers_read_job(const struct packer *packer, uint32_t job);

/* Takes note of a step's folder that is new: the step is looked at until it is registered, counts
 * or has gone. With `refused` it counts at once: its registration could not be taken. */
void strangers_expect(const struct packer *packer, struct wire_step_id id, bool refused);

/* Takes note of a step that only asks berthd something: it is over at once, and does not count
 * before STRANGERS_ASKS_S. */
#define STRANGERS_ASKS_S 30
void strangers_excuse(const struct packer *packer, struct wire_step_id id);

/* Takes note of a new job on cores of the pool. Where Slurm has taken these from a job of the pool,
 * whose tasks are stopped or gone, it counts as soon as it has a process; else it may be about to
 * register, and counts as soon as a task of it runs its program, as a step. Which of both it is, is
 * asked at each look: Slurm gives a core away before it stops the job that had it. */
void strangers_expect_job(const struct packer *packer, uint32_t job);

/* A step of the job asks for its cores: the job is taken note of. */
void strangers_ask(const struct packer *packer, uint32_t job);

/* A step of the job has registered, which shows as much as asking does: slurmstepd has the plugin.
 */
void strangers_hear(const struct packer *packer, uint32_t job);

/* Looks again at what was taken note of. Returns whether what counts has changed. */
bool strangers_look(const struct packer *packer);

/* Says whether such a step, or job, counts; of a job (step WHOLE_JOB) also its steps. */
bool strangers_have(const struct packer *packer, struct wire_step_id id);

/* Returns the seconds until what was taken note of shall be looked at again; < 0: there is none. */
double strangers_due(const struct packer *packer);

/* Adds the CPUs that are places for the pool when nobody has them: all, or none (packer->state->
 * idle). Whoever has some is a stranger, and when he goes there is a place more. */
void strangers_add_idle(const struct packer *packer, struct cpus *cpus);

#endif
