/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_pair - what the store keeps of programs beside others: averages, ageing, forgetting,
 * and damage. */
#include "tests/unit/common/profile_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct profile_pair pair_of(const char *key, const char *beside, double slowdown,
                                   double error)
{
    return (struct profile_pair){.key = key,
                                 .machine = "here",
                                 .cores = 1,
                                 .n = 1,
                                 .beside = {{beside, 1, 0}},
                                 .slowdown = slowdown,
                                 .error = error,
                                 .windows = 10,
                                 .seconds = 10,
                                 .runs = 1,
                                 .measured_at = time(NULL)};
}

static void put(struct profiles *store, struct profile_pair pair)
{
    struct berth_error err = {""};

    if (profiles_put_pairs(store, &pair, 1, &err) < 0)
        fail_msg("%s", err.text);
}

struct seen {
    size_t n;
    struct profile_pair last;
    char text[512]; /* "a<b*1,c*2" of all, a blank after each */
};

static int see(const struct profile_pair *pair, void *arg)
{
    struct seen *seen = arg;
    char *end = seen->text + strlen(seen->text);

    seen->n++;
    seen->last = *pair;
    end += sprintf(end, "%s<", pair->key);
    for (size_t i = 0; i < pair->n; i++)
        end += sprintf(end, "%s%s*%u", i ? "," : "", pair->beside[i].key, pair->beside[i].cores);
    strcpy(end, " ");
    return 0;
}

static struct seen seen_of(struct profiles *store, const char *key, const char *machine)
{
    struct berth_error err = {""};
    struct seen seen = {0};

    const struct profile_pairs_query query = {.key = key, .machine = machine};

    if (profiles_each_pair(store, &query, see, &seen, &err) < 0)
        fail_msg("%s", err.text);
    return seen;
}

/* The same set of neighbours in another order is the same row; more cores are another one. */
static void test_rows(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_pair pair = pair_of("tag:a", "tag:b", 0.1, 0.1);
    struct seen seen;

    pair.n = 2;
    pair.beside[1] = (struct profile_beside){"tag:c", 2, 0};
    put(store, pair);
    pair.beside[0] = (struct profile_beside){"tag:c", 2, 0};
    pair.beside[1] = (struct profile_beside){"tag:b", 1, 0};
    put(store, pair);
    seen = seen_of(store, "tag:a", "here");
    assert_string_equal(seen.text, "tag:a<tag:b*1,tag:c*2 ");
    assert_int_equal(seen.last.runs, 2);
    assert_true(seen.last.windows == 20);
    pair.cores = 2;
    put(store, pair);
    pair.machine = "there";
    put(store, pair);
    assert_int_equal(seen_of(store, "tag:a", "here").n, 2);
    assert_int_equal(seen_of(store, NULL, NULL).n, 3);
    assert_int_equal(seen_of(store, "tag:b", NULL).n, 0);
    profiles_close(store);
}

/* Each by the inverse square of its error, the newer one a fifth at least; what contradicts by more
 * than three errors, half; errors widened to what they differ by. */
static void test_merge(void **state)
{
    static const struct {
        double known, error, newer, newer_error, slowdown, least, most;
    } cases[] = {
        {0.10, 0.02, 0.12, 0.02, 0.11, 0.0141, 0.0142},
        {0.10, 0.01, 0.11, 0.03, 0.102, 0.0099, 0.0101}, /* a tenth by errors: a fifth */
        {0.10, 0.03, 0.11, 0.01, 0.109, 0.0094, 0.0096},
        {0.10, 0.01, 0.90, 0.01, 0.50, 0.3, 0.5}, /* the program has changed */
        {0.10, 0.001, 0.90, 0.01, 0.50, 0.3, 0.6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile_pair known = pair_of("tag:a", "tag:b", cases[i].known, cases[i].error),
                            newer = pair_of("tag:a", "tag:b", cases[i].newer, cases[i].newer_error);

        profile_pair_merge(&known, &newer);
        assert_true(fabs(known.slowdown - cases[i].slowdown) < 1e-9);
        if (known.error < cases[i].least || known.error > cases[i].most)
            fail_msg("%zu: %g", i, known.error);
    }
}

/* A long history gives way to what the program does now. */
static void test_newest_weighs(void **state)
{
    struct profile_pair known = pair_of("tag:a", "tag:b", 0.1, 0.001),
                        newer = pair_of("tag:a", "tag:b", 0.5, 0.1);

    (void)state;
    known.windows = 1e6;
    for (int i = 0; i < 10; i++)
        profile_pair_merge(&known, &newer);
    assert_true(known.slowdown > 0.4);
}

static void test_nonsense(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_pair bad[8];
    struct berth_error err;

    for (size_t i = 0; i < 8; i++)
        bad[i] = pair_of("tag:a", "tag:b", 0.1, 0.1);
    bad[0].key = "";
    bad[1].n = 0;
    bad[2].cores = 0;
    bad[3].error = 0;
    bad[4].slowdown = -1;
    bad[5].windows = 0;
    bad[6].beside[0].cores = 0;
    bad[7].slowdown = NAN;
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(profiles_put_pairs(store, &bad[i], 1, &err), -1);
        assert_non_null(strstr(err.text, "makes no sense"));
    }
    assert_int_equal(seen_of(store, NULL, NULL).n, 0);
    profiles_close(store);
}

static void test_newest_first(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_pair pair = pair_of("tag:a", "tag:b", 0.1, 0.1);
    const struct profile_pairs_query first = {.most = 1}, later = {.oldest = 201};
    struct berth_error err;
    struct seen seen = {0};

    pair.measured_at = 100;
    put(store, pair);
    pair.beside[0].key = "tag:c";
    pair.measured_at = 200;
    put(store, pair);
    assert_int_equal(profiles_each_pair(store, &first, see, &seen, &err), 0);
    assert_string_equal(seen.text, "tag:a<tag:c*1 ");
    seen = (struct seen){0};
    assert_int_equal(profiles_each_pair(store, &later, see, &seen, &err), 0);
    assert_int_equal(seen.n, 0);
    profiles_close(store);
}

/* A program is forgotten in both its roles, and with its last pair its name. */
static void test_forget(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    char key[PROFILE_KEY_MAX];
    struct berth_error err;

    put(store, pair_of("tag:a", "tag:b", 0.1, 0.1));
    put(store, pair_of("tag:b", "tag:c", 0.1, 0.1));
    put(store, pair_of("tag:c", "tag:a", 0.1, 0.1));
    for (int i = 0; i < 12; i++) { /* numbers of two digits, the first of which is 1 */
        snprintf(key, sizeof(key), "tag:more%d", i);
        put(store, pair_of("tag:c", key, 0.1, 0.1));
    }
    assert_int_equal(profiles_resolve(store, "a", key, &err), 1);
    assert_int_equal(profiles_forget(store, NULL, "tag:a", true, &err), 2);
    assert_int_equal(profiles_resolve(store, "a", key, &err), 0);
    assert_int_equal(seen_of(store, NULL, NULL).n, 13);
    assert_int_equal(profiles_forget(store, NULL, NULL, false, &err), 13);
    assert_int_equal(profiles_resolve(store, "b", key, &err), 0);
    profiles_close(store);
}

static void test_age(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_pair pair = pair_of("tag:a", "tag:b", 0.1, 0.1);
    struct berth_error err;

    put(store, pair);
    pair.beside[0].key = "tag:c";
    pair.measured_at -= 11 * 86400;
    put(store, pair);
    assert_int_equal(profiles_age(store, 0, &err), 0);
    assert_int_equal(profiles_age(store, 10, &err), 1);
    assert_string_equal(seen_of(store, NULL, NULL).text, "tag:a<tag:b*1 ");
    profiles_close(store);
}

static void test_bounded(void **state)
{
    struct profile_store *files = *state;
    struct profiles *store = profile_store_open(files, true);
    struct berth_error err;

    put(store, pair_of("tag:a", "tag:b", 0.1, 0.1));
    profile_store_sql(files, "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i"
                             " WHERE n < 100003) INSERT INTO pair SELECT program, machine, n + 1,"
                             " beside, 0, 1, 1, 1, 1, n FROM pair, i");
    assert_int_equal(profiles_age(store, 0, &err), 4);
    profiles_close(store);
}

/* A row whose text somebody has damaged is told, not read as something else. */
static void test_damaged(void **state)
{
    static const char *const text[] = {"", "1", "1*", "1*1,", "x*1", "1*1;2*1", "77*1"};
    struct profile_store *files = *state;
    struct profiles *store = profile_store_open(files, true);
    const struct profile_pairs_query all = {0};
    struct berth_error err;
    struct seen seen = {0};
    char sql[128];

    put(store, pair_of("tag:a", "tag:b", 0.1, 0.1));
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        snprintf(sql, sizeof(sql), "UPDATE pair SET beside = '%s'", text[i]);
        profile_store_sql(files, sql);
        if (profiles_each_pair(store, &all, see, &seen, &err) == 0)
            fail_msg("'%s' was read", text[i]);
        assert_non_null(strstr(err.text, "damaged"));
    }
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows),     TEST(test_merge),        TEST(test_newest_weighs),
        TEST(test_nonsense), TEST(test_newest_first), TEST(test_forget),
        TEST(test_age),      TEST(test_bounded),      TEST(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
