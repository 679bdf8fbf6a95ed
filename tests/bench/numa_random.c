/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_random - see numa_random.h */
#include "tests/bench/numa_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/numa/roof.h"
#include "enum_table.h"

#define LOSS 0.02 /* of a roof's last value */

const char *const TABLE(numa_traffic_name, NUMA_TRAFFICS) = {
    ROW(NUMA_SHARED) = "shared",
    ROW(NUMA_RING) = "ring",
    ROW(NUMA_PARTIAL) = "partial",
    ROW(NUMA_DENSE) = "dense",
};
TABLE_COMPLETE(numa_traffic_name);

uint64_t numa_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

double numa_fraction(uint64_t *state)
{
    return (double)(numa_random(state) >> 11) * 0x1p-53;
}

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * numa_fraction(state);
}

static void *take(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* The shorter way round a ring of links. */
static void make_routes(struct numa *numa, size_t n)
{
    size_t(*hop)[2] = numa->hop = take(n * n * n, sizeof(*hop));

    numa->machine.route = numa->route = take(n * n, sizeof(*numa->route));
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            size_t step = (to + n - from) % n <= n / 2 ? 1 : n - 1;
            struct numem_route *route = &numa->route[from * n + to];

            route->hop = hop;
            for (size_t at = from; at != to; at = (at + step) % n, hop++) {
                (*hop)[0] = at;
                (*hop)[1] = (at + step) % n;
                route->hops++;
            }
        }
}

static void make_links(struct numa *numa, const struct numa_wish *wish, uint64_t *state)
{
    size_t n = wish->nodes;
    double *uni = numa->numbers, *bi = uni + n * n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double there = wish->even ? 4.5 : between(state, 1.5, 11);
            double back = wish->asymmetric ? between(state, 1.5, 11) : there;
            size_t hops = wish->hops ? numa->route[i * n + j].hops : 1;

            uni[i * n + j] = there / (double)hops;
            uni[j * n + i] = back / (double)hops;
            bi[i * n + j] = bi[j * n + i] =
                (there + back) / (double)hops * (wish->even ? 0.9 : between(state, 0.6, 1));
        }
    numa->machine.uni_max = uni;
    numa->machine.bi_max = bi;
}

static void make_demand(double *table, unsigned cores, double peak, double solo, bool uneven,
                        uint64_t *state)
{
    for (unsigned c = 1; c <= cores; c++) {
        table[c] = peak * (1 - exp(-solo * c / peak));
        if (uneven)
            table[c] *= between(state, 0.8, 1.1);
    }
}

/* How much one core reads from and writes to another node's memory. */
static void make_rates(struct numa *numa, const struct numa_wish *wish, uint64_t *state)
{
    size_t n = wish->nodes;
    double *read = numa->numbers + 2 * n * n, *write = read + n * n;

    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            double load = (wish->even ? 6 : between(state, 1, 12)) / wish->cores;
            bool ring = wish->traffic == NUMA_RING && to == (from + 1) % n;
            bool star = (wish->traffic == NUMA_SHARED || wish->traffic == NUMA_PARTIAL);

            if (from == to)
                continue;
            if (star && from == 0)
                read[to] = wish->traffic == NUMA_SHARED ? load : load / 2;
            if (star && to == 0)
                write[from * n] = wish->even ? 0 : load / 8;
            if (ring)
                read[from * n + to] = load;
            if (wish->traffic == NUMA_DENSE) {
                read[from * n + to] = load / 3;
                write[from * n + to] = between(state, 0, 2) / wish->cores;
            }
        }
    numa->program.use.read_solo = read;
    numa->program.use.write_solo = write;
}

/* Makes the table one that rises softly to that peak, and ends below its last value. */
static void make_roof(double *table, unsigned cores, double peak)
{
    struct roof roof = roof_of(peak);

    roof_curve(&roof, fmin(table[1], 0.99 * peak), cores, table);
    for (unsigned c = 0; c <= cores; c++)
        table[c] = fmin(table[c], (1 - LOSS) * table[cores]);
}

/* Returns whether cores of node `to` read from node `from`; a ring has both ways with odd seeds. */
static bool is_read(const struct numa_wish *wish, size_t from, size_t to)
{
    switch (wish->traffic) {
    case NUMA_SHARED:
    case NUMA_PARTIAL:
        return from == 0;
    case NUMA_RING:
        return to == (from + 1) % wish->nodes || (wish->seed % 2 && from == (to + 1) % wish->nodes);
    default:
        return true;
    }
}

/* Makes all nodes, links and rates the same. */
static void make_alike(struct numa *numa, const struct numa_wish *wish, double *alpha, double *beta,
                       uint64_t *state)
{
    size_t n = wish->nodes;
    double *uni = numa->numbers, *bi = uni + n * n, *read = bi + n * n, *write = read + n * n;
    double total = between(state, 10, 210), local = total / wish->cores * between(state, 0.3, 3.3);
    double remote = total / wish->cores * between(state, 0.3, 1.8);
    double link = total * between(state, 0.2, 0.7);

    if (wish->traffic == NUMA_DENSE)
        remote /= (double)n - 1;
    for (size_t i = 0; i < n; i++) {
        alpha[i] = total;
        beta[i] = 0.25;
        for (unsigned c = 1; wish->traffic != NUMA_SHARED || i == 0 ? c <= wish->cores : false; c++)
            numa->demand[i][c] = fmin(local * c, total);
        for (size_t j = 0; j < n; j++) {
            uni[i * n + j] = link;
            bi[i * n + j] = 1.7 * link;
            read[i * n + j] = i != j && is_read(wish, i, j) ? remote : 0;
            write[i * n + j] =
                i != j && wish->traffic == NUMA_DENSE && wish->seed % 2 ? remote / 3 : 0;
        }
    }
}

void numa_make(struct numa *numa, const struct numa_wish *wish)
{
    size_t n = wish->nodes;
    uint64_t seed = wish->seed * 0x9e3779b97f4a7c15 + 0x123456789abcdef, *state = &seed;
    double *alpha, *beta;

    for (int i = 0; i < 8; i++)
        numa_random(state);
    *numa = (struct numa){.machine.nodes = n};
    numa->numbers = take(4 * n * n + 2 * n, sizeof(double));
    alpha = numa->numbers + 4 * n * n;
    beta = alpha + n;
    numa->machine.alpha = alpha;
    numa->machine.beta = beta;
    numa->machine.cores = numa->cores = take(n, sizeof(*numa->cores));
    numa->program.use.local_demand =
        (const double *const *)(numa->demand = take(n, sizeof(double *)));
    numa->program.weight = 1;
    if (wish->hops)
        make_routes(numa, n);
    for (size_t i = 0; i < n; i++) {
        bool local = wish->traffic != NUMA_SHARED || i == 0;
        double total = wish->even ? 20 : between(state, 8, 24);

        alpha[i] = total;
        beta[i] = wish->even ? 0.25 : between(state, 0.1, 0.5);
        numa->cores[i] = wish->cores;
        numa->demand[i] = take(wish->cores + 1, sizeof(double));
        if (local)
            make_demand(numa->demand[i], wish->cores,
                        total * (wish->even ? 1.05 : between(state, 0.5, 1.2)),
                        total * (wish->even ? 2 : between(state, 0.5, 3)) / wish->cores,
                        wish->uneven, state);
    }
    make_links(numa, wish, state);
    make_rates(numa, wish, state);
    if (wish->alike)
        make_alike(numa, wish, alpha, beta, state);
    for (size_t i = 0; wish->roof && i < n; i++)
        if (numa->demand[i][1] > 0)
            make_roof(numa->demand[i], wish->cores, 0.95 * alpha[i]);
}

void numa_free(struct numa *numa)
{
    for (size_t i = 0; i < numa->machine.nodes; i++)
        free(numa->demand[i]);
    free(numa->demand);
    free(numa->numbers);
    free(numa->cores);
    free(numa->route);
    free(numa->hop);
}
