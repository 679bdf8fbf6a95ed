/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder_watch - hears at once of new folders of Slurm's: of jobs on the node, and of steps of the
 * jobs that are named. By inotify: cgroupfs tells of folders that are made and removed, and of
 * files that are written, under both versions.
 *
 * A job's folder is made first, and its CPUs are written then. So a new job is told of when its
 * folder is made, and again when that file is written, until folder_watch_settle(). What cannot be
 * watched, for there are too many, is found by the sweep. */
#ifndef BERTH_SLURM_FOLDER_WATCH_H
#define BERTH_SLURM_FOLDER_WATCH_H

#include <stdbool.h>

#include "packer/base/error.h"
#include "packer/slurm/slurm_jobs.h"

#define FOLDER_WATCH_MAX 4096 /* folders that are watched at a time */

struct folder_watch;

enum folder_what {
    FOLDER_JOB,  /* a new job, or its CPUs were written */
    FOLDER_STEP, /* a new step of a job that is named */
    FOLDER_GONE, /* a job (step UINT32_MAX) or such a step is gone */
    FOLDER_LOST  /* something was missed: all is to be read anew */
};

struct folder_event {
    enum folder_what what;
    struct wire_step_id id;
    char dir[CGROUP_DIR_MAX]; /* of a FOLDER_JOB */
};

/* 0 and a watch that the caller closes, or -1 and err. What `slurm` points to must stay. */
int folder_watch_open(struct folder_watch **watch, struct slurm_cgroups slurm,
                      struct berth_error *err);
void folder_watch_close(struct folder_watch *watch); /* NULL is fine */

int folder_watch_fd(const struct folder_watch *watch); /* can be read when there is something */

/* Watches the node of this step, whose folder `leaf` is below the root of cpusets, for new jobs,
 * and its job for new steps; what is watched already stays so. 0, or -1 and err. A step that Slurm
 * does not confine has no folder: 0. */
int folder_watch_step(struct folder_watch *watch, struct wire_step_id id, const char *leaf,
                      struct berth_error *err);

/* Watches a job no more: it has no step that is placed; its CPUs are known. */
void folder_watch_settle(struct folder_watch *watch, uint32_t job);

/* Returns the next event. False when there is none. */
bool folder_watch_next(struct folder_watch *watch, struct folder_event *event);

#endif
