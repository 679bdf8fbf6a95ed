/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ranks_look - ranks are the children of launchers, in a made-up /proc: who is one, where it
 * may run, and what the others have used. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/observe/ranks_look.h"
#include "tests/unit/common/folder.h"

struct scene {
    char folder[PATH_MAX];
    struct rootfs root;
    pid_t pid[32];
    size_t n;
};

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    folder_new(scene->folder, sizeof(scene->folder), "test-ranks");
    *state = scene;
    return rootfs_open(&scene->root, scene->folder, NULL);
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    rootfs_close(&scene->root);
    folder_remove(scene->folder);
    free(scene);
    return 0;
}

/* A process: its number is also when it began. It has used so many ticks, and waited for children
 * that used as many. */
static void process(struct scene *scene, int pid, int parent, const char *exe, const char *cpus,
                    int ticks, int waited)
{
    char path[PATH_MAX + 64], text[512];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text), "%d (a b) S %d 1 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0 0\n",
             pid, parent, ticks, waited, pid);
    folder_put(scene->folder, path, text);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    snprintf(text, sizeof(text), "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems:\t0\n",
             cpus);
    folder_put(scene->folder, path, text);
    if (exe[0] == '/') {
        snprintf(path, sizeof(path), "%s/proc/%d/exe", scene->folder, pid);
        assert_int_equal(symlink(exe, path), 0);
    } else {
        snprintf(path, sizeof(path), "proc/%d/comm", pid);
        snprintf(text, sizeof(text), "%s\n", exe);
        folder_put(scene->folder, path, text);
    }
    scene->pid[scene->n++] = pid;
}

static struct ranks_found *look(struct scene *scene)
{
    struct ranks_found *found = ranks_look(&scene->root, scene->pid, scene->n);

    assert_non_null(found);
    return found;
}

static void assert_rank(const struct ranks_found *found, size_t i, pid_t pid, const char *cpus)
{
    char text[CPUS_TEXT_MAX];

    assert_true(i < found->n);
    assert_int_equal(found->rank[i].pid, pid);
    assert_int_equal(found->rank[i].started, pid);
    cpus_format(&found->rank[i].cpus, text, sizeof(text));
    assert_string_equal(text, cpus);
}

/* mpirun of Open MPI in a batch script: it starts the ranks of its own node itself. */
static void test_mpirun(void **state)
{
    struct scene *scene = *state;
    struct ranks_found *found;
    double tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);

    process(scene, 104, 101, "/home/a/prog", "2", 100, 0);
    process(scene, 100, 1, "/usr/bin/bash", "0-3", 2, 3);
    process(scene, 101, 100, "/usr/bin/orterun", "0-3", 5, 1000);
    process(scene, 102, 101, "/home/a/prog", "1", 100, 0);
    process(scene, 105, 102, "/home/a/helper", "1", 100, 0);
    process(scene, 106, 101, "/usr/bin/srun", "0-3", 1, 0);  /* brings orted to another node */
    process(scene, 107, 101, "/usr/bin/orterun", "3", 0, 0); /* before exec */
    found = look(scene);
    assert_int_equal(found->n, 2);
    assert_rank(found, 0, 102, "1");
    assert_rank(found, 1, 104, "2");
    assert_string_equal(found->launcher, "orterun");
    assert_int_equal(found->calls.pin, WIRE_PIN_UNREAD); /* a recorded tree has no executables */
    assert_true(found->others_ns == 6 * tick_ns);
    free(found);
}

/* What runs on the other nodes, and MPICH's, of which only the names may be read; these are cut. */
static void test_proxies(void **state)
{
    struct scene *scene = *state;
    struct ranks_found *found;

    process(scene, 10, 1, "mpiexec.hydra", "0-7", 0, 0);
    process(scene, 11, 10, "hydra_bstrap_pr", "0-7", 0, 0);
    process(scene, 12, 11, "hydra_pmi_proxy", "0-7", 0, 0);
    process(scene, 13, 12, "solver", "0-3", 0, 0);
    process(scene, 20, 1, "/opt/ompi/bin/orted", "0-7", 0, 0);
    process(scene, 21, 20, "/opt/solver (deleted)", "4", 0, 0);
    found = look(scene);
    assert_int_equal(found->n, 2);
    assert_rank(found, 0, 13, "0-3");
    assert_rank(found, 1, 21, "4");
    assert_string_equal(found->launcher, "hydra_pmi_proxy");
    free(found);
}

static void test_none(void **state)
{
    struct scene *scene = *state;
    struct ranks_found *found = look(scene);

    assert_int_equal(found->n, 0);
    assert_string_equal(found->launcher, "");
    free(found);
    process(scene, 10, 1, "/usr/bin/bash", "0-7", 0, 0);
    process(scene, 11, 10, "/usr/bin/make", "0-7", 0, 0);
    scene->pid[scene->n++] = 12; /* it has gone */
    scene->pid[scene->n++] = 13;
    folder_put(scene->folder, "proc/13/stat", "13 (x) Z 10 1 1\n");
    found = look(scene);
    assert_int_equal(found->n, 0);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mpirun, setup, teardown),
        cmocka_unit_test_setup_teardown(test_proxies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
