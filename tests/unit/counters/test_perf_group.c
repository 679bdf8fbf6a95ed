/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_group - events of a real cgroup on real CPUs (root; skipped elsewhere): counted where
 * the set is open, kept when it moves, and all closed when one cannot be opened. */
#include "packer/counters/perf_group.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/perf_box.h"
#include "tests/unit/common/steps.h"

struct box {
    struct rootfs root;
    struct perf_hierarchy hierarchy;
    struct perf_plan plan;
    char dir[512];
    int fd;
    pid_t pid; /* computes on CPU 0 */
};

static bool box_open(struct box *box, bool busy)
{
    char path[600], text[16];

    memset(box, 0, sizeof(*box));
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    if (!perf_box_usable(&box->root, &box->hierarchy)) {
        rootfs_close(&box->root);
        return false;
    }
    assert_int_equal(perf_plan_software(&box->plan, NULL), 0);
    snprintf(box->dir, sizeof(box->dir), "%s/berth-test-%d", box->hierarchy.mount, (int)getpid());
    assert_int_equal(mkdir(box->dir, 0755), 0);
    box->fd = open(box->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(box->fd >= 0);
    box->pid = perf_box_start(0, busy, false);
    snprintf(path, sizeof(path), "%s/cgroup.procs", box->dir);
    snprintf(text, sizeof(text), "%d", (int)box->pid);
    file_put(path, text);
    return true;
}

static void box_close(struct box *box)
{
    perf_box_stop(box->pid);
    close(box->fd);
    assert_int_equal(rmdir(box->dir), 0);
    rootfs_close(&box->root);
}

/* Read until an event has counted more than `above`. */
static double read_above(struct perf_set *set, size_t event, double above)
{
    struct perf_estimate estimate;
    struct berth_error err = {""};

    for (int i = 0; i < 1000; i++) {
        if (perf_set_read(set, &err) < 0)
            fail_msg("%s", err.text);
        perf_set_estimate(set, event, &estimate);
        if (estimate.value > above)
            return estimate.value;
        usleep(10000);
    }
    fail_msg("event %zu stays at %.0f", event, estimate.value);
    return 0;
}

static double value_of(const struct perf_set *set, size_t event)
{
    struct perf_estimate estimate;

    perf_set_estimate(set, event, &estimate);
    return estimate.value;
}

static void test_count(void **state)
{
    struct cpus cpu0 = cpus_of("0");
    struct perf_estimate estimate;
    struct berth_error err = {""};
    struct perf_set set;
    struct box box;
    size_t before;

    (void)state;
    if (!box_open(&box, true))
        skip();
    before = folder_count("/proc/self/fd");
    if (perf_set_open(&set, &box.plan, box.fd, &cpu0, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(set.n, 1);
    assert_int_equal(folder_count("/proc/self/fd"), before + PERF_SOFTWARE);
    read_above(&set, 0, 50e6); /* 50 ms of CPU time */
    perf_set_estimate(&set, 0, &estimate);
    assert_true(perf_estimate_known(&estimate));
    assert_true(estimate.variance == 0);
    perf_set_close(&set);
    assert_int_equal(folder_count("/proc/self/fd"), before);
    perf_set_close(&set);
    box_close(&box);
}

/* What it counted on a CPU is kept when the set leaves it; and it grows on when it is back. */
static void test_follow(void **state)
{
    struct cpus cpu0 = cpus_of("0"), none = cpus_of("");
    struct berth_error err = {""};
    struct perf_set set;
    struct box box;
    double before, kept;

    (void)state;
    if (!box_open(&box, true))
        skip();
    if (perf_set_open(&set, &box.plan, box.fd, &cpu0, &err) < 0)
        fail_msg("%s", err.text);
    before = read_above(&set, 0, 0);
    assert_int_equal(perf_set_follow(&set, &none, &err), 0);
    assert_int_equal(set.n, 0);
    kept = value_of(&set, 0);
    assert_true(kept >= before);
    assert_int_equal(perf_set_read(&set, &err), 0);
    usleep(20000);
    assert_true(value_of(&set, 0) == kept); /* it runs, but nowhere where it is counted */
    assert_int_equal(perf_set_follow(&set, &cpu0, &err), 0);
    read_above(&set, 0, kept);
    assert_int_equal(perf_set_follow(&set, &cpu0, &err), 0); /* nothing changes: nothing is lost */
    assert_true(value_of(&set, 0) > kept);
    perf_set_close(&set);
    box_close(&box);
}

/* By NUMA node, were CPU 1 of another one than CPU 0; also when the set has left both. */
static void test_by_node(void **state)
{
    struct cpus cpu0 = cpus_of("0"), none = cpus_of("");
    struct perf_estimate on[2], all;
    struct perf_set set;
    struct box box;

    (void)state;
    if (!box_open(&box, true))
        skip();
    for (size_t node = 0; node < 2; node++) {
        box.plan.nodes = 2;
        box.plan.node[0] = (unsigned char)node;
        assert_int_equal(perf_set_open(&set, &box.plan, box.fd, &cpu0, NULL), 0);
        read_above(&set, 0, 1e6);
        for (size_t left = 0; left < 2; left++) {
            perf_set_estimate_on(&set, 0, 0, &on[0]);
            perf_set_estimate_on(&set, 0, 1, &on[1]);
            perf_set_estimate(&set, 0, &all);
            assert_true(on[node].value == all.value && on[1 - node].value == 0);
            assert_int_equal(perf_set_follow(&set, &none, NULL), 0);
        }
        perf_set_close(&set);
    }
    box_close(&box);
}

/* A CPU that cannot be: an error, and the others are closed again. */
static void test_no_cpu(void **state)
{
    struct cpus far = cpus_of("0,2000");
    struct berth_error err = {""};
    struct perf_set set;
    struct box box;
    size_t before;

    (void)state;
    if (!box_open(&box, false))
        skip();
    before = folder_count("/proc/self/fd");
    assert_int_equal(perf_set_open(&set, &box.plan, box.fd, &far, &err), -1);
    assert_string_equal(err.text, "perf_event_open on CPU 2000: Invalid argument");
    assert_int_equal(folder_count("/proc/self/fd"), before);
    box_close(&box);
}

/* No more files: an error that says so, and none of them stays open. */
static void test_too_many_files(void **state)
{
    struct cpus cpu0 = cpus_of("0");
    struct berth_error err = {""};
    struct rlimit limit, low;
    struct perf_set set;
    struct box box;
    size_t before;
    int rc;

    (void)state;
    if (!box_open(&box, false))
        skip();
    before = folder_count("/proc/self/fd");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = (struct rlimit){(rlim_t)box.fd + 3, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    rc = perf_set_open(&set, &box.plan, box.fd, &cpu0, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(rc, -1);
    assert_string_equal(err.text, "perf_event_open on CPU 0: too many open files (LimitNOFILE= of "
                                  "berthd)");
    assert_int_equal(folder_count("/proc/self/fd"), before);
    assert_int_equal(set.n, 0);
    box_close(&box);
}

/* All of the cgroup has gone: its counts are still read. */
static void test_vanished(void **state)
{
    struct cpus cpu0 = cpus_of("0");
    struct berth_error err = {""};
    struct perf_set set;
    struct box box;
    double before;

    (void)state;
    if (!box_open(&box, true))
        skip();
    if (perf_set_open(&set, &box.plan, box.fd, &cpu0, &err) < 0)
        fail_msg("%s", err.text);
    before = read_above(&set, 0, 0);
    box_close(&box);
    assert_int_equal(perf_set_read(&set, &err), 0);
    assert_true(value_of(&set, 0) >= before);
    perf_set_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),    cmocka_unit_test(test_follow),
        cmocka_unit_test(test_no_cpu),   cmocka_unit_test(test_too_many_files),
        cmocka_unit_test(test_vanished), cmocka_unit_test(test_by_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
