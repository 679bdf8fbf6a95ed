/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_release - root takes berth's hands off a step, a job, the node: who goes home, who comes
 * after, what fails on the way, and what the next daemon makes of it. */
#include "tests/unit/common/fixture.h"

#include <string.h>

#include "packer/enact/release.h"
#include "packer/steps/journal.h"
#include "packer/steps/journal_file.h"

#define STEP(job, step) ((struct wire_step_id){job, step})
#define JOB(job) ((struct wire_step_id){job, UINT32_MAX})

static void release(struct fixture *f, struct wire_step_id id)
{
    struct berth_error err = {""};

    if (pipeline_release(&f->packer, id, &err) < 0)
        fail_msg("%s", err.text);
}

static void manage(struct fixture *f)
{
    struct berth_error err = {""};

    if (pipeline_manage(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
}

/* Another daemon on the same journal. */
static void die_and_resume(struct fixture *f)
{
    struct berth_error err = {""};

    fixture_restart(f);
    fixture_forget(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
}

static void assert_step(struct fixture *f, uint32_t job, const char *cpus, enum step_state state)
{
    const struct step *step = fixture_step(f, job, 0);

    assert_cpus(&step->body.task[0].cpus, cpus);
    assert_cpus(&step->place.cpus, cpus);
    assert_int_equal(step->state, state);
}

static void assert_calls(struct fixture *f, const char *calls)
{
    assert_string_equal(f->calls, calls);
}

static void test_the_node(void **state)
{
    struct fixture *f = *state;

    release(f, WIRE_ALL);
    assert_calls(f, "restore 1.0 0; restore 2.0 2; ");
    assert_step(f, 1, "0", STEP_LEFT);
    assert_step(f, 2, "2", STEP_LEFT);
    assert_string_equal(fixture_step(f, 1, 0)->enacted.reason,
                        "left alone: root has released it (berthctl release)");
    assert_true(fixture_step(f, 1, 0)->enacted.verified);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
    fixture_run(f, 3, "4", "high");
    assert_step(f, 3, "4", STEP_LEFT);
    assert_non_null(strstr(fixture_step(f, 3, 0)->enacted.reason, "root has released it"));
    fixture_forget(f);
    release(f, WIRE_ALL); /* and once more */
    assert_calls(f, "");
}

/* Its core is taken from under the other one, who goes back to his own. */
static void test_one_step(void **state)
{
    struct fixture *f = *state;

    release(f, STEP(1, 0));
    assert_step(f, 1, "0", STEP_LEFT);
    assert_step(f, 2, "2", STEP_PLACED);
    assert_stand(f->packer.state->pool, "- - 2 - - - - -");
    fixture_start(f, fixture_request(1, 1, "0", "0", 1, "low"));
    assert_int_equal(fixture_step(f, 1, 1)->state, STEP_PLACED); /* it was a step, not the job */
}

static void test_a_job_and_who_comes_after(void **state)
{
    struct fixture *f = *state;

    release(f, JOB(2));
    assert_step(f, 2, "2", STEP_LEFT);
    assert_step(f, 1, "0", STEP_PLACED);
    fixture_start(f, fixture_request(2, 1, "2", "2", 1, "high"));
    fixture_end(f, 2, 0);
    fixture_start(f, fixture_request(2, 2, "2", "2", 1, "high")); /* its heir has heirs */
    assert_int_equal(fixture_step(f, 2, 1)->state, STEP_LEFT);
    assert_int_equal(fixture_step(f, 2, 2)->state, STEP_LEFT);
    fixture_end(f, 2, 1);
    fixture_end(f, 2, 2);
    fixture_start(f, fixture_request(2, 3, "2", "2", 1, "high"));
    assert_int_equal(fixture_step(f, 2, 3)->state,
                     STEP_PLACED); /* nobody is left to inherit from */
}

static void test_end(void **state)
{
    struct fixture *f = *state;

    release(f, WIRE_ALL);
    release(f, JOB(1));
    manage(f);
    assert_step(f, 1, "0", STEP_LEFT); /* to its end */
    fixture_run(f, 3, "4", "high");
    assert_int_equal(fixture_step(f, 3, 0)->state, STEP_PLACED);
    fixture_start(f, fixture_request(1, 1, "0", "0", 1, "low"));
    assert_int_equal(fixture_step(f, 1, 1)->state, STEP_PLACED);
    die_and_resume(f);
    assert_false(f->packer.steps->released);
    assert_int_equal(fixture_step(f, 3, 0)->state, STEP_PLACED);
}

/* Observed steps are where they were: nothing to undo, but berth does not follow them any more. */
static void test_observed(void **state)
{
    struct wire_register request = fixture_request(3, 0, "4", "4", 1, "high");
    struct fixture *f = *state;

    request.options.mode = WIRE_MODE_OBSERVE;
    fixture_start(f, request);
    fixture_forget(f);
    release(f, STEP(3, 0));
    assert_calls(f, "");
    assert_step(f, 3, "4", STEP_LEFT);
}

static void test_unknown(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};
    size_t size = journal_size(&f->packer);

    assert_int_equal(pipeline_release(&f->packer, STEP(1, 7), &err), -1);
    assert_string_equal(err.text, "1.7: no such step runs here");
    assert_int_equal(pipeline_release(&f->packer, JOB(9), &err), -1);
    assert_int_equal(journal_size(&f->packer), size);
    assert_step(f, 1, "2", STEP_PLACED);
}

/* A daemon that dies at once after the word is in the journal: the next one brings them home. */
static void test_killed_after_the_word(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;

    assert_int_equal(journal_release(&f->packer, WIRE_ALL, &err), 0);
    die_and_resume(f);
    assert_calls(f, "restore 1.0 0; restore 2.0 2; ");
    assert_step(f, 1, "0", STEP_LEFT);
    assert_true(f->packer.steps->released);
    die_and_resume(f); /* they are home, and what they do there is theirs */
    assert_calls(f, "");
    assert_true(f->packer.steps->released);
    assert_step(f, 2, "2", STEP_LEFT);
}

static void test_restart_of_a_released_job(void **state)
{
    struct fixture *f = *state;

    release(f, JOB(1));
    die_and_resume(f);
    assert_calls(f, "apply 2.0 2; ");
    fixture_start(f, fixture_request(1, 1, "0", "0", 1, "low"));
    assert_int_equal(fixture_step(f, 1, 1)->state, STEP_LEFT);
    assert_false(f->packer.steps->released);
}

/* Who cannot be brought home is tried again: by the sweep, by the next daemon, at the stop. */
static void test_stuck(void **state)
{
    struct fixture *f = *state;

    f->stuck = 1;
    release(f, STEP(1, 0));
    assert_false(fixture_step(f, 1, 0)->enacted.verified);
    assert_true(fixture_step(f, 1, 0)->enacted.away);
    fixture_forget(f);
    pipeline_sweep(&f->packer);
    assert_calls(f, "restore 1.0 0; restore 1.0 0; "); /* each time is two attempts */
    die_and_resume(f);
    assert_non_null(strstr(f->calls, "restore 1.0 0; "));
    f->stuck = 0;
    pipeline_sweep(&f->packer);
    assert_true(fixture_step(f, 1, 0)->enacted.verified);
    assert_false(fixture_step(f, 1, 0)->enacted.away);
    fixture_forget(f);
    pipeline_sweep(&f->packer);
    pipeline_undo(&f->packer);
    assert_calls(f, "restore 2.0 2; ");
}

/* So is one that failed to move, and then failed to be put back. */
static void test_failed_and_stuck(void **state)
{
    struct fixture *f = *state;

    f->fails = f->stuck = 2;
    fixture_end(f, 1, 0); /* 2.0 has to go home from core 0, and cannot */
    assert_int_equal(fixture_step(f, 2, 0)->state, STEP_FAILED);
    assert_true(fixture_step(f, 2, 0)->enacted.away);
    f->fails = f->stuck = 0;
    die_and_resume(f);
    assert_int_equal(fixture_step(f, 2, 0)->state, STEP_FAILED);
    assert_false(fixture_step(f, 2, 0)->enacted.away);
    assert_calls(f, "restore 2.0 2; ");
}

int main(void)
{
#define ON_SWAPPED(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, fixture_open_swapped, fixture_teardown)
    const struct CMUnitTest tests[] = {ON_SWAPPED(test_the_node),
                                       ON_SWAPPED(test_one_step),
                                       ON_SWAPPED(test_a_job_and_who_comes_after),
                                       ON_SWAPPED(test_end),
                                       ON_SWAPPED(test_observed),
                                       ON_SWAPPED(test_unknown),
                                       ON_SWAPPED(test_killed_after_the_word),
                                       ON_SWAPPED(test_restart_of_a_released_job),
                                       ON_SWAPPED(test_stuck),
                                       ON_SWAPPED(test_failed_and_stuck)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
