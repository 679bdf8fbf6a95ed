/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_map - which sections a machine has, what their roofs are, and what follows from figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/board/map.h"
#include "tests/unit/common/fixture.h"

#define GB 1e9
#define TWO_NODES "package:2 numa:1 l3:2 core:2 pu:1" /* 4 cores a node, 2 caches */

struct scene {
    struct topo *topo;
    struct machine_profile *profile;
    struct conf conf;
    struct board_map map;
};

/* What so many cores draw: the third one adds a twentieth of what the first does. */
static const double curve[] = {0, 10, 20, 20.5, 20.6};

static struct scene make(const char *topology, bool profiled)
{
    const size_t cores[] = {4, 4};
    struct scene scene = {.profile = NULL};
    struct berth_error err;

    conf_init(&scene.conf);
    assert_int_equal(topo_read(&scene.topo, topology, &err), 0);
    if (profiled) {
        scene.profile = machine_profile_new(scene.topo->nodes, cores);
        for (size_t i = 0; i < scene.topo->nodes; i++) {
            scene.profile->node[i].os_index = scene.topo->node[i].os_index;
            for (size_t n = 0; n <= 4; n++)
                scene.profile->node[i].local[n].value = curve[n];
        }
    }
    assert_int_equal(board_map_make(&scene.map, scene.topo, scene.profile, &scene.conf), 0);
    return scene;
}

static void drop(struct scene *scene)
{
    board_map_free(&scene->map);
    machine_profile_free(scene->profile);
    topo_free(scene->topo);
}

static struct board_section *named(const struct scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->map.n; i++)
        if (strcmp(scene->map.section[i].name, name) == 0)
            return &scene->map.section[i];
    fail_msg("no section %s", name);
    return NULL;
}

static void test_sections(void **state)
{
    static const char *const names[] = {"node", "package0", "package1", "memory0", "memory1",
                                        "llc0", "llc1",     "llc2",     "llc3"};
    struct scene scene = make(TWO_NODES, true);

    (void)state;
    assert_int_equal(scene.map.n, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < scene.map.n; i++)
        assert_string_equal(scene.map.section[i].name, names[i]);
    assert_int_equal(named(&scene, "memory1")->package, 1);
    assert_int_equal(named(&scene, "llc1")->package, 0);
    drop(&scene);
}

static void test_roofs(void **state)
{
    struct scene scene = make(TWO_NODES, true);

    (void)state;
    assert_float_equal(named(&scene, "memory0")->roof, 20.6 * GB, 1);
    assert_float_equal(named(&scene, "memory0")->rules.saturated, 20 / 20.6, 1e-9);
    assert_float_equal(named(&scene, "memory0")->rules.idle, 0.7 * 20 / 20.6, 1e-9);
    assert_float_equal(named(&scene, "package1")->roof, 20.6 * GB, 1);
    assert_float_equal(named(&scene, "node")->roof, 41.2 * GB, 1);
    assert_float_equal(named(&scene, "node")->rules.saturated, 20 / 20.6, 1e-9);
    assert_float_equal(named(&scene, "llc3")->roof, 20 * GB, 1); /* its two cores get no more */
    assert_int_equal(named(&scene, "node")->rules.hold, 1);
    drop(&scene);
    scene = make(TWO_NODES, false);
    assert_true(isnan(named(&scene, "memory0")->roof));
    assert_true(isnan(named(&scene, "node")->rules.saturated));
    drop(&scene);
}

/* What berth.conf says comes before the machine profile. */
static void test_rules(void **state)
{
    struct scene scene = make(TWO_NODES, true);

    (void)state;
    board_map_free(&scene.map);
    scene.conf.rcr_saturated = 0.8;
    scene.conf.rcr_idle = 0.3;
    scene.conf.rcr_hold = 50;
    assert_int_equal(board_map_make(&scene.map, scene.topo, scene.profile, &scene.conf), 0);
    assert_true(named(&scene, "llc0")->rules.saturated == 0.8);
    assert_true(named(&scene, "llc0")->rules.idle == 0.3);
    assert_int_equal(named(&scene, "llc0")->rules.hold, 50);
    drop(&scene);
}

/* Figures by letter: the node, packages, memories, caches; - is not known. */
static const struct {
    const char *topology;
    double before[9], after[9];
} sums[] = {
    {TWO_NODES, {NAN, NAN, NAN, 1, 2, NAN, NAN, NAN, NAN}, {3, 1, 2, 1, 2, NAN, NAN, NAN, NAN}},
    {TWO_NODES, {NAN, NAN, NAN, NAN, NAN, 1, 2, 4, 8}, {15, NAN, NAN, NAN, NAN, 1, 2, 4, 8}},
    {TWO_NODES, {NAN, NAN, NAN, 1, NAN, 1, 2, 4, NAN}, {NAN, 1, NAN, 1, NAN, 1, 2, 4, NAN}},
    {TWO_NODES, /* what was measured stays */
     {7, 5, NAN, 1, 2, NAN, NAN, NAN, NAN},
     {7, 5, 2, 1, 2, NAN, NAN, NAN, NAN}},
    {"package:1 l3:1 core:2 pu:1", {3, NAN, NAN, NAN}, {3, 3, 3, 3}},
    {"package:1 l3:2 core:2 pu:1", {NAN, NAN, NAN, 1, 2}, {3, 3, 3, 1, 2}},
};

static void test_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        struct scene scene = make(sums[i].topology, false);
        double figure[9];

        memcpy(figure, sums[i].before, sizeof(figure));
        board_map_complete(&scene.map, figure);
        for (size_t s = 0; s < scene.map.n; s++) {
            assert_int_equal(isnan(figure[s]), isnan(sums[i].after[s]));
            if (!isnan(figure[s]))
                assert_true(figure[s] == sums[i].after[s]);
        }
        drop(&scene);
    }
}

static void take_all(struct scene *scene, double traffic)
{
    double figure[9], watts[9];

    for (size_t i = 0; i < 9; i++) {
        figure[i] = traffic;
        watts[i] = NAN;
    }
    board_map_take(&scene->map, figure, watts);
}

static void test_take(void **state)
{
    struct scene scene = make(TWO_NODES, true);
    double *value;

    (void)state;
    board_map_free(&scene.map);
    scene.conf.rcr_hold = 5;
    assert_int_equal(board_map_make(&scene.map, scene.topo, scene.profile, &scene.conf), 0);
    value = named(&scene, "memory0")->value;
    assert_true(isnan(value[BERTH_BLACKBOARD_STATE]));
    for (int i = 0; i < 4; i++)
        take_all(&scene, 21 * GB);
    assert_true(value[BERTH_BLACKBOARD_UTILISATION] == 1); /* above the roof */
    assert_true(isnan(value[BERTH_BLACKBOARD_STATE]));
    take_all(&scene, 21 * GB);
    assert_true(value[BERTH_BLACKBOARD_STATE] == BERTH_BLACKBOARD_SATURATED);
    assert_true(value[BERTH_BLACKBOARD_TRAFFIC] == 21 * GB);
    assert_true(isnan(value[BERTH_BLACKBOARD_WATTS]));
    for (int i = 0; i < 5; i++)
        take_all(&scene, 10.3 * GB);
    assert_float_equal(value[BERTH_BLACKBOARD_UTILISATION], 0.5, 1e-9);
    assert_true(value[BERTH_BLACKBOARD_STATE] == BERTH_BLACKBOARD_IDLE);
    for (int i = 0; i < 5; i++)
        take_all(&scene, NAN);
    assert_true(isnan(value[BERTH_BLACKBOARD_UTILISATION]));
    assert_true(isnan(value[BERTH_BLACKBOARD_STATE]));
    drop(&scene);
}

/* Without a roof there is traffic, and nothing that follows from a roof. */
static void test_no_roof(void **state)
{
    struct scene scene = make(TWO_NODES, false);
    double *value = named(&scene, "memory0")->value;

    (void)state;
    for (int i = 0; i < 10; i++)
        take_all(&scene, 21 * GB);
    assert_true(value[BERTH_BLACKBOARD_TRAFFIC] == 21 * GB);
    assert_true(isnan(value[BERTH_BLACKBOARD_UTILISATION]));
    assert_true(isnan(value[BERTH_BLACKBOARD_STATE]));
    drop(&scene);
}

/* What is counted of packages is that of their memory, where they have one, and of the node. */
static void test_from_packages(void **state)
{
    struct scene four = make("package:4 numa:1 l3:1 core:2 pu:1", false),
                 halves = make("package:2 numa:2 l3:1 core:2 pu:1", false);
    double figure[1 + 4 + 4 + 4];

    (void)state;
    for (size_t i = 0; i < four.map.n; i++)
        figure[i] = NAN;
    for (size_t p = 0; p < 4; p++)
        figure[board_map_at(&four.map, BOARD_PACKAGE, p)] = (double)(p + 1) * GB;
    board_map_complete(&four.map, figure);
    for (size_t p = 0; p < 4; p++)
        assert_true(figure[board_map_at(&four.map, BOARD_MEMORY, p)] == (double)(p + 1) * GB);
    assert_true(figure[board_map_at(&four.map, BOARD_NODE, 0)] == 10 * GB);
    for (size_t i = 0; i < halves.map.n; i++)
        figure[i] = NAN;
    for (size_t p = 0; p < 2; p++)
        figure[board_map_at(&halves.map, BOARD_PACKAGE, p)] = GB;
    board_map_complete(&halves.map, figure);
    for (size_t m = 0; m < 4; m++)
        assert_true(isnan(figure[board_map_at(&halves.map, BOARD_MEMORY, m)]));
    assert_true(figure[board_map_at(&halves.map, BOARD_NODE, 0)] == 2 * GB);
    drop(&four);
    drop(&halves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),      cmocka_unit_test(test_roofs),
        cmocka_unit_test(test_rules),         cmocka_unit_test(test_complete),
        cmocka_unit_test(test_take),          cmocka_unit_test(test_no_roof),
        cmocka_unit_test(test_from_packages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
