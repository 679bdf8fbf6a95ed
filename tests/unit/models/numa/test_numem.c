/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_numem - bandwidths worked out by hand, and random machines against eq. 5.11 as it is
 * printed, through GLPK; what names a node's limit; every input that makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/numa/numem.h"
#include "tests/bench/numa_paper.h"
#include "tests/bench/numa_random.h"

#define NODES 3

/* Three nodes of two cores, all to be changed by a test. */
struct scene {
    unsigned cores[NODES], allocation[NODES];
    double alpha[NODES], beta[NODES], uni[NODES * NODES], bi[NODES * NODES];
    double table[NODES][3], read[NODES * NODES], write[NODES * NODES];
    const double *demand[NODES];
    size_t hop[2][2];
    struct numem_route route[NODES * NODES];
    struct numem_machine machine;
    struct numem_program program;
    double local[NODES], inter[NODES * NODES];
    enum numem_constraint constraint[NODES];
    struct numem_usage usage;
    struct numem_fault fault;
};

/* Memories of 10 GB/s, links of 4 one way and 6 both ways, 3 GB/s of local demand for a core. */
static void scene_init(struct scene *s)
{
    memset(s, 0, sizeof(*s));
    for (size_t i = 0; i < NODES; i++) {
        s->cores[i] = s->allocation[i] = 2;
        s->alpha[i] = 10;
        s->beta[i] = 0.25;
        s->table[i][1] = 3;
        s->table[i][2] = 6;
        s->demand[i] = s->table[i];
    }
    for (size_t k = 0; k < NODES * NODES; k++) {
        s->uni[k] = 4;
        s->bi[k] = 6;
    }
    s->machine = (struct numem_machine){.nodes = NODES,
                                        .cores = s->cores,
                                        .alpha = s->alpha,
                                        .beta = s->beta,
                                        .uni_max = s->uni,
                                        .bi_max = s->bi,
                                        .route = s->route};
    s->program = (struct numem_program){
        .local_demand = s->demand, .read_solo = s->read, .write_solo = s->write};
    s->usage =
        (struct numem_usage){.local = s->local, .inter = s->inter, .constraint = s->constraint};
}

static void solve(struct scene *s)
{
    assert_int_equal(numem_solve(&s->machine, &s->program, s->allocation, &s->usage, &s->fault), 0);
}

#define near(a, b) assert_true(fabs((a) - (b)) <= 1e-9)

static void test_local_only(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.allocation[1] = 1;
    s.table[2][2] = 11;
    solve(&s);
    near(s.usage.bandwidth, 6 + 3 + 10);
    near(s.local[2], 10);
    assert_int_equal(s.constraint[0], NUMEM_NONE);
    assert_int_equal(s.constraint[1], NUMEM_NONE);
    assert_int_equal(s.constraint[2], NUMEM_LOCAL_BANDWIDTH);
}

static void test_more_cores_do_not_help(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.table[0][2] = 3;
    s.allocation[0] = 1;
    solve(&s);
    assert_int_equal(s.constraint[0], NUMEM_LOCAL_BANDWIDTH);
}

static void test_reads_and_writes(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.read[0 * NODES + 1] = 0.5;   /* a core of node 1 reads from node 0 */
    s.write[0 * NODES + 1] = 0.25; /* a core of node 0 writes to node 1 */
    s.allocation[1] = 1;
    solve(&s);
    near(s.inter[0 * NODES + 1], 0.5 * 1 + 0.25 * 2);
    near(s.usage.bandwidth, 6 + 3 + 6 + 1);
    near(s.inter[1 * NODES + 0], 0);
    assert_int_equal(s.constraint[1], NUMEM_NONE);
}

/* Node 0's memory: 6 for its own cores, 4 are left of the 2 * 2 * 1.5 that others ask for. */
static void test_contention(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.read[0 * NODES + 1] = s.read[0 * NODES + 2] = 1.5;
    solve(&s);
    near(s.usage.bandwidth, 10 + 6 + 6);
    near(s.local[0], 6);
    near(s.inter[1] + s.inter[2], 4);
    assert_int_equal(s.constraint[0], NUMEM_CONTENTION);
    /* nobody has local data but node 0 */
    s.table[1][1] = s.table[1][2] = s.table[2][1] = s.table[2][2] = 0;
    s.allocation[2] = 1;
    solve(&s);
    near(s.usage.bandwidth, 10);
    assert_int_equal(s.constraint[0], NUMEM_MAX_OUT);
    assert_int_equal(s.constraint[2], NUMEM_MAX_OUT); /* why it has one core only */
    assert_string_equal(numem_constraint_name[s.constraint[0]], "max out");
}

static void test_links(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.table[0][2] = 0;
    s.read[0 * NODES + 1] = 3; /* 6 wanted, 4 one way */
    solve(&s);
    near(s.inter[1], 4);
    assert_int_equal(s.constraint[0], NUMEM_LINK);
    assert_int_equal(s.constraint[1], NUMEM_LINK);
    assert_int_equal(s.constraint[2], NUMEM_NONE);
    s.read[1 * NODES + 0] = 3; /* and back: 6 both ways */
    s.table[1][2] = 0;
    solve(&s);
    near(s.inter[1] + s.inter[NODES], 6);
    s.bi[1] = 5; /* the lower one of the two holds */
    solve(&s);
    near(s.inter[1] + s.inter[NODES], 5);
}

/* From node 0 to 2 by way of 1: the traffic loads both links. */
static void test_hops(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s);
    s.hop[0][0] = 0;
    s.hop[0][1] = s.hop[1][0] = 1;
    s.hop[1][1] = 2;
    s.route[0 * NODES + 2] = (struct numem_route){.hops = 2, .hop = s.hop};
    s.read[0 * NODES + 2] = 1.5;
    s.read[1 * NODES + 2] = 1.25; /* link 1 to 2: 3 + 2.5 wanted, 4 */
    for (size_t i = 0; i < NODES; i++)
        s.table[i][2] = 1;
    solve(&s);
    near(s.inter[0 * NODES + 2] + s.inter[1 * NODES + 2], 4);
    near(s.usage.bandwidth, 3 + 4);
    assert_int_equal(s.constraint[2], NUMEM_LINK);
    s.uni[0 * NODES + 1] = 2.5;
    s.read[1 * NODES + 2] = 0.5;
    solve(&s);
    near(s.inter[0 * NODES + 2], 2.5);
}

static void check_random(const struct numa_wish *wish, uint64_t *random)
{
    unsigned allocation[8];
    double gain = 1, wanted;
    struct numem_usage usage = {0};
    struct numem_fault fault;
    struct numa numa;

    numa_make(&numa, wish);
    for (int round = 0; round < 10; round++) {
        for (size_t i = 0; i < wish->nodes; i++)
            allocation[i] = (unsigned)(numa_random(random) % (wish->cores + 1));
        wanted = paper_numem(&numa.machine, &numa.program.use, 1, &gain, NULL, allocation);
        assert_int_equal(numem_solve(&numa.machine, &numa.program.use, allocation, &usage, &fault),
                         0);
        assert_true(fabs(usage.bandwidth - wanted) <= 1e-8 * (1 + wanted));
    }
    numa_free(&numa);
}

static void test_random(void **state)
{
    uint64_t random = 20101;

    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++)
        check_random(&(struct numa_wish){.traffic = (enum numa_traffic)(seed % NUMA_TRAFFICS),
                                         .nodes = 2 + seed % 5,
                                         .cores = 1 + (unsigned)(seed % 7),
                                         .asymmetric = seed / 4 % 2,
                                         .hops = seed / 8 % 2,
                                         .uneven = seed / 16 % 2,
                                         .seed = seed},
                     &random);
}

/* ---- what makes no sense ---- */

static void refused(struct scene *s, const char *field, size_t i, size_t j)
{
    errno = 0;
    assert_int_equal(numem_solve(&s->machine, &s->program, s->allocation, &s->usage, &s->fault),
                     -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(s->fault.field, field);
    assert_int_equal(s->fault.index[0], i);
    assert_int_equal(s->fault.index[1], j);
    assert_non_null(s->fault.why);
}

static void test_refused_numbers(void **state)
{
    static const double wrong[] = {-1, NAN, INFINITY, 2e12};
    struct scene s;

    (void)state;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        scene_init(&s);
        s.alpha[1] = wrong[k];
        refused(&s, "alpha", 1, 0);
        scene_init(&s);
        s.beta[2] = wrong[k];
        refused(&s, "beta", 2, 0);
        scene_init(&s);
        s.uni[2 * NODES + 1] = wrong[k];
        refused(&s, "uni_max", 2, 1);
        scene_init(&s);
        s.bi[1] = wrong[k];
        refused(&s, "bi_max", 0, 1);
        scene_init(&s);
        s.table[1][2] = wrong[k];
        refused(&s, "local_demand", 1, 2);
        scene_init(&s);
        s.read[3] = wrong[k];
        refused(&s, "read_solo", 1, 0);
        scene_init(&s);
        s.write[5] = wrong[k];
        refused(&s, "write_solo", 1, 2);
    }
    scene_init(&s);
    s.allocation[2] = 3;
    refused(&s, "allocation", 2, 0);
    scene_init(&s);
    s.beta[0] = 1;
    s.table[0][2] = 11; /* eq. 5.7 has no solution */
    refused(&s, "allocation", 0, 0);
    scene_init(&s);
    s.machine.nodes = 0;
    refused(&s, "nodes", 0, 0);
    s.machine.nodes = NUMEM_NODES_MAX + 1;
    refused(&s, "nodes", 0, 0);
    scene_init(&s);
    s.cores[1] = NUMEM_CORES_MAX + 1;
    refused(&s, "cores", 1, 0);
}

static void test_refused_routes(void **state)
{
    static const struct {
        size_t hop[2][2], hops, wrong;
        const char *why;
    } cases[] = {
        {{{0, 1}, {1, 3}}, 2, 1, "there is no such node"},
        {{{0, 1}, {1, 1}}, 2, 1, "a hop leads to another node"},
        {{{1, 2}, {0, 0}}, 1, 0, "a route begins at its first node"},
        {{{0, 1}, {0, 2}}, 2, 1, "a hop begins where the last one ends"},
        {{{0, 1}, {0, 0}}, 1, 0, "a route ends at its second node"},
        {{{0, 1}, {1, 0}}, 2, 1, "a route ends at its second node"},
        {{{0, 1}, {1, 2}}, 2, 1, "there is no such link"},
    };
    struct scene s;

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        scene_init(&s);
        memcpy(s.hop, cases[k].hop, sizeof(s.hop));
        s.route[2] = (struct numem_route){.hops = cases[k].hops, .hop = s.hop};
        s.uni[1 * NODES + 2] = 0;
        refused(&s, "route", 0, 2);
        assert_int_equal(s.fault.index[2], cases[k].wrong);
        assert_string_equal(s.fault.why, cases[k].why);
    }
    scene_init(&s);
    s.hop[0][1] = 1;
    s.route[0] = (struct numem_route){.hops = 1, .hop = s.hop};
    refused(&s, "route", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_only),
        cmocka_unit_test(test_more_cores_do_not_help),
        cmocka_unit_test(test_reads_and_writes),
        cmocka_unit_test(test_contention),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_refused_numbers),
        cmocka_unit_test(test_refused_routes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
