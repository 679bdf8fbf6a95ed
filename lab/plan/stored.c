/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - see stored.h */
#include "lab/plan/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "packer/base/array.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/common/store.h"
#include "packer/profiles/profiles.h"

/* One for "observed", and when it was measured. */
struct found {
    int64_t at;
    size_t order; /* of reading */
    struct json_object *observed;
};

struct search {
    struct json_object *workload;
    const struct ctl_apps *apps;
    size_t n, room;
    struct found *found;
};

/* ---- which app a program is ---- */

static bool is_text(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* Does the app's name mean the key's tag, path, or path's last element? */
static bool is_named(const char *key, const char *name)
{
    const char *hash = strncmp(key, "exe:", 4) == 0 ? strrchr(key, '#') : NULL, *base;
    size_t length;

    key += 4;
    length = hash ? (size_t)(hash - key) : strlen(key);
    base = hash ? memrchr(key, '/', length) : NULL;
    return is_text(key, length, name) ||
           (base && is_text(base + 1, length - (size_t)(base + 1 - key), name));
}

/* Returns the first app that the program is; -1: none. */
static long app_of(const struct search *search, const char *key)
{
    struct json_object *list = ctl_object(search->workload, "apps");

    for (size_t i = 0; i < search->apps->n; i++) {
        struct json_object *app = json_object_array_get_idx(list, i);
        const char *its = json_text(ctl_object(app, "key")),
                   *tag = json_text(ctl_object(app, "tag"));
        bool fits = its   ? strcmp(its, key) == 0
                    : tag ? strncmp(key, "tag:", 4) == 0 && strcmp(key + 4, tag) == 0
                          : is_named(key, search->apps->name[i]);

        if (fits)
            return (long)i;
    }
    return -1;
}

/* Adds an app's name once for each so many cores as it has. Returns -1 where that does not come out
 * even. */
static int add_name(const struct search *search, struct json_object *names, size_t app,
                    uint32_t cores)
{
    size_t each = search->apps->app[app].cores;

    if (cores % each != 0)
        return -1;
    for (size_t i = 0; i < cores / each; i++)
        json_append(names, json_object_new_string(search->apps->name[app]));
    return 0;
}

/* Returns the names of those beside it; NULL where one is no app, or there are too many. */
static struct json_object *names_of(const struct search *search, const struct profile_pair *pair)
{
    struct json_object *names = json_object_new_array();

    for (size_t i = 0; i < pair->n; i++) {
        long app = app_of(search, pair->beside[i].key);

        if (app < 0 || add_name(search, names, (size_t)app, pair->beside[i].cores) < 0 ||
            json_object_array_length(names) >= CONTEND_GROUP_MAX) {
            json_object_put(names);
            return NULL;
        }
    }
    return names;
}

/* Keeps the pair where it is about the workload. Returns -1 for want of memory. */
static int keep(const struct profile_pair *pair, void *arg)
{
    struct search *search = arg;
    long app = app_of(search, pair->key);
    struct json_object *names, *observed;

    if (app < 0 || pair->cores != search->apps->app[app].cores)
        return 0;
    if (array_grow(&search->found, &search->room, search->n + 1, sizeof(*search->found)) < 0)
        return -1;
    names = names_of(search, pair);
    if (!names)
        return 0;
    observed = json_object_new_object();
    json_add_text(observed, "app", search->apps->name[app]);
    json_add(observed, "beside", names);
    json_add_double(observed, "slowdown", pair->slowdown);
    json_add_double(observed, "error", pair->error);
    search->found[search->n] = (struct found){pair->measured_at, search->n, observed};
    search->n++;
    return 0;
}

/* ---- what was found ---- */

static int compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Puts what was found in front of the workload's own, which is taken to be newer. */
static void hand_over(struct search *search)
{
    struct json_object *own = ctl_object(search->workload, "observed"), *all;

    if (search->n == 0 || (own && !json_object_is_type(own, json_type_array)))
        return; /* who reads it complains */
    all = json_object_new_array();
    qsort(search->found, search->n, sizeof(*search->found), compare);
    for (size_t i = 0; i < search->n; i++)
        json_append(all, json_object_get(search->found[i].observed));
    for (size_t i = 0; own && i < json_object_array_length(own); i++)
        json_append(all, json_object_get(json_object_array_get_idx(own, i)));
    json_add(search->workload, "observed", all);
}

static int end_search(struct search *search, int rc, size_t *added)
{
    if (rc == 0)
        hand_over(search);
    if (added)
        *added = rc == 0 ? search->n : 0;
    for (size_t i = 0; i < search->n; i++)
        json_object_put(search->found[i].observed);
    free(search->found);
    return rc;
}

/* ---- files and stores ---- */

/* Reads one line; those of other kinds, which an export of the whole store has, tell nothing. */
static int read_line(struct search *search, const char *line, size_t length,
                     struct berth_error *err)
{
    struct json_object *object = json_parse(line, length, err);
    const char *kind = object && json_object_is_type(object, json_type_object)
                           ? json_text(ctl_object(object, "kind"))
                           : NULL;
    struct profile_pair pair;
    int rc = object ? 0 : -1;

    if (object && !kind)
        rc = berth_error_set(err, "an object with \"kind\" expected, as berthctl pairs --export "
                                  "writes them");
    else if (object && strcmp(kind, "pair") == 0 &&
             (rc = profile_pair_parse(object, 0, &pair, err)) == 0 && keep(&pair, search) < 0)
        rc = berth_no_memory(err);
    json_object_put(object);
    return rc;
}

static int read_lines(struct search *search, const char *text, size_t length,
                      struct berth_error *err)
{
    const char *end = text + length, *next;
    struct berth_error why;

    for (size_t number = 1; text < end; number++, text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((newline ? newline : end) - text);

        next = newline ? newline + 1 : end;
        if (line > 0 && read_line(search, text, line, &why) < 0)
            return berth_error_set(err, "line %zu: %s", number, why.text);
    }
    return 0;
}

int ctl_stored_read_file(struct json_object *workload, const struct ctl_apps *apps,
                         const char *path, size_t *added, struct berth_error *err)
{
    struct search search = {.workload = workload, .apps = apps};
    size_t length;
    char *text = ctl_input_text(path, &length, err);
    int rc = text ? read_lines(&search, text, length, err) : -1;

    free(text);
    return end_search(&search, rc, added);
}

int ctl_stored_read_store(struct json_object *workload, const struct ctl_apps *apps,
                          const struct conf *conf, const char *type, size_t *added,
                          struct berth_error *err)
{
    struct search search = {.workload = workload, .apps = apps};
    const struct profile_pairs_query query = {.machine = type};
    struct ctl_store store;
    int rc = ctl_store_open(&store, conf, NULL, NULL, false, err);

    if (rc == 0) {
        rc = profiles_each_pair(store.rows, &query, keep, &search, err);
        ctl_store_close(&store);
    }
    return end_search(&search, rc, added);
}
