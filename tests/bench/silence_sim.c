/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_sim - see silence_sim.h
 *
 * It goes from burst to burst: the nodes are in a heap by when their next one begins, and the
 * iterations in which nobody has one are taken at once. */
#include "tests/bench/silence_sim.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

#define BURSTS_MOST 2e6 /* of all nodes, in one run */
#define ITERATIONS_LEAST 200

struct node {
    double next_s; /* its next burst begins */
    double lap_s;  /* when the train began that it is in */
    size_t burst;
    double ready_s;     /* of this iteration, */
    uint64_t iteration; /* whose number is this */
    double busy_s;      /* a burst that began while it waited ends, */
    uint64_t waited;    /* in this iteration */
};

struct sim {
    const struct silence_train *train;
    const struct silence_program *program;
    struct node *node;
    size_t *heap;
    size_t *late, lates; /* nodes that may be busy when the next iteration begins */
    uint64_t iteration;  /* the first is 1 */
    double now_s, end_s; /* of this iteration */
};

/* ---- whose burst is next ---- */

static double begin_of(const struct sim *sim, const struct node *node)
{
    return node->lap_s + sim->train->burst[node->burst].at_s - sim->train->began_s;
}

static void sink(struct sim *sim, size_t at)
{
    size_t moved = sim->heap[at], n = sim->program->nodes, child;

    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n &&
            sim->node[sim->heap[child + 1]].next_s < sim->node[sim->heap[child]].next_s)
            child++;
        if (sim->node[sim->heap[child]].next_s >= sim->node[moved].next_s)
            break;
        sim->heap[at] = sim->heap[child];
        at = child;
    }
    sim->heap[at] = moved;
}

static void advance(struct sim *sim, struct node *node)
{
    if (++node->burst == sim->train->n) {
        node->burst = 0;
        node->lap_s += sim->train->seconds;
    }
    node->next_s = begin_of(sim, node);
}

/* The node is so far in the train when the program begins. */
static void place(struct sim *sim, struct node *node, double offset_s)
{
    *node = (struct node){.lap_s = -offset_s};
    while (node->burst < sim->train->n && begin_of(sim, node) < 0)
        node->burst++;
    if (node->burst == sim->train->n) {
        node->burst = 0;
        node->lap_s += sim->train->seconds;
    }
    node->next_s = begin_of(sim, node);
}

/* ---- one iteration ---- */

static void delay_end(struct sim *sim, const struct node *node)
{
    if (node->ready_s > sim->end_s)
        sim->end_s = node->ready_s;
}

/* Those that are still busy begin later. */
static void begin(struct sim *sim)
{
    sim->iteration++;
    sim->end_s = sim->now_s + sim->program->iteration_s;
    for (size_t i = 0; i < sim->lates; i++) {
        struct node *node = &sim->node[sim->late[i]];

        if (node->busy_s <= sim->now_s)
            continue;
        node->iteration = sim->iteration;
        node->ready_s = node->busy_s + sim->program->iteration_s;
        delay_end(sim, node);
    }
    sim->lates = 0;
}

static void meet(struct sim *sim, size_t i)
{
    struct node *node = &sim->node[i];
    double run_s = sim->train->burst[node->burst].run_s;

    if (node->iteration != sim->iteration) {
        node->iteration = sim->iteration;
        node->ready_s = sim->now_s + sim->program->iteration_s;
    }
    if (node->next_s < node->ready_s) {
        node->ready_s += run_s;
        delay_end(sim, node);
        return;
    }
    if (node->waited != sim->iteration)
        sim->late[sim->lates++] = i;
    node->waited = sim->iteration;
    node->busy_s = (node->busy_s > node->next_s ? node->busy_s : node->next_s) + run_s;
}

static void iterate(struct sim *sim)
{
    begin(sim);
    while (sim->node[sim->heap[0]].next_s < sim->end_s) {
        size_t first = sim->heap[0];

        meet(sim, first);
        advance(sim, &sim->node[first]);
        sink(sim, 0);
    }
    sim->now_s = sim->end_s;
}

/* How many iterations nobody disturbs from now on. */
static uint64_t quiet(const struct sim *sim)
{
    double until_s = sim->node[sim->heap[0]].next_s - sim->now_s;

    return sim->lates > 0 || until_s <= 0 ? 0 : (uint64_t)(until_s / sim->program->iteration_s);
}

/* ---- all ---- */

static uint64_t iterations_of(const struct silence_train *train,
                              const struct silence_program *program)
{
    double bursts = (double)train->n * (double)program->nodes;
    double work_s = train->seconds * fmin(1, BURSTS_MOST / bursts);

    return (uint64_t)fmax(ITERATIONS_LEAST, work_s / program->iteration_s);
}

static void sim_open(struct sim *sim, const struct silence_train *train,
                     const struct silence_program *program)
{
    double at = 0;

    *sim = (struct sim){.train = train, .program = program};
    sim->node = calloc(program->nodes, sizeof(*sim->node));
    sim->heap = calloc(program->nodes, sizeof(*sim->heap));
    sim->late = calloc(program->nodes, sizeof(*sim->late));
    if (!sim->node || !sim->heap || !sim->late)
        bench_die("nodes", strerror(errno));
    srand48(program->seed);
    at = drand48() * train->seconds;
    for (size_t i = 0; i < program->nodes; i++) {
        place(sim, &sim->node[i],
              program->together ? at - drand48() * program->skew_s : drand48() * train->seconds);
        sim->heap[i] = i;
    }
    for (size_t i = program->nodes; i-- > 0;)
        sink(sim, i);
}

static void sim_close(struct sim *sim)
{
    free(sim->node);
    free(sim->heap);
    free(sim->late);
}

double silence_longer(const struct silence_train *train, const struct silence_program *program)
{
    uint64_t n = iterations_of(train, program), done = 0;
    struct sim sim;

    if (train->n == 0)
        return 1;
    sim_open(&sim, train, program);
    while (done < n) {
        uint64_t skip = quiet(&sim);

        skip = skip < n - done ? skip : n - done;
        sim.now_s += (double)skip * program->iteration_s;
        done += skip;
        if (done == n)
            break;
        iterate(&sim);
        done++;
    }
    sim_close(&sim);
    return sim.now_s / ((double)n * program->iteration_s);
}
