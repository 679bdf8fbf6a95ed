/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_follow - see memory_follow.h */
#include "packer/enact/memory_follow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/memory/mover.h"
#include "packer/observe/window.h"
#include "packer/steps/step_counts.h"

#define MB 1e6

void memory_configure(struct packer *packer)
{
    struct memory_system system = memory_system(&packer->root);
    double rate = (double)packer->conf.memory_rate * MB;

    if (rate == 0 || !packer->enforce.way->touches || packer->topo->nodes < 2)
        return;
    if (packer->mover)
        memory_mover_pace(packer->mover, rate);
    else
        packer->mover = memory_mover_open(&system, rate);
}

void memory_close(struct packer *packer)
{
    memory_mover_close(packer->mover);
    packer->mover = NULL;
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

/* Index of a node in the machine profile; -1: not there. */
static long profile_node(const struct machine_profile *machine, size_t os_index)
{
    for (size_t i = 0; machine && i < machine->nodes; i++)
        if (machine->node[i].os_index == os_index)
            return (long)i;
    return -1;
}

/* Add to a case what is known of reading `from`'s memory on `to`, where it is the worst so far. */
static void add_pair(const struct packer *packer, size_t from, size_t to, struct page_move *move)
{
    const struct machine_profile *machine = packer->machine;
    long f = profile_node(machine, from), t = profile_node(machine, to);
    double ratio = NAN;

    if (f >= 0 && t >= 0) {
        size_t pair = (size_t)f * machine->nodes + (size_t)t, within = (size_t)t;

        within = within * machine->nodes + within;
        ratio = machine->latency_ns[pair].value / machine->latency_ns[within].value;
        move->link_bytes_s = fmin(move->link_bytes_s, machine->uni[pair].value * 1e9);
        move->core_bytes_s = fmin(move->core_bytes_s, machine->node[t].local[1].value * 1e9);
    }
    if (isnan(ratio))
        ratio = topo_distance(packer->topo, from, to);
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
    double rate = (double)packer->conf.memory_rate * MB;
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
    double horizon_s = (double)packer->conf.replace_horizon_ms / 1000;

    why[0] = '\0';
    if (step->request.options.mem == WIRE_MEM_INTERLEAVE)
        snprintf(why, size, "mem=interleave: it stays spread");
    else if (step->request.options.mem == WIRE_MEM_BIND)
        snprintf(why, size, "mem=bind: it stays on the nodes that it was bound to");
    else if (packer->conf.memory_rate == 0)
        snprintf(why, size, "memory_rate of berth.conf is 0");
    else if (!packer->mover)
        snprintf(why, size, "nothing on this node can move it");
    else if (page_move_worth(price, horizon_s) < 0)
        snprintf(why, size, "it would not pay: %.3g core-seconds, to gain %.3g cores", price->lost,
                 price->gain);
    return why[0] != '\0';
}

/* Where the process's task stands now, of the nodes that the step may use. */
static void nodes_of(struct packer *packer, const struct step *step, pid_t pid,
                     const struct cpus *to_nodes, struct cpus *nodes)
{
    long task = enforce_task_of(&packer->root, &step->body, pid);

    if (task < 0)
        *nodes = *to_nodes;
    else
        topo_nodes_of(packer->topo, &step->body.task[task].cpus, nodes);
    if (!cpus_empty(&step->body.mems_home))
        cpus_and(nodes, &step->body.mems_home);
}

/* The job for those processes of the step that have left a node; n = 0: none has. -1: the processes
 * are not known. */
static int make_job(struct packer *packer, const struct step *step, const struct cpus *from_nodes,
                    const struct cpus *to_nodes, struct memory_job *job)
{
    pid_t *pids;
    size_t n;

    *job = (struct memory_job){.id = step->request.id, .from = *from_nodes, .to = *to_nodes};
    if (!cpus_empty(&step->body.mems_home))
        cpus_and(&job->to, &step->body.mems_home);
    if (enforce_step_pids(&packer->enforce, &step->body, &pids, &n) < 0)
        return -1;
    job->process = calloc(n + 1, sizeof(*job->process));
    for (size_t i = 0; job->process && i < n; i++) {
        struct memory_process *process = &job->process[job->n];

        process->pid = pids[i];
        nodes_of(packer, step, pids[i], &job->to, &process->nodes);
        if (!cpus_empty(&process->nodes) && !cpus_subset(from_nodes, &process->nodes))
            job->n++;
    }
    free(pids);
    job->queued_s = (double)clock_ns(CLOCK_BOOTTIME) / 1e9;
    return job->process ? 0 : -1;
}

static void take_progress(const struct packer *packer, struct step *step)
{
    struct step_memory *memory = &step->memory;
    struct memory_progress progress;

    if (!memory->running || !packer->mover ||
        !memory_mover_look(packer->mover, step->request.id, &progress, &memory->running))
        return;
    if (!isnan(progress.bytes))
        memory->bytes = progress.bytes;
    memory->moved = progress.moved;
    memory->failed = progress.failed;
    snprintf(memory->why, sizeof(memory->why), "%s", progress.why);
    if (!memory->running && !memory->why[0])
        cpus_zero(&memory->behind);
}

void memory_follow(struct packer *packer, struct step *step, const struct cpus *from_nodes,
                   const struct cpus *to_nodes)
{
    struct step_memory *memory = &step->memory;
    struct page_move_price price;
    struct cpus from = *from_nodes;
    struct memory_job job;

    take_progress(packer, step);
    cpus_or(&from, &memory->behind);
    price = memory_price(packer, step, &from, to_nodes);
    if (make_job(packer, step, &from, to_nodes, &job) < 0) {
        log_warn("step %u.%u: its memory does not follow: %s", step->request.id.job,
                 step->request.id.step, strerror(errno));
        return;
    }
    if (packer->mover)
        memory_mover_drop(packer->mover, step->request.id); /* on its way to where it was */
    if (memory->running)
        snprintf(memory->why, sizeof(memory->why), "given up: the step has moved again");
    memory->running = false;
    if (job.n == 0) {
        free(job.process);
        return;
    }
    *memory = (struct step_memory){.bound = memory->bound,
                                   .behind = from,
                                   .asked = true,
                                   .bytes = memory_bytes(step, &from, to_nodes),
                                   .rate = (double)packer->conf.memory_rate * MB,
                                   .gain = price.gain,
                                   .lost = price.lost,
                                   .break_even_s = price.break_even_s};
    if (stays(packer, step, &price, memory->why, sizeof(memory->why)))
        free(job.process);
    else if (memory_mover_put(packer->mover, &job) < 0)
        snprintf(memory->why, sizeof(memory->why), "out of memory");
    else
        memory->running = true;
}

void memory_turn(struct packer *packer)
{
    struct step *step;

    if (packer->mover)
        TAILQ_FOREACH(step, &packer->steps.live, link) take_progress(packer, step);
}

void memory_ended(struct packer *packer, struct step *step)
{
    struct step_memory *memory = &step->memory;

    take_progress(packer, step);
    if (packer->mover)
        memory_mover_drop(packer->mover, step->request.id);
    if (memory->running)
        snprintf(memory->why, sizeof(memory->why), "the step ended, or left berth's care");
    memory->running = false;
}
