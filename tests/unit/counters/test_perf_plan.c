/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_plan - software events as one group, hardware events in as few as fit. The processor's
 * breakpoints stand in for a PMU: there are four of them (x86), and a fifth event finds none. */
#include "packer/counters/perf_plan.h"
#include "packer/system/perf_open.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

static long watched[8];

static struct perf_event_attr breakpoint(size_t i)
{
    return (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT,
                                    .size = sizeof(struct perf_event_attr),
                                    .bp_type = HW_BREAKPOINT_W,
                                    .bp_addr = (uint64_t)(uintptr_t)&watched[i],
                                    .bp_len = sizeof(long)};
}

static void software(struct perf_plan *plan)
{
    struct berth_error err = {""};

    if (perf_plan_software(plan, &err) < 0) {
        print_message("%s\n", err.text);
        skip();
    }
}

static void test_software(void **state)
{
    const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    struct perf_plan plan;

    (void)state;
    software(&plan);
    assert_int_equal(plan.n, PERF_SOFTWARE);
    assert_int_equal(plan.groups, 1);
    assert_int_equal(plan.first[0], 0);
    assert_int_equal(plan.first[1], PERF_SOFTWARE);
    for (size_t i = 0; i < plan.n; i++) {
        assert_int_equal(plan.event[i].read_format, PERF_FORMAT_GROUP | times);
        assert_int_equal(plan.event[i].disabled, i == 0);
        assert_int_equal(plan.event[i].exclude_kernel, 0);
    }
    assert_int_equal(perf_software[0], COUNTER_CPU_NS);
    assert_int_equal(plan.event[0].config, PERF_COUNT_SW_TASK_CLOCK);
}

static void test_usable(void **state)
{
    struct perf_event_attr good = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
                           bad = {.type = PERF_TYPE_SOFTWARE, .config = 4711};
    struct perf_plan plan;

    (void)state;
    software(&plan);
    assert_true(perf_plan_usable(&good, NULL));
    assert_false(perf_plan_usable(&bad, NULL));
    assert_int_equal(errno, ENOENT);
}

/* What an Arm PMU has is listed; of others nothing is known. */
static void test_listed(void **state)
{
    struct perf_event_attr instructions = {.type = PERF_TYPE_RAW, .config = 0x10008},
                           misses = {.type = PERF_TYPE_RAW, .config = 0x37},
                           cycles = {.type = PERF_TYPE_HARDWARE};
    char folder[] = "/tmp/test_perf_plan.XXXXXX";
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(rootfs_open(&root, folder, NULL), 0);
    assert_true(perf_plan_listed(&misses, &root));
    folder_put(folder, "sys/bus/event_source/devices/cpu/events/instructions", "event=0xc0\n");
    assert_true(perf_plan_listed(&misses, &root));
    folder_put(folder, "sys/bus/event_source/devices/armv8_pmuv3_0/events/sw_incr",
               "event=0x0000\n");
    folder_put(folder, "sys/bus/event_source/devices/armv8_pmuv3_0/events/inst_retired",
               "event=0x0008\n");
    assert_true(perf_plan_listed(&instructions, &root));
    assert_false(perf_plan_listed(&misses, &root));
    assert_false(perf_plan_usable(&misses, &root));
    assert_int_equal(errno, ENOENT);
    assert_true(perf_plan_listed(&cycles, &root));
    folder_put(folder, "sys/bus/event_source/devices/armv8_pmuv3_1/events/ll_cache_miss_rd",
               "event=0x0037\n");
    assert_true(perf_plan_listed(&misses, &root));
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

static void test_groups(void **state)
{
    struct perf_events events = {.n = 6};
    struct perf_event_attr last = breakpoint(4);
    struct perf_plan plan;
    int fd[4];

    (void)state;
    software(&plan);
    for (size_t i = 0; i < 6; i++)
        events.event[i] = breakpoint(i);
    for (size_t i = 0; i < 4; i++)
        if ((fd[i] = perf_open(&events.event[i], 0, -1, -1, 0)) < 0) {
            print_message("no breakpoints here: %s\n", strerror(errno));
            skip();
        }
    if (perf_plan_usable(&last, NULL)) {
        print_message("more than four breakpoints\n");
        skip();
    }
    for (size_t i = 0; i < 4; i++)
        close(fd[i]);
    perf_plan_hardware(&plan, &events);
    assert_int_equal(plan.n, PERF_SOFTWARE + 6);
    assert_int_equal(plan.groups, 3); /* software, four, two */
    assert_int_equal(plan.first[1], PERF_SOFTWARE);
    assert_int_equal(plan.first[2], PERF_SOFTWARE + 4);
    assert_int_equal(plan.first[3], PERF_SOFTWARE + 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(plan.event[perf_plan_index(i)].bp_addr, events.event[i].bp_addr);
        assert_int_equal(plan.event[perf_plan_index(i)].disabled, i == 0 || i == 4);
        assert_int_equal(plan.event[perf_plan_index(i)].exclude_hv, 1);
    }
}

static void test_none(void **state)
{
    struct perf_events events = {.n = 0};
    struct perf_plan plan;

    (void)state;
    software(&plan);
    perf_plan_hardware(&plan, &events);
    assert_int_equal(plan.groups, 1);
    assert_int_equal(plan.n, PERF_SOFTWARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_software), cmocka_unit_test(test_usable),
        cmocka_unit_test(test_listed),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
