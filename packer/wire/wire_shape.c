/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_shape - which kind of invocation a command line is (wire.h).
 *
 * A program does other things to a cache with other options, but much the same with another input
 * of the same kind: options are kept as they are, numbers and the names of files are not. */
#include "packer/wire/wire.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define LOOKED_AT 4096
#define EXTENSION_MAX 8

struct shape {
    char text[LOOKED_AT];
    size_t length;
};

static void append(struct shape *shape, char c)
{
    if (shape->length < sizeof(shape->text))
        shape->text[shape->length++] = c;
}

/* How many characters of text[length] are a number: digits, with a fraction and an exponent. 0: it
 * does not begin with one. */
static size_t number_length(const char *text, size_t length)
{
    size_t n = 0, e;

    while (n < length && isdigit((unsigned char)text[n]))
        n++;
    if (n > 0 && n + 1 < length && text[n] == '.' && isdigit((unsigned char)text[n + 1]))
        for (n++; n < length && isdigit((unsigned char)text[n]);)
            n++;
    e = n;
    if (n > 0 && e + 1 < length && (text[e] == 'e' || text[e] == 'E')) {
        e += text[e + 1] == '-' || text[e + 1] == '+' ? 2 : 1;
        if (e < length && isdigit((unsigned char)text[e]))
            for (n = e; n < length && isdigit((unsigned char)text[n]);)
                n++;
    }
    return n;
}

/* Append text[length] with '#' for each number in it. A sign belongs to the number where nothing
 * stands before it. */
static void append_words(struct shape *shape, const char *text, size_t length)
{
    for (size_t i = 0; i < length && shape->length < sizeof(shape->text);) {
        bool sign = i == 0 && (text[i] == '-' || text[i] == '+');
        size_t n = number_length(text + i + sign, length - i - sign);

        append(shape, n ? '#' : isprint((unsigned char)text[i]) ? text[i] : '?');
        i += n ? n + sign : 1;
    }
}

/* Where the extension of a file's name begins, with its dot: a letter and letters or digits, a few
 * of them. NULL: it has none. */
static const char *extension(const char *text, size_t length)
{
    const char *dot = memrchr(text, '.', length);
    size_t n = dot ? (size_t)(text + length - dot) - 1 : 0;

    if (!dot || dot == text || n == 0 || n > EXTENSION_MAX || !isalpha((unsigned char)dot[1]))
        return NULL;
    for (size_t i = 1; i <= n; i++)
        if (!isalnum((unsigned char)dot[i]))
            return NULL;
    return dot;
}

/* A value: a file's name, or words. */
static void append_value(struct shape *shape, const char *text, size_t length)
{
    const char *slash = memrchr(text, '/', length), *name = slash ? slash + 1 : text;
    const char *dot = extension(name, (size_t)(text + length - name));

    if (slash || dot) {
        append(shape, '/');
        if (dot)
            append_words(shape, dot, (size_t)(text + length - dot));
    } else {
        append_words(shape, text, length);
    }
}

/* A word of the command line: an option keeps its name. Of a very long one the beginning counts. */
static void append_argument(struct shape *shape, const char *text)
{
    size_t length = strnlen(text, LOOKED_AT);
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) + 1 : 0;

    if (memchr(text, '/', name)) /* a path that has a '=' in it */
        name = 0;
    append_words(shape, text, name);
    append_value(shape, text + name, length - name);
}

void wire_args_shape(int argc, char *const *argv, char shape[WIRE_SHAPE_MAX])
{
    struct shape whole = {.length = 0};

    if (argc < 2 || !argv[0] || !argv[1]) {
        snprintf(shape, WIRE_SHAPE_MAX, "()");
        return;
    }
    for (int i = 1; i < argc && argv[i] && whole.length < sizeof(whole.text); i++) {
        if (i > 1)
            append(&whole, ' ');
        append_argument(&whole, argv[i]);
    }
    if (whole.length < WIRE_SHAPE_MAX)
        snprintf(shape, WIRE_SHAPE_MAX, "%.*s", (int)whole.length, whole.text);
    else
        snprintf(shape, WIRE_SHAPE_MAX, "%016llx",
                 (unsigned long long)XXH3_64bits(whole.text, whole.length));
}
