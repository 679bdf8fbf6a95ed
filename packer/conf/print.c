/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - berth.conf as text: for files, for people and for the manual. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "packer/conf/key.h"

/* ---- values as text ---- */

void conf_format(const struct conf *conf, const struct conf_key *key, char *text, size_t size)
{
    const void *field = (const char *)conf + key->offset;
    uint64_t ms;

    switch (key->type) {
    case CONF_TYPE_CHOICE:
        snprintf(text, size, "%s", key->word[*(const unsigned *)field]);
        break;
    case CONF_TYPE_NUMBER:
        snprintf(text, size, "%.15g", *(const double *)field);
        break;
    case CONF_TYPE_COUNT:
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)field);
        break;
    case CONF_TYPE_TIME:
        ms = *(const uint64_t *)field;
        snprintf(text, size, "%" PRIu64 "%s", ms % 1000 ? ms : ms / 1000, ms % 1000 ? "ms" : "s");
        break;
    default:
        snprintf(text, size, "%s", (const char *)field);
    }
}

void conf_format_words(const struct conf_key *key, char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; key->word[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", key->word[i]);
}

/* ---- printing ---- */

/* Writes "Unit: ms or s (100ms to 3600s)", "One of: a, b", or "". */
static void describe_type(const struct conf_key *key, char *text, size_t size)
{
    char list[256];

    text[0] = '\0';
    if (key->word) {
        conf_format_words(key, list, sizeof(list));
        snprintf(text, size, "%s: %s", key->type == CONF_TYPE_WORDS ? "Words" : "One of", list);
    } else if (key->type == CONF_TYPE_TIME) {
        snprintf(text, size, "Unit: %s (%.0fms to %.0fs)", key->unit, key->min, key->max / 1000);
    } else if (key->unit[0]) {
        snprintf(text, size, "Unit: %s (%.0f to %.0f)", key->unit, key->min, key->max);
    }
}

#define COMMENT 98 /* bytes of a line: inih reads no longer ones than 200 */

/* Writes text as comment lines, broken between words. */
static void print_comment(const char *text, FILE *out)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");

        if (column && column + 1 + length > COMMENT) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s %.*s", column ? "" : "#", (int)length, text);
        column += (column ? 1 : 2) + length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

void conf_print(const struct conf *conf, FILE *out)
{
    char text[PATH_MAX], type[512];

    fputs("# berth.conf - what berthd does on this node: see berth.conf(5)\n", out);
    for (const struct conf_key *key = conf_key; key->name; key++) {
        fputc('\n', out);
        print_comment(key->help, out);
        describe_type(key, type, sizeof(type));
        if (type[0])
            print_comment(type, out);
        if (key->when == CONF_START)
            print_comment("A change takes effect when berthd starts the next time.", out);
        conf_format(conf, key, text, sizeof(text));
        fprintf(out, "%s =%s%s\n", key->name, text[0] ? " " : "", text);
    }
}

void conf_print_changed(const struct conf *conf, const struct conf *defaults, FILE *out)
{
    char text[PATH_MAX], initial[PATH_MAX];

    for (const struct conf_key *key = conf_key; key->name; key++) {
        conf_format(conf, key, text, sizeof(text));
        conf_format(defaults, key, initial, sizeof(initial));
        if (strcmp(text, initial) != 0)
            fprintf(out, "%s =%s%s\n", key->name, text[0] ? " " : "", text);
    }
}

/* mdoc wants each sentence on a line of its own. */
static void print_sentences(const char *text, FILE *out)
{
    for (; *text; text++) {
        bool ends = text[0] == '.' && text[1] == ' ';

        fputc(*text, out);
        if (ends)
            fputc('\n', out);
        text += ends;
    }
}

/* A long list has no blanks: its lines may end behind commas. */
static void print_breakable(const char *list, FILE *out)
{
    for (; *list; list++) {
        fputc(*list, out);
        if (*list == ',')
            fputs("\\:", out);
    }
}

void conf_print_mdoc(FILE *out)
{
    char type[512];

    for (const struct conf_key *key = conf_key; key->name; key++) {
        describe_type(key, type, sizeof(type));
        fprintf(out, ".It Ic %s\n", key->name);
        print_sentences(key->help, out);
        fputc('\n', out);
        if (type[0])
            fprintf(out, "%s.\n", type);
        if (key->initial[0]) {
            fputs("The default is\n.Ql ", out);
            print_breakable(key->initial, out);
            fputs(" .\n", out);
        } else {
            fputs("Empty by default.\n", out);
        }
        if (key->when == CONF_START)
            fputs("A change takes effect when berthd starts the next time.\n", out);
    }
}
