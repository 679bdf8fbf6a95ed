/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank_tasks - see rank_tasks.h */
#include "packer/steps/rank_tasks.h"

#include <stdlib.h>

#include "packer/system/process_look.h"

void rank_tasks_whole(const struct step *step, struct cpus *whole)
{
    const struct enforce_task *task = step->registered ? step->registered : step->body.task;
    size_t n = step->registered ? step->nregistered : step->body.ntasks;

    cpus_zero(whole);
    for (size_t i = 0; i < n; i++)
        cpus_or(whole, &task[i].home);
}

/* Adds up to n of the CPUs to the home. */
static void add_some(struct cpus *home, struct cpus *free_cpus, size_t n)
{
    for (size_t cpu = cpus_next(free_cpus, 0); n > 0 && cpu < CPUS_MAX;
         cpu = cpus_next(free_cpus, cpu + 1), n--) {
        cpus_add(home, cpu);
        cpus_remove(free_cpus, cpu);
    }
}

void rank_homes(const struct cpus *whole, size_t n, const struct step_rank *rank, struct cpus *home)
{
    struct cpus left = *whole;

    for (size_t i = 0; i < n; i++) {
        home[i] = rank[i].cpus;
        cpus_and(&home[i], whole);
        cpus_andnot(&left, &home[i]);
    }
    for (size_t i = 0; i < n; i++) {
        struct cpus outside = rank[i].cpus;

        cpus_andnot(&outside, whole);
        add_some(&home[i], &left, cpus_count(&outside));
        if (cpus_empty(&home[i]))
            home[i] = *whole;
    }
}

static struct enforce_task *task_of_rank(const struct step *step, const struct step_rank *rank)
{
    for (size_t i = 0; step->body.ranks && i < step->body.ntasks; i++)
        if (step->body.task[i].pid == rank->pid &&
            process_same(step->body.task[i].started, rank->started))
            return &step->body.task[i];
    return NULL;
}

bool rank_tasks_are(const struct step *step, const struct step_rank *rank, size_t n)
{
    if (!step->body.ranks || step->body.ntasks != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!task_of_rank(step, &rank[i]))
            return false;
    return true;
}

/* Fills in the tasks. A new one stands where it was found. What a known rank has counts as its
 * CPUs, wherever it stands now. */
static int fill(const struct step *step, const struct step_rank *rank, size_t n,
                struct enforce_task *task)
{
    struct step_rank *now = calloc(n, sizeof(*now));
    struct cpus *home = calloc(n, sizeof(*home)), whole;
    const struct enforce_task *known;

    if (!now || !home) {
        free(now);
        free(home);
        return -1;
    }
    rank_tasks_whole(step, &whole);
    for (size_t i = 0; i < n; i++) {
        now[i] = rank[i];
        if ((known = task_of_rank(step, &rank[i])))
            now[i].cpus = known->home;
    }
    rank_homes(&whole, n, now, home);
    for (size_t i = 0; i < n; i++) {
        known = task_of_rank(step, &rank[i]);
        if (known)
            task[i] = *known;
        else
            task[i] = (struct enforce_task){.pid = rank[i].pid,
                                            .started = rank[i].started,
                                            .home = home[i],
                                            .sized = home[i],
                                            .use = home[i],
                                            .cpus = rank[i].cpus};
    }
    free(now);
    free(home);
    return 0;
}

int rank_tasks_take(struct step *step, const struct step_rank *rank, size_t n)
{
    struct enforce_task *task = calloc(n + 1, sizeof(*task));

    if (!task || n == 0 || fill(step, rank, n, task) < 0) {
        free(task);
        return -1;
    }
    if (step->registered) {
        free(step->body.task);
    } else {
        step->registered = step->body.task;
        step->nregistered = step->body.ntasks;
    }
    step->body.task = task;
    step->body.ntasks = n;
    step->body.ranks = true;
    return 0;
}

void rank_tasks_drop(struct step *step)
{
    if (!step->registered)
        return;
    free(step->body.task);
    step->body.task = step->registered;
    step->body.ntasks = step->nregistered;
    step->body.ranks = false;
    step->registered = NULL;
    step->nregistered = 0;
}
