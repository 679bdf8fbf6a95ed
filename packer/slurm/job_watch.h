/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_watch - hears of it when Slurm writes the list of a job's CPUs again.
 *
 * Under cgroup v2 it does so whenever a step of the job starts, and takes the job's other steps
 * from where berth has put them (enforce/enforce.h, job_list). inotify tells at once; what berth
 * itself writes there is heard, too, and needs nothing done. */
#ifndef BERTH_SLURM_JOB_WATCH_H
#define BERTH_SLURM_JOB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/error.h"

struct job_watch;

/* 0 and a watch that the caller closes, or -1 and err. */
int job_watch_open(struct job_watch **watch, struct berth_error *err);
void job_watch_close(struct job_watch *watch); /* NULL is fine */

int job_watch_fd(const struct job_watch *watch); /* can be read when there is something to hear */

/* Watch the file of a job, or no more. A job is watched once. 0, or -1 and err. */
int job_watch_add(struct job_watch *watch, uint32_t job, const char *path, struct berth_error *err);
void job_watch_drop(struct job_watch *watch, uint32_t job);

/* The next job whose file was written. False when there is none. */
bool job_watch_next(struct job_watch *watch, uint32_t *job);

#endif
