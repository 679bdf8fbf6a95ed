/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_binding - runs that were seen to bind their threads: what a launch is told of them, whose
 * runs say something to whom, when a program is trusted again, and there and back as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "packer/profiles/profiles.h"
#include "tests/unit/common/profile_store.h"

#define DAY 86400

/* What a launch of the user is told; `found`: of the program's miss rate. */
static int64_t bound_at(struct profiles *store, uint32_t uid, uint64_t max_age_days, int found)
{
    struct profile_query query = {.key = "tag:b", .uid = uid, .max_age_days = max_age_days};
    struct profile profile;
    struct berth_error err;
    int64_t at = -1;

    assert_int_equal(profiles_get_bound(store, &query, &profile, &at, &err), found);
    assert_int_equal(profiles_get(store, &query, &profile, &err), found);
    return at;
}

static void put(struct profiles *store, uint32_t uid, bool bound, int64_t at, size_t times)
{
    struct berth_error err = {""};

    while (times--)
        if (profiles_put_binding(store, uid, "tag:b", bound, at, &err) < 0)
            fail_msg("%s", err.text);
}

static void test_launch(void **state)
{
    struct profiles *reader = profile_store_open(*state, false);
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:b", 1000, 7);
    struct profile_sample sample = profile_store_sample("tag:b", 9);
    int64_t now = time(NULL);

    assert_int_equal(bound_at(reader, 7, 0, 0), 0);
    put(store, 7, true, now - DAY, 1);
    assert_int_equal(bound_at(reader, 7, 0, 0), now - DAY);
    profile_store_put(store, &profile); /* root's: for all */
    assert_int_equal(bound_at(reader, 7, 0, 1), now - DAY);
    profile_store_put_sample(store, &sample);
    assert_int_equal(bound_at(reader, 7, 0, 1), now - DAY);
    assert_int_equal(bound_at(reader, 8, 0, 1), 0); /* another user's runs say nothing */
    put(store, 0, true, now - 2 * DAY, 1);
    assert_int_equal(bound_at(reader, 8, 0, 1), now - 2 * DAY);
    assert_int_equal(bound_at(reader, 7, 0, 1), now - DAY); /* the newer */
    assert_int_equal(bound_at(reader, 8, 1, 1), 0);         /* too old */
    profiles_close(store);
    profiles_close(reader);
}

/* It is trusted again after three runs without for each run with it. */
static void test_trusted_again(void **state)
{
    struct profiles *store = profile_store_open(*state, true);

    put(store, 7, false, 90, 5); /* there is nothing that these could lift */
    put(store, 7, true, 100, 1);
    put(store, 7, false, 101, 2);
    assert_int_equal(bound_at(store, 7, 0, 0), 100);
    put(store, 8, false, 101, 9); /* somebody else's */
    put(store, 7, false, 99, 9);  /* before it */
    assert_int_equal(bound_at(store, 7, 0, 0), 100);
    put(store, 7, false, 101, 1);
    assert_int_equal(bound_at(store, 7, 0, 0), 0);
    put(store, 7, true, 200, 1);
    put(store, 7, false, 201, 5);
    assert_int_equal(bound_at(store, 7, 0, 0), 200);
    put(store, 7, false, 201, 1);
    assert_int_equal(bound_at(store, 7, 0, 0), 0);
    profiles_close(store);
}

static bool is_shown(struct profiles *store, uint32_t reader)
{
    char *text = profile_store_export(store, &reader);
    bool shown = strstr(text, "tag:b") != NULL;

    free(text);
    return shown;
}

static void test_text(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    char *text, *again, key[PROFILE_KEY_MAX];
    uint32_t owner = 7, other = 8;
    struct berth_error err;

    put(store, owner, true, 100, 2);
    put(store, owner, false, 101, 1);
    text = profile_store_export(store, NULL);
    assert_string_equal(text, "{\"version\":1,\"kind\":\"binding\",\"key\":\"tag:b\",\"uid\":7,"
                              "\"runs\":2,\"clean\":1,\"measured_at\":100}\n");
    assert_true(is_shown(store, owner));
    assert_false(is_shown(store, other));
    assert_int_equal(profiles_resolve(store, "b", key, &err), 1);
    assert_int_equal(profiles_forget(store, &other, "tag:b", false, &err), 0);
    assert_int_equal(profiles_count(store, &owner, "tag:b", true, &err), 1);
    assert_int_equal(profiles_forget(store, &owner, "tag:b", true, &err), 1);
    assert_int_equal(bound_at(store, owner, 0, 0), 0);
    assert_int_equal(profile_store_import(store, 0, text, false).taken, 1);
    again = profile_store_export(store, NULL);
    assert_string_equal(text, again);
    free(again);
    put(store, owner, true, 102, 1);
    assert_int_equal(profile_store_import(store, owner, text, false).kept, 1);
    assert_int_equal(profile_store_import(store, owner, text, true).taken, 1);
    free(text);
    profiles_close(store);
}

#define ROW(more) "{\"version\":1,\"kind\":\"binding\",\"key\":\"tag:b\"," more "}\n"

/* A user cannot say what another's program does, nor what all users' does. */
static void test_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {ROW("\"measured_at\":1"), "runs: missing"},
        {ROW("\"runs\":0,\"measured_at\":1"), "runs: 0"},
        {ROW("\"runs\":1"), "measured_at: missing"},
        {ROW("\"runs\":1,\"clean\":-1,\"measured_at\":1"), "clean: -1"},
        {ROW("\"runs\":1,\"measured_at\":1,\"uid\":8"), "uid: 7 expected"},
        {ROW("\"runs\":1,\"measured_at\":1,\"uid\":0"), "uid: 7 expected"},
    };
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(profiles_check(7, wrong[i].text, strlen(wrong[i].text), &err), -1);
        if (!strstr(err.text, wrong[i].why))
            fail_msg("%s: not %s", err.text, wrong[i].why);
    }
}

static void test_age(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    int64_t now = time(NULL);
    struct berth_error err;

    put(store, 7, true, now - 9 * DAY, 1);
    put(store, 8, true, now - DAY, 1);
    assert_int_equal(profiles_age(store, 5, &err), 1);
    assert_int_equal(bound_at(store, 7, 0, 0), 0);
    assert_int_equal(bound_at(store, 8, 0, 0), now - DAY);
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_launch), TEST(test_trusted_again), TEST(test_text), cmocka_unit_test(test_wrong),
        TEST(test_age),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
