/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_opticore - when a program is profiled and when its phase is looked up: a machine of phases
 * and vectors on paper, whose clock the test sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/online/opticore.h"
#include "tests/unit/common/noise.h"

static const struct opticore_rules usual = {
    .profile_s = 0.5, .rest_s = 30, .cost = 0.02, .stay_s = 10, .first_s = 5};

/* Whoever runs the loop: a table of signatures, and what was done. */
struct runner {
    struct opticore core;
    struct opticore_rules rules;
    double now_s;
    unsigned phases, resized;
    struct opticore_signature known[8];
    uint64_t region; /* that the program is in; 0: it does not say */
};

static void begin(struct runner *runner)
{
    *runner = (struct runner){.rules = usual};
    opticore_init(&runner->core);
}

static unsigned find(const struct runner *runner, struct opticore_signature seen)
{
    for (unsigned i = 0; i < runner->phases; i++)
        if (opticore_same(&runner->known[i], &seen))
            return i + 1;
    return 0;
}

/* A second of a program with so many misses and bytes per million instructions, and what the loop
 * makes of it. */
static void second(struct runner *runner, double misses, double bytes)
{
    struct opticore *core = &runner->core;
    struct opticore_window window = {runner->now_s, runner->now_s + 1, 2e9,
                                     2e3 * misses,  2e3 * bytes,       runner->region};
    unsigned before = core->phase, found;

    runner->now_s++;
    if (core->state == OPTICORE_PROFILING) {
        opticore_profiled(core, core->profile_began_s + 0.5);
        runner->known[runner->phases++] =
            (struct opticore_signature){{misses, bytes}, runner->region};
        opticore_is(core, runner->phases, runner->now_s);
        opticore_resized(core, runner->now_s);
        return;
    }
    if (opticore_window(core, &window)) {
        found = find(runner, opticore_signature(core));
        opticore_is(core, found, runner->now_s);
        if (found != before) {
            runner->resized++;
            opticore_resized(core, runner->now_s);
        }
    }
    if (opticore_may_profile(core, &runner->rules, runner->now_s))
        opticore_profile(core, runner->now_s);
}

static void seconds(struct runner *runner, unsigned n, double misses, double bytes)
{
    for (unsigned i = 0; i < n; i++)
        second(runner, misses, bytes);
}

/* The first run comes when the program has done the same for `first_s`, and no other one. */
static void test_one_phase(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    seconds(&runner, 4, 20000, 2e6);
    assert_int_equal(runner.core.profiles, 0);
    assert_int_equal(runner.core.state, OPTICORE_STORED);
    second(&runner, 20000, 2e6);
    assert_int_equal(runner.core.state, OPTICORE_PROFILING);
    second(&runner, 20000, 2e6);
    assert_int_equal(runner.core.state, OPTICORE_SIZED);
    seconds(&runner, 2, 20000, 2e6);
    assert_int_equal(runner.core.state, OPTICORE_WATCHING);
    assert_int_equal(runner.core.phase, 1);
    seconds(&runner, 1000, 20000, 2e6);
    assert_int_equal(runner.core.profiles, 1);
    assert_true(runner.core.profiled_s == 0.5);
    assert_int_equal(runner.resized, 0);
}

/* Two phases of a minute each, for two hours: two profiles, and one change of the cores a phase. */
static void test_two_phases(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    for (int i = 0; i < 60; i++) {
        seconds(&runner, 60, 20000, 2e6);
        assert_int_equal(runner.core.phase, 1);
        seconds(&runner, 60, 200, 2e4);
        assert_int_equal(runner.core.phase, 2);
        assert_int_equal(runner.core.state, OPTICORE_WATCHING);
    }
    assert_int_equal(runner.core.profiles, 2);
    assert_in_range(runner.resized, 117, 120);
}

/* Single windows, phases of a window each, and noise are no phases. */
static void test_no_oscillation(void **state)
{
    struct noise noise = {1};
    struct runner runner;

    (void)state;
    begin(&runner);
    seconds(&runner, 60, 20000, 2e6);
    for (int i = 0; i < 100; i++) {
        second(&runner, 200, 2e4);
        seconds(&runner, 1 + i % 7, 20000, 2e6);
    }
    assert_int_equal(runner.resized, 0);
    assert_int_equal(runner.core.profiles, 1);
    begin(&runner);
    for (int i = 0; i < 2000; i++)
        second(&runner, 20000 * (1 + 0.03 * noise_normal(&noise)),
               2e6 * (1 + 0.03 * noise_normal(&noise)));
    assert_int_equal(runner.core.profiles, 1);
    assert_int_equal(runner.resized, 0);
}

/* However many phases there are: one profile in 30 s, and no more of them than the bound allows. */
static void test_bounds(void **state)
{
    struct runner runner;
    double last_s = -INFINITY;
    unsigned profiles = 0;

    (void)state;
    begin(&runner);
    runner.rules.cost = 0.1;
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 15; k++) {
            second(&runner, 1000 << i, 64000 << i);
            if (runner.core.profiles > profiles) {
                assert_true(runner.now_s - last_s >= 30);
                last_s = runner.now_s;
                profiles = runner.core.profiles;
            }
            assert_true(runner.core.profiled_s <= fmax(0.5, 0.1 * runner.now_s));
        }
    assert_in_range(profiles, 3, 4);
    begin(&runner);
    runner.rules.cost = 0.001;
    seconds(&runner, 500, 20000, 2e6);
    assert_int_equal(runner.core.profiles, 1);
    seconds(&runner, 499, 200, 2e4);
    assert_int_equal(runner.core.profiles, 1);
    seconds(&runner, 2, 200, 2e4);
    assert_int_equal(runner.core.profiles, 2);
    begin(&runner);
    runner.rules.cost = 0; /* size=0 */
    seconds(&runner, 1000, 20000, 2e6);
    assert_int_equal(runner.core.profiles, 0);
}

/* A phase that does not stay is not profiled, but for the first one. */
static void test_short_phases(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    for (int i = 0; i < 200; i++)
        seconds(&runner, 8, i % 2 ? 20000 : 200, i % 2 ? 2e6 : 2e4);
    assert_int_equal(runner.core.profiles, 1);
}

/* What began before the cores changed says nothing. */
static void test_windows_of_two_vectors(void **state)
{
    struct opticore core;
    struct opticore_window window = {0, 1, 1e9, 1e6, 1e8, 0};

    (void)state;
    opticore_init(&core);
    opticore_resized(&core, 0.5);
    assert_false(opticore_window(&core, &window));
    assert_true(isnan(opticore_signature(&core).rate[OPTICORE_MISSES]));
    window.began_s = 1, window.ended_s = 2;
    assert_false(opticore_window(&core, &window));
    window.began_s = 2, window.ended_s = 3;
    assert_true(opticore_window(&core, &window));
    assert_true(opticore_signature(&core).rate[OPTICORE_MISSES] == 1000);
    assert_true(opticore_signature(&core).rate[OPTICORE_BYTES] == 1e5);
}

static void test_signatures(void **state)
{
    const struct opticore_signature a = {{10000, NAN}, 0}, b = {{10900, 1e6}, 0},
                                    c = {{10900, 1.3e6}, 0}, d = {{21000, 1e6}, 0},
                                    none = {{NAN, NAN}, 0}, e = {{20, NAN}, 0}, f = {{110, NAN}, 0};

    (void)state;
    assert_true(opticore_same(&a, &b));
    assert_false(opticore_same(&b, &c));
    assert_true(opticore_alike(&b, &c));
    assert_true(opticore_alike(&b, &d));
    assert_false(opticore_alike(&a, &d));
    assert_false(opticore_same(&a, &none));
    assert_true(opticore_same(&e, &f)); /* next to nothing, both */
}

/* Where neither misses nor bytes are counted, no phase is ever looked up. */
static void test_without_counters(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    seconds(&runner, 100, NAN, NAN);
    assert_false(runner.core.looked);
    assert_int_equal(runner.core.profiles, 0);
}

/* ---- regions (Wang 2015, section 8.2) ---- */

/* Two regions of the same rates are two phases, each profiled once; a known one is sized with the
 * first window that is its own. */
static void test_regions(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    for (int i = 0; i < 20; i++) {
        for (runner.region = 1; runner.region <= 2; runner.region++) {
            second(&runner, 20000, 2e6);
            if (i > 2)
                assert_int_equal(runner.core.phase, runner.region);
            seconds(&runner, 59, 20000, 2e6);
            assert_int_equal(runner.core.phase, runner.region);
        }
    }
    assert_int_equal(runner.core.profiles, 2);
    assert_in_range(runner.resized, 37, 40);
}

/* A region with other data is another phase; windows of no one region tell by their rates. */
static void test_region_signatures(void **state)
{
    const struct opticore_signature a = {{20000, 2e6}, 7}, near = {{15000, 1.5e6}, 7},
                                    other = {{20000, 2e6}, 8}, far = {{200, 2e4}, 7},
                                    nobodys = {{20000, 2e6}, 0};

    (void)state;
    assert_true(opticore_same(&a, &near));
    assert_false(opticore_same(&a, &other));
    assert_false(opticore_same(&a, &far));
    assert_true(opticore_same(&a, &nobodys) && opticore_same(&nobodys, &other));
    assert_false(opticore_same(&near, &nobodys));
}

/* One window that several regions had is none of another's. */
static void test_mixed_windows(void **state)
{
    struct runner runner;

    (void)state;
    begin(&runner);
    for (int i = 0; i < 100; i++) {
        runner.region = i % 5 ? 3 : 0;
        second(&runner, 20000, 2e6);
    }
    assert_int_equal(runner.core.profiles, 1);
    assert_int_equal(runner.resized, 0);
    assert_int_equal(runner.core.phase, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_phase),      cmocka_unit_test(test_two_phases),
        cmocka_unit_test(test_no_oscillation), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_short_phases),   cmocka_unit_test(test_windows_of_two_vectors),
        cmocka_unit_test(test_signatures),     cmocka_unit_test(test_without_counters),
        cmocka_unit_test(test_regions),        cmocka_unit_test(test_region_signatures),
        cmocka_unit_test(test_mixed_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
