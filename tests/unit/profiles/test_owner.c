/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_owner - whose rows tell whom what: a user's own, root's for all, others' as a median
 * where that is wanted; and stores of before rows had a user. */
#include "tests/unit/common/profile_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/common/folder.h"

#define VICTIM 1002

static void put(struct profiles *store, uint32_t uid, double misses, bool co_run)
{
    struct profile_sample sample = profile_store_sample("tag:a", misses);

    sample.uid = uid;
    sample.co_run = co_run;
    profile_store_put_sample(store, &sample);
}

/* What the store tells that user: misses, or -1. */
static double told(struct profiles *store, uint32_t uid, bool median, struct profile *profile)
{
    struct profile_query query = {.key = "tag:a", .uid = uid, .median = median};
    struct berth_error err = {""};
    int found = profiles_get(store, &query, profile, &err);

    if (found < 0)
        fail_msg("%s", err.text);
    return found ? profile->misses : -1;
}

/* One user's run says nothing of another's, whatever he asks for; nor do two users'. */
static void test_strangers(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile;

    put(store, 1001, 20000, false);
    assert_true(told(store, 1001, false, &profile) == 20000);
    assert_true(told(store, VICTIM, false, &profile) == -1);
    assert_true(told(store, VICTIM, true, &profile) == -1);
    put(store, 1003, 10, false);
    assert_true(told(store, VICTIM, true, &profile) == -1);
    put(store, VICTIM, 7, true);
    assert_true(told(store, VICTIM, true, &profile) == 7);
    assert_true(told(store, 1001, false, &profile) == 20000);
    profiles_close(store);
}

/* Each user has one voice, however often he runs it; who ran it alone is heard before the others.
 */
static void test_median(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_sample sample = profile_store_sample("tag:a", 20000);
    struct profile profile;

    sample.uid = 1001;
    for (int i = 0; i < 20; i++) {
        snprintf(sample.shape, sizeof(sample.shape), "--v%d", i);
        profile_store_put_sample(store, &sample);
    }
    put(store, 1003, 10, false);
    put(store, 1004, 12, false);
    assert_true(told(store, VICTIM, false, &profile) == -1);
    assert_true(told(store, VICTIM, true, &profile) == 12);
    assert_string_equal(profile.source, "median of 3 users");
    assert_string_equal(profile.command, "");
    assert_true(profile.uid == PROFILE_NOBODY && profile.runs == 3 && !profile.co_run);
    assert_true(isnan(profile.accesses) && isnan(profile.misses_error));
    put(store, 1005, 3000, true);
    assert_true(told(store, VICTIM, true, &profile) == 12);
    assert_int_equal(profile.runs, 3);
    put(store, 1005, 14, false);
    assert_true(told(store, VICTIM, true, &profile) == 13);
    put(store, PROFILE_EVERYBODY, 1, true);
    assert_true(told(store, VICTIM, true, &profile) == 1);
    profiles_close(store);
}

static void test_co_run_median(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile;

    put(store, 1001, 10, true);
    put(store, 1003, 20, false);
    put(store, 1004, 30, true);
    assert_true(told(store, VICTIM, true, &profile) == 20);
    assert_true(profile.co_run);
    profiles_close(store);
}

/* Root's rows count for all; of two that are alike the user's own goes first. */
static void test_root(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile stored = profile_store_profile("tag:a", 1000, 5), profile;
    struct profile_query query = {.key = "tag:a", .uid = VICTIM};
    double curve[] = {0, 1}, own[] = {0, 2};
    struct profile_demand demand = {.cores = 1, .curve = curve}, *found;
    struct berth_error err;

    profile_store_put(store, &stored);
    assert_true(told(store, VICTIM, false, &profile) == 5);
    assert_int_equal(profiles_get_distances(store, &query, &profile, &err), 1);
    stored.uid = 1001;
    stored.misses = 6;
    profile_store_put(store, &stored);
    assert_true(told(store, VICTIM, false, &profile) == 5);
    assert_true(told(store, 1001, false, &profile) == 6);
    assert_true(told(store, 0, false, &profile) == 5);
    put(store, 0, 8, false);
    put(store, VICTIM, 9, false);
    assert_true(told(store, VICTIM, false, &profile) == 9);
    assert_true(told(store, 1003, false, &profile) == 8);
    assert_int_equal(profiles_put_demand(store, 1001, "tag:a", &demand, &err), 0);
    assert_int_equal(profiles_get_demand(store, VICTIM, "tag:a", &found, &err), 0);
    assert_int_equal(profiles_put_demand(store, 0, "tag:a", &demand, &err), 0);
    demand.curve = own;
    assert_int_equal(profiles_put_demand(store, VICTIM, "tag:a", &demand, &err), 0);
    assert_int_equal(profiles_get_demand(store, VICTIM, "tag:a", &found, &err), 1);
    assert_true(found->curve[1] == 2);
    profile_demand_free(found);
    profiles_close(store);
}

/* ---- pairs ---- */

static void put_pair(struct profiles *store, uint32_t uid, uint32_t beside, const char *key)
{
    const struct profile_pair pair = {.uid = uid,
                                      .key = key,
                                      .machine = "here",
                                      .cores = 1,
                                      .n = 1,
                                      .beside = {{"tag:b", 1, beside}},
                                      .slowdown = 0.5,
                                      .error = 0.1,
                                      .windows = 1,
                                      .seconds = 1,
                                      .runs = 1,
                                      .measured_at = time(NULL)};
    struct berth_error err = {""};

    if (profiles_put_pairs(store, &pair, 1, &err) < 0)
        fail_msg("%s", err.text);
}

static int count(const struct profile_pair *pair, void *arg)
{
    (void)pair;
    ++*(int *)arg;
    return 0;
}

static int pairs_of(struct profiles *store, enum profile_pairs which, uint32_t uid, const char *key)
{
    const struct profile_pairs_query query = {.which = which, .uid = uid, .key = key};
    struct berth_error err = {""};
    int n = 0;

    if (profiles_each_pair(store, &query, count, &n, &err) < 0)
        fail_msg("%s", err.text);
    return n;
}

static void test_pairs(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    const uint32_t uid = VICTIM;
    struct berth_error err;

    put_pair(store, VICTIM, VICTIM, "tag:a");
    put_pair(store, VICTIM, 1001, "tag:a");
    put_pair(store, 1001, VICTIM, "tag:a");
    put_pair(store, 0, 0, "tag:a");
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ALL, 0, NULL), 4);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_USERS, 0, NULL), 3);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_OF, VICTIM, "tag:a"), 2);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_OF, VICTIM, "tag:b"), 0);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ROOT, 0, "tag:a"), 1);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ROOT, 0, "tag:b"), 1);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ROOT, 0, "tag:c"), 0);
    assert_int_equal(profiles_count(store, &uid, "tag:b", true, &err), 2);
    assert_int_equal(profiles_forget(store, &uid, "tag:b", true, &err), 2);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ALL, 0, NULL), 2);
    profiles_close(store);
}

/* ---- what a user is shown, may forget and may put ---- */

/* All pages of a user, in pages of `most`. The caller frees the text. */
static char *pages_of(struct profiles *store, uint32_t uid, size_t most)
{
    struct berth_error err = {""};
    char *text = NULL;
    uint64_t at = 0;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int rows;

    while ((rows = profiles_page(store, uid, NULL, &at, most, out, &err)) > 0)
        assert_true((size_t)rows <= most * 2);
    if (rows < 0)
        fail_msg("%s", err.text);
    fclose(out);
    return text;
}

static size_t lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_pages(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:mine", 1000, 5);
    double curve[] = {0, 1};
    struct profile_demand demand = {.cores = 1, .curve = curve};
    struct berth_error err;
    char *text;

    for (uint32_t uid = 0; uid <= 4; uid++) {
        struct profile_sample sample = profile_store_sample("tag:mine", 1);

        snprintf(profile.key, sizeof(profile.key), "tag:of%u", uid);
        profile.uid = sample.uid = uid;
        strcpy(sample.key, profile.key);
        profile_store_put(store, &profile);
        for (int i = 0; i < 5; i++) {
            snprintf(sample.shape, sizeof(sample.shape), "--n%d", i);
            profile_store_put_sample(store, &sample);
        }
        put_pair(store, uid, uid, profile.key);
        put_pair(store, uid, (uid + 1) % 5, profile.key);
        assert_int_equal(profiles_put_demand(store, uid, profile.key, &demand, &err), 0);
    }
    for (size_t most = 1; most < 20; most += 3) {
        text = pages_of(store, 2, most);
        assert_int_equal(lines(text), 2 * (1 + 5 + 1 + 1));
        assert_non_null(strstr(text, "tag:of2"));
        assert_non_null(strstr(text, "tag:of0"));
        for (const char *foreign = "134"; *foreign; foreign++) {
            char key[16];

            snprintf(key, sizeof(key), "tag:of%c", *foreign);
            assert_null(strstr(text, key));
        }
        assert_null(strstr(text, "\"uid\":3"));
        free(text);
    }
    text = pages_of(store, 0, 3);
    assert_int_equal(lines(text), 1 + 5 + 1 + 1);
    free(text);
    text = pages_of(store, 9, 100);
    assert_int_equal(lines(text), 1 + 5 + 1 + 1);
    free(text);
    profiles_close(store);
}

static void test_forget(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile;
    struct berth_error err;
    const uint32_t uid = VICTIM;

    put(store, VICTIM, 1, false);
    put(store, 1001, 2, false);
    put(store, 0, 3, false);
    assert_int_equal(profiles_count(store, &uid, "tag:a", false, &err), 1);
    assert_int_equal(profiles_forget(store, &uid, "tag:a", false, &err), 1);
    assert_true(told(store, VICTIM, false, &profile) == 3);
    assert_true(told(store, 1001, false, &profile) == 2);
    assert_int_equal(profiles_count(store, NULL, NULL, false, &err), 2);
    profiles_close(store);
}

/* Too many of one user's rows push out his own, not others'. */
static void test_bounded(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile;
    struct berth_error err;
    const uint32_t uid = 1001;

    put(store, VICTIM, 1, false);
    put(store, 1001, 2, false);
    profile_store_sql(*state, "UPDATE sample SET measured_at = 1 WHERE uid = 1002;"
                              "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i"
                              " WHERE n < 10010) INSERT INTO sample (uid, key, shape, geometry,"
                              " machine, co_run, source, command, llc_bytes, line_bytes, windows,"
                              " seconds, instructions, runs, measured_at, misses) SELECT uid, key,"
                              " 's' || n, '', machine, 0, 'perf', '', 0, 0, 1, 1, 1, 1,"
                              " measured_at + n, 5 FROM sample, i WHERE uid = 1001");
    assert_int_equal(profiles_age(store, 0, &err), 11);
    assert_int_equal(profiles_count(store, &uid, NULL, true, &err), PROFILE_ROWS_OF_ONE);
    assert_true(told(store, VICTIM, false, &profile) == 1);
    profiles_close(store);
}

#define LINE(kind, rest) "{\"version\":1,\"kind\":\"" kind "\",\"key\":\"tag:a\"," rest "}\n"
#define SAMPLE_OF(uid)                                                                             \
    LINE("sample",                                                                                 \
         uid "\"co_run\":false,\"source\":\"perf\",\"measured_at\":5,\"runs\":1,"                  \
             "\"windows\":1,\"seconds\":1,\"instructions\":1,\"rates\":{\"misses\":[9,1]}")
#define PAIR_OF(uid, beside)                                                                       \
    LINE("pair", uid "\"machine\":\"here\",\"cores\":1,\"slowdown\":0.1,\"error\":0.1,"            \
                     "\"windows\":1,\"seconds\":1,\"runs\":1,\"measured_at\":5,"                   \
                     "\"beside\":[{\"key\":\"tag:b\"," beside "\"cores\":1}]")

/* What a user takes in is his, whatever the lines say; what root does is whose they say. */
static void test_import(void **state)
{
    static const char *const foreign[] = {SAMPLE_OF("\"uid\":0,"), SAMPLE_OF("\"uid\":1001,"),
                                          PAIR_OF("\"uid\":1001,", ""), PAIR_OF("", "\"uid\":0,"),
                                          LINE("demand", "\"uid\":1001,\"demand\":{\"curve_gbps\""
                                                         ":[0,1]}")};
    struct profiles *store = profile_store_open(*state, true);
    struct profiles_imported imported;
    struct berth_error err = {""};
    struct profile profile;
    const char *text = SAMPLE_OF("\"uid\":1001,") PAIR_OF("\"uid\":1001,", "");

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        assert_int_equal(profiles_check(VICTIM, foreign[i], strlen(foreign[i]), &err), -1);
        assert_string_equal(err.text, "line 1: uid: 1002 expected, or nothing: only root says what "
                                      "others have measured");
        assert_int_equal(
            profiles_import(store, VICTIM, foreign[i], strlen(foreign[i]), true, &imported, &err),
            -1);
    }
    assert_int_equal(profiles_count(store, NULL, NULL, false, &err), 0);
    text = SAMPLE_OF("") PAIR_OF("", "\"uid\":1002,");
    assert_int_equal(profiles_check(VICTIM, text, strlen(text), &err), 0);
    assert_int_equal(profiles_import(store, VICTIM, text, strlen(text), false, &imported, &err), 0);
    assert_true(told(store, VICTIM, false, &profile) == 9);
    assert_true(told(store, 1001, false, &profile) == -1);
    text = SAMPLE_OF("\"uid\":1001,") PAIR_OF("\"uid\":1001,", "");
    assert_int_equal(profiles_import(store, 0, text, strlen(text), false, &imported, &err), 0);
    assert_true(told(store, 1001, false, &profile) == 9);
    assert_true(told(store, 1003, false, &profile) == -1);
    assert_int_equal(
        profiles_import(store, 0, SAMPLE_OF(""), strlen(SAMPLE_OF("")), false, &imported, &err), 0);
    assert_true(told(store, 1003, false, &profile) == 9);
    profiles_close(store);
}

/* ---- stores of before ---- */

#define RATES                                                                                      \
    "misses REAL, misses_error REAL, accesses REAL, accesses_error REAL, cycles REAL,"             \
    " cycles_error REAL, stalls REAL, stalls_error REAL, reads_remote REAL,"                       \
    " reads_remote_error REAL, instructions_per_s REAL, instructions_per_s_error REAL,"            \
    " bytes_per_s REAL, bytes_per_s_error REAL, cpus REAL, cpus_error REAL, run_delay REAL,"       \
    " run_delay_error REAL, lock_wait REAL, lock_wait_error REAL, switches_per_s REAL,"            \
    " switches_per_s_error REAL, occupancy_bytes REAL, occupancy_bytes_error REAL, rss_bytes"      \
    " REAL, rss_bytes_error REAL, intensity REAL, intensity_error REAL"
#define SCHEMA_1                                                                                   \
    "CREATE TABLE profile_schema (version INTEGER NOT NULL);"                                      \
    "INSERT INTO profile_schema VALUES (1);"                                                       \
    "CREATE TABLE profile (key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL,"        \
    " llc_bytes INTEGER NOT NULL, llc_ways INTEGER NOT NULL, line_bytes INTEGER NOT NULL,"         \
    " machine TEXT NOT NULL, command TEXT NOT NULL, hits TEXT NOT NULL, misses REAL NOT NULL,"     \
    " misses_error REAL, accesses REAL NOT NULL, accesses_error REAL,"                             \
    " instructions INTEGER NOT NULL, refs INTEGER NOT NULL, truncated INTEGER NOT NULL,"           \
    " measured_at INTEGER NOT NULL, source TEXT NOT NULL, instructions_per_s REAL,"                \
    " PRIMARY KEY (key, shape, geometry, llc_bytes, llc_ways, line_bytes));"                       \
    "CREATE TABLE demand (key TEXT PRIMARY KEY, body TEXT NOT NULL);"                              \
    "CREATE TABLE sample (key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL,"         \
    " machine TEXT NOT NULL, co_run INTEGER NOT NULL, source TEXT NOT NULL,"                       \
    " command TEXT NOT NULL, llc_bytes INTEGER NOT NULL, line_bytes INTEGER NOT NULL,"             \
    " windows REAL NOT NULL, seconds REAL NOT NULL, instructions REAL NOT NULL,"                   \
    " runs INTEGER NOT NULL, measured_at INTEGER NOT NULL, " RATES                                 \
    ", PRIMARY KEY (key, shape, geometry, machine, co_run, source));"                              \
    "CREATE INDEX sample_newest ON sample (key, co_run, measured_at, machine);"                    \
    "INSERT INTO profile VALUES ('tag:p', '--token=hunter', '', 1000, 1, 64, '',"                  \
    " './solver --token=hunter', '[1]', 5, NULL, 9, NULL, 1, 1, 0, 5, 'valgrind', NULL);"          \
    "INSERT INTO demand VALUES ('tag:p', '{\"curve_gbps\":[0,1.0]}');"                             \
    "INSERT INTO sample (key, shape, geometry, machine, co_run, source, command, llc_bytes,"       \
    " line_bytes, windows, seconds, instructions, runs, measured_at, misses) VALUES"               \
    " ('tag:s', '--user alice', '', 'here', 0, 'perf', '/opt/s', 0, 0, 1, 1, 1, 1, 5, 7),"         \
    " ('tag:s', '--user bob', '', 'here', 0, 'perf', '/opt/s', 0, 0, 1, 1, 1, 1, 5, 8),"           \
    " ('tag:s', '# #', '', 'here', 0, 'perf', '/opt/s', 0, 0, 1, 1, 1, 1, 6, 9);"
#define SCHEMA_2                                                                                   \
    "UPDATE profile_schema SET version = 2;"                                                       \
    "CREATE TABLE pair_program (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);"                \
    "CREATE TABLE pair_machine (id INTEGER PRIMARY KEY, machine TEXT NOT NULL UNIQUE);"            \
    "CREATE TABLE pair (program INTEGER NOT NULL, machine INTEGER NOT NULL, cores INTEGER NOT"     \
    " NULL, beside TEXT NOT NULL, slowdown REAL NOT NULL, error REAL NOT NULL, windows REAL NOT"   \
    " NULL, seconds REAL NOT NULL, runs INTEGER NOT NULL, measured_at INTEGER NOT NULL,"           \
    " PRIMARY KEY (program, machine, cores, beside)) WITHOUT ROWID;"                               \
    "CREATE INDEX pair_newest ON pair (measured_at);"                                              \
    "INSERT INTO pair_program VALUES (1, 'tag:s'), (2, 'tag:p');"                                  \
    "INSERT INTO pair_machine VALUES (1, 'here');"                                                 \
    "INSERT INTO pair VALUES (1, 1, 1, '2*1', 0.5, 0.1, 1, 1, 1, 5);"

/* What was counted of nobody knows whose runs is one voice; what only root could write is root's.
 * The words of command lines are gone. A reader who may write the file brings it up to date. */
static void migrate(struct profile_store *files, const char *schema, int pairs)
{
    struct profile_query query = {.key = "tag:s", .uid = VICTIM, .median = true};
    struct profile_demand *demand;
    struct profiles *store;
    struct profile profile;
    struct berth_error err = {""};
    struct stat st;
    char *text = NULL;
    size_t size;
    FILE *out;

    snprintf(files->path, sizeof(files->path), "%s/old%d.db", files->folder, pairs);
    profile_store_sql(files, schema);
    assert_int_equal(chmod(files->path, 0644), 0);
    if (profiles_attach(&store, files->path, NULL, &err) < 0)
        fail_msg("%s", err.text);
    if (profiles_get(store, &query, &profile, &err) != 0)
        fail_msg("found, or '%s'", err.text);
    query.uid = PROFILE_NOBODY;
    assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
    query.key = "tag:p";
    query.uid = VICTIM;
    assert_int_equal(profiles_get(store, &query, &profile, &err), 1);
    assert_string_equal(profile.command, "./solver");
    assert_int_equal(profiles_get_demand(store, VICTIM, "tag:p", &demand, &err), 1);
    profile_demand_free(demand);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_ALL, 0, NULL), pairs);
    assert_int_equal(pairs_of(store, PROFILE_PAIRS_OF, PROFILE_NOBODY, "tag:s"), pairs);
    assert_int_equal(profiles_count(store, NULL, NULL, false, &err), 5 + pairs);
    out = open_memstream(&text, &size);
    assert_int_equal(profiles_export(store, NULL, out, &err), 0);
    fclose(out);
    assert_null(strstr(text, "hunter"));
    assert_null(strstr(text, "alice"));
    assert_non_null(strstr(text, "\"shape\":\"# #\""));
    free(text);
    profiles_close(store);
    assert_int_equal(stat(files->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    store = profile_store_open(files, true);
    put(store, VICTIM, 1, false);
    profiles_close(store);
}

static void test_migration(void **state)
{
    migrate(*state, SCHEMA_1, 0);
    migrate(*state, SCHEMA_1 SCHEMA_2, 1);
}

/* Somebody who may only read a file of before is told so. */
static void test_migration_refused(void **state)
{
    struct profile_store *files = *state;
    struct profiles *store;
    struct berth_error err = {""};

    snprintf(files->path, sizeof(files->path), "%s/old.db", files->folder);
    profile_store_sql(files, SCHEMA_1);
    profile_store_sql(files, "PRAGMA user_version = 1; DROP TABLE demand");
    assert_int_equal(profiles_open(&store, files->path, false, &err), -1);
    assert_non_null(strstr(err.text, "schema 1 of an older berth, which cannot be brought to 6: "));
    profile_store_sql(files, "CREATE TABLE demand (key TEXT PRIMARY KEY, body TEXT NOT NULL)");
    assert_int_equal(profiles_open(&store, files->path, false, &err), 0);
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_strangers),
        TEST(test_median),
        TEST(test_co_run_median),
        TEST(test_root),
        TEST(test_pairs),
        TEST(test_pages),
        TEST(test_forget),
        TEST(test_bounded),
        TEST(test_import),
        TEST(test_migration),
        TEST(test_migration_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
