/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_taskstats - the kernel's answers are those of getrusage and schedstat, for one process and
 * for thousands, and who is gone is known to be. */
#include "packer/system/taskstats.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static int setup(void **state)
{
    struct taskstats_link *link = malloc(sizeof(*link));
    struct berth_error err = {""};

    *state = NULL;
    if (taskstats_open(link, &err) == 0) {
        *state = link;
        return 0;
    }
    print_message("%s\n", err.text);
    assert_int_equal(link->fd, -1);
    free(link);
    return 0;
}

static int teardown(void **state)
{
    struct taskstats_link *link = *state;

    if (!link)
        return 0;
    taskstats_close(link);
    assert_int_equal(link->fd, -1);
    free(link);
    return 0;
}

static struct taskstats_link *need(void **state)
{
    if (!*state)
        skip(); /* setup has said why */
    return *state;
}

static struct taskstats_usage read_one(struct taskstats_link *link, pid_t pid)
{
    struct taskstats_usage usage;
    struct berth_error err = {""};

    if (taskstats_read(link, &pid, 1, &usage, &err) < 0)
        fail_msg("%s", err.text);
    return usage;
}

static void nap(int times)
{
    for (int i = 0; i < times; i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

/* This process asks for itself: nothing happens between the two ways but a few switches. */
static void test_as_getrusage(void **state)
{
    struct taskstats_link *link = need(state);
    struct taskstats_usage usage;
    struct rusage before, after;

    nap(20);
    getrusage(RUSAGE_SELF, &before);
    usage = read_one(link, getpid());
    getrusage(RUSAGE_SELF, &after);
    assert_true(usage.known);
    assert_true(before.ru_nvcsw >= 20);
    assert_in_range(usage.voluntary, before.ru_nvcsw, after.ru_nvcsw);
    assert_in_range(usage.involuntary, before.ru_nivcsw, after.ru_nivcsw);
    assert_in_range(usage.switches, before.ru_nvcsw + before.ru_nivcsw,
                    after.ru_nvcsw + after.ru_nivcsw + 2); /* it is on a CPU now */
}

static void test_as_schedstat(void **state)
{
    struct taskstats_link *link = need(state);
    unsigned long long ran, delay, slices;
    struct taskstats_usage before, after;
    FILE *file;

    nap(20);
    file = fopen("/proc/self/schedstat", "r");
    if (!file) {
        print_message("this kernel has no schedstat\n");
        skip();
    }
    before = read_one(link, getpid());
    assert_int_equal(fscanf(file, "%llu %llu %llu", &ran, &delay, &slices), 3);
    fclose(file);
    after = read_one(link, getpid());
    assert_in_range(delay, before.run_delay_ns, after.run_delay_ns);
    assert_in_range(slices, before.switches, after.switches);
}

static void *thread(void *arg)
{
    (void)arg;
    nap(50);
    return NULL;
}

/* Threads that have ended stay in the sums that say so. */
static void test_ended_threads(void **state)
{
    struct taskstats_link *link = need(state);
    struct taskstats_usage before = read_one(link, getpid()), after;
    pthread_t id[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&id[i], NULL, thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(id[i], NULL);
    nap(1); /* the last one may still be on its way out */
    after = read_one(link, getpid());
    assert_true(after.switches >= before.switches + 4 * 50);
    assert_true(after.run_delay_ns >= before.run_delay_ns);
}

static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* The number of no process: none that has ended, which may be another's soon. */
static pid_t nobody(int i)
{
    FILE *file = fopen("/proc/sys/kernel/pid_max", "r");
    int max = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &max), 1);
    fclose(file);
    return max + i;
}

/* More than fit into one batch, every third of them nobody: answers go to whom they belong. */
static void test_many(void **state)
{
    enum { N = 2000 };
    struct taskstats_link *link = need(state);
    struct taskstats_usage usage[N];
    pid_t pid[N];

    for (int i = 0; i < N; i++)
        pid[i] = i % 3 ? sleeper() : nobody(i);
    for (int round = 0; round < 3; round++) {
        memset(usage, 0xff, sizeof(usage));
        assert_int_equal(taskstats_read(link, pid, N, usage, NULL), 0);
        for (int i = 0; i < N; i++) {
            assert_int_equal(usage[i].known, i % 3 != 0);
            assert_true(!usage[i].known || usage[i].switches < 1000);
        }
    }
    for (int i = 0; i < N; i++)
        if (i % 3) {
            kill(pid[i], SIGKILL);
            waitpid(pid[i], NULL, 0);
        }
    assert_int_equal(taskstats_read(link, pid, 0, NULL, NULL), 0);
}

/* What is refused says why. */
static void test_not_permitted(void **state)
{
    struct taskstats_link link;
    struct berth_error err = {""};
    int status;
    pid_t pid;

    (void)state;
    if (geteuid() != 0) {
        print_message("only root can give its rights away\n");
        skip();
    }
    pid = fork();
    if (pid == 0) {
        if (setuid(65534) < 0)
            _exit(2);
        _exit(taskstats_open(&link, &err) < 0 && strstr(err.text, "taskstats: ") && link.fd == -1 &&
                      !link.answers
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_as_getrusage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_as_schedstat, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ended_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test(test_not_permitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
