/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_reporter - the child that times memory accesses: what it says, and that it is no burden. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/cpus.h"
#include "packer/interference/child.h"

#define LONG_MS 3000 /* for what is looked at while it works; it is killed then */

static unsigned a_cpu(void)
{
    struct cpus cpus;

    cpus_zero(&cpus);
    assert_true(sched_getaffinity(0, sizeof(cpus.word), (cpu_set_t *)cpus.word) > -1);
    return (unsigned)cpus_next(&cpus, 0);
}

static void wait_for(const struct probe_child *reporter, int ms)
{
    struct pollfd ended = {.fd = reporter->fd, .events = POLLIN};

    poll(&ended, 1, ms);
}

static void wait_gone(struct probe_child *reporter)
{
    while (!probe_child_gone(reporter))
        usleep(1000);
    assert_true(probe_child_gone(reporter)); /* and stays so */
}

static void test_bytes(void **state)
{
    static const struct {
        size_t llc, bytes;
    } cases[] = {{32u << 20, 16u << 20},
                 {0, 32u << 20},          /* nobody knows */
                 {1u << 20, 1u << 20},    /* tiny */
                 {512u << 20, 32u << 20}, /* more than can be written in time */
                 {(size_t)36608 << 10, 17u << 20}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(probe_child_bytes(cases[i].llc), cases[i].bytes);
}

/* The CPU of a test may be anybody's: tried until the reporter had it for itself. */
static void test_reports(void **state)
{
    const struct probe_child_task task = {.cpu = a_cpu(), .bytes = 1 << 20, .time_ms = 8};
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};
    int rc = -1;

    (void)state;
    for (int i = 0; rc < 0 && i < 100; i++) {
        assert_int_equal(probe_child_start(&reporter, &task, &err), 0);
        wait_for(&reporter, 10000);
        rc = probe_child_finish(&reporter, &result, &err);
        wait_gone(&reporter);
        if (rc < 0)
            usleep(20000); /* whoever was there may have gone then */
    }
    if (rc < 0) {
        print_message("no CPU to itself: %s\n", err.text);
        skip();
    }
    assert_true(result.access_ns > 0 && result.access_ns < 1000);
    assert_true(result.op_ns > 0 && result.op_ns < 100);
    assert_true(result.cpu_s > 0);
    assert_true(result.readings > 0);
    assert_int_equal(reporter.fd, -1);
}

static void test_ends_in_time(void **state)
{
    const struct probe_child_task task = {
        .cpu = a_cpu(), .bytes = PROBE_CHILD_BYTES_MAX, .time_ms = 1}; /* too little for so much */
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(probe_child_start(&reporter, &task, &err), 0);
    wait_for(&reporter, 10000);
    assert_int_equal(probe_child_finish(&reporter, &result, &err), -1);
    assert_non_null(strstr(err.text, "probe_time"));
    wait_gone(&reporter);
}

static void test_is_killed(void **state)
{
    const struct probe_child_task task = {.cpu = a_cpu(), .bytes = 1 << 20, .time_ms = LONG_MS};
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};
    pid_t pid;

    (void)state;
    assert_int_equal(probe_child_start(&reporter, &task, &err), 0);
    pid = reporter.pid;
    assert_int_equal(probe_child_finish(&reporter, &result, &err), -1);
    wait_gone(&reporter);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static void test_wrong_tasks(void **state)
{
    static const struct probe_child_task tasks[] = {
        {.cpu = CPUS_MAX, .bytes = 1 << 20, .time_ms = 1},
        {.cpu = 0, .bytes = 4096, .time_ms = 1},
        {.cpu = 0, .bytes = 1 << 20, .time_ms = 0}};
    const struct probe_child_task absent = {
        .cpu = CPUS_MAX - 1, .bytes = 1 << 20, .time_ms = LONG_MS};
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};

    (void)state;
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        assert_int_equal(probe_child_start(&reporter, &tasks[i], &err), -1);
    assert_int_equal(probe_child_start(&reporter, &absent, &err), 0);
    wait_for(&reporter, 10000);
    assert_int_equal(probe_child_finish(&reporter, &result, &err), -1);
    assert_non_null(strstr(err.text, strerror(EINVAL)));
    wait_gone(&reporter);
}

/* Try until it is so, or the reporter has ended. */
static bool while_at_work(const struct probe_child *reporter, bool (*is_so)(pid_t, int), int fd)
{
    struct pollfd ended = {.fd = reporter->fd, .events = POLLIN};

    while (poll(&ended, 1, 1) == 0)
        if (is_so(reporter->pid, fd))
            return true;
    return false;
}

static bool is_at_end(pid_t pid, int fd)
{
    char byte;

    (void)pid;
    return read(fd, &byte, 1) == 0;
}

static bool is_humble(pid_t pid, int fd)
{
    struct cpus cpus;

    (void)fd;
    cpus_zero(&cpus);
    return sched_getscheduler(pid) == SCHED_IDLE &&
           sched_getaffinity(pid, sizeof(cpus.word), (cpu_set_t *)cpus.word) > -1 &&
           cpus_count(&cpus) == 1 && cpus_has(&cpus, a_cpu());
}

static void test_holds_nothing_and_gives_way(void **state)
{
    const struct probe_child_task task = {.cpu = a_cpu(), .bytes = 1 << 20, .time_ms = LONG_MS};
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};
    int fd[2];

    (void)state;
    assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
    assert_int_equal(probe_child_start(&reporter, &task, &err), 0);
    close(fd[1]);
    assert_true(while_at_work(&reporter, is_at_end, fd[0])); /* it has closed what it inherited */
    assert_true(while_at_work(&reporter, is_humble, -1));
    probe_child_finish(&reporter, &result, &err);
    wait_gone(&reporter);
    close(fd[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_ends_in_time), cmocka_unit_test(test_is_killed),
        cmocka_unit_test(test_wrong_tasks),  cmocka_unit_test(test_holds_nothing_and_gives_way)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
