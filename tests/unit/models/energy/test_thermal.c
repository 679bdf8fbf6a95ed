/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_thermal - the two thresholds, the coolest free core, exchanges, and what never happens on
 * any of 20000 random nodes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/energy/thermal.h"

#define CORES 8
#define PROGRAMS 4
#define NODES 20000

static struct node {
    struct thermal_core core[CORES];
    struct thermal_program program[PROGRAMS];
    bool hot[PROGRAMS][CORES], never[PROGRAMS][CORES];
    struct thermal_scene scene;
} node;

/* All cores have 40 degrees; program 0 is on core 0, program 1 on core 1; the others are free. */
static void begin(void)
{
    memset(&node, 0, sizeof(node));
    for (size_t i = 0; i < CORES; i++)
        node.core[i] = (struct thermal_core){40, 80, 100, i < 2 ? i : THERMAL_FREE, false};
    for (size_t i = 0; i < PROGRAMS; i++)
        node.program[i] = (struct thermal_program){0, node.hot[i], node.never[i]};
    node.scene = (struct thermal_scene){CORES, node.core, node.program};
}

static void take_all(void)
{
    for (size_t i = 2; i < CORES; i++)
        node.core[i].who = THERMAL_TAKEN;
}

static void test_limits(void **state)
{
    (void)state;
    begin();
    assert_int_equal(thermal_limit_of(&node.core[0]), THERMAL_BELOW);
    node.core[0].celsius = 80;
    assert_int_equal(thermal_limit_of(&node.core[0]), THERMAL_T1);
    node.core[0].celsius = 100;
    assert_int_equal(thermal_limit_of(&node.core[0]), THERMAL_T2);
    node.core[0].t2 = NAN;
    assert_int_equal(thermal_limit_of(&node.core[0]), THERMAL_T1);
    node.core[0].celsius = NAN;
    assert_int_equal(thermal_limit_of(&node.core[0]), THERMAL_BELOW);
}

static void test_t1(void **state)
{
    (void)state;
    begin();
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE);
    node.core[0].celsius = 97;
    node.core[5].celsius = 30;
    assert_int_equal(thermal_target(&node.scene, 0), 5);
    for (size_t i = 2; i < CORES; i++)
        node.core[i].celsius = 80;
    node.core[1].who = THERMAL_TAKEN;
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE); /* none below t1 */
}

/* At t2 a core between both thresholds will do. */
static void test_t2(void **state)
{
    (void)state;
    begin();
    node.core[0].celsius = 100;
    for (size_t i = 2; i < CORES; i++)
        node.core[i].celsius = 90 + (double)i;
    assert_int_equal(thermal_target(&node.scene, 0), 2);
    node.hot[0][2] = true;
    assert_int_equal(thermal_target(&node.scene, 0), 3);
    node.never[0][3] = true;
    node.core[4].rests = true;
    assert_int_equal(thermal_target(&node.scene, 0), 5);
    for (size_t i = 0; i < CORES; i++)
        node.core[i].celsius = 100;
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE); /* all are hot */
}

static void test_exchange(void **state)
{
    (void)state;
    begin();
    take_all();
    node.core[0].celsius = 90;
    assert_int_equal(thermal_target(&node.scene, 0), 1);
    node.program[1].kind = 1;
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE);
    node.program[1].kind = 0;
    node.hot[1][0] = true;
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE);
    node.hot[1][0] = false;
    node.core[1].who = 0; /* its own */
    assert_true(thermal_target(&node.scene, 0) == THERMAL_NONE);
    node.core[1].who = 1;
    node.core[7].who = THERMAL_FREE; /* and warmer than the other one's */
    node.core[7].celsius = 60;
    assert_int_equal(thermal_target(&node.scene, 0), 7);
}

/* ---- random nodes ---- */

static uint64_t random_state = 7;

static size_t draw(size_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % n;
}

static void draw_node(void)
{
    begin();
    for (size_t i = 0; i < CORES; i++) {
        node.core[i].celsius = draw(10) ? (double)draw(120) : NAN;
        node.core[i].rests = draw(5) == 0;
        node.core[i].who = draw(3) == 0   ? THERMAL_FREE
                           : draw(5) == 0 ? THERMAL_TAKEN
                                          : draw(PROGRAMS);
        for (size_t p = 0; p < PROGRAMS; p++) {
            node.hot[p][i] = draw(4) == 0;
            node.never[p][i] = draw(8) == 0;
        }
    }
    for (size_t p = 0; p < PROGRAMS; p++)
        node.program[p].kind = (int)draw(2);
}

static void test_never(void **state)
{
    size_t moves = 0, exchanges = 0;

    (void)state;
    for (size_t n = 0; n < NODES; n++) {
        size_t from = draw(CORES), to, who;

        draw_node();
        to = thermal_target(&node.scene, from);
        if (to == THERMAL_NONE)
            continue;
        who = node.core[from].who;
        moves++;
        assert_true(node.core[from].celsius >= 80 && to != from && who < PROGRAMS);
        assert_true(node.core[to].celsius < (node.core[from].celsius >= 100 ? 100 : 80));
        assert_false(node.core[from].rests || node.core[to].rests);
        assert_false(node.hot[who][to] || node.never[who][to]);
        if (node.core[to].who == THERMAL_FREE)
            continue;
        who = node.core[to].who;
        exchanges++;
        assert_true(who < PROGRAMS && who != node.core[from].who);
        assert_false(node.hot[who][from] || node.never[who][from]);
        assert_int_equal(node.program[who].kind, node.program[node.core[from].who].kind);
        for (size_t i = 0; i < CORES; i++) /* nothing free would have done */
            assert_false(node.core[i].who == THERMAL_FREE && !node.core[i].rests &&
                         node.core[i].celsius < 80 && !node.hot[node.core[from].who][i] &&
                         !node.never[node.core[from].who][i]);
    }
    assert_true(moves > 1000 && exchanges > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_t1),    cmocka_unit_test(test_t2),
        cmocka_unit_test(test_exchange), cmocka_unit_test(test_never),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
