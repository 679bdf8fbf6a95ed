/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rest - berthd rests while there is nothing to decide, and no longer. */
#include "tests/unit/common/fixture.h"

#include <math.h>

#include "packer/steps/rest.h"

#define OLD_S 60 /* its first windows are over */

static int setup(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

/* As after a turn of the pipeline. */
static bool rests(struct fixture *f)
{
    f->packer.steps->changed = false;
    return rest_may(&f->packer);
}

static struct step *run_old(struct fixture *f, uint32_t job, const char *cpus)
{
    struct step *step = fixture_run(f, job, cpus, "prog");

    step->started_mono_s -= OLD_S;
    return step;
}

static void test_nobody(void **state)
{
    struct fixture *f = *state;

    assert_true(rests(f));
    f->packer.steps->changed = true; /* somebody has come or gone */
    assert_false(rest_may(&f->packer));
    f->packer.world.conf.rest_ms = 0;
    assert_false(rests(f));
}

static void test_alone(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0-1", "prog");

    assert_false(rests(f)); /* its first windows */
    step->started_mono_s -= OLD_S;
    assert_true(rests(f));
    step->body.task[0].cpus = cpus_of("2-3"); /* not where Slurm put it */
    assert_false(rests(f));
    step->body.task[0].cpus = step->body.task[0].home;
    step->enacted.away = true; /* it may not be home yet */
    assert_false(rests(f));
}

/* What follows what a step does has to see that. */
static void test_followed(void **state)
{
    struct fixture *f = *state;
    struct step *step = run_old(f, 1, "0-1");

    assert_true(rests(f));
    step->request.options.size = true;
    assert_false(rests(f));
    step->request.options.size = false;
    step->request.options.throttle = WIRE_THROTTLE_LAZY;
    assert_false(rests(f));
    step->request.options.throttle = WIRE_THROTTLE_OFF;
    step->request.options.prefetch = WIRE_PREFETCH_AUTO;
    assert_false(rests(f));
    step->request.options.prefetch = WIRE_PREFETCH_ON;
    step->share.others = 1;
    assert_false(rests(f));
    step->share.others = 0;
    assert_true(rests(f));
    f->packer.world.conf.blackboard = CONF_ON; /* and so has who reads it */
    assert_false(rests(f));
    fixture_end(f, 1, 0);
    assert_true(rests(f));
}

/* Two may exchange their places. */
static void test_beside(void **state)
{
    struct fixture *f = *state;

    run_old(f, 1, "0-1");
    assert_true(rests(f));
    run_old(f, 2, "2-3");
    assert_false(rests(f));
    fixture_end(f, 2, 0);
    assert_true(rests(f));
}

/* A batch script and what it has started: each has all that there is. */
static void test_both_have_all(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    run_old(f, 1, "0-3");
    step = fixture_start(f, fixture_request(1, 1, "0-3", "0-3", 1, "prog"));
    step->started_mono_s -= OLD_S;
    step->share.others = 0;
    assert_true(rests(f));
}

static void test_asked(void **state)
{
    struct fixture *f = *state;

    assert_true(rests(f));
    rest_asked(&f->packer);
    assert_false(rests(f));
    assert_true(rest_nothing_to_decide(&f->packer)); /* who asks is told that */
    f->packer.state->tally->asked_s -= REST_ASKED_S;
    assert_true(rests(f));
}

static double wall_s(void)
{
    return (double)clock_ns(CLOCK_REALTIME) / 1e9;
}

static void test_until(void **state)
{
    struct fixture *f = *state;
    struct conf *conf = &f->packer.world.conf;
    double in_s, before_s, after_s, rest_s = (double)conf->rest_ms / 1000, instant_s;

    assert_true(rests(f));
    assert_true(rest_until(&f->packer, -1) < 0);
    before_s = wall_s();
    in_s = rest_until(&f->packer, 0.5);
    after_s = wall_s();
    assert_true(in_s >= 0.5 && in_s <= rest_s + 0.01);
    instant_s = rest_s * round((in_s + before_s) / rest_s); /* of all nodes, if it is not sooner */
    assert_true(in_s == 0.5 ||
                (instant_s > in_s + before_s - 0.01 && instant_s < in_s + after_s + 0.01));
    assert_float_equal(rest_until(&f->packer, 1e6), 1e6, 1); /* what comes later still */
    conf->rest_ms = 0;
    assert_float_equal(rest_until(&f->packer, 0.5), 0.5, 1e-9);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nobody),        TEST(test_alone), TEST(test_followed), TEST(test_beside),
        TEST(test_both_have_all), TEST(test_asked), TEST(test_until),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
