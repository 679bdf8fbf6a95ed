/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_folder_watch - which folders are new, on plain ones that are named like Slurm's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/slurm/folder_watch.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/slurm_tree.h"

#define USER "cg/cpuset/slurm_n1/uid_1000"

struct box {
    char dir[64], told[512]; /* "job 7; step 7.0; gone 7; lost; " */
    struct rootfs root;
    struct enforce enforce;
    struct enforce_step step;
    struct folder_watch *watch;
};

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    struct berth_error err = {""};

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "berth-unit");
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    box->enforce =
        (struct enforce){.way = &enforce_cgroup1, .root = &box->root, .cgroup_root = "/cg"};
    box->step = (struct enforce_step){.id = {7, 0}, .leaf = "slurm_n1/uid_1000/job_7/step_0"};
    folder_make(box->dir, USER "/job_7/step_0");
    folder_make(box->dir, "cg/cpuset/slurm_n1/uid_0");
    assert_int_equal(folder_watch_open(&box->watch, enforce_slurm(&box->enforce), &err), 0);
    if (folder_watch_step(box->watch, box->step.id, box->step.leaf, &err) < 0)
        fail_msg("%s", err.text);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    folder_watch_close(box->watch);
    rootfs_close(&box->root);
    folder_remove(box->dir);
    free(box);
    return 0;
}

static void drop(const struct box *box, const char *path)
{
    char full[256];

    snprintf(full, sizeof(full), "%s/%s", box->dir, path);
    assert_int_equal(folder_remove(full), 0);
}

static const char *told(struct box *box)
{
    static const char *const what[] = {"job", "step", "gone", "lost"};
    struct folder_event event;
    char name[WIRE_STEP_NAME_MAX];

    box->told[0] = '\0';
    while (folder_watch_next(box->watch, &event)) {
        size_t used = strlen(box->told);

        wire_step_name(event.id, name);
        snprintf(box->told + used, sizeof(box->told) - used, "%s %s; ", what[event.what], name);
    }
    return box->told;
}

static void test_what_was_there_is_not_told(void **state)
{
    assert_string_equal(told(*state), "");
}

static void test_steps_of_a_job_that_is_named(void **state)
{
    struct box *box = *state;

    folder_make(box->dir, USER "/job_7/step_1");
    folder_make(box->dir, USER "/job_7/step_extern");
    folder_make(box->dir, USER "/job_7/other");
    drop(box, USER "/job_7/step_0");
    assert_string_equal(told(box), "step 7.1; gone 7.0; ");
    folder_watch_settle(box->watch, 7);
    folder_make(box->dir, USER "/job_7/step_2");
    assert_string_equal(told(box), "");
}

static void test_a_new_job_until_it_is_settled(void **state)
{
    struct box *box = *state;

    folder_make(box->dir, USER "/job_8");
    assert_string_equal(told(box), "job 8; ");
    folder_put(box->dir, USER "/job_8/cpuset.cpus", "0");
    assert_non_null(strstr(told(box), "job 8; "));
    folder_watch_settle(box->watch, 8);
    folder_put(box->dir, USER "/job_8/cpuset.cpus", "1");
    assert_string_equal(told(box), "");
    drop(box, USER "/job_8");
    assert_string_equal(told(box), "gone 8; ");
}

/* Of a user who was there, and of one who had no job before: folders that were made before these
 * were watched are found. */
static void test_jobs_of_others(void **state)
{
    struct box *box = *state;

    folder_make(box->dir, "cg/cpuset/slurm_n1/uid_0/job_9");
    folder_make(box->dir, "cg/cpuset/slurm_n1/uid_1001/job_10");
    assert_string_equal(told(box), "job 9; job 10; ");
    folder_make(box->dir, "cg/cpuset/slurm_n2/uid_0/job_11"); /* another node on this host */
    folder_make(box->dir, "cg/cpuset/slurm_n1/uid_1001/job_12");
    assert_string_equal(told(box), "job 12; ");
}

/* Slurm removes the folder of a user without a job, and makes it again. */
static void test_a_user_who_comes_back(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    drop(box, USER);
    told(box);
    folder_make(box->dir, USER "/job_13");
    assert_string_equal(told(box), "job 13; ");
    drop(box, "cg/cpuset/slurm_n1"); /* and all of its folders, when slurmd restarts */
    folder_make(box->dir, USER "/job_7/step_0");
    told(box);
    assert_int_equal(folder_watch_step(box->watch, box->step.id, box->step.leaf, &err), 0);
    told(box);
    folder_make(box->dir, USER "/job_14");
    folder_make(box->dir, USER "/job_7/step_5");
    assert_string_equal(told(box), "job 14; step 7.5; ");
}

static void test_unified(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    box->enforce.way = &enforce_cgroup2;
    strcpy(box->step.leaf, "system.slice/n1_slurmstepd.scope/job_7/step_0");
    folder_make(box->dir, "cg/system.slice/n1_slurmstepd.scope/job_7/step_0/user");
    folder_watch_close(box->watch);
    assert_int_equal(folder_watch_open(&box->watch, enforce_slurm(&box->enforce), &err), 0);
    if (folder_watch_step(box->watch, box->step.id, box->step.leaf, &err) < 0)
        fail_msg("%s", err.text);
    folder_make(box->dir, "cg/system.slice/n1_slurmstepd.scope/job_8");
    folder_make(box->dir, "cg/system.slice/n1_slurmstepd.scope/job_7/step_1");
    assert_string_equal(told(box), "job 8; step 7.1; ");
}

/* A new job of each series of Slurm: it is known by its number once its slurmstepd has named
 * itself, which it has done before its CPUs are written. */
static void test_jobs_of_each_series(void **state)
{
    struct box *box = *state;

    for (size_t i = 0; i < slurm_series_n; i++) {
        struct folder_watch *old = box->watch;
        struct slurm_tree tree;
        struct berth_error err;
        char path[512], cpus[600];

        slurm_tree_open(&tree, &slurm_series[i]);
        slurm_tree_job(&tree, 7, "0\n");
        slurm_tree_step(&tree, (struct wire_step_id){7, 0}, "0\n", 107);
        slurm_tree_path(&tree, (struct wire_step_id){7, 0}, box->step.leaf, sizeof(box->step.leaf));
        assert_int_equal(folder_watch_open(&box->watch, enforce_slurm(&tree.enforce), &err), 0);
        if (folder_watch_step(box->watch, box->step.id, box->step.leaf, &err) < 0)
            fail_msg("%s: %s", slurm_series[i].name, err.text);
        slurm_tree_job(&tree, 8, "");
        told(box);
        slurm_tree_step(&tree, (struct wire_step_id){8, 0}, "", 108);
        slurm_tree_path(&tree, (struct wire_step_id){8, UINT32_MAX}, path, sizeof(path));
        snprintf(cpus, sizeof(cpus), "cg/%s%s/cpuset.cpus", tree.series->unified ? "" : "cpuset/",
                 path);
        folder_put(tree.dir, cpus, "4\n");
        if (!strstr(told(box), "job 8; "))
            fail_msg("%s: '%s'", slurm_series[i].name, box->told);
        folder_watch_settle(box->watch, 8);
        slurm_tree_step(&tree, (struct wire_step_id){7, 1}, "0\n", 117);
        assert_string_equal(told(box), "step 7.1; ");
        snprintf(cpus, sizeof(cpus), "%s/cg/%s%s", tree.dir, tree.series->unified ? "" : "cpuset/",
                 path);
        assert_int_equal(folder_remove(cpus), 0);
        assert_string_equal(told(box), "gone 8; ");
        folder_watch_close(box->watch);
        box->watch = old;
        slurm_tree_close(&tree);
    }
}

static void test_a_step_without_a_folder(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    box->step.leaf[0] = '\0';
    assert_int_equal(folder_watch_step(box->watch, box->step.id, box->step.leaf, &err), 0);
    strcpy(box->step.leaf, "slurm_n1/uid_1000/job_99/step_0");
    assert_int_equal(folder_watch_step(box->watch, box->step.id, box->step.leaf, &err), -1);
    assert_non_null(strstr(err.text, "job_99"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_what_was_there_is_not_told),    test(test_steps_of_a_job_that_is_named),
        test(test_a_new_job_until_it_is_settled), test(test_jobs_of_others),
        test(test_a_user_who_comes_back),         test(test_unified),
        test(test_a_step_without_a_folder),       test(test_jobs_of_each_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
