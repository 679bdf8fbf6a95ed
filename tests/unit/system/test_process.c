/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_proc_usage - /proc/PID/stat of this kernel and of recorded ones, and who answers when a
 * number is used again. */
#include "packer/system/process.h"
#include "packer/system/process_waiting.h"
#include "packer/system/process_look.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define REST                                                                                       \
    " 18446744073709551615 4194304 4238788 140727020025920 0 0 0 0 0 65538 1 0 0 17 1 0 0 0 0 0 "  \
    "6340112 6341364 26161152 140727020028567 140727020028591 140727020028591 140727020036067 0\n"

static double tick(void)
{
    return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static void test_parse(void **state)
{
    struct process_stat stat;

    (void)state;
    assert_int_equal(
        process_stat_parse(
            "4711 (solver) R 42 4711 42 34816 4711 4194304 1200 33 7 4 150 20 31 9 20 0 "
            "8 0 123456 2322432 555" REST,
            &stat),
        0);
    assert_false(stat.zombie);
    assert_int_equal(stat.parent, 42);
    assert_int_equal(stat.started, 123456);
    assert_true(stat.user_ns == 150 * tick() && stat.system_ns == 20 * tick());
    assert_true(stat.waited_user_ns == 31 * tick() && stat.waited_system_ns == 9 * tick());
    assert_true(stat.faults == 1207 && stat.waited_faults == 37);
    assert_true(stat.threads == 8);
    assert_true(stat.rss_bytes == 555.0 * (double)sysconf(_SC_PAGESIZE));
}

static void test_names(void **state)
{
    static const char *const names[] = {"a b", "x) R 1 2 3", ") Z 9", "", "(()", "\xff\n)"};
    char text[512];
    struct process_stat stat;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(text, sizeof(text),
                 "9 (%s) S 77 9 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 99 1000 10" REST, names[i]);
        assert_int_equal(process_stat_parse(text, &stat), 0);
        assert_int_equal(stat.parent, 77);
        assert_int_equal(stat.started, 99);
        assert_true(stat.threads == 3);
    }
}

static void test_zombie(void **state)
{
    struct process_stat stat;

    (void)state;
    assert_int_equal(process_stat_parse(
                         "9 (x) Z 77 9 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 0 0" REST, &stat),
                     0);
    assert_true(stat.zombie && stat.threads == 0 && stat.user_ns == 5 * tick());
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "1",
        "1 (x",
        "1 (x)",
        "1 (x) ",
        "1 (x) S",
        "1 (x) S 1 2 3 4 5 6 7 8 9",
        "1 (x) S a 9 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 99 1000 10",
    };
    struct process_stat stat;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(process_stat_parse(texts[i], &stat), -1);
}

static void test_self(void **state)
{
    struct rusage before, after;
    struct process_stat stat;
    struct rootfs root;
    int fd;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    fd = process_stat_open(&root, getpid());
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++) { /* the same descriptor, again and again */
        getrusage(RUSAGE_SELF, &before);
        assert_int_equal(process_stat_read(fd, &stat), 0);
        getrusage(RUSAGE_SELF, &after);
        assert_int_equal(stat.parent, getppid());
        assert_true(stat.threads == 1);
        assert_true(stat.faults >= (double)(before.ru_minflt + before.ru_majflt));
        assert_true(stat.faults <= (double)(after.ru_minflt + after.ru_majflt));
        assert_true(stat.user_ns <= (double)after.ru_utime.tv_sec * 1e9 +
                                        (double)after.ru_utime.tv_usec * 1e3 + tick());
    }
    close(fd);
    rootfs_close(&root);
}

static void test_who_it_is(void **state)
{
    struct process_stat stat;
    struct rootfs root;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    assert_int_equal(process_stat_get(&root, getpid(), &stat), 0);
    assert_false(stat.exiting);
    assert_int_equal(process_same(process_started(&root, getpid()), stat.started), true);
    assert_int_equal(process_uid(&root, getpid()), getuid());
    assert_int_equal(process_inner_pid(&root, getpid()), getpid());
    assert_int_equal(process_stat_get(&root, 0x7fffffff, &stat), -1);
    assert_int_equal(process_started(&root, 0x7fffffff), 0);
    assert_int_equal(process_uid(&root, 0x7fffffff), -1);
    assert_int_equal(process_inner_pid(&root, 0x7fffffff), 0);
    rootfs_close(&root);
}

/* A set-user-id program is its user's; a process in namespaces has a number in each of them. */
static void test_status(void **state)
{
    char dir[] = "/tmp/test_process.XXXXXX";
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(dir));
    folder_put(dir, "proc/9/status", "Name:\ta\\nUid:\t0\nUid:\t1001\t0\t0\t0\nNSpid:\t9\t30\t4\n");
    folder_put(dir, "proc/8/status", "Name:\tb\nUid:\t0\t1001\t0\t0\n");
    assert_int_equal(rootfs_open(&root, dir, NULL), 0);
    assert_int_equal(process_uid(&root, 9), 1001);
    assert_int_equal(process_inner_pid(&root, 9), 4);
    assert_int_equal(process_uid(&root, 8), 0);
    assert_int_equal(process_inner_pid(&root, 8), 8);
    rootfs_close(&root);
    assert_int_equal(folder_remove(dir), 0);
}

/* A descriptor outlives its process, and says so. */
static void test_gone(void **state)
{
    struct process_stat stat;
    struct rootfs root;
    pid_t pid = fork();
    int fd;

    (void)state;
    if (pid == 0)
        for (;;)
            pause();
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    fd = process_stat_open(&root, pid);
    assert_int_equal(process_stat_read(fd, &stat), 0);
    assert_int_equal(stat.parent, getpid());
    kill(pid, SIGKILL);
    while (process_stat_read(fd, &stat) == 0 && !stat.zombie)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(process_stat_read(fd, &stat), 0); /* until somebody has waited for it */
    waitpid(pid, NULL, 0);
    assert_int_equal(process_stat_read(fd, &stat), -1);
    assert_int_equal(process_stat_open(&root, pid), -1);
    close(fd);
    rootfs_close(&root);
}

/* ---- threads ---- */

static void test_waits(void **state)
{
    char folder[] = "/tmp/test_proc_usage.XXXXXX";
    struct process_waits waits;
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(folder));
    folder_put(folder, "proc/5/task/5/schedstat", "1000 200 3\n");
    folder_put(folder, "proc/5/task/5/status",
               "Name:\t\\nvoluntary_ctxt_switches:\t9\nvoluntary_ctxt_switches:\t40\n"
               "nonvoluntary_ctxt_switches:\t2\n");
    folder_put(folder, "proc/5/task/6/schedstat", "1 30 1\n");
    folder_put(folder, "proc/5/task/6/status",
               "voluntary:\t1\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t3\n");
    folder_put(folder, "proc/7/task/7/status", "Name:\tx\n"); /* this kernel knows neither */
    assert_int_equal(rootfs_open(&root, folder, NULL), 0);
    assert_int_equal(process_waits_read(&root, 5, &waits), 0);
    assert_true(waits.run_delay_known && waits.run_delay_ns == 230);
    assert_true(waits.switches_known && waits.voluntary == 41 && waits.involuntary == 5);
    assert_int_equal(process_waits_read(&root, 7, &waits), 0);
    assert_false(waits.run_delay_known || waits.switches_known);
    assert_int_equal(process_waits_read(&root, 8, &waits), -1);
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

/* Who waits for a disk, and who waits for a file server of FUSE, which can be interrupted. */
static void test_waiting(void **state)
{
    static const char *const kind[] = {"S", "D", "S", "S", "R"};
    static const char *const wchan[] = {"hrtimer_nanosleep", "0", "request_wait_answer",
                                        "__fuse_simple_request", "0"};
    static const bool waits[] = {false, true, true, true, false};
    char folder[] = "/tmp/test_proc_usage.XXXXXX", name[64], text[512];
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(rootfs_open(&root, folder, NULL), 0);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "proc/%d/task/%d/status", 10 + i, 20 + i);
        snprintf(text, sizeof(text), "Name:\t\\nState:\tD\nState:\t%s (what)\nPPid:\t1\n", kind[i]);
        folder_put(folder, name, text);
        snprintf(name, sizeof(name), "proc/%d/task/%d/wchan", 10 + i, 20 + i);
        folder_put(folder, name, wchan[i]);
        assert_int_equal(process_waiting(&root, 10 + i), waits[i]);
    }
    assert_false(process_waiting(&root, 99));
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_zombie), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_self),   cmocka_unit_test(test_gone),
        cmocka_unit_test(test_waits),  cmocka_unit_test(test_who_it_is),
        cmocka_unit_test(test_status), cmocka_unit_test(test_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
