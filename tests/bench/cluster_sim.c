/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_sim - see cluster_sim.h */
#include "tests/bench/cluster_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BACKFILL_S 30     /* sched/backfill's bf_interval */
#define BACKFILL_JOBS 500 /* its bf_max_job_test */

/* ---- those that run, by their ends ---- */

static struct cluster_job *job_of(const struct cluster_sim *sim, size_t at)
{
    return &sim->work->job[sim->heap[at]];
}

static bool sooner(const struct cluster_sim *sim, size_t a, size_t b)
{
    double x = job_of(sim, a)->due_s, y = job_of(sim, b)->due_s;

    return x < y || (x == y && sim->heap[a] < sim->heap[b]);
}

static void swap(struct cluster_sim *sim, size_t a, size_t b)
{
    size_t keep = sim->heap[a];

    sim->heap[a] = sim->heap[b];
    sim->heap[b] = keep;
    job_of(sim, a)->heap = a;
    job_of(sim, b)->heap = b;
}

static void heap_move(struct cluster_sim *sim, size_t at)
{
    for (; at > 0 && sooner(sim, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(sim, at, (at - 1) / 2);
    for (size_t least = at;; at = least) {
        for (size_t c = 2 * at + 1; c <= 2 * at + 2 && c < sim->running; c++)
            if (sooner(sim, c, least))
                least = c;
        if (least == at)
            return;
        swap(sim, at, least);
    }
}

static void heap_add(struct cluster_sim *sim, size_t job)
{
    sim->heap[sim->running] = job;
    sim->work->job[job].heap = sim->running++;
    heap_move(sim, sim->running - 1);
}

static void heap_remove(struct cluster_sim *sim, size_t at)
{
    sim->running--;
    if (at == sim->running)
        return;
    swap(sim, at, sim->running);
    heap_move(sim, at);
}

/* ---- time goes on ---- */

/* A job has gone on until now as fast as it did. */
static void advance_job(struct cluster_sim *sim, struct cluster_job *job)
{
    double from = fmax(job->at_s, sim->work->from_s), to = fmin(sim->now_s, sim->work->to_s),
           done = (sim->now_s - job->at_s) / (1 + job->slowdown);

    job->left_s -= done;
    sim->tally.done_core_s += done * (double)job->cores;
    if (to > from)
        sim->tally.work_core_s += (to - from) / (1 + job->slowdown) * (double)job->cores;
    job->at_s = sim->now_s;
}

static void advance(struct cluster_sim *sim, double to_s)
{
    double from = fmax(sim->now_s, sim->work->from_s), to = fmin(to_s, sim->work->to_s);

    double round = floor(to_s / CLUSTER_WEIGHED_S);

    if (sim->choice->steer && sim->weighed_s < round) {
        cluster_steer(sim, round * CLUSTER_WEIGHED_S);
        sim->weighed_s = round;
    }
    if (to > from) {
        sim->tally.node_s += (to - from) * sim->nodes_used;
        sim->tally.core_s += (to - from) * sim->cores_used;
    }
    sim->now_s = to_s;
}

/* The job's pieces suffer something else: it ends at another time. */
static void reckon(struct cluster_sim *sim, size_t at)
{
    struct cluster_job *job = &sim->work->job[at];
    double worst = -1;

    for (size_t p = 0; p < job->pieces; p++)
        worst = fmax(worst, sim->work->piece[job->first + p].slowdown);
    if (worst == job->slowdown && job->due_s > 0)
        return;
    advance_job(sim, job);
    job->slowdown = worst;
    job->disturbed |= worst != 0;
    job->due_s = sim->now_s + fmax(job->left_s, 0) * (1 + worst);
    heap_move(sim, job->heap);
}

static void reckon_node(struct cluster_sim *sim, size_t node, size_t but)
{
    for (size_t i = 0; i < sim->machine->node[node].n; i++) {
        size_t job = sim->work->piece[sim->machine->node[node].stand[i].piece].job;

        if (job != but)
            reckon(sim, job);
    }
}

/* ---- starts and ends ---- */

/* A node's free cores have changed. */
static void note_free(struct cluster_sim *sim, size_t node, size_t before)
{
    size_t now = sim->machine->node[node].free;

    sim->has_free[before]--;
    sim->has_free[now]++;
    sim->cores_used += (double)before - (double)now;
    sim->nodes_used += (sim->machine->node[node].n > 0) - (before < sim->machine->topo->cores);
}

static void start_piece(struct cluster_sim *sim, size_t piece, size_t node)
{
    size_t before = sim->machine->node[node].free;

    cluster_node_start(sim->machine, node, piece);
    note_free(sim, node, before);
    sim->marked[node] = sim->work->piece[piece].job + 1;
    reckon_node(sim, node, sim->work->piece[piece].job);
}

static void start(struct cluster_sim *sim, size_t at, bool spare)
{
    struct cluster_job *job = &sim->work->job[at];

    job->starts_s = job->at_s = sim->now_s;
    for (size_t p = 0; p < job->pieces; p++) {
        size_t node = cluster_choose(sim, job->first + p, spare);

        start_piece(sim, job->first + p, node);
        sim->spare[node] -= spare ? sim->work->piece[job->first + p].cores : 0;
    }
    heap_add(sim, at);
    reckon(sim, at);
}

static void count_job(struct cluster_sim *sim, const struct cluster_job *job, double *user)
{
    double took_s = job->disturbed ? job->ends_s - job->starts_s : job->run_s,
           cores = (double)job->cores;

    sim->tally.asked_core_s += job->run_s * cores;
    if (!job->counted)
        return;
    sim->tally.jobs++;
    sim->tally.slowdowns += took_s / job->run_s - 1;
    sim->tally.waits_s += job->starts_s - job->arrives_s;
    sim->tally.longest_s = fmax(sim->tally.longest_s, job->starts_s - job->arrives_s);
    sim->tally.moves += (double)job->moves;
    sim->tally.alone_core_s += job->run_s * cores;
    sim->tally.more_core_s += (took_s - job->run_s) * cores;
    user[2 * job->user] += job->run_s * cores;
    user[2 * job->user + 1] += (took_s - job->run_s) * cores;
}

static void end(struct cluster_sim *sim, double *user)
{
    size_t at = sim->heap[0];
    struct cluster_job *job = &sim->work->job[at];

    advance_job(sim, job);
    job->ends_s = sim->now_s;
    heap_remove(sim, 0);
    for (size_t p = 0; p < job->pieces; p++) {
        size_t node = sim->work->piece[job->first + p].node, before = sim->machine->node[node].free;

        cluster_node_end(sim->machine, node, job->first + p);
        note_free(sim, node, before);
        reckon_node(sim, node, CLUSTER_NOBODY);
    }
    count_job(sim, job, user);
}

/* ---- who may start ---- */

/* Does a job fit, if so many nodes have so many free cores? A node that has room for a piece has it
 * for any that is not wider: it is enough to count. */
static bool fits(const struct cluster_sim *sim, const struct cluster_job *job,
                 const size_t *has_free)
{
    size_t nodes = 0, cores = sim->machine->topo->cores + 1;

    for (size_t p = 0; p < job->pieces; p++) {
        while (cores > sim->work->piece[job->first + p].cores)
            nodes += has_free[--cores];
        if (nodes < p + 1)
            return false;
    }
    return true;
}

static void queue_add(struct cluster_sim *sim, size_t job)
{
    sim->after[job] = CLUSTER_NOBODY;
    if (sim->first == CLUSTER_NOBODY)
        sim->first = job;
    else
        sim->after[sim->last] = job;
    sim->last = job;
}

static void start_those_first(struct cluster_sim *sim)
{
    while (sim->first != CLUSTER_NOBODY && fits(sim, &sim->work->job[sim->first], sim->has_free)) {
        size_t job = sim->first;

        sim->first = sim->after[job];
        start(sim, job, false);
    }
}

/* ---- backfill ---- */

/* When others end by their limits, and what is free then. */
struct reservation {
    double at_s;
    size_t n, *order; /* [n] jobs as a heap by their limits */
    size_t *free;     /* [nodes] */
    size_t *has_free; /* [cores + 1] */
    bool counted;     /* has_free is of those who go beside it */
};

static double limit_of(const struct cluster_sim *sim, size_t job)
{
    const struct cluster_job *of = &sim->work->job[job];

    return fmax(of->starts_s + of->asked_s, sim->now_s + 1);
}

static void sink(const struct cluster_sim *sim, struct reservation *of, size_t at)
{
    for (size_t least = at;; at = least) {
        for (size_t c = 2 * at + 1; c <= 2 * at + 2 && c < of->n; c++)
            if (limit_of(sim, of->order[c]) < limit_of(sim, of->order[least]))
                least = c;
        if (least == at)
            return;
        size_t keep = of->order[at];
        of->order[at] = of->order[least];
        of->order[least] = keep;
    }
}

static void free_job(const struct cluster_sim *sim, struct reservation *of, size_t at)
{
    const struct cluster_job *job = &sim->work->job[at];

    for (size_t p = 0; p < job->pieces; p++) {
        const struct cluster_piece *piece = &sim->work->piece[job->first + p];

        of->has_free[of->free[piece->node]]--;
        of->free[piece->node] += piece->cores;
        of->has_free[of->free[piece->node]]++;
    }
}

/* Takes the first nodes that the job will have, and leaves in `spare` what is over there. */
static void reserve(struct cluster_sim *sim, const struct cluster_job *job,
                    const struct reservation *of)
{
    memcpy(sim->spare, of->free, sim->machine->n * sizeof(*sim->spare));
    for (size_t p = 0, i = 0; p < job->pieces; p++, i++) {
        size_t cores = sim->work->piece[job->first + p].cores;

        if (p > 0 && cores < sim->work->piece[job->first + p - 1].cores)
            i = 0;
        while (i < sim->machine->n && (of->free[i] < cores || sim->spare[i] != of->free[i]))
            i++;
        if (i < sim->machine->n)
            sim->spare[i] -= cores;
    }
}

static int find_reservation(struct cluster_sim *sim, struct reservation *of)
{
    const struct cluster_job *job = &sim->work->job[sim->first];
    size_t nodes = sim->machine->n, cores = sim->machine->topo->cores + 1;

    *of =
        (struct reservation){.n = sim->running, .order = calloc(sim->running + 1, sizeof(size_t))};
    of->free = calloc(nodes, sizeof(*of->free));
    of->has_free = calloc(cores, sizeof(*of->has_free));
    if (!of->order || !of->free || !of->has_free)
        return -1;
    memcpy(of->order, sim->heap, of->n * sizeof(*of->order));
    memcpy(of->has_free, sim->has_free, cores * sizeof(*of->has_free));
    for (size_t i = 0; i < nodes; i++)
        of->free[i] = sim->machine->node[i].free;
    for (size_t i = of->n / 2; i-- > 0;)
        sink(sim, of, i);
    of->at_s = sim->now_s;
    while (of->n > 0 && !fits(sim, job, of->has_free)) {
        size_t ends = of->order[0];

        of->at_s = limit_of(sim, ends);
        free_job(sim, of, ends);
        of->order[0] = of->order[--of->n];
        sink(sim, of, 0);
    }
    reserve(sim, job, of);
    return 0;
}

/* Does a job that will not have ended by then fit beside the reservation? */
static bool fits_beside(const struct cluster_sim *sim, const struct cluster_job *job,
                        struct reservation *of)
{
    if (!of->counted)
        memset(of->has_free, 0, (sim->machine->topo->cores + 1) * sizeof(*of->has_free));
    for (size_t i = 0; i < sim->machine->n && !of->counted; i++) {
        size_t free = sim->machine->node[i].free;

        of->has_free[free < sim->spare[i] ? free : sim->spare[i]]++;
    }
    of->counted = true;
    return fits(sim, job, of->has_free);
}

static int backfill(struct cluster_sim *sim)
{
    struct reservation of;
    int rc = find_reservation(sim, &of);
    size_t before = sim->first, looked = 0;

    for (size_t at = sim->after[before]; rc == 0 && at != CLUSTER_NOBODY && looked < BACKFILL_JOBS;
         at = sim->after[before], looked++) {
        const struct cluster_job *job = &sim->work->job[at];
        bool is_short = sim->now_s + job->asked_s <= of.at_s;

        if (!fits(sim, job, sim->has_free) || (!is_short && !fits_beside(sim, job, &of))) {
            before = at;
            continue;
        }
        sim->after[before] = sim->after[at];
        if (sim->last == at)
            sim->last = before;
        start(sim, at, !is_short);
        of.counted = false;
    }
    free(of.order);
    free(of.free);
    free(of.has_free);
    return rc;
}

/* ---- the run ---- */

static int sim_open(struct cluster_sim *sim)
{
    size_t cores = sim->machine->topo->cores, nodes = sim->machine->n;

    sim->now_s = sim->backfill_s = 0;
    sim->weighed_s = -1;
    sim->running = sim->next = 0;
    sim->nodes_used = sim->cores_used = 0;
    sim->first = sim->last = CLUSTER_NOBODY;
    sim->changed = false;
    sim->tally = (struct cluster_tally){0};
    sim->heap = calloc(nodes * cores + 1, sizeof(*sim->heap));
    sim->after = calloc(sim->work->n, sizeof(*sim->after));
    sim->has_free = calloc(cores + 1, sizeof(*sim->has_free));
    sim->spare = calloc(nodes, sizeof(*sim->spare));
    sim->marked = calloc(nodes, sizeof(*sim->marked));
    if (!sim->heap || !sim->after || !sim->has_free || !sim->spare || !sim->marked)
        return -1;
    sim->has_free[cores] = nodes;
    cluster_work_rewind(sim->work);
    return 0;
}

static void sim_close(struct cluster_sim *sim)
{
    free(sim->heap);
    free(sim->after);
    free(sim->has_free);
    free(sim->spare);
    free(sim->marked);
}

static double next_event(const struct cluster_sim *sim)
{
    double next = INFINITY;

    if (sim->running > 0)
        next = job_of(sim, 0)->due_s;
    if (sim->next < sim->work->n)
        next = fmin(next, sim->work->job[sim->next].arrives_s);
    if (sim->backfill && sim->changed && sim->first != CLUSTER_NOBODY)
        next = fmin(next, fmax(sim->backfill_s, sim->now_s));
    return fmax(next, sim->now_s);
}

static int turn(struct cluster_sim *sim, double *user)
{
    bool changed = false;

    advance(sim, next_event(sim));
    for (; sim->running > 0 && job_of(sim, 0)->due_s <= sim->now_s; changed = true)
        end(sim, user);
    for (; sim->next < sim->work->n && sim->work->job[sim->next].arrives_s <= sim->now_s;
         changed = true)
        queue_add(sim, sim->next++);
    if (changed)
        start_those_first(sim);
    sim->changed |= changed;
    if (!sim->backfill || !sim->changed || sim->first == CLUSTER_NOBODY ||
        sim->now_s < sim->backfill_s)
        return 0;
    sim->backfill_s = (floor(sim->now_s / BACKFILL_S) + 1) * BACKFILL_S;
    sim->changed = false;
    return backfill(sim);
}

static void conclude(struct cluster_sim *sim, const double *user)
{
    for (size_t u = 0; u < sim->work->users; u++)
        if (user[2 * u] > 0) {
            sim->tally.users++;
            sim->tally.user_slowdowns += user[2 * u + 1] / user[2 * u];
        }
}

int cluster_sim_run(struct cluster_sim *sim, void (*tell)(double part), struct berth_error *err)
{
    double *user = calloc(2 * sim->work->users, sizeof(*user)), wanted = 0;
    int rc = user ? sim_open(sim) : -1;
    size_t turns = 0;

    for (size_t i = 0; i < sim->work->n; i++)
        wanted += sim->work->job[i].counted;
    while (rc == 0 && sim->tally.jobs < wanted) {
        rc = turn(sim, user);
        if (turns++ % 1024 == 0)
            tell(sim->tally.jobs / wanted);
    }
    if (rc == 0)
        conclude(sim, user);
    sim_close(sim);
    free(user);
    return rc == 0 ? 0 : berth_no_memory(err);
}
