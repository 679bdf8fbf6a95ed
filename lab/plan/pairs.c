/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - see pairs.h */
#include "lab/plan/pairs.h"

#include <json-c/printbuf.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 40
#define DECIMALS_MAX 19 /* of the smallest number that put_number writes without an exponent */

struct pairs {
    size_t n;
    char **name; /* [n] as JSON text, with its quotes */
    struct app_pair *pair;
    double *error; /* two a pair; NULL: none */
};

/* Writes a number's 15 significant digits, all that a double is sure to hold, into text. Returns
 * the length. printf takes most of a microsecond for that, and a thousand apps have 1.5 million
 * numbers. */
static int put_number(char *text, double value)
{
    static const double power[DECIMALS_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                   1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                   1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    char digits[NUMBER_MAX], *first = digits + sizeof(digits);
    double size = fabs(value);
    uint64_t scaled;
    int decimals = 0, n = 0;

    if (!isfinite(value))
        return snprintf(text, NUMBER_MAX, "null");
    if (size != 0 && (size < 1e-5 || size >= 1e15))
        return snprintf(text, NUMBER_MAX, "%.15g", value);
    while (decimals < DECIMALS_MAX && size * power[decimals] < 1e14)
        decimals++;
    scaled = (uint64_t)(size * power[decimals] + 0.5);
    for (; decimals > 0 && scaled % 10 == 0; decimals--)
        scaled /= 10;
    for (; n <= decimals || scaled > 0; scaled /= 10, n++) {
        if (n == decimals && n > 0)
            *--first = '.';
        *--first = (char)('0' + scaled % 10);
    }
    if (value < 0)
        *--first = '-';
    n = (int)(digits + sizeof(digits) - first);
    memcpy(text, first, (size_t)n);
    return n;
}

static int put(struct printbuf *out, const char *text)
{
    return printbuf_memappend(out, text, (int)strlen(text));
}

static int put_field(struct printbuf *out, const char *key, double value)
{
    char text[NUMBER_MAX];
    int length = put_number(text, value);

    return put(out, key) | printbuf_memappend(out, text, length);
}

static int put_errors(struct printbuf *out, const double *error)
{
    return error ? put_field(out, ",\"a_error\":", error[0]) |
                       put_field(out, ",\"b_error\":", error[1])
                 : 0;
}

/* Writes one element. Returns a negative number when memory is short. */
static int put_pair(struct printbuf *out, const char *a, const char *b, const struct app_pair *pair,
                    const double *error)
{
    return put(out, "{\"a\":") | put(out, a) | put(out, ",\"b\":") | put(out, b) |
           put_field(out, ",\"score\":", pair->score) |
           put_field(out, ",\"a_given_b\":", pair->a_given_b) |
           put_field(out, ",\"b_given_a\":", pair->b_given_a) | put_errors(out, error) |
           put(out, "}");
}

/* Prints the list when json-c calls. Of the flags only one matters: does a person read the text? */
static int pairs_print(struct json_object *object, struct printbuf *out, int level, int flags)
{
    const struct pairs *pairs = json_object_get_userdata(object);
    const struct app_pair *pair = pairs->pair;
    const double *error = pairs->error;
    const char *before = "[";

    (void)level;
    for (size_t i = 0; i < pairs->n; i++)
        for (size_t j = i; j < pairs->n; j++, pair++) {
            if ((put(out, before) | put_pair(out, pairs->name[i], pairs->name[j], pair, error)) < 0)
                return -1;
            error = error ? error + 2 : NULL;
            before = flags & JSON_C_TO_STRING_PRETTY ? ",\n" : ",";
        }
    return put(out, "]");
}

static void pairs_free(struct json_object *object, void *userdata)
{
    struct pairs *pairs = userdata;

    (void)object;
    for (size_t i = 0; pairs->name && i < pairs->n; i++)
        free(pairs->name[i]);
    free(pairs->name);
    free(pairs->pair);
    free(pairs->error);
    free(pairs);
}

static char *quote(const char *name)
{
    struct json_object *text = json_object_new_string(name);
    char *quoted =
        text ? strdup(json_object_to_json_string_ext(text, JSON_C_TO_STRING_NOSLASHESCAPE)) : NULL;

    json_object_put(text);
    return quoted;
}

struct json_object *ctl_pairs_new(const struct ctl_apps *apps, struct app_pair *pair, double *error)
{
    struct json_object *object = json_object_new_array();
    struct pairs *pairs = calloc(1, sizeof(*pairs));

    if (!object || !pairs) {
        free(pair);
        free(error);
        free(pairs);
        goto fail;
    }
    *pairs = (struct pairs){
        .n = apps->n, .name = calloc(apps->n, sizeof(char *)), .pair = pair, .error = error};
    json_object_set_serializer(object, pairs_print, pairs, pairs_free);
    for (size_t i = 0; pairs->name && i < pairs->n; i++)
        if (!(pairs->name[i] = quote(apps->name[i])))
            goto fail;
    if (pairs->name)
        return object;
fail:
    json_object_put(object);
    return NULL;
}

struct app_pair *ctl_pairs_alloc(const struct ctl_apps *apps, struct berth_error *err)
{
    struct app_pair *pair = NULL;

    if (apps->n > CTL_PAIRS_APPS_MAX)
        berth_error_set(err, "apps: at most %d can be paired, not %zu", CTL_PAIRS_APPS_MAX,
                        apps->n);
    else if (!(pair = calloc(ctl_pairs_count(apps->n), sizeof(*pair))))
        berth_error_set(err, "apps: out of memory");
    return pair;
}
