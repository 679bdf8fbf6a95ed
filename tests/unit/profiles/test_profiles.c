/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profiles - what is put into the profile store is got back, and a lookup gets the best that
 * is known. */
#include "tests/unit/common/profile_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- there and back ---- */

static void assert_same(const struct profile *a, const struct profile *b)
{
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->shape, b->shape);
    assert_string_equal(a->geometry, b->geometry);
    assert_string_equal(a->machine, b->machine);
    assert_string_equal(a->command, b->command);
    assert_string_equal(a->source, b->source);
    assert_memory_equal(a->hits, b->hits, sizeof(a->hits));
    assert_int_equal(a->llc_bytes, b->llc_bytes);
    assert_int_equal(a->llc_ways, b->llc_ways);
    assert_int_equal(a->line_bytes, b->line_bytes);
    assert_true(a->misses == b->misses && a->accesses == b->accesses);
    assert_true(a->misses_error == b->misses_error && a->accesses_error == b->accesses_error);
    assert_true(a->instructions_per_s == b->instructions_per_s);
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->references, b->references);
    assert_int_equal(a->truncated, b->truncated);
    assert_int_equal(a->measured_at, b->measured_at);
}

static void test_round_trip(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile in = profile_store_profile("tag:it's", 32 << 20, 2000.25), out;
    struct profile_query query = {.key = "tag:it's"};
    struct berth_error err;
    struct stat st;

    profile_store_put(store, &in);
    assert_int_equal(profiles_get(store, &query, &out, &err), 1);
    assert_same(&in, &out);
    assert_false(out.co_run);
    assert_int_equal(out.runs, 1);
    assert_int_equal(stat(((struct profile_store *)*state)->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    profiles_close(store);
}

/* Measured or nothing. */
static void test_unknown_stays_unknown(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile in = profile_store_profile("tag:a", 1000, 1), out;
    struct profile_query query = {.key = "tag:a"};
    struct berth_error err;

    in.misses_error = in.accesses_error = NAN;
    in.instructions_per_s = 0;
    profile_store_put(store, &in);
    assert_int_equal(profiles_get(store, &query, &out, &err), 1);
    assert_true(isnan(out.misses_error) && isnan(out.accesses_error));
    assert_true(out.instructions_per_s == 0 && isnan(profile_core_gbps(&out)));
    in.misses = NAN;
    assert_int_equal(profiles_put(store, &in, &err), -1);
    in.misses = 1;
    in.llc_ways = PROFILE_WAYS_MAX + 1;
    assert_int_equal(profiles_put(store, &in, &err), -1);
    assert_true(profile_store_misses(store, "tag:a", 0) == 1);
    profiles_close(store);
}

/* One row for each key, shape, geometry and cache; the newest put of a row wins. */
static void test_rows(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1);

    profile_store_put(store, &profile);
    profile = profile_store_profile("tag:a", 2000, 2);
    profile.measured_at += 5;
    profile_store_put(store, &profile);
    assert_true(profile_store_misses(store, "tag:a", 1000) == 1);
    assert_true(profile_store_misses(store, "tag:a", 2000) == 2);
    assert_true(profile_store_misses(store, "tag:a", 3000) == 2); /* none fits: the newest */
    assert_true(profile_store_misses(store, "tag:a", 0) == 2);
    profile = profile_store_profile("tag:a", 1000, 3); /* replaces the first */
    profile_store_put(store, &profile);
    assert_true(profile_store_misses(store, "tag:a", 1000) == 3);
    strcpy(profile.shape, "-m #"); /* beside it */
    profile.misses = 4;
    profile.measured_at++;
    profile_store_put(store, &profile);
    assert_true(profile_store_misses(store, "tag:a", 1000) == 4);
    assert_true(profile_store_misses(store, "tag:b", 1000) == -1);
    profiles_close(store);
}

static int collect(const struct profile *profile, void *arg)
{
    char *keys = arg;

    strcat(keys, profile->key + strlen("tag:"));
    return strlen(keys) == 2; /* stop there */
}

static void test_each_and_forget(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    static const char *const key[] = {"tag:a", "tag:b", "tag:c"};
    struct profile_sample sample = profile_store_sample("tag:c", 5);
    struct berth_error err;
    char keys[8] = "";

    for (int i = 0; i < 3; i++) {
        struct profile profile = profile_store_profile(key[i], 1000, i);

        profile.measured_at += i == 1 ? 10 : i;
        profile_store_put(store, &profile);
    }
    assert_int_equal(profiles_each(store, NULL, collect, keys, &err), 0);
    assert_string_equal(keys, "bc"); /* newest first; the visitor stopped it */
    keys[0] = '\0';
    assert_int_equal(profiles_each(store, "tag:a", collect, keys, &err), 0);
    assert_string_equal(keys, "a");
    assert_int_equal(profiles_forget(store, NULL, "tag:b", false, &err), 1);
    assert_int_equal(profiles_forget(store, NULL, "tag:b", false, &err), 0);
    keys[0] = '\0';
    assert_int_equal(profiles_each(store, NULL, collect, keys, &err), 0);
    assert_string_equal(keys, "ca");
    profile_store_put_sample(store, &sample);
    assert_true(profile_store_misses(store, "tag:c", 0) == 5);
    assert_int_equal(profiles_forget(store, NULL, "tag:c", true, &err), 1);
    assert_true(profile_store_misses(store, "tag:c", 0) == 2);
    profile_store_put_sample(store, &sample);
    assert_int_equal(profiles_forget(store, NULL, NULL, false, &err), 3);
    assert_true(profile_store_misses(store, "tag:a", 0) == -1);
    profiles_close(store);
}

static void test_demand(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 5);
    double curve[] = {0, 1.5, 2};
    struct profile_demand in = {.cores = 2, .curve = curve}, *out = NULL;
    struct berth_error err = {""};

    assert_int_equal(profiles_get_demand(store, 0, "tag:a", &out, &err), 0);
    profile_store_put(store, &profile);
    assert_int_equal(profiles_put_demand(store, 0, "tag:a", &in, &err), 0);
    in.cores = 1;
    assert_int_equal(profiles_put_demand(store, 0, "tag:a", &in, &err), 0); /* replaced */
    assert_int_equal(profiles_get_demand(store, 0, "tag:a", &out, &err), 1);
    assert_int_equal(out->cores, 1);
    assert_true(out->curve[1] == 1.5);
    profile_demand_free(out);
    profile_store_sql(*state, "UPDATE demand SET body = '{\"curve_gbps\":[0'");
    assert_int_equal(profiles_get_demand(store, 0, "tag:a", &out, &err), -1);
    assert_non_null(strstr(err.text, "damaged"));
    assert_int_equal(profiles_forget(store, NULL, "tag:a", false, &err), 2);
    assert_int_equal(profiles_get_demand(store, 0, "tag:a", &out, &err), 0);
    profiles_close(store);
}

/* ---- the best that is known ---- */

/* A row of the store; llc 0: a sample. */
struct candidate {
    const char *shape, *geometry, *machine;
    uint64_t llc;
    bool co_run;
    int64_t age_days;
    double misses;
};

static void put_candidate(struct profiles *store, const struct candidate *c)
{
    struct profile profile = profile_store_profile("tag:a", c->llc, c->misses);
    struct profile_sample sample = profile_store_sample("tag:a", c->misses);
    int64_t measured_at = time(NULL) - c->age_days * 86400;

    if (c->llc) {
        strcpy(profile.shape, c->shape);
        strcpy(profile.geometry, c->geometry);
        profile.measured_at = measured_at;
        profile_store_put(store, &profile);
        return;
    }
    strcpy(sample.shape, c->shape);
    strcpy(sample.geometry, c->geometry);
    strcpy(sample.machine, c->machine);
    sample.co_run = c->co_run;
    sample.measured_at = measured_at;
    profile_store_put_sample(store, &sample);
}

/* From the best on: each is looked up when those before it are not there. */
static void test_order(void **state)
{
    static const struct candidate order[] = {
        {"s", "1x1", "here", 0, false, 9, 1},   /* solo, shape and geometry fit */
        {"s", "2x1", "here", 0, false, 1, 2},   /* the shape alone: newest */
        {"s", "", "here", 0, false, 2, 3},      /* and older */
        {"t", "1x1", "here", 0, false, 8, 4},   /* the geometry alone */
        {"t", "2x1", "here", 0, false, 1, 5},   /* nothing fits: newest */
        {"u", "2x1", "here", 0, false, 2, 6},   /* and older */
        {"s", "1x1", "", 500, false, 400, 7},   /* profiles do not age: this cache, shape fits */
        {"t", "1x1", "", 500, false, 3, 8},     /* this cache */
        {"s", "1x1", "", 600, false, 3, 9},     /* another cache, shape fits */
        {"t", "2x1", "", 600, false, 1, 10},    /* another cache */
        {"s", "1x1", "here", 0, true, 1, 11},   /* beside others */
        {"t", "2x1", "here", 0, true, 1, 12},   /* and nothing fits */
        {"s", "1x1", "here ", 0, false, 1, -1}, /* another machine */
        {"s", "3x1", "here", 0, false, 11, -1}, /* too old */
    };
    struct profile_query query = {.key = "tag:a",
                                  .shape = "s",
                                  .geometry = "1x1",
                                  .machine = "here",
                                  .llc_bytes = 500,
                                  .max_age_days = 10};
    struct profiles *reader;
    struct profile profile;
    struct berth_error err;
    size_t n = sizeof(order) / sizeof(order[0]);

    for (size_t first = 0; first < n; first++) {
        struct profiles *writer = profile_store_open(*state, true);
        int found;

        assert_true(profiles_forget(writer, NULL, NULL, false, &err) >= 0);
        for (size_t i = n; i-- > first;) /* not in their order */
            put_candidate(writer, &order[i]);
        reader = profile_store_open(*state, false);
        found = profiles_get(reader, &query, &profile, &err);
        assert_int_equal(found, order[first].misses > 0);
        if (found)
            assert_true(profile.misses == order[first].misses);
        profiles_close(reader);
        profiles_close(writer);
    }
}

/* Of an interpreter's many shapes: its own however old, else one of the newest 16. */
static void test_many_shapes(void **state)
{
    struct profile_query query = {.key = "tag:a", .shape = "39", .machine = "here"};
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile;
    struct berth_error err;
    time_t now = time(NULL); /* once: a second may pass between two samples */

    for (int i = 0; i < 40; i++) {
        struct profile_sample sample = profile_store_sample("tag:a", i);

        snprintf(sample.shape, sizeof(sample.shape), "%d", i);
        snprintf(sample.geometry, sizeof(sample.geometry), "%dx1", i);
        sample.measured_at = now - i;
        profile_store_put_sample(store, &sample);
    }
    assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
    assert_true(profile.misses == 39);
    query.shape = "another";
    for (int i = 0; i < 40; i++) {
        char geometry[16];

        snprintf(geometry, sizeof(geometry), "%dx1", i);
        query.geometry = geometry;
        assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
        assert_true(profile.misses == (i < 16 ? i : 0));
    }
    profiles_close(store);
}

/* A counted rate says so, and what is not known of it is not made up. */
static void test_counted(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_sample sample = profile_store_sample("tag:a", 500);
    struct profile_query query = {.key = "tag:a", .machine = "here"};
    struct profile profile;
    struct berth_error err;

    sample.co_run = true;
    sample.rate[PROFILE_INSTRUCTIONS_PER_S].mean = 2e9;
    profile_store_put_sample(store, &sample);
    assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
    assert_string_equal(profile.source, "perf, co-run");
    assert_true(profile.co_run && profile.runs == 1 && profile.llc_ways == 0);
    assert_true(profile.misses == 500 && profile.misses_error == 1);
    assert_true(isnan(profile.accesses) && isnan(profile.accesses_error));
    assert_string_equal(profile.shape, "-n #");
    assert_string_equal(profile.geometry, "4x2");
    assert_string_equal(profile.machine, "here");
    assert_true(fabs(profile_core_gbps(&profile) - 500e-6 * 2e9 * 64e-9) < 1e-9);
    assert_int_equal(profile.instructions, 1000000000000);
    sample.rate[PROFILE_MISSES].mean = NAN; /* knows nothing of misses */
    strcpy(sample.source, "software");
    sample.co_run = false;
    profile_store_put_sample(store, &sample);
    assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
    assert_string_equal(profile.source, "perf, co-run");
    profiles_close(store);
}

/* ---- damage ---- */

/* A row that somebody damaged is an error of that row, not a profile. */
static void test_damaged_row(void **state)
{
    static const char *const update[] = {"hits = '[1,2]'", "hits = 'x'", "hits = '{}'",
                                         "llc_ways = 65", "llc_ways = -1"};
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1), out;
    struct profile_query query = {.key = "tag:a"};
    struct berth_error err;
    char text[128];

    for (size_t i = 0; i < sizeof(update) / sizeof(update[0]); i++) {
        assert_true(profiles_forget(store, NULL, "tag:a", false, &err) >= 0);
        profile_store_put(store, &profile);
        snprintf(text, sizeof(text), "UPDATE profile SET %s", update[i]);
        profile_store_sql(*state, text);
        assert_int_equal(profiles_get(store, &query, &out, &err), -1);
        assert_non_null(strstr(err.text, "tag:a"));
    }
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),  TEST(test_unknown_stays_unknown),
        TEST(test_rows),        TEST(test_each_and_forget),
        TEST(test_demand),      TEST(test_order),
        TEST(test_many_shapes), TEST(test_counted),
        TEST(test_damaged_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
