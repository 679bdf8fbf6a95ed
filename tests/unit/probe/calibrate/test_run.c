/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_run - a crew does what it is there for, on the CPUs that it may use, and comes
 * back without having got anywhere where it may not. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/calibrate/run.h"

#define BYTES ((size_t)1 << 20)

/* The CPU with that rank among those that this process may use, or -1. */
static int usable_cpu(int rank)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && rank-- == 0)
            return cpu;
    return -1;
}

static void *memory_of(size_t bytes)
{
    struct berth_error err = {""};
    void *memory = calibrate_memory(bytes, 0, false, &err);

    if (!memory)
        fail_msg("%s", err.text);
    return memory;
}

/* Two workers on one CPU are both counted; the triad leaves its sums behind. */
static void test_streams(void **state)
{
    char *memory = memory_of(2 * BYTES);
    double *a = (double *)(void *)(memory + BYTES);
    size_t n = BYTES / sizeof(double) / 3;
    struct calibrate_worker worker[] = {
        {.work = CALIBRATE_READ, .memory = memory, .bytes = BYTES},
        {.work = CALIBRATE_TRIAD, .memory = a, .bytes = BYTES},
    };
    struct berth_error err = {""};

    (void)state;
    worker[0].cpu = worker[1].cpu = (unsigned)usable_cpu(0);
    for (size_t i = 0; i < n; i++) {
        a[n + i] = (double)i;
        a[2 * n + i] = 2;
    }
    assert_int_equal(calibrate_run(worker, 2, 0.05, 0.1, &err), 0);
    assert_true(worker[0].rate > 0 && worker[1].rate > 0);
    for (size_t i = 0; i < 1000; i++)
        assert_true(a[i] == (double)i + 6);
    calibrate_memory_free(memory, 2 * BYTES);
}

/* Every line once, and then the first one again. */
static void test_chain(void **state)
{
    char *memory = memory_of(BYTES);
    size_t lines = BYTES / CALIBRATE_LINE_BYTES, next_door = 0;
    void **at = (void **)(void *)memory;
    struct calibrate_worker worker = {.work = CALIBRATE_CHASE, .memory = memory, .bytes = BYTES};
    struct berth_error err = {""};

    (void)state;
    calibrate_chain(memory, BYTES);
    for (size_t i = 1; i < lines; i++) {
        void **next = *at;

        next_door += (char *)next == (char *)at + CALIBRATE_LINE_BYTES;
        at = next;
        assert_ptr_not_equal(at, memory);
    }
    assert_ptr_equal(*at, memory);
    assert_true(next_door < 16); /* a prefetcher finds nothing in it */
    worker.cpu = (unsigned)usable_cpu(0);
    assert_int_equal(calibrate_run(&worker, 1, 0, 0.05, &err), 0);
    assert_true(worker.rate > 0);
    calibrate_memory_free(memory, BYTES);
}

static void test_ping_pong(void **state)
{
    _Alignas(128) unsigned word[32] = {0};
    struct calibrate_worker worker[] = {{.work = CALIBRATE_PING, .memory = word},
                                        {.work = CALIBRATE_PONG, .memory = word}};
    struct berth_error err = {""};

    (void)state;
    if (usable_cpu(1) < 0)
        skip(); /* two that wait for each other need two CPUs */
    worker[0].cpu = (unsigned)usable_cpu(0);
    worker[1].cpu = (unsigned)usable_cpu(1);
    assert_int_equal(calibrate_run(worker, 2, 0.02, 0.3, &err), 0);
    assert_true(worker[0].rate > 0 && worker[1].rate > 0);
    assert_true(word[0] > 0);
}

/* Two of one CPU take turns, and who waits sleeps: neither is kept from its end. */
static void test_give_take(void **state)
{
    _Alignas(128) unsigned word[32] = {0};
    struct calibrate_worker worker[] = {{.work = CALIBRATE_GIVE, .memory = word},
                                        {.work = CALIBRATE_TAKE, .memory = word}};
    struct berth_error err = {""};

    (void)state;
    worker[0].cpu = worker[1].cpu = (unsigned)usable_cpu(0);
    assert_int_equal(calibrate_run(worker, 2, 0.02, 0.3, &err), 0);
    assert_true(worker[0].rate > 0 && worker[1].rate > 0);
    assert_true(word[0] > 0);
}

/* One of the crew has no CPU: the others are sent home, and err says which. */
static void test_no_cpu(void **state)
{
    char *memory = memory_of(BYTES);
    struct calibrate_worker worker[] = {
        {.work = CALIBRATE_READ, .memory = memory, .bytes = BYTES},
        {.work = CALIBRATE_READ, .memory = memory, .bytes = BYTES, .cpu = 2047},
    };
    struct berth_error err = {""};

    (void)state;
    worker[0].cpu = (unsigned)usable_cpu(0);
    assert_int_equal(calibrate_run(worker, 2, 0, 10, &err), -1);
    assert_string_equal(err.text, "no thread on CPU 2047: Invalid argument");
    calibrate_memory_free(memory, BYTES);
}

static void test_no_memory(void **state)
{
    struct berth_error err = {""};

    (void)state;
    assert_null(calibrate_memory((size_t)1 << 62, 0, false, &err));
    assert_non_null(strstr(err.text, "MiB of memory: Cannot allocate memory"));
    assert_null(calibrate_memory(BYTES, 2000, true, &err));
    assert_non_null(strstr(err.text, "memory on NUMA node 2000: "));
    calibrate_memory_free(NULL, 0);
}

/* Who only adds is counted, and the clock is known where the kernel counts cycles. */
static void test_clock(void **state)
{
    struct calibrate_worker worker = {.work = CALIBRATE_SPIN, .cpu = (unsigned)usable_cpu(0)};
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(calibrate_run(&worker, 1, 0.01, 0.05, &err), 0);
    assert_true(worker.rate > 0);
    assert_true(isnan(worker.clock_ghz) || (worker.clock_ghz > 0.05 && worker.clock_ghz < 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),     cmocka_unit_test(test_streams),
        cmocka_unit_test(test_chain),     cmocka_unit_test(test_ping_pong),
        cmocka_unit_test(test_give_take), cmocka_unit_test(test_no_cpu),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
