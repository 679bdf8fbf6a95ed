/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_enforce_tasks - processes and threads of a step: real ones, and recorded /proc trees where
 * the format counts. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
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

struct box {
    struct rootfs root;
    struct enforce enforce;
    struct step_processes run;
    struct enforce_task task[STEP_TASKS_MAX];
    struct enforce_step step;
};

static const unsigned homes[] = {0, 1, 0};

static bool two_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

static void start(struct box *box, size_t n, enum step_kind kind)
{
    step_start(&box->run, NULL, n, homes, kind);
    for (size_t i = 0; i < n; i++)
        box->task[i].pid = box->run.task[i];
    box->step = (struct enforce_step){.id = {900001, 0}, .ntasks = n, .task = box->task};
    handed_tell(&box->enforce, box->step.id, n, box->run.task);
}

static long task_of(struct box *box, pid_t pid)
{
    struct process_table table;
    long task;

    process_table_open(&table, &box->root);
    task = enforce_task_of(&table, &box->step, pid);
    process_table_close(&table);
    return task;
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    assert_int_equal(enforce_open(&box->enforce, &box->root, "/sys/fs/cgroup", "dryrun", NULL), 0);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    step_stop(&box->run);
    enforce_close(&box->enforce);
    rootfs_close(&box->root);
    free(box);
    return 0;
}

static void test_affinity_of_every_thread(void **state)
{
    struct cpus zero = cpus_of("0"), one = cpus_of("1"), none = cpus_of(""), now;
    struct box *box = *state;
    struct berth_error err = {""};
    pid_t pid;

    if (!two_cpus()) {
        print_message("needs CPUs 0 and 1\n");
        skip();
    }
    start(box, 1, STEP_QUIET);
    pid = box->run.task[0];
    assert_int_equal(enforce_get_affinity(pid, &now), 0);
    assert_true(cpus_equal(&now, &zero));
    assert_int_equal(enforce_set_affinity(&box->enforce, box->step.id, pid, &one, &err), 0);
    assert_true(step_runs_on(pid, "1"));
    assert_true(step_runs_on(box->run.child[0], "0")); /* another process */

    assert_int_equal(enforce_set_affinity(&box->enforce, box->step.id, pid, &none, &err), -1);
    assert_non_null(strstr(err.text, "cannot set its affinity to : Invalid argument"));
    assert_true(step_runs_on(pid, "1"));
}

static void test_a_vanished_process(void **state)
{
    struct cpus zero = cpus_of("0"), now = cpus_of("3");
    struct box *box = *state;
    pid_t pid;

    start(box, 1, STEP_QUIET);
    pid = box->run.task[0];
    step_stop(&box->run);
    assert_int_equal(enforce_get_affinity(pid, &now), -1);
    assert_int_equal(errno, ESRCH);
    assert_true(cpus_has(&now, 3)); /* unchanged */
    assert_int_equal(enforce_set_affinity(&box->enforce, box->step.id, pid, &zero, NULL), 0);
    assert_int_equal(enforce_settle(&box->enforce, &box->step, ENFORCE_HOME, false, NULL), 0);
    assert_false(enforce_step_alive(&box->enforce, &box->step));
}

static void test_whose_a_process_is(void **state)
{
    struct box *box = *state;
    const struct step_processes *run = &box->run;

    start(box, 3, STEP_QUIET);
    enforce_know_tasks(&box->enforce, &box->step);
    assert_int_equal(box->step.stepd, geteuid() == 0 ? run->stepd : 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(task_of(box, run->task[i]), i);
        assert_int_equal(task_of(box, run->child[i]), i);
        assert_int_equal(box->task[i].started, process_started(&box->root, run->task[i]));
    }
    assert_int_equal(task_of(box, run->stepd), -1);
    assert_int_equal(task_of(box, 1), -1);
}

static void test_an_orphan_is_nobodys(void **state)
{
    struct box *box = *state;

    start(box, 2, STEP_ORPHAN);
    assert_int_equal(task_of(box, box->run.child[0]), -1);
    assert_int_equal(task_of(box, box->run.child[1]), -1);
}

static void test_processes_by_descent(void **state)
{
    struct box *box = *state;
    struct enforce_pids have = {0};

    start(box, 2, STEP_QUIET);
    assert_int_equal(enforce_step_pids(&box->enforce, &box->step, &have.pid, &have.n), 0);
    assert_int_equal(have.n, 4);
    for (size_t i = 0; i < 2; i++) {
        assert_true(enforce_pids_have(&have, box->run.task[i]));
        assert_true(enforce_pids_have(&have, box->run.child[i]));
    }
    assert_false(enforce_pids_have(&have, box->run.stepd));
    free(have.pid);
    assert_true(enforce_step_alive(&box->enforce, &box->step));
    step_end_tasks(&box->run);
    assert_false(enforce_step_alive(&box->enforce, &box->step));
}

static void test_settle_gives_each_task_its_own(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    if (!two_cpus()) {
        print_message("needs CPUs 0 and 1\n");
        skip();
    }
    start(box, 3, STEP_QUIET);
    box->task[0].cpus = cpus_of("1");
    box->task[1].cpus = cpus_of("0");
    box->task[2].cpus = cpus_of("0-1");
    for (size_t i = 0; i < 3; i++)
        box->task[i].home = cpus_of(homes[i] ? "1" : "0");
    assert_int_equal(enforce_settle(&box->enforce, &box->step, ENFORCE_PLACE, false, &err), 0);
    assert_true(step_runs_on(box->run.task[0], "1"));
    assert_true(step_runs_on(box->run.child[0], "1"));
    assert_true(step_runs_on(box->run.task[1], "0"));
    assert_true(step_runs_on(box->run.child[1], "0"));
    assert_true(step_runs_on(box->run.task[2], "0-1"));
    assert_int_equal(enforce_settle(&box->enforce, &box->step, ENFORCE_HOME, false, &err), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_true(step_runs_on(box->run.task[i], homes[i] ? "1" : "0"));
        assert_true(step_runs_on(box->run.child[i], homes[i] ? "1" : "0"));
    }
}

/* Puts both tasks there; are all their threads there then? */
static bool settles_on(struct box *box, const char *want)
{
    struct berth_error err = {""};

    box->task[0].cpus = box->task[1].cpus = cpus_of(want);
    assert_int_equal(enforce_settle(&box->enforce, &box->step, ENFORCE_PLACE, false, &err), 0);
    return step_runs_on(box->run.task[0], want) && step_runs_on(box->run.task[1], want);
}

/* A thread has the CPUs that its maker had when clone() began. On a busy machine clone() can stand
 * still for longer than all scans take; berthd's next look finds such a thread. That is seldom: two
 * rounds of twenty at most. */
static void test_settle_catches_what_is_born_meanwhile(void **state)
{
    struct box *box = *state;
    unsigned late = 0;
    const char *want;

    if (!two_cpus()) {
        print_message("needs CPUs 0 and 1\n");
        skip();
    }
    start(box, 2, STEP_FORKING);
    for (int round = 0; round < 20; round++) {
        want = round % 2 ? "0" : "1";
        if (!settles_on(box, want)) {
            late++;
            assert_true(settles_on(box, want));
        }
    }
    assert_in_range(late, 0, 2);
}

static void test_homes(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    struct cpus within = cpus_of("1");

    if (!two_cpus()) {
        print_message("needs CPUs 0 and 1\n");
        skip();
    }
    start(box, 2, STEP_QUIET);
    assert_int_equal(enforce_read_homes(&box->step, &within, &err), 0);
    assert_true(cpus_equal(&box->task[0].home, &within)); /* nothing in common: all of it */
    assert_true(cpus_equal(&box->task[1].home, &within));
    within = cpus_of("0-1");
    assert_int_equal(enforce_read_homes(&box->step, &within, &err), 0);
    assert_true(cpus_has(&box->task[0].home, 0) && cpus_count(&box->task[0].home) == 1);
    step_stop(&box->run);
    assert_int_equal(enforce_read_homes(&box->step, &within, &err), -1);
    assert_non_null(strstr(err.text, "cannot read its affinity: No such process"));
}

/* ---- recorded ---- */

struct recorded {
    int pid;
    const char *uid, *stat;
};

static void record(const char *dir, const struct recorded *process)
{
    char path[64], text[128];

    snprintf(path, sizeof(path), "proc/%d/stat", process->pid);
    folder_put(dir, path, process->stat);
    snprintf(path, sizeof(path), "proc/%d/status", process->pid);
    snprintf(text, sizeof(text), "Name:\tx\nUid:\t%s\t0\t0\t0\nNSpid:\t%d\n", process->uid,
             process->pid);
    folder_put(dir, path, text);
}

static const struct recorded processes[] = {
    {100, "0", "100 (slurmstepd) S 1 100 100 0 -1 0 1 2 3 4 500 600 700 800 20 0 1 0 7 0 0"},
    {101, "1001", "101 (slurmstepd) S 100 100 100 0 -1 0 1 2 3 4 1 2 3 4 20 0 1 0 8 0 0"},
    {102, "1001", "102 (a) R 1 (b) S 101 100 100 0 -1 0 1 2 3 4 10 20 30 40 20 0 1 0 9 0 0"},
    {104, "1001", "104 (slurmstepd) S 1 100 100 0 -1 0 1 2 3 4 0 0 0 0 20 0 1 0 9 0 0"},
    {103, "0", "103 odd"},
};

static void test_recorded_processes(void **state)
{
    struct enforce_task task = {.pid = 101};
    struct enforce_step step = {.ntasks = 1, .task = &task};
    struct enforce_pids pids = {0};
    struct box *box = *state;
    char dir[] = "/tmp/test_tasks.XXXXXX";

    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
        record(dir, &processes[i]);
    folder_put(dir, "cgroup.procs", "100\n101\n102\n104\n102000\n");
    folder_put(dir, "proc/101/task/101/children", "102 ");
    rootfs_close(&box->root);
    assert_int_equal(rootfs_open(&box->root, dir, NULL), 0);

    box->step = step;
    assert_int_equal(task_of(box, 102), 0);
    assert_int_equal(task_of(box, 103), -1); /* it cannot be read */

    enforce_know_tasks(&box->enforce, &step);
    assert_int_equal(task.started, 8);
    assert_int_equal(step.stepd, 100);
    assert_int_equal(step.stepd_started, 7);
    assert_int_equal(enforce_pids_cgroup(&box->root, &step, "", &pids), 0);
    assert_int_equal(pids.n, 4); /* slurmstepd is left out; others with its name are not */
    assert_int_equal(pids.pid[0], 101);
    assert_int_equal(pids.pid[1], 102);
    assert_int_equal(pids.pid[2], 104);
    pids.n = 0;
    step.stepd_started = 70; /* another process has its number */
    assert_int_equal(enforce_pids_cgroup(&box->root, &step, "", &pids), 0);
    assert_int_equal(pids.n, 5);
    pids.n = 0;
    assert_int_equal(enforce_pids_cgroup(&box->root, NULL, "/", &pids), 0);
    assert_int_equal(pids.n, 5);
    pids.n = 0;
    assert_int_equal(enforce_pids_cgroup(&box->root, NULL, "/none", &pids), 0);
    assert_int_equal(pids.n, 0);
    free(pids.pid);

    assert_true(enforce_step_alive(&box->enforce, &step));
    task.started = 5; /* a stranger has the task's number: he is not the step's */
    assert_false(enforce_step_alive(&box->enforce, &step));
    assert_int_equal(task_of(box, 101), -1);
    task.pid = 7;
    assert_false(enforce_step_alive(&box->enforce, &step));

    assert_int_equal(folder_remove(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_affinity_of_every_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_vanished_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_whose_a_process_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_orphan_is_nobodys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processes_by_descent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settle_gives_each_task_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settle_catches_what_is_born_meanwhile, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_homes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recorded_processes, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
