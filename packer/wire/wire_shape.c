/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_shape - which kind of invocation a command line is (wire.h).
 *
 * A program does other things to a cache with other options, but much the same with another input
 * of the same kind: the names of options are kept, numbers and the names of files are not. Command
 * lines hold passwords, tokens and other people's names, too: a word that is none of these stands
 * there as 16 bits of its hash, by which two kinds are told apart and no word is found out. */
#include "packer/wire/wire.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define LOOKED_AT 4096
#define EXTENSION_MAX 4 /* letters and digits of one that is kept */

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

/* Writes text[length] with '#' for each number in it into out[LOOKED_AT]. A sign belongs to the
 * number where nothing stands before it. Returns its length, which is not greater. */
static size_t without_numbers(const char *text, size_t length, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        bool sign = i == 0 && (text[i] == '-' || text[i] == '+');
        size_t n = number_length(text + i + sign, length - i - sign);

        out[used++] = n ? '#' : text[i];
        i += n ? n + sign : 1;
    }
    return used;
}

static void append_text(struct shape *shape, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        append(shape, text[i]);
}

/* Appends a word: numbers and what stands between them as they are, else "~" and 16 bits of its
 * hash, in which its numbers do not count. */
static void append_word(struct shape *shape, const char *text, size_t length)
{
    char word[LOOKED_AT], hash[8];

    length = without_numbers(text, length, word);
    for (size_t i = 0; i < length; i++)
        if (!strchr("#-+,:.", word[i]) || !word[i]) {
            snprintf(hash, sizeof(hash), "~%04x", (unsigned)(XXH3_64bits(word, length) & 0xffff));
            append_text(shape, hash, strlen(hash));
            return;
        }
    append_text(shape, word, length);
}

/* Returns where the extension of a file's name begins, behind its dot: a letter, and letters or
 * digits. NULL: it has none. */
static const char *extension(const char *text, size_t length)
{
    const char *dot = memrchr(text, '.', length);

    if (!dot || dot == text || dot + 1 == text + length || !isalpha((unsigned char)dot[1]))
        return NULL;
    for (const char *c = dot + 1; c < text + length; c++)
        if (!isalnum((unsigned char)*c))
            return NULL;
    return dot + 1;
}

/* Appends an extension as it is, with '#' for its numbers, where it looks like one; else it may be
 * the end of a secret. */
static void append_extension(struct shape *shape, const char *text, size_t length)
{
    char word[LOOKED_AT];

    for (size_t i = 0; i < length; i++)
        if (isupper((unsigned char)text[i]) || length > EXTENSION_MAX) {
            append_word(shape, text, length);
            return;
        }
    append(shape, '.');
    append_text(shape, word, without_numbers(text, length, word));
}

/* Appends a value: a file's name, or words. */
static void append_value(struct shape *shape, const char *text, size_t length)
{
    const char *slash = memrchr(text, '/', length), *name = slash ? slash + 1 : text;
    const char *end = text + length, *kind = extension(name, (size_t)(end - name));

    if (!slash && !kind) {
        append_word(shape, text, length);
        return;
    }
    append(shape, '/');
    if (kind)
        append_extension(shape, kind, (size_t)(end - kind));
}

/* Returns how many characters of an option are its name: all before the '=' of a long one, if they
 * are such as names have, and the letter of a short one. 0: it is no option. */
static size_t name_length(const char *text, size_t length)
{
    size_t n = 2;

    if (length < 2 || text[0] != '-' || !(text[1] == '-' || isalpha((unsigned char)text[1])))
        return 0;
    while (text[1] == '-' && n < length &&
           (isalnum((unsigned char)text[n]) || text[n] == '-' || text[n] == '_'))
        n++;
    return text[1] != '-' || n == length || text[n] == '=' ? n : 0;
}

/* Appends a word of the command line: an option's name stays, a variable's, as in NAME=VALUE, is a
 * word as any other. Of a very long one the beginning counts. */
static void append_argument(struct shape *shape, const char *text)
{
    size_t length = strnlen(text, LOOKED_AT), name = name_length(text, length);
    const char *equals = memchr(text, '=', length);
    char clear[LOOKED_AT];

    if (strcmp(text, "-") == 0 || name > 0)
        append_text(shape, clear, without_numbers(text, name ? name : 1, clear));
    else if (equals && !memchr(text, '/', (size_t)(equals - text)))
        append_word(shape, text, name = (size_t)(equals - text));
    if (name < length && text[name] == '=') {
        append(shape, '=');
        name++;
    }
    if (name < length && strcmp(text, "-") != 0)
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
