/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_follow - see memory_follow.h */
#include "packer/enact/memory_follow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/memory/mover.h"
#include "packer/observe/window.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define MB 1e6

/* Does what memory_rate of berth.conf says, at the start and when it has changed: starts the mover,
 * or tells it the new rate. With the rate 0 no more memory follows; what is under way goes on. */
static void memory_configure(const struct packer *packer)
{
    struct memory_system system = memory_system(&packer->world.root, packer->world.enforce->hand);
    double rate = (double)packer->world.conf.memory_rate * MB;

    if (rate == 0 || !packer->world.enforce->way->touches || packer->world.topo->nodes < 2)
        return;
    if (packer->state->mover)
        memory_mover_pace(packer->state->mover, rate);
    else
        packer->state->mover = memory_mover_open(&system, rate);
}

void memory_close(const struct packer *packer)
{
    memory_mover_close(packer->state->mover);
    packer->state->mover = NULL;
}

/* ---- what may be ---- */

void memory_told(struct step *step)
{
    if (step->request.options.mem == WIRE_MEM_BIND && step_movable(step))
        step->memory.bound = step->place.mems;
}

/* ---- does it pay? ---- */

static void minus(const struct cpus *a, const struct cpus *b, struct cpus *rest)
{
    *rest = *a;
    cpus_andnot(rest, b);
}

double memory_bytes(const struct step *step, const struct cpus *from_nodes,
                    const struct cpus *to_nodes)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;
    double bytes = 0;

    if (!last || last->nodes == 0)
        return NAN;
    for (size_t i = 0; i < last->nodes; i++)
        if (cpus_has(from_nodes, i) && !cpus_has(to_nodes, i))
            bytes += last->rss_node[i];
    return bytes;
}

/* Add to a case what is known of reading `from`'s memory on `to`, where it is the worst so far. */
static void add_pair(const struct packer *packer, size_t from, size_t to, struct page_move *move)
{
    const struct machine_profile *machine = packer->world.machine;
    long f = machine_profile_node(machine, from), t = machine_profile_node(machine, to);
    double ratio = NAN;

    if (f >= 0 && t >= 0) {
        size_t pair = (size_t)f * machine->nodes + (size_t)t, within = (size_t)t;

        within = within * machine->nodes + within;
        ratio = machine->latency_ns[pair].value / machine->latency_ns[within].value;
        move->link_bytes_s = fmin(move->link_bytes_s, machine->uni[pair].value * 1e9);
        move->core_bytes_s = fmin(move->core_bytes_s, machine->node[t].local[1].value * 1e9);
    }
    if (isnan(ratio))
        ratio = topo_distance(packer->world.topo, from, to);
    move->ratio = fmax(move->ratio, ratio);
}

/* What was counted of the step, or is known of its program. */
static void add_step(const struct step *step, struct page_move *move)
{
    double error;

    if (!step_counts_rate(step, RATE_CPU, &move->cores, &error) || !(move->cores > 0))
        move->cores = (double)step->size.given;
    if (!step_counts_rate(step, RATE_STALLED, &move->stalled, &error))
        move->stalled = NAN;
    if (!step_counts_rate(step, RATE_BYTES, &move->traffic, &error))
        move->traffic = step->profile.core_gbps * 1e9 * move->cores;
}

struct page_move_price memory_price(const struct packer *packer, const struct step *step,
                                    const struct cpus *from_nodes, const struct cpus *to_nodes)
{
    double rate = (double)packer->world.conf.memory_rate * MB;
    struct page_move move = {.bytes = memory_bytes(step, from_nodes, to_nodes),
                             .rate = rate > 0 ? rate : PAGE_MOVE_COPY_BYTES_S,
                             .core_bytes_s = NAN,
                             .ratio = NAN,
                             .link_bytes_s = NAN};
    struct cpus left;

    minus(from_nodes, to_nodes, &left);
    cpus_foreach(from, &left) cpus_foreach(to, to_nodes) add_pair(packer, from, to, &move);
    add_step(step, &move);
    return page_move_price(&move);
}

/* ---- following ---- */

/* Why the step's memory stays, into its struct; false: it shall follow. */
static bool stays(const struct packer *packer, const struct step *step,
                  const struct page_move_price *price, char *why, size_t size)
{
    double least_s = (double)packer->world.conf.replace_horizon_ms / 1000;

    why[0] = '\0';
    if (step->request.options.mem == WIRE_MEM_INTERLEAVE)
        snprintf(why, size, "mem=interleave: it stays spread");
    else if (step->request.options.mem == WIRE_MEM_BIND)
        snprintf(why, size, "mem=bind: it stays on the nodes that it was bound to");
    else if (step->inside.deal.dealt)
        snprintf(why, size, "tranquil: it is %s",
                 step->inside.deal.returning ? "on its way back to where it was"
                                             : "dealt over the nodes where the step stands");
    else if (packer->world.conf.memory_rate == 0)
        snprintf(why, size, "memory_rate of berth.conf is 0");
    else if (page_move_worth(price, step_remaining_s(step, clock_s(), least_s)) < 0)
        snprintf(why, size, "it would not pay: %.3g core-seconds, to gain %.3g cores", price->lost,
                 price->gain);
    else if (!packer->state->mover)
        snprintf(why, size, "nothing on this node can move it");
    return why[0] != '\0';
}

/* Who has left a node: made from the step as it stands now, for the mover's thread, which looks for
 * the processes when their turn comes. */
struct leaving {
    struct enforce *enforce;
    struct enforce_step step; /* with tasks of its own */
    struct cpus from, others; /* others: where who descends from no task stands */
    struct cpus node[];       /* where each task stands, of the nodes that the step may use */
};

static void leaving_free(void *arg)
{
    struct leaving *leaving = arg;

    if (leaving)
        free(leaving->step.task);
    free(leaving);
}

static bool leaves(const struct leaving *leaving, const struct cpus *nodes)
{
    return !cpus_empty(nodes) && !cpus_subset(&leaving->from, nodes);
}

/* NULL for want of memory. */
static struct leaving *leaving_new(const struct packer *packer, const struct step *step,
                                   const struct cpus *from_nodes, const struct cpus *to_nodes)
{
    const struct enforce_step *body = &step->body;
    struct leaving *leaving = calloc(1, sizeof(*leaving) + body->ntasks * sizeof(leaving->node[0]));
    struct enforce_task *task = calloc(body->ntasks + 1, sizeof(*task));

    if (!leaving || !task) {
        free(leaving);
        free(task);
        return NULL;
    }
    leaving->enforce = packer->world.enforce;
    leaving->from = *from_nodes;
    leaving->others = *to_nodes;
    leaving->step = *body;
    leaving->step.task = task;
    for (size_t i = 0; i < body->ntasks; i++) {
        task[i] = body->task[i];
        topo_nodes_of(packer->world.topo, &task[i].cpus, &leaving->node[i]);
        if (!cpus_empty(&body->mems_home))
            cpus_and(&leaving->node[i], &body->mems_home);
    }
    if (!cpus_empty(&body->mems_home))
        cpus_and(&leaving->others, &body->mems_home);
    return leaving;
}

/* Has any task left a node? */
static bool leaving_any(const struct leaving *leaving)
{
    for (size_t i = 0; i < leaving->step.ntasks; i++)
        if (leaves(leaving, &leaving->node[i]))
            return true;
    return false;
}

/* In the mover's thread: those processes of the step that have left a node. */
static int find_leaving(void *arg, struct memory_job *job)
{
    struct leaving *leaving = arg;
    struct enforce *enforce = leaving->enforce;
    struct process_table table;
    size_t n;
    pid_t *pids;

    if (enforce_step_pids(enforce, &leaving->step, &pids, &n) < 0)
        return -1;
    process_table_open(&table, enforce->root);
    job->process = calloc(n + 1, sizeof(*job->process));
    for (size_t i = 0; job->process && i < n; i++) {
        long task = enforce_task_of(&table, &leaving->step, pids[i]);
        const struct cpus *nodes = task < 0 ? &leaving->others : &leaving->node[task];
        const struct process_row *row = process_table_get(&table, pids[i]);

        if (row && leaves(leaving, nodes))
            job->process[job->n++] = (struct memory_process){
                .pid = pids[i], .started = row->look.started, .nodes = *nodes};
    }
    process_table_close(&table);
    free(pids);
    return job->process ? 0 : -1;
}

static void take_progress(const struct packer *packer, struct step *step)
{
    struct step_memory *memory = &step->memory;
    struct memory_progress progress;

    if (!memory->running || !packer->state->mover ||
        !memory_mover_look(packer->state->mover, step->request.id, &progress, &memory->running))
        return;
    if (!isnan(progress.bytes))
        memory->bytes = progress.bytes;
    memory->moved = progress.moved;
    memory->failed = progress.failed;
    snprintf(memory->why, sizeof(memory->why), "%s", progress.why);
    if (!memory->running && !memory->why[0])
        cpus_zero(&memory->behind);
}

static int put(const struct packer *packer, const struct step *step, struct leaving *leaving)
{
    struct memory_job job = {.id = step->request.id,
                             .user = step->request.uid,
                             .from = leaving->from,
                             .to = leaving->others};
    struct memory_finder finder = {find_leaving, leaving_free, leaving};

    return memory_mover_put(packer->state->mover, &job, &finder);
}

void memory_follow(const struct packer *packer, struct step *step, const struct cpus *from_nodes,
                   const struct cpus *to_nodes)
{
    struct step_memory *memory = &step->memory;
    struct page_move_price price;
    struct cpus from = *from_nodes;
    struct leaving *leaving;

    take_progress(packer, step);
    cpus_or(&from, &memory->behind);
    price = memory_price(packer, step, &from, to_nodes);
    leaving = leaving_new(packer, step, &from, to_nodes);
    if (!leaving) {
        log_warn("step %u.%u: its memory does not follow: out of memory", step->request.id.job,
                 step->request.id.step);
        return;
    }
    if (packer->state->mover && !step->inside.deal.dealt)
        memory_mover_drop(packer->state->mover, step->request.id); /* on its way to where it was */
    if (memory->running)
        snprintf(memory->why, sizeof(memory->why), "given up: the step has moved again");
    memory->running = false;
    if (!leaving_any(leaving)) {
        leaving_free(leaving);
        return;
    }
    *memory = (struct step_memory){.bound = memory->bound,
                                   .behind = from,
                                   .asked = true,
                                   .bytes = memory_bytes(step, &from, to_nodes),
                                   .rate = (double)packer->world.conf.memory_rate * MB,
                                   .gain = price.gain,
                                   .lost = price.lost,
                                   .break_even_s = price.break_even_s};
    if (stays(packer, step, &price, memory->why, sizeof(memory->why))) {
        memory->dealt = step->inside.deal.dealt;
        leaving_free(leaving);
    } else if (put(packer, step, leaving) < 0) {
        snprintf(memory->why, sizeof(memory->why), "out of memory");
    } else {
        memory->running = true;
    }
}

/* The step has moved while its memory was dealt. That is where its program put it again, but not
 * where the step stands. */
static void follow_late(const struct packer *packer, struct step *step)
{
    struct cpus behind = step->memory.behind, now;

    if (!step->memory.dealt || step->inside.deal.dealt)
        return;
    step->memory.dealt = false;
    topo_nodes_of(packer->world.topo, &step->place.cpus, &now);
    if (step_movable(step))
        memory_follow(packer, step, &behind, &now);
}

void memory_turn(const struct packer *packer)
{
    struct step *step;

    if (!packer->state->mover)
        return;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        take_progress(packer, step);
        follow_late(packer, step);
    }
}

void memory_ended(const struct packer *packer, struct step *step)
{
    struct step_memory *memory = &step->memory;

    take_progress(packer, step);
    if (packer->state->mover)
        memory_mover_drop(packer->state->mover, step->request.id);
    if (memory->running)
        snprintf(memory->why, sizeof(memory->why), "the step ended, or left berth's care");
    memory->running = false;
}

/* ---- the stage ---- */

static int open_mover(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    memory_configure(packer);
    return 0;
}

static void note_bound(const struct packer *packer, struct step *step)
{
    (void)packer;
    memory_told(step);
}

static void end_memory(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    memory_ended(packer, step);
}

static void follow_turn(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    memory_turn(packer);
}

const struct stage memory_stage = {
    .name = "memory",
    .open = open_mover,
    .close = memory_close,
    .configure = memory_configure,
    .begin = note_bound,
    .end = end_memory,
    .turn = follow_turn,
};
