/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - see options.h */
#include "packer/cli/options/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packer/base/nearest.h"
#include "packer/cli/options/complaint.h"
#include "packer/cli/options/terminal.h"

#define COLUMNS 92 /* of --help where stdout is no terminal */
#define LEFT_MAX 64

static const struct ctl_option help_row = {"help", 'h', NULL, "this text", .type = CTL_TYPE_FLAG};

/* ---- values ---- */

int ctl_options_scaled(const char *text, uint64_t unit, uint64_t *value, const char **end)
{
    static const char suffix[] = "KMG";
    const char *found;
    uint64_t scale = 1;
    char *after;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    *value = strtoull(text, &after, 10);
    if (errno)
        return -1;
    found = *after ? strchr(suffix, toupper((unsigned char)*after)) : NULL;
    for (const char *s = suffix; found && s <= found; s++)
        scale *= unit;
    *end = found ? after + 1 : after;
    return __builtin_mul_overflow(*value, scale, value) ? -1 : 0;
}

static bool within(const struct ctl_option *option, double value)
{
    return value >= option->min && (option->max == 0 || value <= option->max);
}

static int no_number(const char *verb, const struct ctl_option *option, const char *text)
{
    char most[32] = "up";

    if (option->max > 0)
        snprintf(most, sizeof(most), "to %g", option->max);
    return ctl_usage(verb, "--%s: %s from %g %s expected, not '%.64s'", option->name, option->unit,
                     option->min, most, text);
}

static int take_number(const char *verb, const struct ctl_option *option, const char *text,
                       double *field)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !within(option, value))
        return no_number(verb, option, text);
    *field = value;
    return -1;
}

static int take_whole(const char *verb, const struct ctl_option *option, const char *text,
                      uint64_t *field)
{
    uint64_t value;
    const char *end;
    bool scaled = option->type == CTL_TYPE_COUNT;

    if (ctl_options_scaled(text, 1000, &value, &end) < 0 || *end ||
        (!scaled && !isdigit((unsigned char)end[-1])) || !within(option, (double)value))
        return no_number(verb, option, text);
    *field = value;
    return -1;
}

static int take_word(const char *verb, const struct ctl_option *option, const char *text,
                     int *field)
{
    char list[256] = "", meant[NEAREST_SAY_MAX];
    struct nearest nearest = nearest_begin(text);

    for (int i = 0; option->words[i]; i++) {
        size_t used = strlen(list);

        if (strcasecmp(text, option->words[i]) == 0) {
            *field = i;
            return -1;
        }
        nearest_try(&nearest, option->words[i]);
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", option->words[i]);
    }
    return ctl_usage(verb, "--%s: one of %s expected, not '%.64s'%s", option->name, list, text,
                     nearest_say(&nearest, meant));
}

static bool is_rival(const struct ctl_option *row, const struct ctl_option *option)
{
    return row->type == CTL_TYPE_ONE && row->offset == option->offset;
}

static int take_one(const struct ctl_options *options, const struct ctl_option *option, int *field)
{
    char list[256] = "";
    size_t used = 0, last = 0;

    if (*field == 0 || *field == option->one) {
        *field = option->one;
        return -1;
    }
    for (size_t i = 0; i < options->n; i++)
        last = is_rival(&options->option[i], option) ? i : last;
    for (size_t i = 0; i <= last && used < sizeof(list); i++)
        if (is_rival(&options->option[i], option))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s",
                                     used == 0   ? ""
                                     : i == last ? " and "
                                                 : ", ",
                                     options->option[i].name);
    return ctl_usage(options->verb, "one of %s only", list);
}

static int take_list(const char *verb, const struct ctl_option *option, const char *text,
                     void *into)
{
    char *copy = strdup(text), *rest = copy, *word;
    int status = -1;
    bool any = false;

    if (!copy)
        return ctl_fail(verb, "out of memory");
    while (status < 0 && (word = strsep(&rest, ",")))
        if (*word) {
            any = true;
            status = option->take(option, word, into);
        }
    free(copy);
    return any ? status : ctl_usage(verb, "--%s: a list expected", option->name);
}

static int take_value(const struct ctl_options *options, const struct ctl_option *option,
                      const char *value, void *into)
{
    void *field = (char *)into + option->offset;

    switch (option->type) {
    case CTL_TYPE_FLAG:
        *(bool *)field = true;
        return -1;
    case CTL_TYPE_ONE:
        return take_one(options, option, field);
    case CTL_TYPE_TEXT:
        *(const char **)field = value;
        return -1;
    case CTL_TYPE_WORD:
        return take_word(options->verb, option, value, field);
    case CTL_TYPE_NUMBER:
        return take_number(options->verb, option, value, field);
    case CTL_TYPE_WHOLE:
    case CTL_TYPE_COUNT:
        return take_whole(options->verb, option, value, field);
    case CTL_TYPE_CALL:
        return option->take(option, value, into);
    case CTL_TYPE_LIST:
        return take_list(options->verb, option, value, into);
    }
    return -1;
}

/* ---- the command line ---- */

/* Holds a table as getopt_long wants it, with --help. */
struct getopt_table {
    const struct ctl_option *row[CTL_OPTIONS_MAX + 1];
    struct option option[CTL_OPTIONS_MAX + 2];
    char letters[2 * CTL_OPTIONS_MAX + 8];
};

static bool has_help(const struct ctl_options *options)
{
    for (size_t i = 0; i < options->n; i++)
        if (strcmp(options->option[i].name, help_row.name) == 0)
            return true;
    return false;
}

static void make_table(const struct ctl_options *options, struct getopt_table *table)
{
    size_t n = options->n + !has_help(options);
    char *letter = table->letters;

    memset(table, 0, sizeof(*table));
    letter = stpcpy(letter, options->stops ? "+:" : ":");
    for (size_t i = 0; i < n; i++) {
        const struct ctl_option *row = i < options->n ? &options->option[i] : &help_row;

        table->row[i] = row;
        table->option[i] = (struct option){row->name, row->arg ? required_argument : no_argument,
                                           NULL, (int)(UINT8_MAX + 1 + i)};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->arg)
            *letter++ = ':';
    }
}

/* Returns the row of what getopt_long returned; NULL where it is none's. */
static const struct ctl_option *find_row(const struct getopt_table *table, int returned)
{
    if (returned > UINT8_MAX)
        return table->row[returned - UINT8_MAX - 1];
    for (size_t i = 0; table->row[i]; i++)
        if (table->row[i]->letter == returned)
            return table->row[i];
    return NULL;
}

/* Says that there is no such option, and which one may be meant: "--jsn: no such option (--json?)".
 */
static int no_option(const char *verb, const struct getopt_table *table, const char *typed)
{
    size_t dashes = strspn(typed, "-");
    char word[64];
    struct nearest nearest;

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(typed + dashes, "="), typed + dashes);
    nearest = nearest_begin(word);
    for (size_t i = 0; dashes == 2 && table->row[i]; i++)
        nearest_try(&nearest, table->row[i]->name);
    if (nearest.best)
        return ctl_usage(verb, "%s: no such option (--%s?)", typed, nearest.best);
    return ctl_usage(verb, "%s: no such option", typed);
}

/* Says what is wrong with an option that getopt_long refused. */
static int wrong_option(const char *verb, const struct getopt_table *table, int returned,
                        const char *typed)
{
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt <= UINT8_MAX;

    if (returned == ':')
        return ctl_usage(verb, "%s: a value is missing", is_letter ? letter : typed);
    if (optopt > UINT8_MAX)
        return ctl_usage(verb, "%s: takes no value", typed);
    return no_option(verb, table, is_letter ? letter : typed);
}

static int check_arguments(const struct ctl_options *options, int argc, char **argv)
{
    const char *takes = options->takes ? options->takes : "no argument";
    int n = argc - optind;

    if (options->most >= 0 && n > options->most)
        return ctl_usage(options->verb, "takes %s: %s", takes, argv[optind + options->most]);
    return n < options->least ? ctl_usage(options->verb, "takes %s", takes) : -1;
}

static struct {
    void (*visit)(const struct ctl_options *options, void *arg);
    void *arg;
} visitor;

void ctl_options_visit(void (*visit)(const struct ctl_options *options, void *arg), void *arg)
{
    visitor.visit = visit;
    visitor.arg = arg;
}

int ctl_options_read(const struct ctl_options *options, int argc, char **argv, void *into)
{
    struct getopt_table table;
    int returned, status = -1;

    if (visitor.visit) {
        visitor.visit(options, visitor.arg);
        return 0;
    }
    make_table(options, &table);
    optind = 0; /* a table may have been read before */
    opterr = 0;
    while (status < 0 &&
           (returned = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1) {
        const struct ctl_option *row = find_row(&table, returned);

        if (!row)
            status = wrong_option(options->verb, &table, returned, argv[optind - 1]);
        else if (row == &help_row)
            status = ctl_options_help(options);
        else
            status = take_value(options, row, optarg, into);
    }
    return status < 0 ? check_arguments(options, argc, argv) : status;
}

/* ---- --help ---- */

/* Writes "  -o, --output FILE". Returns its length. */
static size_t put_left(const struct ctl_option *row, char text[LEFT_MAX])
{
    char letter[] = {'-', row->letter, ',', ' ', '\0'};

    snprintf(text, LEFT_MAX, "  %s--%s%s%s", row->letter ? letter : "    ", row->name,
             row->arg ? " " : "", row->arg ? row->arg : "");
    return strlen(text);
}

static void put_rows(const struct ctl_option *row, size_t n, size_t left)
{
    size_t columns = ctl_columns();
    char text[LEFT_MAX];

    for (size_t i = 0; i < n; i++) {
        if (!row[i].help)
            continue;
        put_left(&row[i], text);
        ctl_put_paragraph(stdout, text, left + 2, row[i].help, columns ? columns : COLUMNS);
    }
}

/* Says how it is used, a line for each way. */
static void put_usage(const struct ctl_options *options, size_t columns)
{
    char title[LEFT_MAX], way[512];
    size_t length, indent;

    snprintf(title, sizeof(title), "usage: %s%s%s", ctl_program_name(), *options->verb ? " " : "",
             options->verb);
    indent = strlen(title) + 1;
    for (const char *text = options->synopsis; *text; text += length + (text[length] == '\n')) {
        text += strspn(text, " ");
        length = strcspn(text, "\n");
        snprintf(way, sizeof(way), "%.*s", (int)length, text);
        ctl_put_paragraph(stdout, title, indent, way, columns);
        snprintf(title, sizeof(title), "      ");
        indent = sizeof("usage: ") - 1;
    }
}

int ctl_options_help(const struct ctl_options *options)
{
    char text[LEFT_MAX];
    size_t left = put_left(&help_row, text), used, columns = ctl_columns();

    for (size_t i = 0; i < options->n; i++) {
        used = options->option[i].help ? put_left(&options->option[i], text) : 0;
        left = used > left ? used : left;
    }
    put_usage(options, columns);
    putchar('\n');
    ctl_put_text(stdout, options->about, columns);
    putchar('\n');
    put_rows(options->option, options->n, left);
    if (!has_help(options))
        put_rows(&help_row, 1, left);
    if (options->more) {
        putchar('\n');
        ctl_put_text(stdout, options->more, columns);
    }
    return fflush(stdout) == 0 ? 0 : ctl_fail("stdout", "%m");
}
