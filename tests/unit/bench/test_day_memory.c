/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_day_memory - the memory of simulated jobs (tests/bench/day_memory.h), and the decider that
 * pays for it (tests/bench/day_payer.h), by cases worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bench/day_memory.h"
#include "tests/bench/day_payer.h"
#include "tests/bench/day_sim.h"
#include "tests/unit/bench/day_node.h"

#define GIB (double)(1 << 30)

/* What 0 suffers beside 0 and 1, then 1. The first waits for memory half of its time (24 million
 * misses a second, 84 ns and 4 under way), the second never. */
static double pairs[4];
static struct app apps[2] = {
    {.ipc = 1, .llc_apki = 40, .llc_mpki = 0.5 / 84 * 4 * 1000 / 2, .mem_gbps = 1, .cores = 1},
    {.ipc = 2, .llc_apki = 4, .llc_mpki = 0, .mem_gbps = 0, .cores = 1},
};

/* A node whose memory has the bandwidth, with memory for its jobs. */
static void node_open(struct day_node *node, const char *topology, double gbps, size_t n,
                      const size_t *app)
{
    struct berth_error err;

    day_node_open(node, topology, gbps, apps, pairs, n, app);
    assert_int_equal(day_memory_open(&node->sim, 1, 1, &err), 0);
}

static void node_close(struct day_node *node)
{
    day_memory_close(&node->sim);
    day_node_close(node);
}

static double took_s(const struct day_node *node, size_t job)
{
    return (double)(node->sim.job[job].ends - node->sim.job[job].starts) / 1e9;
}

static double sum_of(const struct day_sim *sim, size_t job)
{
    const double *bytes = day_memory_bytes(sim, &sim->job[job]);
    double sum = 0;

    assert_non_null(bytes);
    for (size_t i = 0; i < sim->topo->nodes; i++)
        sum += bytes[i];
    return sum;
}

/* ---- what is there ---- */

static void test_waits(void **state)
{
    struct day_node node;

    (void)state;
    node_open(&node, "package:2 l3:2 [numa] core:1 pu:1", NAN, 2, (const size_t[]){0, 1});
    assert_true(fabs(day_memory_waits(&node.truth, 0) - 0.5) < 1e-9);
    assert_true(day_memory_waits(&node.truth, 1) == 0);
    assert_true(day_memory_ratio(node.topo, 2, 2) == 1);
    assert_true(day_memory_ratio(node.topo, 0, 1) == DAY_FAR_PACKAGE);
    assert_true(day_memory_ratio(node.topo, 1, 2) == DAY_FAR_ELSEWHERE);
    node_close(&node);
}

/* Half of all have more than the median, and the logarithms vary as they should. */
static void test_sizes(void **state)
{
    enum { N = 400 };
    size_t app[N] = {0}, more = 0;
    double squares = 0;
    struct day_node node;

    (void)state;
    memset(pairs, 0, sizeof(pairs));
    node_open(&node, "package:1 l3:1 core:2 pu:1", NAN, N, app);
    day_node_simulate(&node, &day_node_slurm);
    for (size_t i = 0; i < N; i++) {
        double times = sum_of(&node.sim, i) / GIB;

        more += times > 1;
        squares += log(times) * log(times) / N;
    }
    assert_in_range(more, 160, 240);
    assert_true(fabs(sqrt(squares) - DAY_MEMORY_SIGMA) < 0.15);
    assert_true(node.sim.tally[0].moved_bytes == 0 && node.sim.tally[0].far_s == 0);
    node_close(&node);
}

/* Nobody has memory before he has run: it is then where he runs. */
static void test_start(void **state)
{
    const size_t other = 1;
    struct day_sim *sim;
    struct day_node node;

    (void)state;
    memset(pairs, 0, sizeof(pairs));
    node_open(&node, "package:2 [numa] l3:1 core:1 pu:1", NAN, 1, (const size_t[]){0});
    sim = &node.sim;
    day_sim_rewind(sim);
    assert_null(day_memory_bytes(sim, &sim->job[0]));
    assert_true(day_memory_far(sim, &sim->job[0], &other) == 0);
    assert_true(day_memory_behind(sim, &sim->job[0], &other) == 0);
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(took_s(&node, 0) - 100) < 1e-6);
    assert_true(day_memory_bytes(sim, &sim->job[0])[0] == sum_of(sim, 0));
    assert_true(fabs(day_memory_far(sim, &sim->job[0], &other) - 0.2) < 1e-9);
    assert_true(day_memory_behind(sim, &sim->job[0], &other) == sum_of(sim, 0));
    node_close(&node);
}

/* ---- two jobs that are exchanged ---- */

struct swap {
    double rate; /* at which the pages of the first follow; those of the second stay */
    bool done;
};

static int swap_at_50(void *state, struct day_sim *sim, struct berth_error *err)
{
    struct swap *swap = state;
    size_t a = sim->job[0].core[DAY_STAND][0], b = sim->job[1].core[DAY_STAND][0];

    (void)err;
    if (swap->done || sim->now < 50 * DAY_NS)
        return 0;
    swap->done = true;
    day_sim_stand(sim, &sim->job[0], &b);
    day_sim_stand(sim, &sim->job[1], &a);
    day_memory_order(sim, &sim->job[0], swap->rate);
    day_memory_order(sim, &sim->job[1], 0);
    return 0;
}

/* Slurm has nobody on the core of the one that has ended. */
static int go_home(void *state, struct day_sim *sim, struct day_job *job, struct berth_error *err)
{
    (void)state, (void)job, (void)err;
    if (sim->live > 0)
        day_sim_stand(sim, sim->running[0], sim->running[0]->core[DAY_HOME]);
    return 0;
}

static int64_t swap_next(void *state)
{
    const struct swap *swap = state;

    return swap->done ? DAY_NEVER : 50 * DAY_NS;
}

/* One core, one cache and one memory node a package. */
static void swap(struct day_node *node, double gbps, double rate)
{
    struct swap swap = {.rate = rate};
    struct day_placer placer = {
        .name = "swap", .state = &swap, .advance = swap_at_50, .end = go_home, .next = swap_next};

    memset(pairs, 0, sizeof(pairs));
    node_open(node, "package:2 [numa] l3:1 core:1 pu:1", gbps, 2, (const size_t[]){0, 1});
    node->sim.job[1].work_s = 1000;
    day_node_simulate(node, &placer);
    assert_true(node->sim.tally[0].moves == 3);
    assert_true(fabs(took_s(node, 1) - 1000 - 2 * DAY_COLD_S) < 1e-6); /* memory is nothing to it */
}

/* The pages stay: it takes 1 + 0.5 * (1.4 - 1) times as long from then on. */
static void test_far(void **state)
{
    double far_s = 0.2 * (50 + DAY_COLD_S);
    struct day_node node;

    (void)state;
    swap(&node, NAN, 0);
    assert_true(fabs(took_s(&node, 0) - 100 - DAY_COLD_S - far_s) < 1e-6);
    assert_true(fabs(node.sim.tally[0].far_s - far_s) < 1e-6);
    assert_true(node.sim.tally[0].moved_bytes == 0);
    assert_true(day_memory_bytes(&node.sim, &node.sim.job[0])[1] == 0);
    node_close(&node);
}

/* It draws 1 GB/s, and the links let 0.48 through: an access takes 1.4 / 0.48 times as long. */
static void test_crowded(void **state)
{
    double far_s = 0.5 * (1.4 / 0.48 - 1) * (50 + DAY_COLD_S);
    struct day_node node;

    (void)state;
    swap(&node, 1, 0);
    assert_true(fabs(took_s(&node, 0) - 100 - DAY_COLD_S - far_s) < 1e-6);
    node_close(&node);
}

/* The pages follow at 0.1 GB/s, for which the core loses a tenth; what is far becomes less
 * meanwhile. */
static void test_follows(void **state)
{
    double moving_s, done_s, total;
    struct day_node node;

    (void)state;
    swap(&node, NAN, 1e8);
    total = sum_of(&node.sim, 0);
    moving_s = total / 1e8;
    assert_true(moving_s < 40);
    done_s = moving_s / 0.2 * log(1.3 / 1.1);
    assert_true(fabs(took_s(&node, 0) - 100 - DAY_COLD_S - (moving_s - done_s)) < 0.01);
    assert_true(fabs(node.sim.tally[0].moved_bytes - total) <= 1);
    assert_true(fabs(node.sim.tally[0].far_s - (moving_s - done_s)) < 0.01);
    assert_true(day_memory_bytes(&node.sim, &node.sim.job[0])[1] >= total - 1);
    node_close(&node);
}

/* ---- who pays ---- */

static void test_rest(void **state)
{
    (void)state;
    for (double age = 0; age < 1000; age = 3 * age + 10) {
        double lives = 0, rest = 0;

        for (double z = -8; z < 10; z += 1e-4) {
            double length = 100 * exp(z - 0.5), part = exp(-z * z / 2);

            lives += length > age ? part : 0;
            rest += length > age ? part * (length - age) : 0;
        }
        assert_true(fabs(day_payer_rest_s(100, age) / (rest / lives) - 1) < 0.01);
    }
}

/* Two devils come to the first cache, then two turtles to the other. */
static void crowd(struct day_node *node, double gib, const struct day_placer *placer)
{
    struct berth_error err;

    memcpy(pairs, (const double[]){1, 0, 0, 0}, sizeof(pairs));
    node_open(node, "package:2 [numa] l3:1 core:2 pu:1", NAN, 4, (const size_t[]){0, 0, 1, 1});
    day_memory_close(&node->sim);
    if (gib > 0)
        assert_int_equal(day_memory_open(&node->sim, gib, 1, &err), 0);
    for (size_t i = 0; i < 4; i++) /* each has its memory when the next one comes */
        node->sim.job[i].arrives = (int64_t)i * 2 * DAY_BEGINS_S * DAY_NS;
    day_node_simulate(node, placer);
}

/* They are parted where jobs have no memory, or little; with more than can ever follow, and to lose
 * more by it than beside each other while that counts, they stay. */
static void test_payer(void **state)
{
    const double gib[] = {0, 1e-3, 1e5};
    struct day_node node;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        crowd(&node, gib[i], &day_payer);
        assert_int_equal(node.sim.tally[0].moves > 0, i < 2);
        assert_int_equal(took_s(&node, 0) < 105, i < 2);
        assert_true(node.sim.tally[0].far_s < 1);
        node_close(&node);
    }
}

static void test_forgetful(void **state)
{
    struct day_node node;

    (void)state;
    crowd(&node, 1e5, &day_forgetful);
    assert_true(node.sim.tally[0].moves > 0 && node.sim.tally[0].far_s > 10);
    node_close(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_start),     cmocka_unit_test(test_far),
        cmocka_unit_test(test_crowded),   cmocka_unit_test(test_follows),
        cmocka_unit_test(test_rest),      cmocka_unit_test(test_payer),
        cmocka_unit_test(test_forgetful),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
