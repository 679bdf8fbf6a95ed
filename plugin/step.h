/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step - the life of one step on this node, as slurmstepd tells it callback by callback.
 *
 * - step_open (init): options and the site's arguments;
 * - step_prepare (user_init): who it is, what it runs (with the user's rights and folder), the
 * shared page;
 * - step_forked (task_post_fork): collect the pids; at the last one ask berthd: Slurm has placed
 * all tasks then, and none has run;
 * - step_task_init (task_init): in each task: put the answer into effect;
 * - step_exited (task_exit): after the last one tell berthd that the step is over;
 * - step_close (exit): the same, if it was not told.
 *
 * Trouble with berthd never changes what these return: rule 1, fail open. Each may be called again
 * without effect. */
#ifndef BERTH_STEP_H
#define BERTH_STEP_H

#include <slurm/spank.h>

#include "apply.h"
#include "job_items.h"
#include "options.h"

struct step_task {
    pid_t pid;
    bool exited;
};

struct step {
    struct options_site site;
    struct wire_options asked; /* what the user asked for, if he did */
    bool asked_any;

    bool prepared;            /* id, ntasks and task are valid */
    struct wire_register reg; /* its task is empty but for the moment of the request */
    struct job_texts texts;   /* of reg */
    size_t ntasks, nexited;
    struct step_task *task; /* [ntasks] by local task id */
    struct apply_page *page;
    unsigned ask_deadline_ms; /* for the registration: what finding the program has left of it */
    bool asked_packer;        /* whatever came of it */
    bool known;               /* it has said that it knows the step */
    unsigned end_deadline_ms; /* how long to wait for berthd to hear of the end; 0: it was not
                               * asked, or has heard. One that did not answer in time is not waited
                               * for as long again: the epilog is */
    int exit_status;          /* the worst so far; -1 none yet */
};

void step_open(struct step *step, int argc, char **argv);
void step_prepare(struct step *step, spank_t spank);
void step_forked(struct step *step, spank_t spank);

/* 0, or -1 when the user said `require` and the packer did not place the task. */
int step_task_init(struct step *step, spank_t spank);
void step_exited(struct step *step, spank_t spank);
void step_close(struct step *step);

/* The epilog of a job: if it was in the pool, wait until berthd has cleared its cores. */
void step_job_epilog(spank_t spank, int argc, char **argv);

#endif
