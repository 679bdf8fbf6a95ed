/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_process_look - who a process is, by taskstats and by its status: both say the same as its
 * stat. */
#include "packer/system/process_look.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "packer/system/process.h"
#include "tests/unit/common/folder.h"

typedef int look_function(const struct rootfs *root, pid_t pid, struct process_look *look);

static look_function *const ways[] = {process_look, process_look_status};
static struct rootfs machine;

static int setup(void **state)
{
    (void)state;
    return rootfs_open(&machine, "/", NULL);
}

static int teardown(void **state)
{
    (void)state;
    rootfs_close(&machine);
    return 0;
}

static pid_t start_child(void)
{
    pid_t pid = fork();

    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_child(void **state)
{
    pid_t child = start_child();
    struct process_stat stat;

    (void)state;
    assert_int_equal(process_stat_get(&machine, child, &stat), 0);
    for (size_t i = 0; i < 2; i++) {
        struct process_look look;

        assert_int_equal(ways[i](&machine, child, &look), 0);
        assert_int_equal(look.parent, getpid());
        assert_false(look.exiting);
        assert_int_equal(look.threads, 1);
        assert_true(process_same(look.started, stat.started));
        assert_true(process_is(&machine, child, look.started));
    }
    assert_false(process_later(process_started(&machine, getpid()), stat.started));
    end_child(child);
}

/* One that nobody has waited for exits, and is there; then it is not. */
static void test_ended(void **state)
{
    pid_t child = start_child();
    siginfo_t info;

    (void)state;
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    for (size_t i = 0; i < 2; i++) {
        struct process_look look;

        assert_int_equal(ways[i](&machine, child, &look), 0);
        assert_true(look.exiting);
        assert_int_equal(look.threads, 1);
        assert_int_equal(look.parent, getpid());
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (size_t i = 0; i < 2; i++) {
        struct process_look look;

        errno = 0;
        assert_int_equal(ways[i](&machine, child, &look), -1);
        assert_true(errno == ESRCH || errno == ENOENT);
    }
    assert_int_equal(process_started(&machine, child), 0);
    assert_false(process_is(&machine, child, PROCESS_STARTED_UNKNOWN));
}

struct worker {
    pthread_mutex_t hold;
    int tid;
};

static void *rest(void *arg)
{
    struct worker *worker = arg;

    __atomic_store_n(&worker->tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&worker->hold);
    pthread_mutex_unlock(&worker->hold);
    return NULL;
}

static void test_threads(void **state)
{
    struct worker worker = {.hold = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;

    (void)state;
    pthread_mutex_lock(&worker.hold);
    assert_int_equal(pthread_create(&thread, NULL, rest, &worker), 0);
    while (!__atomic_load_n(&worker.tid, __ATOMIC_SEQ_CST))
        usleep(1000);
    for (size_t i = 0; i < 2; i++) {
        struct process_look all, one;

        assert_int_equal(ways[i](&machine, getpid(), &all), 0);
        assert_int_equal(ways[i](&machine, worker.tid, &one), 0);
        assert_int_equal(all.threads, 2);
        assert_int_equal(one.threads, 2);
        assert_int_equal(one.parent, getppid());
        assert_false(one.exiting);
        assert_true(process_is(&machine, worker.tid, one.started));
    }
    pthread_mutex_unlock(&worker.hold);
    pthread_join(thread, NULL);
}

/* Ticks are off by one; what cannot be compared may be the same. */
static void test_beginnings(void **state)
{
    uint64_t pidfd = PROCESS_STARTED_UNKNOWN | 700;

    (void)state;
    assert_true(process_same(500, 500) && process_same(500, 501) && process_same(501, 500));
    assert_false(process_same(500, 502) || process_same(502, 500));
    assert_true(process_later(502, 500));
    assert_false(process_later(501, 500) || process_later(500, 502));
    assert_true(process_same(pidfd, pidfd));
    assert_false(process_same(pidfd, pidfd + 1) || process_later(pidfd + 9, pidfd));
    assert_true(process_same(pidfd, 500) && process_same(PROCESS_STARTED_UNKNOWN, 500) &&
                process_same(pidfd, PROCESS_STARTED_UNKNOWN));
    assert_false(process_later(pidfd, 500));
    assert_true(process_began_by(pidfd, 0) && process_began_by(100, 3600));
    assert_false(process_began_by(UINT64_C(100000000), 1));
}

static void test_stopped(void **state)
{
    pid_t child = start_child();
    int status;

    (void)state;
    assert_false(process_stopped(&machine, child));
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(process_stopped(&machine, child));
    end_child(child);
    assert_false(process_stopped(&machine, child));
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* As getrusage(2) says it. */
static void test_cpu(void **state)
{
    double user_ns, system_ns, tick_s = 1. / (double)sysconf(_SC_CLK_TCK);
    struct rusage before, after;

    (void)state;
    while (clock() < CLOCKS_PER_SEC / 20)
        ;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(process_cpu(&machine, getpid(), &user_ns, &system_ns), 0);
    getrusage(RUSAGE_SELF, &after);
    assert_true(user_ns >= 0 && system_ns >= 0);
    assert_true((user_ns + system_ns) / 1e9 >=
                seconds(&before.ru_utime) + seconds(&before.ru_stime) - tick_s);
    assert_true((user_ns + system_ns) / 1e9 <=
                seconds(&after.ru_utime) + seconds(&after.ru_stime) + tick_s);
    assert_int_equal(process_cpu(&machine, 0x7ffffff, &user_ns, &system_ns), -1);
}

/* A recorded tree has a stat. */
static void test_recorded(void **state)
{
    char dir[] = "/tmp/test_process_look.XXXXXX";
    double user_ns, system_ns;
    struct process_look look;
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(dir));
    folder_put(dir, "proc/9/stat", "9 (x) T 77 9 9 0 -1 4 1 2 3 4 50 60 7 8 20 0 3 0 99 0 0\n");
    folder_put(dir, "proc/8/stat", "8 (x) Z 77 9 9 0 -1 0 1 2 3 4 50 60 7 8 20 0 1 0 99 0 0\n");
    assert_int_equal(rootfs_open(&root, dir, NULL), 0);
    assert_int_equal(process_look(&root, 9, &look), 0);
    assert_true(look.parent == 77 && look.started == 99 && look.exiting && look.threads == 3);
    assert_true(process_stopped(&root, 9) && process_is(&root, 9, 99));
    assert_int_equal(process_look(&root, 8, &look), 0);
    assert_true(look.exiting && look.threads == 1);
    assert_int_equal(process_cpu(&root, 9, &user_ns, &system_ns), 0);
    assert_true(user_ns > 0 && system_ns > user_ns);
    assert_int_equal(process_look(&root, 7, &look), -1);
    assert_int_equal(errno, ENOENT);
    rootfs_close(&root);
    assert_int_equal(folder_remove(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child),    cmocka_unit_test(test_ended),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_stopped),  cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_recorded),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
