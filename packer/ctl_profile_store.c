/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_profile_store - `berthctl profile list|show|forget|demand`: what the profile store holds. */
#include "ctl_profile.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "ctl_input.h"

struct stored {
    const char *verb, *db, *key, *file; /* file: demand's, NULL stdin */
    bool json;
    struct conf conf;
    struct json_object *array; /* list --json gathers here */
};

static int list_one(const struct profile *profile, void *arg)
{
    struct stored *stored = arg;
    double devil = stored->conf.devil_miss_pmi;

    if (stored->json)
        json_object_array_add(stored->array, profile_json(profile, devil));
    else
        printf("%12.1f  %-6s  %s%s\n", profile->misses,
               profile->misses >= devil ? "devil" : "turtle", profile->key,
               profile->truncated ? " (stopped at the limit)" : "");
    return 0;
}

static int list(struct stored *stored, struct profiles *store)
{
    struct berth_error err;

    stored->array = stored->json ? json_object_new_array() : NULL;
    if (!stored->json)
        printf("%12s  %-6s  %s\n", "misses/Minst", "class", "key");
    if (profiles_each(store, NULL, list_one, stored, &err) < 0) {
        json_object_put(stored->array);
        return ctl_fail("profile list", "%s", err.text);
    }
    return stored->json ? ctl_print_json(stored->array) : 0;
}

/* The profile of the key: 0, or 1 after saying why there is none. */
static int find(struct stored *stored, struct profiles *store, const char *what,
                struct profile *profile)
{
    struct berth_error err;
    int found = profiles_get(store, &(struct profile_query){.key = stored->key}, profile, &err);

    if (found < 0)
        return ctl_fail(what, "%s", err.text);
    return found ? 0
                 : ctl_fail(what, "%s: no such key ('berthctl profile list' lists them)",
                            stored->key);
}

static int show(struct stored *stored, struct profiles *store)
{
    struct profile_demand *demand = NULL;
    struct json_object *object;
    struct profile profile;
    struct berth_error err;

    if (find(stored, store, "profile show", &profile) != 0)
        return 1;
    if (profiles_get_demand(store, stored->key, &demand, &err) < 0)
        return ctl_fail("profile show", "%s", err.text);
    object = demand ? profile_demand_json(demand) : NULL;
    profile_demand_free(demand);
    if (stored->json) {
        struct json_object *whole = profile_json(&profile, stored->conf.devil_miss_pmi);

        json_object_object_add(whole, "demand", object);
        return ctl_print_json(whole);
    }
    profile_print(&profile, stored->conf.devil_miss_pmi, stdout);
    if (object)
        printf("  demand        %s\n",
               json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED));
    json_object_put(object);
    return 0;
}

/* Store what the program asks of memory, measured elsewhere, beside its profile. */
static int take_demand(struct stored *stored, struct profiles *store)
{
    struct profile_demand *demand = NULL;
    struct json_object *object;
    struct profile profile;
    struct berth_error err;
    int rc = 0;

    if (find(stored, store, "profile demand", &profile) != 0)
        return 1;
    object = ctl_input_read(stored->file, &err);
    demand = object ? profile_demand_parse(object, &err) : NULL;
    json_object_put(object);
    if (!demand)
        return ctl_fail("profile demand", "%s: %s", ctl_input_name(stored->file), err.text);
    if (profiles_put_demand(store, stored->key, demand, &err) < 0)
        rc = ctl_fail("profile demand", "%s", err.text);
    profile_demand_free(demand);
    return rc;
}

static int forget(struct stored *stored, struct profiles *store)
{
    struct berth_error err;
    int found = profiles_forget(store, stored->key, false, &err);

    if (found < 0)
        return ctl_fail("profile forget", "%s", err.text);
    if (found == 0)
        return ctl_fail("profile forget", "%s: no such key ('berthctl profile list' lists them)",
                        stored->key);
    return 0;
}

static int parse(struct stored *stored, int argc, char **argv)
{
    static const struct option options[] = {
        {"db", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'}, {0}};
    bool wants_key = strcmp(stored->verb, "list") != 0;
    int most = strcmp(stored->verb, "demand") == 0 ? 2 : wants_key, c;

    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (c == 'd')
            stored->db = optarg;
        else if (c == 'j')
            stored->json = true;
        else
            return ctl_usage("profile", "%s: '%s' is no option, or lacks its value", stored->verb,
                             argv[optind - 1]);
    if (argc - optind < wants_key || argc - optind > most)
        return ctl_usage("profile", "%s takes %s", stored->verb,
                         most == 2   ? "one KEY and a FILE"
                         : wants_key ? "one KEY"
                                     : "no argument");
    stored->key = argv[optind];
    stored->file = argc - optind == 2 ? argv[optind + 1] : NULL;
    return 0;
}

int profile_stored(int argc, char **argv)
{
    struct stored stored = {.verb = argv[0]};
    bool demand = strcmp(argv[0], "demand") == 0;
    bool writes = demand || strcmp(argv[0], "forget") == 0;
    struct profiles *store;
    struct berth_error err;
    int rc = parse(&stored, argc, argv);

    if (rc != 0)
        return rc;
    if (ctl_conf(NULL, &stored.conf, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    if (!stored.db)
        stored.db = stored.conf.profile_db;
    if (profiles_open(&store, stored.db, writes, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    rc = demand                             ? take_demand(&stored, store)
         : writes                           ? forget(&stored, store)
         : strcmp(stored.verb, "show") == 0 ? show(&stored, store)
                                            : list(&stored, store);
    profiles_close(store);
    return rc;
}
