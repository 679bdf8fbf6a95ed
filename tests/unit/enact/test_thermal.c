/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_thermal - steps on a made machine whose sensors (hwmon_tree.h) the test rewrites: one core
 * over its first threshold, then over its second, then all of them; and what never happens, in any
 * of 2000 looks at random heat. */
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/hwmon_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/enact/thermal.h"
#include "packer/figures/figures.h"
#include "packer/steps/journal.h"

#define CORES 8
#define LOOKS 2000

static char devices[128];
static double now_s;

static int begin(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO); /* two packages of four cores */

    snprintf(devices, sizeof(devices), "%s/devices", f->dir);
    folder_make(f->dir, "devices");
    hwmon_tree_make(devices, 2, 4);
    snprintf(f->conf.device_root, sizeof(f->conf.device_root), "%s", devices);
    f->conf.thermal = CONF_ON;
    f->conf.replace = CONF_OFF;
    fixture_paper(f);
    fixture_restart(f);
    now_s = 1000;
    *state = f;
    return 0;
}

static void heat(size_t core, double celsius)
{
    hwmon_tree_set(devices, 4, core, celsius);
}

static void look(struct fixture *f)
{
    now_s += 10;
    thermal_look(&f->packer, now_s);
}

/* The CPUs of the step. */
static const char *at(const struct step *step)
{
    static char text[CPUS_TEXT_MAX];
    struct cpus its;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    assert_int_equal(cpus_format(&its, text, sizeof(text)), 0);
    return text;
}

static void says(const struct step *step, const char *text)
{
    struct json_object *object = figures_object("thermal", NULL, step, false);

    json_object_object_del(object, "at");
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), text);
    json_object_put(object);
}

/* A step on core 0 of a job that has cores 0 to 3. */
static struct step *start(struct fixture *f)
{
    struct step *step = fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, "p"));

    assert_string_equal(at(step), "0");
    assert_false(thermal_tells(step));
    return step;
}

/* ---- one core after the other ---- */

static void test_the_broken_screw(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);

    look(f);
    assert_string_equal(at(step), "0");
    heat(0, 97); /* over T1 */
    heat(2, 35);
    look(f);
    assert_string_equal(at(step), "2");
    says(step, "{\"core\":0,\"celsius\":97.0,\"limit\":\"t1\",\"moved_to\":2,\"moves\":1,"
               "\"hot\":\"\"}");
    heat(2, 100); /* over T2: it does not come back */
    look(f);
    assert_string_equal(at(step), "1");
    says(step, "{\"core\":2,\"celsius\":100.0,\"limit\":\"t2\",\"moved_to\":1,\"moves\":2,"
               "\"hot\":\"2\"}");
    heat(1, 85);
    heat(0, 81);
    heat(2, 30);
    heat(3, 90);
    look(f);
    assert_string_equal(at(step), "0"); /* not the coolest, which was hot */
    for (size_t core = 0; core < CORES; core++)
        heat(core, 105);
    look(f);
    assert_string_equal(at(step), "0"); /* all are hot: it stays */
    says(step, "{\"core\":0,\"celsius\":105.0,\"limit\":\"t2\",\"moved_to\":null,\"moves\":3,"
               "\"hot\":\"0,2\"}");
}

/* Cores of no job of the pool are nobody's to take, however cool. */
static void test_only_the_pool(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);

    for (size_t core = 0; core < 4; core++)
        heat(core, 90);
    look(f);
    assert_string_equal(at(step), "0");
}

/* Nothing is looked at twice in ten seconds, and no core moved twice. */
static void test_rests(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);

    heat(0, 90);
    look(f);
    assert_string_equal(at(step), "1");
    heat(1, 90);
    thermal_look(&f->packer, now_s + 9.9);
    assert_string_equal(at(step), "1");
    thermal_look(&f->packer, now_s + 10);
    assert_string_not_equal(at(step), "1");
}

/* ---- exchanges ---- */

static void test_exchange(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0-1", "a"), *b = fixture_run(f, 2, "2-3", "b");

    heat(0, 90);
    heat(3, 30);
    a->class.id = STEP_DEVIL;
    b->class.id = STEP_TURTLE;
    look(f);
    assert_string_equal(at(a), "0-1");
    b->class.id = STEP_DEVIL;
    look(f);
    assert_string_equal(at(a), "1,3");
    assert_string_equal(at(b), "0,2");
    assert_int_equal(a->thermal.moves, 1);
    assert_int_equal(b->thermal.moves, 1);
}

static void test_isolated(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0-1", "a"), *b = fixture_run(f, 2, "2-3", "b");

    heat(0, 90);
    b->request.options.isolate = true;
    look(f);
    assert_string_equal(at(a), "0-1");
    b->request.options.isolate = false;
    a->request.options.isolate = true;
    look(f);
    assert_string_equal(at(a), "0-1");
}

/* ---- what outlives a berthd ---- */

static void test_killed(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};
    struct step *step = start(f);

    heat(0, 101);
    look(f);
    assert_string_equal(at(step), "1");
    fixture_restart(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    step = fixture_step(f, 1, 0);
    assert_string_equal(at(step), "1");
    assert_cpus(&step->thermal.hot, "0");
    heat(0, 20);
    heat(1, 90);
    look(f);
    assert_string_equal(at(step), "2");
}

static void test_off(void **state)
{
    struct fixture *f = *state;

    assert_true(thermal_due(&f->packer) < 0); /* nobody is there */
    start(f);
    assert_true(thermal_due(&f->packer) == 0);
    f->conf.thermal = CONF_OFF;
    fixture_restart(f);
    assert_null(f->packer.state->thermal);
    assert_true(thermal_due(&f->packer) < 0);
}

/* ---- never ---- */

static uint64_t seed;

static size_t draw(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

#define STEPS 3

/* Looks once at random heat. Never onto a hot core, never a core twice in ten seconds. */
static size_t random_look(struct fixture *f, struct step *const *step, double moved_s[CORES])
{
    struct cpus was[STEPS], is[STEPS], hot[STEPS];
    size_t moved = 0;

    for (size_t i = 0; i < STEPS; i++) {
        enforce_union(&step[i]->body, ENFORCE_PLACE, &was[i]);
        hot[i] = step[i]->thermal.hot;
    }
    now_s += (double)draw(12);
    thermal_look(&f->packer, now_s);
    for (size_t i = 0; i < STEPS; i++) {
        enforce_union(&step[i]->body, ENFORCE_PLACE, &is[i]);
        for (size_t core = 0; core < CORES; core++) {
            if (cpus_has(&is[i], core) == cpus_has(&was[i], core))
                continue;
            assert_false(cpus_has(&is[i], core) && cpus_has(&hot[i], core));
            assert_true(now_s == moved_s[core] || now_s - moved_s[core] >= 10);
            moved_s[core] = now_s;
            moved++;
        }
    }
    return moved;
}

static void test_never(void **state)
{
    struct fixture *f = *state;
    struct step *step[STEPS] = {fixture_start(f, fixture_request(1, 0, "0-2", "0", 1, "p")),
                                fixture_start(f, fixture_request(1, 1, "0-2", "1", 1, "p")),
                                fixture_start(f, fixture_request(2, 0, "4-6", "4-5", 2, "p"))};
    double moved_s[CORES];
    size_t moved = 0;

    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    for (size_t core = 0; core < CORES; core++)
        moved_s[core] = -1000;
    seed = getenv("BERTH_SEED") ? strtoull(getenv("BERTH_SEED"), NULL, 10) : 1;
    print_message("BERTH_SEED=%llu\n", (unsigned long long)seed);
    for (size_t n = 0; n < LOOKS; n++) {
        if (n % 50 == 0) /* else all would be hot for good */
            for (size_t i = 0; i < STEPS; i++)
                cpus_zero(&step[i]->thermal.hot);
        heat(draw(CORES), 60 + (double)draw(45));
        moved += random_look(f, step, moved_s);
    }
    assert_true(moved > 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_broken_screw),
        TEST(test_only_the_pool),
        TEST(test_rests),
        TEST(test_exchange),
        TEST(test_isolated),
        TEST(test_killed),
        TEST(test_off),
        TEST(test_never),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
