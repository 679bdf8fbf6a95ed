/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profiles_db - the file under the profile store: many writers, full disks, writes that were
 * interrupted, and no file makes it fall over. */
#include "tests/unit/common/profile_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#define NOBODY 65534

/* ---- the path ---- */

/* A reader that came before the store existed sees what is written later, and a store that was
 * replaced or removed. */
static void test_reader_follows_the_path(void **state)
{
    struct profile_store *files = *state;
    struct profiles *reader = profile_store_open(files, false), *writer;
    struct profile profile = profile_store_profile("tag:a", 1000, 1);

    assert_true(profile_store_misses(reader, "tag:a", 0) == -1);
    assert_int_equal(access(files->path, F_OK), -1); /* reading creates nothing */
    for (int round = 1; round <= 2; round++) {
        writer = profile_store_open(files, true);
        profile.misses = round;
        profile_store_put(writer, &profile);
        profiles_close(writer);
        assert_true(profile_store_misses(reader, "tag:a", 0) == round);
        assert_int_equal(unlink(files->path), 0);
        assert_true(profile_store_misses(reader, "tag:a", 0) == -1);
    }
    profiles_close(reader);
}

/* A writer, too: it begins the store anew. */
static void test_writer_follows_the_path(void **state)
{
    struct profile_store *files = *state;
    struct profiles *writer = profile_store_open(files, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1);

    profile_store_put(writer, &profile);
    assert_int_equal(unlink(files->path), 0);
    strcpy(profile.key, "tag:b");
    profile_store_put(writer, &profile);
    assert_true(profile_store_misses(writer, "tag:a", 0) == -1);
    assert_true(profile_store_misses(writer, "tag:b", 0) == 1);
    profiles_close(writer);
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

/* ---- what is in the file ---- */

static void test_bad_files(void **state)
{
    struct profile_store *files = *state;
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"CREATE TABLE other (a)", "no profile store"},
        {"CREATE TABLE profile_schema (version); INSERT INTO profile_schema VALUES (999)",
         "schema 999 of a newer berth"},
        {"CREATE TABLE profile (a); PRAGMA user_version = 3", "no profile store"},
        {NULL, "damaged, or no profile store"},
    };
    struct berth_error err;
    struct profiles *store;

    profiles_close(profile_store_open(files, true));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(unlink(files->path), 0);
        if (cases[i].sql) {
            profile_store_sql(files, cases[i].sql);
        } else {
            FILE *file = fopen(files->path, "w");

            for (int line = 0; line < 100; line++)
                fprintf(file, "this is no database, and long enough to be looked at\n");
            fclose(file);
        }
        for (int writable = 0; writable <= 1; writable++) {
            err.text[0] = '\0';
            assert_int_equal(profiles_open(&store, files->path, writable, &err), -1);
            assert_non_null(strstr(err.text, files->path));
            assert_non_null(strstr(err.text, cases[i].says));
        }
    }
}

/* A file whose pages were overwritten: clear words, for who reads and who writes. */
static void test_corrupt_pages(void **state)
{
    struct profile_store *files = *state;
    struct profiles *store = profile_store_open(files, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1);
    struct profile_query query = {.key = "tag:a"};
    struct berth_error err;
    char junk[4096];
    FILE *file;

    profile_store_put(store, &profile);
    profiles_close(store);
    file = fopen(files->path, "r+");
    assert_non_null(file);
    memset(junk, 0x5a, sizeof(junk));
    fseek(file, 3 * 4096, SEEK_SET); /* all but the first pages, which have the schema */
    for (int i = 0; i < 6; i++)
        assert_int_equal(fwrite(junk, sizeof(junk), 1, file), 1);
    fclose(file);
    assert_int_equal(profiles_open(&store, files->path, false, &err), 0);
    assert_int_equal(profiles_get(store, &query, &profile, &err), -1);
    assert_non_null(strstr(err.text, "damaged"));
    profiles_close(store);
    assert_int_equal(profiles_open(&store, files->path, true, &err), 0);
    assert_int_equal(profiles_put(store, &profile, &err), -1);
    assert_non_null(strstr(err.text, "damaged"));
    profiles_close(store);
}

static void test_empty_file_is_an_empty_store(void **state)
{
    struct profile_store *files = *state;
    struct profiles *reader, *writer;
    struct profile profile = profile_store_profile("tag:a", 1000, 7);

    profiles_close(profile_store_open(files, true));
    assert_int_equal(truncate(files->path, 0), 0);
    reader = profile_store_open(files, false);
    assert_true(profile_store_misses(reader, "tag:a", 0) == -1);
    writer = profile_store_open(files, true);
    profile_store_put(writer, &profile);
    assert_true(profile_store_misses(reader, "tag:a", 0) == 7);
    profiles_close(writer);
    profiles_close(reader);
}

/* ---- several at once ---- */

/* While another process holds the file locked, a reader gives up soon and can read again
 * afterwards. */
static void test_locked(void **state)
{
    struct profile_store *files = *state;
    struct profiles *writer = profile_store_open(files, true),
                    *reader = profile_store_open(files, false);
    struct profile profile = profile_store_profile("tag:a", 1000, 1), out;
    struct profile_query query = {.key = "tag:a"};
    struct berth_error err;
    sqlite3 *locker;

    profile_store_put(writer, &profile);
    assert_int_equal(sqlite3_open(files->path, &locker), SQLITE_OK);
    assert_int_equal(sqlite3_exec(locker, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(profiles_get(reader, &query, &out, &err), -1);
    assert_non_null(strstr(err.text, "busy"));
    assert_int_equal(sqlite3_exec(locker, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(locker);
    assert_true(profile_store_misses(reader, "tag:a", 0) == 1);
    profiles_close(reader);
    profiles_close(writer);
}

/* One of the writers: a profile and a sample of its own, and a run of the sample they share, each
 * in a transaction of its own. */
static int write_many(const struct profile_store *files, int writer, int each)
{
    struct profiles *store;
    struct berth_error err;
    int rc = profiles_open(&store, files->path, true, &err);

    for (int i = 0; rc == 0 && i < each; i++) {
        struct profile_sample sample = profile_store_sample("tag:shared", 100);
        struct profile profile;
        char key[32];

        snprintf(key, sizeof(key), "tag:%d.%d", writer, i);
        profile = profile_store_profile(key, 1000, writer * each + i);
        rc = i % 2 ? profiles_put(store, &profile, &err)
                   : profiles_put_samples(store, &sample, 1, &err);
    }
    if (rc != 0)
        fprintf(stderr, "%s\n", err.text);
    return rc != 0;
}

/* Processes that begin the store and write it at once: nothing is lost. */
static void test_many_writers(void **state)
{
    enum { WRITERS = 8, EACH = 100 };
    struct profile_store *files = *state;
    struct profile_query query = {.key = "tag:shared"};
    struct profile_sample shared;
    struct profiles *store;
    struct berth_error err;
    char key[32];
    int status, failed = 0;

    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0)
            _exit(write_many(files, w, EACH));
    for (int w = 0; w < WRITERS; w++) {
        assert_true(wait(&status) > 0);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
    store = profile_store_open(files, false);
    for (int i = 0; i < WRITERS * EACH; i++) {
        snprintf(key, sizeof(key), "tag:%d.%d", i / EACH, i % EACH);
        assert_true(profile_store_misses(store, key, 0) == (i % 2 ? i : -1));
    }
    assert_int_equal(profiles_get_sample(store, &query, PROFILE_MISSES, &shared, &err), 1);
    assert_int_equal(shared.runs, WRITERS * EACH / 2);
    assert_true(shared.windows == 10.0 * WRITERS * EACH / 2);
    profiles_close(store);
}

/* ---- interrupted ---- */

/* Die by SIGKILL in the middle of a transaction, with pages of it already in the file: the cache is
 * too small for them. */
static void die_writing(const struct profile_store *files)
{
    sqlite3 *db;

    if (sqlite3_open(files->path, &db) == SQLITE_OK)
        sqlite3_exec(db,
                     "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                     "UPDATE profile SET misses = 666;"
                     "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < 1000) INSERT INTO demand SELECT 0, 'tag:' || i,"
                     " hex(randomblob(2000)) FROM n",
                     NULL, NULL, NULL);
    kill(getpid(), SIGKILL);
}

static void interrupt_write(const struct profile_store *files)
{
    char journal[160];
    struct stat st;
    int status;

    if (fork() == 0)
        die_writing(files);
    assert_true(wait(&status) > 0);
    assert_true(WIFSIGNALED(status));
    snprintf(journal, sizeof(journal), "%s-journal", files->path);
    assert_int_equal(stat(journal, &st), 0);
    assert_true(st.st_size > 0);
}

/* A reader who may write the file undoes what was left. */
static void test_killed_writer(void **state)
{
    struct profile_store *files = *state;
    struct profiles *writer = profile_store_open(files, true), *reader;
    struct profile profile = profile_store_profile("tag:a", 1000, 1);
    struct profile_demand *demand;
    struct berth_error err;

    profile_store_put(writer, &profile);
    interrupt_write(files);
    reader = profile_store_open(files, false);
    assert_true(profile_store_misses(reader, "tag:a", 0) == 1);
    assert_int_equal(profiles_get_demand(reader, 0, "tag:1", &demand, &err), 0);
    interrupt_write(files); /* under the eyes of both */
    assert_true(profile_store_misses(reader, "tag:a", 0) == 1);
    interrupt_write(files);
    profile.misses = 2;
    profile_store_put(writer, &profile);
    assert_true(profile_store_misses(reader, "tag:a", 0) == 2);
    profiles_close(reader);
    profiles_close(writer);
}

/* ---- a full disk ---- */

static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit before, limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){bytes, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

/* No file may grow: what does not fit is not stored, in words that say so; all else is as before,
 * and writing goes on when there is room again. */
static void test_no_room(void **state)
{
    struct profile_store *files = *state;
    struct profiles *store = profile_store_open(files, true), *reader;
    struct profile profile = profile_store_profile("tag:a", 1000, 1);
    struct profile_sample samples[64];
    struct rlimit before;
    struct berth_error err = {""};
    char key[32] = "";
    struct stat st;
    int failed = 0;

    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 64; i++) {
        samples[i] = profile_store_sample("tag:s", i);
        snprintf(samples[i].shape, sizeof(samples[i].shape), "%d", i);
    }
    profile_store_put(store, &profile);
    assert_int_equal(stat(files->path, &st), 0);
    before = limit_files((rlim_t)st.st_size);
    for (int i = 0; i < 64 && !failed; i++) {
        snprintf(key, sizeof(key), "tag:batch%d", i);
        for (int j = 0; j < 64; j++)
            strcpy(samples[j].key, key);
        failed = profiles_put_samples(store, samples, 64, &err) < 0;
    }
    assert_true(failed);
    assert_non_null(strstr(err.text, files->path));
    assert_non_null(strstr(err.text, "a quota, a limit"));
    reader = profile_store_open(files, false);
    assert_true(profile_store_misses(reader, "tag:a", 0) == 1);
    assert_true(profile_store_misses(store, key, 0) == -1); /* none of the batch */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(profiles_put_samples(store, samples, 64, &err), 0);
    assert_true(profile_store_misses(reader, key, 0) >= 0);
    profiles_close(reader);
    profiles_close(store);
    signal(SIGXFSZ, SIG_DFL);
}

/* ---- rights ---- */

/* Run a function as nobody. What it returns, or skip where that cannot be. */
static int as_nobody(int (*run)(const struct profile_store *), const struct profile_store *files)
{
    int status;

    if (geteuid() != 0) {
        print_message("skipped: needs root to become somebody else\n");
        skip();
    }
    if (fork() == 0) {
        if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(100);
        _exit(run(files));
    }
    assert_true(wait(&status) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int read_a(const struct profile_store *files)
{
    struct profile_query query = {.key = "tag:a"};
    struct profiles *store = NULL;
    struct profile profile;
    struct berth_error err = {""};
    int found = -1;

    if (profiles_open(&store, files->path, false, &err) == 0)
        found = profiles_get(store, &query, &profile, &err);
    profiles_close(store);
    if (found < 0)
        return strstr(err.text, "interrupted") ? 2 : strstr(err.text, "denied") ? 3 : 4;
    return found == 1 && profile.misses == 1 ? 0 : 1;
}

static int write_a(const struct profile_store *files)
{
    struct profiles *store = NULL;
    struct berth_error err = {""};

    if (profiles_open(&store, files->path, true, &err) == 0)
        return 1;
    return strstr(err.text, "ermission") ? 0 : 2;
}

/* Only root and the file's group may read it; who may, needs not be able to write the file or its
 * folder. */
static void test_of_another_owner(void **state)
{
    struct profile_store *files = *state;
    struct profiles *store = profile_store_open(files, true);
    struct profile profile = profile_store_profile("tag:a", 1000, 1);
    struct stat st;

    profile_store_put(store, &profile);
    assert_int_equal(chmod(files->folder, 0755), 0);
    assert_int_equal(stat(files->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(as_nobody(read_a, files), 3);
    assert_int_equal(as_nobody(write_a, files), 0);
    assert_int_equal(chmod(files->path, 0644), 0); /* as older ones are, until root opens them */
    assert_int_equal(as_nobody(read_a, files), 0);
    profiles_close(profile_store_open(files, false));
    assert_int_equal(as_nobody(read_a, files), 3);
    assert_int_equal(chmod(files->path, 0666), 0); /* but its folder */
    assert_int_equal(as_nobody(read_a, files), 0);
    assert_int_equal(as_nobody(write_a, files), 0);
    assert_int_equal(chmod(files->path, 0644), 0);
    interrupt_write(files);
    assert_int_equal(as_nobody(read_a, files), 2);
    assert_true(profile_store_misses(store, "tag:a", 0) == 1);
    assert_int_equal(as_nobody(read_a, files), 0);
    assert_int_equal(chmod(files->path, 0600), 0);
    assert_int_equal(as_nobody(read_a, files), 3);
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reader_follows_the_path),
        TEST(test_writer_follows_the_path),
        cmocka_unit_test(test_no_folder),
        TEST(test_bad_files),
        TEST(test_corrupt_pages),
        TEST(test_empty_file_is_an_empty_store),
        TEST(test_locked),
        TEST(test_many_writers),
        TEST(test_killed_writer),
        TEST(test_no_room),
        TEST(test_of_another_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
