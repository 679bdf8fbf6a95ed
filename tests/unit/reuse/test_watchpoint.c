/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_watchpoint - debug registers of a child that runs, for real: traps arrive with the exact
 * count of its page faults, which stand in for a PMU's cache misses; after so many the register is
 * free, and the child never notices. */
#include "packer/reuse/watchpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/faulter.h"

static const struct perf_event_attr faults = {.type = PERF_TYPE_SOFTWARE,
                                              .config = PERF_COUNT_SW_PAGE_FAULTS};
static struct faulter child;
static struct watch_clock count;

static uint64_t at(unsigned page)
{
    return (uint64_t)(uintptr_t)child.page[page];
}

static int set_up(void **state)
{
    (void)state;
    faulter_start(&child);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(faulter_stop(&child), 0); /* no signal has reached it */
    return 0;
}

static void watch(struct watchpoint *point, unsigned page, unsigned traps)
{
    struct berth_error err = {""};

    if (watch_clock_open(&count, &faults, child.pid, &err) < 0 ||
        watchpoint_open(point, &count, at(page), traps, &err) < 0) {
        print_message("no watchpoint can be set here: %s\n", err.text);
        skip();
    }
}

static void test_traps(void **state)
{
    struct watch_trap trap[2];
    struct watchpoint point;
    uint64_t before;

    (void)state;
    watch(&point, 3, 8);
    assert_int_equal(watch_clock_read(&count, &before), 0);
    assert_false(watchpoint_next(&point, &trap[0]));
    for (unsigned page = 0; page < 50; page++)
        faulter_miss(&child, page);
    for (unsigned page = 0; page < 10; page++)
        faulter_miss(&child, page);
    assert_true(watchpoint_next(&point, &trap[0]));
    assert_true(watchpoint_next(&point, &trap[1]));
    assert_int_equal(trap[0].count, before + 4); /* pages 0, 1, 2, and its own fault */
    assert_int_equal(trap[1].count, before + 54);
    assert_true(trap[1].time_ns > trap[0].time_ns);
    faulter_hit(&child, 3);
    assert_true(watchpoint_next(&point, &trap[1]));
    assert_int_equal(trap[1].count, before + 60); /* it did not fault again */
    assert_false(watchpoint_next(&point, &trap[0]));
    assert_false(watchpoint_over(&point));
    watchpoint_close(&point);
    watch_clock_close(&count);
}

static void test_bounded(void **state)
{
    struct watchpoint point;
    struct watch_trap trap;
    unsigned traps = 0;

    (void)state;
    watch(&point, 0, 3);
    for (int i = 0; i < 20; i++)
        faulter_hit(&child, 0);
    while (watchpoint_next(&point, &trap))
        traps++;
    assert_int_equal(traps, 3);
    watchpoint_close(&point);
    watch_clock_close(&count);
}

/* All watchpoints of a thread share its clock, and each of them is on its own. */
static void test_several(void **state)
{
    struct watchpoint point[16];
    struct berth_error err = {""};
    struct watch_trap trap;
    size_t n = 1;

    (void)state;
    watch(&point[0], 0, 1);
    while (n < 16 && watchpoint_open(&point[n], &count, at((unsigned)n), 1, &err) == 0)
        n++;
    if (n < 16)
        assert_string_equal(err.text, "perf_event_open of a watchpoint: no debug register is free");
    for (unsigned i = 0; i < n; i++)
        faulter_hit(&child, (unsigned)n - 1 - i);
    for (size_t i = 0; i < n; i++) {
        assert_true(watchpoint_next(&point[i], &trap));
        assert_false(watchpoint_next(&point[i], &trap));
        watchpoint_close(&point[i]);
    }
    assert_int_equal(watchpoint_open(&point[0], &count, at(1), 1, &err), 0); /* free again */
    watchpoint_close(&point[0]);
    watch_clock_close(&count);
}

static void test_over(void **state)
{
    struct watchpoint point;
    struct watch_clock gone;
    struct berth_error err;
    uint64_t before, after;

    (void)state;
    watch(&point, 0, 1);
    assert_int_equal(watch_clock_read(&count, &before), 0);
    faulter_miss(&child, 1);
    assert_int_equal(faulter_stop(&child), 0);
    assert_true(watchpoint_over(&point));
    assert_int_equal(watch_clock_read(&count, &after), 0);
    assert_true(after > before);
    assert_int_equal(watch_clock_open(&gone, &faults, child.pid, &err), -1);
    watchpoint_close(&point);
    watch_clock_close(&count);
    faulter_start(&child); /* for tear_down */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_traps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_over, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
