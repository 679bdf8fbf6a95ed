/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_median - what the median user's runs of a program were counted to do (profiles.h).
 *
 * Each user has one voice, however many runs, so that nobody's is worth more than another's; and it
 * takes three, for the median of two lies between them: one who lies would move it where he wants.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/profiles/db.h"

#define LOOKED_AT 512 /* samples: a launch waits for it */

/* One user's best sample. */
struct voice {
    uint32_t uid;
    double misses, accesses, cycles, windows, seconds, instructions;
    bool co_run;
};

struct voices {
    size_t n;
    int64_t newest;
    unsigned line_bytes;
    struct voice voice[LOOKED_AT];
};

/* The newest samples of the users, each user's best first. */
#define SAMPLES                                                                                    \
    "SELECT uid, misses, accesses, cycles, co_run, measured_at, line_bytes, windows, seconds, "    \
    "instructions FROM (SELECT * FROM"                                                             \
    " sample WHERE key = ?1 AND uid <> ?7 AND uid <> 0 AND misses IS NOT NULL"                     \
    " AND (?4 = '' OR machine = ?4) AND measured_at >= ?6 ORDER BY measured_at DESC LIMIT ?8)"     \
    " ORDER BY uid, co_run, shape = ?2 DESC, geometry = ?3 DESC, measured_at DESC"

static int read_voices(struct profiles *store, const struct profile_query *query,
                       struct voices *voices, struct berth_error *err)
{
    struct sql_statement *row = profiles_prepare(store, SAMPLES, NULL, err);
    int rc;

    if (row) {
        profiles_bind_query(row, query);
        sql_bind_int(row, 7, LOOKED_AT);
    }
    while ((rc = row ? sql_step(row, err) : -1) == 1) {
        uint32_t uid = (uint32_t)sql_int(row, 0);

        if (voices->n && voices->voice[voices->n - 1].uid == uid)
            continue;
        voices->voice[voices->n++] = (struct voice){.uid = uid,
                                                    .misses = sql_double(row, 1),
                                                    .accesses = sql_double(row, 2),
                                                    .cycles = sql_double(row, 3),
                                                    .co_run = sql_int(row, 4) != 0,
                                                    .windows = sql_double(row, 7),
                                                    .seconds = sql_double(row, 8),
                                                    .instructions = sql_double(row, 9)};
        if (sql_int(row, 5) > voices->newest)
            voices->newest = sql_int(row, 5);
        voices->line_bytes = (unsigned)sql_int(row, 6);
    }
    sql_finish(row);
    return rc;
}

/* Leaves those who ran it alone, where they are enough. */
static bool prefer_solo(struct voices *voices)
{
    size_t solo = 0, n = 0;

    for (size_t i = 0; i < voices->n; i++)
        solo += !voices->voice[i].co_run;
    if (solo < PROFILE_MEDIAN_LEAST)
        return solo == voices->n;
    for (size_t i = 0; i < voices->n; i++)
        if (!voices->voice[i].co_run)
            voices->voice[n++] = voices->voice[i];
    voices->n = n;
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the median of those that are known; NAN where they are too few. */
static double median(const struct voices *voices, size_t offset)
{
    double value[LOOKED_AT];
    size_t n = 0;

    for (size_t i = 0; i < voices->n; i++) {
        memcpy(&value[n], (const char *)&voices->voice[i] + offset, sizeof(value[n]));
        n += !isnan(value[n]);
    }
    if (n < PROFILE_MEDIAN_LEAST)
        return NAN;
    qsort(value, n, sizeof(value[0]), compare);
    return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* Reads the voices where they are enough: 1, 0 they are not, -1 and err. */
static int gather(struct profiles *store, const struct profile_query *query, struct voices *voices,
                  struct berth_error *err)
{
    int rc = profiles_readable(store, err);

    *voices = (struct voices){0};
    if (rc != 1)
        return rc;
    return read_voices(store, query, voices, err) < 0 ? -1 : voices->n >= PROFILE_MEDIAN_LEAST;
}

int profiles_median_sample(struct profiles *store, const struct profile_query *query,
                           struct profile_sample *sample, struct berth_error *err)
{
    struct voices voices;
    int rc = gather(store, query, &voices, err);

    if (rc != 1)
        return rc;
    profile_sample_init(sample);
    sample->uid = PROFILE_NOBODY;
    sample->co_run = !prefer_solo(&voices);
    sample->runs = voices.n;
    sample->measured_at = voices.newest;
    for (size_t i = 0; i < voices.n; i++) {
        sample->windows += voices.voice[i].windows;
        sample->seconds += voices.voice[i].seconds;
        sample->instructions += voices.voice[i].instructions;
    }
    sample->rate[PROFILE_MISSES].mean = median(&voices, offsetof(struct voice, misses));
    sample->rate[PROFILE_ACCESSES].mean = median(&voices, offsetof(struct voice, accesses));
    sample->rate[PROFILE_CYCLES].mean = median(&voices, offsetof(struct voice, cycles));
    snprintf(sample->key, sizeof(sample->key), "%s", query->key);
    snprintf(sample->machine, sizeof(sample->machine), "%s", query->machine ? query->machine : "");
    snprintf(sample->source, sizeof(sample->source), "median of %zu users", voices.n);
    return 1;
}

int profiles_get_median(struct profiles *store, const struct profile_query *query,
                        struct profile *profile, struct berth_error *err)
{
    struct voices voices;
    int rc = gather(store, query, &voices, err);

    if (rc != 1)
        return rc;
    memset(profile, 0, sizeof(*profile));
    profile->uid = PROFILE_NOBODY;
    profile->co_run = !prefer_solo(&voices);
    profile->runs = voices.n;
    profile->measured_at = voices.newest;
    profile->llc_bytes = query->llc_bytes;
    profile->line_bytes = voices.line_bytes;
    profile->misses = median(&voices, offsetof(struct voice, misses));
    profile->accesses = median(&voices, offsetof(struct voice, accesses));
    profile->cycles = median(&voices, offsetof(struct voice, cycles));
    profile->misses_error = profile->accesses_error = NAN;
    snprintf(profile->key, sizeof(profile->key), "%s", query->key);
    snprintf(profile->machine, sizeof(profile->machine), "%s",
             query->machine ? query->machine : "");
    snprintf(profile->source, sizeof(profile->source), "median of %zu users", voices.n);
    return 1;
}
