/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store - `berthctl profile list|show|export|import|forget|demand`: what the profile
 * store holds. */
#include "probe/profile/store.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/options/options.h"

#define OLDER_MAX 36500

/* ---- rows ---- */

/* Rows on their way into arrays, or as text. */
struct rows {
    const struct profile_verb *verb;
    struct json_object *profiles, *samples; /* NULL: print */
    bool listed;                            /* a line each */
    size_t n, unused;                       /* unused: under keys that no step asks for any more */
};

static int take_profile(const struct profile *profile, void *arg)
{
    struct rows *rows = arg;
    double devil = rows->verb->conf.devil_miss_pmi;

    if (rows->profiles)
        json_append(rows->profiles, profile_json(profile, devil));
    else if (rows->listed)
        profile_list_line(profile, devil, rows->verb->out);
    else
        profile_print(profile, devil, rows->verb->out);
    rows->unused += profile_key_starts_others(profile->key);
    rows->n++;
    return 0;
}

static int take_sample(const struct profile_sample *sample, void *arg)
{
    struct rows *rows = arg;
    double devil = rows->verb->conf.devil_miss_pmi;

    if (rows->samples)
        json_append(rows->samples, profile_sample_json(sample, devil));
    else if (rows->listed)
        profile_list_sample(sample, devil, rows->verb->out);
    else
        profile_sample_print(sample, devil, rows->verb->out);
    rows->unused += profile_key_starts_others(sample->key);
    rows->n++;
    return 0;
}

/* Takes all rows of the key; NULL: of all keys. 0, or 1 after saying what is wrong. */
static int take_rows(struct rows *rows, const char *key)
{
    struct profiles *store = rows->verb->store;
    struct berth_error err;

    if (profiles_each(store, key, take_profile, rows, &err) == 0 &&
        profiles_each_sample(store, key, take_sample, rows, &err) == 0)
        return 0;
    return ctl_fail("profile", "%s", err.text);
}

/* Says once which rows are of no more use: they tell of whatever such a program has started. */
static void say_unused(const struct rows *rows, FILE *out)
{
    if (rows->unused)
        fprintf(out,
                "%zu of these rows %s of a program that starts others (env, bash, slurm_script, "
                "...): a step is known by what that starts now, and no step asks for %s "
                "('berthctl profile forget KEY')\n",
                rows->unused, rows->unused > 1 ? "are" : "is", rows->unused > 1 ? "them" : "it");
}

/* Reads the key's demand as JSON, NULL where there is none. 0, or 1 after saying what is wrong. */
static int demand_json(const struct profile_verb *verb, const char *key,
                       struct json_object **object)
{
    struct profile_demand *demand = NULL;
    struct berth_error err;

    if (profiles_get_demand(verb->store, geteuid(), key, &demand, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    *object = demand ? profile_demand_json(demand) : NULL;
    profile_demand_free(demand);
    return 0;
}

static struct json_object *threads_json(const struct profile_threads *threads)
{
    struct json_object *one = json_object_new_object();

    json_add_text(one, "shape", threads->shape);
    json_add_text(one, "machine", threads->machine);
    json_add_u64(one, "cores", threads->cores);
    json_add_u64(one, "threads", threads->threads);
    json_add_bool(one, "environment", threads->environment);
    json_add_u64(one, "measured_at", (uint64_t)threads->measured_at);
    return one;
}

/* Adds a row to an array. */
static int add_threads(const struct profile_threads *threads, void *arg)
{
    json_append(arg, threads_json(threads));
    return 0;
}

static int print_threads(const struct profile_threads *threads, void *arg)
{
    struct profile_verb *verb = arg;

    fprintf(verb->out, "  threads       %u on %u cores, from %s (%s)\n", threads->threads,
            threads->cores, threads->environment ? "OMP_NUM_THREADS" : "an argument",
            threads->shape[0] ? threads->shape : "any arguments");
    return 0;
}

static struct json_object *binding_json(const struct profile_binding *binding)
{
    struct json_object *one = json_object_new_object();

    json_add_u64(one, "runs", binding->runs);
    json_add_u64(one, "clean", binding->clean);
    json_add_bool(one, "counts", !profile_binding_over(binding));
    json_add_u64(one, "measured_at", (uint64_t)binding->measured_at);
    json_add(one, "uid", json_object_new_uint64(binding->uid));
    return one;
}

static int add_binding(const struct profile_binding *binding, void *arg)
{
    json_append(arg, binding_json(binding));
    return 0;
}

static int print_binding(const struct profile_binding *binding, void *arg)
{
    struct profile_verb *verb = arg;
    time_t at = binding->measured_at;
    char day[16] = "?";
    struct tm tm;

    if (localtime_r(&at, &tm))
        strftime(day, sizeof(day), "%Y-%m-%d", &tm);
    fprintf(verb->out,
            "  binds         its threads, in %" PRIu64 " run%s, last on %s; %" PRIu64
            " run%s since then without: %s\n",
            binding->runs, binding->runs == 1 ? "" : "s", day, binding->clean,
            binding->clean == 1 ? "" : "s",
            profile_binding_over(binding) ? "trusted again" : "left where Slurm puts it");
    return 0;
}

/* Adds an array, where there is something in it. */
static void add_some(struct json_object *whole, const char *name, struct json_object *array)
{
    if (json_object_array_length(array) > 0)
        json_add(whole, name, array);
    else
        json_object_put(array);
}

static int show_json(struct profile_verb *verb, const char *key, struct json_object *demand)
{
    struct json_object *threads = json_object_new_array(), *bindings = json_object_new_array();
    struct berth_error err;
    struct json_object *whole = json_object_new_object();
    struct rows rows = {
        .verb = verb, .profiles = json_object_new_array(), .samples = json_object_new_array()};
    int rc;

    json_add(whole, "key", json_object_new_string(key));
    json_add(whole, "profiles", rows.profiles);
    json_add(whole, "samples", rows.samples);
    json_add(whole, "demand", demand);
    rc = take_rows(&rows, key);
    if (rc == 0 && (profiles_each_threads(verb->store, key, add_threads, threads, &err) < 0 ||
                    profiles_each_binding(verb->store, key, add_binding, bindings, &err) < 0))
        rc = ctl_fail("profile", "%s", err.text);
    add_some(whole, "threads", threads);
    add_some(whole, "bindings", bindings);
    if (rc == 0)
        profile_verb_json(verb, whole);
    else
        json_object_put(whole);
    return rc;
}

static int show(struct profile_verb *verb)
{
    struct rows rows = {.verb = verb};
    struct json_object *demand = NULL;
    struct berth_error err;
    char key[PROFILE_KEY_MAX];
    int rc;

    if (profile_verb_key(verb, verb->arg[0], key) != 0 || demand_json(verb, key, &demand) != 0)
        return 1;
    if (verb->json)
        return show_json(verb, key, demand);
    rc = take_rows(&rows, key);
    if (rows.n == 0)
        ctl_put_line(verb->out, key, 0);
    if (demand)
        fprintf(verb->out, "  demand        %s\n",
                json_object_to_json_string_ext(demand, JSON_C_TO_STRING_SPACED));
    json_object_put(demand);
    if (rc == 0 && (profiles_each_threads(verb->store, key, print_threads, verb, &err) < 0 ||
                    profiles_each_binding(verb->store, key, print_binding, verb, &err) < 0))
        rc = ctl_fail("profile", "%s", err.text);
    return rc;
}

/* ---- list ---- */

/* Adds a row of a kind that has no misses, and whose it is: list has them in one array. */
static void append_other(const struct rows *rows, const char *kind, const char *key,
                         struct json_object *object)
{
    json_add_text(object, "key", key);
    json_add_text(object, "kind", kind);
    json_append(rows->profiles, object);
}

static int list_threads(const struct profile_threads *threads, void *arg)
{
    struct rows *rows = arg;

    if (rows->profiles)
        append_other(rows, "threads", threads->key, threads_json(threads));
    else
        profile_list_threads(threads, rows->verb->out);
    rows->n++;
    return 0;
}

static int list_binding(const struct profile_binding *binding, void *arg)
{
    struct rows *rows = arg;

    if (rows->profiles)
        append_other(rows, "binding", binding->key, binding_json(binding));
    else
        profile_list_binding(binding, rows->verb->out);
    rows->n++;
    return 0;
}

static int list_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                       void *arg)
{
    struct rows *rows = arg;
    struct json_object *object;

    if (rows->profiles) {
        object = json_object_new_object();
        json_add(object, "demand", profile_demand_json(demand));
        append_other(rows, "demand", key, object);
    } else {
        profile_list_demand(uid, key, demand, rows->verb->out);
    }
    rows->n++;
    return 0;
}

static int take_others(struct rows *rows)
{
    struct profiles *store = rows->verb->store;
    struct berth_error err;

    if (profiles_each_demand(store, NULL, list_demand, rows, &err) == 0 &&
        profiles_each_threads(store, NULL, list_threads, rows, &err) == 0 &&
        profiles_each_binding(store, NULL, list_binding, rows, &err) == 0)
        return 0;
    return ctl_fail("profile", "%s", err.text);
}

static int list(struct profile_verb *verb)
{
    struct json_object *all = verb->json ? json_object_new_array() : NULL;
    struct rows rows = {.verb = verb, .profiles = all, .samples = all, .listed = true};
    int rc;

    if (!all)
        profile_list_head(verb->out);
    rc = take_rows(&rows, NULL);
    if (rc == 0)
        rc = take_others(&rows);
    if (rc == 0 && all)
        profile_verb_json(verb, all);
    else
        json_object_put(all);
    if (rc == 0 && !all)
        say_unused(&rows, verb->out);
    if (rc == 0 && !all && rows.n == 0)
        fputs("nothing is stored ('berthctl profile -- COMMAND' profiles a program)\n", verb->out);
    return rc;
}

/* ---- forget and demand ---- */

/* Says, where JSON is asked for, how many rows were forgotten. */
static int say_forgotten(const struct profile_verb *verb, int rows)
{
    struct json_object *object;

    if (!verb->json)
        return 0;
    object = json_object_new_object();
    json_add(object, "forgotten", json_object_new_int(rows));
    profile_verb_json(verb, object);
    return 0;
}

/* Forgets what is under the keys; all are looked up before any is forgotten. */
static int forget_keys(struct profile_verb *verb)
{
    char(*key)[PROFILE_KEY_MAX] = calloc((size_t)verb->nargs, sizeof(*key));
    struct berth_error err;
    int rc = key ? 0 : ctl_fail("profile", "out of memory"), rows = 0, n;

    for (int i = 0; i < verb->nargs && rc == 0; i++)
        rc = profile_verb_key(verb, verb->arg[i], key[i]);
    for (int i = 0; i < verb->nargs && rc == 0; i++) {
        n = ctl_store_forget(&verb->access, key[i], verb->samples, &err);
        rc = n < 0 ? ctl_fail("profile", "%s", err.text) : 0;
        rows += n;
    }
    free(key);
    return rc == 0 ? say_forgotten(verb, rows) : rc;
}

static int forget(struct profile_verb *verb)
{
    struct berth_error err;
    int rows;

    if (verb->nargs)
        return forget_keys(verb);
    if (!verb->all && ctl_store_is_asked(&verb->access))
        return ctl_fail("profile", "--older: only root forgets what is old, of all users");
    rows = verb->all ? ctl_store_forget(&verb->access, NULL, verb->samples, &err)
                     : profiles_age(verb->store, verb->older_days, &err);
    return rows < 0 ? ctl_fail("profile", "%s", err.text) : say_forgotten(verb, rows);
}

static int put_demand(struct profile_verb *verb, const char *key,
                      const struct profile_demand *demand)
{
    char *line = profile_demand_line(key, demand);
    struct profiles_imported imported;
    struct berth_error err;
    int rc = line ? ctl_store_import(&verb->access, line, strlen(line), true, &imported, &err)
                  : berth_no_memory(&err);

    free(line);
    return rc < 0 ? ctl_fail("profile", "%s", err.text) : 0;
}

/* Stores what the program asks of memory, measured elsewhere, beside its profile. */
static int take_demand(struct profile_verb *verb)
{
    const char *file = verb->nargs > 1 ? verb->arg[1] : NULL;
    struct profile_demand *demand = NULL;
    struct json_object *object;
    char key[PROFILE_KEY_MAX];
    struct berth_error err;
    int rc = 0;

    if (profile_verb_key(verb, verb->arg[0], key) != 0)
        return 1;
    object = ctl_input_read(file, &err);
    demand = object ? profile_demand_parse(object, &err) : NULL;
    if (object)
        ctl_input_tell_unread(ctl_input_name(file), object, demand != NULL);
    json_object_put(object);
    if (!demand)
        return ctl_fail("profile", "%s: %s", ctl_input_name(file), err.text);
    rc = put_demand(verb, key, demand);
    profile_demand_free(demand);
    return rc;
}

/* ---- the command line ---- */

#define SHARED_ROWS                                                                                \
    {"db", 0, "FILE", "the profile store (default: profile_db of berth.conf)",                     \
     CTL_TEXT(struct profile_verb, db)},                                                           \
        CTL_OPTION_SOCKET(struct profile_verb),                                                    \
    {                                                                                              \
        "json", 0, NULL, "JSON on stdout", CTL_FLAG(struct profile_verb, json)                     \
    }

static const struct ctl_option plain_rows[] = {SHARED_ROWS};
static const struct ctl_option export_rows[] = {
    SHARED_ROWS,
    {"output", 0, "FILE", "write there, not to stdout", CTL_TEXT(struct profile_verb, output)},
};
static const struct ctl_option import_rows[] = {
    SHARED_ROWS,
    {"replace", 0, NULL, "also what is older than the store's own, and demands it has",
     CTL_FLAG(struct profile_verb, replace)},
};
static const struct ctl_option forget_rows[] = {
    SHARED_ROWS,
    {"samples", 0, NULL, "samples, pairs and bindings only",
     CTL_FLAG(struct profile_verb, samples)},
    {"all", 0, NULL, "under all keys", CTL_FLAG(struct profile_verb, all)},
    {"older", 0, "DAYS", "samples, pairs and bindings older than that",
     CTL_WHOLE(struct profile_verb, older_days, "a number of days", 1, OLDER_MAX)},
};

#define KEYS                                                                                       \
    "KEY may be a tag, a program's path or base name, or how its key begins ('berthctl profile\n"  \
    "list' shows keys)."

static const struct {
    int (*run)(struct profile_verb *);
    bool writes;
    struct ctl_options options;
} verbs[] = {
    {list,
     false,
     {"profile list", "[--db FILE] [--json]",
      "What the profile store holds: profiles measured by 'berthctl profile', samples counted by\n"
      "berthd while steps ran (solo, or beside others: co-run), demands, numbers of threads that\n"
      "'berthctl threads' has found, and who binds its threads.",
      CTL_OPTIONS(plain_rows)}},
    {show,
     false,
     {"profile show", "[--db FILE] [--json] KEY",
      "All that the profile store holds of one program: profiles, samples, its demand, how many\n"
      "threads it should have, and whether it binds them.\n" KEYS,
      CTL_OPTIONS(plain_rows), .least = 1, .most = 1, .takes = "one KEY"}},
    {profile_verb_export,
     false,
     {"profile export", "[--db FILE] [--output FILE] [KEY...]",
      "Write what the profile store holds, of these programs or of all, as JSON lines.\n" KEYS,
      CTL_OPTIONS(export_rows), .most = -1}},
    {profile_verb_import,
     true,
     {"profile import", "[--db FILE] [--json] [--replace] [FILE]",
      "Take what 'berthctl profile export' wrote (FILE, or stdin) into the profile store.",
      CTL_OPTIONS(import_rows), .most = 1, .takes = "one FILE at most"}},
    {forget,
     true,
     {"profile forget",
      "[--db FILE] [--json] [--samples] KEY...|--all\n"
      "       berthctl profile forget [--db FILE] [--json] --older DAYS",
      "Remove from the profile store what it holds of these programs, or what is old.\n" KEYS,
      CTL_OPTIONS(forget_rows), .most = -1}},
    {take_demand,
     true,
     {"profile demand", "[--db FILE] KEY [FILE]",
      "Store what a program asks of memory, a JSON object (FILE, or stdin) that was measured\n"
      "elsewhere.\n" KEYS,
      CTL_OPTIONS(plain_rows), .least = 1, .most = 2, .takes = "one KEY and a FILE"}},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int parse(struct profile_verb *verb, size_t which, int argc, char **argv)
{
    int status = ctl_options_read(&verbs[which].options, argc, argv, verb);

    if (status >= 0)
        return status;
    verb->arg = argv + optind;
    verb->nargs = argc - optind;
    if (verbs[which].run == forget && ((verb->nargs > 0) + verb->all + (verb->older_days > 0) != 1))
        return ctl_usage("profile forget", "takes one of KEY..., --all and --older DAYS");
    return -1;
}

/* Prints what was gathered. 0, or 1 after saying that it could not be printed. */
static int print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

static int store_verb(struct profile_verb *verb, size_t which)
{
    struct berth_error err;
    char *text = NULL;
    size_t length;
    int rc;

    if (ctl_conf(NULL, &verb->conf, &err) < 0 ||
        ctl_store_open(&verb->access, &verb->conf, verb->db, verb->socket, verbs[which].writes,
                       &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    verb->store = verb->access.rows;
    verb->out = open_memstream(&text, &length);
    rc = verb->out ? verbs[which].run(verb) : ctl_fail("profile", "%m");
    ctl_store_close(&verb->access);
    if (verb->out && fclose(verb->out) != 0)
        rc = ctl_fail("profile", "%m");
    if (rc == 0)
        rc = print(text);
    free(text);
    return rc;
}

const char *profile_stored_word(size_t i)
{
    return i < VERBS ? strchr(verbs[i].options.verb, ' ') + 1 : NULL;
}

int profile_stored(int argc, char **argv)
{
    struct profile_verb verb = {0};
    int status;

    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(profile_stored_word(i), argv[0]) == 0) {
            status = parse(&verb, i, argc, argv);
            return status >= 0 ? status : store_verb(&verb, i);
        }
    return -1;
}
