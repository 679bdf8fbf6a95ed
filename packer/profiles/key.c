/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_key - the keys of the profile store: how they are made, and which one a person means
 * (profiles.h). */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"
#include "packer/wire/wire_program.h"

#define NAMED_MAX 4 /* keys that an error lists */

void profile_key_exe(char *key, const char *path, const char *hash)
{
    snprintf(key, PROFILE_KEY_MAX, "exe:%s#%s", path, hash);
}

bool profile_key_starts_others(const char *key)
{
    const char *end = strncmp(key, "exe:/", 5) == 0 ? strrchr(key, '#') : NULL;
    char path[PROFILE_KEY_MAX];

    if (!end)
        return false;
    snprintf(path, sizeof(path), "%.*s", (int)(end - key - 4), key + 4);
    return !strchr(path, ' ') && wire_program_starts_others(path);
}

void profile_key_tag(char *key, const char *tag)
{
    snprintf(key, PROFILE_KEY_MAX, "tag:%s", tag);
}

int profile_key_check(const char *key, struct berth_error *err)
{
    if (!key || (strncmp(key, "tag:", 4) != 0 && strncmp(key, "exe:", 4) != 0) || !key[4] ||
        strlen(key) >= PROFILE_KEY_MAX)
        return berth_error_set(err, "key: tag:NAME or exe:PATH#HASH expected");
    return 0;
}

void profile_geometry(char geometry[PROFILE_GEOMETRY_MAX], uint32_t tasks, uint32_t cpus_per_task)
{
    geometry[0] = '\0';
    if (tasks && cpus_per_task)
        snprintf(geometry, PROFILE_GEOMETRY_MAX, "%" PRIu32 "x%" PRIu32, tasks, cpus_per_task);
}

/* ---- which one is meant ---- */

enum fit { FIT_KEY, FIT_NAME, FIT_BASE, FIT_BEGINNING, FIT_NONE };

/* Does the text of that length equal `name`? */
static bool equals(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* Is the text the path of a script, which stands behind its interpreter's? */
static bool is_script_of(const char *name, size_t length, const char *text)
{
    size_t its = strlen(text);

    return text[0] == '/' && its < length && name[length - its - 1] == ' ' &&
           memcmp(name + length - its, text, its) == 0;
}

/* How well the text names the key. */
static enum fit fit(const char *key, const char *text)
{
    bool exe = strncmp(key, "exe:", 4) == 0;
    const char *name = exe || strncmp(key, "tag:", 4) == 0 ? key + 4 : key;
    const char *end = exe ? strrchr(name, '#') : NULL, *base;
    size_t length = end ? (size_t)(end - name) : strlen(name);

    if (strcmp(key, text) == 0)
        return FIT_KEY;
    if (equals(name, length, text) || (exe && is_script_of(name, length, text)))
        return FIT_NAME;
    base = exe ? memrchr(name, '/', length) : NULL;
    if (base && equals(base + 1, length - (size_t)(base + 1 - name), text))
        return FIT_BASE;
    if (strncmp(key, text, strlen(text)) == 0 || strncmp(name, text, strlen(text)) == 0)
        return FIT_BEGINNING;
    return FIT_NONE;
}

struct meant {
    enum fit best;
    size_t n;       /* keys that fit as well as the best */
    char *key;      /* the first of them */
    char list[512]; /* the first NAMED_MAX of them */
};

static void consider(struct meant *meant, const char *key, const char *text)
{
    enum fit now = fit(key, text);
    size_t used;

    if (now == FIT_NONE || now > meant->best)
        return;
    if (now < meant->best) {
        meant->best = now;
        meant->n = 0;
        meant->list[0] = '\0';
        snprintf(meant->key, PROFILE_KEY_MAX, "%s", key);
    }
    used = strlen(meant->list);
    if (meant->n < NAMED_MAX)
        snprintf(meant->list + used, sizeof(meant->list) - used, "%s%s", meant->n ? ", " : "", key);
    meant->n++;
}

#define KEYS                                                                                       \
    "SELECT key FROM profile UNION SELECT key FROM demand UNION SELECT key FROM sample"            \
    " UNION SELECT key FROM threads UNION SELECT key FROM binding"                                 \
    " UNION SELECT key FROM pair_program"

int profiles_resolve(struct profiles *store, const char *text, char key[PROFILE_KEY_MAX],
                     struct berth_error *err)
{
    struct meant meant = {.best = FIT_NONE, .key = key};
    struct sql_statement *row;
    int rc = profiles_readable(store, err);

    if (rc != 1 || !text[0])
        return rc < 0 ? -1 : 0;
    row = profiles_prepare(store, KEYS, NULL, err);
    while ((rc = row ? sql_step(row, err) : -1) == 1)
        consider(&meant, sql_text(row, 0), text);
    sql_finish(row);
    if (rc < 0)
        return -1;
    if (meant.n > 1)
        return berth_error_set(err, "%s: %zu keys fit: %s%s", text, meant.n, meant.list,
                               meant.n > NAMED_MAX ? ", ..." : "");
    return (int)meant.n;
}
