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

void conf_format_line(const struct conf_key *key, const char *value, char *text, size_t size)
{
    const char *list = conf_section[key->section].list;

    if (list)
        snprintf(text, size, "%s = %s=%s", list, key->name, value);
    else
        snprintf(text, size, "%s =%s%s", key->name, value[0] ? " " : "", value);
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

#define LINE 190   /* bytes: inih reads no longer ones than 200 */
#define COMMENT 98 /* bytes of a line of comment */

/* Writes text as comment lines, broken between words. */
static void print_comment(const char *lead, const char *text, FILE *out)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");

        if (column && column + 1 + length > COMMENT) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s %.*s", column ? "" : lead, (int)length, text);
        column += (column ? 1 : strlen(lead) + 1) + length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

/* Writes what a key does; `lead` begins each line. */
static void print_help(const struct conf_key *key, const char *lead, FILE *out)
{
    char type[512];

    print_comment(lead, key->help, out);
    describe_type(key, type, sizeof(type));
    if (type[0])
        print_comment(lead, type, out);
    if (key->when == CONF_START)
        print_comment(lead, "A change takes effect when berthd starts the next time.", out);
}

/* Writes the key and its value as a file has them, where it is not at its default. Returns whether
 * it is not. */
static bool print_changed(const struct conf *conf, const struct conf_key *key, FILE *out)
{
    char value[PATH_MAX], line[PATH_MAX + 64];

    conf_format(conf, key, value, sizeof(value));
    if (strcmp(value, key->initial) == 0)
        return false;
    conf_format_line(key, value, line, sizeof(line));
    if (conf_section[key->section].list && strlen(line) > LINE)
        fprintf(out, "%s =\n  %s=%s\n", conf_section[key->section].list, key->name, value);
    else
        fprintf(out, "%s\n", line);
    return true;
}

/* Writes a section whose rows are keys of their own. */
static void print_keys(const struct conf *conf, enum conf_section_id section, FILE *out)
{
    char value[PATH_MAX], line[PATH_MAX + 64];

    for (const struct conf_key *key = conf_key; key->name; key++) {
        if (key->section != section)
            continue;
        fputc('\n', out);
        print_help(key, "#", out);
        conf_format(conf, key, value, sizeof(value));
        conf_format_line(key, value, line, sizeof(line));
        fprintf(out, "%s\n", line);
    }
}

/* Writes a section whose rows are entries of one list: what each does, then those that are not at
 * their defaults. */
static void print_list(const struct conf *conf, enum conf_section_id section, FILE *out)
{
    bool any = false;

    for (const struct conf_key *key = conf_key; key->name; key++) {
        if (key->section != section)
            continue;
        fprintf(out, "#\n# %s=%s\n", key->name, key->initial);
        print_help(key, "#    ", out);
    }
    for (const struct conf_key *key = conf_key; key->name; key++)
        any |= key->section == section && print_changed(conf, key, out);
    if (!any)
        fprintf(out, "%s =\n", conf_section[section].list);
}

void conf_print(const struct conf *conf, FILE *out)
{
    fputs("# berth.conf - what berthd does on this node: see berth.conf(5)\n", out);
    for (enum conf_section_id id = 0; id < CONF_SECTIONS; id++) {
        if (id == CONF_TEST && !conf->for_tests)
            continue;
        fprintf(out, "\n# ---- %s ----\n", conf_section[id].title);
        print_comment("#", conf_section[id].help, out);
        if (conf_section[id].list)
            print_list(conf, id, out);
        else
            print_keys(conf, id, out);
    }
}

void conf_print_changed(const struct conf *conf, FILE *out)
{
    for (const struct conf_key *key = conf_key; key->name; key++)
        print_changed(conf, key, out);
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

static void print_mdoc_item(const struct conf_key *key, FILE *out)
{
    char type[512];

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

void conf_print_mdoc(FILE *out)
{
    for (enum conf_section_id id = 0; id < CONF_TEST; id++) {
        const struct conf_section *section = &conf_section[id];

        fprintf(out, ".Ss %s\n", section->title);
        if (section->list)
            fprintf(out, ".Bl -tag -width Ds\n.It Ic %s\n", section->list);
        print_sentences(section->help, out);
        fputs("\n.Bl -tag -width Ds\n", out);
        for (const struct conf_key *key = conf_key; key->name; key++)
            if (key->section == id)
                print_mdoc_item(key, out);
        fputs(section->list ? ".El\n.El\n" : ".El\n", out);
    }
}
