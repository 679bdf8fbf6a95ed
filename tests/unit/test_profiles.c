/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profiles - the profile store: what is put is got back, by several processes, and no file
 * makes it fall over. */
#include "packer/profiles.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sqlite3.h>
#include <cmocka.h>

struct fixture {
    char folder[64], path[128];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/test_profiles.XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->path, sizeof(fixture->path), "%s/new/profiles.db", fixture->folder);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    char path[256];

    unlink(fixture->path);
    snprintf(path, sizeof(path), "%s-journal", fixture->path);
    unlink(path);
    snprintf(path, sizeof(path), "%s/new", fixture->folder);
    rmdir(path);
    assert_int_equal(rmdir(fixture->folder), 0);
    free(fixture);
    return 0;
}

static struct profile sample(const char *key, uint64_t llc_bytes, double misses)
{
    struct profile profile = {.llc_bytes = llc_bytes,
                              .llc_ways = 11,
                              .line_bytes = 64,
                              .hits = {0.1, 1.0 / 3, 1e9, [10] = 1e-300},
                              .misses = misses,
                              .accesses = misses + 1000000000.4333334,
                              .instructions = 123456789012,
                              .references = 45678901234,
                              .truncated = true,
                              .measured_at = 1700000000,
                              .source = "valgrind"};

    snprintf(profile.key, sizeof(profile.key), "%s", key);
    snprintf(profile.command, sizeof(profile.command),
             "./solver 'it''s' \"x\"; DROP TABLE profile");
    return profile;
}

static struct profiles *open_store(const struct fixture *fixture, bool writable)
{
    struct profiles *store = NULL;
    struct berth_error err = {""};

    if (profiles_open(&store, fixture->path, writable, &err) < 0)
        fail_msg("%s", err.text);
    return store;
}

static void put(struct profiles *store, const struct profile *profile)
{
    struct berth_error err = {""};

    if (profiles_put(store, profile, &err) < 0)
        fail_msg("%s", err.text);
}

/* The misses stored under the key for that cache; -1 when there is no such profile. */
static double misses_of(struct profiles *store, const char *key, uint64_t llc_bytes)
{
    struct berth_error err = {""};
    struct profile profile;
    int found = profiles_get(store, key, llc_bytes, &profile, &err);

    if (found < 0)
        fail_msg("%s", err.text);
    return found ? profile.misses : -1;
}

/* Run SQL on the file behind the store's back. */
static void sql(const struct fixture *fixture, const char *text)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_round_trip(void **state)
{
    struct profiles *store = open_store(*state, true);
    struct profile in = sample("tag:it's", 32 << 20, 2000.25), out;
    struct berth_error err;
    struct stat st;

    put(store, &in);
    assert_int_equal(profiles_get(store, "tag:it's", 0, &out, &err), 1);
    assert_memory_equal(out.hits, in.hits, sizeof(in.hits));
    assert_string_equal(out.key, in.key);
    assert_string_equal(out.command, in.command);
    assert_string_equal(out.source, in.source);
    assert_int_equal(out.llc_bytes, in.llc_bytes);
    assert_int_equal(out.llc_ways, in.llc_ways);
    assert_int_equal(out.line_bytes, in.line_bytes);
    assert_true(out.misses == in.misses && out.accesses == in.accesses);
    assert_int_equal(out.instructions, in.instructions);
    assert_int_equal(out.references, in.references);
    assert_int_equal(out.truncated, in.truncated);
    assert_int_equal(out.measured_at, in.measured_at);
    assert_int_equal(stat(((struct fixture *)*state)->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    profiles_close(store);
}

static void test_geometries(void **state)
{
    struct profiles *store = open_store(*state, true);
    struct profile profile = sample("tag:a", 1000, 1);

    put(store, &profile);
    profile = sample("tag:a", 2000, 2);
    profile.measured_at += 5;
    put(store, &profile);
    assert_true(misses_of(store, "tag:a", 1000) == 1);
    assert_true(misses_of(store, "tag:a", 2000) == 2);
    assert_true(misses_of(store, "tag:a", 3000) == 2); /* none fits: the newest */
    assert_true(misses_of(store, "tag:a", 0) == 2);
    profile = sample("tag:a", 1000, 3); /* replaces the first */
    put(store, &profile);
    assert_true(misses_of(store, "tag:a", 1000) == 3);
    assert_true(misses_of(store, "tag:b", 1000) == -1);
    profiles_close(store);
}

static int collect(const struct profile *profile, void *arg)
{
    char *keys = arg;

    strcat(keys, profile->key + strlen("tag:"));
    return strlen(keys) == 2;
}

/* A store of the first schema: read as it is, what it lacks is not known; brought up to date by who
 * writes, under a reader's eyes. */
static void test_older_schema(void **state)
{
    struct fixture *fixture = *state;
    struct profiles *reader, *writer = open_store(fixture, true);
    struct profile profile = sample("tag:old", 1000, 5), out;
    struct profile_demand *demand = NULL;
    struct berth_error err = {""};

    put(writer, &profile);
    profiles_close(writer);
    sql(fixture, "ALTER TABLE profile DROP COLUMN instructions_per_s; DROP TABLE demand;"
                 "PRAGMA user_version = 1");
    reader = open_store(fixture, false);
    assert_int_equal(profiles_get(reader, "tag:old", 0, &out, &err), 1);
    assert_true(out.misses == 5 && out.instructions_per_s == 0);
    assert_true(isnan(profile_core_gbps(&out)));
    assert_int_equal(profiles_get_demand(reader, "tag:old", &demand, &err), 0);
    writer = open_store(fixture, true);
    profile = sample("tag:new", 1000, 1e6 / 64);
    profile.instructions_per_s = 2e9;
    put(writer, &profile);
    assert_int_equal(profiles_get(reader, "tag:new", 0, &out, &err), 1);
    assert_true(out.instructions_per_s == 2e9);
    assert_true(fabs(profile_core_gbps(&out) - 2) < 1e-9);
    assert_true(misses_of(reader, "tag:old", 0) == 5);
    profiles_close(reader);
    profiles_close(writer);
}

static void test_demand(void **state)
{
    struct profiles *store = open_store(*state, true);
    struct profile profile = sample("tag:a", 1000, 5);
    double curve[] = {0, 1.5, 2};
    struct profile_demand in = {.cores = 2, .curve = curve}, *out = NULL;
    struct berth_error err = {""};

    assert_int_equal(profiles_get_demand(store, "tag:a", &out, &err), 0);
    put(store, &profile);
    assert_int_equal(profiles_put_demand(store, "tag:a", &in, &err), 0);
    in.cores = 1;
    assert_int_equal(profiles_put_demand(store, "tag:a", &in, &err), 0); /* replaced */
    assert_int_equal(profiles_get_demand(store, "tag:a", &out, &err), 1);
    assert_int_equal(out->cores, 1);
    assert_true(out->curve[1] == 1.5);
    profile_demand_free(out);
    sql(*state, "UPDATE demand SET body = '{\"curve_gbps\":[0'");
    assert_int_equal(profiles_get_demand(store, "tag:a", &out, &err), -1);
    assert_non_null(strstr(err.text, "damaged"));
    assert_int_equal(profiles_forget(store, "tag:a", &err), 1);
    assert_int_equal(profiles_get_demand(store, "tag:a", &out, &err), 0);
    profiles_close(store);
}

static void test_each_and_forget(void **state)
{
    struct profiles *store = open_store(*state, true);
    static const char *const key[] = {"tag:a", "tag:b", "tag:c"};
    struct berth_error err;
    char keys[8] = "";

    for (int i = 0; i < 3; i++) {
        struct profile profile = sample(key[i], 1000, i);

        profile.measured_at += i == 1 ? 10 : i;
        put(store, &profile);
    }
    assert_int_equal(profiles_each(store, collect, keys, &err), 0);
    assert_string_equal(keys, "bc"); /* newest first; the visitor stopped it */
    assert_int_equal(profiles_forget(store, "tag:b", &err), 1);
    assert_int_equal(profiles_forget(store, "tag:b", &err), 0);
    keys[0] = '\0';
    assert_int_equal(profiles_each(store, collect, keys, &err), 0);
    assert_string_equal(keys, "ca");
    profiles_close(store);
}

/* A reader that came before the store existed sees what is written later, and a store that was
 * replaced or removed. */
static void test_reader_follows_the_path(void **state)
{
    struct fixture *fixture = *state;
    struct profiles *reader = open_store(fixture, false), *writer;
    struct profile profile = sample("tag:a", 1000, 1);

    assert_true(misses_of(reader, "tag:a", 0) == -1);
    assert_int_equal(access(fixture->path, F_OK), -1); /* reading creates nothing */
    for (int round = 1; round <= 2; round++) {
        writer = open_store(fixture, true);
        profile.misses = round;
        put(writer, &profile);
        profiles_close(writer);
        assert_true(misses_of(reader, "tag:a", 0) == round);
        assert_int_equal(unlink(fixture->path), 0);
        assert_true(misses_of(reader, "tag:a", 0) == -1);
    }
    profiles_close(reader);
}

static void test_bad_files(void **state)
{
    struct fixture *fixture = *state;
    static const char *const sqls[] = {
        "CREATE TABLE other (a)",
        "PRAGMA user_version = 999",
        "CREATE TABLE other (a); PRAGMA user_version = -1",
    };
    struct berth_error err;
    struct profiles *store;

    profiles_close(open_store(fixture, true));
    for (size_t i = 0; i <= sizeof(sqls) / sizeof(sqls[0]); i++) {
        assert_int_equal(unlink(fixture->path), 0);
        if (i == sizeof(sqls) / sizeof(sqls[0])) {
            FILE *file = fopen(fixture->path, "w");

            for (int line = 0; line < 100; line++)
                fprintf(file, "this is no database, and long enough to be looked at\n");
            fclose(file);
        } else {
            sql(fixture, sqls[i]);
        }
        for (int writable = 0; writable <= 1; writable++) {
            err.text[0] = '\0';
            assert_int_equal(profiles_open(&store, fixture->path, writable, &err), -1);
            assert_non_null(strstr(err.text, fixture->path));
        }
    }
}

static void test_empty_file_is_an_empty_store(void **state)
{
    struct fixture *fixture = *state;
    struct profiles *reader, *writer;
    struct profile profile = sample("tag:a", 1000, 7);

    profiles_close(open_store(fixture, true));
    assert_int_equal(truncate(fixture->path, 0), 0);
    reader = open_store(fixture, false);
    assert_true(misses_of(reader, "tag:a", 0) == -1);
    writer = open_store(fixture, true);
    put(writer, &profile);
    assert_true(misses_of(reader, "tag:a", 0) == 7);
    profiles_close(writer);
    profiles_close(reader);
}

/* A row that somebody damaged is an error of that row, not a profile. */
static void test_damaged_row(void **state)
{
    static const char *const update[] = {"hits = '[1,2]'", "hits = 'x'", "hits = '{}'",
                                         "llc_ways = 65", "llc_ways = -1"};
    struct profiles *store = open_store(*state, true);
    struct profile profile = sample("tag:a", 1000, 1), out;
    struct berth_error err;
    char text[128];

    for (size_t i = 0; i < sizeof(update) / sizeof(update[0]); i++) {
        assert_true(profiles_forget(store, "tag:a", &err) >= 0);
        put(store, &profile);
        snprintf(text, sizeof(text), "UPDATE profile SET %s", update[i]);
        sql(*state, text);
        assert_int_equal(profiles_get(store, "tag:a", 0, &out, &err), -1);
        assert_non_null(strstr(err.text, "tag:a"));
    }
    profiles_close(store);
}

/* While another process holds the file locked, a reader gives up soon and can read again
 * afterwards. */
static void test_locked(void **state)
{
    struct fixture *fixture = *state;
    struct profiles *writer = open_store(fixture, true), *reader = open_store(fixture, false);
    struct profile profile = sample("tag:a", 1000, 1), out;
    struct berth_error err;
    sqlite3 *locker;

    put(writer, &profile);
    assert_int_equal(sqlite3_open(fixture->path, &locker), SQLITE_OK);
    assert_int_equal(sqlite3_exec(locker, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(profiles_get(reader, "tag:a", 0, &out, &err), -1);
    assert_non_null(strstr(err.text, "busy"));
    assert_int_equal(sqlite3_exec(locker, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(locker);
    assert_true(misses_of(reader, "tag:a", 0) == 1);
    profiles_close(reader);
    profiles_close(writer);
}

/* Processes that begin the store and write it at once: nothing is lost. */
static void test_many_writers(void **state)
{
    enum { WRITERS = 4, EACH = 10 };
    struct fixture *fixture = *state;
    struct profiles *store;
    char key[32];
    int status;

    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            struct berth_error err;
            int rc = profiles_open(&store, fixture->path, true, &err);

            for (int i = 0; rc == 0 && i < EACH; i++) {
                struct profile profile;

                snprintf(key, sizeof(key), "tag:%d.%d", w, i);
                profile = sample(key, 1000, w * EACH + i);
                rc = profiles_put(store, &profile, &err);
            }
            if (rc != 0)
                fprintf(stderr, "%s\n", err.text);
            _exit(rc != 0);
        }
    for (int w = 0; w < WRITERS; w++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    store = open_store(fixture, false);
    for (int i = 0; i < WRITERS * EACH; i++) {
        snprintf(key, sizeof(key), "tag:%d.%d", i / EACH, i % EACH);
        assert_true(misses_of(store, key, 0) == i);
    }
    profiles_close(store);
}

static void test_no_folder(void **state)
{
    static const char *const path[] = {"", "/nonexistent/a/b/profiles.db", "/proc/profiles.db"};
    struct profiles *store;
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
        assert_int_equal(profiles_open(&store, path[i], true, &err), -1);
    assert_int_equal(profiles_open(&store, path[1], false, &err), 0);
    profiles_close(store);
}

static void test_keys(void **state)
{
    char key[PROFILE_KEY_MAX];

    (void)state;
    profile_key_exe(key, "/opt/a b/solver", "0123");
    assert_string_equal(key, "exe:/opt/a b/solver#0123");
    profile_key_tag(key, "solver-v2");
    assert_string_equal(key, "tag:solver-v2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),       TEST(test_geometries),
        TEST(test_older_schema),     TEST(test_demand),
        TEST(test_each_and_forget),  TEST(test_reader_follows_the_path),
        TEST(test_bad_files),        TEST(test_empty_file_is_an_empty_store),
        TEST(test_damaged_row),      TEST(test_locked),
        TEST(test_many_writers),     cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
