/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_listed - a list of processes is good until somebody is born. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/enforce/listed.h"

static const struct enforce_step one = {
    .id = {1, 0}, .ntasks = 1, .task = (struct enforce_task[]){{.pid = 10}}};

static void test_remembered(void **state)
{
    struct enforce_task moved_task = {.pid = 11};
    struct enforce_step other = {.id = {2, 0}, .ntasks = 1, .task = one.task}, moved = one;
    struct listed *listed = listed_new();
    struct enforce_pids list = {0};
    const pid_t pid[] = {10, 12, 14};

    (void)state;
    moved.task = &moved_task;
    assert_false(listed_get(listed, &one, 100, &list));
    listed_put(listed, &one, 100, pid, 3);
    assert_true(listed_get(listed, &one, 100, &list));
    assert_int_equal(list.n, 3);
    assert_memory_equal(list.pid, pid, sizeof(pid));
    assert_false(listed_get(listed, &other, 100, &list)); /* another step's, */
    assert_false(listed_get(listed, &moved, 100, &list)); /* other tasks', */
    assert_false(listed_get(listed, &one, 101, &list));   /* before a birth, */
    assert_false(listed_get(listed, &one, 0, &list));     /* and nobody knows when */
    assert_int_equal(list.n, 3);
    listed_put(listed, &other, 101, pid, 1); /* what is older is of no use any more */
    assert_false(listed_get(listed, &one, 100, &list));
    listed_forget(listed);
    assert_false(listed_get(listed, &other, 101, &list));
    listed_free(listed);
    assert_false(listed_get(NULL, &one, 100, &list));
    listed_put(NULL, &one, 100, pid, 1);
    listed_free(NULL);
    free(list.pid);
}

/* On this machine: a child is seen at once, who has died is in the list until the next birth. */
static void test_births(void **state)
{
    struct enforce_task task = {.pid = getpid()};
    struct enforce_step step = {.id = {1, 0}, .ntasks = 1, .task = &task};
    struct enforce_pids list = {0};
    struct rootfs root;
    struct enforce enforce;
    struct berth_error err;
    pid_t child;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", &err), 0);
    assert_int_equal(enforce_open(&enforce, &root, "/sys/fs/cgroup", "dryrun", &err), 0);
    assert_int_equal(enforce_pids_descend(&enforce, &step, &list), 0);
    assert_int_equal(list.n, 1);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_int_equal(listed_newest(&root) >= child, true);
    list.n = 0;
    assert_int_equal(enforce_pids_descend(&enforce, &step, &list), 0);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.pid[1], child);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(enforce_step_alive(&enforce, &step));
    enforce_close(&enforce);
    rootfs_close(&root);
    free(list.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_births),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
