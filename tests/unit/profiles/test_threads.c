/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_threads - how many threads a program should have: there and back, who sees it, and what a
 * launch finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/profiles/profiles.h"
#include "tests/unit/common/profile_store.h"

#define ROW(key, more)                                                                             \
    "{\"version\":1,\"kind\":\"threads\",\"key\":\"" key "\",\"machine\":\"here\"," more "}\n"

/* What a user's launch on so many cores finds; 0: nothing. */
static uint32_t found(struct profiles *store, uint32_t uid, uint32_t cores, const char *shape,
                      const char *machine)
{
    struct profile_query query = {.key = "tag:t", .uid = uid, .shape = shape, .machine = machine};
    struct profile_threads threads;
    struct berth_error err;
    int rc = profiles_get_threads(store, &query, cores, &threads, &err);

    assert_true(rc >= 0);
    return rc ? threads.threads : 0;
}

static void test_lookup(void **state)
{
    struct profiles *store = profile_store_open(*state, true);

    assert_int_equal(found(store, 7, 4, "-n #", "here"), 0);
    profile_store_import(
        store, 0,
        ROW("tag:t", "\"cores\":4,\"threads\":6,\"environment\":true,\"measured_at\":9")
            ROW("tag:t", "\"cores\":4,\"threads\":9,\"environment\":true,\"measured_at\":8,"
                         "\"shape\":\"-n #\"")
                ROW("tag:t", "\"cores\":8,\"threads\":99,\"measured_at\":9"),
        false);
    profile_store_import(
        store, 7, ROW("tag:t", "\"cores\":4,\"threads\":5,\"environment\":true,\"measured_at\":3"),
        false);
    assert_int_equal(found(store, 7, 4, "-n #", "here"), 9); /* the shape, whosever it is */
    assert_int_equal(found(store, 7, 4, "-m #", "here"), 5); /* his own */
    assert_int_equal(found(store, 8, 4, "-m #", "here"), 6); /* root's newest */
    assert_int_equal(found(store, 7, 4, "-n #", "there"), 0);
    assert_int_equal(found(store, 7, 5, "-n #", "here"), 0);
    assert_int_equal(found(store, 7, 8, "-n #", "here"), 0); /* from an argument: not for us */
    profiles_close(store);
}

static void test_newer_stays(void **state)
{
    struct profiles *store = profile_store_open(*state, true);

    profile_store_import(store, 7,
                         ROW("tag:t", "\"cores\":4,\"threads\":1,\"environment\":true,"
                                      "\"measured_at\":50"),
                         false);
    assert_int_equal(
        profile_store_import(store, 7,
                             ROW("tag:t", "\"cores\":4,\"threads\":2,\"environment\":true,"
                                          "\"measured_at\":49"),
                             false)
            .kept,
        1);
    assert_int_equal(found(store, 7, 4, "", "here"), 1);
    assert_int_equal(
        profile_store_import(store, 7,
                             ROW("tag:t", "\"cores\":4,\"threads\":2,\"environment\":true,"
                                          "\"measured_at\":49"),
                             true)
            .taken,
        1);
    assert_int_equal(found(store, 7, 4, "", "here"), 2);
    profiles_close(store);
}

static void test_text(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    uint32_t reader = 7, other = 8;
    struct berth_error err;
    char *text, *again;

    profile_store_import(store, 7,
                         ROW("tag:t",
                             "\"cores\":4,\"threads\":5,\"environment\":true,\"shape\":\"()\","
                             "\"measured_at\":3"),
                         false);
    profile_store_import(store, 0, ROW("tag:u", "\"cores\":4,\"threads\":6,\"measured_at\":3"),
                         false);
    text = profile_store_export(store, NULL);
    assert_non_null(strstr(text, "{\"version\":1,\"kind\":\"threads\",\"key\":\"tag:t\",\"uid\":7,"
                                 "\"shape\":\"()\",\"machine\":\"here\",\"cores\":4,\"threads\":5,"
                                 "\"environment\":true,\"measured_at\":3}\n"));
    assert_int_equal(profiles_count(store, NULL, NULL, false, &err), 2);
    assert_int_equal(profiles_forget(store, NULL, NULL, true, &err), 0); /* not counted */
    assert_int_equal(profiles_forget(store, NULL, NULL, false, &err), 2);
    profile_store_import(store, 0, text, false);
    again = profile_store_export(store, NULL);
    assert_string_equal(text, again);
    free(again);
    again = profile_store_export(store, &reader);
    assert_true(strstr(again, "tag:t") && strstr(again, "tag:u"));
    free(again);
    again = profile_store_export(store, &other);
    assert_true(!strstr(again, "tag:t") && strstr(again, "tag:u"));
    free(again);
    free(text);
    profiles_close(store);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {ROW("tag:t", "\"threads\":1,\"measured_at\":1"), "cores: missing"},
        {ROW("tag:t", "\"cores\":1,\"measured_at\":1"), "threads: missing"},
        {ROW("tag:t", "\"cores\":1,\"threads\":0,\"measured_at\":1"), "threads: 0"},
        {ROW("tag:t", "\"cores\":1,\"threads\":1"), "measured_at: missing"},
        {ROW("t", "\"cores\":1,\"threads\":1,\"measured_at\":1"), "key: "},
        {ROW("tag:t", "\"cores\":1,\"threads\":1,\"measured_at\":1,\"uid\":8"), "uid: 7 expected"},
    };
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(profiles_check(7, wrong[i].text, strlen(wrong[i].text), &err), -1);
        if (!strstr(err.text, wrong[i].why))
            fail_msg("%s: not %s", err.text, wrong[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lookup, profile_store_setup, profile_store_teardown),
        cmocka_unit_test_setup_teardown(test_newer_stays, profile_store_setup,
                                        profile_store_teardown),
        cmocka_unit_test_setup_teardown(test_text, profile_store_setup, profile_store_teardown),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
