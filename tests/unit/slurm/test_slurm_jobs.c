/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_jobs - the jobs of a node, their CPUs and steps, and who runs there, from trees as
 * Slurm makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "packer/enforce/enforce.h"
#include "tests/unit/common/folder.h"

/* A tree in a folder of its own; what was visited, as text: "7 0-3; 8 2; ". */
struct tree {
    char dir[64], seen[256];
    struct rootfs root;
    struct enforce enforce;
};

static int open_tree(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    assert_non_null(tree);
    folder_new(tree->dir, sizeof(tree->dir), "berth-unit");
    assert_int_equal(rootfs_open(&tree->root, tree->dir, NULL), 0);
    tree->enforce = (struct enforce){.root = &tree->root, .cgroup_root = "/cg"};
    *state = tree;
    return 0;
}

static int close_tree(void **state)
{
    struct tree *tree = *state;

    rootfs_close(&tree->root);
    folder_remove(tree->dir);
    free(tree);
    return 0;
}

/* Write a cgroup's cpuset.cpus, with all folders above it. */
static void put(struct tree *tree, const char *cgroup, const char *cpus)
{
    char path[512];

    snprintf(path, sizeof(path), "cg/%s/cpuset.cpus", cgroup);
    folder_put(tree->dir, path, cpus);
}

/* A process with that name and user, in that cgroup. */
static void put_process(struct tree *tree, const char *cgroup, int pid, const char *name, int uid)
{
    char path[512], text[128];

    snprintf(path, sizeof(path), "cg/%s/cgroup.procs", cgroup);
    snprintf(text, sizeof(text), "%d\n", pid);
    folder_put(tree->dir, path, text);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    snprintf(text, sizeof(text), "Name:\t%s\nState:\tS\nUid:\t%d\t%d\t%d\t%d\n", name, uid, uid,
             uid, uid);
    folder_put(tree->dir, path, text);
}

static void see(const struct slurm_job *job, const struct cpus *cpus, void *arg)
{
    struct tree *tree = arg;
    size_t used = strlen(tree->seen);
    char text[64];

    assert_int_equal(cpus_format(cpus, text, sizeof(text)), 0);
    snprintf(tree->seen + used, sizeof(tree->seen) - used, "%u %s; ", job->job, text);
}

/* The folders come in any order. */
static void assert_seen(const struct tree *tree, const char *const *jobs)
{
    size_t length = 0;

    for (; *jobs; jobs++) {
        if (!strstr(tree->seen, *jobs))
            fail_msg("no '%s' in '%s'", *jobs, tree->seen);
        length += strlen(*jobs);
    }
    assert_int_equal(strlen(tree->seen), length);
}

static void test_cgroup1(void **state)
{
    struct tree *tree = *state;

    put(tree, "cpuset/slurm_n1/uid_1000/job_7", "0-3");
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_0", "0");
    put(tree, "cpuset/slurm_n1/uid_1000/job_8", "2");
    put(tree, "cpuset/slurm_n1/uid_0/job_4294967295", "5");
    put(tree, "cpuset/slurm_n1/uid_0/job_4294967296", "6"); /* no job's number */
    put(tree, "cpuset/slurm_n1/uid_0/job_x", "6");
    put(tree, "cpuset/slurm_n1/uid_0/job_", "6");
    put(tree, "cpuset/slurm_n2/uid_0/job_9", "6"); /* another node's, on the same host */
    put(tree, "cpuset/berth/12.0", "6");
    slurm_jobs_cgroup1(enforce_slurm(&tree->enforce), "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", "8 2; ", "4294967295 5; ", NULL});
}

static void test_cgroup1_plain(void **state)
{
    struct tree *tree = *state;

    put(tree, "cpuset/slurm/uid_1000/job_7", "0-3");
    slurm_jobs_cgroup1(enforce_slurm(&tree->enforce), "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", NULL});
}

static void test_cgroup2(void **state)
{
    struct tree *tree = *state;

    put(tree, "system.slice/n1_slurmstepd.scope/job_7", "0-3");
    put(tree, "system.slice/n1_slurmstepd.scope/job_7/step_0/user", "0");
    put(tree, "system.slice/n1_slurmstepd.scope/job_8", ""); /* not confined */
    put(tree, "system.slice/n2_slurmstepd.scope/job_9", "6");
    slurm_jobs_cgroup2(enforce_slurm(&tree->enforce), "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", "8 ; ", NULL});
}

/* ---- who runs ---- */

static struct slurm_job job_of(const struct tree *tree, bool unified)
{
    struct slurm_job job = {.job = 7, .unified = unified};

    (void)tree;
    strcpy(job.dir, unified ? "/cg/system.slice/n1_slurmstepd.scope/job_7"
                            : "/cg/cpuset/slurm_n1/uid_1000/job_7");
    return job;
}

static void test_an_empty_job_does_not_live(void **state)
{
    struct tree *tree = *state;
    struct slurm_job job = job_of(tree, false);

    put(tree, "cpuset/slurm_n1/uid_1000/job_7", "0");
    folder_put(tree->dir, "cg/cpuset/slurm_n1/uid_1000/job_7/step_0/cgroup.procs", "");
    assert_false(slurm_job_lives(enforce_slurm(&tree->enforce), &job));
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_0/task_0", 10, "prog", 1000);
    assert_true(slurm_job_lives(enforce_slurm(&tree->enforce), &job));
}

static void test_an_empty_job_does_not_live_unified(void **state)
{
    struct tree *tree = *state;
    struct slurm_job job = job_of(tree, true);
    static const char events[] = "cg/system.slice/n1_slurmstepd.scope/job_7/cgroup.events";

    assert_false(slurm_job_lives(enforce_slurm(&tree->enforce), &job)); /* it has just gone */
    folder_put(tree->dir, events, "populated 0\nfrozen 0\n");
    assert_false(slurm_job_lives(enforce_slurm(&tree->enforce), &job));
    folder_put(tree->dir, events, "populated 1\nfrozen 0\n");
    assert_true(slurm_job_lives(enforce_slurm(&tree->enforce), &job));
}

/* "0 1; batch 3; ": the step, and what runs in it. */
static void see_step(const struct slurm_job *job, struct wire_step_id id, const char *dir,
                     void *arg)
{
    struct tree *tree = arg;
    size_t used = strlen(tree->seen);
    char name[WIRE_STEP_NAME_MAX], text[64];
    enum slurm_life life;
    struct cpus cpus;

    life = slurm_step_life(enforce_slurm(&tree->enforce), job, dir, &cpus);
    wire_step_name(id, name);
    assert_int_equal(cpus_format(&cpus, text, sizeof(text)), 0);
    snprintf(tree->seen + used, sizeof(tree->seen) - used, "%s %s %d; ", name, text, (int)life);
}

static void test_steps(void **state)
{
    struct tree *tree = *state;
    struct slurm_job job = job_of(tree, false);

    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_0", "0");
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_0", 10, "slurmstepd", 0);
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_1", "1");
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_1", 11, "slurmstepd", 1000);
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_2", "2");
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_2", 12, "prog", 0);
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_batch", "0-2");
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_batch", 13, "slurmstepd", 0);
    put_process(tree, "cpuset/slurm_n1/uid_1000/job_7/step_batch/task_0", 14, "bash", 1000);
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_3", "3"); /* left behind */
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_extern", "0-2");
    put(tree, "cpuset/slurm_n1/uid_1000/job_7/step_x", "0-2");
    slurm_job_steps(enforce_slurm(&tree->enforce), &job, see_step, tree);
    assert_seen(tree, (const char *const[]){"7.0 0 0; ", "7.1 1 1; ", "7.2 2 2; ",
                                            "7.batch 0-2 2; ", "7.3 3 0; ", NULL});
}

static void test_steps_unified(void **state)
{
    struct tree *tree = *state;
    struct slurm_job job = job_of(tree, true);
    const char *top = "system.slice/n1_slurmstepd.scope/job_7";
    char path[256];

    snprintf(path, sizeof(path), "%s/step_0/user", top);
    put(tree, path, "0");
    snprintf(path, sizeof(path), "%s/step_0/slurm", top);
    put_process(tree, path, 10, "slurmstepd", 0);
    snprintf(path, sizeof(path), "%s/step_1/user", top);
    put(tree, path, "1");
    snprintf(path, sizeof(path), "%s/step_1/user/task_0", top);
    put_process(tree, path, 11, "slurmstepd", 0); /* root's task, before its exec */
    snprintf(path, sizeof(path), "%s/step_2/user", top);
    put(tree, path, "");
    snprintf(path, sizeof(path), "cg/%s/step_2/user/cpuset.cpus.effective", top);
    folder_put(tree->dir, path, "2-3");
    snprintf(path, sizeof(path), "%s/step_2/user/task_0", top);
    put_process(tree, path, 12, "prog", 1000);
    slurm_job_steps(enforce_slurm(&tree->enforce), &job, see_step, tree);
    assert_seen(tree, (const char *const[]){"7.0 0 0; ", "7.1 1 1; ", "7.2 2-3 2; ", NULL});
}

static void test_nothing(void **state)
{
    struct tree *tree = *state;

    slurm_jobs_cgroup1(enforce_slurm(&tree->enforce), "n1", see, tree);
    slurm_jobs_cgroup2(enforce_slurm(&tree->enforce), "n1", see, tree);
    assert_string_equal(tree->seen, "");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_tree, close_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_cgroup1),
        test(test_cgroup1_plain),
        test(test_cgroup2),
        test(test_nothing),
        test(test_an_empty_job_does_not_live),
        test(test_an_empty_job_does_not_live_unified),
        test(test_steps),
        test(test_steps_unified),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
