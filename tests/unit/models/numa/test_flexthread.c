/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_flexthread - the paper's examples of section 6.6, and the counts against every smaller and
 * greater one. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/numa/flexthread.h"

/* The 32-core machine and streamcluster's 667 synchronisations per second (section 6.6.2). */
static const struct flexthread intel = {
    .cores_min = 8,
    .cores_max = 32,
    .imbalance = 0.05,
    .overhead = 0.05,
    .sync_hz = 667,
    .memory_ns = 200,
    .syscall_ns = 2000,
};

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12))
        fail_msg("%.15g, not %.15g", got, wanted);
}

/* Section 6.2: four threads on three cores take 2T/4 where T/3 is ideal. */
static void test_slowdown(void **state)
{
    (void)state;
    assert_near(flexthread_slowdown(4, 3), 0.5);
    assert_near(flexthread_slowdown(16, 3), 0.125);
    assert_near(flexthread_slowdown(128, 3), 129.0 / 128 - 1);
    assert_near(flexthread_slowdown(32, 28), 0.75);
    assert_near(flexthread_slowdown(12, 4), 0);
    assert_near(flexthread_slowdown(1, 8), 7);
}

/* Table 6.1 by eq. 6.5; its figures are those of the 48-core machine. */
static void test_slowdown_max(void **state)
{
    static const struct {
        size_t threads;
        double rounded;
    } row[] = {{128, 0.32}, {256, 0.15}, {512, 0.08}, {768, 0.05}, {1024, 0.03}};
    size_t worst;

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_true(fabs(flexthread_slowdown_max(row[i].threads, 1, 48, NULL) - row[i].rounded) <
                    0.008);
    assert_near(flexthread_slowdown_max(128, 1, 48, &worst), 0.3125);
    assert_int_equal(worst, 42);
    assert_near(flexthread_slowdown_max(6, 3, 4, &worst), 1.0 / 3);
    assert_int_equal(worst, 4);
    assert_near(flexthread_slowdown_max(4, 1, 2, &worst), 0);
    assert_int_equal(worst, 1);
}

/* The paper computes 272: 34 threads on each of 8 cores. */
static void test_max(void **state)
{
    struct flexthread wanted = intel;

    (void)state;
    assert_int_equal(flexthread_max(&wanted), 272);
    assert_true(flexthread_overhead(&wanted, 272, 8) < 0.05);
    assert_true(flexthread_overhead(&wanted, 273, 8) >= 0.05);
    wanted.sync_hz = 5e5; /* one synchronisation each takes more than the bound */
    assert_int_equal(flexthread_max(&wanted), 0);
    wanted.sync_hz = 0;
    assert_int_equal(flexthread_max(&wanted), FLEXTHREAD_THREADS_MAX);
    wanted = intel;
    wanted.sync_hz = 1e6, wanted.memory_ns = 5, wanted.syscall_ns = 5; /* exactly 5 times 0.01 */
    assert_int_equal(flexthread_max(&wanted), 4 * 8);
}

static void test_min(void **state)
{
    struct flexthread wanted = intel;

    (void)state;
    for (wanted.cores_min = 1; wanted.cores_min <= 8; wanted.cores_min += 7)
        for (wanted.imbalance = 0.01; wanted.imbalance < 3; wanted.imbalance *= 1.7) {
            size_t least = flexthread_min(&wanted);

            assert_true(flexthread_slowdown_max(least, wanted.cores_min, 32, NULL) <=
                        wanted.imbalance);
            for (size_t t = 1; t < least; t++)
                assert_true(flexthread_slowdown_max(t, wanted.cores_min, 32, NULL) >
                            wanted.imbalance);
        }
    wanted = (struct flexthread){.cores_min = 1, .cores_max = 6, .imbalance = 0};
    assert_int_equal(flexthread_min(&wanted), 60); /* their least common multiple */
    wanted.cores_max = 40;                         /* theirs has 16 digits */
    assert_int_equal(flexthread_min(&wanted), 0);
    wanted.cores_max = 1;
    assert_int_equal(flexthread_min(&wanted), 1);
}

/* Section 6.6.3 takes 256. */
static void test_count(void **state)
{
    struct flexthread wanted = intel;

    (void)state;
    assert_int_equal(flexthread_count(&wanted, FLEXTHREAD_NOISE), 256);
    assert_int_equal(flexthread_count(&wanted, 0), 270);
    wanted.imbalance = 0.08; /* both can be kept */
    assert_int_equal(flexthread_count(&wanted, FLEXTHREAD_NOISE), flexthread_min(&wanted));
    wanted.sync_hz = 5e5;
    assert_int_equal(flexthread_count(&wanted, FLEXTHREAD_NOISE), 0);
}

static double both(const struct flexthread *wanted, size_t threads)
{
    return flexthread_slowdown_max(threads, wanted->cores_min, wanted->cores_max, NULL) +
           flexthread_overhead(wanted, threads, wanted->cores_min);
}

/* The least sum of all counts, and the slowdown of the worst number of cores, one by one. */
static void test_least(void **state)
{
    (void)state;
    for (size_t cores = 2; cores <= 40; cores++)
        for (double hz = 100; hz < 1e5; hz *= 3) {
            struct flexthread wanted = intel;
            double least = INFINITY, worst = 0;
            size_t count, max;

            wanted.cores_min = 1, wanted.cores_max = cores, wanted.sync_hz = hz;
            max = flexthread_max(&wanted);
            if (max == 0 || flexthread_min(&wanted) <= max || max > 5000)
                continue;
            count = flexthread_count(&wanted, 0);
            for (size_t t = 1; t <= max; t++)
                least = fmin(least, both(&wanted, t));
            assert_near(both(&wanted, count), least);
            for (size_t c = 1; c <= cores; c++)
                worst = fmax(worst, flexthread_slowdown(count, c));
            assert_near(flexthread_slowdown_max(count, 1, cores, NULL), worst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slowdown), cmocka_unit_test(test_slowdown_max),
        cmocka_unit_test(test_max),      cmocka_unit_test(test_min),
        cmocka_unit_test(test_count),    cmocka_unit_test(test_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
