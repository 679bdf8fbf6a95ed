/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_enforce_jobs - the jobs of a node and their CPUs, from trees as Slurm makes them. */
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
    strcpy(tree->dir, "/tmp/berth-unit-XXXXXX");
    assert_non_null(mkdtemp(tree->dir));
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

static void see(uint32_t job, const struct cpus *cpus, void *arg)
{
    struct tree *tree = arg;
    size_t used = strlen(tree->seen);
    char text[64];

    assert_int_equal(cpus_format(cpus, text, sizeof(text)), 0);
    snprintf(tree->seen + used, sizeof(tree->seen) - used, "%u %s; ", job, text);
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
    enforce_jobs_cgroup1(&tree->enforce, "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", "8 2; ", "4294967295 5; ", NULL});
}

static void test_cgroup1_plain(void **state)
{
    struct tree *tree = *state;

    put(tree, "cpuset/slurm/uid_1000/job_7", "0-3");
    enforce_jobs_cgroup1(&tree->enforce, "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", NULL});
}

static void test_cgroup2(void **state)
{
    struct tree *tree = *state;

    put(tree, "system.slice/n1_slurmstepd.scope/job_7", "0-3");
    put(tree, "system.slice/n1_slurmstepd.scope/job_7/step_0/user", "0");
    put(tree, "system.slice/n1_slurmstepd.scope/job_8", ""); /* not confined */
    put(tree, "system.slice/n2_slurmstepd.scope/job_9", "6");
    enforce_jobs_cgroup2(&tree->enforce, "n1", see, tree);
    assert_seen(tree, (const char *const[]){"7 0-3; ", "8 ; ", NULL});
}

static void test_nothing(void **state)
{
    struct tree *tree = *state;

    enforce_jobs_cgroup1(&tree->enforce, "n1", see, tree);
    enforce_jobs_cgroup2(&tree->enforce, "n1", see, tree);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
