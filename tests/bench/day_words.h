/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_words - words of a simulation's command line. What is wrong ends the program with one line
 * and status 2. */
#ifndef BERTH_BENCH_DAY_WORDS_H
#define BERTH_BENCH_DAY_WORDS_H

#include <stdbool.h>

#include "tests/bench/day_noise.h"

void day_words_wrong(const char *what) __attribute__((noreturn));

/* Returns a number from `least` to `most`. */
double day_words_number(const char *text, double least, double most);

/* Returns what "on" or "off" says. */
bool day_words_is_on(const char *text);

/* Reads "JOB,PHASE,WINDOW"; the text is cut. */
struct day_noise day_words_noise(char *text);

#endif
