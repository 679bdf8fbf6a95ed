/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal_job - see deal_job.h */
#include "packer/inside/deal_job.h"

#include <stdlib.h>

#include "packer/memory/mover.h"
#include "packer/system/process_table.h"

/* The step as it stands now, for the mover's thread, which lists its processes when their turn
 * comes. */
struct dealt_step {
    struct enforce *enforce;
    struct enforce_step body; /* with tasks of its own */
    struct cpus nodes;
};

static void dealt_free(void *arg)
{
    struct dealt_step *dealt = arg;

    free(dealt->body.task);
    free(dealt);
}

/* NULL for want of memory. */
static struct dealt_step *dealt_new(const struct packer *packer, const struct step *step,
                                    const struct cpus *nodes)
{
    struct dealt_step *dealt = calloc(1, sizeof(*dealt));
    struct enforce_task *task = calloc(step->body.ntasks + 1, sizeof(*task));

    if (!dealt || !task) {
        free(dealt);
        free(task);
        return NULL;
    }
    for (size_t i = 0; i < step->body.ntasks; i++)
        task[i] = step->body.task[i];
    *dealt = (struct dealt_step){packer->world.enforce, step->body, *nodes};
    dealt->body.task = task;
    return dealt;
}

/* In the mover's thread: all processes of the step. */
static int find_processes(void *arg, struct memory_job *job)
{
    struct dealt_step *dealt = arg;
    struct process_table table;
    pid_t *pid;
    size_t n;

    if (enforce_step_pids(dealt->enforce, &dealt->body, &pid, &n) < 0)
        return -1;
    process_table_open(&table, dealt->enforce->root);
    job->process = calloc(n + 1, sizeof(*job->process));
    for (size_t i = 0; job->process && i < n; i++) {
        const struct process_row *row = process_table_get(&table, pid[i]);

        if (row)
            job->process[job->n++] = (struct memory_process){
                .pid = pid[i], .started = row->look.started, .nodes = dealt->nodes};
    }
    process_table_close(&table);
    free(pid);
    return job->process ? 0 : -1;
}

int deal_job_put(const struct packer *packer, const struct step *step, enum memory_way way,
                 const struct cpus *to)
{
    struct dealt_step *dealt = dealt_new(packer, step, to);
    struct memory_finder finder = {find_processes, dealt_free, dealt};
    struct memory_job job = {
        .id = step->request.id, .user = step->request.uid, .way = way, .to = *to};

    if (!dealt)
        return -1;
    topo_nodes_of(packer->world.topo, &packer->world.topo->cpus, &job.from);
    job.origin = memory_origin_hold(step->inside.deal.origin);
    return memory_mover_put(packer->state->mover, &job, &finder);
}
