/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_usage - the resource-usage vector by hand, and what is not known stays so. */
#include "models/numa/usage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct usage_sample from = {.at_s = 100,
                                         .user_ns = 1e9,
                                         .system_ns = 1e9,
                                         .run_delay_ns = 5e9,
                                         .lock_wait_ns = 0,
                                         .voluntary = 10,
                                         .involuntary = 20,
                                         .migrations = 3,
                                         .llc_accesses = 1000,
                                         .llc_misses = 100};
/* 2 s later: 8 threads on 4 cores */
static const struct usage_sample to = {.at_s = 102,
                                       .user_ns = 5e9,
                                       .system_ns = 1.8e9,
                                       .run_delay_ns = 9e9,
                                       .lock_wait_ns = 4.8e9,
                                       .voluntary = 210,
                                       .involuntary = 26,
                                       .migrations = 3,
                                       .llc_accesses = 3000,
                                       .llc_misses = 600};

static void near(double got, double want)
{
    assert_true(fabs(got - want) <= 1e-12 * (1 + fabs(want)));
}

static void test_by_hand(void **state)
{
    struct usage usage = usage_between(&from, &to, 8, 4);

    (void)state;
    near(usage.usr, 25); /* 4 s of 2 s * 8 threads */
    near(usage.sys, 5);
    near(usage.lat, 25);
    near(usage.lock, 30);
    near(usage.mpa, 0.25);
    near(usage.ct, 0.5);
    near(usage.vcx, 100);
    near(usage.icx, 3);
    near(usage.migr, 0);
    near(usage.cpu_util, 60); /* 4.8 s of 2 s * 4 cores */
}

/* A thread is in one state at a time: no more than 100 %. */
static void test_whole(void **state)
{
    struct usage_sample begin = {0}, end = {.at_s = 1, .user_ns = 1e9, .run_delay_ns = 2e9};
    struct usage usage = usage_between(&begin, &end, 3, 1);

    (void)state;
    near(usage.usr + usage.sys + usage.lat + usage.lock, 100);
    near(usage.cpu_util, 100);
    near(usage.ct, 1.0 / 3);
    assert_true(isnan(usage.mpa)); /* nothing was asked of the cache */
}

static void test_not_known(void **state)
{
    struct usage_sample end = to;
    struct usage usage;

    (void)state;
    end.lock_wait_ns = NAN;
    end.llc_misses = NAN;
    end.migrations = 2; /* fell */
    usage = usage_between(&from, &end, 8, 4);
    assert_true(isnan(usage.lock) && isnan(usage.mpa) && isnan(usage.migr));
    near(usage.usr, 25);
    end.user_ns = NAN;
    usage = usage_between(&from, &end, 8, 4);
    assert_true(isnan(usage.usr) && isnan(usage.cpu_util));
    near(usage.sys, 5);
    usage = usage_between(&from, &to, NAN, 4);
    assert_true(isnan(usage.usr) && isnan(usage.lat) && isnan(usage.ct));
    near(usage.cpu_util, 60);
    usage = usage_between(&from, &to, 8, NAN);
    assert_true(isnan(usage.ct) && isnan(usage.cpu_util));
    usage = usage_between(&from, &to, 0, 4);
    assert_true(isnan(usage.usr) && isnan(usage.ct));
    usage = usage_between(&from, &from, 8, 4); /* no time has passed */
    assert_true(isnan(usage.usr) && isnan(usage.vcx) && isnan(usage.cpu_util));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
