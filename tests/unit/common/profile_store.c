/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_store - see profile_store.h */
#include "tests/unit/common/profile_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "tests/unit/common/folder.h"

int profile_store_setup(void **state)
{
    struct profile_store *files = calloc(1, sizeof(*files));

    assert_non_null(files);
    folder_new(files->folder, sizeof(files->folder), "berth-profiles");
    snprintf(files->path, sizeof(files->path), "%s/new/profiles.db", files->folder);
    *state = files;
    return 0;
}

int profile_store_teardown(void **state)
{
    struct profile_store *files = *state;
    int rc = folder_remove(files->folder);

    free(files);
    return rc;
}

struct profiles *profile_store_open(const struct profile_store *files, bool writable)
{
    struct profiles *store = NULL;
    struct berth_error err = {""};

    if (profiles_open(&store, files->path, writable, &err) < 0)
        fail_msg("%s", err.text);
    return store;
}

void profile_store_sql(const struct profile_store *files, const char *text)
{
    char *why = NULL;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(files->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", text, why);
    sqlite3_close(db);
}

struct profile profile_store_profile(const char *key, uint64_t llc_bytes, double misses)
{
    struct profile profile = {.shape = "-n #",
                              .geometry = "4x2",
                              .machine = "Some CPU; LLC 1000:11",
                              .command = "./solver 'it''s' \"x\"; DROP TABLE profile",
                              .llc_bytes = llc_bytes,
                              .llc_ways = 11,
                              .line_bytes = 64,
                              .hits = {0.1, 1.0 / 3, 1e9, [10] = 1e-300},
                              .misses = misses,
                              .misses_error = misses / 7,
                              .accesses = misses + 1000000000.4333334,
                              .accesses_error = 0.1,
                              .instructions = 123456789012,
                              .references = 45678901234,
                              .truncated = true,
                              .measured_at = 1700000000,
                              .source = "valgrind",
                              .instructions_per_s = 1e9 / 3};

    snprintf(profile.key, sizeof(profile.key), "%s", key);
    return profile;
}

struct profile_sample profile_store_sample(const char *key, double misses)
{
    struct profile_sample sample;

    profile_sample_init(&sample);
    snprintf(sample.key, sizeof(sample.key), "%s", key);
    strcpy(sample.shape, "-n #");
    strcpy(sample.geometry, "4x2");
    strcpy(sample.machine, "here");
    strcpy(sample.source, "perf");
    strcpy(sample.command, "/opt/solver");
    sample.llc_bytes = 1000;
    sample.line_bytes = 64;
    sample.windows = 10;
    sample.seconds = 100;
    sample.instructions = 1e12;
    sample.measured_at = time(NULL);
    sample.rate[PROFILE_MISSES] = (struct profile_estimate){misses, 1};
    return sample;
}

void profile_store_put(struct profiles *store, const struct profile *profile)
{
    struct berth_error err = {""};

    if (profiles_put(store, profile, &err) < 0)
        fail_msg("%s", err.text);
}

void profile_store_put_sample(struct profiles *store, const struct profile_sample *sample)
{
    struct berth_error err = {""};

    if (profiles_put_samples(store, sample, 1, &err) < 0)
        fail_msg("%s", err.text);
}

double profile_store_misses(struct profiles *store, const char *key, uint64_t llc_bytes)
{
    struct profile_query query = {.key = key, .llc_bytes = llc_bytes};
    struct berth_error err = {""};
    struct profile profile;
    int found = profiles_get(store, &query, &profile, &err);

    if (found < 0)
        fail_msg("%s", err.text);
    return found ? profile.misses : -1;
}

char *profile_store_export(struct profiles *store, const uint32_t *reader)
{
    struct berth_error err;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    uint64_t at = 0;

    assert_non_null(out);
    if (reader)
        while (profiles_page(store, *reader, NULL, &at, 1, out, &err) > 0)
            ;
    else
        assert_int_equal(profiles_export(store, NULL, out, &err), 0);
    fclose(out);
    return text;
}

struct profiles_imported profile_store_import(struct profiles *store, uint32_t uid,
                                              const char *text, bool replace)
{
    struct profiles_imported imported;
    struct berth_error err;

    if (profiles_import(store, uid, text, strlen(text), replace, &imported, &err) < 0)
        fail_msg("%s", err.text);
    return imported;
}
