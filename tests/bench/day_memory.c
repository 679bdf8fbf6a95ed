/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_memory - see day_memory.h */
#include "tests/bench/day_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_random.h"

#define PIECES 4   /* of an order, between which costs are found again */
#define PIECE_S 2. /* at least */
#define DONE 1.    /* byte */
#define NODES_MAX 32

/* A job's. */
struct owned {
    double total, *bytes; /* [nodes] all 0 until it has run */
    double *to;           /* [nodes] parts of it where they belong, as it was ordered */
    double rate;          /* 0: no order */
};

struct day_memory {
    size_t nodes, *node_of; /* [topo->cores] */
    double *ratio;          /* [nodes][nodes] from memory to cores */
    double *link;           /* [nodes] bytes per second that go to others; INFINITY not known */
    double *crowded;        /* [nodes] */
    struct owned *owned;    /* [sim->n] */
    double *room;           /* of all */
    const struct day_job **order; /* [orders] whose pages follow, one after another */
    size_t orders;
};

static struct owned *owned_by(const struct day_sim *sim, const struct day_job *job)
{
    return &sim->memory->owned[job - sim->job];
}

/* ---- the machine and its programs ---- */

double day_memory_waits(const struct day_truth *truth, size_t app)
{
    const struct app *of = &truth->apps.app[app];
    double misses_s = of->ipc * truth->clock_ghz * 1e9 * of->llc_mpki / 1000;

    if (isnan(misses_s))
        misses_s = of->mem_gbps * 1e9 / truth->line_bytes / (double)of->cores;
    return isnan(misses_s) ? 0 : fmin(misses_s * DAY_NEAR_NS / 1e9 / DAY_OVERLAP, 1);
}

static size_t package_of(const struct topo *topo, size_t node)
{
    for (size_t c = 0; c < topo->cores; c++)
        if (cpus_intersect(&topo->core[c].cpus, &topo->node[node].cpus))
            return topo->core[c].package;
    return SIZE_MAX; /* it has no cores */
}

double day_memory_ratio(const struct topo *topo, size_t from, size_t to)
{
    if (from == to)
        return 1;
    return package_of(topo, from) == package_of(topo, to) ? DAY_FAR_PACKAGE : DAY_FAR_ELSEWHERE;
}

/* Each cache of the truth has its bandwidth to itself, as in day_feed.c. */
static double link_of(const struct day_sim *sim, size_t node)
{
    double cache_gbps = sim->truth->apps.machine.dram_gbps;
    double caches = (double)sim->topo->llcs * (double)cpus_count(&sim->topo->node[node].cpus) /
                    (double)cpus_count(&sim->topo->cpus);

    return isnan(cache_gbps) ? INFINITY : cache_gbps * 1e9 * caches * DAY_LINK_PART;
}

static void describe_machine(const struct day_sim *sim, struct day_memory *memory)
{
    const struct topo *topo = sim->topo;

    for (size_t i = 0; i < topo->nodes; i++) {
        for (size_t c = 0; c < topo->cores; c++)
            if (cpus_intersect(&topo->core[c].cpus, &topo->node[i].cpus))
                memory->node_of[c] = i;
        for (size_t j = 0; j < topo->nodes; j++)
            memory->ratio[i * topo->nodes + j] = day_memory_ratio(topo, i, j);
        memory->link[i] = link_of(sim, i);
    }
}

/* ---- from start to end ---- */

static int allot_all(struct day_sim *sim, struct day_memory *memory)
{
    size_t nodes = memory->nodes;

    memory->node_of = calloc(sim->topo->cores, sizeof(*memory->node_of));
    memory->owned = calloc(sim->n, sizeof(*memory->owned));
    memory->order = calloc(sim->n, sizeof(struct day_job *));
    memory->room = calloc(nodes * (nodes + 2) + 2 * nodes * sim->n, sizeof(*memory->room));
    if (!memory->node_of || !memory->owned || !memory->order || !memory->room)
        return -1;
    memory->link = memory->room;
    memory->crowded = memory->link + nodes;
    memory->ratio = memory->crowded + nodes;
    for (size_t i = 0; i < sim->n; i++) {
        memory->owned[i].bytes = memory->ratio + nodes * nodes + 2 * i * nodes;
        memory->owned[i].to = memory->owned[i].bytes + nodes;
    }
    return 0;
}

int day_memory_open(struct day_sim *sim, double median_gib, uint64_t seed, struct berth_error *err)
{
    struct day_memory *memory;

    if (sim->topo->nodes > NODES_MAX)
        return berth_error_set(err, "%zu memory nodes; the bench knows up to %d", sim->topo->nodes,
                               NODES_MAX);
    sim->memory = memory = calloc(1, sizeof(*memory));
    if (memory)
        memory->nodes = sim->topo->nodes;
    if (!memory || allot_all(sim, memory) < 0) {
        day_memory_close(sim);
        return berth_no_memory(err);
    }
    describe_machine(sim, memory);
    seed = seed * 1000003 + 500009; /* other numbers than those of the jobs */
    for (size_t i = 0; i < sim->n; i++)
        memory->owned[i].total =
            floor(median_gib * (1 << 30) * exp(DAY_MEMORY_SIGMA * day_random_normal(&seed)));
    return 0;
}

void day_memory_close(struct day_sim *sim)
{
    struct day_memory *memory = sim->memory;

    if (!memory)
        return;
    free(memory->node_of);
    free(memory->owned);
    free(memory->order);
    free(memory->room);
    free(memory);
    sim->memory = NULL;
}

void day_memory_rewind(struct day_sim *sim)
{
    struct day_memory *memory = sim->memory;

    if (!memory)
        return;
    memory->orders = 0;
    for (size_t i = 0; i < sim->n; i++) {
        memset(memory->owned[i].bytes, 0, memory->nodes * sizeof(double));
        memory->owned[i].rate = 0;
    }
}

/* ---- where pages are, and belong ---- */

/* Fills in which parts of the cores each memory node has. */
static void parts_of(const struct day_memory *memory, const struct day_job *job, const size_t *core,
                     double *part)
{
    memset(part, 0, memory->nodes * sizeof(*part));
    for (size_t c = 0; c < job->cores; c++)
        part[memory->node_of[core[c]]] += 1 / (double)job->cores;
}

static bool has_run(const struct day_memory *memory, const struct owned *owned)
{
    for (size_t i = 0; i < memory->nodes; i++)
        if (owned->bytes[i] > 0)
            return true;
    return false;
}

/* Returns the bytes on nodes that have more than their part. */
static double misplaced(const struct day_memory *memory, const struct owned *owned,
                        const double *part)
{
    double sum = 0;

    for (size_t i = 0; i < memory->nodes; i++)
        sum += fmax(owned->bytes[i] - part[i] * owned->total, 0);
    return sum;
}

/* Moves so many bytes, of all nodes that have more than their part to all that have less. */
static void shift(const struct day_memory *memory, const struct owned *owned, const double *part,
                  double amount, double *bytes)
{
    double all = misplaced(memory, owned, part);

    for (size_t i = 0; i < memory->nodes; i++) {
        double less = part[i] * owned->total - owned->bytes[i];

        bytes[i] = owned->bytes[i] + (all > 0 ? less * fmin(amount / all, 1) : 0);
    }
}

/* ---- what it costs ---- */

/* Adds which part of the accesses goes from each memory node to another's cores,
 * flow[nodes][nodes]. Cores use the pages of their own node first. */
static void flows(const struct day_memory *memory, const struct owned *owned, const double *bytes,
                  const double *part, double *flow)
{
    size_t n = memory->nodes;
    double far = 0;

    memset(flow, 0, n * n * sizeof(*flow));
    for (size_t i = 0; i < n; i++)
        far += fmax(bytes[i] / owned->total - part[i], 0);
    for (size_t i = 0; i < n && far > 1e-12; i++)
        for (size_t j = 0; j < n; j++)
            flow[i * n + j] = fmax(bytes[i] / owned->total - part[i], 0) *
                              fmax(part[j] - bytes[j] / owned->total, 0) / far;
}

/* Returns what such flows cost; crowded NULL: the links are empty. */
static double cost_of(const struct day_sim *sim, const struct day_job *job, const double *flow,
                      const double *crowded)
{
    const struct day_memory *memory = sim->memory;
    double sum = 0;

    for (size_t i = 0; i < memory->nodes; i++)
        for (size_t j = 0; j < memory->nodes; j++) {
            double ratio = memory->ratio[i * memory->nodes + j];

            sum += flow[i * memory->nodes + j] * (ratio * (crowded ? crowded[i] : 1) - 1);
        }
    return sum * day_memory_waits(sim->truth, job->app);
}

double day_memory_far(const struct day_sim *sim, const struct day_job *job, const size_t *core)
{
    const struct day_memory *memory = sim->memory;
    const struct owned *owned = memory ? owned_by(sim, job) : NULL;
    double part[NODES_MAX], flow[NODES_MAX * NODES_MAX];

    if (!memory || !has_run(memory, owned))
        return 0;

    parts_of(memory, job, core, part);
    flows(memory, owned, owned->bytes, part, flow);
    return cost_of(sim, job, flow, NULL);
}

double day_memory_behind(const struct day_sim *sim, const struct day_job *job, const size_t *core)
{
    const struct day_memory *memory = sim->memory;
    const struct owned *owned = memory ? owned_by(sim, job) : NULL;
    double part[NODES_MAX];

    if (!memory || !has_run(memory, owned))
        return 0;

    parts_of(memory, job, core, part);
    return misplaced(memory, owned, part);
}

const double *day_memory_bytes(const struct day_sim *sim, const struct day_job *job)
{
    return sim->memory && has_run(sim->memory, owned_by(sim, job)) ? owned_by(sim, job)->bytes
                                                                   : NULL;
}

/* ---- orders ---- */

/* Returns whose pages are under way; NULL: nobody's. */
static const struct day_job *under_way(const struct day_memory *memory)
{
    return memory->orders > 0 ? memory->order[0] : NULL;
}

static void drop(struct day_sim *sim, const struct day_job *job)
{
    struct day_memory *memory = sim->memory;
    size_t n = 0;

    owned_by(sim, job)->rate = 0;
    for (size_t i = 0; i < memory->orders; i++)
        if (memory->order[i] != job)
            memory->order[n++] = memory->order[i];
    memory->orders = n;
}

void day_memory_order(struct day_sim *sim, const struct day_job *job, double rate)
{
    struct day_memory *memory = sim->memory;
    struct owned *owned = memory ? owned_by(sim, job) : NULL;
    double part[NODES_MAX];

    if (!memory)
        return;

    parts_of(memory, job, job->core[DAY_STAND], part);
    if (owned->rate == rate && memcmp(owned->to, part, memory->nodes * sizeof(*part)) == 0)
        return;
    drop(sim, job);
    if (!(rate > 0) || !has_run(memory, owned) || misplaced(memory, owned, part) < DONE)
        return;
    memcpy(owned->to, part, memory->nodes * sizeof(*part));
    owned->rate = rate;
    memory->order[memory->orders++] = job;
}

void day_memory_stands(struct day_sim *sim, const struct day_job *job)
{
    day_memory_order(sim, job, DAY_FOLLOW_BYTES_S);
}

double day_memory_waiting_s(const struct day_sim *sim, const struct day_job *job)
{
    const struct day_memory *memory = sim->memory;
    double sum = 0;

    for (size_t i = 0; memory && i < memory->orders && memory->order[i] != job; i++) {
        const struct owned *owned = owned_by(sim, memory->order[i]);

        if (memory->order[i]->ends == DAY_NEVER)
            sum += misplaced(memory, owned, owned->to) / owned->rate;
    }
    return sum;
}

/* ---- time goes on ---- */

/* Returns how long the pages under way go on as they do. */
static double piece_s(const struct day_sim *sim, const struct day_job *job)
{
    const struct owned *owned = owned_by(sim, job);
    double left_s = misplaced(sim->memory, owned, owned->to) / owned->rate;

    return fmin(left_s, fmax(left_s / PIECES, PIECE_S));
}

int64_t day_memory_next(const struct day_sim *sim)
{
    const struct day_job *job = sim->memory ? under_way(sim->memory) : NULL;

    return job ? sim->now + (int64_t)ceil(piece_s(sim, job) * 1e9) : DAY_NEVER;
}

static void move_pages(struct day_sim *sim, double seconds)
{
    const struct day_job *job = under_way(sim->memory);
    struct owned *owned = job ? owned_by(sim, job) : NULL;
    double bytes[NODES_MAX], amount;

    if (!job)
        return;
    amount = fmin(owned->rate * seconds, misplaced(sim->memory, owned, owned->to));
    shift(sim->memory, owned, owned->to, amount, bytes);
    memcpy(owned->bytes, bytes, sim->memory->nodes * sizeof(*bytes));
    sim->tally[job->day].moved_bytes += amount;
    if (misplaced(sim->memory, owned, owned->to) < DONE)
        drop(sim, job);
}

void day_memory_advance(struct day_sim *sim, double seconds)
{
    struct day_memory *memory = sim->memory;

    if (!memory || !(seconds > 0))
        return;
    move_pages(sim, seconds);
    for (size_t i = 0; i < sim->live; i++) {
        struct owned *owned = owned_by(sim, sim->running[i]);

        if (has_run(memory, owned) || day_sim_begins(sim, sim->running[i], seconds))
            continue;
        parts_of(memory, sim->running[i], sim->running[i]->core[DAY_STAND], owned->bytes);
        for (size_t n = 0; n < memory->nodes; n++)
            owned->bytes[n] *= owned->total;
    }
}

/* Fills in the flows of a running job until costs are found again: those of the middle. */
static void flows_now(const struct day_sim *sim, const struct day_job *job, double *flow)
{
    const struct day_memory *memory = sim->memory;
    const struct owned *owned = owned_by(sim, job);
    double part[NODES_MAX], bytes[NODES_MAX];
    double amount = job == under_way(memory) ? owned->rate * piece_s(sim, job) / 2 : 0;

    parts_of(memory, job, job->core[DAY_STAND], part);
    shift(memory, owned, owned->to, amount, bytes);
    flows(memory, owned, amount > 0 ? bytes : owned->bytes, part, flow);
}

/* Finds how crowded the links are. */
static void crowd(struct day_sim *sim)
{
    struct day_memory *memory = sim->memory;
    const struct day_job *moving = under_way(memory);
    size_t n = memory->nodes;
    double flow[NODES_MAX * NODES_MAX], drawn[NODES_MAX] = {0};

    for (size_t k = 0; k < sim->live; k++) {
        const struct day_job *job = sim->running[k];
        const struct app *app = &sim->truth->apps.app[job->app];
        double gbps = app->mem_gbps * ((double)job->cores / (double)app->cores);

        if (!has_run(memory, owned_by(sim, job)) || isnan(gbps))
            continue;
        flows_now(sim, job, flow);
        for (size_t i = 0; i < n * n; i++)
            drawn[i / n] += flow[i] * gbps * 1e9;
    }
    for (size_t i = 0; i < n; i++) {
        const struct owned *owned = moving ? owned_by(sim, moving) : NULL;

        if (owned && owned->bytes[i] > owned->to[i] * owned->total)
            drawn[i] += owned->rate;
        memory->crowded[i] = fmax(drawn[i] / memory->link[i], 1);
    }
}

void day_memory_slow(struct day_sim *sim)
{
    struct day_memory *memory = sim->memory;

    if (!memory)
        return;
    while (under_way(memory) && under_way(memory)->ends != DAY_NEVER)
        drop(sim, under_way(memory));
    crowd(sim);
    for (size_t i = 0; i < sim->live; i++) {
        struct day_job *job = sim->running[i];
        double flow[NODES_MAX * NODES_MAX];

        job->far = 0;
        if (!has_run(memory, owned_by(sim, job)))
            continue;
        flows_now(sim, job, flow);
        job->far = cost_of(sim, job, flow, memory->crowded);
        if (job == under_way(memory))
            job->far += owned_by(sim, job)->rate / DAY_COPY_BYTES_S / (double)job->cores;
        job->slowdown[DAY_STAND] += job->far;
    }
}
