/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_topo - machines of many shapes as berth sees them: synthetic ones, a badly recorded one,
 * this one. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/machine/topo.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/made_machine.h"

/* A file of this folder's fixtures, also in a build outside the source tree. */
static const char *fixture(const char *name, char path[512])
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, 512, "%s/tests/fixtures/topologies/%s", srcdir ? srcdir : ".", name);
    return path;
}

static struct topo *read_topo(const char *spec)
{
    struct berth_error err = {""};
    struct topo *topo = NULL;

    if (topo_read(&topo, spec, &err) < 0)
        fail_msg("%s", err.text);
    return topo;
}

/* "0-1 2-3 ...": the CPUs of n things, one after the other; empty sets show as "-". */
static void add_cpus(char *text, size_t size, const struct cpus *cpus)
{
    size_t used = strlen(text);

    if (used)
        text[used++] = ' ';
    if (cpus_empty(cpus))
        snprintf(text + used, size - used, "-");
    else
        assert_int_equal(cpus_format(cpus, text + used, size - used), 0);
}

struct shape {
    const char *spec;
    size_t packages, size_bytes; /* of the first cache */
    const char *llc, *core, *node;
    const char *package_of_llc; /* a digit for each */
};

static const struct shape shapes[] = {
    {"package:2 l3:2(size=4194304) core:2 pu:1", 2, 4194304, "0-1 2-3 4-5 6-7", "0 1 2 3 4 5 6 7",
     "0-7", "0011"},
    {"package:1 l3:1(size=1024) core:2 pu:2", 1, 1024, "0-3", "0-1 2-3", "0-3", "0"},
    /* the cores of a package are no neighbours in the kernel's numbers */
    {"package:2 l3:1(size=1024) core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 2, 1024, "0,2,4,6 1,3,5,7",
     "0,4 2,6 1,5 3,7", "0-7", "01"},
    {"package:2 core:1 pu:1(indexes=7,2000)", 2, 0, "7 2000", "7 2000", "7,2000", "01"},
    /* no L3: L2 */
    {"package:1 l2:2(size=2048) core:2 pu:1", 1, 2048, "0-1 2-3", "0 1 2 3", "0-3", "00"},
    /* L2 below L3 is no domain */
    {"package:1 l3:1(size=1024) l2:4(size=512) core:1 pu:1", 1, 1024, "0-3", "0 1 2 3", "0-3", "0"},
    /* no cache that is shared: NUMA nodes, else packages */
    {"package:2 numa:2 core:2 pu:1", 2, 0, "0-1 2-3 4-5 6-7", "0 1 2 3 4 5 6 7", "0-1 2-3 4-5 6-7",
     "0011"},
    {"package:2 l1:2 core:1 pu:1", 2, 0, "0-1 2-3", "0 1 2 3", "0-3", "01"},
    {"numa:1 package:2 core:2 pu:1", 2, 0, "0-1 2-3", "0 1 2 3", "0-3", "01"},
    /* no package, no core */
    {"core:4 pu:2", 1, 0, "0-7", "0-1 2-3 4-5 6-7", "0-7", "0"},
    {"pu:3", 1, 0, "0-2", "0 1 2", "0-2", "0"},
    /* several NUMA nodes in a package, several caches in a node */
    {"package:1 numa:2 l3:2(size=1024) core:1 pu:1", 1, 1024, "0 1 2 3", "0 1 2 3", "0-1 2-3",
     "0000"},
    /* sub-NUMA clusters: a cache over two nodes is cut, and each has its part */
    {"package:2 l3:1(size=4096) numa:2 core:2 pu:2", 2, 2048, "0-3 4-7 8-11 12-15",
     "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15", "0-3 4-7 8-11 12-15", "0011"},
    /* as a processor with memory of two kinds in each of its quadrants */
    {"package:1 group:4 [numa] [numa] l2:2(size=1024) core:2 pu:1", 1, 1024,
     "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
     "0-3 - 4-7 - 8-11 - 12-15 -", "00000000"},
    /* a cache over two packages is cut */
    {"l3:1(size=1024) package:2 core:2 pu:1", 2, 512, "0-1 2-3", "0 1 2 3", "0-3", "01"},
    /* nodes of memory only beside those with CPUs, and one above all */
    {"package:2 [numa(memory=8GB)] [numa(memory=1GB)] core:2 pu:1", 2, 0, "0-1 2-3", "0 1 2 3",
     "0-1 - 2-3 -", "01"},
    {"[numa(indexes=2,0,1)] package:2 [numa] core:2 pu:1", 2, 0, "0-1 2-3", "0 1 2 3", "0-1 2-3 -",
     "01"},
};

static void check_shape(const struct shape *shape, const struct topo *topo)
{
    char llc[512] = "", core[512] = "", node[512] = "";

    assert_int_equal(topo->packages, shape->packages);
    assert_int_equal(topo->llcs, strlen(shape->package_of_llc));
    assert_int_equal(topo->llc[0].size_bytes, shape->size_bytes);
    for (size_t i = 0; i < topo->llcs; i++) {
        add_cpus(llc, sizeof(llc), &topo->llc[i].cpus);
        assert_int_equal(topo->llc[i].package, shape->package_of_llc[i] - '0');
    }
    for (size_t i = 0; i < topo->cores; i++) {
        add_cpus(core, sizeof(core), &topo->core[i].cpus);
        assert_true(cpus_subset(&topo->core[i].cpus, &topo->llc[topo->core[i].llc].cpus));
        assert_int_equal(topo->core[i].package, topo->llc[topo->core[i].llc].package);
    }
    for (size_t i = 0; i < topo->nodes; i++)
        add_cpus(node, sizeof(node), &topo->node[i].cpus);
    assert_string_equal(llc, shape->llc);
    assert_string_equal(core, shape->core);
    assert_string_equal(node, shape->node);
}

static void test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct topo *topo = read_topo(shapes[i].spec);

        assert_string_equal(topo->name, shapes[i].spec);
        check_shape(&shapes[i], topo);
        topo_free(topo);
    }
}

/* A recording where one package has no L3 and another is no package. */
static void test_uneven_recording(void **state)
{
    static const struct shape shape = {
        NULL, 3, 8388608, "0-3 4-7 8-11", "0-1 2-3 4-5 6-7 8-9 10-11", "0-11", "012"};
    char path[512];
    struct topo *topo = read_topo(fixture("uneven.xml", path));

    (void)state;
    check_shape(&shape, topo);
    assert_string_equal(topo->name, "uneven.xml");
    assert_int_equal(topo->llc[0].ways, 16);
    assert_int_equal(topo->llc[0].line_bytes, 64);
    assert_int_equal(topo->llc[1].size_bytes, 0);
    assert_int_equal(topo->llc[1].ways, 0);
    assert_int_equal(topo->l1_bytes, 0);
    assert_int_equal(topo->l2_bytes, 524288);
    assert_int_equal(topo->l2_ways, 16);
    topo_free(topo);
}

/* Whatever this machine is: every CPU is of one core, and so on. */
static void test_this_machine(void **state)
{
    struct topo *topo = read_topo(NULL), *same = read_topo("");
    struct cpus all = {0}, nodes;

    (void)state;
    assert_string_equal(topo->name, "this machine");
    assert_true(cpus_equal(&topo->cpus, &same->cpus));
    for (size_t i = 0; i < topo->cores; i++) {
        assert_false(cpus_intersect(&all, &topo->core[i].cpus));
        cpus_or(&all, &topo->core[i].cpus);
        assert_true(topo->core[i].llc < topo->llcs);
        if (i > 0)
            assert_true(topo->core[i].llc >= topo->core[i - 1].llc);
    }
    assert_true(cpus_equal(&all, &topo->cpus));
    topo_nodes_of(topo, &all, &nodes);
    assert_false(cpus_empty(&nodes));
    topo_free(topo);
    topo_free(same);
}

static void test_questions(void **state)
{
    struct topo *topo = read_topo("package:2 numa:2 l3:1 core:1 pu:2(indexes=0,4,1,5,2,6,3,7)");
    struct cpus cpus, nodes, cores;

    (void)state;
    assert_int_equal(topo_core_of_cpu(topo, 0), 0);
    assert_int_equal(topo_core_of_cpu(topo, 4), 0);
    assert_int_equal(topo_core_of_cpu(topo, 7), 3);
    assert_int_equal(topo_core_of_cpu(topo, 8), -1);
    assert_int_equal(topo_core_of_cpu(topo, CPUS_MAX), -1);
    assert_int_equal(cpus_parse(&cpus, "4-6"), 0);
    topo_nodes_of(topo, &cpus, &nodes);
    assert_int_equal(cpus_count(&nodes), 3);
    assert_false(cpus_has(&nodes, 3));
    topo_cores_of(topo, &cpus, &cores);
    assert_int_equal(cpus_count(&cores), 3);
    assert_int_equal(cpus_parse(&cpus, "0-1,4-5"), 0); /* a core's threads are far from each other */
    topo_cores_of(topo, &cpus, &cores);
    assert_int_equal(cpus_count(&cores), 2);
    cpus_zero(&cpus);
    topo_nodes_of(topo, &cpus, &nodes);
    assert_true(cpus_empty(&nodes));
    topo_free(topo);
    topo_free(NULL);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *spec, *why;
    } wrong[] = {
        {"nowhere.xml", "nowhere.xml: No such file or directory"},
        {"/nowhere", "/nowhere: No such file or directory"},
        {"package:0", "package:0: neither an hwloc XML file"},
        {"/", "/: no hwloc XML file, but a folder"},
        {"/dev/null", "/dev/null: no hwloc XML file, but a special file"},
        {"pu:2(indexes=0,2048)", "CPU number 2048 is beyond"},
        {"numa:2(indexes=0,5000) pu:1", "NUMA node number 5000 is beyond"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct berth_error err = {""};
        struct topo *topo = NULL;

        assert_int_equal(topo_read(&topo, wrong[i].spec, &err), -1);
        assert_null(topo);
        assert_non_null(strstr(err.text, wrong[i].why));
        assert_int_equal(topo_read(&topo, wrong[i].spec, NULL), -1);
    }
}

/* What is no file of hwloc's, is cut off, or was written by a newer one. */
static void test_refused_files(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"", "no hwloc XML file"},
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
         "<topology version=\"2.0\">\n  <object type=\"Machine\"",
         "it is cut off, or has errors"},
        {"<?xml version=\"1.0\"?>\n<topology version=\"99.0\">\n</topology>\n",
         "hwloc 99 has written it, and berth runs with hwloc"},
    };
    char dir[] = "/tmp/berth-topo.XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/machine.xml", dir);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct berth_error err = {""};
        struct topo *topo = NULL;

        folder_put(dir, "machine.xml", wrong[i].text);
        assert_int_equal(topo_read(&topo, path, &err), -1);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, wrong[i].why));
    }
    folder_remove(dir);
}

/* A cache's part, and how many share a memory node where one has no CPUs. */
static void test_parts(void **state)
{
    struct topo *topo = read_topo("package:1 l3:2(size=4096) numa:2 core:2 pu:1");

    (void)state;
    assert_int_equal(topo->llcs, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(topo->llc[i].cut && topo->llc[i].size_bytes == 2048);
    assert_int_equal(topo_sharing(topo), 1);
    topo_free(topo);
    topo = read_topo("package:2 [numa] [numa] l3:4(size=4096) core:2 pu:1");
    assert_false(topo->llc[0].cut);
    assert_int_equal(topo->nodes, 4);
    assert_int_equal(topo_sharing(topo), 4);
    assert_ptr_equal(topo_cache(topo), &topo->llc[0]);
    topo_free(topo);
}

/* Of a made machine the kinds of its cores, a digit each. */
static void assert_kinds(const struct made_machine *made, const char *kinds)
{
    char dir[] = "/tmp/berth-topo.XXXXXX", path[64], is[64] = "";
    struct topo *topo;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/machine.xml", dir);
    made_machine_write(made, path);
    topo = read_topo(path);
    for (size_t i = 0; i < topo->cores; i++)
        snprintf(is + i, sizeof(is) - i, "%zu", topo->core[i].kind);
    assert_string_equal(is, kinds);
    topo_free(topo);
    folder_remove(dir);
}

static void test_kinds(void **state)
{
    static const struct {
        struct made_machine made;
        const char *kinds;
    } cases[] = {
        {{"package:1 core:4 pu:2", NULL, {{NULL, NULL, NULL}}}, "0000"},
        /* the sibling of a core is offline, and a whole core */
        {{"package:1 core:4 pu:2", "1", {{NULL, NULL, NULL}}}, "0111"},
        {{"package:1 core:4 pu:2", "2-3,5", {{NULL, NULL, NULL}}}, "010"},
        /* hwloc tells nothing but that they differ, or by what */
        {{"package:1 core:4 pu:1", NULL, {{"0-1", NULL, NULL}, {"2-3", NULL, NULL}}}, "0011"},
        {{"package:1 core:4 pu:1",
          NULL,
          {{"0,2", "CoreType", "IntelAtom"}, {"1,3", "CoreType", "IntelCore"}}},
         "0101"},
        {{"package:1 core:4 pu:1",
          NULL,
          {{"0,2", "LinuxCapacity", "718"}, {"1,3", "LinuxCapacity", "997"}}},
         "0101"},
        /* a core that is clocked a little higher is no other kind */
        {{"package:1 core:4 pu:1",
          NULL,
          {{"0", "FrequencyMaxMHz", "3900"}, {"1-3", "FrequencyMaxMHz", "3700"}}},
         "0000"},
        {{"package:1 core:4 pu:1", NULL, {{"2-3", "CoreType", "IntelAtom"}}}, "0011"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_kinds(&cases[i].made, cases[i].kinds);
}

/* Each hardware thread becomes a core, and knows who else is of its hardware core. */
static void test_split(void **state)
{
    struct topo *topo = read_topo("package:2 l3:1 core:2 pu:2");
    struct berth_error err;
    struct cpus whole;

    (void)state;
    assert_false(topo_siblings(topo, 0, 1));
    assert_int_equal(topo_split(topo, &err), 0);
    assert_int_equal(topo->cores, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(topo_core_of_cpu(topo, i), i);
        assert_int_equal(topo->core[i].threads, 1);
        assert_int_equal(topo->core[i].whole, i / 2);
        assert_int_equal(topo->core[i].llc, i / 4);
        assert_int_equal(topo->core[i].package, i / 4);
        for (size_t j = 0; j < 8; j++)
            assert_int_equal(topo_siblings(topo, i, j), i != j && i / 2 == j / 2);
        topo_whole(topo, i, &whole);
        assert_int_equal(cpus_count(&whole), 2);
        assert_true(cpus_has(&whole, i) && cpus_has(&whole, i ^ 1));
    }
    assert_int_equal(topo->kinds, 1);
    topo_free(topo);
}

static void test_isolated(void **state)
{
    struct topo *topo = read_topo("core:4 pu:2");
    char dir[] = "/tmp/berth-topo.XXXXXX";
    struct berth_error err;
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(rootfs_open(&root, dir, &err), 0);
    topo_read_isolated(topo, &root); /* no such file */
    assert_int_equal(topo->kinds, 1);
    folder_put(dir, "sys/devices/system/cpu/isolated", "3,6-7\n");
    topo_read_isolated(topo, &root);
    assert_int_equal(topo->kinds, 2);
    for (size_t i = 0; i < 4; i++)
        assert_true(topo->core[i].isolated == (i % 2 == 1) && topo->core[i].kind == i % 2);
    rootfs_close(&root);
    folder_remove(dir);
    topo_free(topo);
}

/* ---- the tree for DI ---- */

struct cut {
    const char *within;
    size_t count[TOPO_LEVELS];
    size_t cache_parent[4], core_parent[8], core_index[8];
};

static const struct cut cuts[] = {
    {"0-15", {2, 2, 4, 8}, {0, 0, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"0", {1, 1, 1, 1}, {0}, {0}, {0}},
    {"15", {1, 1, 1, 1}, {0}, {0}, {7}}, /* one thread stands for its core */
    {"2-3,8-9,14,200", {2, 2, 3, 3}, {0, 1, 1}, {0, 1, 2}, {1, 4, 7}},
    {"8-15", {1, 1, 2, 4}, {0, 0}, {0, 0, 1, 1}, {4, 5, 6, 7}},
};

static void test_tree(void **state)
{
    struct topo *topo = read_topo("package:2 l3:2 core:2 pu:2");

    (void)state;
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        const struct cut *cut = &cuts[i];
        struct topo_tree tree;
        struct cpus within;

        assert_int_equal(cpus_parse(&within, cut->within), 0);
        assert_int_equal(topo_tree_build(&tree, topo, &within, NULL), 0);
        assert_int_equal(tree.machine.depth, TOPO_LEVELS);
        for (size_t l = 0; l < TOPO_LEVELS; l++)
            assert_int_equal(tree.machine.level[l].count, cut->count[l]);
        for (size_t j = 0; j < cut->count[TOPO_PACKAGE]; j++) {
            assert_int_equal(tree.machine.level[TOPO_PACKAGE].parent[j], 0);
            assert_int_equal(tree.machine.level[TOPO_MEMORY].parent[j], j);
        }
        assert_memory_equal(tree.machine.level[TOPO_CACHE].parent, cut->cache_parent,
                            cut->count[TOPO_CACHE] * sizeof(size_t));
        assert_memory_equal(tree.machine.level[TOPO_CORE].parent, cut->core_parent,
                            cut->count[TOPO_CORE] * sizeof(size_t));
        assert_memory_equal(tree.core_index, cut->core_index,
                            cut->count[TOPO_CORE] * sizeof(size_t));
        for (size_t j = 0; j < cut->count[TOPO_CORE]; j++)
            assert_int_equal(topo_tree_package(&tree, j), cut->cache_parent[cut->core_parent[j]]);
        topo_tree_free(&tree);
    }
    topo_free(topo);
}

/* Two memory nodes a package, two caches a node; and one node over both packages. */
static void test_tree_of_memory(void **state)
{
    static const struct {
        const char *spec;
        size_t count[TOPO_LEVELS], memory_parent[4], cache_parent[8];
    } cases[] = {
        {"package:2 numa:2 l3:2 core:1 pu:1", {2, 4, 8, 8}, {0, 0, 1, 1}, {0, 0, 1, 1, 2, 2, 3, 3}},
        {"numa:1 package:2 l3:2 core:1 pu:1", {2, 2, 4, 4}, {0, 1}, {0, 0, 1, 1}},
        {"package:2 l3:1 numa:2 core:2 pu:1", {2, 4, 4, 8}, {0, 0, 1, 1}, {0, 1, 2, 3}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct topo *topo = read_topo(cases[i].spec);
        struct topo_tree tree;

        assert_int_equal(topo_tree_build(&tree, topo, &topo->cpus, NULL), 0);
        for (size_t l = 0; l < TOPO_LEVELS; l++)
            assert_int_equal(tree.level[l].count, cases[i].count[l]);
        assert_memory_equal(tree.parent[TOPO_MEMORY], cases[i].memory_parent,
                            tree.level[TOPO_MEMORY].count * sizeof(size_t));
        assert_memory_equal(tree.parent[TOPO_CACHE], cases[i].cache_parent,
                            tree.level[TOPO_CACHE].count * sizeof(size_t));
        topo_tree_free(&tree);
        topo_free(topo);
    }
}

static void test_tree_of_nothing(void **state)
{
    struct topo *topo = read_topo("package:1 core:2 pu:1");
    struct cpus within = {0};
    struct berth_error err;
    struct topo_tree tree;

    (void)state;
    assert_int_equal(topo_tree_build(&tree, topo, &within, &err), -1);
    assert_non_null(strstr(err.text, "none of its cores"));
    topo_free(topo);
}

/* Of the three nodes the second has no file, and the line of the third is too short. */
static void test_distances(void **state)
{
    struct topo *topo = read_topo("numa:3 core:1 pu:1");
    char dir[] = "/tmp/berth-topo.XXXXXX";
    struct berth_error err;
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(dir));
    folder_put(dir, "sys/devices/system/node/node0/distance", "10 21 32\n");
    folder_put(dir, "sys/devices/system/node/node2/distance", "31 25\n");
    assert_int_equal(rootfs_open(&root, dir, &err), 0);
    assert_true(isnan(topo_distance(topo, 1, 0))); /* not read yet */
    assert_int_equal(topo_read_distances(topo, &root, &err), 0);
    assert_true(topo_distance(topo, 0, 0) == 1 && topo_distance(topo, 1, 0) == 2.1);
    assert_true(topo_distance(topo, 2, 0) == 3.2 && topo_distance(topo, 0, 2) == 3.1);
    assert_true(isnan(topo_distance(topo, 0, 1)));  /* no such file */
    assert_true(isnan(topo_distance(topo, 2, 2)));  /* a line that is too short */
    assert_true(isnan(topo_distance(topo, 0, 99))); /* no such node */
    folder_remove(dir);
    assert_int_equal(topo_read_distances(topo, &root, &err), 0); /* a kernel without NUMA */
    assert_true(isnan(topo_distance(topo, 0, 0)));
    rootfs_close(&root);
    topo_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_uneven_recording),
        cmocka_unit_test(test_this_machine),   cmocka_unit_test(test_questions),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_tree),
        cmocka_unit_test(test_tree_of_memory), cmocka_unit_test(test_tree_of_nothing),
        cmocka_unit_test(test_distances),      cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_split),          cmocka_unit_test(test_isolated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
