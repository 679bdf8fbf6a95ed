/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_text - the rows of the profile store as JSON lines, there and back (profiles.h).
 *
 * Each line stands alone, so that exports of several nodes can be joined: its "version" is 1, its
 * "kind" one of profile, sample and demand. Numbers are in full precision: what is imported into an
 * empty store is exported as the same text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

#define FORMAT 1
#define LATEST 253402300799 /* the last second of the year 9999 */

enum kind { KIND_PROFILE, KIND_SAMPLE, KIND_DEMAND, KINDS };
static const char *const kind_name[KINDS] = {"profile", "sample", "demand"};

/* ---- rows to text ---- */

static struct json_object *begin_row(enum kind kind, const char *key)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "version", FORMAT);
    json_add_text(object, "kind", kind_name[kind]);
    json_add_text(object, "key", key);
    return object;
}

/* Print a row as a line; consumes it. 0, or -1: stop. */
static int end_row(struct json_object *object, FILE *out)
{
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                  JSON_C_TO_STRING_NOSLASHESCAPE);
    int rc = text && fprintf(out, "%s\n", text) > 0 ? 0 : -1;

    json_object_put(object);
    return rc;
}

static int export_profile(const struct profile *profile, void *out)
{
    struct json_object *object = begin_row(KIND_PROFILE, profile->key);
    struct json_object *hits = json_object_new_array();

    for (unsigned i = 0; i < profile->llc_ways; i++)
        json_object_array_add(hits, json_object_new_double(profile->hits[i]));
    json_add_text(object, "shape", profile->shape);
    json_add_text(object, "geometry", profile->geometry);
    json_add_text(object, "machine", profile->machine);
    json_add_text(object, "source", profile->source);
    json_add_text(object, "command", profile->command);
    json_add_u64(object, "measured_at", (uint64_t)profile->measured_at);
    json_add_u64(object, "llc_bytes", profile->llc_bytes);
    json_add_u64(object, "llc_ways", profile->llc_ways);
    json_add_u64(object, "line_bytes", profile->line_bytes);
    json_object_object_add(object, "hits", hits);
    json_add_measure(object, "misses", profile->misses);
    json_add_measure(object, "misses_error", profile->misses_error);
    json_add_measure(object, "accesses", profile->accesses);
    json_add_measure(object, "accesses_error", profile->accesses_error);
    json_add_u64(object, "instructions", profile->instructions);
    json_add_u64(object, "references", profile->references);
    json_add_bool(object, "truncated", profile->truncated);
    json_add_measure(object, "instructions_per_s",
                     profile->instructions_per_s > 0 ? profile->instructions_per_s : NAN);
    return end_row(object, out);
}

struct json_object *profile_rates_json(const struct profile_sample *sample)
{
    struct json_object *rates = json_object_new_object();

    for (int i = 0; i < PROFILE_RATES; i++) {
        const struct profile_estimate *rate = &sample->rate[i];
        struct json_object *pair;

        if (isnan(rate->mean))
            continue;
        pair = json_object_new_array_ext(2);
        json_object_array_add(pair, json_object_new_double(rate->mean));
        json_object_array_add(pair,
                              isnan(rate->error) ? NULL : json_object_new_double(rate->error));
        json_object_object_add(rates, profile_rate_name[i], pair);
    }
    return rates;
}

static int export_sample(const struct profile_sample *sample, void *out)
{
    struct json_object *object = begin_row(KIND_SAMPLE, sample->key);

    json_add_text(object, "shape", sample->shape);
    json_add_text(object, "geometry", sample->geometry);
    json_add_text(object, "machine", sample->machine);
    json_add_bool(object, "co_run", sample->co_run);
    json_add_text(object, "source", sample->source);
    json_add_text(object, "command", sample->command);
    json_add_u64(object, "measured_at", (uint64_t)sample->measured_at);
    json_add_u64(object, "llc_bytes", sample->llc_bytes);
    json_add_u64(object, "line_bytes", sample->line_bytes);
    json_add_u64(object, "runs", sample->runs);
    json_add_double(object, "windows", sample->windows);
    json_add_double(object, "seconds", sample->seconds);
    json_add_double(object, "instructions", sample->instructions);
    json_object_object_add(object, "rates", profile_rates_json(sample));
    return end_row(object, out);
}

static int export_demand(const char *key, const struct profile_demand *demand, void *out)
{
    struct json_object *object = begin_row(KIND_DEMAND, key);

    json_object_object_add(object, "demand", profile_demand_json(demand));
    return end_row(object, out);
}

int profiles_export(struct profiles *store, const char *key, FILE *out, struct berth_error *err)
{
    if (profiles_each(store, key, export_profile, out, err) < 0 ||
        profiles_each_sample(store, key, export_sample, out, err) < 0 ||
        profiles_each_demand(store, key, export_demand, out, err) < 0)
        return -1;
    return ferror(out) ? berth_error_set(err, "%s", strerror(errno)) : 0;
}

/* ---- text to rows ---- */

struct row {
    enum kind kind;
    struct profile profile;
    struct profile_sample sample;
    char key[PROFILE_KEY_MAX];
    struct profile_demand *demand;
};

/* A number of 0 or more; NAN when it is absent and may be. */
static int read_number(struct json_object *object, const char *name, enum json_need need,
                       double *value, struct berth_error *err)
{
    *value = NAN;
    if (json_get_double(object, name, need, value, err) < 0)
        return -1;
    return *value < 0 ? berth_error_set(err, "%s: %g: 0 or more expected", name, *value) : 0;
}

static int read_date(struct json_object *object, int64_t *date, struct berth_error *err)
{
    if (json_get_i64(object, "measured_at", JSON_REQUIRED, date, err) < 0)
        return -1;
    return *date >= 0 && *date <= LATEST
               ? 0
               : berth_error_set(err, "measured_at: Unix seconds expected");
}

static int read_hits(struct json_object *object, struct profile *profile, struct berth_error *err)
{
    struct json_object *hits = NULL;

    if (json_get_array(object, "hits", JSON_REQUIRED, &hits, err) < 0)
        return -1;
    if (profile->llc_ways > PROFILE_WAYS_MAX)
        return berth_error_set(err, "llc_ways: at most %d expected", PROFILE_WAYS_MAX);
    if (json_object_array_length(hits) != profile->llc_ways)
        return berth_error_set(err, "hits: one for each of the %u ways expected",
                               profile->llc_ways);
    for (unsigned i = 0; i < profile->llc_ways; i++) {
        struct json_object *hit = json_object_array_get_idx(hits, i);

        profile->hits[i] = json_object_get_double(hit);
        if (!(json_object_is_type(hit, json_type_double) ||
              json_object_is_type(hit, json_type_int)) ||
            !(profile->hits[i] >= 0 && isfinite(profile->hits[i])))
            return berth_error_set(err, "hits[%u]: a number of 0 or more expected", i);
    }
    return 0;
}

static int read_profile(struct json_object *object, struct profile *p, struct berth_error *err)
{
    if (json_get_text(object, "shape", JSON_OPTIONAL, p->shape, sizeof(p->shape), err) < 0 ||
        json_get_text(object, "geometry", JSON_OPTIONAL, p->geometry, sizeof(p->geometry), err) <
            0 ||
        json_get_text(object, "machine", JSON_OPTIONAL, p->machine, sizeof(p->machine), err) < 0 ||
        json_get_text(object, "source", JSON_REQUIRED, p->source, sizeof(p->source), err) < 0 ||
        json_get_text(object, "command", JSON_OPTIONAL, p->command, sizeof(p->command), err) < 0 ||
        read_date(object, &p->measured_at, err) < 0 ||
        json_get_u64(object, "llc_bytes", JSON_REQUIRED, &p->llc_bytes, err) < 0 ||
        json_get_u32(object, "llc_ways", JSON_REQUIRED, &p->llc_ways, err) < 0 ||
        json_get_u32(object, "line_bytes", JSON_REQUIRED, &p->line_bytes, err) < 0 ||
        read_hits(object, p, err) < 0 ||
        read_number(object, "misses", JSON_REQUIRED, &p->misses, err) < 0 ||
        read_number(object, "misses_error", JSON_OPTIONAL, &p->misses_error, err) < 0 ||
        read_number(object, "accesses", JSON_REQUIRED, &p->accesses, err) < 0 ||
        read_number(object, "accesses_error", JSON_OPTIONAL, &p->accesses_error, err) < 0 ||
        json_get_u64(object, "instructions", JSON_REQUIRED, &p->instructions, err) < 0 ||
        json_get_u64(object, "references", JSON_REQUIRED, &p->references, err) < 0 ||
        json_get_bool(object, "truncated", JSON_OPTIONAL, &p->truncated, err) < 0)
        return -1;
    return read_number(object, "instructions_per_s", JSON_OPTIONAL, &p->instructions_per_s, err);
}

/* Is it a number that is an estimate's? null is NAN. */
static bool read_part(struct json_object *value, double *part)
{
    *part = value ? json_object_get_double(value) : NAN;
    return !value || ((json_object_is_type(value, json_type_double) ||
                       json_object_is_type(value, json_type_int)) &&
                      *part >= 0 && isfinite(*part));
}

static int read_rates(struct json_object *object, struct profile_sample *sample,
                      struct berth_error *err)
{
    struct json_object *rates = NULL;

    if (json_get_object(object, "rates", JSON_REQUIRED, &rates, err) < 0)
        return -1;
    for (int i = 0; i < PROFILE_RATES; i++) {
        struct json_object *pair = NULL;

        if (json_get_array(rates, profile_rate_name[i], JSON_OPTIONAL, &pair, err) < 0)
            return -1;
        if (!pair)
            continue;
        if (json_object_array_length(pair) != 2 || !json_object_array_get_idx(pair, 0) ||
            !read_part(json_object_array_get_idx(pair, 0), &sample->rate[i].mean) ||
            !read_part(json_object_array_get_idx(pair, 1), &sample->rate[i].error))
            return berth_error_set(err, "rates: %s: [mean, error] of 0 or more expected",
                                   profile_rate_name[i]);
    }
    return 0;
}

static int read_sample(struct json_object *object, struct profile_sample *s,
                       struct berth_error *err)
{
    if (json_get_text(object, "shape", JSON_OPTIONAL, s->shape, sizeof(s->shape), err) < 0 ||
        json_get_text(object, "geometry", JSON_OPTIONAL, s->geometry, sizeof(s->geometry), err) <
            0 ||
        json_get_text(object, "machine", JSON_OPTIONAL, s->machine, sizeof(s->machine), err) < 0 ||
        json_get_bool(object, "co_run", JSON_REQUIRED, &s->co_run, err) < 0 ||
        json_get_text(object, "source", JSON_REQUIRED, s->source, sizeof(s->source), err) < 0 ||
        json_get_text(object, "command", JSON_OPTIONAL, s->command, sizeof(s->command), err) < 0 ||
        read_date(object, &s->measured_at, err) < 0 ||
        json_get_u64(object, "llc_bytes", JSON_OPTIONAL, &s->llc_bytes, err) < 0 ||
        json_get_u32(object, "line_bytes", JSON_OPTIONAL, &s->line_bytes, err) < 0 ||
        json_get_u64(object, "runs", JSON_REQUIRED, &s->runs, err) < 0 ||
        read_number(object, "windows", JSON_REQUIRED, &s->windows, err) < 0 ||
        read_number(object, "seconds", JSON_REQUIRED, &s->seconds, err) < 0 ||
        read_number(object, "instructions", JSON_REQUIRED, &s->instructions, err) < 0)
        return -1;
    if (s->windows == 0 || s->runs == 0)
        return berth_error_set(err, "%s: 0: more expected", s->runs ? "windows" : "runs");
    return read_rates(object, s, err);
}

static int read_demand(struct json_object *object, struct row *row, struct berth_error *err)
{
    struct json_object *demand = NULL;

    if (json_get_object(object, "demand", JSON_REQUIRED, &demand, err) < 0)
        return -1;
    row->demand = profile_demand_parse(demand, err);
    return row->demand ? 0 : -1;
}

static int read_key(struct json_object *object, char key[PROFILE_KEY_MAX], struct berth_error *err)
{
    if (json_get_text(object, "key", JSON_REQUIRED, key, PROFILE_KEY_MAX, err) < 0)
        return -1;
    if ((strncmp(key, "tag:", 4) != 0 && strncmp(key, "exe:", 4) != 0) || !key[4])
        return berth_error_set(err, "key: tag:NAME or exe:PATH#HASH expected");
    return 0;
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
    return row->kind == KIND_PROFILE  ? read_profile(object, &row->profile, err)
           : row->kind == KIND_SAMPLE ? read_sample(object, &row->sample, err)
                                      : read_demand(object, row, err);
}

/* One line. 0 (row->demand is the caller's), or -1 and err. */
static int read_line(const char *line, size_t length, struct row *row, struct berth_error *err)
{
    struct json_object *object = json_parse(line, length, err);
    int rc;

    memset(row, 0, sizeof(*row));
    profile_sample_init(&row->sample);
    rc = object ? read_object(object, row, err) : -1;
    json_object_put(object);
    return rc;
}

/* ---- import ---- */

struct import {
    const char *text;
    size_t length;
    bool replace;
    struct profiles_imported *imported; /* NULL: only look at the lines */
    struct row *row;
};

static int store_row(struct profiles *store, const struct import *import, struct berth_error *err)
{
    const struct row *row = import->row;
    int taken = row->kind == KIND_PROFILE
                    ? profiles_import_profile(store, &row->profile, import->replace, err)
                : row->kind == KIND_SAMPLE
                    ? profiles_import_sample(store, &row->sample, import->replace, err)
                    : profiles_import_demand(store, row->key, row->demand, import->replace, err);

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
        if (read_line(line, length, import->row, &why) < 0)
            return berth_error_set(err, "line %zu: %s", number, why.text);
        if (import->imported)
            rc = store_row(store, import, err);
        profile_demand_free(import->row->demand);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int profiles_import(struct profiles *store, const char *text, size_t length, bool replace,
                    struct profiles_imported *imported, struct berth_error *err)
{
    struct import import = {.text = text, .length = length, .replace = replace};
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
