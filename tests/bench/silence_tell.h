/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_tell - plays a program with what was seen, and prints both. */
#ifndef BERTH_BENCH_SILENCE_TELL_H
#define BERTH_BENCH_SILENCE_TELL_H

#include "tests/bench/silence_detours.h"
#include "tests/bench/silence_scene.h"
#include "tests/bench/silence_train.h"

#define SILENCE_ITERATIONS 4
#define SILENCE_NODES 6 /* the last one: together */

struct silence_result {
    const struct silence_scene *scene;
    struct silence_train train;
    double longer[SILENCE_ITERATIONS][SILENCE_NODES];
    struct silence_detours without, with; /* berthd */
};

/* Fills in longer. */
void silence_play(struct silence_result *result, double skew_s, unsigned seed);

void silence_tell(const struct silence_result *result);
void silence_tell_json(const struct silence_result *result, size_t n, double skew_s, unsigned seed);

/* A line of progress on a terminal on stderr: what is done, and how much of it (0 to 1). NULL: the
 * line goes. */
void silence_tell_progress(const char *what, double done);

#endif
