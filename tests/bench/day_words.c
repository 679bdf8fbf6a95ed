/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_words - see day_words.h */
#include "tests/bench/day_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
