/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_topologies - machines of many shapes, each also as its XML file, with a CPU offline, and
 * with two kinds of cores in each cache: they are read, planned for with one, so many, and twice so
 * many equal devils as there are memory nodes, and as there are caches, and drawn; and berthd
 * places there.
 *
 * The machine's bandwidth is given, as if it was calibrated: how devils are divided where nobody
 * has measured it is another test's question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "lab/plan/plan.h"
#include "packer/place/place.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/made_machine.h"

#define PLACED_CORES 32 /* of a machine on which berthd places: more take long here */

#define DEVIL "{\"name\":\"devil\",\"llc_mpki\":24,\"llc_apki\":30,\"ipc\":0.7}"
#define MACHINE "\"machine\":{\"dram_gbps\":80,\"clock_ghz\":3}"

/* Shapes of machines that there are, by what decides: packages, memory nodes, caches, cores,
 * threads. */
static const char *const shapes[] = {
    /* small ones, guests, no cache told */
    "pu:4",
    "core:4 pu:2",
    "package:8 core:1 pu:1",
    "package:2 l2:1(size=1MB) core:4 pu:1",
    "package:1 l3:1(size=8MB) l2:4(size=256kB) core:1 pu:2",
    "package:4 l3:1(size=16MB) core:2 pu:1",
    "numa:2 core:8 pu:1",
    "numa:1 package:2 core:8 pu:2",
    /* one cache a package */
    "package:2 numa:1 l3:1(size=12MB) core:6 pu:2",
    "package:2 numa:1 l3:1(size=20MB) core:8 pu:2",
    "package:2 numa:1 l3:1(size=40MB) core:16 pu:2",
    "package:4 numa:1 l3:1(size=24MB) core:10 pu:2",
    "package:8 numa:1 l3:1(size=24MB) core:8 pu:1",
    "package:2 numa:1 l3:1(size=60MB) core:32 pu:2",
    "package:2 numa:1 l3:1(size=105MB) core:48 pu:1",
    /* cluster-on-die, sub-NUMA clusters: memory nodes below a cache */
    "package:2 l3:1(size=35MB) numa:2 core:7 pu:2",
    "package:2 l3:1(size=40MB) numa:2 core:14 pu:1",
    "package:1 l3:1(size=38MB) numa:2 core:10 pu:2",
    "package:4 l3:1(size=36MB) numa:2 core:12 pu:1",
    "package:2 l3:1(size=60MB) numa:4 core:8 pu:2",
    "package:2 l3:1(size=105MB) numa:4 core:14 pu:1",
    "package:2 l3:1(size=504MB) numa:3 core:20 pu:2",
    "package:1 l3:1(size=432MB) numa:3 core:43 pu:1",
    /* several caches a package, one to eight caches a memory node */
    "package:2 numa:2 l3:1(size=6MB) core:4 pu:1",
    "package:4 numa:2 l3:1(size=6MB) l2:4(size=2MB) core:2 pu:1",
    "package:2 numa:4 l3:2(size=8MB) core:4 pu:2",
    "package:1 numa:1 l3:2(size=16MB) core:4 pu:2",
    "package:2 numa:1 l3:8(size=32MB) core:8 pu:2",
    "package:2 numa:2 l3:4(size=32MB) core:8 pu:2",
    "package:2 numa:4 l3:2(size=32MB) core:8 pu:2",
    "package:2 numa:1 l3:12(size=32MB) core:8 pu:1",
    "package:2 numa:4 l3:3(size=32MB) core:8 pu:2",
    "package:2 numa:8 l3:1(size=16MB) core:4 pu:2",
    "package:2 numa:1 l3:16(size=16MB) core:4 pu:1",
    "package:1 numa:1 l3:8(size=32MB) core:16 pu:2",
    "package:2 numa:1 l2:12(size=6MB) core:2 pu:1",
    /* memory of two kinds: flat, by quadrants, beside each package, one for all */
    "package:1 [numa] [numa] l2:32(size=1MB) core:2 pu:4",
    "package:1 group:4 [numa] [numa] l2:8(size=1MB) core:2 pu:4",
    "package:1 group:2 [numa] [numa] l2:16(size=1MB) core:2 pu:4",
    "package:2 [numa] [numa] l3:1(size=112MB) core:56 pu:2",
    "package:2 l3:1(size=112MB) group:4 [numa] [numa] core:14 pu:1",
    "[numa(indexes=2,0,1)] package:2 [numa] l3:1(size=32MB) core:8 pu:1",
    /* other architectures */
    "package:1 numa:4 l2:1(size=8MB) core:12 pu:1",
    "package:1 numa:1 l2:80(size=1MB) core:1 pu:1",
    "package:1 numa:1 l3:1(size=32MB) l2:64(size=1MB) core:1 pu:1",
    "package:2 numa:1 l3:1(size=114MB) core:72 pu:1",
    "package:2 numa:2 l3:4(size=10MB) core:2 pu:8",
    "package:2 numa:1 l3:12(size=10MB) core:1 pu:4",
};

enum variant { PLAIN, AS_XML, CPU_OFFLINE, TWO_KINDS, VARIANTS };

/* A machine that is looked at: its file, or its string. */
static char folder[] = "/tmp/berth-topologies.XXXXXX";
static char file[128];

static struct topo *read_topo(const char *spec)
{
    struct berth_error err = {""};
    struct topo *topo = NULL;

    if (topo_read(&topo, spec, &err) < 0)
        fail_msg("%s: %s", spec, err.text);
    return topo;
}

/* The CPUs of each cache's second half of cores, and all others. */
static void halve(const struct topo *topo, char small[CPUS_TEXT_MAX], char large[CPUS_TEXT_MAX])
{
    struct cpus second = {0}, first = topo->cpus;

    for (size_t i = 0; i < topo->cores; i++) {
        size_t begin = i, end = i;

        while (begin > 0 && topo->core[begin - 1].llc == topo->core[i].llc)
            begin--;
        while (end < topo->cores && topo->core[end].llc == topo->core[i].llc)
            end++;
        if (2 * (i - begin) >= end - begin)
            cpus_or(&second, &topo->core[i].cpus);
    }
    cpus_andnot(&first, &second);
    assert_int_equal(cpus_format(&second, small, CPUS_TEXT_MAX), 0);
    assert_int_equal(cpus_format(&first, large, CPUS_TEXT_MAX), 0);
}

/* Returns what names the variant of the shape, as --topology takes it. */
static const char *make(const char *shape, enum variant variant)
{
    char small[CPUS_TEXT_MAX], large[CPUS_TEXT_MAX], offline[32];
    struct made_machine made = {.synthetic = shape};
    struct topo *topo;

    if (variant == PLAIN)
        return shape;
    topo = read_topo(shape);
    snprintf(offline, sizeof(offline), "%zu", cpus_next(&topo->core[0].cpus, 1));
    halve(topo, small, large);
    if (variant == CPU_OFFLINE)
        made.offline = offline;
    if (variant == TWO_KINDS && small[0]) {
        made.kind[0] = (struct made_kind){small, "CoreType", "IntelAtom"};
        made.kind[1] = (struct made_kind){large, "CoreType", "IntelCore"};
    }
    topo_free(topo);
    made_machine_write(&made, file);
    return file;
}

/* ---- what is read ---- */

static void check_topo(const char *shape, enum variant variant, const struct topo *topo)
{
    struct cpus seen = {0}, of_kinds = {0};

    for (size_t i = 0; i < topo->cores; i++) {
        assert_false(cpus_intersect(&seen, &topo->core[i].cpus));
        assert_true(cpus_subset(&topo->core[i].cpus, &topo->llc[topo->core[i].llc].cpus));
        assert_true(topo->core[i].kind < topo->kinds);
        cpus_or(&seen, &topo->core[i].cpus);
    }
    assert_true(cpus_equal(&seen, &topo->cpus));
    for (size_t i = 0; i < topo->llcs; i++) {
        struct cpus nodes;

        topo_nodes_of(topo, &topo->llc[i].cpus, &nodes);
        if (cpus_count(&nodes) != 1)
            fail_msg("%s: cache %zu is of %zu memory nodes", shape, i, cpus_count(&nodes));
    }
    for (size_t kind = 0; kind < topo->kinds; kind++) {
        struct cpus cpus;

        topo_cpus_of_kind(topo, kind, &cpus);
        assert_false(cpus_empty(&cpus) || cpus_intersect(&of_kinds, &cpus));
        cpus_or(&of_kinds, &cpus);
    }
    assert_true(topo->kinds >= 1 && topo->kinds <= 2);
    if (variant == PLAIN || variant == AS_XML)
        assert_int_equal(topo->kinds, 1);
    if (variant == TWO_KINDS && topo->cores > 2 * topo->llcs)
        assert_int_equal(topo->kinds, 2);
}

/* ---- what is planned ---- */

/* Is no group (a cache, or a memory node) given two more than one that has room? */
static void check_even(const char *shape, const struct ctl_plan *plan, const char *what,
                       const size_t *group_of_cache, size_t groups)
{
    size_t *count = calloc(2 * groups, sizeof(*count)), *room = count + groups;

    for (size_t i = 0; i < plan->tree.level[TOPO_CORE].count; i++)
        room[group_of_cache[plan->tree.parent[TOPO_CORE][i]]]++;
    for (size_t i = 0; i < plan->cores; i++)
        count[group_of_cache[plan->tree.parent[TOPO_CORE][plan->core[i]]]]++;
    for (size_t a = 0; a < groups; a++)
        for (size_t b = 0; b < groups; b++)
            if (count[a] > count[b] + 1 && count[b] < room[b])
                fail_msg("%s: of %zu devils %s has %s %zu %zu, %zu %zu of %zu", shape, plan->cores,
                         plan->policy, what, a, count[a], b, count[b], room[b]);
    free(count);
}

static void check_plan(const char *shape, const struct ctl_plan *plan)
{
    size_t caches = plan->tree.level[TOPO_CACHE].count, *cache = calloc(caches, sizeof(*cache));
    size_t nodes = 0;

    for (size_t i = 0; i < caches; i++) {
        cache[i] = i;
        nodes = plan->memory[i] >= nodes ? plan->memory[i] + 1 : nodes;
    }
    check_even(shape, plan, "cache", cache, caches);
    check_even(shape, plan, "memory node", plan->memory, nodes);
    free(cache);
}

static void plan_for(const char *shape, const char *topology, const char *policy, size_t devils)
{
    struct ctl_plan plan = {.topology = topology, .policy = policy, .limit_s = -1};
    size_t size = sizeof(MACHINE) + devils * sizeof(DEVIL ",") + 64;
    char *text = calloc(1, size), svg[sizeof(folder) + 16];
    struct json_object *workload;
    struct berth_error err = {""};

    strcat(text, "{" MACHINE ",\"apps\":[");
    for (size_t i = 0; i < devils; i++)
        strcat(strcat(text, i ? "," : ""), DEVIL);
    strcat(text, "]}");
    workload = json_parse(text, strlen(text), NULL);
    assert_non_null(workload);
    assert_int_equal(ctl_plan_read(&plan, workload), 0);
    if (ctl_plan_place(&plan, &err) < 0)
        fail_msg("%s: %s", shape, err.text);
    check_plan(shape, &plan);
    snprintf(svg, sizeof(svg), "%s/plan.svg", folder);
    plan.svg = svg;
    if (devils == 1)
        assert_int_equal(ctl_plan_write_svg(&plan), 0);
    ctl_plan_clear(&plan);
    json_object_put(workload);
    free(text);
}

/* One devil, and for each cache and for each memory node one and two. */
static void plan_all(const char *shape, const char *topology, const struct topo *topo)
{
    static const char *const policy[] = {"contend", "di"};
    const size_t memories = topo->llcs / topo_sharing(topo);
    const size_t devils[] = {1, memories, 2 * memories, topo->llcs, 2 * topo->llcs};

    for (size_t p = 0; p < sizeof(policy) / sizeof(policy[0]); p++)
        for (size_t i = 0; i < sizeof(devils) / sizeof(devils[0]); i++)
            if (devils[i] <= topo->cores)
                plan_for(shape, topology, policy[p], devils[i]);
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (enum variant variant = 0; variant < VARIANTS; variant++) {
            const char *topology = make(shapes[i], variant);
            struct topo *topo = read_topo(topology);

            check_topo(shapes[i], variant, topo);
            plan_all(shapes[i], topology, topo);
            topo_free(topo);
        }
}

/* ---- where berthd places ---- */

/* Each core of one thread or more has a job, and the first quarter of them is devils. */
static size_t fill(struct fixture *f, struct step **step)
{
    const struct topo *topo = f->packer.world.topo;

    for (size_t i = 0; i < topo->cores; i++) {
        char home[64];

        assert_int_equal(cpus_format(&topo->core[i].cpus, home, sizeof(home)), 0);
        step[i] = fixture_put(f, (uint32_t)i + 1, 0, home, i < topo->cores / 4 ? 24000 : 20,
                              (const char *const[]){home, NULL});
    }
    return topo->cores / 4;
}

/* Of the devils on cores of a kind, no cache has two more than one that has a turtle there. */
static void check_spread(const char *shape, const struct fixture *f, size_t devils, size_t kind)
{
    const struct topo *topo = f->packer.world.topo;
    size_t *count = calloc(2 * topo->llcs, sizeof(*count)), *room = count + topo->llcs;

    for (size_t i = 0; i < topo->cores; i++) {
        const struct topo_core *at = &topo->core[f->packer.pool->stand[i]];

        if (at->kind != topo->core[i].kind)
            fail_msg("%s: core %zu stands on one of another kind", shape, i);
        count[at->llc] += at->kind == kind && i < devils;
        room[at->llc] += at->kind == kind;
    }
    for (size_t a = 0; a < topo->llcs; a++)
        for (size_t b = 0; b < topo->llcs; b++)
            if (count[a] > count[b] + 1 && count[b] < room[b])
                fail_msg("%s: of kind %zu cache %zu has %zu devils, %zu has %zu", shape, kind, a,
                         count[a], b, count[b]);
    free(count);
}

static void test_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (enum variant variant = CPU_OFFLINE; variant <= TWO_KINDS; variant++) {
            struct fixture *f = fixture_open(make(shapes[i], variant));
            const struct topo *topo = f->packer.world.topo;
            struct step *step[PLACED_CORES];

            if (topo->cores <= PLACED_CORES) {
                size_t devils = fill(f, step);

                fixture_decide(f);
                for (size_t kind = 0; kind < topo->kinds; kind++)
                    check_spread(shapes[i], f, devils, kind);
            }
            fixture_close(f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_places),
    };
    int rc;

    if (!mkdtemp(folder))
        return 99;
    snprintf(file, sizeof(file), "%s/machine.xml", folder);
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(folder);
    return rc;
}
