/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_series - steps and strangers are found, and tasks told apart, in the cgroups of each series
 * of Slurm. The files are made ones; the tasks are real processes, and so is their affinity. */
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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/enforce/leaf_mark.h"
#include "packer/hand/ask.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/handed.h"
#include "tests/unit/common/slurm_tree.h"
#include "tests/unit/common/steps.h"

#define STEPD 2000000001 /* numbers that no process here has */
#define OTHER 2000000002
#define WHOLE_JOB UINT32_MAX

/* A step 7.0 of two tasks on CPU 0, which says the pids `said` of them. */
struct scene {
    struct slurm_tree tree;
    pid_t task[2];
    struct enforce_task said[2];
    struct enforce_step step;
    char seen[256];
};

static bool two_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

static pid_t fork_task(void)
{
    cpu_set_t zero;
    pid_t pid = fork();

    CPU_ZERO(&zero);
    CPU_SET(0, &zero);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    assert_int_equal(sched_setaffinity(pid, sizeof(zero), &zero), 0);
    return pid;
}

/* On a node of the step where its tasks have these numbers in the whole step. */
static void open_scene(struct scene *scene, const struct slurm_series *series, unsigned first)
{
    const struct wire_step_id id = {7, 0};

    memset(scene, 0, sizeof(*scene));
    slurm_tree_open(&scene->tree, series);
    handed_tell(&scene->tree.enforce, HANDED_ID, 0, NULL); /* of a job that has all CPUs */
    slurm_tree_job(&scene->tree, 7, "0\n");
    slurm_tree_step(&scene->tree, id, "0\n", STEPD);
    for (unsigned i = 0; i < 2; i++) {
        scene->task[i] = fork_task();
        scene->said[i].pid = scene->task[i];
        slurm_tree_task(
            &scene->tree, id,
            &(struct slurm_tree_task){
                .pid = scene->task[i], .parent = STEPD, .local = i, .global = first + i});
    }
    scene->step = (struct enforce_step){.id = id, .uid = 1000, .ntasks = 2, .task = scene->said};
}

static void close_scene(struct scene *scene)
{
    for (size_t i = 0; i < 2; i++)
        if (scene->task[i] > 0) {
            kill(scene->task[i], SIGKILL);
            waitpid(scene->task[i], NULL, 0);
        }
    slurm_tree_close(&scene->tree);
}

static int locate(struct scene *scene, struct berth_error *err)
{
    return scene->tree.enforce.way->locate(&scene->tree.enforce, "n1", &scene->step, err) < 0 ||
                   enforce_register(&scene->tree.enforce, &scene->step, err) < 0
               ? -1
               : 0;
}

static void must_locate(struct scene *scene)
{
    struct berth_error err;
    char path[512];

    if (locate(scene, &err) < 0)
        fail_msg("%s: %s", scene->tree.series->name, err.text);
    slurm_tree_path(&scene->tree, scene->step.id, path, sizeof(path));
    assert_string_equal(scene->step.leaf, path);
}

static void expect_cpus(const struct scene *scene, const char *below, const char *cpus)
{
    char text[64];

    slurm_tree_read(&scene->tree, scene->step.id, below, text, sizeof(text));
    if (strcmp(text, cpus) != 0)
        fail_msg("%s: %s: '%s', not '%s'", scene->tree.series->name, below, text, cpus);
}

#define EACH_SERIES(series)                                                                        \
    for (const struct slurm_series *series = slurm_series; series < slurm_series + slurm_series_n; \
         series++)

/* ---- jobs ---- */

static void see(const struct slurm_job *job, const struct cpus *cpus, void *arg)
{
    struct scene *scene = arg;
    size_t used = strlen(scene->seen);
    char text[64];

    assert_int_equal(cpus_format(cpus, text, sizeof(text)), 0);
    snprintf(scene->seen + used, sizeof(scene->seen) - used, "%u %s%s; ", job->job, text,
             slurm_job_lives(enforce_slurm(&scene->tree.enforce), job) ? "" : " dead");
}

static void assert_jobs(struct scene *scene, const char *first, const char *second)
{
    scene->seen[0] = '\0';
    scene->tree.enforce.way->jobs(enforce_slurm(&scene->tree.enforce), "n1", see, scene);
    if (!strstr(scene->seen, first) || !strstr(scene->seen, second) ||
        strlen(scene->seen) != strlen(first) + strlen(second))
        fail_msg("%s: '%s'", scene->tree.series->name, scene->seen);
}

/* F1, F8 */
static void test_jobs_of_others_are_seen(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct scene scene;

        open_scene(&scene, series, 0);
        slurm_tree_job(&scene.tree, 8, "4-5\n");
        slurm_tree_step(&scene.tree, (struct wire_step_id){8, WIRE_STEP_BATCH}, "4-5\n", OTHER);
        assert_jobs(&scene, "7 0; ", "8 4-5; ");
        slurm_tree_end(&scene.tree, 8);
        assert_jobs(&scene, "7 0; ", "8 4-5 dead; "); /* its number is remembered */
        close_scene(&scene);
    }
}

/* F1: nobody tells the number of a job whose slurmstepd has not named itself, or was killed. */
static void test_a_job_of_no_known_number_is_seen(void **state)
{
    const struct wire_step_id id = {9, 0};

    (void)state;
    EACH_SERIES(series)
    {
        struct scene scene;
        char path[512];
        uint32_t job;

        open_scene(&scene, series, 0);
        slurm_tree_job(&scene.tree, 9, "6\n");
        slurm_tree_step(&scene.tree, id, "6\n", 0);
        slurm_tree_path(&scene.tree, (struct wire_step_id){9, WHOLE_JOB}, path, sizeof(path));
        job = slurm_folders_job(enforce_slurm(&scene.tree.enforce), path + 0);
        if (series->sluid)
            assert_true(job >= SLURM_FOLDERS_UNKNOWN);
        else
            assert_int_equal(job, 9);
        scene.seen[0] = '\0';
        scene.tree.enforce.way->jobs(enforce_slurm(&scene.tree.enforce), "n1", see, &scene);
        assert_non_null(strstr(scene.seen, " 6 dead; "));
        slurm_tree_step(&scene.tree, id, "6\n", OTHER);
        assert_jobs(&scene, "7 0; ", "9 6; ");
        close_scene(&scene);
    }
}

/* F1: a job that berth looks after keeps its number when its slurmstepd is killed. */
static void test_a_registered_jobs_number_is_remembered(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct scene scene;
        struct slurm_job job;
        char path[512], procs[600];

        open_scene(&scene, series, 0);
        slurm_tree_path(&scene.tree, scene.step.id, path, sizeof(path));
        strcpy(scene.step.leaf, path); /* as a journal has it */
        snprintf(procs, sizeof(procs), "cg/%s/slurm/cgroup.procs", path);
        if (series->unified)
            folder_put(scene.tree.dir, procs, "");
        assert_true(
            slurm_job_of(enforce_slurm(&scene.tree.enforce), scene.step.id, scene.step.leaf, &job));
        assert_jobs(&scene, "7 0; ", "");
        close_scene(&scene);
    }
}

/* ---- steps ---- */

/* F1 */
static void test_a_step_is_found(void **state)
{
    struct cpus zero = cpus_of("0");

    (void)state;
    EACH_SERIES(series)
    {
        struct scene scene;

        open_scene(&scene, series, 0);
        must_locate(&scene);
        assert_true(cpus_equal(&scene.step.job_home, &zero));
        assert_true(cpus_equal(&scene.step.step_home, &zero));
        assert_true(cpus_equal(&scene.said[1].home, &zero));
        assert_int_equal(scene.step.stepd, STEPD);
        close_scene(&scene);
    }
}

/* Where it is in none, it is said where it is. */
static void test_a_step_without_a_folder(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct berth_error err;
        struct scene scene;

        open_scene(&scene, series, 0);
        scene.step.id.step = 3;
        assert_int_equal(locate(&scene, &err), -1);
        if (series->unified) {
            assert_non_null(strstr(err.text, "step 7.3 has no cgroup below /cg; its task "));
            assert_non_null(strstr(err.text, "/user/task_0"));
        } else
            assert_non_null(strstr(err.text, "which is not where its step is looked for"));
        close_scene(&scene);
    }
}

/* F4: on a second node tasks have other numbers in the whole step than on the node. */
static void test_each_task_of_a_second_node_has_its_cpus(void **state)
{
    (void)state;
    if (!two_cpus())
        skip();
    EACH_SERIES(series)
    {
        struct berth_error err;
        struct scene scene;

        if (!series->unified)
            continue;
        open_scene(&scene, series, 1);
        must_locate(&scene);
        scene.said[0].cpus = cpus_of("1");
        scene.said[1].cpus = cpus_of("0");
        if (scene.tree.enforce.way->apply(&scene.tree.enforce, &scene.step, &err) < 0)
            fail_msg("%s: %s", series->name, err.text);
        expect_cpus(&scene, "/user/cpuset.cpus", "0-1");
        expect_cpus(&scene,
                    series->global ? "/user/task_1/cpuset.cpus" : "/user/task_0/cpuset.cpus", "1");
        expect_cpus(&scene,
                    series->global ? "/user/task_2/cpuset.cpus" : "/user/task_1/cpuset.cpus", "0");
        assert_true(step_runs_on(scene.task[0], "1"));
        close_scene(&scene);
    }
}

/* F1: a lost journal. What Slurm gave stands on the folder, whatever that is called; a step that is
 * known keeps its place, its slurmstepd alive or not. */
static void test_what_no_journal_knows_is_given_back(void **state)
{
    (void)state;
    if (!two_cpus())
        skip();
    EACH_SERIES(series)
    {
        struct berth_error err = {""};
        struct scene scene;
        struct cpus marked;
        struct slurm_job job;
        char user[600], path[512];
        const char *file = series->unified ? "/user/cpuset.cpus" : "/cpuset.cpus";

        open_scene(&scene, series, 0);
        must_locate(&scene);
        slurm_tree_path(&scene.tree, scene.step.id, path, sizeof(path));
        snprintf(user, sizeof(user), "/cg/%s%s%s", series->unified ? "" : "cpuset/", path,
                 series->unified ? "/user" : "");
        marked = cpus_of("0");
        scene.step.job_home = cpus_of("0-1");
        assert_int_equal(enforce_register(&scene.tree.enforce, &scene.step, &err), 0);
        hand_ask_mark(scene.tree.enforce.hand, scene.step.id, &marked);
        if (!leaf_mark_get(&scene.tree.enforce, user, &marked)) {
            close_scene(&scene);
            print_message("this folder cannot be marked\n");
            skip();
        }
        folder_put(scene.tree.dir, strcat(user, "/cpuset.cpus") + 1, "0-1\n");
        slurm_tree_kill(&scene.tree, scene.step.id);
        slurm_job_of(enforce_slurm(&scene.tree.enforce), scene.step.id, scene.step.leaf, &job);
        assert_int_equal(leaf_mark_undo(&scene.tree.enforce, &scene.step.id, 1, &err), 0);
        expect_cpus(&scene, file, "0-1");
        assert_int_equal(leaf_mark_undo(&scene.tree.enforce, NULL, 0, &err), 1);
        expect_cpus(&scene, file, "0");
        assert_string_equal(err.text, "");
        close_scene(&scene);
    }
}

/* ---- tasks ---- */

/* Says pids of a PID namespace that the tasks have of their own, which others have outside. */
static void go_inside(struct scene *scene)
{
    const pid_t inner[2] = {11, 12};

    slurm_tree_stranger(&scene->tree, 2, 1, "kthreadd");
    for (unsigned i = 0; i < 2; i++) {
        slurm_tree_task(&scene->tree, scene->step.id,
                        &(struct slurm_tree_task){.pid = scene->task[i],
                                                  .parent = STEPD,
                                                  .inner = inner[i],
                                                  .local = i,
                                                  .global = i});
        slurm_tree_stranger(&scene->tree, inner[i], 2, "kthread");
        scene->said[i].pid = inner[i];
    }
}

/* F5 */
static void test_tasks_of_a_pid_namespace_are_found(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct scene scene;

        open_scene(&scene, series, 0);
        go_inside(&scene);
        must_locate(&scene);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(scene.said[i].pid, scene.task[i]);
        assert_int_equal(scene.step.stepd, STEPD);
        close_scene(&scene);
    }
}

/* F5: with ConstrainCores=no, where Slurm has no cpuset for the step (v1) or none with a list. */
static void test_tasks_of_a_pid_namespace_without_constraint(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct berth_error err;
        struct scene scene;

        open_scene(&scene, series, 0);
        go_inside(&scene);
        slurm_tree_unconfine(&scene.tree, scene.step.id);
        scene.step.stepd = getpid(); /* its affinity is asked for */
        if (locate(&scene, &err) < 0 && strcmp(err.text, "Slurm does not constrain cores here"))
            fail_msg("%s: %s", series->name, err.text);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(scene.said[i].pid, scene.task[i]);
        close_scene(&scene);
    }
}

/* F5: a process elsewhere that has the number is no task, and nobody is touched. */
static void test_a_stranger_is_no_task(void **state)
{
    (void)state;
    EACH_SERIES(series)
    for (int confined = 0; confined < 2; confined++) {
        struct berth_error err;
        struct scene scene;

        open_scene(&scene, series, 0);
        slurm_tree_stranger(&scene.tree, 13, 2, "kthread");
        if (!confined)
            slurm_tree_unconfine(&scene.tree, scene.step.id);
        scene.said[1].pid = 13;
        assert_int_equal(locate(&scene, &err), -1);
        assert_string_equal(err.text, "task 13: is no process of its step's cgroup");
        assert_int_equal(scene.said[1].pid, 13);
        close_scene(&scene);
    }
}

/* Who cannot be read, for want of descriptors, say, is not said to be a stranger. */
static void test_a_task_that_cannot_be_read_is_told(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        struct berth_error err;
        char path[PATH_MAX];
        struct scene scene;

        open_scene(&scene, series, 0);
        snprintf(path, sizeof(path), "%s/proc/%d/status", scene.tree.dir, (int)scene.task[1]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(locate(&scene, &err), -1);
        snprintf(path, sizeof(path), "cannot read process %d of the step: Is a directory",
                 (int)scene.task[1]);
        assert_string_equal(err.text, path);
        close_scene(&scene);
    }
}

/* F5: nor is one of another job whose step has the same number. */
static void test_another_jobs_task_is_no_task(void **state)
{
    (void)state;
    EACH_SERIES(series)
    {
        const struct wire_step_id other = {8, 0};
        struct berth_error err;
        struct scene scene;

        open_scene(&scene, series, 0);
        slurm_tree_job(&scene.tree, 8, "4\n");
        slurm_tree_step(&scene.tree, other, "4\n", OTHER);
        slurm_tree_task(&scene.tree, other, &(struct slurm_tree_task){.pid = 14, .parent = OTHER});
        scene.said[0].pid = 14;
        assert_int_equal(locate(&scene, &err), -1);
        assert_string_equal(err.text, "task 14: is no process of its step's cgroup");
        close_scene(&scene);
    }
}

#define test(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_jobs_of_others_are_seen),
        test(test_a_job_of_no_known_number_is_seen),
        test(test_a_registered_jobs_number_is_remembered),
        test(test_a_step_is_found),
        test(test_a_step_without_a_folder),
        test(test_each_task_of_a_second_node_has_its_cpus),
        test(test_what_no_journal_knows_is_given_back),
        test(test_tasks_of_a_pid_namespace_are_found),
        test(test_tasks_of_a_pid_namespace_without_constraint),
        test(test_a_stranger_is_no_task),
        test(test_a_task_that_cannot_be_read_is_told),
        test(test_another_jobs_task_is_no_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
