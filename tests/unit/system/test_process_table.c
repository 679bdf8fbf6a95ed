/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_process_table - who descends from whom, in recorded trees and in a real chain. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/process_table.h"
#include "tests/unit/common/folder.h"

struct box {
    char dir[32];
    struct rootfs root;
    struct process_table table;
    unsigned asked; /* how often a row was */
};

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "test_table");
    folder_put(box->dir, "proc/version", "Linux\n");
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    process_table_open(&box->table, &box->root);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    process_table_close(&box->table);
    rootfs_close(&box->root);
    folder_remove(box->dir);
    free(box);
    return 0;
}

static void record(const struct box *box, int pid, int parent, int started)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (a) b) S %d 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 %d 1000 10 0 0\n", pid,
             parent, started);
    folder_put(box->dir, path, text);
}

static void forget(const struct box *box, int pid)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/proc/%d/stat", box->dir, pid);
    assert_int_equal(unlink(path), 0);
}

/* Who has an even number below 100 owns what descends from him. */
static long claims(const struct process_row *row, void *arg)
{
    unsigned *asked = arg;

    ++*asked;
    return row->pid < 100 && row->pid % 2 == 0 ? row->pid : PROCESS_NOBODYS;
}

static long owner(struct box *box, int pid)
{
    return process_table_owner(&box->table, pid, claims, &box->asked);
}

static void test_owners(void **state)
{
    struct box *box = *state;

    record(box, 1, 0, 1);
    record(box, 10, 1, 5);
    record(box, 11, 10, 5);
    record(box, 12, 11, 6);
    record(box, 13, 12, 7);
    record(box, 15, 1, 7);
    assert_int_equal(owner(box, 13), 12); /* the nearest */
    assert_int_equal(owner(box, 12), 12);
    assert_int_equal(owner(box, 11), 10);
    assert_int_equal(owner(box, 15), PROCESS_NOBODYS);
    assert_int_equal(owner(box, 1), PROCESS_NOBODYS);
    assert_int_equal(owner(box, 99), PROCESS_NOBODYS); /* is not there */
}

/* A chain is as deep as it likes: each process is read once, and asked about once. */
static void test_a_chain_is_read_once(void **state)
{
    enum { LENGTH = 2000 };
    struct box *box = *state;

    record(box, 10, 1, 5);
    for (int i = 0; i < LENGTH; i++)
        record(box, 1001 + i, i ? 1000 + i : 10, 6);
    for (int i = LENGTH; i-- > 0;)
        assert_int_equal(owner(box, 1001 + i), 10);
    assert_int_equal(box->asked, LENGTH + 1);
    assert_int_equal(box->table.n, LENGTH + 1);
    forget(box, 1500);
    assert_non_null(process_table_get(&box->table, 1500)); /* as it was read */
}

/* The number of a parent that has ended may be another one's by now. */
static void test_a_parent_is_not_younger(void **state)
{
    struct box *box = *state;

    record(box, 10, 1, 500);
    record(box, 11, 10, 400);
    record(box, 13, 10, 500);
    assert_int_equal(owner(box, 11), PROCESS_NOBODYS);
    assert_int_equal(owner(box, 13), 10);
}

static void test_a_circle_ends(void **state)
{
    struct box *box = *state;

    record(box, 11, 13, 5);
    record(box, 13, 11, 5);
    record(box, 15, 15, 5);
    assert_int_equal(owner(box, 11), PROCESS_NOBODYS);
    assert_int_equal(owner(box, 13), PROCESS_NOBODYS);
    assert_int_equal(owner(box, 15), PROCESS_NOBODYS);
}

static void test_a_parent_that_has_gone(void **state)
{
    struct box *box = *state;

    record(box, 11, 10, 5);
    assert_int_equal(owner(box, 11), PROCESS_NOBODYS);
    assert_null(process_table_get(&box->table, 10));
    assert_int_equal(errno, ENOENT);
    record(box, 10, 1, 4);
    assert_non_null(process_table_get(&box->table, 10)); /* who is not there is not remembered */
}

static void test_many(void **state)
{
    struct box *box = *state;

    for (int pid = 1; pid <= 300; pid++)
        record(box, pid, pid - 1, pid);
    for (int pid = 1; pid <= 300; pid++)
        assert_non_null(process_table_get(&box->table, pid));
    assert_int_equal(box->table.n, 300);
    for (int pid = 1; pid <= 300; pid++)
        assert_int_equal(process_table_get(&box->table, pid)->look.started, pid);
    process_table_close(&box->table);
    assert_int_equal(box->table.n, 0);
}

/* Forks until `depth` processes stand below each other; the last one writes its number. */
static void chain(int out, int depth)
{
    pid_t pid;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (depth-- > 0 && fork() == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid = getpid();
    if (depth < 0 && write(out, &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
    pause();
    _exit(0);
}

static long is_child(const struct process_row *row, void *arg)
{
    return row->pid == *(pid_t *)arg ? 7 : PROCESS_NOBODYS;
}

static void test_real_processes(void **state)
{
    struct process_table table;
    struct rootfs root;
    pid_t child, last;
    int fd[2];

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    process_table_open(&table, &root);
    assert_int_equal(pipe(fd), 0);
    child = fork();
    if (child == 0)
        chain(fd[1], 40);
    assert_int_equal(read(fd[0], &last, sizeof(last)), sizeof(last));
    assert_int_equal(process_table_owner(&table, last, is_child, &child), 7);
    assert_int_equal(table.n, 41);
    assert_int_equal(process_table_owner(&table, getpid(), is_child, &child), PROCESS_NOBODYS);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    process_table_close(&table);
    rootfs_close(&root);
    close(fd[0]);
    close(fd[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_owners),
        TEST(test_a_chain_is_read_once),
        TEST(test_a_parent_is_not_younger),
        TEST(test_a_circle_ends),
        TEST(test_a_parent_that_has_gone),
        TEST(test_many),
        cmocka_unit_test(test_real_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
