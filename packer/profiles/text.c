/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_text - the rows of the profile store as JSON lines, there and back (profiles.h).
 *
 * Each line stands alone, so that exports of several nodes can be joined: its "version" is 1, its
 * "kind" one of profile, sample, pair, demand, threads and binding. Numbers are in full precision:
 * what is imported into an empty store is exported as the same text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"
#include "enum_table.h"

#define FORMAT 1

enum kind { KIND_PROFILE, KIND_SAMPLE, KIND_PAIR, KIND_DEMAND, KIND_THREADS, KIND_BINDING, KINDS };
static const char *const TABLE(kind_name, KINDS) = {
    ROW(KIND_PROFILE) = "profile", ROW(KIND_SAMPLE) = "sample",   ROW(KIND_PAIR) = "pair",
    ROW(KIND_DEMAND) = "demand",   ROW(KIND_THREADS) = "threads", ROW(KIND_BINDING) = "binding",
};
TABLE_COMPLETE(kind_name);

/* ---- the fields ---- */

#define PROFILE(member, need) JSON_FIELD(struct profile, #member, member, need)
#define SAMPLE(member, need) JSON_FIELD(struct profile_sample, #member, member, need)
#define RATE(member, need, most) JSON_RANGE(struct profile, #member, member, need, 0, most)
#define AMOUNT(member, need, most) JSON_RANGE(struct profile_sample, #member, member, need, 0, most)

/* What no program reaches: a row beyond it is refused, for what is predicted from it for others
 * would be nonsense, too. */
#define PMI_MAX 2e6 /* each instruction crosses a line's end */
#define INSTRUCTIONS_PER_S_MAX 1e12

static const double TABLE(rate_max, PROFILE_RATES) = {
    ROW(PROFILE_MISSES) = PMI_MAX,       ROW(PROFILE_ACCESSES) = PMI_MAX,
    ROW(PROFILE_CYCLES) = 1e12,          ROW(PROFILE_STALLS) = 1e12,
    ROW(PROFILE_READS_REMOTE) = PMI_MAX, ROW(PROFILE_INSTRUCTIONS_PER_S) = INSTRUCTIONS_PER_S_MAX,
    ROW(PROFILE_BYTES_PER_S) = 1e15,     ROW(PROFILE_CPUS) = 1e6,
    ROW(PROFILE_RUN_DELAY) = 1e9,        ROW(PROFILE_LOCK_WAIT) = 1e9,
    ROW(PROFILE_SWITCHES_PER_S) = 1e12,  ROW(PROFILE_OCCUPANCY_BYTES) = 1e18,
    ROW(PROFILE_RSS_BYTES) = 1e18,       ROW(PROFILE_INTENSITY) = 1e3,
    ROW(PROFILE_SYSTEM) = 1e6,           ROW(PROFILE_THREADS) = 1e9,
};
TABLE_COMPLETE(rate_max);

static const struct json_field profile_fields[] = {
    PROFILE(uid, OPTIONAL),
    PROFILE(shape, OPTIONAL),
    PROFILE(geometry, OPTIONAL),
    PROFILE(machine, OPTIONAL),
    PROFILE(source, REQUIRED),
    PROFILE(command, OPTIONAL),
    JSON_RANGE(struct profile, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    PROFILE(llc_bytes, REQUIRED),
    JSON_RANGE(struct profile, "llc_ways", llc_ways, REQUIRED, 0, PROFILE_WAYS_MAX),
    PROFILE(line_bytes, REQUIRED),
    RATE(misses, REQUIRED, PMI_MAX),
    RATE(misses_error, OPTIONAL, PMI_MAX),
    RATE(accesses, REQUIRED, PMI_MAX),
    RATE(accesses_error, OPTIONAL, PMI_MAX),
    PROFILE(instructions, REQUIRED),
    PROFILE(references, REQUIRED),
    PROFILE(truncated, OPTIONAL),
    RATE(instructions_per_s, OPTIONAL, INSTRUCTIONS_PER_S_MAX),
    JSON_END,
};
static const struct json_field hit_item = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = PMI_MAX};

#define RUNS_MAX 1e15

static const struct json_field sample_fields[] = {
    SAMPLE(uid, OPTIONAL),
    SAMPLE(shape, OPTIONAL),
    SAMPLE(geometry, OPTIONAL),
    SAMPLE(machine, OPTIONAL),
    SAMPLE(co_run, REQUIRED),
    SAMPLE(source, REQUIRED),
    SAMPLE(command, OPTIONAL),
    JSON_RANGE(struct profile_sample, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    SAMPLE(llc_bytes, OPTIONAL),
    SAMPLE(line_bytes, OPTIONAL),
    JSON_RANGE(struct profile_sample, "runs", runs, REQUIRED, 1, RUNS_MAX),
    AMOUNT(windows, REQUIRED, 1e15),
    AMOUNT(seconds, REQUIRED, 1e15),
    AMOUNT(instructions, REQUIRED, 1e24),
    JSON_END,
};

#define THREADS(member, need) JSON_FIELD(struct profile_threads, #member, member, need)
#define THREADS_MAX 1048576

static const struct json_field threads_fields[] = {
    THREADS(uid, OPTIONAL),
    THREADS(shape, OPTIONAL),
    THREADS(machine, OPTIONAL),
    JSON_RANGE(struct profile_threads, "cores", cores, REQUIRED, 1, THREADS_MAX),
    JSON_RANGE(struct profile_threads, "threads", threads, REQUIRED, 1, THREADS_MAX),
    THREADS(environment, OPTIONAL),
    JSON_RANGE(struct profile_threads, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    JSON_END,
};

#define BINDING(member, need) JSON_FIELD(struct profile_binding, #member, member, need)

static const struct json_field binding_fields[] = {
    BINDING(uid, OPTIONAL),
    JSON_RANGE(struct profile_binding, "runs", runs, REQUIRED, 1, RUNS_MAX),
    JSON_RANGE(struct profile_binding, "clean", clean, OPTIONAL, 0, RUNS_MAX),
    JSON_RANGE(struct profile_binding, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    JSON_END,
};

#define ESTIMATE(member, need)                                                                     \
    JSON_RANGE(struct profile_estimate, #member, member, need, 0, HUGE_VAL)

static const struct json_field estimate_fields[] = {
    ESTIMATE(mean, REQUIRED),
    ESTIMATE(error, OPTIONAL),
    JSON_END,
};

/* One of a sample's rates: "misses": [mean, error]. */
static struct json_field rate_field(enum profile_rate rate)
{
    return (struct json_field){.name = profile_rate_name[rate],
                               .kind = JSON_TUPLE,
                               .offset = offsetof(struct profile_sample, rate) +
                                         rate * sizeof(struct profile_estimate),
                               .fields = estimate_fields};
}

/* ---- rows to text ---- */

static struct json_object *begin_row(enum kind kind, const char *key)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "version", FORMAT);
    json_add_text(object, "kind", kind_name[kind]);
    json_add_text(object, "key", key);
    return object;
}

/* Prints a row as a line, and consumes it. That a row is root's is not said: it counts for all
 * where root takes it in again. Returns 0, or -1: stop. */
static int end_row(struct json_object *object, uint32_t uid, FILE *out)
{
    const char *text;
    int rc;

    if (uid == PROFILE_EVERYBODY)
        json_object_object_del(object, "uid");
    text = json_object_to_json_string_ext(object,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    rc = text && fprintf(out, "%s\n", text) > 0 ? 0 : -1;

    json_object_put(object);
    return rc;
}

int profiles_export_profile(const struct profile *stored, void *out)
{
    struct json_object *object = begin_row(KIND_PROFILE, stored->key);
    struct profile profile = *stored;

    if (!(profile.instructions_per_s > 0))
        profile.instructions_per_s = NAN;
    json_write(object, profile_fields, &profile);
    json_add(object, "hits",
             json_new_list(profile.llc_ways, &hit_item, profile.hits, sizeof(profile.hits[0])));
    return end_row(object, stored->uid, out);
}

struct json_object *profile_rates_json(const struct profile_sample *sample)
{
    struct json_object *rates = json_object_new_object();

    for (int i = 0; i < PROFILE_RATES; i++)
        if (!isnan(sample->rate[i].mean))
            json_write(rates, (struct json_field[]){rate_field((enum profile_rate)i), JSON_END},
                       sample);
    return rates;
}

int profiles_export_sample(const struct profile_sample *sample, void *out)
{
    struct json_object *object = begin_row(KIND_SAMPLE, sample->key);

    json_write(object, sample_fields, sample);
    json_add(object, "rates", profile_rates_json(sample));
    return end_row(object, sample->uid, out);
}

int profiles_export_one_pair(const struct profile_pair *pair, void *out)
{
    struct json_object *object = json_object_new_object(), *row = profile_pair_json(pair);

    json_add_u64(object, "version", FORMAT);
    json_add_text(object, "kind", kind_name[KIND_PAIR]);
    json_object_object_foreach(row, name, value) json_add(object, name, json_object_get(value));
    json_object_put(row);
    return end_row(object, pair->uid, out);
}

int profiles_export_pairs(struct profiles *store, const char *key, FILE *out,
                          struct berth_error *err)
{
    const struct profile_pairs_query all = {.key = key};

    if (profiles_each_pair(store, &all, profiles_export_one_pair, out, err) < 0)
        return -1;
    return ferror(out) ? berth_error_set(err, "%s", strerror(errno)) : 0;
}

int profiles_export_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                           void *out)
{
    struct json_object *object = begin_row(KIND_DEMAND, key);

    json_add_u64(object, "uid", uid);
    json_add(object, "demand", profile_demand_json(demand));
    return end_row(object, uid, out);
}

int profiles_export_threads(const struct profile_threads *threads, void *out)
{
    struct json_object *object = begin_row(KIND_THREADS, threads->key);

    json_write(object, threads_fields, threads);
    return end_row(object, threads->uid, out);
}

int profiles_export_binding(const struct profile_binding *binding, void *out)
{
    struct json_object *object = begin_row(KIND_BINDING, binding->key);

    json_write(object, binding_fields, binding);
    return end_row(object, binding->uid, out);
}

int profiles_export(struct profiles *store, const char *key, FILE *out, struct berth_error *err)
{
    if (profiles_each(store, key, profiles_export_profile, out, err) < 0 ||
        profiles_each_sample(store, key, profiles_export_sample, out, err) < 0 ||
        profiles_export_pairs(store, key, out, err) < 0 ||
        profiles_each_demand(store, key, profiles_export_demand, out, err) < 0 ||
        profiles_each_threads(store, key, profiles_export_threads, out, err) < 0 ||
        profiles_each_binding(store, key, profiles_export_binding, out, err) < 0)
        return -1;
    return ferror(out) ? berth_error_set(err, "%s", strerror(errno)) : 0;
}

/* ---- text to rows ---- */

struct row {
    uint32_t uid; /* who takes it in; then whose it is */
    enum kind kind;
    struct profile profile;
    struct profile_sample sample;
    struct profile_pair pair; /* its texts are the object's */
    struct profile_threads threads;
    struct profile_binding binding;
    char key[PROFILE_KEY_MAX];
    struct profile_demand *demand;
    struct json_object *object;
};

static int read_profile(struct json_object *object, struct profile *profile,
                        struct berth_error *err)
{
    profile->misses_error = profile->accesses_error = profile->instructions_per_s = NAN;
    if (json_read(object, profile_fields, profile, err) < 0)
        return -1;
    return json_get_list(json_object_object_get(object, "hits"), "hits", profile->llc_ways,
                         &hit_item, profile->hits, sizeof(profile->hits[0]), err);
}

static int check_rate(enum profile_rate rate, const struct profile_estimate *estimate,
                      struct berth_error *err)
{
    double most = fmax(estimate->mean, estimate->error); /* of which each may be NAN */

    return most > rate_max[rate] ? berth_error_set(err, "%s: %.12g: %.12g or less expected",
                                                   profile_rate_name[rate], most, rate_max[rate])
                                 : 0;
}

static int read_sample(struct json_object *object, struct profile_sample *sample,
                       struct berth_error *err)
{
    struct json_object *rates;

    if (json_read(object, sample_fields, sample, err) < 0 ||
        json_get_object(object, "rates", JSON_REQUIRED, &rates, err) < 0)
        return -1;
    if (sample->windows == 0)
        return berth_error_set(err, "windows: 0: more expected");
    for (int i = 0; i < PROFILE_RATES; i++) {
        struct json_field field = rate_field((enum profile_rate)i);

        if (json_get(rates, &field, &sample->rate[i], err) < 0 ||
            check_rate((enum profile_rate)i, &sample->rate[i], err) < 0)
            return berth_error_before(err, "rates.");
    }
    return 0;
}

static int read_demand(struct json_object *object, struct row *row, struct berth_error *err)
{
    struct json_object *demand = NULL;

    if (json_get_u32(object, "uid", JSON_OPTIONAL, &row->uid, err) < 0 ||
        json_get_object(object, "demand", JSON_REQUIRED, &demand, err) < 0)
        return -1;
    row->demand = profile_demand_parse(demand, err);
    return row->demand ? 0 : -1;
}

static int read_key(struct json_object *object, char key[PROFILE_KEY_MAX], struct berth_error *err)
{
    if (json_get_text(object, "key", JSON_REQUIRED, key, PROFILE_KEY_MAX, err) < 0)
        return -1;
    return profile_key_check(key, err);
}

static int read_object(struct json_object *object, struct row *row, struct berth_error *err)
{
    uint32_t version = 0;
    int kind = 0;

    if (!json_object_is_type(object, json_type_object))
        return berth_error_set(err, "an object expected");
    if (json_get_u32(object, "version", JSON_REQUIRED, &version, err) < 0)
        return -1;
    if (version != FORMAT)
        return berth_error_set(err, "version: %u is not known here, only %d", version, FORMAT);
    if (json_get_word(object, "kind", JSON_REQUIRED, kind_name, KINDS, &kind, err) < 0 ||
        read_key(object, row->key, err) < 0)
        return -1;
    row->kind = (enum kind)kind;
    strcpy(row->profile.key, row->key);
    strcpy(row->sample.key, row->key);
    strcpy(row->threads.key, row->key);
    strcpy(row->binding.key, row->key);
    row->profile.uid = row->sample.uid = row->threads.uid = row->binding.uid = row->uid;
    return row->kind == KIND_PROFILE   ? read_profile(object, &row->profile, err)
           : row->kind == KIND_SAMPLE  ? read_sample(object, &row->sample, err)
           : row->kind == KIND_PAIR    ? profile_pair_parse(object, row->uid, &row->pair, err)
           : row->kind == KIND_DEMAND  ? read_demand(object, row, err)
           : row->kind == KIND_THREADS ? json_read(object, threads_fields, &row->threads, err)
                                       : json_read(object, binding_fields, &row->binding, err);
}

static void free_row(struct row *row)
{
    profile_demand_free(row->demand);
    json_object_put(row->object);
    row->demand = NULL;
    row->object = NULL;
}

/* Says whether a row that a user takes in is his, with all programs that it names. */
static int check_owner(const struct row *row, uint32_t uid, struct berth_error *err)
{
    bool own = uid == PROFILE_EVERYBODY || (row->kind == KIND_PROFILE   ? row->profile.uid == uid
                                            : row->kind == KIND_SAMPLE  ? row->sample.uid == uid
                                            : row->kind == KIND_PAIR    ? row->pair.uid == uid
                                            : row->kind == KIND_DEMAND  ? row->uid == uid
                                            : row->kind == KIND_THREADS ? row->threads.uid == uid
                                                                        : row->binding.uid == uid);

    for (size_t i = 0; own && row->kind == KIND_PAIR && i < row->pair.n; i++)
        own = uid == PROFILE_EVERYBODY || row->pair.beside[i].uid == uid;
    return own ? 0
               : berth_error_set(err,
                                 "uid: %u expected, or nothing: only root says what others"
                                 " have measured",
                                 uid);
}

/* Reads one line, of that user. Returns 0 (the caller calls free_row), or -1 and err. */
static int read_line(const char *line, size_t length, uint32_t uid, struct row *row,
                     struct berth_error *err)
{
    struct json_object *object = json_parse(line, length, err);
    int rc;

    memset(row, 0, sizeof(*row));
    profile_sample_init(&row->sample);
    row->uid = uid;
    row->object = object;
    rc = object ? read_object(object, row, err) : -1;
    if (rc == 0)
        rc = check_owner(row, uid, err);
    if (rc < 0)
        free_row(row);
    return rc;
}

/* ---- import ---- */

struct import {
    const char *text;
    size_t length;
    uint32_t uid;
    bool replace;
    struct profiles_imported *imported; /* NULL: only look at the lines */
    struct row *row;
};

static int store_row(struct profiles *store, const struct import *import, struct berth_error *err)
{
    const struct row *row = import->row;
    int taken =
        row->kind == KIND_PROFILE
            ? profiles_import_profile(store, &row->profile, import->replace, err)
        : row->kind == KIND_SAMPLE
            ? profiles_import_sample(store, &row->sample, import->replace, err)
        : row->kind == KIND_PAIR ? profiles_import_pair(store, &row->pair, import->replace, err)
        : row->kind == KIND_DEMAND
            ? profiles_import_demand(store, row->uid, row->key, row->demand, import->replace, err)
        : row->kind == KIND_THREADS
            ? profiles_import_threads(store, &row->threads, import->replace, err)
            : profiles_import_binding(store, &row->binding, import->replace, err);

    if (taken < 0)
        return -1;
    import->imported->taken += taken > 0;
    import->imported->kept += taken == 0;
    return 0;
}

/* Each line that is not blank. */
static int each_line(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct import *import = arg;
    const char *line = import->text, *end = line + import->length, *next;
    struct berth_error why;

    for (size_t number = 1; line < end; number++, line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline ? newline : end) - line);
        int rc = 0;

        next = newline ? newline + 1 : end;
        if (length == 0)
            continue;
        if (read_line(line, length, import->uid, import->row, &why) < 0)
            return berth_error_set(err, "line %zu: %s", number, why.text);
        if (import->imported)
            rc = store_row(store, import, err);
        free_row(import->row);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int profiles_check(uint32_t uid, const char *text, size_t length, struct berth_error *err)
{
    struct import import = {.text = text, .length = length, .uid = uid};
    int rc;

    import.row = calloc(1, sizeof(*import.row));
    rc = import.row ? each_line(NULL, &import, err) : berth_no_memory(err);
    free(import.row);
    return rc;
}

int profiles_import(struct profiles *store, uint32_t uid, const char *text, size_t length,
                    bool replace, struct profiles_imported *imported, struct berth_error *err)
{
    struct import import = {.text = text, .length = length, .uid = uid, .replace = replace};
    int rc;

    memset(imported, 0, sizeof(*imported));
    import.row = calloc(1, sizeof(*import.row));
    if (!import.row)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    rc = each_line(store, &import, err); /* before anybody has to wait for this */
    if (rc == 0) {
        import.imported = imported;
        rc = profiles_write(store, each_line, &import, err);
    }
    free(import.row);
    return rc;
}
