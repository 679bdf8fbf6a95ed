/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rates - each rate by hand from two samples, and what missing or falling counters leave. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packer/counters/rates.h"

/* Counter i counts 3 (i + 1) between the samples, so that each is told apart. */
static void two(struct counters_sample *earlier, struct counters_sample *later)
{
    *earlier = (struct counters_sample){.at_s = 100};
    *later = (struct counters_sample){.at_s = 102};
    for (int i = 0; i < COUNTERS; i++) {
        counters_set(earlier, i, 7);
        counters_set(later, i, 7 + 3.0 * (i + 1));
    }
}

static double rate(const struct phase_window *window, enum rate_id id)
{
    return window->y[id] / window->x[id];
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.15g, not %.15g", got, wanted);
}

static double count(enum counter counter)
{
    return 3.0 * (counter + 1);
}

static void test_each(void **state)
{
    struct counters_sample earlier, later;
    struct phase_window w;
    double instructions = count(COUNTER_INSTRUCTIONS), cycles = count(COUNTER_CYCLES);
    double misses = count(COUNTER_LLC_MISSES), accesses = count(COUNTER_LLC_ACCESSES);
    double local = count(COUNTER_READS_LOCAL), remote = count(COUNTER_READS_REMOTE);

    (void)state;
    two(&earlier, &later);
    rates_window(&earlier, &later, &w);
    assert_near(rate(&w, RATE_MISS_PMI), misses / instructions * 1e6);
    assert_near(rate(&w, RATE_ACCESS_PMI), accesses / instructions * 1e6);
    assert_near(rate(&w, RATE_MISS_RATIO), misses / accesses);
    assert_near(rate(&w, RATE_IPC), instructions / cycles);
    assert_near(rate(&w, RATE_STALLED), count(COUNTER_STALLS) / cycles);
    assert_near(rate(&w, RATE_REMOTE), remote / (local + remote));
    assert_near(rate(&w, RATE_INSTRUCTIONS), instructions / 2);
    assert_near(rate(&w, RATE_MISSES), misses / 2);
    assert_near(rate(&w, RATE_BYTES), count(COUNTER_BYTES) / 2);
    assert_near(rate(&w, RATE_CPU), count(COUNTER_CPU_NS) / 2e9);
    assert_near(rate(&w, RATE_USER), count(COUNTER_USER_NS) / 2e9);
    assert_near(rate(&w, RATE_SYSTEM), count(COUNTER_SYSTEM_NS) / 2e9);
    assert_near(rate(&w, RATE_RUN_DELAY), count(COUNTER_RUN_DELAY_NS) / 2e9);
    assert_near(rate(&w, RATE_LOCK_WAIT), count(COUNTER_LOCK_WAIT_NS) / 2e9);
    assert_near(rate(&w, RATE_VOLUNTARY), count(COUNTER_VOLUNTARY) / 2);
    assert_near(rate(&w, RATE_INVOLUNTARY), count(COUNTER_INVOLUNTARY) / 2);
    assert_near(rate(&w, RATE_MIGRATIONS), count(COUNTER_MIGRATIONS) / 2);
    assert_near(rate(&w, RATE_FAULTS), count(COUNTER_FAULTS) / 2);
    assert_near(rate(&w, RATE_SWITCHES), count(COUNTER_SWITCHES) / 2);
    assert_near(rate(&w, RATE_CYCLES_PMI), cycles / instructions * 1e6);
    assert_near(rate(&w, RATE_STALLS_PMI), count(COUNTER_STALLS) / instructions * 1e6);
    assert_near(rate(&w, RATE_REMOTE_PMI), remote / instructions * 1e6);
    assert_near(rate(&w, RATE_CORE_SPEED), instructions / (count(COUNTER_CPU_NS) / 1e9));
    assert_near(rate(&w, RATE_OCCUPANCY), 7 + count(COUNTER_OCCUPANCY_BYTES));
    assert_near(rate(&w, RATE_RSS), 7 + count(COUNTER_RSS_BYTES));
    assert_near(rate(&w, RATE_THREADS), 7 + count(COUNTER_THREADS));
}

static bool seen(const struct phase_window *window, enum rate_id id)
{
    struct rate rate = {0};

    rate_add(&rate, window->x[id], window->y[id]);
    return rate.n > 0;
}

/* One counter less: just its own rates go. */
static void test_missing(void **state)
{
    struct counters_sample earlier, later;
    struct phase_window w;

    (void)state;
    for (int side = 0; side < 3; side++) {
        two(&earlier, &later);
        if (side == 0)
            later.known &= ~(1u << COUNTER_LLC_MISSES);
        else if (side == 1)
            earlier.known &= ~(1u << COUNTER_LLC_MISSES);
        else
            later.value[COUNTER_LLC_MISSES] = 6; /* it fell */
        rates_window(&earlier, &later, &w);
        for (int i = 0; i < RATES; i++)
            assert_int_equal(seen(&w, i),
                             i != RATE_MISS_PMI && i != RATE_MISS_RATIO && i != RATE_MISSES);
    }
}

/* A gauge needs no earlier reading, and may fall. A step that did nothing has no rate per
 * instruction, but one per second. */
static void test_gauges_and_idleness(void **state)
{
    struct counters_sample earlier, later;
    struct phase_window w;

    (void)state;
    two(&earlier, &later);
    earlier.known &= ~(1u << COUNTER_RSS_BYTES);
    later.value[COUNTER_OCCUPANCY_BYTES] = 1;
    rates_window(&earlier, &later, &w);
    assert_true(seen(&w, RATE_RSS));
    assert_near(rate(&w, RATE_OCCUPANCY), 1);
    later = earlier;
    later.at_s += 1;
    rates_window(&earlier, &later, &w);
    assert_false(seen(&w, RATE_MISS_PMI));
    assert_true(seen(&w, RATE_MISSES));
    assert_true(rate(&w, RATE_CPU) == 0);
}

static void test_nothing_known(void **state)
{
    struct counters_sample earlier = {.at_s = 1}, later = {.at_s = 2};
    struct phase_window w;

    (void)state;
    rates_window(&earlier, &later, &w);
    for (int i = 0; i < RATES; i++)
        assert_false(seen(&w, i));
}

static void test_scaling(void **state)
{
    struct counters_sample earlier, later;

    (void)state;
    two(&earlier, &later);
    later.error[COUNTER_LLC_MISSES] = 0.03;
    later.error[COUNTER_INSTRUCTIONS] = 0.04;
    assert_near(rates_scaling(&later, RATE_MISS_PMI), 0.05);
    assert_near(rates_scaling(&later, RATE_MISSES), 0.03);
    assert_true(rates_scaling(&later, RATE_FAULTS) == 0);
}

static void test_table(void **state)
{
    (void)state;
    for (int i = 0; i < RATES; i++) {
        assert_true(rate_info[i].name && rate_info[i].unit);
        assert_int_equal(!!(rates_watched & 1u << i), rates_least[i] > 0);
    }
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(counter_by_name(counter_info[i].name), i);
    assert_int_equal(counter_by_name("nonsense"), -1);
    assert_true(RATES <= PHASE_RATES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_gauges_and_idleness),
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
