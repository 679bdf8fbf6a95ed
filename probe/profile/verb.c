/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verb - what the verbs about stored profiles share. See profile/store.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "probe/profile/store.h"

/* Asks berthd for the median of a program that we name, by its tag or its path, and of which it has
 * told us nothing. Returns as profiles_resolve. */
static int ask_median(const struct profile_verb *verb, const char *text, char key[PROFILE_KEY_MAX],
                      struct berth_error *err)
{
    char path[PATH_MAX], hash[WIRE_HASH_MAX], asked[PROFILE_KEY_MAX];

    if (!ctl_store_is_asked(&verb->access))
        return 0;
    if (strchr(text, '/') && realpath(text, path) && wire_program_hash(path, hash) == 0)
        profile_key_exe(key, path, hash);
    else if (strncmp(text, "tag:", 4) == 0 || strncmp(text, "exe:", 4) == 0)
        snprintf(key, PROFILE_KEY_MAX, "%s", text);
    else
        profile_key_tag(key, text);
    if (ctl_store_ask_median(&verb->access, key, err) < 0)
        return -1;
    memcpy(asked, key, sizeof(asked));
    return profiles_resolve(verb->store, asked, key, err);
}

int profile_verb_key(const struct profile_verb *verb, const char *text, char key[PROFILE_KEY_MAX])
{
    char path[PATH_MAX];
    struct berth_error err;
    int found = profiles_resolve(verb->store, text, key, &err);

    if (found == 0 && strchr(text, '/') && realpath(text, path))
        found = profiles_resolve(verb->store, path, key, &err);
    if (found == 0)
        found = ask_median(verb, text, key, &err);
    if (found < 0)
        return ctl_fail("profile", "%s", err.text);
    return found
               ? 0
               : ctl_fail("profile", "%s: no such key ('berthctl profile list' lists them)", text);
}

char *profile_demand_line(const char *key, const struct profile_demand *demand)
{
    struct json_object *row = json_object_new_object();
    char *line;

    json_add(row, "version", json_object_new_int(1));
    json_add(row, "kind", json_object_new_string("demand"));
    json_add(row, "key", json_object_new_string(key));
    json_add(row, "demand", profile_demand_json(demand));
    if (asprintf(&line, "%s\n", json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN)) < 0)
        line = NULL;
    json_object_put(row);
    return line;
}

void profile_verb_json(const struct profile_verb *verb, struct json_object *value)
{
    text_put_json(verb->out, json_object_to_json_string_ext(
                                 value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    fputc('\n', verb->out);
    json_object_put(value);
}
