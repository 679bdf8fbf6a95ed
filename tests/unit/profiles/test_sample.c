/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_sample - counted samples: how runs are averaged, which is found, and what ages out.
 */
#include "tests/unit/common/profile_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Half widths that are both unknown are the same. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* ---- averages ---- */

static void test_merge(void **state)
{
    static const struct {
        double known_windows, newer_windows;
        struct profile_estimate known, newer, wanted;
    } cases[] = {
        /* by their windows; errors of independent estimates */
        {10, 10, {100, 4}, {104, 3}, {102, 2.5}},
        {10, 30, {100, 4}, {104, 4}, {103, 3.16227766016838}},
        /* the newest weighs at least 20 % */
        {1e6, 1, {100, 0.1}, {100, 0.1}, {100, 0.0824621125123532}},
        {1e6, 1, {0, 50}, {10, 50}, {2, 41.2310562561766}},
        /* further apart than they claim: widened by what they differ, over what they claim */
        {10, 10, {100, 3}, {110, 4}, {105, 5}},
        {10, 10, {100, 0}, {110, 0}, {105, 5}},
        {10, 10, {100, 0}, {100, 0}, {100, 0}},
        /* one that is not known may be off by the difference */
        {10, 10, {100, NAN}, {103, 4}, {101.5, 5}},
        {10, 10, {100, 4}, {103, NAN}, {101.5, 5}},
        {10, 10, {100, NAN}, {103, NAN}, {101.5, NAN}},
        /* rates that one run does not know */
        {10, 10, {NAN, NAN}, {103, 2}, {103, 2}},
        {10, 10, {100, 2}, {NAN, NAN}, {100, 2}},
        {10, 10, {NAN, NAN}, {NAN, NAN}, {NAN, NAN}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile_sample known = profile_store_sample("tag:a", 1), newer = known;

        known.windows = cases[i].known_windows;
        newer.windows = cases[i].newer_windows;
        known.rate[PROFILE_BYTES_PER_S] = cases[i].known;
        newer.rate[PROFILE_BYTES_PER_S] = cases[i].newer;
        profile_sample_merge(&known, &newer);
        if (!same(known.rate[PROFILE_BYTES_PER_S].mean, cases[i].wanted.mean) ||
            !same(known.rate[PROFILE_BYTES_PER_S].error, cases[i].wanted.error))
            fail_msg("case %zu: %.15g +- %.15g", i, known.rate[PROFILE_BYTES_PER_S].mean,
                     known.rate[PROFILE_BYTES_PER_S].error);
        assert_true(known.windows == cases[i].known_windows + cases[i].newer_windows);
        assert_true(known.seconds == 200 && known.instructions == 2e12);
        assert_int_equal(known.runs, 2);
        assert_true(known.rate[PROFILE_MISSES].mean == 1); /* the other rates by themselves */
        assert_true(isnan(known.rate[PROFILE_CPUS].mean));
    }
}

/* What a program did long ago fades out: of a change, 1 % is left after 21 runs at the most. */
static void test_forgets(void **state)
{
    struct profile_sample known = profile_store_sample("tag:a", 0), newer = known;

    (void)state;
    known.windows = 1e9;
    newer.rate[PROFILE_MISSES].mean = 100;
    for (int i = 0; i < 21; i++)
        profile_sample_merge(&known, &newer);
    assert_true(known.rate[PROFILE_MISSES].mean > 99 && known.rate[PROFILE_MISSES].mean < 100);
}

/* Runs that are alike: the error falls as that of a running mean does, and not below what the
 * newest fifth can give. */
static void test_error_falls(void **state)
{
    struct profile_sample known = profile_store_sample("tag:a", 100), newer = known;

    (void)state;
    profile_sample_merge(&known, &newer);
    assert_true(same(known.rate[PROFILE_MISSES].error, M_SQRT1_2));
    for (int i = 0; i < 100; i++)
        profile_sample_merge(&known, &newer);
    assert_true(same(known.rate[PROFILE_MISSES].error, sqrt(0.2 * 0.2 / (1 - 0.8 * 0.8))));
}

/* ---- rows ---- */

static struct profile_sample get(struct profiles *store, const struct profile_query *query,
                                 enum profile_rate rate)
{
    struct profile_sample sample;
    struct berth_error err = {""};

    switch (profiles_get_sample(store, query, rate, &sample, &err)) {
    case 1:
        return sample;
    case 0:
        profile_sample_init(&sample);
        sample.runs = 0;
        return sample;
    default:
        fail_msg("%s", err.text);
        abort();
    }
}

static void test_round_trip(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_query query = {.key = "tag:it's"};
    struct profile_sample in = profile_store_sample("tag:it's", 1.0 / 3), out;

    for (int i = 0; i < PROFILE_RATES; i++)
        in.rate[i] = (struct profile_estimate){i / 7.0, i % 2 ? NAN : i / 9.0};
    profile_store_put_sample(store, &in);
    out = get(store, &query, PROFILE_INTENSITY);
    assert_string_equal(out.key, in.key);
    assert_string_equal(out.shape, in.shape);
    assert_string_equal(out.geometry, in.geometry);
    assert_string_equal(out.machine, in.machine);
    assert_string_equal(out.source, in.source);
    assert_string_equal(out.command, in.command);
    assert_true(out.co_run == in.co_run && out.runs == 1 && out.measured_at == in.measured_at);
    assert_true(out.llc_bytes == in.llc_bytes && out.line_bytes == in.line_bytes);
    assert_true(out.windows == in.windows && out.seconds == in.seconds);
    assert_true(out.instructions == in.instructions);
    for (int i = 0; i < PROFILE_RATES; i++) {
        assert_true(out.rate[i].mean == in.rate[i].mean);
        assert_true(i % 2 ? isnan(out.rate[i].error) : out.rate[i].error == in.rate[i].error);
    }
    profiles_close(store);
}

/* A run beside others never touches what was counted solo; nor does another machine, shape,
 * geometry or counter. */
static void test_rows_apart(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_query query = {.key = "tag:a", .shape = "-n #", .machine = "here"};
    struct profile_sample solo = profile_store_sample("tag:a", 100), other[5], out;
    struct berth_error err;

    profile_store_put_sample(store, &solo);
    for (int i = 0; i < 5; i++)
        other[i] = profile_store_sample("tag:a", 9999);
    other[0].co_run = true;
    strcpy(other[1].machine, "elsewhere");
    strcpy(other[2].shape, "-x");
    strcpy(other[3].geometry, "1x1");
    strcpy(other[4].source, "replay");
    for (int i = 0; i < 5; i++)
        other[i].measured_at -= 10;
    for (int round = 0; round < 10; round++)
        assert_int_equal(profiles_put_samples(store, other, 5, &err), 0);
    query.geometry = "4x2";
    out = get(store, &query, PROFILE_MISSES);
    assert_true(out.rate[PROFILE_MISSES].mean == 100 && out.runs == 1);
    profile_store_put_sample(store, &solo);
    out = get(store, &query, PROFILE_MISSES);
    assert_true(out.rate[PROFILE_MISSES].mean == 100 && out.runs == 2);
    query.geometry = "1x1";
    out = get(store, &query, PROFILE_MISSES);
    assert_true(out.rate[PROFILE_MISSES].mean == 9999 && out.runs == 10);
    profiles_close(store);
}

/* The best that knows the rate. */
static void test_knows_the_rate(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_query query = {.key = "tag:a", .machine = "here", .max_age_days = 10};
    struct profile_sample counted = profile_store_sample("tag:a", 100), probe = counted;

    profile_store_put_sample(store, &counted);
    assert_int_equal(get(store, &query, PROFILE_INTENSITY).runs, 0);
    strcpy(probe.source, "probe");
    probe.rate[PROFILE_MISSES] = (struct profile_estimate){NAN, NAN};
    probe.rate[PROFILE_INTENSITY] = (struct profile_estimate){0.25, 0.01};
    probe.co_run = true;
    profile_store_put_sample(store, &probe);
    assert_true(get(store, &query, PROFILE_INTENSITY).rate[PROFILE_INTENSITY].mean == 0.25);
    probe.co_run = false;
    probe.rate[PROFILE_INTENSITY].mean = 0.125;
    probe.measured_at -= 9 * 86400;
    profile_store_put_sample(store, &probe);
    assert_true(get(store, &query, PROFILE_INTENSITY).rate[PROFILE_INTENSITY].mean == 0.125);
    query.max_age_days = 8;
    assert_true(get(store, &query, PROFILE_INTENSITY).rate[PROFILE_INTENSITY].mean == 0.25);
    query.machine = "elsewhere";
    assert_int_equal(get(store, &query, PROFILE_INTENSITY).runs, 0);
    profiles_close(store);
}

static int count(const struct profile_sample *sample, void *arg)
{
    (void)sample;
    ++*(int *)arg;
    return 0;
}

static int stored(struct profiles *store, const char *key)
{
    struct berth_error err;
    int n = 0;

    assert_int_equal(profiles_each_sample(store, key, count, &n, &err), 0);
    return n;
}

/* A batch is stored as a whole, or not. */
static void test_batch(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_sample batch[3];
    struct berth_error err = {""};

    for (int i = 0; i < 3; i++) {
        batch[i] = profile_store_sample("tag:a", i);
        batch[i].shape[0] = (char)('a' + i);
    }
    batch[2].windows = 0;
    assert_int_equal(profiles_put_samples(store, batch, 3, &err), -1);
    assert_non_null(strstr(err.text, "windows"));
    batch[2].windows = NAN;
    assert_int_equal(profiles_put_samples(store, batch, 3, &err), -1);
    assert_int_equal(stored(store, NULL), 0);
    assert_int_equal(profiles_put_samples(store, batch, 0, &err), 0);
    assert_int_equal(profiles_put_samples(store, batch, 2, &err), 0);
    assert_int_equal(stored(store, NULL), 2);
    assert_int_equal(stored(store, "tag:a"), 2);
    assert_int_equal(stored(store, "tag:b"), 0);
    profiles_close(store);
}

/* Counted samples go, profiles stay. */
static void test_ageing(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1);
    struct berth_error err;

    profile.measured_at = 1;
    profile_store_put(store, &profile);
    for (int age = 0; age < 5; age++) {
        struct profile_sample sample = profile_store_sample("tag:a", age);

        snprintf(sample.shape, sizeof(sample.shape), "%d", age);
        sample.measured_at -= age * 86400 + 3600;
        profile_store_put_sample(store, &sample);
    }
    assert_int_equal(profiles_age(store, 0, &err), 0);
    assert_int_equal(profiles_age(store, 36500, &err), 0);
    assert_int_equal(profiles_age(store, 3, &err), 2);
    assert_int_equal(profiles_age(store, 3, &err), 0);
    assert_int_equal(stored(store, NULL), 3);
    assert_int_equal(profiles_age(store, 1, &err), 2);
    assert_true(profile_store_misses(store, "tag:a", 0) == 0);
    profiles_close(store);
}

/* However many keys users think of. */
static void test_the_oldest_go(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_sample sample = profile_store_sample("tag:first", 1);
    struct berth_error err;
    char sql[512];

    profile_store_put_sample(store, &sample);
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             " INSERT INTO sample (uid, key, shape, geometry, machine, co_run, source, command,"
             " llc_bytes, line_bytes, windows, seconds, instructions, runs, measured_at)"
             " SELECT i %% 20, 'tag:x', i, '', '', 0, '', '', 0, 0, 1, 1, 1, 1, i FROM n",
             PROFILE_SAMPLES_MAX + 9);
    profile_store_sql(*state, sql);
    assert_int_equal(profiles_age(store, 0, &err), 10);
    assert_int_equal(stored(store, NULL), PROFILE_SAMPLES_MAX);
    assert_int_equal(stored(store, "tag:first"), 1);
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_error_falls),
        TEST(test_round_trip),
        TEST(test_rows_apart),
        TEST(test_knows_the_rate),
        TEST(test_batch),
        TEST(test_ageing),
        TEST(test_the_oldest_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
