/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_words - see day_words.h */
#include "tests/bench/day_words.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 256 /* of what getopt_long(3) returns for rows */

void day_words_wrong(const char *what)
{
    const char *name = program_invocation_short_name;

    fprintf(stderr, "%s: %s (try '%s --help')\n", name, what, name);
    exit(2);
}

double day_words_number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= least && value <= most))
        day_words_wrong(text);
    return value;
}

bool day_words_is_on(const char *text)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        day_words_wrong(text);
    return strcmp(text, "on") == 0;
}

struct day_noise day_words_noise(char *text)
{
    struct day_noise noise = {0};
    double *sigma[] = {&noise.job, &noise.phase, &noise.window};
    char *save, *word = strtok_r(text, ",", &save);

    for (size_t i = 0; i < 3; i++, word = strtok_r(NULL, ",", &save)) {
        if (!word)
            day_words_wrong("--noise: JOB,PHASE,WINDOW expected");
        *sigma[i] = day_words_number(word, 0, 3);
    }
    if (word)
        day_words_wrong(word);
    return noise;
}

enum day_socket day_words_socket(const char *text)
{
    if (strcmp(text, "package") != 0 && strcmp(text, "l3") != 0)
        day_words_wrong(text);
    return strcmp(text, "l3") == 0 ? DAY_SOCKET_L3 : DAY_SOCKET_PACKAGE;
}

const struct day_machine *day_words_machine(const char *text)
{
    const struct day_machine *machine = day_machine_of(text);

    if (!machine)
        day_words_wrong(text);
    return machine;
}

static const struct day_word *word_at(const struct day_word *first, size_t row, size_t i)
{
    return (const struct day_word *)((const char *)first + i * row);
}

void day_words_list(const struct day_word *first, size_t n, size_t row)
{
    for (size_t i = 0; i < n; i++) {
        const struct day_word *word = word_at(first, row, i);
        char left[40];

        snprintf(left, sizeof(left), "--%s %s", word->name, word->arg ? word->arg : "");
        printf("  %-25s %s\n", left, word->what);
    }
}

int day_words_next(const struct day_word *first, size_t n, size_t row, int argc, char **argv)
{
    struct option *known = calloc(n + 1, sizeof(*known));
    int option;

    if (!known)
        day_words_wrong(strerror(ENOMEM));
    for (size_t i = 0; i < n; i++) {
        const struct day_word *word = word_at(first, row, i);

        known[i] = (struct option){word->name, word->arg ? required_argument : no_argument, NULL,
                                   FIRST + (int)i};
    }
    option = getopt_long(argc, argv, "", known, NULL);
    free(known);
    if (option >= 0 && option < FIRST)
        exit(2);
    return option < 0 ? -1 : option - FIRST;
}
