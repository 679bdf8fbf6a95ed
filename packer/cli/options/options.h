/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - a verb's command line as one table, from which it is parsed and --help is printed.
 *
 * A row names an option, says what its value is and which field of the verb's own struct takes it.
 * Rows are written with the macros below, which check the field's type. --help, -h is there without
 * a row, unless a verb has one of its own. */
#ifndef BERTH_CLI_OPTIONS_OPTIONS_H
#define BERTH_CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTL_OPTIONS_MAX 32 /* rows of a table */

enum ctl_option_type {
    CTL_TYPE_FLAG,   /* bool: true when given */
    CTL_TYPE_ONE,    /* int or enum: `one` when given; rows of the same field exclude each other */
    CTL_TYPE_TEXT,   /* const char *, borrowed from argv */
    CTL_TYPE_WORD,   /* int or enum: the index of one of `words`, whatever their case */
    CTL_TYPE_NUMBER, /* double, from min to max */
    CTL_TYPE_WHOLE,  /* uint64_t, from min to max, in digits */
    CTL_TYPE_COUNT,  /* uint64_t, in digits with K, M or G: powers of 1000 */
    CTL_TYPE_CALL,   /* take() is called with the value */
    CTL_TYPE_LIST,   /* take() is called with each word between the commas, and there is one */
};

struct ctl_option {
    const char *name;
    char letter;      /* 0: none */
    const char *arg;  /* what --help calls the value; NULL: the option takes none */
    const char *help; /* NULL: --help does not show it */
    enum ctl_option_type type;
    size_t offset; /* of the field in the verb's struct */
    int one;
    const char *const *words; /* up to a NULL; of other types what a shell proposes */
    const char *unit;         /* what is expected, for the error: "seconds" */
    double min, max;          /* max 0: no upper bound */
    /* Takes a value into the verb's struct. Returns -1 to go on, else the exit status after saying
     * what is wrong. */
    int (*take)(const struct ctl_option *option, const char *value, void *into);
};

/* The offset of a field that has this C type; a compiler's warning where it has another. */
#define CTL_FIELD(object, field, c_type)                                                           \
    (offsetof(object, field) + 0 * sizeof((c_type *)NULL == &((object *)NULL)->field))

#define CTL_FLAG(object, field) .type = CTL_TYPE_FLAG, .offset = CTL_FIELD(object, field, bool)
#define CTL_ONE(object, field, value)                                                              \
    .type = CTL_TYPE_ONE, .offset = offsetof(object, field), .one = (value)
#define CTL_TEXT(object, field)                                                                    \
    .type = CTL_TYPE_TEXT, .offset = CTL_FIELD(object, field, const char *)
#define CTL_WORD(object, field, list)                                                              \
    .type = CTL_TYPE_WORD, .offset = offsetof(object, field), .words = (list)
#define CTL_NUMBER(object, field, what, least, most)                                               \
    .type = CTL_TYPE_NUMBER, .offset = CTL_FIELD(object, field, double), .unit = (what),           \
    .min = (least), .max = (most)
#define CTL_WHOLE(object, field, what, least, most)                                                \
    .type = CTL_TYPE_WHOLE, .offset = CTL_FIELD(object, field, uint64_t), .unit = (what),          \
    .min = (least), .max = (most)
#define CTL_COUNT(object, field, what, least, most)                                                \
    .type = CTL_TYPE_COUNT, .offset = CTL_FIELD(object, field, uint64_t), .unit = (what),          \
    .min = (least), .max = (most)
#define CTL_CALL(function) .type = CTL_TYPE_CALL, .take = (function)
#define CTL_LIST(object, field, function)                                                          \
    .type = CTL_TYPE_LIST, .offset = offsetof(object, field), .take = (function)

/* The row of a verb that asks berthd. */
#define CTL_OPTION_SOCKET(object)                                                                  \
    {                                                                                              \
        "socket", 0, "PATH", "ask the berthd that listens there", CTL_TEXT(object, socket)         \
    }

struct ctl_options {
    const char *verb;     /* "profile list"; "": the program has no verbs */
    const char *synopsis; /* what follows the verb in "usage: PROGRAM VERB ..." */
    const char *about;    /* what the verb does; lines */
    const char *more;     /* lines below the options; NULL: none */
    const struct ctl_option *option;
    size_t n;
    bool stops;        /* at the first argument, whose own options follow it */
    int least, most;   /* arguments; most -1: any number */
    const char *takes; /* which, for the error: "one KEY"; NULL: none */
};
#define CTL_OPTIONS(table) .option = (table), .n = sizeof(table) / sizeof((table)[0])

/* Reads a verb's command line (argv[0] is the verb) into its struct; fields whose options are not
 * given stay as they are. Returns -1 to go on, with optind at the first argument; else the exit
 * status: 0 after --help, 2 (or what a take() returned) after saying what is wrong. */
int ctl_options_read(const struct ctl_options *options, int argc, char **argv, void *into);

/* From now on ctl_options_read() reads nothing: it calls visit with the verb's table, and returns
 * 0. NULL: it reads again. */
void ctl_options_visit(void (*visit)(const struct ctl_options *options, void *arg), void *arg);

/* Prints a verb's help on stdout. Returns the exit status. */
int ctl_options_help(const struct ctl_options *options);

/* Reads digits and K, M or G (powers of `unit`) behind them; *end is what follows. 0, or -1 where
 * there are no digits or the number is too great. */
int ctl_options_scaled(const char *text, uint64_t unit, uint64_t *value, const char **end);

#endif
