/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - `berthctl pairs`: how programs fared beside others, as berthd measured it and the profile
 * store keeps it, beside what contend predicts; as JSON lines there and back. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/options/options.h"
#include "packer/cli/common/store.h"
#include "probe/profile/pair_predict.h"
#include "probe/profile/profile.h"

#define HASH_SHOWN 6

/* What was asked, and where the answer is gathered: the store is closed before it is printed. */
struct pairs_verb {
    const char *db, *socket, *import; /* NULL: not given */
    bool json, export, replace;
    struct ctl_store access;
    struct profiles *store; /* access.rows */
    FILE *out;
    struct json_object *list; /* NULL: a table */
};

static const struct ctl_option option_rows[] = {
    {"db", 0, "FILE", "the profile store (default: profile_db of berth.conf)",
     CTL_TEXT(struct pairs_verb, db)},
    {"store", 0, "FILE", "the same", CTL_TEXT(struct pairs_verb, db)},
    CTL_OPTION_SOCKET(struct pairs_verb),
    {"export", 0, NULL, "JSON lines, which --import, berthctl profile import and plan --pairs take",
     CTL_FLAG(struct pairs_verb, export)},
    {"import", 0, "FILE", "take in such lines (- is stdin): all of them or, if one is wrong, none",
     CTL_TEXT(struct pairs_verb, import)},
    {"replace", 0, NULL, "with --import: also what is older than the store's own",
     CTL_FLAG(struct pairs_verb, replace)},
    {"json", 0, NULL,
     "[{\"key\",\"machine\",\"beside\":[{\"key\",\"cores\"}],\"cores\",\"predicted\",\"measured\","
     "\"error\",\"confidence\",\"windows\",\"seconds\",\"runs\",\"measured_at\"}]",
     CTL_FLAG(struct pairs_verb, json)},
};
static const struct ctl_options options = {
    .verb = "pairs",
    .synopsis = "[--db FILE] [--json | --export] [PROGRAM]\n"
                "       berthctl pairs [--db FILE] [--json] [--replace] --import FILE",
    .about =
        "How much slower than alone programs were beside others on one cache, as berthd measured\n"
        "it on this type of machine and others. PROGRAM is a tag, a program's path or base name, "
        "or\n"
        "how its key begins.",
    .more = "predicted: by contend, from what the store knows of the programs alone; - where that\n"
            "is too little. error: one standard deviation. confidence: 1 less the error.",
    CTL_OPTIONS(option_rows),
    .most = 1,
    .takes = "one PROGRAM at most",
};

/* ---- showing ---- */

/* Writes what people call a program: its tag, or the last part of its path and how the hash of its
 * content begins, and its cores where it has several. */
static void name_of(const char *key, uint32_t cores, char *text, size_t size)
{
    const char *name = key + 4, *hash = strncmp(key, "exe:", 4) == 0 ? strrchr(key, '#') : NULL;
    size_t length = hash ? (size_t)(hash - name) : strlen(name), used;
    const char *base = hash ? memrchr(name, '/', length) : NULL;

    if (base) {
        length -= (size_t)(base + 1 - name);
        name = base + 1;
    }
    used = (size_t)snprintf(text, size, "%.*s", (int)(length < 200 ? length : 200), name);
    if (hash && used < size)
        used += (size_t)snprintf(text + used, size - used, "%.*s", HASH_SHOWN + 1, hash);
    if (cores > 1 && used < size)
        snprintf(text + used, size - used, " x%u", cores);
}

static void percent(double fraction, char text[32])
{
    if (isnan(fraction))
        strcpy(text, "-");
    else
        snprintf(text, 32, "%.1f", 100 * fraction);
}

static double confidence_of(const struct profile_pair *pair)
{
    return fmax(0, 1 - pair->error);
}

static void put_head(FILE *out)
{
    fprintf(out, "%9s %9s %7s %10s %8s  %-16s  %s\n", "predicted", "measured", "error",
            "confidence", "windows", "when", "PROGRAM beside OTHERS (slowdown in %)");
}

static void put_line(const struct pairs_verb *verb, const struct profile_pair *pair,
                     double predicted)
{
    char text[8192], name[256], as_predicted[32], measured[32], error[32], when[64] = "?";
    time_t at = (time_t)pair->measured_at;
    struct tm tm;
    size_t used;

    percent(predicted, as_predicted);
    percent(pair->slowdown, measured);
    percent(pair->error, error);
    if (localtime_r(&at, &tm))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
    name_of(pair->key, pair->cores, name, sizeof(name));
    used = (size_t)snprintf(text, sizeof(text), "%9s %9s %7s %10.2f %8.0f  %-16s  %s beside",
                            as_predicted, measured, error, confidence_of(pair), pair->windows, when,
                            name);
    for (size_t i = 0; i < pair->n && used < sizeof(text); i++) {
        name_of(pair->beside[i].key, pair->beside[i].cores, name, sizeof(name));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %.250s", i ? "," : "", name);
    }
    ctl_put_line(verb->out, text, ctl_columns());
}

static struct json_object *pair_json(const struct profile_pair *pair, double predicted)
{
    struct json_object *object = profile_pair_json(pair);

    json_object_object_del(object, "slowdown");
    json_add(object, "predicted", isnan(predicted) ? NULL : json_object_new_double(predicted));
    json_add(object, "measured", json_object_new_double(pair->slowdown));
    json_add(object, "confidence", json_object_new_double(confidence_of(pair)));
    return object;
}

static int take_pair(const struct profile_pair *pair, void *arg)
{
    struct pairs_verb *verb = arg;
    double predicted = pair_predict(verb->store, pair);

    if (verb->list)
        json_append(verb->list, pair_json(pair, predicted));
    else
        put_line(verb, pair, predicted);
    return 0;
}

/* Finds the key that a person means. 0, or 1 after saying why there is none. */
static int find_key(const struct pairs_verb *verb, const char *text, char key[PROFILE_KEY_MAX])
{
    char path[PATH_MAX];
    struct berth_error err;
    int found = profiles_resolve(verb->store, text, key, &err);

    if (found == 0 && strchr(text, '/') && realpath(text, path))
        found = profiles_resolve(verb->store, path, key, &err);
    if (found < 0)
        return ctl_fail("pairs", "%s", err.text);
    return found ? 0 : ctl_fail("pairs", "%s: the profile store knows no such program", text);
}

static int show(struct pairs_verb *verb, const char *program)
{
    struct profile_pairs_query query = {0};
    char key[PROFILE_KEY_MAX];
    struct berth_error err;
    int rc;

    if (program && find_key(verb, program, key) != 0)
        return 1;
    if (verb->export) {
        rc = profiles_export_pairs(verb->store, program ? key : NULL, verb->out, &err);
        return rc < 0 ? ctl_fail("pairs", "%s", err.text) : 0;
    }
    query.key = program ? key : NULL;
    if (verb->json)
        verb->list = json_object_new_array();
    else
        put_head(verb->out);
    if (profiles_each_pair(verb->store, &query, take_pair, verb, &err) < 0)
        return ctl_fail("pairs", "%s", err.text);
    if (verb->list) {
        text_put_json(verb->out,
                      json_object_to_json_string_ext(
                          verb->list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        fputc('\n', verb->out);
    }
    return 0;
}

/* ---- taking in ---- */

static int import(struct pairs_verb *verb)
{
    struct profiles_imported imported;
    struct berth_error err;
    size_t length;
    char *text = ctl_input_text(verb->import, &length, &err);
    int rc;

    if (!text)
        return ctl_fail("pairs", "%s: %s", ctl_input_name(verb->import), err.text);
    if (length == 0)
        ctl_fail("pairs", "%s: it is empty, nothing is taken from it",
                 ctl_input_name(verb->import));
    rc = ctl_store_import(&verb->access, text, length, verb->replace, &imported, &err);
    free(text);
    if (rc < 0 && strncmp(err.text, "line ", 5) == 0)
        return ctl_fail("pairs", "%s: %s", ctl_input_name(verb->import), err.text);
    if (rc < 0)
        return ctl_fail("pairs", "%s", err.text);
    fprintf(verb->out,
            verb->json ? "{\"taken\":%zu,\"kept\":%zu}\n"
                       : "%zu rows taken, %zu kept as they were\n",
            imported.taken, imported.kept);
    return 0;
}

/* ---- the verb ---- */

static int check(const struct pairs_verb *verb, const char *program)
{
    if (verb->import && (verb->export || program))
        return ctl_usage("pairs", "--import takes neither --export nor PROGRAM");
    if (verb->export && verb->json)
        return ctl_usage("pairs", "--export is JSON already: no --json");
    if (verb->replace && !verb->import)
        return ctl_usage("pairs", "--replace is for --import");
    return 0;
}

static int print(const char *text)
{
    fputs(text, stdout);
    return fflush(stdout) != 0 || ferror(stdout) ? ctl_fail("stdout", "%m") : 0;
}

static int print_pairs(struct pairs_verb *verb, const char *program)
{
    struct berth_error err;
    struct conf conf;
    char *text = NULL;
    size_t length;
    int rc;

    if (ctl_conf(NULL, &conf, &err) < 0 ||
        ctl_store_open(&verb->access, &conf, verb->db, verb->socket, verb->import != NULL, &err) <
            0)
        return ctl_fail("pairs", "%s", err.text);
    verb->store = verb->access.rows;
    verb->out = open_memstream(&text, &length);
    rc = !verb->out ? ctl_fail("pairs", "%m") : verb->import ? import(verb) : show(verb, program);
    ctl_store_close(&verb->access);
    json_object_put(verb->list);
    if (verb->out && fclose(verb->out) != 0 && rc == 0)
        rc = ctl_fail("pairs", "%m");
    if (rc == 0)
        rc = print(text);
    free(text);
    return rc;
}

int ctl_pairs(int argc, char **argv)
{
    struct pairs_verb verb = {0};
    int status = ctl_options_read(&options, argc, argv, &verb);

    if (status >= 0)
        return status;
    status = check(&verb, argv[optind]);
    return status ? status : print_pairs(&verb, argv[optind]);
}
