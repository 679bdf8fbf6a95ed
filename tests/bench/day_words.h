/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_words - words of a simulation's command line. What is wrong ends the program with one line
 * and status 2. */
#ifndef BERTH_BENCH_DAY_WORDS_H
#define BERTH_BENCH_DAY_WORDS_H

#include <stdbool.h>

#include "tests/bench/day_machines.h"
#include "tests/bench/day_noise.h"
#include "tests/bench/day_slurm.h"

/* An option: its name, its argument (NULL: it has none), and what it is for. */
struct day_word {
    const char *name, *arg, *what;
};

void day_words_wrong(const char *what) __attribute__((noreturn));

/* Returns a number from `least` to `most`. */
double day_words_number(const char *text, double least, double most);

/* Returns what "on" or "off" says. */
bool day_words_is_on(const char *text);

/* Reads "JOB,PHASE,WINDOW"; the text is cut. */
struct day_noise day_words_noise(char *text);

/* Returns what Slurm takes for a socket: "package" or "l3". */
enum day_socket day_words_socket(const char *text);

/* Returns the machine of that name. */
const struct day_machine *day_words_machine(const char *text);

/* Prints n options, a line each. They lie in a table whose rows are `row` bytes apart. */
void day_words_list(const struct day_word *first, size_t n, size_t row);

/* Returns the row of the next option of the command line, whose argument is optarg, as
 * getopt_long(3); -1: there is none any more, and what follows is at optind. */
int day_words_next(const struct day_word *first, size_t n, size_t row, int argc, char **argv);

#endif
