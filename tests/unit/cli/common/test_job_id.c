/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_job_id - the names of jobs and steps that people type, and which steps each means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "packer/cli/common/job_id.h"

#define NONE JOB_ID_NONE
#define ALL UINT32_MAX

static void test_names(void **state)
{
    static const struct {
        const char *text;
        struct job_id id;
        const char *name;
    } right[] = {
        {"3", {3, NONE, NONE, ALL, false}, "3"},
        {"3.0", {3, NONE, NONE, 0, false}, "3"},
        {"3.batch", {3, NONE, NONE, WIRE_STEP_BATCH, false}, "3"},
        {"3_2", {3, 2, NONE, ALL, false}, "3_2"},
        {"3_0.interactive", {3, 0, NONE, WIRE_STEP_INTERACTIVE, false}, "3_0"},
        {"3+1", {3, NONE, 1, ALL, false}, "3+1"},
        {"3+1.0", {3, NONE, 1, 0, false}, "3+1"},
        {"3.7+1", {3, NONE, NONE, 0x81000007, false}, "3"}, /* of a heterogeneous step */
        {"3+0.7", {3, NONE, NONE, 7, false}, "3"},
        {"4294967294_4294967294.4294967289",
         {4294967294, 4294967294, NONE, 4294967289, false},
         "4294967294_4294967294"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        char name[JOB_ID_NAME_MAX];
        struct job_id id;

        assert_int_equal(job_id_parse(right[i].text, &id), 0);
        assert_int_equal(id.job, right[i].id.job);
        assert_int_equal(id.task, right[i].id.task);
        assert_int_equal(id.part, right[i].id.part);
        assert_int_equal(id.step, right[i].id.step);
        assert_false(id.exact);
        assert_string_equal(job_id_name(&id, name), right[i].name);
    }
}

static void test_no_names(void **state)
{
    static const char *const wrong[] = {
        "",
        ".",
        "_",
        "x",
        "3x",
        "3.",
        "3.x",
        "3_",
        "3+",
        "3_x",
        "_2",
        "+1",
        "3_-1",
        "3_ 1",
        "3_2x",
        "3_2.",
        "3+1_2",
        "3_2+1",
        "3.0_2",
        "3._2",
        "3_4294967295",
        "3_[1-4]",
        "4294967296",
        "3 ",
        " 3",
        "-3",
        "3_2.0.0",
        "00000000000000000000000000000000000000000000000000000000000000000003_1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct job_id id = {1, 2, 3, 4, false};

        errno = 0;
        assert_int_equal(job_id_parse(wrong[i], &id), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(id.job, 1); /* as it was */
    }
}

static bool means(const char *text, uint32_t job, uint32_t step, uint32_t array, uint32_t task)
{
    struct job_id id;

    assert_int_equal(job_id_parse(text, &id), 0);
    return job_id_means(&id, (struct wire_step_id){job, step}, array, task);
}

static void test_meaning(void **state)
{
    const struct job_id last = {3, NONE, NONE, ALL, true}; /* task 4 of the array 3 */

    (void)state;
    assert_true(job_id_means(&last, (struct wire_step_id){3, 0}, 3, 4));
    assert_false(job_id_means(&last, (struct wire_step_id){5, 0}, 3, 2));
    assert_true(means("3", 3, 0, 0, 0));
    assert_true(means("3", 3, WIRE_STEP_BATCH, 3, 4)); /* the array's last task has its number */
    assert_true(means("3", 5, 0, 3, 2));               /* and the array means all of them */
    assert_false(means("5", 4, 0, 3, 5));
    assert_true(means("3.0", 3, 0, 0, 0));
    assert_false(means("3.0", 3, 1, 0, 0));
    assert_true(means("3_2", 5, 0, 3, 2));
    assert_true(means("3_2.1", 5, 1, 3, 2));
    assert_false(means("3_2.1", 5, 0, 3, 2));
    assert_false(means("3_2", 5, 0, 3, 1));
    assert_false(means("3_0", 3, 0, 0, 0)); /* a job of no array has no task 0 */
    assert_false(means("0_0", 3, 0, 0, 0));
    assert_false(means("3+1", 3, 0, 0, 0));
    assert_false(means("3+1", 4, 0, 0, 0)); /* only Slurm knows that */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_names),
        cmocka_unit_test(test_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
