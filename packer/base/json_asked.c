/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_asked - see json_asked.h */
#include "packer/base/json_asked.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/nearest.h"

#define PATH_BYTES 512

struct question {
    const struct json_object *object;
    char *key;
};

static __thread struct {
    bool on, lost; /* one was lost for want of memory */
    size_t n, room;
    struct question *question;
} asked;

static int compare(const void *a, const void *b)
{
    const struct question *x = a, *y = b;

    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return strcmp(x->key, y->key);
}

void json_asked_go_on(void)
{
    asked.on = true;
}

void json_asked_end(void)
{
    for (size_t i = 0; i < asked.n; i++)
        free(asked.question[i].key);
    free(asked.question);
    memset(&asked, 0, sizeof(asked));
}

void json_asked_note(struct json_object *object, const char *key)
{
    struct question question = {object, NULL};

    if (!asked.on || !object)
        return;
    question.key = strdup(key);
    if (!question.key ||
        array_grow(&asked.question, &asked.room, asked.n + 1, sizeof(struct question)) < 0) {
        free(question.key);
        asked.lost = true;
        return;
    }
    asked.question[asked.n++] = question;
}

struct json_object *json_find(struct json_object *object, const char *key)
{
    json_asked_note(object, key);
    return json_object_object_get(object, key);
}

/* ---- what nobody has asked for ---- */

struct telling {
    bool whole;
    void (*tell)(const char *path, const char *meant, void *arg);
    void *arg;
    char path[PATH_BYTES];
};

/* The questions about an object: the first of them, and how many. */
static const struct question *questions_of(const struct json_object *object, size_t *n)
{
    struct question wanted = {object, (char *)""};
    size_t low = 0, high = asked.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&asked.question[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < asked.n && asked.question[low + *n].object == object;)
        (*n)++;
    return *n > 0 ? &asked.question[low] : NULL;
}

static bool was_asked(const struct question *of, size_t n, const char *key, const char **meant)
{
    struct nearest nearest = nearest_begin(key);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(of[i].key, key) == 0)
            return true;
        nearest_try(&nearest, of[i].key);
    }
    *meant = nearest.best;
    return false;
}

static void walk(struct telling *telling, struct json_object *value);

static void walk_field(struct telling *telling, size_t used, const char *key,
                       struct json_object *value)
{
    snprintf(telling->path + used, sizeof(telling->path) - used, "%s%s", used ? "." : "", key);
    walk(telling, value);
    telling->path[used] = '\0';
}

static void tell_field(struct telling *telling, size_t used, const char *key, const char *meant)
{
    snprintf(telling->path + used, sizeof(telling->path) - used, "%s%s", used ? "." : "", key);
    telling->tell(telling->path, meant, telling->arg);
    telling->path[used] = '\0';
}

static bool is_own(const char *key)
{
    return key[0] == '_' || strcmp(key, "note") == 0 || strcmp(key, "notes") == 0 ||
           strcmp(key, "comment") == 0;
}

static void walk_object(struct telling *telling, struct json_object *object)
{
    size_t used = strlen(telling->path), n;
    const struct question *of = questions_of(object, &n);
    const char *meant = NULL;

    json_object_object_foreach(object, key, value)
    {
        if (n == 0 || was_asked(of, n, key, &meant))
            walk_field(telling, used, key, value);
        else if (!is_own(key) &&
                 (telling->whole || (meant && !json_object_object_get(object, meant))))
            tell_field(telling, used, key, meant);
    }
}

static void walk_array(struct telling *telling, struct json_object *array)
{
    size_t used = strlen(telling->path);

    for (size_t i = 0; i < json_object_array_length(array); i++) {
        snprintf(telling->path + used, sizeof(telling->path) - used, "[%zu]", i);
        walk(telling, json_object_array_get_idx(array, i));
        telling->path[used] = '\0';
    }
}

static void walk(struct telling *telling, struct json_object *value)
{
    if (json_object_is_type(value, json_type_object))
        walk_object(telling, value);
    else if (json_object_is_type(value, json_type_array))
        walk_array(telling, value);
}

void json_asked_tell(struct json_object *input, bool whole,
                     void (*tell)(const char *path, const char *meant, void *arg), void *arg)
{
    struct telling telling = {whole, tell, arg, ""};

    if (asked.lost)
        return;
    if (asked.n > 0)
        qsort(asked.question, asked.n, sizeof(*asked.question), compare);
    walk(&telling, input);
}
