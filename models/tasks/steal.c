/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/steal.h"

#include <stdlib.h>

#include "models/tasks/steal_run.h"

/* ---- tasks ---- */

/* Adds two tasks that have between them what is below a task, cut where chance has it. Returns when
 * that is done. */
static double create_children(struct run *run, struct worker *worker, struct item item)
{
    struct chance chance = {run->program->seed ^ ~((uint64_t)item.number << 32)};
    uint32_t below = item.n - 1, left = below - (uint32_t)(chance_uniform(&chance) * below);
    double at_s = run->now_s;

    if (left) {
        run_push(run, worker, (struct item){item.number + 1, left});
        at_s += run->program->push_s;
    }
    if (below > left) {
        run_push(run, worker, (struct item){item.number + 1 + left, below - left});
        at_s += run->program->push_s;
    }
    return at_s;
}

static void end_task(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    worker->run++;
    run->left--;
    run_come_home(run, w);
    run_proceed(run, w, create_children(run, worker, worker->item));
}

/* The dispatcher deals tasks to all workers by turns. */
static void create_one(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    run_push(run, &run->worker[worker->item.number % run->workers],
             (struct item){worker->item.number, 1});
    worker->item.number++;
    if (--worker->item.n)
        run_set_doing(run, w, DOING_CREATE, run->now_s + run->program->push_s);
    else
        run_proceed(run, w, run->now_s + run->program->push_s);
}

/* ---- the whole ---- */

static void next_event(struct run *run)
{
    uint32_t w = run_take_event(run);

    run->now_s = run->worker[w].at_s;
    switch (run->worker[w].doing) {
    case DOING_CREATE:
        create_one(run, w);
        break;
    case DOING_RUN:
        end_task(run, w);
        break;
    case DOING_LOOK:
        run_look(run, w);
        break;
    case DOING_ATTEMPT:
        run_attempt(run, w);
        break;
    case DOING_WAIT: /* has no event */
        break;
    }
}

/* Each worker looks for tasks but the first, which has the program. */
static void start_workers(struct run *run)
{
    const struct steal_program *program = run->program;
    struct item all = {.n = program->n};

    for (uint32_t d = 0, w = 0; d < program->domains; d++) {
        run->domain[d] = (struct domain){.first = w, .n = program->cores[d], .outside = NOBODY};
        for (uint32_t i = 0; i < program->cores[d]; i++, w++) {
            run->worker[w] =
                (struct worker){.domain = d, .queue = program->policy == STEAL_SHEPHERD ? d : w};
            run_set_thresholds(run, &run->worker[w]);
            if (w > 0)
                run_set_doing(run, w, DOING_LOOK, 0);
        }
    }
    run->worker[0].item = all;
    if (program->kind == STEAL_FLAT)
        run_set_doing(run, 0, DOING_CREATE, 0);
    else
        run_start(run, 0, all, 0);
}

static uint32_t workers_of(const struct steal_program *program)
{
    uint32_t n = 0;

    for (size_t d = 0; d < program->domains; d++)
        n += program->cores[d];
    return n;
}

static void free_run(struct run *run)
{
    for (uint32_t q = 0; run->queue && q < run->queues; q++)
        free(run->queue[q].item);
    free(run->queue);
    free(run->worker);
    free(run->heap);
}

int steal_run(const struct steal_program *program, struct steal_outcome *outcome)
{
    struct run run = {.program = program,
                      .outcome = outcome,
                      .chance = {program->seed},
                      .workers = workers_of(program),
                      .left = program->n};

    *outcome = (struct steal_outcome){0};
    run.queues = program->policy == STEAL_SHEPHERD ? (uint32_t)program->domains : run.workers;
    run.worker = calloc(run.workers, sizeof(*run.worker));
    run.queue = calloc(run.queues, sizeof(*run.queue));
    run.heap = calloc(run.workers, sizeof(*run.heap));
    run.failed = !run.worker || !run.queue || !run.heap;
    if (!run.failed)
        start_workers(&run);
    while (!run.failed && run.left)
        next_event(&run);
    outcome->seconds = run.now_s;
    free_run(&run);
    return run.failed ? -1 : 0;
}
