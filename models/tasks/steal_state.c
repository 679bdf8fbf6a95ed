/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal_state - events, queues and tasks of a run of the model steal. */
#include "models/tasks/steal_run.h"

#include <math.h>
#include <stdlib.h>

/* ---- events ---- */

static bool is_sooner(const struct run *run, uint32_t a, uint32_t b)
{
    double x = run->worker[a].at_s, y = run->worker[b].at_s;

    return x < y || (!(y < x) && a < b);
}

static void add_event(struct run *run, uint32_t worker, double at_s)
{
    size_t i = run->events++;

    run->worker[worker].at_s = at_s;
    for (; i > 0 && is_sooner(run, worker, run->heap[(i - 1) / 2]); i = (i - 1) / 2)
        run->heap[i] = run->heap[(i - 1) / 2];
    run->heap[i] = worker;
}

uint32_t run_take_event(struct run *run)
{
    uint32_t soonest = run->heap[0], last = run->heap[--run->events];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < run->events) {
        if (child + 1 < run->events && is_sooner(run, run->heap[child + 1], run->heap[child]))
            child++;
        if (!is_sooner(run, run->heap[child], last))
            break;
        run->heap[i] = run->heap[child];
        i = child;
    }
    run->heap[i] = last;
    return soonest;
}

void run_set_doing(struct run *run, uint32_t w, enum doing doing, double at_s)
{
    struct worker *worker = &run->worker[w];
    bool was_idle = worker->doing >= DOING_LOOK, is_idle = doing >= DOING_LOOK;

    run->domain[worker->domain].idle += (uint32_t)is_idle - (uint32_t)was_idle;
    worker->doing = doing;
    if (doing != DOING_WAIT)
        add_event(run, w, at_s);
}

/* ---- queues ---- */

static bool make_room(struct queue *queue)
{
    size_t room = queue->room ? 2 * queue->room : 64;
    struct item *item = malloc(room * sizeof(*item));

    if (!item)
        return false;
    for (size_t i = 0; i < queue->n; i++)
        item[i] = queue->item[(queue->first + i) % queue->room];
    free(queue->item);
    queue->item = item;
    queue->room = room;
    queue->first = 0;
    return true;
}

/* Says of the worker's queue whether it is a victim. */
static void note_size(struct run *run, const struct worker *worker)
{
    struct queue *queue = &run->queue[worker->queue];

    queue->is_victim = threshold_is_victim(&worker->threshold, queue->is_victim, (int64_t)queue->n);
}

/* Those that wait for one of their domain look again. */
void run_end_waits(struct run *run, uint32_t domain)
{
    const struct domain *of = &run->domain[domain];
    double latency_s = run->program->latency_s[domain * run->program->domains + domain];

    for (uint32_t w = of->first; w < of->first + of->n; w++)
        if (run->worker[w].doing == DOING_WAIT)
            run_set_doing(run, w, DOING_LOOK, run->now_s + latency_s);
}

void run_push(struct run *run, struct worker *worker, struct item item)
{
    struct queue *queue = &run->queue[worker->queue];

    if (queue->n == queue->room && !make_room(queue)) {
        run->failed = true;
        return;
    }
    queue->item[(queue->first + queue->n++) % queue->room] = item;
    worker->pushed++;
    note_size(run, worker);
    run_end_waits(run, worker->domain);
}

/* Takes the newest task of the own queue. */
static bool run_pop(struct run *run, struct worker *worker, struct item *item)
{
    struct queue *queue = &run->queue[worker->queue];

    bool any = queue->n;

    if (any)
        *item = queue->item[(queue->first + --queue->n) % queue->room];
    note_size(run, worker);
    return any;
}

/* Takes the oldest task. Who leaves too few clears the victim's bit: the owner may be busy for
 * long.
 */
struct item run_take_oldest(struct queue *queue, const struct threshold *threshold)
{
    struct item item = queue->item[queue->first];

    queue->first = (queue->first + 1) % queue->room;
    queue->n--;
    if (!threshold->literal && (int64_t)queue->n < threshold->clear)
        queue->is_victim = false;
    return item;
}

/* ---- tasks ---- */

/* How long a task takes, whoever runs it. */
static double time_of(const struct steal_program *program, uint32_t number)
{
    struct chance chance = {program->seed + ((uint64_t)number << 32)};
    double radius = sqrt(-2 * log(1 - chance_uniform(&chance))),
           angle = 2 * 3.14159265358979323846 * chance_uniform(&chance);

    return fmax(0, program->mean_s + program->sd_s * radius * cos(angle));
}

void run_start(struct run *run, uint32_t w, struct item item, double at_s)
{
    double time_s = time_of(run->program, item.number);

    run->worker[w].item = item;
    run->worker[w].looks = 0;
    run->outcome->work_s += time_s;
    run_set_doing(run, w, DOING_RUN, at_s + time_s);
}

/* Eq. 3.3 and 3.4, when the queue is empty for the first time. */
void run_set_thresholds(const struct run *run, struct worker *worker)
{
    const struct steal_program *program = run->program;
    struct threshold_rates rates = {
        .capacity = program->capacity, .push_s = program->push_s, .pop_s = program->pop_s};

    if (run->now_s > 0) {
        rates.lambda_per_s = (double)worker->pushed / run->now_s;
        rates.mu_per_s = (double)worker->run / run->now_s;
    }
    worker->threshold = threshold_of(&rates, program->policy == STEAL_LITERAL);
}

/* Goes on after a task, or a creation. */
void run_proceed(struct run *run, uint32_t w, double at_s)
{
    struct worker *worker = &run->worker[w];
    struct item item;

    if (run_pop(run, worker, &item)) {
        run_start(run, w, item, at_s + run->program->pop_s);
        return;
    }
    if (!worker->was_empty && worker->run) {
        worker->was_empty = true;
        run_set_thresholds(run, worker);
    }
    run_set_doing(run, w, DOING_LOOK, at_s);
}
