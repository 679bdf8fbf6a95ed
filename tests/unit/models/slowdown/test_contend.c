/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_contend - shares and delays worked out by hand or solved in another way; what must hold for
 * any group; what is assumed where something is missing; and figures that make no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "models/slowdown/contend.h"
#include "enum_table.h"

/* Nothing is known, but what is said after it. */
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define APP_UNKNOWN                                                                                \
    .ipc = NAN, .llc_apki = NAN, .llc_mpki = NAN, .llc_demand_mpki = NAN, .llc_wb_apki = NAN,      \
    .mem_gbps = NAN, .mem_read_gbps = NAN, .mem_write_gbps = NAN, .cores = 1
#define WAYS 4

/* Four ways of 1000 lines, 1 GHz, a way to memory that is never full. */
static const struct app_machine quiet = {.llc_bytes = 4 * 64000,
                                         .dram_gbps = 1e6,
                                         .clock_ghz = 1,
                                         .llc_ways = WAYS,
                                         .line_bytes = 64,
                                         .dram_calibrated = true};

/* A program that misses without end, one that hits in two ways, one that hits in all alike, and one
 * that never comes to the cache. All are so slow that they wait for each of their accesses. */
static const double no_hits[WAYS], two_ways[WAYS] = {5000, 5000},
                                   all_ways[WAYS] = {2000, 2000, 2000, 2000};
enum { STREAM, SMALL, EVEN, IDLE, KINDS };
static const struct app TABLE(kinds, KINDS) = {
    ROW(STREAM) = {APP_UNKNOWN, .ipc = 0.05, .sdp = {WAYS, no_hits, 10000}, .mem_write_gbps = 0},
    ROW(SMALL) = {APP_UNKNOWN, .ipc = 0.05, .sdp = {WAYS, two_ways, 0}, .mem_write_gbps = 0},
    ROW(EVEN) = {APP_UNKNOWN, .ipc = 0.05, .sdp = {WAYS, all_ways, 0}, .mem_write_gbps = 0},
    ROW(IDLE) = {APP_UNKNOWN, .ipc = 2, .sdp = {WAYS, no_hits, 0}, .mem_write_gbps = 0},
};
TABLE_COMPLETE(kinds);

static struct app_machine machine_of(double llc_bytes, double dram_gbps, double clock_ghz,
                                     size_t ways, size_t line_bytes)
{
    return (struct app_machine){.llc_bytes = llc_bytes,
                                .dram_gbps = dram_gbps,
                                .clock_ghz = clock_ghz,
                                .llc_ways = ways,
                                .line_bytes = line_bytes};
}

#define assert_near(value, expected, error) assert_true(fabs((value) - (expected)) <= (error))

static struct contend *study(size_t n, const struct app *app, const struct app_machine *machine,
                             const struct contend_constants *constants)
{
    struct contend *contend = contend_new(n, app, machine, constants);

    assert_non_null(contend);
    return contend;
}

/* The same sequence on every run and every machine (xorshift). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double uniform(uint64_t *state, double least, double most)
{
    return least + (most - least) * (double)(next_random(state) % 1000000) / 1e6;
}

/* ---- the cache ---- */

static void alone_nothing_slows_down(void **state)
{
    struct contend *contend = study(KINDS, kinds, &quiet, NULL);
    double slowdown[2];

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        assert_int_equal(contend_group(contend, 1, &i, slowdown), 0);
        assert_true(slowdown[0] == 0);
    }
    /* Two working sets of two ways are together four. */
    assert_int_equal(contend_group(contend, 2, (size_t[]){SMALL, SMALL}, slowdown), 0);
    assert_true(slowdown[0] < 1e-4 && slowdown[1] < 1e-4);
    /* Nobody is hurt by one that is idle, nor hurts it. */
    assert_int_equal(contend_group(contend, 2, (size_t[]){EVEN, IDLE}, slowdown), 0);
    assert_true(slowdown[0] < 1e-4 && slowdown[1] == 0);
    contend_free(contend);
}

/* Waits for each line that is not under way with another one. */
static struct contend_constants waiting(double miss_ns)
{
    struct contend_constants constants = contend_constants;

    constants.miss_ns = miss_ns;
    constants.hit_ns = 0;
    constants.exposed = 1;
    constants.core_cpi = 0;
    return constants;
}

/* Two copies have two ways each, and lose 4000 hits per million: 0.004 * 50 ns for each
 * instruction, in which the core works as long as before, 20 ns. */
static void copies_halve_the_cache(void **state)
{
    const struct contend_constants constants = waiting(50);
    struct contend *contend = study(KINDS, kinds, &quiet, &constants);
    struct app_pair pair = contend_pair(contend, EVEN, EVEN);
    double ns = 20;

    (void)state;
    for (int i = 0; i < 20; i++)
        ns = 20 * exp(0.004 * 50 / ns);
    assert_near(pair.a_given_b, ns / 20 - 1, 1e-5);
    assert_near(pair.b_given_a, pair.a_given_b, 1e-9);
    assert_near(pair.score, pair.a_given_b + pair.b_given_a, 1e-12);
    contend_free(contend);
}

/* The more lines are under way at a time, the less each of them is waited for: eight times the
 * lines are not eight times the wait. */
static void lines_hide_each_other(void **state)
{
    static const double many_ways[WAYS] = {16000, 16000, 16000, 16000};
    const struct contend_constants constants = waiting(5000);
    const struct app app[3] = {
        kinds[STREAM],
        kinds[EVEN],
        {APP_UNKNOWN, .ipc = 0.05, .sdp = {WAYS, many_ways, 0}, .mem_write_gbps = 0},
    };
    struct contend *contend = study(3, app, &quiet, &constants);
    double few = contend_pair(contend, 1, 1).a_given_b,
           many = contend_pair(contend, 2, 2).a_given_b;

    (void)state;
    assert_true(many > 2 * few && many < 7 * few);
    contend_free(contend);
}

/* A stream touches 0.01 / 20 lines per ns. One that hits in all ways alike has touched
 * 4 * (1 - exp(-0.002 / 20 / 1000 * t)) ways at t. Memory so fast that nobody slows down: what is
 * slowed tells the hits that are lost. */
static void footprints_grow_until_the_cache_is_full(void **state)
{
    const struct contend_constants constants = waiting(1e-4);
    struct contend *contend = study(KINDS, kinds, &quiet, &constants);
    double low = 0, high = 1e9, lost;

    (void)state;
    for (int i = 0; i < 200; i++) {
        double t = (low + high) / 2;
        double touched = t * 0.01 / 20 / 1000 + WAYS * -expm1(-0.002 / 20 / 1000 * t);

        *(touched > WAYS ? &high : &low) = t;
    }
    lost = WAYS * exp(-0.002 / 20 / 1000 * low) * 0.002; /* per instruction */
    assert_near(contend_pair(contend, EVEN, STREAM).a_given_b * 20 / 1e-4, lost, 0.01 * lost);
    assert_true(contend_pair(contend, EVEN, STREAM).b_given_a == 0);
    contend_free(contend);
}

/* A program on two cores is to others what two copies of one core are. */
static void cores_are_copies(void **state)
{
    struct app app[3] = {kinds[EVEN], kinds[STREAM], kinds[STREAM]};
    struct contend *contend;
    double copies[3], cores[2];

    (void)state;
    app[2].cores = 2;
    contend = study(3, app, &quiet, NULL);
    assert_int_equal(contend_group(contend, 3, (size_t[]){0, 1, 1}, copies), 0);
    assert_int_equal(contend_group(contend, 2, (size_t[]){0, 2}, cores), 0);
    assert_near(copies[0], cores[0], 1e-5);
    assert_true(copies[0] > contend_pair(contend, 0, 1).a_given_b * 1.1);
    contend_free(contend);
}

/* ---- the way to memory ---- */

/* Returns the stretch of memory at that load, of as many channels. */
static double stretch(double load, double channels)
{
    double roof = sqrt(channels);

    return pow(1 - pow(load, roof), -1 / roof);
}

/* Streams, which the cache cannot help: at the speeds that come out, the load is the one which
 * makes these speeds. Two channels, 0.4 GB/s of them are reachable. */
static void delays_and_speeds_agree(void **state)
{
    static const double ipc[2] = {0.05, 0.1}, misses[2] = {0.02, 0.03}, written[2] = {0.02, 0};
    struct contend_constants constants = contend_constants;
    struct app_machine machine = quiet;
    double slowdown[2], load = 0, alone[2], hidden[2], part[2];
    struct contend *contend;
    struct app app[2];

    (void)state;
    machine.dram_gbps = 0.4;
    constants.channel_gbps = 0.2;
    for (size_t i = 0; i < 2; i++)
        app[i] = (struct app){APP_UNKNOWN, .ipc = ipc[i], .sdp = {WAYS, no_hits, misses[i] * 1e6},
                              .mem_write_gbps = written[i]};
    contend = study(2, app, &machine, &constants);
    assert_int_equal(contend_group(contend, 2, (size_t[]){0, 1}, slowdown), 0);
    for (size_t i = 0; i < 2; i++) {
        double gbps = 64 * misses[i] * ipc[i] + constants.write * written[i]; /* at 1 GHz */
        double waits = constants.exposed * (1 - constants.core_cpi * ipc[i]) * misses[i] *
                       constants.miss_ns * ipc[i];

        part[i] = 1 - exp(-waits);
        hidden[i] = constants.queue * part[i] / waits;
        alone[i] = gbps / machine.dram_gbps;
        load += alone[i] / (1 + slowdown[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        double now = stretch(load, 2) + hidden[i] * load;
        double before = stretch(alone[i], 2) + hidden[i] * alone[i];

        assert_near(part[i] * (now / before - 1), slowdown[i], 3e-3);
        assert_true(slowdown[i] > 0.02);
    }
    contend_free(contend);
}

/* Copies that only wait for memory follow the soft roof (1 + u^p)^(1/p). */
static void copies_follow_the_roof(void **state)
{
    const struct app app = {APP_UNKNOWN, .ipc = 0.05, .sdp = {WAYS, no_hits, 1e6},
                            .mem_write_gbps = 0}; /* 3.2 GB/s */
    struct contend_constants constants = waiting(1000);
    struct app_machine machine = quiet;
    size_t member[16] = {0};
    double slowdown[16], ask, alone;
    struct contend *contend;

    (void)state;
    machine.dram_gbps = 16;
    machine.own_prefetchers = true;
    constants.channel_gbps = 4;
    constants.queue = 0;
    contend = study(1, &app, &machine, &constants);
    ask = 0.2 / sqrt(1 - 0.2 * 0.2); /* of an idle memory, of which it has 0.2 when alone */
    alone = sqrt(1 + ask * ask);
    for (size_t n = 2; n <= 16; n += 2) {
        double roof = sqrt(1 + (double)(n * n) * ask * ask) / alone;

        assert_int_equal(contend_group(contend, n, member, slowdown), 0);
        assert_near(slowdown[0], roof - 1, 3e-3 * roof);
    }
    contend_free(contend);
}

/* What memory can give is what was measured; else a part of what its data sheet says, the larger
 * the more channels it has; else one channel, but in any case what was seen. */
static void capacity_is_known_assumed_or_seen(void **state)
{
    struct app_machine machine = quiet;
    struct app streams[2] = {
        {APP_UNKNOWN, .ipc = 0.5, .sdp = {WAYS, no_hits, 30000}, .mem_write_gbps = 0}};
    double measured, nominal, unknown, seen;
    struct contend *contend;

    (void)state;
    streams[1] = streams[0];
    machine.dram_gbps = 10;
    contend = study(2, streams, &machine, NULL);
    measured = contend_pair(contend, 0, 1).a_given_b;
    contend_free(contend);
    machine.dram_calibrated = false;
    contend = study(2, streams, &machine, NULL);
    nominal = contend_pair(contend, 0, 1).a_given_b;
    contend_free(contend);
    machine.dram_gbps = NAN;
    contend = study(2, streams, &machine, NULL);
    unknown = contend_pair(contend, 0, 1).a_given_b;
    contend_seen(contend, 100);
    contend_seen(contend, 1);
    seen = contend_pair(contend, 0, 1).a_given_b;
    contend_free(contend);
    assert_true(measured > 0.01 && nominal > 1.5 * measured);
    assert_true(unknown > 0.01 && seen < unknown / 2 && seen > 0);
    machine.dram_seen_gbps = 100;
    contend = study(2, streams, &machine, NULL);
    assert_near(contend_pair(contend, 0, 1).a_given_b, seen, 1e-6);
    contend_free(contend);
}

/* A program that a prefetcher serves well waits for nothing but the delay of its lines; beside a
 * copy of itself it is served no more, unless each has a prefetcher of its own. */
static void copies_lose_their_prefetches(void **state)
{
    const struct app app[2] = {
        {APP_UNKNOWN, .ipc = 1, .sdp = {WAYS, no_hits, 10000}, .llc_demand_mpki = 1,
         .mem_write_gbps = 0},
        {APP_UNKNOWN, .ipc = 1, .sdp = {WAYS, no_hits, 10000}, .llc_demand_mpki = 1,
         .mem_write_gbps = 0},
    };
    struct contend_constants constants = contend_constants;
    struct app_machine machine = quiet;
    struct contend *contend;
    double shared;

    (void)state;
    constants.exposed = 1;
    contend = study(2, app, &machine, &constants);
    assert_true(contend_pair(contend, 0, 1).score == 0);
    shared = contend_pair(contend, 0, 0).score;
    assert_true(shared > 0.1);
    contend_free(contend);
    machine.own_prefetchers = true;
    contend = study(2, app, &machine, &constants);
    assert_true(contend_pair(contend, 0, 0).score == 0);
    contend_free(contend);
}

/* A demand that begins what is prefetched is waited for no more than that. */
static void demands_in_order_cost_little(void **state)
{
    struct app app[3] = {kinds[STREAM],
                         {APP_UNKNOWN, .ipc = 1, .sdp = {WAYS, all_ways, 0}, .mem_write_gbps = 0},
                         {APP_UNKNOWN, .ipc = 1, .sdp = {WAYS, all_ways, 0}, .mem_write_gbps = 0}};
    static const double half[WAYS] = {1000, 1000, 1000, 1000};
    const struct contend_constants constants = waiting(80);
    struct contend *contend;

    (void)state;
    app[2].sdp_demand = (struct app_sdp){WAYS, half, 0};
    contend = study(3, app, &quiet, &constants);
    assert_true(contend_pair(contend, 1, 0).a_given_b > 0.01);
    assert_true(contend_pair(contend, 2, 0).a_given_b == 0);
    contend_free(contend);
}

/* Write-backs fill the channel as reads do. */
static void writes_do_damage(void **state)
{
    struct app app[2] = {kinds[STREAM], kinds[STREAM]};
    const struct contend_constants constants = waiting(1000);
    struct app_machine machine = quiet;
    struct contend *contend;

    (void)state;
    machine.dram_gbps = 0.2;
    app[1].mem_write_gbps = 0.03;
    contend = study(2, app, &machine, &constants);
    assert_true(contend_pair(contend, 0, 1).a_given_b >
                contend_pair(contend, 0, 0).a_given_b + 0.01);
    contend_free(contend);
}

/* ---- any group ---- */

#define SOME 40
#define MANY 16

static void random_app(uint64_t *state, struct app *app, double hits[16], double demand[16])
{
    double scale = exp(uniform(state, 0, 9)), decay = uniform(state, 0, 1);

    *app = (struct app){APP_UNKNOWN, .ipc = uniform(state, 0.1, 3)};
    for (size_t i = 0; i < 16; i++) {
        hits[i] = scale * exp(-decay * (double)i) * uniform(state, 0, 1);
        demand[i] = hits[i] * uniform(state, 0, 1);
    }
    app->sdp = (struct app_sdp){16, hits, exp(uniform(state, 0, 10))};
    app->sdp_demand = (struct app_sdp){16, demand, app->sdp.misses * uniform(state, 0, 1)};
    app->mem_write_gbps = uniform(state, 0, 2);
    app->llc_wb_apki = uniform(state, 0, 20);
}

static void groups_settle(void **state)
{
    static const double gbps[] = {NAN, 5, 20, 80};
    static double hits[SOME][16], demand[SOME][16];
    struct app app[SOME];
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < SOME; i++)
        random_app(&seed, &app[i], hits[i], demand[i]);
    for (size_t m = 0; m < sizeof(gbps) / sizeof(gbps[0]); m++) {
        const struct app_machine machine = machine_of(2 << 20, gbps[m], 3, 16, 64);
        struct contend *contend = study(SOME, app, &machine, NULL);

        for (int round = 0; round < 500; round++) {
            size_t n = 2 + next_random(&seed) % (MANY - 1), member[MANY], turned[MANY];
            double slowdown[MANY], again[MANY];

            for (size_t i = 0; i < n; i++)
                turned[n - 1 - i] = member[i] = next_random(&seed) % SOME;
            assert_int_equal(contend_group(contend, n, member, slowdown), 0);
            assert_int_equal(contend_group(contend, n, turned, again), 0);
            for (size_t i = 0; i < n; i++) {
                assert_true(isfinite(slowdown[i]) && slowdown[i] >= 0);
                assert_near(slowdown[i], again[n - 1 - i], 1e-3 * (1 + slowdown[i]));
            }
        }
        contend_free(contend);
    }
}

/* ---- a node ---- */

/* On one cache, with its memory node to itself, a node is a group. */
static void one_cache_is_a_group(void **state)
{
    struct contend_stand stand[MANY];
    double hits[SOME][16], demand[SOME][16], slowdown[MANY], again[MANY];
    const struct app_machine machine = machine_of(2 << 20, 20, 3, 16, 64);
    uint64_t seed = 88172645463325252u;
    struct contend *contend;
    struct app app[SOME];

    (void)state;
    for (size_t i = 0; i < SOME; i++)
        random_app(&seed, &app[i], hits[i], demand[i]);
    contend = study(SOME, app, &machine, NULL);
    for (int round = 0; round < 100; round++) {
        size_t member[MANY], n = 1 + next_random(&seed) % MANY;

        for (size_t i = 0; i < n; i++) {
            member[i] = next_random(&seed) % SOME;
            stand[i] = (struct contend_stand){member[i], 7, 3, {0}};
        }
        assert_int_equal(contend_group(contend, n, member, slowdown), 0);
        assert_int_equal(contend_node(contend, n, stand, again), 0);
        for (size_t i = 0; i < n; i++)
            assert_near(slowdown[i], again[i], 1e-3 * (1 + slowdown[i]));
    }
    contend_free(contend);
}

/* Two streams on two caches of one memory node are late because of each other, as on one cache,
 * which has nothing for them; behind two memory nodes they are not (FIDELITY A2.2, DIO-1). */
static void caches_of_a_memory_node_share_it(void **state)
{
    struct app_machine machine = quiet;
    double apart[2], together[2], far[2];
    struct contend *contend;

    (void)state;
    machine.dram_gbps = 0.04;
    contend = study(KINDS, kinds, &machine, NULL);
    assert_int_equal(
        contend_node(contend, 2,
                     (struct contend_stand[]){{STREAM, 0, 0, {0}}, {STREAM, 1, 0, {0}}},
                     apart),
        0);
    assert_int_equal(
        contend_node(contend, 2,
                     (struct contend_stand[]){{STREAM, 0, 0, {0}}, {STREAM, 0, 0, {0}}},
                     together),
        0);
    assert_int_equal(
        contend_node(contend, 2,
                     (struct contend_stand[]){{STREAM, 0, 0, {0}}, {STREAM, 1, 1, {0}}},
                     far),
        0);
    for (size_t i = 0; i < 2; i++) {
        assert_true(apart[i] > 0.05);
        assert_near(apart[i], together[i], 1e-3);
        assert_true(far[i] == 0);
    }
    assert_int_equal(contend_node(contend, 0, NULL, NULL), 0);
    contend_free(contend);
}

/* Programs at 3 GHz: a devil that misses 30 times in 1000 instructions and hits never, a turtle. */
static const struct app devil = {APP_UNKNOWN, .ipc = 0.5, .llc_apki = 30, .llc_mpki = 30};
static const struct app turtle = {APP_UNKNOWN, .ipc = 1.5, .llc_apki = 0.2, .llc_mpki = 0.05};

/* The cores' work when two devils and two turtles stand so: each on a cache and behind a memory
 * node. */
static double work_of(double dram_gbps, bool calibrated, const struct contend_stand stand[4])
{
    struct app_machine machine = machine_of(16 << 20, dram_gbps, 3, 16, 64);
    const struct app app[2] = {devil, turtle};
    double slowdown[4], work = 0;
    struct contend *contend;

    machine.own_prefetchers = true;
    machine.dram_calibrated = calibrated;
    contend = study(2, app, &machine, NULL);
    assert_int_equal(contend_node(contend, 4, stand, slowdown), 0);
    for (size_t i = 0; i < 4; i++)
        work += 1 / (1 + slowdown[i]);
    contend_free(contend);
    return work;
}

/* FIDELITY A2.2, DIO-1: with 11 GB/s a memory node, devils on the two caches of one node are better
 * off with one of them behind the other node. */
static void devils_go_to_different_memory_nodes(void **state)
{
    static const struct contend_stand one_node[4] = {
        {0, 0, 0, {0}}, {0, 1, 0, {0}}, {1, 2, 1, {0}}, {1, 3, 1, {0}}};
    static const struct contend_stand two_nodes[4] = {
        {0, 0, 0, {0}}, {1, 1, 0, {0}}, {0, 2, 1, {0}}, {1, 3, 1, {0}}};
    static const struct contend_stand one_cache[4] = {
        {0, 0, 0, {0}}, {0, 0, 0, {0}}, {1, 2, 1, {0}}, {1, 3, 1, {0}}};

    (void)state;
    assert_true(work_of(11, true, two_nodes) > work_of(11, true, one_node) + 0.1);
    assert_near(work_of(11, true, one_cache), work_of(11, true, one_node), 5e-3);
}

/* DIO-2: nobody measured what memory gives, and the cache does nothing for either devil: they are
 * better off apart all the same, and no worse behind one memory node. */
static void devils_part_without_calibration(void **state)
{
    static const struct contend_stand together[4] = {
        {0, 0, 0, {0}}, {0, 0, 0, {0}}, {1, 1, 1, {0}}, {1, 1, 1, {0}}};
    static const struct contend_stand apart[4] = {
        {0, 0, 0, {0}}, {1, 0, 0, {0}}, {0, 1, 1, {0}}, {1, 1, 1, {0}}};

    (void)state;
    assert_true(work_of(NAN, false, apart) > work_of(NAN, false, together) + 0.05);
    assert_true(work_of(40, false, apart) > work_of(40, false, together) + 0.02);
}

/* Nor does it matter then that the caches share a memory node: each has a port of its own, and two
 * devils are in each other's way there. A port that was measured counts as it was. */
static void devils_fill_a_port(void **state)
{
    static const struct contend_stand two_caches[2] = {{0, 0, 0, {0}}, {0, 1, 0, {0}}};
    static const struct contend_stand one_cache[2] = {{0, 0, 0, {0}}, {0, 0, 0, {0}}};
    static const struct {
        size_t caches;
        double dram_gbps, port_gbps;
        double least, most; /* what is lost by being together */
    } cases[] = {
        {1, NAN, NAN, -5e-3, 5e-3}, /* the only one: its port is the way to memory */
        {2, NAN, NAN, 0.03, 1},     {4, NAN, NAN, 0.03, 1},     {8, NAN, NAN, 0.03, 1},
        {8, 150, NAN, 0.01, 0.1}, /* 38 GB/s, as core complexes have */
        {8, 150, 12, 0.1, 1},       {8, 150, 100, 0.001, 0.02}, {1, 150, 12, -5e-3, 5e-3},
    };
    struct app_machine machine = machine_of(16 << 20, NAN, 3, 16, 64);
    struct contend *contend;
    double apart[2], together[2];

    (void)state;
    machine.own_prefetchers = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        machine.dram_gbps = cases[i].dram_gbps;
        machine.dram_calibrated = cases[i].dram_gbps > 0;
        machine.port_gbps = cases[i].port_gbps;
        machine.caches = cases[i].caches;
        contend = study(1, &devil, &machine, NULL);
        assert_int_equal(contend_node(contend, 2, two_caches, apart), 0);
        assert_int_equal(contend_node(contend, 2, one_cache, together), 0);
        if (!(together[0] - apart[0] >= cases[i].least && together[0] - apart[0] <= cases[i].most))
            fail_msg("%zu: %g", i, together[0] - apart[0]);
        contend_free(contend);
    }
}

/* What a core loses of its hits is the way to no cache at all; footprints that count for several,
 * or for less than one, leave it less of the cache, or more. */
static void what_threads_have_of_each_other(void **state)
{
    static const struct contend_apart apart[] = {
        {0}, {.lost = 0.5}, {.lost = 1}, {.crowd = 1}, {.crowd = -0.5}};
    static const struct contend_apart wrong[] = {
        {.lost = -0.1}, {.lost = NAN}, {.crowd = -1}, {.siblings = -1}, {.siblings = INFINITY}};
    struct contend *contend = study(KINDS, kinds, &quiet, NULL);
    double slowdown[5][2], node[2];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        const struct contend_apart both[2] = {apart[i], apart[i]};
        const struct contend_stand stand[2] = {{EVEN, 0, 0, apart[i]}, {EVEN, 0, 0, apart[i]}};

        assert_int_equal(
            contend_cache(contend, 0, 2, (size_t[]){EVEN, EVEN}, both, slowdown[i], NULL), 0);
        assert_int_equal(contend_node(contend, 2, stand, node), 0);
        assert_true(node[0] == slowdown[i][0] && node[1] == slowdown[i][1]);
        assert_int_equal(
            contend_cache(contend, 0, 1, (size_t[]){EVEN}, &wrong[i], slowdown[i], NULL), -1);
        slowdown[i][0] = node[0];
    }
    assert_true(slowdown[0][0] < slowdown[1][0] && slowdown[1][0] < slowdown[2][0]);
    assert_true(slowdown[0][0] < slowdown[3][0] && slowdown[3][0] < slowdown[2][0]);
    assert_true(slowdown[4][0] < slowdown[0][0]);
    assert_true(slowdown[4][0] >= 0);
    contend_free(contend);
}

/* What one cache is told that the others ask is what they do ask in the whole node. */
/* One that hits in all ways has of half a cache what it has of a whole one beside a copy of itself,
 * one that needs no more than half loses nothing, and two there have a quarter each. */
static void caches_may_be_smaller(void **state)
{
    static const struct contend_apart half[] = {{.small = 0.5}, {.small = 0.5}};
    static const struct contend_apart wrong[] = {{.small = 1}, {.small = -0.1}, {.small = NAN}};
    const struct contend_constants constants = waiting(50);
    struct contend *contend = study(KINDS, kinds, &quiet, &constants);
    const size_t even[] = {EVEN, EVEN}, small[] = {SMALL};
    double both[2], alone[2], four[4], node[2], gbps;
    const struct contend_stand stand[] = {{EVEN, 0, 0, {.small = 0.5}}, {EVEN, 1, 0, {0}}};

    (void)state;
    assert_int_equal(contend_cache(contend, 0, 2, even, NULL, both, NULL), 0);
    assert_int_equal(contend_cache(contend, 0, 1, even, half, alone, NULL), 0);
    assert_near(alone[0], both[0], 1e-4);
    assert_true(alone[0] > 5e-3);
    assert_int_equal(contend_node(contend, 2, stand, node), 0);
    assert_near(node[0], alone[0], 1e-4);
    assert_near(node[1], 0, 1e-4);
    assert_int_equal(contend_cache(contend, 0, 1, small, half, alone, &gbps), 0);
    assert_near(alone[0], 0, 1e-4);
    assert_int_equal(contend_cache(contend, 0, 2, even, half, both, NULL), 0);
    assert_int_equal(contend_group(contend, 4, (size_t[]){EVEN, EVEN, EVEN, EVEN}, four), 0);
    assert_near(both[0], four[0], 1e-4);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(contend_cache(contend, 0, 1, even, &wrong[i], alone, NULL), -1);
    contend_free(contend);
}

static void a_cache_beside_others_is_a_part_of_the_node(void **state)
{
    static const struct contend_stand stand[] = {{EVEN, 0, 0, {0}},
                                                 {STREAM, 0, 0, {0}},
                                                 {STREAM, 1, 0, {0}},
                                                 {EVEN, 1, 0, {0}}};
    struct app_machine machine = quiet;
    double node[4], here[2], there[2], gbps[2] = {0};
    struct contend *contend;

    (void)state;
    machine.dram_gbps = 0.1;
    contend = study(KINDS, kinds, &machine, NULL);
    assert_int_equal(contend_node(contend, 4, stand, node), 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(
            contend_cache(contend, gbps[1], 2, (size_t[]){EVEN, STREAM}, NULL, here, &gbps[0]), 0);
        assert_int_equal(
            contend_cache(contend, gbps[0], 2, (size_t[]){STREAM, EVEN}, NULL, there, &gbps[1]), 0);
    }
    assert_true(gbps[0] > 0.01 && here[1] > 0.01);
    for (size_t i = 0; i < 2; i++) {
        assert_near(node[i], here[i], 2e-3 * (1 + here[i]));
        assert_near(node[2 + i], there[i], 2e-3 * (1 + there[i]));
    }
    assert_int_equal(contend_cache(contend, -1, 1, (size_t[]){EVEN}, NULL, here, NULL), -1);
    contend_free(contend);
}

/* ---- hardware threads ---- */

enum { SIBLINGS = 4 };

/* Programs that do not use the cache: what they lose is for the other hardware thread alone. */
static struct contend *study_siblings(const double ipc[SIBLINGS], const struct app_machine *machine)
{
    struct app app[SIBLINGS];

    for (size_t i = 0; i < SIBLINGS; i++) {
        app[i] = kinds[IDLE];
        app[i].ipc = ipc[i];
    }
    return study(SIBLINGS, app, machine, NULL);
}

/* The mean over all pairs is the constant, however wide the core is; who retires more suffers more,
 * and presses a little more. */
static void siblings_lose_what_they_use(void **state)
{
    static const double ipc[2][SIBLINGS] = {{0.2, 0.8, 1.2, 1.8}, {0.3, 1.2, 1.8, 2.6}};

    (void)state;
    for (size_t wide = 0; wide < 2; wide++) {
        struct contend *contend = study_siblings(ipc[wide], &quiet);
        double mean = 0, before = -1;

        for (size_t i = 0; i < SIBLINGS; i++) {
            double suffers = 0, presses = 0;

            for (size_t j = 0; j < SIBLINGS; j++) {
                suffers += contend_siblings(contend, i, j).a_given_b / SIBLINGS;
                presses += contend_siblings(contend, j, i).a_given_b / SIBLINGS;
                assert_true(contend_pair(contend, i, j).score == 0);
            }
            mean += suffers / SIBLINGS;
            assert_true(suffers > before);
            assert_true(fabs(presses - contend_constants.sibling) < 0.15);
            before = suffers;
        }
        assert_near(mean, contend_constants.sibling, 0.04);
        contend_free(contend);
    }
}

/* Two that compute are to be parted before two that wait for memory. */
static void who_waits_minds_a_sibling_less(void **state)
{
    struct app app[2] = {kinds[IDLE], kinds[STREAM]};
    struct contend *contend;

    (void)state;
    app[1].ipc = 0.3;
    contend = study(2, app, &quiet, NULL);
    assert_true(contend_siblings(contend, 0, 0).score > contend_siblings(contend, 0, 1).score);
    assert_true(contend_siblings(contend, 0, 1).score > contend_siblings(contend, 1, 1).score);
    contend_free(contend);
}

/* Two streams on one core have what one core reads, as measured, or assumed and no less than one
 * was seen to read; who is beside a stream and reads little does not notice. */
static void two_streams_share_what_a_core_reads(void **state)
{
    static const struct {
        double core_gbps, reads_gbps[2], slowdown;
    } cases[] = {{12, {9, 9}, 0.5},  {12, {9, 6}, 0.25},  {0, {10, 10}, 0.6}, {NAN, {10, 10}, 0.6},
                 {0, {20, 10}, 0.5}, {40, {20, 10}, NAN}, {12, {9, 0.1}, NAN}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct app_machine machine = quiet;
        struct app app[2] = {kinds[STREAM], kinds[STREAM]};
        struct contend *contend;

        machine.core_gbps = cases[i].core_gbps;
        for (size_t j = 0; j < 2; j++) {
            app[j].ipc = 0.3;
            app[j].mem_read_gbps = cases[i].reads_gbps[j];
        }
        contend = study(2, app, &machine, NULL);
        for (size_t j = 0; j < 2; j++)
            assert_near(contend_sibling(contend, j, 1 - j),
                        isnan(cases[i].slowdown)
                            ? contend_sibling_mean(contend, j) *
                                  (1 + contend_constants.culprit * (contend_use(contend, j) - 1))
                            : cases[i].slowdown,
                        1e-9);
        contend_free(contend);
    }
}

/* A core that nobody counted instructions of is used by what does not wait, the less the more
 * traffic it has. */
static void traffic_stands_in_for_instructions(void **state)
{
    struct app_machine machine = quiet;
    struct app app[2] = {{APP_UNKNOWN, .mem_gbps = 0.1}, {APP_UNKNOWN, .mem_gbps = 4}};
    struct contend *contend;

    (void)state;
    machine.clock_ghz = 3;
    contend = study(2, app, &machine, NULL);
    assert_true(contend_siblings(contend, 0, 0).a_given_b >
                contend_siblings(contend, 1, 0).a_given_b + 0.1);
    contend_free(contend);
}

/* ---- the clock ---- */

/* A program loses by the clock what its core works; neighbours' pressure is told without it. */
static void the_clock_is_told_apart(void **state)
{
    struct app_machine machine = quiet;
    struct app app[2] = {{APP_UNKNOWN, .ipc = 2}, {APP_UNKNOWN, .ipc = 0.3, .llc_mpki = 20}};
    struct app_pair without;
    struct contend *contend;

    (void)state;
    machine.clock_ghz = 3;
    contend = study(2, app, &machine, NULL);
    without = contend_pair(contend, 0, 1);
    assert_true(contend_clock(contend, 0, 8) == 0);
    contend_free(contend);
    machine.clock = (struct clock_curve){4, 3.5, 3, 8};
    contend = study(2, app, &machine, NULL);
    assert_true(contend_pair(contend, 0, 1).score == without.score);
    assert_near(contend_clock(contend, 0, 8), 1.0 / 3, 1e-9);
    assert_near(contend_clock(contend, 0, 4), 4 / 3.5 - 1, 1e-9);
    assert_true(contend_clock(contend, 0, 1) == 0);
    assert_true(contend_clock(contend, 1, 8) < 0.3 && contend_clock(contend, 1, 8) > 0.1);
    contend_free(contend);
}

/* What was counted at a lower clock asks for more at a higher one, and of a memory that is none the
 * faster. */
static void faster_cores_press_harder(void **state)
{
    struct app_machine machine = quiet;
    struct app app = {APP_UNKNOWN, .ipc = 1, .llc_mpki = 10, .mem_gbps = 4};
    double before = 0;

    (void)state;
    machine.dram_gbps = 10;
    machine.clock_ghz = 2;
    for (double counted = 4; counted >= 1; counted /= 2) {
        struct contend *contend;
        double now;

        machine.clock = (struct clock_curve){4, 4, 4, 8};
        app.clock_ghz = counted;
        contend = study(1, &app, &machine, NULL);
        now = contend_pair(contend, 0, 0).a_given_b;
        assert_true(now > before);
        before = now;
        contend_free(contend);
    }
}

/* ---- one program at a time ---- */

/* Programs that come one by one, also over others, are those that come together. */
static void programs_come_one_by_one(void **state)
{
    struct contend *whole = study(KINDS, kinds, &quiet, NULL), *one = study(0, NULL, &quiet, NULL);
    struct app bad = kinds[EVEN];

    (void)state;
    assert_int_equal(contend_set(&one, IDLE, &kinds[EVEN]), 0); /* the others are idle */
    assert_true(contend_pair(one, IDLE, STREAM).score == 0);
    for (size_t i = 0; i < KINDS; i++)
        assert_int_equal(contend_set(&one, i, &kinds[i]), 0);
    bad.ipc = -1;
    assert_int_equal(contend_set(&one, STREAM, &bad), -1);
    assert_int_equal(errno, EINVAL);
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < KINDS; j++)
            assert_true(contend_pair(one, i, j).score == contend_pair(whole, i, j).score);
    assert_int_equal(contend_set(&one, 100, &kinds[EVEN]), 0);
    assert_true(contend_pair(one, 100, STREAM).score == contend_pair(whole, EVEN, STREAM).score);
    assert_true(contend_pair(one, 99, STREAM).score == 0);
    contend_free(one);
    contend_free(whole);
}

/* ---- what is missing ---- */

static const struct missing {
    struct app app;
    unsigned assumed;
} missing[] = {
    {{APP_UNKNOWN},
     CONTEND_IPC | CONTEND_SDP | CONTEND_HITS | CONTEND_MISSES | CONTEND_DEMAND | CONTEND_WRITES},
    {{APP_UNKNOWN, .ipc = 1, .sdp = {WAYS, all_ways, 5}}, CONTEND_DEMAND | CONTEND_WRITES},
    {{APP_UNKNOWN, .ipc = 1, .llc_apki = 9, .llc_mpki = 5},
     CONTEND_SDP | CONTEND_DEMAND | CONTEND_WRITES},
    {{APP_UNKNOWN, .ipc = 1, .mem_gbps = 1},
     CONTEND_SDP | CONTEND_HITS | CONTEND_DEMAND | CONTEND_WRITES},
    {{APP_UNKNOWN, .ipc = 1, .llc_demand_mpki = 1, .llc_wb_apki = 1, .sdp = {WAYS, all_ways, 5}},
     CONTEND_SHARE},
    {{APP_UNKNOWN, .ipc = 1, .mem_write_gbps = 1, .sdp = {WAYS, all_ways, 5},
      .sdp_prefetch = {WAYS, no_hits, 5}},
     0},
};

static void says_what_it_assumes(void **state)
{
    static const struct app_machine unknown = {
        .llc_bytes = NAN, .dram_gbps = NAN, .clock_ghz = NAN};
    struct contend *contend;

    (void)state;
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        contend = study(1, &missing[i].app, &quiet, NULL);
        assert_int_equal(contend_assumed(contend, 0), missing[i].assumed);
        assert_int_equal(contend_assumed(contend, 1), 0);
        contend_free(contend);
    }
    contend = study(KINDS, kinds, &unknown, NULL);
    assert_int_equal(contend_assumed(contend, KINDS), CONTEND_CLOCK | CONTEND_BYTES | CONTEND_WAYS |
                                                          CONTEND_LINE | CONTEND_BANDWIDTH);
    contend_free(contend);
}

/* Without a profile the accesses still say that there is something to lose: hits fall off as 1 -
 * exp(-x / 0.22) with the part x of the cache. */
static void accesses_stand_in_for_a_profile(void **state)
{
    struct app app[4] = {kinds[STREAM],
                         {APP_UNKNOWN, .ipc = 0.05, .llc_apki = 8, .llc_mpki = 0},
                         {APP_UNKNOWN, .ipc = 0.05, .llc_mpki = 0},
                         kinds[EVEN]};
    struct app_machine machine = quiet;
    struct contend *contend;
    double hits[32], spread = contend_constants.spread;

    (void)state;
    machine.llc_ways = 32;
    for (size_t i = 0; i < 32; i++)
        hits[i] = 8000 * (exp(-(double)i / 32 / spread) - exp(-(double)(i + 1) / 32 / spread)) /
                  (1 - exp(-1 / spread));
    app[3].sdp = (struct app_sdp){32, hits, 0};
    contend = study(4, app, &machine, NULL);
    assert_near(contend_pair(contend, 1, 0).a_given_b, contend_pair(contend, 3, 0).a_given_b, 1e-6);
    assert_true(contend_pair(contend, 1, 0).a_given_b > 1e-4);
    assert_true(contend_pair(contend, 2, 0).a_given_b == 0);
    contend_free(contend);
}

/* What was counted of the traffic is more than the misses that were counted: what is prefetched was
 * left out of these. */
static void traffic_tells_of_prefetches(void **state)
{
    const struct app app[3] = {
        {APP_UNKNOWN, .ipc = 0.5, .llc_mpki = 5},
        {APP_UNKNOWN, .ipc = 0.5, .llc_mpki = 5, .mem_gbps = 4},
        {APP_UNKNOWN, .ipc = 0.5, .llc_mpki = 5, .mem_gbps = 0.1},
    };
    struct app_machine machine = quiet;
    struct contend *contend;

    (void)state;
    machine.dram_gbps = 10;
    contend = study(3, app, &machine, NULL);
    assert_true(contend_pair(contend, 0, 1).a_given_b > 2 * contend_pair(contend, 0, 0).a_given_b);
    assert_true(contend_pair(contend, 0, 2).a_given_b < contend_pair(contend, 0, 0).a_given_b);
    assert_true(contend_pair(contend, 1, 1).a_given_b > contend_pair(contend, 0, 1).a_given_b);
    contend_free(contend);
}

/* Where only the misses are told apart, what hits is demands. */
static void hits_are_demands(void **state)
{
    struct app app[3] = {
        {APP_UNKNOWN, .ipc = 0.5, .sdp = {WAYS, all_ways, 5000}, .llc_demand_mpki = 1},
        {APP_UNKNOWN, .ipc = 0.5, .sdp = {WAYS, all_ways, 5000},
         .sdp_demand = {WAYS, all_ways, 1000}},
        kinds[STREAM]};
    struct contend *contend = study(3, app, &quiet, NULL);

    (void)state;
    assert_near(contend_pair(contend, 0, 2).a_given_b, contend_pair(contend, 1, 2).a_given_b, 1e-9);
    assert_true(contend_pair(contend, 0, 2).a_given_b > 1e-3);
    contend_free(contend);
}

/* A profile of one way; a profile of fewer and of more ways than the machine. */
static void ways_may_differ(void **state)
{
    const struct app app[3] = {
        {APP_UNKNOWN, .ipc = 0.05, .sdp = {1, two_ways, 0}},
        kinds[EVEN],
        {APP_UNKNOWN, .ipc = 0.05, .sdp = {2, all_ways, 4000}},
    };
    struct app_machine machine = quiet;
    struct contend *contend = study(3, app, &machine, NULL);

    (void)state;
    assert_true(contend_pair(contend, 0, 1).a_given_b > 0);
    contend_free(contend);
    machine.llc_ways = 2; /* then the two are the same program */
    contend = study(3, app, &machine, NULL);
    assert_near(contend_pair(contend, 1, 1).score, contend_pair(contend, 2, 2).score, 1e-9);
    contend_free(contend);
    machine.llc_ways = 1;
    contend = study(3, app, &machine, NULL);
    assert_true(isfinite(contend_pair(contend, 0, 1).score));
    contend_free(contend);
}

/* ---- figures that make no sense ---- */

static void rejects(size_t n, const struct app *app, const struct app_machine *machine)
{
    errno = 0;
    assert_null(contend_new(n, app, machine, NULL));
    assert_int_equal(errno, EINVAL);
}

static void rejects_what_makes_no_sense(void **state)
{
    static const double bad_hits[2] = {1, -1}, many_hits[65];
    const struct app bad[] = {
        {APP_UNKNOWN, .ipc = -1},
        {APP_UNKNOWN, .llc_mpki = INFINITY},
        {APP_UNKNOWN, .mem_write_gbps = -0.1},
        {APP_UNKNOWN, .sdp = {2, bad_hits, 0}},
        {APP_UNKNOWN, .sdp = {1, no_hits, NAN}},
        {APP_UNKNOWN, .sdp_demand = {1, no_hits, INFINITY}},
        {APP_UNKNOWN, .sdp = {65, many_hits, 0}},
        {.ipc = 1},
    };
    const struct app_machine machine[] = {
        machine_of(-1, NAN, NAN, 4, 64),       machine_of(NAN, 0, NAN, 4, 64),
        machine_of(NAN, NAN, 0, 4, 64),        machine_of(NAN, NAN, NAN, 65, 64),
        machine_of(INFINITY, NAN, NAN, 4, 64),
    };
    struct contend *contend = study(KINDS, kinds, &quiet, NULL);
    size_t member[CONTEND_GROUP_MAX + 1] = {KINDS};
    double slowdown[CONTEND_GROUP_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        rejects(1, &bad[i], &quiet);
    for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
        rejects(1, kinds, &machine[i]);
    assert_int_equal(
        contend_node(contend, 1, &(struct contend_stand){KINDS, 0, 0, {0}}, slowdown), -1);
    assert_int_equal(contend_node(contend, 1,
                                  &(struct contend_stand){0, CONTEND_PLACES_MAX, 0, {0}},
                                  slowdown),
                     -1);
    assert_int_equal(contend_node(contend, 1,
                                  &(struct contend_stand){0, 0, CONTEND_PLACES_MAX, {0}},
                                  slowdown),
                     -1);
    assert_int_equal(contend_group(contend, 1, member, slowdown), -1);
    member[0] = 0;
    assert_int_equal(contend_group(contend, 0, member, slowdown), -1);
    assert_int_equal(contend_group(contend, CONTEND_GROUP_MAX + 1, member, slowdown), -1);
    assert_int_equal(contend_group(contend, CONTEND_GROUP_MAX, member, slowdown), 0);
    contend_free(contend);
}

/* Whatever is allowed, however absurd together, gives a number. */
static void absurd_figures_give_numbers(void **state)
{
    static const double figure[] = {0, 1e-9, 1, 1e6, 1e12, NAN}, rate[] = {1e-3, 1, 1e12, NAN};
    uint64_t seed = 2463534242u;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        double hits[2][4], slowdown[4];
        struct app app[2];
        struct app_machine machine = machine_of(
            rate[next_random(&seed) % 4], rate[next_random(&seed) % 4],
            rate[next_random(&seed) % 4], next_random(&seed) % 5, next_random(&seed) % 2 * 65536);
        struct contend *contend;

        machine.own_prefetchers = next_random(&seed) % 2;
        machine.clock = (struct clock_curve){1e-3, 0, 1e12, next_random(&seed) % 2 * 8};
        for (size_t i = 0; i < 2; i++) {
            double *field = &app[i].ipc;

            app[i] = (struct app){.cores = next_random(&seed) % 2 ? 1 : UINT32_MAX};
            for (size_t j = 0; j < 9; j++) /* ipc .. mem_write_gbps */
                field[j] = figure[next_random(&seed) % 6];
            for (size_t j = 0; j < 4; j++)
                hits[i][j] = figure[next_random(&seed) % 5];
            app[i].sdp =
                (struct app_sdp){next_random(&seed) % 5, hits[i], figure[next_random(&seed) % 5]};
            app[i].sdp_demand = (struct app_sdp){next_random(&seed) % 5, hits[1 - i],
                                                 figure[next_random(&seed) % 5]};
        }
        contend = study(2, app, &machine, NULL);
        assert_true(contend_group(contend, 4, (size_t[]){0, 1, 1, 0}, slowdown) >= 0);
        for (size_t i = 0; i < 4; i++)
            assert_true(isfinite(slowdown[i]) && slowdown[i] >= 0);
        contend_free(contend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_nothing_slows_down),
        cmocka_unit_test(copies_halve_the_cache),
        cmocka_unit_test(lines_hide_each_other),
        cmocka_unit_test(footprints_grow_until_the_cache_is_full),
        cmocka_unit_test(cores_are_copies),
        cmocka_unit_test(delays_and_speeds_agree),
        cmocka_unit_test(copies_follow_the_roof),
        cmocka_unit_test(capacity_is_known_assumed_or_seen),
        cmocka_unit_test(copies_lose_their_prefetches),
        cmocka_unit_test(demands_in_order_cost_little),
        cmocka_unit_test(writes_do_damage),
        cmocka_unit_test(groups_settle),
        cmocka_unit_test(one_cache_is_a_group),
        cmocka_unit_test(caches_of_a_memory_node_share_it),
        cmocka_unit_test(devils_go_to_different_memory_nodes),
        cmocka_unit_test(devils_part_without_calibration),
        cmocka_unit_test(devils_fill_a_port),
        cmocka_unit_test(caches_may_be_smaller),
        cmocka_unit_test(a_cache_beside_others_is_a_part_of_the_node),
        cmocka_unit_test(what_threads_have_of_each_other),
        cmocka_unit_test(siblings_lose_what_they_use),
        cmocka_unit_test(who_waits_minds_a_sibling_less),
        cmocka_unit_test(two_streams_share_what_a_core_reads),
        cmocka_unit_test(traffic_stands_in_for_instructions),
        cmocka_unit_test(the_clock_is_told_apart),
        cmocka_unit_test(faster_cores_press_harder),
        cmocka_unit_test(programs_come_one_by_one),
        cmocka_unit_test(says_what_it_assumes),
        cmocka_unit_test(accesses_stand_in_for_a_profile),
        cmocka_unit_test(traffic_tells_of_prefetches),
        cmocka_unit_test(hits_are_demands),
        cmocka_unit_test(ways_may_differ),
        cmocka_unit_test(rejects_what_makes_no_sense),
        cmocka_unit_test(absurd_figures_give_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
