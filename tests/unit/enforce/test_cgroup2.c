/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_enforce_cgroup2 - what is written where in a tree like that of Slurm under cgroup v2: plain
 * files, in which cpuset.cpus.effective is a link to cpuset.cpus. The processes are real, and so is
 * their affinity. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/enforce/enforce.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/handed.h"
#include "tests/unit/common/steps.h"

#define SCOPE "system.slice/n1_slurmstepd.scope"

struct box {
    char dir[64]; /* stands for /sys/fs/cgroup */
    struct rootfs root;
    struct enforce enforce;
    struct step_processes run;
    struct enforce_task task[2];
    struct enforce_step step;
};

static bool two_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

static void path_of(const struct box *box, char *path, const char *cgroup, const char *file)
{
    snprintf(path, PATH_MAX, "%s/%s/%s", box->dir, cgroup, file);
}

static void put(const struct box *box, const char *cgroup, const char *file, const char *text)
{
    char path[PATH_MAX];

    path_of(box, path, cgroup, file);
    file_put(path, text);
}

static void expect(const struct box *box, const char *cgroup, const char *cpus)
{
    char path[PATH_MAX], text[64];

    path_of(box, path, cgroup, "cpuset.cpus");
    file_line(path, text, sizeof(text));
    assert_string_equal(text, cpus);
}

/* A cgroup that holds nobody; cpus NULL: without the cpuset controller. */
static void make_cgroup(const struct box *box, const char *cgroup, const char *cpus)
{
    char path[PATH_MAX];

    path_of(box, path, cgroup, "");
    assert_int_equal(mkdir(path, 0755), 0);
    put(box, cgroup, "cgroup.procs", "");
    if (!cpus)
        return;
    put(box, cgroup, "cpuset.cpus", cpus);
    put(box, cgroup, "cpuset.mems.effective", "0\n");
    path_of(box, path, cgroup, "cpuset.cpus.effective");
    assert_int_equal(symlink("cpuset.cpus", path), 0);
}

static void put_pids(const struct box *box, const char *cgroup, pid_t first, pid_t second)
{
    char text[64];

    snprintf(text, sizeof(text), "%d\n%d\n", (int)first, (int)second);
    put(box, cgroup, "cgroup.procs", text);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    struct berth_error err = {""};

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "test_cgroup2");
    put(box, "", "cgroup.controllers", "cpuset cpu io memory pids\n");
    put(box, "", "cgroup.procs", "");
    make_cgroup(box, "system.slice", "");
    make_cgroup(box, SCOPE, "");
    make_cgroup(box, SCOPE "/job_7", "0\n");
    make_cgroup(box, SCOPE "/job_7/step_0", "");
    make_cgroup(box, SCOPE "/job_7/step_0/slurm", "");
    make_cgroup(box, SCOPE "/job_7/step_0/user", "0\n");
    make_cgroup(box, SCOPE "/job_7/step_0/user/task_0", "\n");
    make_cgroup(box, SCOPE "/job_7/step_0/user/task_1", NULL);
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    assert_int_equal(enforce_open(&box->enforce, &box->root, box->dir, "auto", &err), 0);
    handed_tell(&box->enforce, (struct wire_step_id){1, 0}, 0,
                NULL); /* of a job that has all CPUs */
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    step_stop(&box->run);
    enforce_close(&box->enforce);
    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static void start(struct box *box)
{
    static const unsigned home[] = {0, 0};
    struct berth_error err = {""};

    step_start(&box->run, NULL, 2, home, STEP_QUIET);
    put_pids(box, SCOPE "/job_7/step_0/user/task_0", box->run.task[0], box->run.child[0]);
    put_pids(box, SCOPE "/job_7/step_0/user/task_1", box->run.task[1], box->run.child[1]);
    for (size_t i = 0; i < 2; i++)
        box->task[i] = (struct enforce_task){.pid = box->run.task[i]};
    box->step = (struct enforce_step){.id = {7, 0}, .ntasks = 2, .task = box->task};
    if (enforce_cgroup2.locate(&box->enforce, "n1", &box->step, &err) < 0 ||
        enforce_register(&box->enforce, &box->step, &err) < 0)
        fail_msg("%s", err.text);
}

static int apply(struct box *box, const char *cpus0, const char *cpus1, struct berth_error *err)
{
    box->task[0].cpus = cpus_of(cpus0);
    box->task[1].cpus = cpus_of(cpus1);
    return enforce_cgroup2.apply(&box->enforce, &box->step, err);
}

#define NEED_TWO_CPUS()                                                                            \
    do {                                                                                           \
        if (!two_cpus()) {                                                                         \
            print_message("needs CPUs 0 and 1\n");                                                 \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

static void test_it_is_chosen(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    char want[256];

    assert_string_equal(box->enforce.way->name, "cgroup2");
    put(box, "", "cgroup.controllers", "cpu io\n");
    assert_int_equal(enforce_cgroup2.probe(&box->root, box->dir, &err), 0);
    snprintf(want, sizeof(want), "%s/cgroup.controllers: no cpuset controller", box->dir);
    assert_string_equal(err.text, want);
}

static void test_locate(void **state)
{
    struct box *box = *state;
    struct cpus zero = cpus_of("0");
    struct berth_error err = {""};

    NEED_TWO_CPUS();
    start(box);
    assert_string_equal(box->step.leaf, SCOPE "/job_7/step_0");
    assert_true(cpus_equal(&box->step.job_home, &zero));
    assert_true(cpus_equal(&box->step.step_home, &zero));
    assert_true(cpus_equal(&box->step.mems_home, &zero));
    assert_true(cpus_equal(&box->task[1].home, &zero));

    box->step.id.step = WIRE_STEP_BATCH;
    assert_int_equal(enforce_cgroup2.locate(&box->enforce, "n1", &box->step, &err), -1);
    assert_non_null(strstr(err.text, "step 7.batch has no cgroup below"));
}

static void test_step_is_widened_and_pinned_and_put_back(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    NEED_TWO_CPUS();
    start(box);
    assert_int_equal(apply(box, "1", "0", &err), 0);
    expect(box, SCOPE "/job_7", "0-1");
    expect(box, SCOPE "/job_7/step_0", ""); /* follows the job */
    expect(box, SCOPE "/job_7/step_0/user", "0-1");
    expect(box, SCOPE "/job_7/step_0/user/task_0", "1");
    assert_true(step_runs_on(box->run.task[0], "1"));
    assert_true(step_runs_on(box->run.child[0], "1"));
    assert_true(step_runs_on(box->run.task[1], "0"));

    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    expect(box, SCOPE "/job_7", "0");
    expect(box, SCOPE "/job_7/step_0/user", "0");
    expect(box, SCOPE "/job_7/step_0/user/task_0", "0"); /* the kernel would not empty it */
    assert_true(step_runs_on(box->run.task[0], "0"));
    assert_true(step_runs_on(box->run.child[0], "0"));
}

static void test_a_step_with_a_list_of_its_own(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    NEED_TWO_CPUS();
    put(box, SCOPE "/job_7/step_0", "cpuset.cpus", "0\n");
    start(box);
    assert_int_equal(apply(box, "1", "1", &err), 0);
    expect(box, SCOPE "/job_7/step_0", "0-1");
    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    expect(box, SCOPE "/job_7/step_0", "0");
}

/* Another step of the job stands outside: the job stays as wide as that needs. */
static void test_the_jobs_other_steps(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    NEED_TWO_CPUS();
    make_cgroup(box, SCOPE "/job_7/step_1", "");
    make_cgroup(box, SCOPE "/job_7/step_1/user", "5\n");
    start(box);
    assert_int_equal(apply(box, "1", "1", &err), 0);
    expect(box, SCOPE "/job_7", "0-1,5");
    put(box, SCOPE "/job_7/step_1/user", "cpuset.cpus", "0\n");
    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    expect(box, SCOPE "/job_7", "0");
}

/* Slurm writes the step's list again: apply() mends it. */
static void test_apply_again(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    NEED_TWO_CPUS();
    start(box);
    assert_int_equal(apply(box, "1", "1", &err), 0);
    put(box, SCOPE "/job_7", "cpuset.cpus", "0\n");
    put(box, SCOPE "/job_7/step_0/user", "cpuset.cpus", "0\n");
    assert_int_equal(apply(box, "1", "1", &err), 0);
    expect(box, SCOPE "/job_7", "0-1");
    expect(box, SCOPE "/job_7/step_0/user", "1");
}

/* ConstrainCores=no: all lists are empty, and only the tasks' affinities say what Slurm gave. */
static void test_without_slurms_lists(void **state)
{
    struct box *box = *state;
    struct cpus zero = cpus_of("0");
    struct berth_error err = {""};
    char path[PATH_MAX];

    NEED_TWO_CPUS();
    path_of(box, path, SCOPE "/job_7/step_0", "cpuset.cpus.effective");
    assert_int_equal(unlink(path), 0);
    file_put(path, "0-1\n");
    put(box, SCOPE "/job_7", "cpuset.cpus", "\n");
    put(box, SCOPE "/job_7/step_0/user", "cpuset.cpus", "\n");
    start(box);
    assert_true(cpus_equal(&box->step.job_home, &zero));
    assert_true(cpus_equal(&box->step.step_home, &zero));
    assert_true(cpus_equal(&box->task[1].home, &zero));
    assert_int_equal(apply(box, "1", "1", &err), 0);
    expect(box, SCOPE "/job_7", "");
    expect(box, SCOPE "/job_7/step_0", "");
    expect(box, SCOPE "/job_7/step_0/user", "1");
    assert_true(step_runs_on(box->run.task[0], "1"));
    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    expect(box, SCOPE "/job_7", "");
    expect(box, SCOPE "/job_7/step_0/user", "0-1");
    assert_true(step_runs_on(box->run.task[0], "0"));
    assert_true(step_runs_on(box->run.child[0], "0"));
}

static void test_the_list_that_slurm_writes(void **state)
{
    struct box *box = *state;
    char path[CGROUP_DIR_MAX], want[PATH_MAX];

    NEED_TWO_CPUS();
    start(box);
    enforce_cgroup2.job_list(&box->enforce, &box->step, path);
    path_of(box, want, SCOPE "/job_7", "cpuset.cpus");
    assert_string_equal(path, want);
}

/* The kernel gives the parent's CPUs where a list and its parent's have nothing in common: that is
 * seen. */
static void test_an_effective_list_that_differs(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    char path[PATH_MAX];

    NEED_TWO_CPUS();
    start(box);
    path_of(box, path, SCOPE "/job_7/step_0/user", "cpuset.cpus.effective");
    assert_int_equal(unlink(path), 0);
    file_put(path, "0\n");
    assert_int_equal(apply(box, "1", "1", &err), -1);
    assert_non_null(strstr(err.text, "user/cpuset.cpus.effective: is '0', not '1'"));
}

static void test_a_step_that_vanished(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    char command[128];

    NEED_TWO_CPUS();
    start(box);
    assert_true(enforce_step_alive(&box->enforce, &box->step));
    step_stop(&box->run);
    snprintf(command, sizeof(command), "rm -rf '%s/" SCOPE "/job_7/step_0'", box->dir);
    assert_int_equal(system(command), 0);
    assert_false(enforce_step_alive(&box->enforce, &box->step));
    put(box, SCOPE "/job_7", "cpuset.cpus", "0-1\n");
    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    expect(box, SCOPE "/job_7", "0");
    snprintf(command, sizeof(command), "rm -rf '%s/" SCOPE "/job_7'", box->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(enforce_cgroup2.restore(&box->enforce, &box->step, &err), 0);
    assert_int_equal(apply(box, "1", "1", &err), -1);
    assert_null(enforce_cgroup2.clean);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_chosen),
        TEST(test_locate),
        TEST(test_step_is_widened_and_pinned_and_put_back),
        TEST(test_a_step_with_a_list_of_its_own),
        TEST(test_the_jobs_other_steps),
        TEST(test_apply_again),
        TEST(test_without_slurms_lists),
        TEST(test_the_list_that_slurm_writes),
        TEST(test_an_effective_list_that_differs),
        TEST(test_a_step_that_vanished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
