/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/node_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

#define NODES_MAX 65536

struct names {
    char **name;
    size_t n, room;
};

static int add(struct names *names, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int add(struct names *names, const char *format, ...)
{
    va_list args;
    int rc;

    if (names->n == NODES_MAX) {
        errno = E2BIG;
        return -1;
    }
    if (array_grow(&names->name, &names->room, names->n + 1, sizeof(*names->name)) < 0)
        return -1;
    va_start(args, format);
    rc = vasprintf(&names->name[names->n], format, args);
    va_end(args);
    if (rc < 0)
        return -1;
    names->n++;
    return 0;
}

/* "1-4" or "007" of what is in brackets, each as a name between prefix and suffix. */
static int add_range(struct names *names, const char *prefix, size_t length, const char *range,
                     const char *suffix, size_t suffix_length)
{
    char *end;
    int width = (int)strspn(range, "0123456789");
    unsigned long low = strtoul(range, &end, 10), high = low;

    if (width == 0 || width > 9)
        return errno = EINVAL, -1;
    if (*end == '-') {
        size_t digits = strspn(end + 1, "0123456789");

        if (digits == 0 || digits > 9)
            return errno = EINVAL, -1;
        high = strtoul(end + 1, &end, 10);
    }
    if ((*end != ',' && *end != ']') || high < low)
        return errno = EINVAL, -1;
    for (; low <= high; low++)
        if (add(names, "%.*s%0*lu%.*s", (int)length, prefix, width, low, (int)suffix_length,
                suffix) < 0)
            return -1;
    return 0;
}

/* One item of the list: a name, or a name with one pair of brackets. */
static int add_item(struct names *names, const char *item, size_t length)
{
    const char *open = memchr(item, '[', length), *close = memchr(item, ']', length);

    if (!open && !close)
        return add(names, "%.*s", (int)length, item);
    if (!open || !close || close < open || memchr(close, '[', length - (size_t)(close - item)))
        return errno = EINVAL, -1;
    for (const char *range = open; *range != ']';) {
        if (add_range(names, item, (size_t)(open - item), range + 1, close + 1,
                      length - (size_t)(close + 1 - item)) < 0)
            return -1;
        range += 1 + strcspn(range + 1, ",]");
    }
    return 0;
}

/* The length of the first item: commas in brackets do not end it. */
static size_t item_length(const char *list)
{
    bool inside = false;
    size_t i = 0;

    for (; list[i] && (inside || list[i] != ','); i++)
        inside = list[i] == '[' || (inside && list[i] != ']');
    return i;
}

int node_list_expand(const char *list, char ***out, size_t *n, struct berth_error *err)
{
    struct names names = {0};

    for (const char *at = list;;) {
        size_t length = item_length(at);

        if (length == 0 ? (errno = EINVAL, true) : add_item(&names, at, length) < 0) {
            int why = errno;

            node_list_free(names.name, names.n);
            errno = why;
            if (why == EINVAL)
                return berth_error_set(err, "nodes such as n1,n[2-4] expected, not '%.100s'", list);
            return berth_error_set(err, "%m");
        }
        at += length;
        if (!*at++)
            break;
    }
    *out = names.name;
    *n = names.n;
    return 0;
}

void node_list_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* ---- the other way ---- */

/* A name as what comes before its last number, and that number; digits 0: it ends in none. */
struct parts {
    size_t prefix, digits;
    unsigned long number;
};

static struct parts split(const char *name)
{
    size_t length = strlen(name), prefix = length;

    while (prefix > 0 && length - prefix < 9 && isdigit((unsigned char)name[prefix - 1]))
        prefix--;
    return (struct parts){prefix, length - prefix, strtoul(name + prefix, NULL, 10)};
}

static int compare(const void *a, const void *b)
{
    const char *left = *(const char *const *)a, *right = *(const char *const *)b;
    struct parts l = split(left), r = split(right);
    size_t common = l.prefix < r.prefix ? l.prefix : r.prefix;
    int order = strncmp(left, right, common);

    if (order == 0 && l.prefix != r.prefix)
        order = l.prefix < r.prefix ? -1 : 1;
    if (order == 0 && l.digits != r.digits && l.number == r.number)
        order = l.digits < r.digits ? -1 : 1;
    if (order == 0)
        order = (l.number > r.number) - (l.number < r.number);
    return order ? order : strcmp(left, right);
}

/* May b stand in the brackets of a? Numbers with leading zeros only beside those as wide. */
static bool fits(const char *a, const struct parts *pa, const char *b, const struct parts *pb)
{
    bool padded =
        (pa->digits > 1 && a[pa->prefix] == '0') || (pb->digits > 1 && b[pb->prefix] == '0');

    return pa->digits && pb->digits && pa->prefix == pb->prefix && strncmp(a, b, pa->prefix) == 0 &&
           (!padded || pa->digits == pb->digits);
}

/* The names from `from` on that share one pair of brackets, written; the index after them. */
static size_t put_group(FILE *out, const char **names, size_t n, size_t from)
{
    struct parts first = split(names[from]), last = first;
    size_t end = from + 1, begin = from;

    for (; end < n; end++) {
        struct parts next = split(names[end]);

        if (!fits(names[from], &first, names[end], &next))
            break;
    }
    if (end == from + 1) {
        fputs(names[from], out);
        return end;
    }
    fprintf(out, "%.*s[", (int)first.prefix, names[from]);
    for (size_t i = from + 1; i <= end; i++) {
        struct parts next = i < end ? split(names[i]) : (struct parts){0};

        if (i < end && next.number == last.number + 1) {
            last = next;
            continue;
        }
        fprintf(out, "%s%s", begin == from ? "" : ",", names[begin] + first.prefix);
        if (i - begin > 1)
            fprintf(out, "-%s", names[i - 1] + first.prefix);
        begin = i;
        last = next;
    }
    fputc(']', out);
    return end;
}

char *node_list_compress(const char **names, size_t *n)
{
    char *text = NULL;
    size_t size, unique = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    qsort(names, *n, sizeof(*names), compare);
    for (size_t i = 0; i < *n; i++)
        if (i == 0 || strcmp(names[i], names[unique - 1]) != 0)
            names[unique++] = names[i];
    *n = unique;
    for (size_t i = 0; i < unique;) {
        if (i)
            fputc(',', out);
        i = put_group(out, names, unique, i);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
