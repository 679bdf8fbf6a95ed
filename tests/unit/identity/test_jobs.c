/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_jobs - which steps are of one run of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/identity/jobs.h"

static struct known_jobs jobs;

static int setup(void **state)
{
    (void)state;
    known_jobs_init(&jobs);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    known_jobs_free(&jobs);
    return 0;
}

static void test_steps_of_a_run(void **state)
{
    struct known_job *job = known_jobs_begin(&jobs, 7, 1001, 100);

    (void)state;
    assert_ptr_equal(known_jobs_begin(&jobs, 7, 1001, 110), job);
    assert_int_equal(job->live, 2);
    assert_int_equal(job->run.at, 100);
    known_job_step_ended(job, 120);
    known_job_step_ended(job, 130);
    assert_ptr_equal(known_jobs_begin(&jobs, 7, 1001, 130 + JOBS_KEPT_S), job);
    known_job_step_ended(job, 200);
    assert_int_equal(job->until, 200);
    known_jobs_forget(&jobs, 200 + JOBS_KEPT_S + 1);
    assert_null(known_jobs_find(&jobs, 7));
}

/* Its end was heard of, it is another user's, or nothing of it was here for long: another run. */
static void test_another_run(void **state)
{
    struct known_job *first = known_jobs_begin(&jobs, 7, 1001, 100), *second, *third;

    (void)state;
    first->asked = true; /* an answer is on its way: it is kept */
    known_job_step_ended(first, 110);
    first->over = true;
    second = known_jobs_begin(&jobs, 7, 1001, 120);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(known_jobs_find(&jobs, 7), second);
    assert_ptr_equal(known_jobs_of(&jobs, 7, 105), first);
    assert_ptr_equal(known_jobs_of(&jobs, 7, 125), second);
    assert_ptr_equal(known_jobs_find_run(&jobs, &(struct asker_run){7, 1001, 100}), first);
    third = known_jobs_begin(&jobs, 7, 1002, 130);
    assert_ptr_not_equal(second, third);
    assert_int_equal(third->is.source, WIRE_SOURCE_NONE);
}

/* An epilog that is never called: Slurm's folders tell that the job is over. */
static void test_an_end_that_nobody_heard_of(void **state)
{
    struct known_job *job = known_jobs_begin(&jobs, 7, 1001, 100);
    const uint32_t folder[] = {5, 7};

    (void)state;
    for (int i = 0; i < 2 * JOBS_UNSEEN; i++)
        known_jobs_looked(&jobs, NULL, 0); /* a step of it lives */
    assert_false(job->over);
    known_job_step_ended(job, 110);
    known_jobs_looked(&jobs, folder, 2);
    known_jobs_looked(&jobs, folder, 1);
    known_jobs_looked(&jobs, folder, 2);
    assert_false(job->over);
    for (int i = 0; i < JOBS_UNSEEN; i++)
        known_jobs_looked(&jobs, folder, 1);
    assert_true(job->over);
    known_jobs_forget(&jobs, 111);
    assert_true(TAILQ_EMPTY(&jobs.list));
}

static void test_not_too_many_are_kept(void **state)
{
    struct known_job *job;
    size_t n = 0;

    (void)state;
    for (uint32_t i = 0; i < 2 * JOBS_KEPT_MAX; i++)
        known_job_step_ended(known_jobs_begin(&jobs, i + 1, 1001, 100), 100);
    known_jobs_forget(&jobs, 100);
    TAILQ_FOREACH(job, &jobs.list, link) n++;
    assert_int_equal(n, JOBS_KEPT_MAX);
    assert_non_null(known_jobs_find(&jobs, 2 * JOBS_KEPT_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_steps_of_a_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_end_that_nobody_heard_of, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_too_many_are_kept, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
