/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_offline - CPUs are switched off under steps that stand on them, or were put on them. */
#include "tests/unit/common/fixture.h"

#include <string.h>

#include "packer/enact/offline.h"

/* What berthd does at a sweep. */
static void only(struct fixture *f, const char *online)
{
    struct cpus cpus = cpus_of(online);

    if (offline_set(&f->packer, &cpus))
        offline_leave(&f->packer);
    pipeline_sweep(&f->packer);
}

/* Who was put there is left alone; who stood there is moved away. */
static void test_a_core_of_the_pool(void **state)
{
    struct fixture *f = *state;

    only(f, "1-7");
    assert_int_equal(fixture_step(f, 1, 0)->state, STEP_LEFT);
    assert_string_equal(fixture_step(f, 1, 0)->enacted.reason, "left alone: its CPU 0 is off");
    assert_int_equal(fixture_step(f, 2, 0)->state, STEP_PLACED);
    assert_cpus(&fixture_step(f, 2, 0)->body.task[0].cpus, "2");
    assert_false(pool_has(f->packer.state->pool, 0));
    fixture_forget(f);
    only(f, "1-7"); /* nothing new */
    assert_string_equal(f->calls, "");
}

/* A core of a job's that none of its steps is on, but that another step stands on. */
static void test_a_spare_core(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    step = fixture_start(f, fixture_request(3, 0, "4-5", "4", 1, "high"));
    step->body.task[0].use = step->body.task[0].home;
    only(f, "0-4,6-7");
    assert_false(pool_has(f->packer.state->pool, 5));
    assert_int_equal(step->state, STEP_PLACED);
    for (uint32_t job = 1; job <= 3; job++)
        assert_false(cpus_has(&fixture_step(f, job, 0)->body.task[0].cpus, 5));
}

static void test_new_steps(void **state)
{
    struct fixture *f = *state;

    only(f, "0-5,7");
    fixture_run(f, 3, "6-7", "high");
    assert_int_equal(fixture_step(f, 3, 0)->state, STEP_LEFT);
    assert_non_null(strstr(fixture_step(f, 3, 0)->enacted.reason, "switched off"));
    only(f, "0-7");
    fixture_end(f, 3, 0);
    fixture_run(f, 4, "6-7", "high");
    assert_int_equal(fixture_step(f, 4, 0)->state, STEP_PLACED);
}

/* It happened while no daemon ran. */
static void test_resume(void **state)
{
    struct fixture *f = *state;
    struct cpus online = cpus_of("0-1,3-7");
    struct berth_error err = {""};

    fixture_restart(f);
    offline_set(&f->packer, &online);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    assert_int_equal(fixture_step(f, 2, 0)->state, STEP_LEFT);
    assert_cpus(&fixture_step(f, 1, 0)->body.task[0].cpus, "0");
    assert_false(fixture_step(f, 2, 0)->enacted.away);
}

/* Home is what is left of it: of the task's own CPUs, else of its step's, else all of it. */
static void test_rest(void **state)
{
    struct fixture *f = *state;
    struct enforce_task of[3] = {{.home = cpus_of("0-1")}, {.home = cpus_of("2")}, {0}}, task[3];
    struct enforce_step step = {.step_home = cpus_of("0-3"), .ntasks = 2, .task = of}, rest;
    struct cpus online = cpus_of("1,3-7");

    offline_set(&f->packer, &online);
    offline_rest(&f->packer, &step, &rest, task);
    assert_cpus(&rest.step_home, "1,3");
    assert_cpus(&rest.task[0].home, "1");
    assert_cpus(&rest.task[1].home, "1,3");
    assert_cpus(&of[0].home, "0-1");
    online = cpus_of("4-7");
    offline_set(&f->packer, &online);
    offline_rest(&f->packer, &step, &rest, task);
    assert_cpus(&rest.step_home, "0-3");
    assert_cpus(&rest.task[1].home, "2");
}

int main(void)
{
#define ON_SWAPPED(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, fixture_open_swapped, fixture_teardown)
    const struct CMUnitTest tests[] = {ON_SWAPPED(test_a_core_of_the_pool),
                                       ON_SWAPPED(test_a_spare_core), ON_SWAPPED(test_new_steps),
                                       ON_SWAPPED(test_resume), ON_SWAPPED(test_rest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
