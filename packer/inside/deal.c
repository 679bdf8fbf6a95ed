/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal - deals a step's pages over the nodes that it stands on, and puts them back (policy.h), by
 * the mover's thread (memory/mover.h).
 *
 * A berthd that stops or is killed leaves them where they are, as it does with memory that follows:
 * no program is wrong for that. */
#include <stdlib.h>

#include "packer/inside/policy.h"
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
static struct dealt_step *dealt_new(struct packer *packer, const struct step *step,
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
    *dealt = (struct dealt_step){&packer->enforce, step->body, *nodes};
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
                .pid = pid[i], .started = row->stat.started, .nodes = dealt->nodes};
    }
    process_table_close(&table);
    free(pid);
    return job->process ? 0 : -1;
}

/* The nodes near the step's CPUs, of those that it may have memory on. */
static void nodes_of(const struct packer *packer, const struct step *step, struct cpus *nodes)
{
    struct cpus use = {0};

    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(&use, &step->body.task[i].cpus);
    topo_nodes_of(packer->topo, &use, nodes);
    if (!cpus_empty(&step->body.mems_home))
        cpus_and(nodes, &step->body.mems_home);
}

static int put(struct packer *packer, struct step *step, enum memory_way way,
               const struct cpus *nodes)
{
    struct dealt_step *dealt = dealt_new(packer, step, nodes);
    struct memory_finder finder = {find_processes, dealt_free, dealt};
    struct memory_job job = {.id = step->request.id, .way = way, .to = *nodes};

    if (!dealt)
        return -1;
    topo_nodes_of(packer->topo, &packer->topo->cpus, &job.from);
    job.origin = memory_origin_hold(step->inside.run->origin);
    return memory_mover_put(packer->mover, &job, &finder);
}

int inside_deal(struct packer *packer, struct step *step, bool deal, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;
    struct cpus nodes;

    if (deal == step->inside.dealt || !packer->mover)
        return 0;
    nodes_of(packer, step, &nodes);
    if (deal && cpus_count(&nodes) < 2)
        return 0;
    if (deal) {
        memory_origin_release(run->origin);
        run->origin = memory_origin_new();
    }
    if (!run->origin || put(packer, step, deal ? MEMORY_DEAL : MEMORY_BACK, &nodes) < 0)
        return berth_no_memory(err);
    step->inside.dealt = deal;
    return 0;
}

bool inside_dealing(const struct packer *packer, const struct step *step)
{
    struct memory_progress progress;
    bool running = false;

    return packer->mover &&
           memory_mover_look(packer->mover, step->request.id, &progress, &running) && running;
}
