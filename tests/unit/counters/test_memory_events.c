/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory_events - what memories count, from trees as the kernel makes them: Skylake's agents
 * and controllers, Zen 4's fabric, Nehalem-EX, and family 10h's northbridge, which tells pairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/common/memory_tree.h"

#define SECOND 1000000000ull
#define KIND(kind) (1u << (kind))

struct scene {
    struct memory_tree tree;
    struct topo *topo;
    struct memory_events *events;
    struct by_node by;
};

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    memory_tree_new(&scene->tree);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    memory_events_close(scene->events);
    memory_tree_free(&scene->tree);
    topo_free(scene->topo);
    free(scene);
    return 0;
}

static int open_on(struct scene *scene, const char *topology, struct berth_error *err)
{
    topo_free(scene->topo);
    assert_int_equal(topo_read(&scene->topo, topology, err), 0);
    return memory_events_open(&scene->events, &scene->tree.root, scene->topo, memory_tree_open,
                              &scene->tree, err);
}

static void read_now(struct scene *scene)
{
    scene->by = (struct by_node){.nodes = 0};
    memory_events_read(scene->events, &scene->by);
}

/* Opens what is there, reads it once, lets it count, and reads it again. */
static void count(struct scene *scene, const char *topology,
                  double counted(const struct perf_event_attr *attr, int cpu, void *arg))
{
    struct berth_error err = {""};

    if (open_on(scene, topology, &err) < 0)
        fail_msg("%s", err.text);
    read_now(scene);
    memory_tree_count(&scene->tree, counted, NULL, SECOND, SECOND);
    read_now(scene);
}

static void assert_kind(const struct scene *scene, enum by_node_kind kind, const double *wanted)
{
    const double *got = by_node_values(&scene->by, kind);

    if (!by_node_knows(&scene->by, kind))
        fail_msg("%s is not known", by_node_name[kind]);
    for (size_t i = 0; i < by_node_count(scene->by.nodes, kind); i++)
        if (!(fabs(got[i] - wanted[i]) < 1e-6))
            fail_msg("%s[%zu]: %.9g, not %.9g", by_node_name[kind], i, got[i], wanted[i]);
}

/* ---- Skylake: two agents and two controllers a package ---- */

static void put_skylake(struct memory_tree *tree)
{
    static const char *const pmus[] = {"uncore_cha_0", "uncore_cha_1", "uncore_imc_0",
                                       "uncore_imc_1", "uncore_imc_free_running_0"};

    for (size_t i = 0; i < 5; i++) {
        memory_tree_put(tree, pmus[i], "type", i < 2 ? "30\n" : i < 4 ? "31\n" : "32\n");
        memory_tree_put(tree, pmus[i], "cpumask", "0,4\n");
        memory_tree_put(tree, pmus[i], "format/event", "config:0-7\n");
        memory_tree_put(tree, pmus[i], "format/umask", "config:8-15\n");
        if (i >= 2)
            memory_tree_put(tree, pmus[i], "events/cas_count_read", "event=0x04,umask=0x03\n");
        if (i >= 2)
            memory_tree_put(tree, pmus[i], "events/cas_count_write", "event=0x04,umask=0x0c\n");
    }
}

static double skylake_counts(const struct perf_event_attr *attr, int cpu, void *arg)
{
    double times = cpu == 4 ? 10 : 1;

    (void)arg;
    switch ((uint64_t)attr->type << 32 | attr->config) {
    case 30ull << 32 | 0x0250: /* reads of another package */
        return 100 * times;
    case 30ull << 32 | 0x0850: /* its writes */
        return 50 * times;
    case 31ull << 32 | 0x0304:
        return 1000 * times;
    case 31ull << 32 | 0x0c04:
        return 400 * times;
    case 31ull << 32 | 0x0f04: /* both */
        return 1400 * times;
    case 31ull << 32 | 0x0b01:
        return 700 * times;
    case 31ull << 32 | 0x0102:
        return 300 * times;
    case 31ull << 32 | 0x07c0:
        return 20 * times;
    default:
        fail_msg("type %u config %#llx is asked", attr->type, (unsigned long long)attr->config);
        return 0;
    }
}

static void test_skylake(void **state)
{
    struct scene *scene = *state;

    put_skylake(&scene->tree);
    count(scene, "package:2 numa:1 l3:1 core:4 pu:1", skylake_counts);
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){2000, 20000});
    assert_kind(scene, BY_NODE_MEMORY_WRITES, (double[]){800, 8000});
    assert_kind(scene, BY_NODE_MEMORY_READS_REMOTE, (double[]){200, 2000});
    assert_kind(scene, BY_NODE_MEMORY_WRITES_REMOTE, (double[]){100, 1000});
    assert_kind(scene, BY_NODE_DRAM_REQUESTS, (double[]){2800, 28000});
    assert_kind(scene, BY_NODE_DRAM_OPENINGS, (double[]){1400, 14000});
    assert_kind(scene, BY_NODE_DRAM_CONFLICTS, (double[]){600, 6000});
    assert_kind(scene, BY_NODE_DRAM_WRITE_TO_READ, (double[]){40, 400});
    assert_false(by_node_knows(&scene->by, BY_NODE_DRAM_RANK_TURNS));
}

/* An event of a package says nothing of the nodes in it. */
static void test_clusters(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    put_skylake(&scene->tree);
    assert_int_equal(open_on(scene, "package:2 numa:2 l3:1 core:2 pu:1", &err), -1);
    assert_string_equal(err.text, "the kernel has no counters of memories here that are known");
}

/* A later generation's controllers count rows by other codes, which are not asked. */
static void test_other_codes(void **state)
{
    struct scene *scene = *state;

    put_skylake(&scene->tree);
    memory_tree_put(&scene->tree, "uncore_imc_0", "events/cas_count_read",
                    "event=0x04,umask=0x0f\n");
    assert_int_equal(open_on(scene, "package:2 numa:1 l3:1 core:4 pu:1", &(struct berth_error){""}),
                     0);
    assert_int_equal(memory_events_can(scene->events),
                     KIND(BY_NODE_MEMORY_READS) | KIND(BY_NODE_MEMORY_WRITES) |
                         KIND(BY_NODE_MEMORY_READS_REMOTE) | KIND(BY_NODE_MEMORY_WRITES_REMOTE));
}

/* One event that may not be opened takes its kind with it, and no other; all of them say why. */
static void test_refused(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    memory_tree_nehalem_ex(&scene->tree, "0,4\n");
    put_skylake(&scene->tree);
    scene->tree.refuse = 0x0250;
    assert_int_equal(open_on(scene, "package:2 numa:1 l3:1 core:4 pu:1", &err), 0);
    assert_false(memory_events_can(scene->events) & KIND(BY_NODE_MEMORY_READS_REMOTE));
    assert_true(memory_events_can(scene->events) & KIND(BY_NODE_MEMORY_WRITES_REMOTE));
}

static void test_nobody_may(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;

    memory_tree_nehalem_ex(&scene->tree, "0,4\n");
    scene->tree.refuse = 0xd << 9;
    assert_int_equal(open_on(scene, "package:2 numa:1 l3:1 core:4 pu:1", &err), -1);
    assert_non_null(strstr(err.text, "perf_event_open: "));
}

/* ---- Zen 4: twelve channels, whose codes are in pieces ---- */

static double zen_counts(const struct perf_event_attr *attr, int cpu, void *arg)
{
    unsigned event = (unsigned)(attr->config & 0xff) | (unsigned)(attr->config >> 32 & 0x3f) << 8;
    unsigned umask = (unsigned)(attr->config >> 8 & 0xff) | (unsigned)(attr->config >> 24 & 15)
                                                                << 8;

    (void)arg;
    (void)cpu;
    assert_int_equal(event & 0x3f, 0x1f);
    assert_in_range(event >> 6, 0, 11);
    switch (umask) {
    case 0xffe:
        return 100;
    case 0xfff:
        return 40;
    case 0xbfe:
        return 10;
    case 0xbff:
        return 5;
    default:
        fail_msg("umask %#x is asked", umask);
        return 0;
    }
}

static void test_zen_4(void **state)
{
    struct scene *scene = *state;

    memory_tree_put(&scene->tree, "amd_df", "type", "12\n");
    memory_tree_put(&scene->tree, "amd_df", "cpumask", "0,4\n");
    memory_tree_put(&scene->tree, "amd_df", "format/event", "config:0-7,32-37\n");
    memory_tree_put(&scene->tree, "amd_df", "format/umask", "config:8-15,24-27\n");
    count(scene, "package:2 numa:1 l3:1 core:4 pu:1", zen_counts);
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){1200, 1200});
    assert_kind(scene, BY_NODE_MEMORY_WRITES, (double[]){480, 480});
    assert_kind(scene, BY_NODE_MEMORY_READS_REMOTE, (double[]){120, 120});
    assert_kind(scene, BY_NODE_MEMORY_WRITES_REMOTE, (double[]){60, 60});
}

/* Before, the same codes are something else. */
static void test_zen_2(void **state)
{
    struct scene *scene = *state;

    memory_tree_put(&scene->tree, "amd_df", "type", "12\n");
    memory_tree_put(&scene->tree, "amd_df", "cpumask", "0,4\n");
    memory_tree_put(&scene->tree, "amd_df", "format/event", "config:0-7,32-35,59-60\n");
    memory_tree_put(&scene->tree, "amd_df", "format/umask", "config:8-15\n");
    assert_int_equal(open_on(scene, "package:2 numa:1 l3:1 core:4 pu:1", &(struct berth_error){""}),
                     -1);
}

/* ---- family 10h: each node's northbridge tells whom its cores ask ---- */

static double family_counts(const struct perf_event_attr *attr, int cpu, void *arg)
{
    unsigned event = (unsigned)(attr->config & 0xff) | (unsigned)(attr->config >> 32 & 15) << 8;
    unsigned umask = attr->config >> 8 & 0xff, target = 0, node = (unsigned)cpu / 2;

    (void)arg;
    while (target < 4 && !(umask >> 4 & 1u << target))
        target++;
    if (event == 0x1e3 || event == 0x1e7)
        assert_int_equal(umask & 0x0f, event == 0x1e3 ? 0x07 : 0x06);
    switch (event) {
    case 0x1e3:
        return 100 * node + target;
    case 0x1e7:
        return 1000 * node + target;
    case 0x1f0:
        return umask == 1 ? 3 : 7;
    case 0xe0:
        return umask == 0x3f ? 50 : umask == 0x36 ? 20 : 5;
    case 0xe3:
        return umask == 0x24 ? 4 : 2;
    default:
        fail_msg("event %#x is asked", event);
        return 0;
    }
}

static void test_family_10h(void **state)
{
    struct scene *scene = *state;

    memory_tree_family_10h(&scene->tree);
    count(scene, "package:1 numa:2 l3:1 core:2 pu:1", family_counts);
    assert_kind(scene, BY_NODE_ALL_READS_FROM, (double[]){0, 1, 100, 101});
    assert_kind(scene, BY_NODE_ALL_WRITES_TO, (double[]){0, 1, 1000, 1001});
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){7, 7});
    assert_kind(scene, BY_NODE_DRAM_REQUESTS, (double[]){50, 50});
    assert_kind(scene, BY_NODE_DRAM_OPENINGS, (double[]){20, 20});
    assert_kind(scene, BY_NODE_DRAM_CONFLICTS, (double[]){5, 5});
    assert_kind(scene, BY_NODE_DRAM_WRITE_TO_READ, (double[]){4, 4});
    assert_kind(scene, BY_NODE_DRAM_RANK_TURNS, (double[]){2, 2});
}

/* ---- time ---- */

static double thousand(const struct perf_event_attr *attr, int cpu, void *arg)
{
    (void)attr;
    (void)cpu;
    (void)arg;
    return 1000;
}

/* An event that was counted half of the time counted half; of one without a turn nothing is known;
 * while they rest nothing is counted, and nothing is lost. */
static void test_turns(void **state)
{
    struct scene *scene = *state;
    size_t before;

    memory_tree_nehalem_ex(&scene->tree, "0,4\n");
    count(scene, "package:2 numa:1 l3:1 core:4 pu:1", thousand);
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){2000, 2000});
    memory_events_rest(scene->events);
    before = scene->tree.n;
    read_now(scene);
    assert_true(scene->tree.n > before);
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){2000, 2000});
    memory_tree_count(&scene->tree, thousand, NULL, SECOND, SECOND / 2);
    read_now(scene);
    assert_kind(scene, BY_NODE_MEMORY_READS, (double[]){6000, 6000});
    assert_true(scene->by.error[BY_NODE_MEMORY_READS] > 0);
    memory_events_rest(scene->events);
    read_now(scene);
    memory_tree_count(&scene->tree, thousand, NULL, 9 * SECOND, 0);
    read_now(scene);
    assert_false(by_node_knows(&scene->by, BY_NODE_MEMORY_READS));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_skylake), CASE(test_clusters),   CASE(test_other_codes),
        CASE(test_refused), CASE(test_nobody_may), CASE(test_zen_4),
        CASE(test_zen_2),   CASE(test_family_10h), CASE(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
