/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply - berthd's answer, carried from slurmstepd into the tasks and put into effect there.
 *
 * The tasks are forked before the answer comes, so it is handed to them through a page of shared
 * memory that is made before the fork. slurmstepd writes it before it releases any task; the tasks
 * only read it, but for one number that they know and slurmstepd does not. */
#ifndef BERTH_APPLY_H
#define BERTH_APPLY_H

#include <slurm/spank.h>

#include "packer/wire/wire.h"

struct apply_page;

/* A page for an answer about ntasks tasks (local ids 0 to ntasks - 1). NULL with errno. Free with
 * apply_page_free. */
struct apply_page *apply_page_create(size_t ntasks);
void apply_page_free(struct apply_page *page); /* NULL allowed */

/* In slurmstepd: keep an answer that says ok. Places of tasks that do not exist are dropped, and
 * variables that no berthd answers (wire_env_known): root sets these in a user's environment, and a
 * name like LD_PRELOAD would run there. Returns the name of the first of them; NULL: none was. */
const char *apply_page_fill(struct apply_page *page, const struct wire_answer *answer);

/* In a task: was there such an answer? */
bool apply_page_answered(const struct apply_page *page); /* NULL: no */
const char *apply_page_note(const struct apply_page *page);
const char *apply_page_runtime(const struct apply_page *page); /* the step's page; NULL: none */

/* In task_init of the task with this local id: set affinity, then memory policy, then environment
 * as the answer says, but for the step's page (preload.h). What cannot be had exactly stays as it
 * was, and nothing is tried after it. 0, or -1 and err. */
int apply_task(spank_t spank, const struct apply_page *page, uint32_t task,
               struct berth_error *err);

/* The CPUs that the calling thread may run on. 0, or -1 with errno. */
int apply_get_affinity(struct cpus *cpus);

#endif
