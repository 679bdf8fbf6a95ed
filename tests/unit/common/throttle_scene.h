/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle_scene - a program whose memory-bound and computing phases follow each other, each of
 * random length, as those of Porterfield's Strassen seem to: the paper prints none. */
#ifndef BERTH_TESTS_THROTTLE_SCENE_H
#define BERTH_TESTS_THROTTLE_SCENE_H

#include <stdint.h>

#include "models/tasks/throttle_run.h"

#define THROTTLE_SCENE_LOOPS 300

struct throttle_scene {
    struct throttle_loop loop[THROTTLE_SCENE_LOOPS];
    struct throttle_program program; /* 32 threads, sampled at 1000 Hz */
};

/* Makes the program of that seed: phases of 100 ms at the memory's roof, which 20 threads reach,
 * and of 20 ms far below it, both exponentially distributed, in chunks of 2 ms. */
void throttle_scene_make(struct throttle_scene *scene, uint64_t seed);

#endif
