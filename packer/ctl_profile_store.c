/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_profile_store - `berthctl profile list|show|export|import|forget|demand`: what the profile
 * store holds. */
#include "ctl_profile_store.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_input.h"

#define OLDER_MAX 36500

static const char help_text[] =
    "usage: berthctl profile list\n"
    "       berthctl profile show KEY\n"
    "       berthctl profile export [--output FILE] [KEY...]\n"
    "       berthctl profile import [--replace] [FILE]\n"
    "       berthctl profile forget [--samples] KEY...|--all\n"
    "       berthctl profile forget --older DAYS\n"
    "       berthctl profile demand KEY [FILE]\n"
    "\n"
    "What the profile store holds: profiles measured by 'berthctl profile', samples counted by\n"
    "berthd while steps ran (solo, or beside others: co-run), and demands. KEY may be a tag, a\n"
    "program's path or base name, or how its key begins.\n"
    "\n"
    "  --db FILE      the profile store (default: profile_db of berth.conf)\n"
    "  --json         JSON on stdout\n"
    "  --output FILE  export: write there, not to stdout\n"
    "  --replace      import: also what is older than the store's own, and demands it has\n"
    "  --samples      forget: counted samples only\n"
    "  --all          forget: under all keys\n"
    "  --older DAYS   forget: counted samples older than that\n";

/* ---- list and show ---- */

/* Rows on their way into arrays, or as text. */
struct rows {
    const struct profile_verb *verb;
    struct json_object *profiles, *samples; /* NULL: print */
    bool listed;                            /* a line each */
    size_t n;
};

static int take_profile(const struct profile *profile, void *arg)
{
    struct rows *rows = arg;
    double devil = rows->verb->conf.devil_miss_pmi;

    if (rows->profiles)
        json_object_array_add(rows->profiles, profile_json(profile, devil));
    else if (rows->listed)
        profile_list_line(profile, devil, rows->verb->out);
    else
        profile_print(profile, devil, rows->verb->out);
    rows->n++;
    return 0;
}

static int take_sample(const struct profile_sample *sample, void *arg)
{
    struct rows *rows = arg;
    double devil = rows->verb->conf.devil_miss_pmi;

    if (rows->samples)
        json_object_array_add(rows->samples, profile_sample_json(sample, devil));
    else if (rows->listed)
        profile_list_sample(sample, devil, rows->verb->out);
    else
        profile_sample_print(sample, devil, rows->verb->out);
    rows->n++;
    return 0;
}

/* All rows of the key; NULL: of all keys. 0, or 1 after saying what is wrong. */
static int take_rows(struct rows *rows, const char *key)
{
    struct profiles *store = rows->verb->store;
    struct berth_error err;

    if (profiles_each(store, key, take_profile, rows, &err) == 0 &&
        profiles_each_sample(store, key, take_sample, rows, &err) == 0)
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
    if (rc == 0 && all)
        profile_verb_json(verb, all);
    else
        json_object_put(all);
    return rc;
}

/* The key's demand as JSON, NULL where there is none. 0, or 1 after saying what is wrong. */
static int demand_json(const struct profile_verb *verb, const char *key,
                       struct json_object **object)
{
    struct profile_demand *demand = NULL;
    struct berth_error err;

    if (profiles_get_demand(verb->store, key, &demand, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    *object = demand ? profile_demand_json(demand) : NULL;
    profile_demand_free(demand);
    return 0;
}

static int show_json(struct profile_verb *verb, const char *key, struct json_object *demand)
{
    struct json_object *whole = json_object_new_object();
    struct rows rows = {
        .verb = verb, .profiles = json_object_new_array(), .samples = json_object_new_array()};
    int rc;

    json_object_object_add(whole, "key", json_object_new_string(key));
    json_object_object_add(whole, "profiles", rows.profiles);
    json_object_object_add(whole, "samples", rows.samples);
    json_object_object_add(whole, "demand", demand);
    rc = take_rows(&rows, key);
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
    char key[PROFILE_KEY_MAX];
    int rc;

    if (profile_verb_key(verb, verb->arg[0], key) != 0 || demand_json(verb, key, &demand) != 0)
        return 1;
    if (verb->json)
        return show_json(verb, key, demand);
    rc = take_rows(&rows, key);
    if (demand && rows.n == 0)
        ctl_put_line(verb->out, key, 0);
    if (demand)
        fprintf(verb->out, "  demand        %s\n",
                json_object_to_json_string_ext(demand, JSON_C_TO_STRING_SPACED));
    json_object_put(demand);
    return rc;
}

/* ---- forget and demand ---- */

/* A count on its way out. */
static int say_forgotten(const struct profile_verb *verb, int rows)
{
    struct json_object *object;

    if (!verb->json)
        return 0;
    object = json_object_new_object();
    json_object_object_add(object, "forgotten", json_object_new_int(rows));
    profile_verb_json(verb, object);
    return 0;
}

/* All keys are looked up before any is forgotten. */
static int forget_keys(struct profile_verb *verb)
{
    char(*key)[PROFILE_KEY_MAX] = calloc((size_t)verb->nargs, sizeof(*key));
    struct berth_error err;
    int rc = key ? 0 : ctl_fail("profile", "out of memory"), rows = 0, n;

    for (int i = 0; i < verb->nargs && rc == 0; i++)
        rc = profile_verb_key(verb, verb->arg[i], key[i]);
    for (int i = 0; i < verb->nargs && rc == 0; i++) {
        n = profiles_forget(verb->store, key[i], verb->samples, &err);
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
    rows = verb->all ? profiles_forget(verb->store, NULL, verb->samples, &err)
                     : profiles_age(verb->store, verb->older_days, &err);
    return rows < 0 ? ctl_fail("profile", "%s", err.text) : say_forgotten(verb, rows);
}

/* Store what the program asks of memory, measured elsewhere, beside its profile. */
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
    json_object_put(object);
    if (!demand)
        return ctl_fail("profile", "%s: %s", ctl_input_name(file), err.text);
    if (profiles_put_demand(verb->store, key, demand, &err) < 0)
        rc = ctl_fail("profile", "%s", err.text);
    profile_demand_free(demand);
    return rc;
}

/* ---- the command line ---- */

static const struct {
    const char *name;
    int (*run)(struct profile_verb *);
    bool writes;
    int least, most; /* arguments */
    const char *takes;
} verbs[] = {
    {"list", list, false, 0, 0, "no argument"},
    {"show", show, false, 1, 1, "one KEY"},
    {"export", profile_verb_export, false, 0, INT_MAX, "any KEYs"},
    {"import", profile_verb_import, true, 0, 1, "one FILE at most"},
    {"forget", forget, true, 0, INT_MAX, "any KEYs"},
    {"demand", take_demand, true, 1, 2, "one KEY and a FILE"},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int parse_days(const char *text, uint64_t *days)
{
    char *end;

    errno = 0;
    *days = strtoull(text, &end, 10);
    return errno || end == text || *end || *days < 1 || *days > OLDER_MAX || text[0] < '0' ||
                   text[0] > '9'
               ? ctl_usage("profile", "--older: a number of days from 1 to %d expected", OLDER_MAX)
               : 0;
}

/* One option, which must be of this verb. */
static int take_option(struct profile_verb *verb, int option, const char *typed)
{
    static const struct {
        int option;
        const char *verb;
    } only[] = {
        {'o', "export"}, {'r', "import"}, {'s', "forget"}, {'a', "forget"}, {'O', "forget"}};
    bool *const flag = option == 'j'   ? &verb->json
                       : option == 'r' ? &verb->replace
                       : option == 's' ? &verb->samples
                       : option == 'a' ? &verb->all
                                       : NULL;

    for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
        if (only[i].option == option && strcmp(only[i].verb, verb->name) != 0)
            option = '?';
    if (option == '?')
        return ctl_usage("profile", "%s: '%s' is no option, or lacks its value", verb->name, typed);
    if (flag)
        *flag = true;
    else if (option == 'd')
        verb->db = optarg;
    else if (option == 'o')
        verb->output = optarg;
    else
        return parse_days(optarg, &verb->older_days);
    return 0;
}

static int parse(struct profile_verb *verb, size_t which, int argc, char **argv)
{
    static const struct option options[] = {
        {"db", required_argument, NULL, 'd'},     {"json", no_argument, NULL, 'j'},
        {"output", required_argument, NULL, 'o'}, {"replace", no_argument, NULL, 'r'},
        {"samples", no_argument, NULL, 's'},      {"all", no_argument, NULL, 'a'},
        {"older", required_argument, NULL, 'O'},  {0}};
    int c, rc = 0;

    optind = 0;
    opterr = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
        rc = take_option(verb, c, argv[optind - 1]);
    if (rc != 0)
        return rc;
    verb->arg = argv + optind;
    verb->nargs = argc - optind;
    if (verb->nargs < verbs[which].least || verb->nargs > verbs[which].most)
        return ctl_usage("profile", "%s takes %s", verb->name, verbs[which].takes);
    if (verbs[which].run == forget && ((verb->nargs > 0) + verb->all + (verb->older_days > 0) != 1))
        return ctl_usage("profile", "forget takes one of KEY..., --all and --older DAYS");
    return 0;
}

/* Print what was gathered: 0, or 1 after saying that it could not be. */
static int print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

static int run(struct profile_verb *verb, size_t which)
{
    struct berth_error err;
    char *text = NULL;
    size_t length;
    int rc;

    if (ctl_conf(NULL, &verb->conf, &err) < 0 ||
        profiles_open(&verb->store, verb->db ? verb->db : verb->conf.profile_db,
                      verbs[which].writes, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    verb->out = open_memstream(&text, &length);
    rc = verb->out ? verbs[which].run(verb) : ctl_fail("profile", "%m");
    profiles_close(verb->store);
    if (verb->out && fclose(verb->out) != 0)
        rc = ctl_fail("profile", "%m");
    if (rc == 0)
        rc = print(text);
    free(text);
    return rc;
}

int profile_stored(int argc, char **argv)
{
    struct profile_verb verb = {.name = argv[0]};
    size_t which = 0;
    int rc;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return fputs(help_text, stdout) < 0;
    while (which + 1 < VERBS && strcmp(verbs[which].name, verb.name) != 0)
        which++;
    rc = parse(&verb, which, argc, argv);
    return rc != 0 ? rc : run(&verb, which);
}
