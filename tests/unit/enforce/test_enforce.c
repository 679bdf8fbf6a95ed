/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_enforce - choosing a way, lists in a cgroup's files, and the way that changes nothing. */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/enforce/enforce.h"
#include "packer/system/process_waiting.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/steps.h"

struct box {
    char dir[64];
    struct rootfs root;
};

static void put(const struct box *box, const char *name, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", box->dir, name);
    file_put(path, text);
}

static void make_dir(const struct box *box, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", box->dir, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "test_enforce");
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    make_dir(box, "cg");
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static void expect_way(struct box *box, const char *asked, const char *given)
{
    struct berth_error err = {""};
    struct enforce enforce;

    if (enforce_open(&enforce, &box->root, "/cg", asked, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(enforce.way->name, given);
    assert_string_equal(enforce.cgroup_root, "/cg");
    assert_string_equal(enforce.tree, "berth");
    assert_ptr_equal(enforce.root, &box->root);
    enforce_close(&enforce);
}

static void test_the_first_usable_way_is_taken(void **state)
{
    struct box *box = *state;

    make_dir(box, "cg/cpuset");
    put(box, "cg/cpuset/cpuset.cpus", "0-1\n");
    expect_way(box, NULL, "cgroup1");
    expect_way(box, "auto", "cgroup1");
    expect_way(box, "dryrun", "dryrun");
    put(box, "cg/cgroup.controllers", "cpuset\n");
    put(box, "cg/cgroup.procs", "");
    expect_way(box, "auto", "cgroup2");
    expect_way(box, "cgroup1", "cgroup1");
}

static void test_no_way_is_explained(void **state)
{
    struct box *box = *state;
    struct berth_error err;
    struct enforce enforce;
    char long_root[300];

    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "auto", &err), -1);
    assert_string_equal(err.text, "no way to enforce a placement: "
                                  "cgroup2: /cg/cgroup.controllers: No such file or directory; "
                                  "cgroup1: /cg/cpuset/cpuset.cpus: No such file or directory");
    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "cgroup2", &err), -1);
    assert_string_equal(err.text, "cgroup2: /cg/cgroup.controllers: No such file or directory");
    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "cgroup3", &err), -1);
    assert_non_null(strstr(err.text, "cgroup3: no such way to enforce"));
    memset(long_root, 'x', sizeof(long_root) - 1);
    long_root[sizeof(long_root) - 1] = '\0';
    assert_int_equal(enforce_open(&enforce, &box->root, long_root, "dryrun", &err), -1);
}

static void test_lists_in_files(void **state)
{
    struct box *box = *state;
    struct cpus want = cpus_of("1,3"), now;
    struct berth_error err;
    char path[PATH_MAX];

    put(box, "cg/cpuset.cpus", "0\n");
    assert_int_equal(enforce_check_cpus(&box->root, "cg", "cpuset.cpus", &want, &err), -1);
    assert_string_equal(err.text, "cg/cpuset.cpus: is '0', not '1,3'");
    put(box, "cg/cpuset.cpus", "1,3\n");
    assert_int_equal(enforce_check_cpus(&box->root, "cg", "cpuset.cpus", &want, &err), 0);
    assert_int_equal(enforce_read_cpus(&box->root, "cg", "cpuset.cpus", &now, &err), 0);
    assert_true(cpus_equal(&now, &want));

    snprintf(path, sizeof(path), "%s/cg/deaf", box->dir);
    assert_int_equal(symlink("/cg/deaf", path), 0); /* a loop */
    assert_int_equal(enforce_check_cpus(&box->root, "cg", "deaf", &want, &err), -1);
    assert_string_equal(err.text, "cg/deaf: Too many levels of symbolic links");
}

static int count(struct enforce *enforce, const char *path, void *arg)
{
    size_t *n = arg;

    (void)enforce;
    assert_true(strncmp(path, "/cg/task_", strlen("/cg/task_")) == 0);
    return ++*n == 3 ? 7 : 0;
}

static void test_each_dir(void **state)
{
    struct box *box = *state;
    struct enforce enforce;
    size_t n = 0;

    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "dryrun", NULL), 0);
    make_dir(box, "cg/task_0");
    make_dir(box, "cg/other");
    make_dir(box, "cg/task_1");
    assert_int_equal(enforce_each_dir(&enforce, "/cg", "task_", count, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(enforce_each_dir(&enforce, "/cg", "task_", count, &n), 7);
    assert_int_equal(enforce_each_dir(&enforce, "/none", "task_", count, &n), 0);
    enforce_close(&enforce);
}

/* ---- the dry run ---- */

static void test_dryrun_reads_homes(void **state)
{
    struct box *box = *state;
    struct enforce_task task = {.pid = getpid()};
    struct enforce_step step = {.id = {1, 0}, .ntasks = 1, .task = &task};
    struct berth_error err = {""};
    struct enforce enforce;
    struct cpus mine;

    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "dryrun", &err), 0);
    assert_int_equal(enforce_get_affinity(0, &mine), 0);
    assert_int_equal(enforce.way->locate(&enforce, "n1", &step, &err), 0);
    assert_true(cpus_equal(&task.home, &mine));
    assert_true(cpus_equal(&step.step_home, &mine));
    assert_true(cpus_equal(&step.job_home, &mine));
    enforce_close(&enforce);
}

static void test_dryrun_takes_steps_that_are_not_there(void **state)
{
    struct box *box = *state;
    struct enforce_task task[2] = {{.pid = INT_MAX}, {.pid = INT_MAX}};
    struct enforce_step step = {.id = {1, 0}, .ntasks = 2, .task = task};
    struct cpus both = cpus_of("5,7");
    struct berth_error err = {""};
    struct enforce enforce;

    assert_int_equal(enforce_open(&enforce, &box->root, "/cg", "dryrun", &err), 0);
    assert_int_equal(enforce.way->locate(&enforce, "n1", &step, &err), -1);
    assert_string_equal(err.text, "task 2147483647: cannot read its affinity: No such process");
    task[0].home = task[0].cpus = cpus_of("5");
    task[1].home = task[1].cpus = cpus_of("7");
    assert_int_equal(enforce.way->locate(&enforce, "n1", &step, &err), 0);
    assert_true(cpus_equal(&step.job_home, &both));
    assert_int_equal(enforce.way->apply(&enforce, &step, &err), 0);
    assert_int_equal(enforce.way->restore(&enforce, &step, &err), 0);
    assert_null(enforce.way->clean);
    enforce_close(&enforce);
    assert_false(enforce_step_alive(&enforce, &step));
}

/* A program that waits in the kernel: its child borrows its memory (vfork), and goes on. */
static pid_t start_waiting(void)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (vfork() == 0)
        for (;;)
            pause();
    _exit(1);
}

/* Such a process is not moved, where the kernel would wait for its memory map. */
static void test_who_waits_in_the_kernel_is_not_moved(void **state)
{
    struct rootfs machine;
    struct enforce enforce = {.root = &machine};
    struct berth_error err = {""};
    pid_t waits = start_waiting();

    (void)state;
    assert_int_equal(rootfs_open(&machine, "/", NULL), 0);
    while (!process_waiting(&machine, waits))
        usleep(1000);
    assert_int_equal(enforce_may_move(&enforce, waits, &err), 0);
    enforce.rebinds = true;
    assert_int_equal(enforce_may_move(&enforce, getpid(), &err), 0);
    assert_int_equal(enforce_may_move(&enforce, waits, &err), -1);
    assert_non_null(strstr(err.text, "waits in the kernel"));
    kill(-waits, SIGKILL);
    assert_int_equal(waitpid(waits, NULL, 0), waits);
    assert_int_equal(enforce_may_move(&enforce, waits, &err), 0); /* it is gone */
    rootfs_close(&machine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_usable_way_is_taken),
        TEST(test_no_way_is_explained),
        TEST(test_lists_in_files),
        TEST(test_each_dir),
        TEST(test_dryrun_reads_homes),
        TEST(test_dryrun_takes_steps_that_are_not_there),
        TEST(test_who_waits_in_the_kernel_is_not_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
