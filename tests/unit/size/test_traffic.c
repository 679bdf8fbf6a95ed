/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_traffic - what one core of a step asks of each memory, from two readings of its counters:
 * counted, divided by pages, or not known; and which source goes before which. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/size/traffic.h"

#define FOUR_NODES "package:4 numa:1 core:2 pu:1"
#define GB 1e9
#define LINES (1e9 / 64) /* of a gigabyte */

static const double local[] = {0, 6, 10};

static struct fixture *open_nodes(const char *topology, size_t nodes)
{
    struct fixture *f = fixture_open(topology);

    fixture_machine(f, nodes, 2, local);
    fixture_paper(f);
    return f;
}

/* Two readings, a second apart. */
struct readings {
    struct counters_sample before, after;
    struct by_node by[2];
};

static struct readings two(void)
{
    return (struct readings){.before = {.at_s = 5}, .after = {.at_s = 6}};
}

static void counts(struct readings *r, enum counter counter, double value)
{
    counters_set(&r->before, counter, 7);
    counters_set(&r->after, counter, 7 + value);
}

static void counts_by_node(struct readings *r, enum by_node_kind kind, size_t nodes,
                           const double *value, double unit)
{
    double none[BY_NODE_PAIRS * BY_NODE_PAIRS] = {0}, grown[BY_NODE_PAIRS * BY_NODE_PAIRS];

    for (size_t i = 0; i < by_node_count(nodes, kind); i++)
        grown[i] = value[i] * unit;
    by_node_set(&r->by[0], kind, nodes, none, 0);
    by_node_set(&r->by[1], kind, nodes, grown, 0.01);
}

static void pages(struct readings *r, size_t nodes, const double *bytes)
{
    r->after.nodes = nodes;
    memcpy(r->after.rss_node, bytes, nodes * sizeof(*bytes));
}

static struct size_traffic measure(struct fixture *f, struct readings *r, const unsigned *cores)
{
    struct size_traffic traffic;
    struct berth_error err = {""};

    r->before.by_node = &r->by[0];
    r->after.by_node = &r->by[1];
    if (traffic_measure(&f->packer, NULL, &r->before, &r->after, cores, false, &traffic, &err) < 0)
        fail_msg("%s", err.text);
    return traffic;
}

/* wanted[row * n + column]: whose cores, which memory. */
static void assert_near_matrix(const struct size_traffic *t, bool writes, const double *wanted,
                               double nearly)
{
    for (size_t i = 0; i < t->nodes; i++)
        for (size_t j = 0; j < t->nodes; j++) {
            double got = writes ? t->write_solo[i * t->nodes + j] : t->read_solo[j * t->nodes + i];

            if (!(fabs(got - wanted[i * t->nodes + j]) < nearly))
                fail_msg("cores of %zu, memory of %zu: %.9g, not %.9g", i, j, got,
                         wanted[i * t->nodes + j]);
        }
}

static void assert_matrix(const struct size_traffic *t, bool writes, const double *wanted)
{
    assert_near_matrix(t, writes, wanted, 1e-9);
}

/* Pairs of nodes are taken as they are; what a node's cores have together is each one's. */
static void test_pairs(void **state)
{
    const double reads[] = {2, 1, 0, 0, 4, 6, 0, 0, 0, 0, 0, 3, 0, 0, 0, 5};
    const double each[] = {2, 1, 0, 0, 2, 3, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0};
    const double writes[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const double each_writes[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const unsigned cores[] = {1, 2, 1, 0};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    counts_by_node(&r, BY_NODE_READS_FROM, 4, reads, LINES);
    counts_by_node(&r, BY_NODE_WRITES_TO, 4, writes, LINES);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_COUNTED);
    assert_true(t.measured && t.error == 0.01 && t.seconds == 1 && !t.disturbed);
    assert_cpus(&t.known, "0-2"); /* of node 3 nothing is known */
    assert_matrix(&t, false, each);
    assert_matrix(&t, true, each_writes);
    assert_true(fabs(traffic_local(&t, 1) - 3) < 1e-9);
    traffic_free(&t);
    fixture_close(f);
}

/* What is remote goes where the pages lie; between two nodes there is one way for it. */
static void test_by_node(void **state)
{
    const double own[] = {2, 0, 1, 0}, others[] = {0, 3, 4, 0}, rss[] = {3, 0, 1, 0};
    const double each[] = {2, 0, 0, 0, 2.25, 0, .75, 0, 4, 0, 1, 0, 0, 0, 0, 0};
    const double pair[] = {2, 0, 3, 0};
    const unsigned cores[] = {1, 1, 1, 1};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    counts_by_node(&r, BY_NODE_READS_LOCAL, 4, own, LINES);
    counts_by_node(&r, BY_NODE_READS_REMOTE, 4, others, LINES);
    pages(&r, 4, rss);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_PAGES);
    assert_matrix(&t, false, each);
    traffic_free(&t);
    fixture_close(f);

    f = open_nodes("package:2 numa:1 core:2 pu:1", 2);
    r = two();
    counts_by_node(&r, BY_NODE_READS_LOCAL, 2, own, LINES);
    counts_by_node(&r, BY_NODE_READS_REMOTE, 2, others, LINES);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_COUNTED);
    assert_matrix(&t, false, pair);
    traffic_free(&t);
    fixture_close(f);
}

/* Bytes of caches, where a package is a node. */
static void test_bytes(void **state)
{
    const double own[] = {2, 1}, all[] = {2, 5}, each[] = {2, 0, 4, 1};
    const unsigned cores[] = {1, 1};
    struct fixture *f = open_nodes("package:2 numa:1 core:2 pu:1", 2);
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    counts_by_node(&r, BY_NODE_BYTES_LOCAL, 2, own, GB);
    counts_by_node(&r, BY_NODE_BYTES, 2, all, GB);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_COUNTED);
    assert_matrix(&t, false, each);
    traffic_free(&t);
    fixture_close(f);

    f = open_nodes("package:1 numa:2 core:2 pu:1", 2); /* the own package has both */
    counts(&r, COUNTER_BYTES, 7e9);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_NOTHING);
    assert_true(t.core_gbps == 3.5);
    traffic_free(&t);
    fixture_close(f);
}

/* The step as a whole: all of node 0 (fully shared), or each its own, or some of both. */
static void test_totals(void **state)
{
    static const struct {
        double own, others, rss[4], each[16];
    } cases[] = {
        {1, 3, {1, 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}},
        {8, 0, {1, 1, 1, 1}, {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2}},
        {10, 6, {1, 1, 1, 1}, {2.5, .5, .5, .5, .5, 2.5, .5, .5, .5, .5, 2.5, .5, .5, .5, .5, 2.5}},
        {9, 3, {1, 0, 0, 0}, {3, 0, 0, 0, 1, 2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2}},
    };
    const unsigned cores[] = {1, 1, 1, 1}, one[] = {0, 2, 0, 0};
    const double of_one[] = {0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct size_traffic t;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct readings r = two();

        counts(&r, COUNTER_READS_LOCAL, cases[i].own * LINES);
        counts(&r, COUNTER_READS_REMOTE, cases[i].others * LINES);
        pages(&r, 4, cases[i].rss);
        t = measure(f, &r, cores);
        assert_int_equal(t.source, SIZE_MATRIX_PAGES);
        assert_matrix(&t, false, cases[i].each);
        traffic_free(&t);
        if (i > 0)
            continue;
        r.after.value[COUNTER_READS_LOCAL] = 7 + 4 * LINES;
        r.after.value[COUNTER_READS_REMOTE] = 7 + 2 * LINES;
        t = measure(f, &r, one); /* cores of one node: they are known whose they are */
        assert_matrix(&t, false, of_one);
        assert_cpus(&t.known, "1");
        traffic_free(&t);
    }
    fixture_close(f);
}

/* Nothing tells own memory from others': a core's traffic alone; and not even that. */
static void test_unknown(void **state)
{
    const double own[] = {2, 0, 1, 0}, others[] = {0, 3, 4, 0};
    const unsigned cores[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct berth_error err = {""};
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    assert_int_equal(traffic_measure(&f->packer, NULL, &r.before, &r.after, cores, false, &t, &err),
                     -1);
    assert_string_equal(err.text, "nothing counts its memory traffic");
    traffic_free(&t);
    counts(&r, COUNTER_BYTES, 8e9);
    counts_by_node(&r, BY_NODE_READS_LOCAL, 4, own, LINES);
    counts_by_node(&r, BY_NODE_READS_REMOTE, 4, others, LINES); /* and nobody knows the pages */
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_NOTHING);
    assert_true(!t.measured && t.core_gbps == 2 && traffic_local(&t, 3) == 2);
    traffic_free(&t);
    assert_int_equal(traffic_measure(&f->packer, NULL, &r.before, &r.after, none, false, &t, &err),
                     -1);
    traffic_free(&t);
    r.after.at_s = 5;
    assert_int_equal(traffic_measure(&f->packer, NULL, &r.before, &r.after, cores, false, &t, &err),
                     -1);
    traffic_free(&t);
    fixture_close(f);
}

/* One memory: all goes there. */
static void test_one_node(void **state)
{
    const unsigned cores[] = {2};
    struct fixture *f = open_nodes("package:1 numa:1 core:2 pu:1", 1);
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    counts(&r, COUNTER_LLC_MISSES, 6 * LINES);
    t = measure(f, &r, cores);
    assert_int_equal(t.source, SIZE_MATRIX_COUNTED);
    assert_true(fabs(traffic_local(&t, 0) - 3) < 1e-9);
    traffic_free(&t);
    fixture_close(f);
}

/* ---- the store ---- */

static void put(struct fixture *f, uint32_t uid, const char *tag, struct profile_demand demand)
{
    struct berth_error err = {""};
    struct profiles *store;
    char key[PROFILE_KEY_MAX];

    profile_key_tag(key, tag);
    snprintf(demand.machine, sizeof(demand.machine), "%s", f->packer.world.machine_type);
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_demand(store, uid, key, &demand, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

/* Measured in an earlier run: node 0's cores read 3 of their own and 1 of node 1's memory. */
static void put_measured(struct fixture *f, double own, int64_t at, bool disturbed)
{
    double read[] = {own, NAN, 1, NAN}, write[] = {0, 0, NAN, NAN};

    put(f, 1000, "p",
        (struct profile_demand){.nodes = 2,
                                .read_solo = read,
                                .write_solo = write,
                                .matrix = PROFILE_MATRIX_PAGES,
                                .measured_at = at,
                                .seconds = 0.5,
                                .disturbed = disturbed});
}

static void assert_own(struct fixture *f, const struct step *step, enum size_matrix source,
                       double own)
{
    struct berth_error err = {""};
    struct size_traffic t;
    int rc = traffic_of(&f->packer, step, &t, &err);

    if (rc < 0 && !isnan(own))
        fail_msg("%s", err.text);
    assert_int_equal(t.source, source);
    if (!isnan(own))
        assert_true(traffic_local(&t, 0) == own);
    traffic_free(&t);
}

/* ---- what the memories count ---- */

/* Node 0 has what all read, node 2 what node 0's core reads besides; who writes reads there. */
static const double seen_local[] = {2, 0, 0, 0}, seen_remote[] = {1, 2, 2, 2};
static const double given[] = {6, 0, 1, 0}, written[] = {4, 0, 1, 0}, written_away[] = {3, 0, 1, 0};

static struct readings by_memories(void)
{
    struct readings r = two();

    counts_by_node(&r, BY_NODE_READS_LOCAL, 4, seen_local, LINES);
    counts_by_node(&r, BY_NODE_READS_REMOTE, 4, seen_remote, LINES);
    counts_by_node(&r, BY_NODE_MEMORY_READS_REMOTE, 4, given, LINES);
    counts_by_node(&r, BY_NODE_MEMORY_WRITES, 4, written, LINES);
    counts_by_node(&r, BY_NODE_MEMORY_WRITES_REMOTE, 4, written_away, LINES);
    pages(&r, 4, (double[]){1e9, 1e9, 1e9, 1e9});
    return r;
}

/* Both sums leave one matrix, without pages; writes go the same ways. */
static void test_memories(void **state)
{
    const double reads[] = {2, 0, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0};
    const double writes[] = {1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const unsigned cores[] = {1, 1, 1, 1};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = by_memories();
    struct size_traffic t = measure(f, &r, cores);

    (void)state;
    assert_int_equal(t.source, SIZE_MATRIX_COUNTED);
    assert_near_matrix(&t, false, reads, 2e-3); /* at the edge: one matrix only has these sums */
    assert_near_matrix(&t, true, writes, 4e-3);
    traffic_free(&t);
    fixture_close(f);
}

/* While others work it is theirs, too: then the pages say where to, and nothing is written. */
static void test_others_work(void **state)
{
    const unsigned cores[] = {1, 1, 1, 1};
    const double none[16] = {0};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = by_memories();
    struct berth_error err = {""};
    struct size_traffic t;

    (void)state;
    r.before.by_node = &r.by[0];
    r.after.by_node = &r.by[1];
    assert_int_equal(traffic_measure(&f->packer, NULL, &r.before, &r.after, cores, true, &t, &err),
                     0);
    assert_int_equal(t.source, SIZE_MATRIX_PAGES);
    assert_true(t.disturbed && fabs(t.read_solo[2 * 4 + 1] - 2. / 3) < 1e-9);
    assert_near_matrix(&t, true, none, 1e-9);
    traffic_free(&t);
    fixture_close(f);
}

/* Without a counter of the cores', what the memories gave is divided among cores that are alike. */
static void test_memories_alone(void **state)
{
    const double all[] = {5, 1, 0, 0}, away[] = {3, 0, 0, 0}, everything[] = {5, 4, 0, 0};
    const double reads[] = {2, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const double writes[] = {2, 0, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const unsigned cores[] = {1, 1, 1, 1};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = two();
    struct size_traffic t;

    (void)state;
    counts_by_node(&r, BY_NODE_MEMORY_READS, 4, all, LINES);
    counts_by_node(&r, BY_NODE_MEMORY_READS_REMOTE, 4, away, LINES);
    counts_by_node(&r, BY_NODE_MEMORY_WRITES, 4, everything, LINES);
    t = measure(f, &r, cores);
    assert_near_matrix(&t, false, reads, 1e-9);
    assert_near_matrix(&t, true, writes, 1e-4); /* which ones are own is as it reads */
    traffic_free(&t);
    fixture_close(f);
}

/* Wang 2015, Table 4.3: what the requests find in the row buffers, of the nodes that it used. */
static void test_rows(void **state)
{
    const double requests[] = {50, 50, 0, 9}, openings[] = {20, 10, 0, 9},
                 conflicts[] = {5, 5, 0, 9};
    const double turns[] = {2, 0, 0, 0}, reads[] = {60, 20, 0, 0}, writes[] = {10, 10, 0, 0};
    const unsigned cores[] = {1, 1, 0, 0};
    struct fixture *f = open_nodes(FOUR_NODES, 4);
    struct readings r = by_memories();
    struct size_traffic t;

    (void)state;
    r.by[0].known &= ~(1u << BY_NODE_MEMORY_WRITES);
    r.by[1].known &= ~(1u << BY_NODE_MEMORY_WRITES);
    counts_by_node(&r, BY_NODE_DRAM_REQUESTS, 4, requests, 1);
    counts_by_node(&r, BY_NODE_DRAM_OPENINGS, 4, openings, 1);
    counts_by_node(&r, BY_NODE_DRAM_CONFLICTS, 4, conflicts, 1);
    counts_by_node(&r, BY_NODE_DRAM_WRITE_TO_READ, 4, turns, 1);
    counts_by_node(&r, BY_NODE_MEMORY_READS, 4, reads, 1);
    counts_by_node(&r, BY_NODE_MEMORY_WRITES, 4, writes, 1);
    t = measure(f, &r, cores);
    assert_true(fabs(t.dram.hit - .7) < 1e-9 && fabs(t.dram.miss - .2) < 1e-9);
    assert_true(fabs(t.dram.conflict - .1) < 1e-9 && fabs(t.dram.read_ratio - .8) < 1e-9);
    assert_true(fabs(t.dram.wtr - .02) < 1e-9 && isnan(t.dram.rtr));
    traffic_free(&t);
    r.by[1].each[BY_NODE_DRAM_CONFLICTS][0] = 60; /* more than were opened: not what it is called */
    t = measure(f, &r, cores);
    assert_false(profile_dram_known(&t.dram));
    traffic_free(&t);
    fixture_close(f);
}

/* What was measured sizes the next launch, if it says something of all nodes of the step; what was
 * told goes before it, and this run before earlier ones. */
static void test_stored(void **state)
{
    double told[] = {0, 2, 2, 0}, write[] = {0, 0, 0, 0}, matrix[] = {7, 0, 0, 7};
    struct size_traffic now = {.nodes = 2,
                               .read_solo = matrix,
                               .write_solo = write,
                               .source = SIZE_MATRIX_COUNTED,
                               .measured = true,
                               .core_gbps = NAN};
    struct fixture *f = open_nodes("package:2 numa:1 core:2 pu:1", 2);
    struct step *step = fixture_run(f, 1, "0-1", "p"), *wide = fixture_run(f, 2, "2-3", "p");

    (void)state;
    assert_own(f, step, SIZE_MATRIX_NOTHING, NAN);
    put_measured(f, 3, 1000, false);
    assert_own(f, step, SIZE_MATRIX_STORE, 3);
    assert_own(f, wide, SIZE_MATRIX_NOTHING, NAN); /* on node 1, of which it says nothing */
    put_measured(f, 4, 900, false);
    assert_own(f, step, SIZE_MATRIX_STORE, 3); /* older */
    put_measured(f, 4, 2000, true);
    assert_own(f, step, SIZE_MATRIX_STORE, 3); /* disturbed */
    put_measured(f, 5, 3000, false);
    assert_own(f, step, SIZE_MATRIX_STORE, 5);
    cpus_add(&now.known, 0);
    step->size.loop.traffic = &now;
    assert_own(f, step, SIZE_MATRIX_COUNTED, 7);
    fixture_timed(f, "p", 50000, 2e9); /* 6.4 GB/s by a core */
    put(f, PROFILE_EVERYBODY, "p",
        (struct profile_demand){.nodes = 2, .read_solo = told, .write_solo = write});
    step->size.loop.traffic = NULL;
    step->profile.known = true;
    step->profile.core_gbps = 6.4;
    assert_own(f, step, SIZE_MATRIX_STORE, 6.4);
    put_measured(f, 6, 4000, false); /* of its user: another row */
    assert_own(f, step, SIZE_MATRIX_STORE, 6.4);
    put(f, 1000, "p", (struct profile_demand){.nodes = 2, .read_solo = told, .write_solo = write});
    put_measured(f, 6, 5000, false); /* never in the place of what was told */
    assert_own(f, step, SIZE_MATRIX_STORE, 6.4);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),       cmocka_unit_test(test_by_node),
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_totals),
        cmocka_unit_test(test_unknown),     cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_stored),      cmocka_unit_test(test_memories),
        cmocka_unit_test(test_others_work), cmocka_unit_test(test_memories_alone),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
