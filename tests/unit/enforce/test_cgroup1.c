/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_enforce_cgroup1 - steps really moved, on this machine's own cpuset hierarchy (root, cgroup
 * v1, CPUs 0 and 1; skipped elsewhere), in a tree named like Slurm's that is the test's own and
 * goes away with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/clock.h"
#include "packer/enforce/enforce.h"
#include "packer/enforce/leaf_mark.h"
#include "packer/system/process.h"
#include "tests/unit/common/cpusets.h"
#include "tests/unit/common/handed.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/steps.h"

#define STEPS 2

struct one {
    struct step_processes run;
    struct enforce_task task[STEP_TASKS_MAX];
    struct enforce_step step;
    char leaf[256]; /* full path of Slurm's leaf */
    char own[256];  /* and of berth's, which may not be there */
};

struct box {
    struct rootfs root;
    struct enforce enforce;
    char node[32];
    int alone;             /* holds the lock on the hierarchy */
    struct one one[STEPS]; /* of jobs 900001 and 900002 */
};

#define NEED_CPUSETS()                                                                             \
    do {                                                                                           \
        if (!cpusets_usable()) {                                                                   \
            print_message("needs root, cgroup v1's cpusets and CPUs 0 and 1\n");                   \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- Slurm's part ---- */

static void start(struct box *box, size_t i, const char *job_cpus, const char *step_cpus, size_t n,
                  const unsigned *home, enum step_kind kind)
{
    struct one *one = &box->one[i];
    uint32_t job = 900001 + (uint32_t)i;
    char dir[256];

    snprintf(dir, sizeof(dir), CPUSET "/slurm_%s", box->node);
    cpuset_make(dir, "0-1");
    strcat(dir, "/uid_0");
    cpuset_make(dir, "0-1");
    snprintf(dir + strlen(dir), 32, "/job_%u", job);
    cpuset_make(dir, job_cpus);
    snprintf(one->leaf, sizeof(one->leaf), "%.200s/step_0", dir);
    cpuset_make(one->leaf, step_cpus);
    snprintf(one->own, sizeof(one->own), CPUSET "/%s/%u.0", box->enforce.tree, job);

    step_start(&one->run, one->leaf, n, home, kind);
    for (size_t t = 0; t < n; t++)
        one->task[t] = (struct enforce_task){.pid = one->run.task[t]};
    one->step = (struct enforce_step){.id = {job, 0}, .uid = 0, .ntasks = n, .task = one->task};
}

static void locate(struct box *box, size_t i)
{
    struct berth_error err = {""};

    if (enforce_cgroup1.locate(&box->enforce, box->node, &box->one[i].step, &err) < 0 ||
        enforce_register(&box->enforce, &box->one[i].step, &err) < 0)
        fail_msg("%s", err.text);
}

/* A step of one task, at home on `cpu`, that is all of its job. */
static void start_single(struct box *box, size_t i, unsigned cpu, enum step_kind kind)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", cpu);
    start(box, i, text, text, 1, &cpu, kind);
    locate(box, i);
}

static void place(struct box *box, size_t i, const char *cpus)
{
    struct berth_error err = {""};

    for (size_t t = 0; t < box->one[i].step.ntasks; t++)
        box->one[i].task[t].cpus = cpus_of(cpus);
    if (enforce_cgroup1.apply(&box->enforce, &box->one[i].step, &err) < 0)
        fail_msg("%s", err.text);
}

static void restore(struct box *box, size_t i)
{
    struct berth_error err = {""};

    if (enforce_cgroup1.restore(&box->enforce, &box->one[i].step, &err) < 0)
        fail_msg("%s", err.text);
}

/* ---- what holds ---- */

static void expect_cpus(const char *dir, const char *want)
{
    char path[PATH_MAX], text[64];

    snprintf(path, sizeof(path), "%s/cpuset.cpus", dir);
    file_line(path, text, sizeof(text));
    assert_string_equal(text, want);
}

static void expect_in(pid_t pid, const char *dir)
{
    char path[PATH_MAX];

    step_cpuset(pid, path, sizeof(path));
    assert_string_equal(path, dir + strlen(CPUSET));
}

/* All of task t is on these CPUs, in this cgroup. */
static void expect_task(const struct one *one, size_t t, const char *cpus, const char *dir)
{
    assert_true(step_runs_on(one->run.task[t], cpus));
    expect_in(one->run.task[t], dir);
    if (one->run.child[t] > 0) {
        assert_true(step_runs_on(one->run.child[t], cpus));
        expect_in(one->run.child[t], dir);
    }
}

static bool there(const char *dir)
{
    return access(dir, F_OK) == 0;
}

/* ---- the trees ---- */

/* What no journal knows is looked for in all trees that are named like Slurm's: another build's
 * test, at the same time on this machine, has the same jobs. Whoever comes second waits. */
static int be_alone(void)
{
    int fd = open(CPUSET, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    *state = box;
    box->root.fd = box->alone = -1;
    if (!cpusets_usable())
        return 0;
    box->alone = be_alone();
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    assert_int_equal(enforce_open(&box->enforce, &box->root, "/sys/fs/cgroup", "cgroup1", NULL), 0);
    snprintf(box->node, sizeof(box->node), "unittest%d", (int)getpid());
    snprintf(box->enforce.tree, sizeof(box->enforce.tree), "berth_unittest%d", (int)getpid());
    handed_tell(&box->enforce, HANDED_ID, 0, NULL); /* of a job that has all CPUs */
    return 0;
}

/* Cgroups are removed depth first; one that has just lost its last process may be busy for a
 * moment. */
static void remove_tree(const char *dir)
{
    char command[512];

    snprintf(command, sizeof(command),
             "for i in 1 2 3 4 5 6 7 8 9; do test -d '%s' || break;"
             " find '%s' -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.05; done",
             dir, dir);
    assert_int_equal(system(command), 0);
    assert_false(there(dir));
}

static int teardown(void **state)
{
    struct box *box = *state;
    char dir[256];

    for (size_t i = 0; i < STEPS; i++)
        step_stop(&box->one[i].run);
    if (box->root.fd >= 0) {
        snprintf(dir, sizeof(dir), CPUSET "/slurm_%s", box->node);
        remove_tree(dir);
        snprintf(dir, sizeof(dir), CPUSET "/%s", box->enforce.tree);
        remove_tree(dir);
    }
    enforce_close(&box->enforce);
    rootfs_close(&box->root);
    if (box->alone >= 0)
        close(box->alone);
    free(box);
    return 0;
}

/* ---- tests ---- */

static void test_locate(void **state)
{
    static const unsigned home[] = {1, 0};
    struct cpus zero = cpus_of("0"), one = cpus_of("1"), both = cpus_of("0-1");
    struct box *box = *state;
    struct enforce_step *step = &box->one[0].step;
    char name[600];

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 2, home, STEP_QUIET);
    locate(box, 0);
    snprintf(name, sizeof(name), CPUSET "/%s", step->leaf);
    assert_string_equal(name, box->one[0].leaf);
    assert_true(cpus_equal(&step->job_home, &both) && cpus_equal(&step->step_home, &both));
    assert_true(cpus_equal(&step->mems_home, &zero));
    assert_true(cpus_equal(&step->task[0].home, &one));
    assert_true(cpus_equal(&step->task[1].home, &zero));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(step->task[i].started,
                         process_started(&box->root, box->one[0].run.task[i]));
    assert_int_equal(step->stepd, box->one[0].run.stepd);
    assert_int_equal(step->stepd_started, process_started(&box->root, step->stepd));
}

static void test_inside_the_job_slurms_leaf_is_narrowed(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 1, home, STEP_QUIET);
    locate(box, 0);
    place(box, 0, "1");
    expect_task(one, 0, "1", one->leaf);
    expect_cpus(one->leaf, "1");
    assert_false(there(one->own));

    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
    expect_cpus(one->leaf, "0-1");
}

/* The journal is lost: what Slurm gave stands on its folder. */
static void test_what_no_journal_knows_is_given_back(void **state)
{
    struct box *box = *state;
    const struct wire_step_id known[] = {{900001, 0}, {900002, 0}};
    struct berth_error err = {""};
    struct cpus cpus;

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 1, (const unsigned[]){0}, STEP_QUIET);
    locate(box, 0);
    box->one[0].task[0].home = cpus_of("0-1");
    place(box, 0, "1");
    expect_cpus(box->one[0].leaf, "1");
    assert_int_equal(enforce_cgroup1.give_back(&box->enforce, known, 2, &err), 0);
    expect_cpus(box->one[0].leaf, "1");
    assert_int_equal(enforce_cgroup1.give_back(&box->enforce, known + 1, 1, &err), 1);
    assert_string_equal(err.text, "");
    expect_cpus(box->one[0].leaf, "0-1");
    expect_task(&box->one[0], 0, "0-1", box->one[0].leaf);
    assert_int_equal(enforce_cgroup1.give_back(&box->enforce, NULL, 0, &err), 0);
    assert_int_equal(enforce_register(&box->enforce, &box->one[0].step, &err), 0);
    place(box, 0, "1");
    restore(box, 0);
    assert_false(leaf_mark_get(&box->enforce, box->one[0].leaf, &cpus));
}

static void test_tasks_swap_inside_the_job(void **state)
{
    static const unsigned home[] = {0, 1};
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 2, home, STEP_QUIET);
    locate(box, 0);
    one->task[0].cpus = cpus_of("1");
    one->task[1].cpus = cpus_of("0");
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 0);
    expect_task(one, 0, "1", one->leaf);
    expect_task(one, 1, "0", one->leaf);
    expect_cpus(one->leaf, "0-1");
    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
    expect_task(one, 1, "1", one->leaf);
}

static void test_outside_the_job_berth_has_a_tree(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    char job[256];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    place(box, 0, "1");
    expect_task(one, 0, "1", one->own);
    expect_cpus(one->own, "1");
    expect_in(one->run.stepd, one->leaf);
    expect_cpus(one->leaf, "0");

    snprintf(job, sizeof(job), "%.200s/..", one->leaf);
    cpuset_set(job,
               "0"); /* what Slurm does for the job's next step: EBUSY if anybody were outside */

    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
    assert_false(there(one->own));
}

static void test_out_and_in_again(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start(box, 0, "0", "0", 1, home, STEP_QUIET);
    locate(box, 0);
    for (int i = 0; i < 3; i++) {
        place(box, 0, "1");
        expect_task(one, 0, "1", one->own);
        place(box, 0, "0-1");
        expect_task(one, 0, "0-1", one->own);
        place(box, 0, "0");
        expect_task(one, 0, "0", one->leaf);
        assert_false(there(one->own));
    }
}

static void test_two_jobs_swap(void **state)
{
    struct box *box = *state;

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    start_single(box, 1, 1, STEP_QUIET);
    place(box, 0, "1");
    place(box, 1, "0");
    expect_task(&box->one[0], 0, "1", box->one[0].own);
    expect_task(&box->one[1], 0, "0", box->one[1].own);
    restore(box, 0);
    expect_task(&box->one[1], 0, "0", box->one[1].own);
    restore(box, 1);
    for (size_t i = 0; i < STEPS; i++)
        expect_task(&box->one[i], 0, i ? "1" : "0", box->one[i].leaf);
}

static void test_orphans_come_along(void **state)
{
    static const unsigned home[] = {0, 0};
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start(box, 0, "0", "0", 2, home, STEP_ORPHAN);
    locate(box, 0);
    place(box, 0, "1");
    expect_task(one, 0, "1", one->own);
    expect_task(one, 1, "1", one->own);
    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
}

/* Of such a process the kernel moves all but the main thread, which stays listed where it was. */
static void test_a_main_thread_that_ended(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_HEADLESS);
    place(box, 0, "1");
    assert_true(step_runs_on(one->run.task[0], "1"));
    assert_true(there(one->own));
    assert_true(enforce_step_alive(&box->enforce, &one->step));
    restore(box, 0);
    assert_true(step_runs_on(one->run.task[0], "0"));
}

static void test_nobody_is_left_behind_by_forking(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    char path[300], text[64];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_FORKING);
    for (int round = 0; round < 10; round++) {
        place(box, 0, "1");
        expect_task(one, 0, "1", one->own);
        snprintf(path, sizeof(path), "%s/cgroup.procs", one->leaf);
        file_line(path, text, sizeof(text));
        assert_int_equal(atol(text), one->run.stepd); /* alone, or the first of several */
        place(box, 0, "0");
        expect_task(one, 0, "0", one->leaf);
    }
    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
}

/* Processes that are replaced by their children before they can be moved: the core that they stand
 * on is left all the same, and at once. */
static void test_a_core_is_vacated_under_forking(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    double began_s;

    NEED_CPUSETS();
    for (int home = 0; home < 2; home++) {
        start_single(box, 0, 0, STEP_CHAINS);
        place(box, 0, "1");
        step_let_fork(&one->run);
        began_s = clock_s();
        home ? restore(box, 0) : place(box, 0, "0");
        print_message("%s: %.3f s\n", home ? "home" : "inside its job", clock_s() - began_s);
        if (there(one->own))
            expect_cpus(one->own, "0");
        expect_task(one, 0, "0", one->leaf);
        step_stop(&one->run);
    }
}

/* Slurm 24.11 has task_N below the step; v1 refuses a parent smaller than its children. */
static void test_cgroups_below_the_leaf(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];
    char below[300], path[400], text[16];

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 1, home, STEP_QUIET);
    snprintf(below, sizeof(below), "%s/task_0", one->leaf);
    cpuset_make(below, "0-1");
    snprintf(path, sizeof(path), "%s/cgroup.procs", below);
    snprintf(text, sizeof(text), "%d", (int)one->run.task[0]);
    file_put(path, text);
    locate(box, 0);
    for (int i = 0; i < 2; i++) {
        place(box, 0, i ? "0" : "1");
        expect_cpus(one->leaf, i ? "0" : "1");
        expect_cpus(below, i ? "0" : "1");
        expect_in(one->run.task[0], below);
        assert_true(step_runs_on(one->run.child[0], i ? "0" : "1"));
    }
    restore(box, 0);
    expect_cpus(below, "0-1");
    assert_true(step_runs_on(one->run.task[0], "0"));
}

/* What stands is not touched: a program may bind its own threads. */
static void test_apply_again_changes_nothing(void **state)
{
    struct cpus narrow = cpus_of("1");
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    place(box, 0, "0-1");
    assert_int_equal(
        enforce_set_affinity(&box->enforce, one->step.id, one->run.child[0], &narrow, NULL), 0);
    place(box, 0, "0-1");
    assert_true(step_runs_on(one->run.task[0], "0-1"));
    assert_true(step_runs_on(one->run.child[0], "1"));
    place(box, 0, "0");
    expect_task(one, 0, "0", one->leaf);
}

static void test_what_strayed_is_brought_back(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    char path[300], text[16];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    place(box, 0, "1");
    snprintf(path, sizeof(path), "%s/cgroup.procs", one->leaf);
    snprintf(text, sizeof(text), "%d", (int)one->run.child[0]);
    file_put(path, text);
    place(box, 0, "1");
    expect_task(one, 0, "1", one->own);
}

/* Slurm has taken CPUs from the job: the kernel refuses the leaf, and the error says what and why.
 */
static void test_a_refusal_is_reported(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};
    char job[256];

    NEED_CPUSETS();
    start(box, 0, "0-1", "0", 1, home, STEP_QUIET);
    locate(box, 0);
    snprintf(job, sizeof(job), "%.200s/..", one->leaf);
    cpuset_set(job, "0");
    one->task[0].cpus = cpus_of("1");
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), -1);
    assert_non_null(strstr(err.text, "step_0/cpuset.cpus: cannot write '0-1': Permission denied"));
    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);

    one->task[0].cpus = cpus_of("");
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), -1);
    assert_string_equal(err.text, "no CPUs to stand on");
}

static void test_a_step_that_ended(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    place(box, 0, "1");
    assert_true(enforce_step_alive(&box->enforce, &one->step));
    step_end_tasks(&one->run);
    assert_false(enforce_step_alive(&box->enforce, &one->step)); /* slurmstepd does not count */
    restore(box, 0);
    step_stop(&one->run);
    remove_tree(one->leaf);
    restore(box, 0);
    assert_int_equal(enforce_cgroup1.clean(&box->enforce, NULL, 0, &err), 0);
    assert_false(there(one->own));
    one->task[0].cpus = cpus_of("0");
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), -1);
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, box->node, &one->step, &err), -1);
}

/* A process outlives the leaf: it goes to the job's cpuset. */
static void test_a_leaf_that_vanished(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    char path[300];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    place(box, 0, "1");
    snprintf(path, sizeof(path), "%d", (int)one->run.stepd);
    file_put(CPUSET "/cgroup.procs", path);
    remove_tree(one->leaf);
    restore(box, 0);
    *strrchr(one->leaf, '/') = '\0';
    expect_task(one, 0, "0", one->leaf);
    assert_false(there(one->own));
}

static void test_clean_after_a_crash(void **state)
{
    const struct wire_step_id known = {900002, 0};
    struct box *box = *state;
    struct berth_error err = {""};
    char tree[128];

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    start_single(box, 1, 1, STEP_QUIET);
    place(box, 0, "1");
    place(box, 1, "0");
    enforce_unregister(&box->enforce, box->one[0].step.id);
    assert_int_equal(enforce_cgroup1.clean(&box->enforce, &known, 1, &err), 0);
    expect_task(&box->one[0], 0, "0", box->one[0].leaf);
    assert_false(there(box->one[0].own));
    expect_task(&box->one[1], 0, "0", box->one[1].own);

    enforce_unregister(&box->enforce, known);
    assert_int_equal(enforce_cgroup1.clean(&box->enforce, NULL, 0, &err), 0);
    expect_task(&box->one[1], 0, "1", box->one[1].leaf);
    snprintf(tree, sizeof(tree), CPUSET "/%s", box->enforce.tree);
    assert_false(there(tree));
    assert_int_equal(enforce_cgroup1.clean(&box->enforce, NULL, 0, &err), 0);
}

/* ConstrainCores=no: Slurm has no cpuset for the step, only the affinity says what it gave. */
static void test_without_slurms_cpusets(void **state)
{
    static const unsigned home[] = {0};
    struct cpus both = cpus_of("0-1");
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start(box, 0, "0", "0", 1, home, STEP_QUIET);
    step_stop(&one->run);
    remove_tree(one->leaf);
    step_start(&one->run, NULL, 1, home, STEP_QUIET);
    one->task[0].pid = one->run.task[0];
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, box->node, &one->step, &err), -1);
    assert_non_null(strstr(err.text, "is no process of its step's cgroup")); /* nothing tells */
    step_give_title(&one->run, "slurmstepd: [900001.1]");
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, box->node, &one->step, &err), -1);
    step_give_title(&one->run, "slurmstepd: [900001.0]");
    locate(box, 0);
    assert_string_equal(one->step.leaf, "");
    assert_true(cpus_has(&one->step.job_home, 0) && cpus_count(&one->step.job_home) == 1);
    place(box, 0, "1");
    expect_task(one, 0, "1", one->own);
    assert_true(enforce_step_alive(&box->enforce, &one->step));
    place(box, 0, "0");
    expect_task(one, 0, "0", one->own);
    restore(box, 0);
    expect_task(one, 0, "0", CPUSET "/");
    assert_false(there(one->own));

    assert_int_equal(
        enforce_set_affinity(&box->enforce, one->step.id, one->run.task[0], &both, NULL), 0);
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, box->node, &one->step, &err), -1);
    assert_string_equal(err.text, "Slurm does not constrain cores here");
}

/* A step under another name than the node's is no step without cpusets. */
static void test_a_leaf_of_another_name(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, "elsewhere", &box->one[0].step, &err),
                     -1);
    assert_non_null(strstr(err.text, "uid_0/job_900001/step_0, which is not where"));
}

static void test_a_hierarchy_that_is_not_there(void **state)
{
    struct berth_error err = {""};
    struct rootfs root = {.fd = -1};
    struct enforce enforce;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    assert_int_equal(enforce_open(&enforce, &root, "/nowhere", "cgroup1", &err), -1);
    assert_string_equal(err.text,
                        "cgroup1: /nowhere/cpuset/cpuset.cpus: No such file or directory");
    rootfs_close(&root);
}

/* ---- what a step with many processes costs ---- */

static size_t opened;

char *__real_rootfs_read(const struct rootfs *root, const char *path);
char *__wrap_rootfs_read(const struct rootfs *root, const char *path);
char *__wrap_rootfs_read(const struct rootfs *root, const char *path)
{
    opened++;
    return __real_rootfs_read(root, path);
}

char **__real_rootfs_list(const struct rootfs *root, const char *path);
char **__wrap_rootfs_list(const struct rootfs *root, const char *path);
char **__wrap_rootfs_list(const struct rootfs *root, const char *path)
{
    opened++;
    return __real_rootfs_list(root, path);
}

char **__real_rootfs_list_folders(const struct rootfs *root, const char *path);
char **__wrap_rootfs_list_folders(const struct rootfs *root, const char *path);
char **__wrap_rootfs_list_folders(const struct rootfs *root, const char *path)
{
    opened++;
    return __real_rootfs_list_folders(root, path);
}

int __real_rootfs_openat(const struct rootfs *root, const char *path, int flags);
int __wrap_rootfs_openat(const struct rootfs *root, const char *path, int flags);
int __wrap_rootfs_openat(const struct rootfs *root, const char *path, int flags)
{
    opened++;
    return __real_rootfs_openat(root, path, flags);
}

int __real_process_look(const struct rootfs *root, pid_t pid, struct process_look *look);
int __wrap_process_look(const struct rootfs *root, pid_t pid, struct process_look *look);
int __wrap_process_look(const struct rootfs *root, pid_t pid, struct process_look *look)
{
    opened++;
    return __real_process_look(root, pid, look);
}

/* A task that stands on one core, with a tree below it, on another one than its home. */
static void start_tree(struct box *box)
{
    static const unsigned home[] = {0};

    start(box, 0, "0", "0", 1, home, STEP_TREE);
    locate(box, 0);
    place(box, 0, "1");
}

/* However deep the tree is, each process is read once a scan, and two scans will do; the hand reads
 * once whose each is that it changes. */
static void test_a_tree_is_read_twice_a_move(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];

    NEED_CPUSETS();
    start_tree(box);
    expect_task(one, 0, "1", one->own);
    opened = 0;
    place(box, 0, "0");
    assert_in_range(opened, STEP_TREE_SIZE, (2 + 1) * STEP_TREE_SIZE + 100);
    expect_task(one, 0, "0", one->leaf);
    opened = 0;
    place(box, 0, "1");
    assert_in_range(opened, STEP_TREE_SIZE, (2 + 1) * STEP_TREE_SIZE + 100);
    opened = 0;
    restore(box, 0);
    assert_in_range(opened, STEP_TREE_SIZE, (2 + 1) * STEP_TREE_SIZE + 100);
    expect_task(one, 0, "0", one->leaf);
}

struct heard {
    size_t n;
    struct wire_step_id id;
    enum enforce_where where;
    int rc;
};

static void hear(struct wire_step_id id, enum enforce_where where, int rc,
                 const struct berth_error *err, void *arg)
{
    struct heard *heard = arg;

    (void)err;
    *heard = (struct heard){heard->n + 1, id, where, rc};
}

/* Goes on, so many threads a turn. Returns how many turns it took. */
static size_t go_on(struct box *box, size_t looks, struct heard *heard)
{
    size_t turns = 0;
    bool more = true;

    *heard = (struct heard){0};
    for (; more; turns++) {
        enforce_pace(&box->enforce, looks, 60);
        opened = 0;
        more = enforce_turn(&box->enforce, hear, heard);
        assert_true(opened <= looks + 50);
    }
    return turns;
}

/* Where a step has more threads than may be looked at, its cpuset is what takes it off its core;
 * the rest is done in later turns, none of which looks at more. */
static void test_many_threads_are_for_later(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};
    struct heard heard;

    NEED_CPUSETS();
    start_tree(box);
    for (int home = 0; home < 2; home++) {
        place(box, 0, "1");
        one->task[0].cpus = cpus_of("0");
        enforce_pace(&box->enforce, 100, 60);
        opened = 0;
        assert_int_equal((home ? enforce_cgroup1.restore : enforce_cgroup1.apply)(&box->enforce,
                                                                                  &one->step, &err),
                         1);
        assert_true(opened < 200);
        expect_cpus(one->own, "0"); /* nobody of it runs on 1 any more */
        assert_true(step_runs_on(one->run.child[0], "0"));
        assert_true(
            enforce_settles(&box->enforce, one->step.id, home ? ENFORCE_HOME : ENFORCE_PLACE));
        assert_true(go_on(box, 100, &heard) > 10);
        assert_int_equal(heard.n, 1);
        assert_int_equal(heard.rc, 0);
        assert_int_equal(heard.where, home ? ENFORCE_HOME : ENFORCE_PLACE);
        assert_int_equal(heard.id.job, one->step.id.job);
        assert_false(enforce_settles(&box->enforce, one->step.id, heard.where));
        expect_task(one, 0, "0", one->leaf);
        assert_false(there(one->own));
        enforce_pace(&box->enforce, ENFORCE_ALL, 60);
    }
}

/* What was left for later is not done any more when the step goes elsewhere, or has ended. */
static void test_what_was_for_later_is_given_up(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};
    struct heard heard;

    NEED_CPUSETS();
    start_tree(box);
    one->task[0].cpus = cpus_of("0");
    enforce_pace(&box->enforce, 10, 60);
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 1);
    enforce_pace(&box->enforce, ENFORCE_ALL, 60);
    place(box, 0, "1");
    assert_false(enforce_settles(&box->enforce, one->step.id, ENFORCE_PLACE));
    expect_task(one, 0, "1", one->own);

    enforce_pace(&box->enforce, 10, 60);
    assert_int_equal(enforce_cgroup1.restore(&box->enforce, &one->step, &err), 1);
    assert_int_equal(enforce_cgroup1.clean(&box->enforce, NULL, 0, &err), 0);
    assert_true(there(one->own)); /* it is at home there, and on its way */
    step_stop(&one->run);
    go_on(box, 10, &heard);
    assert_int_equal(heard.n, 1);
    assert_int_equal(heard.rc, 0);
    assert_false(there(one->own));

    start_tree(box);
    one->task[0].cpus = cpus_of("0");
    enforce_pace(&box->enforce, 10, 60);
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 1);
    enforce_drop(&box->enforce);
    go_on(box, 10, &heard);
    assert_int_equal(heard.n, 0);
    enforce_pace(&box->enforce, ENFORCE_ALL, 60);
    restore(box, 0);
    expect_task(one, 0, "0", one->leaf);
}

/* From Linux 6.2 on a wider cpuset alone gives a thread nothing that its affinity forbids: one that
 * waits for its turn then stands inside its task's CPUs, as if it had narrowed itself. Its step is
 * applied again meanwhile where Slurm, or berth itself, has written the job's list. */
static void test_what_was_for_later_is_not_taken_for_done(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 1, home, STEP_QUIET);
    locate(box, 0);
    place(box, 0, "0");
    one->task[0].cpus = cpus_of("0-1");
    enforce_pace(&box->enforce, 0, 60);
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 1);
    enforce_pace(&box->enforce, ENFORCE_ALL, 60);
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 0);
    assert_false(enforce_settles(&box->enforce, one->step.id, ENFORCE_PLACE));
    assert_true(step_runs_on(one->run.task[0], "0-1"));
    assert_true(step_runs_on(one->run.child[0], "0-1"));
}

/* A berthd that was killed in between leaves the same, and the next one knows of no turn. */
static void test_what_a_killed_berthd_had_begun_is_set(void **state)
{
    static const unsigned home[] = {0};
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 1, home, STEP_QUIET);
    locate(box, 0);
    place(box, 0, "0");
    one->task[0].cpus = cpus_of("0-1");
    enforce_pace(&box->enforce, 0, 60);
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 1);
    enforce_drop(&box->enforce);
    enforce_pace(&box->enforce, ENFORCE_ALL, 60);
    box->enforce.anew = true;
    assert_int_equal(enforce_cgroup1.apply(&box->enforce, &one->step, &err), 0);
    assert_true(step_runs_on(one->run.task[0], "0-1"));
    assert_true(step_runs_on(one->run.child[0], "0-1"));
}

/* ---- whose numbers they are ---- */

static void test_a_task_in_its_own_pid_namespace(void **state)
{
    static const unsigned home[] = {0, 1};
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct process_stat stat;

    NEED_CPUSETS();
    start(box, 0, "0-1", "0-1", 2, home, STEP_INNER);
    for (size_t t = 0; t < 2; t++)
        assert_true(one->run.task[t] < 10); /* another process has that number here */
    locate(box, 0);
    for (size_t t = 0; t < 2; t++) {
        assert_int_equal(process_inner_pid(&box->root, one->task[t].pid), one->run.task[t]);
        assert_int_equal(process_stat_get(&box->root, one->task[t].pid, &stat), 0);
        assert_int_equal(stat.parent, one->run.stepd);
        assert_int_equal(stat.started, one->task[t].started);
        expect_in(one->task[t].pid, one->leaf);
    }
    place(box, 0, "1");
    for (size_t t = 0; t < 2; t++)
        assert_true(step_runs_on(one->task[t].pid, "1"));
    restore(box, 0);
    for (size_t t = 0; t < 2; t++)
        assert_true(step_runs_on(one->task[t].pid, t ? "1" : "0"));
}

static void test_a_stranger_is_no_task(void **state)
{
    struct box *box = *state;
    struct one *one = &box->one[0];
    struct berth_error err = {""};

    NEED_CPUSETS();
    start_single(box, 0, 0, STEP_QUIET);
    one->task[0].pid = getpid();
    assert_int_equal(enforce_cgroup1.locate(&box->enforce, box->node, &one->step, &err), -1);
    assert_non_null(strstr(err.text, "is no process of its step's cgroup"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_locate),
        TEST(test_inside_the_job_slurms_leaf_is_narrowed),
        TEST(test_what_no_journal_knows_is_given_back),
        TEST(test_tasks_swap_inside_the_job),
        TEST(test_outside_the_job_berth_has_a_tree),
        TEST(test_out_and_in_again),
        TEST(test_two_jobs_swap),
        TEST(test_orphans_come_along),
        TEST(test_a_main_thread_that_ended),
        TEST(test_nobody_is_left_behind_by_forking),
        TEST(test_a_core_is_vacated_under_forking),
        TEST(test_cgroups_below_the_leaf),
        TEST(test_apply_again_changes_nothing),
        TEST(test_what_strayed_is_brought_back),
        TEST(test_a_refusal_is_reported),
        TEST(test_a_step_that_ended),
        TEST(test_a_leaf_that_vanished),
        TEST(test_clean_after_a_crash),
        TEST(test_without_slurms_cpusets),
        TEST(test_a_leaf_of_another_name),
        TEST(test_a_hierarchy_that_is_not_there),
        TEST(test_a_tree_is_read_twice_a_move),
        TEST(test_many_threads_are_for_later),
        TEST(test_what_was_for_later_is_given_up),
        TEST(test_what_a_killed_berthd_had_begun_is_set),
        TEST(test_what_was_for_later_is_not_taken_for_done),
        TEST(test_a_task_in_its_own_pid_namespace),
        TEST(test_a_stranger_is_no_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
