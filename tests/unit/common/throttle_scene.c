/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/common/throttle_scene.h"

#include <math.h>

#include "tests/unit/common/noise.h"

#define CHUNK_S 0.002
#define THREADS 32

/* A phase of random length in which `together` threads get on as if each were alone. */
static struct throttle_loop phase(struct noise *noise, double mean_s, double together,
                                  double bandwidth)
{
    double length_s = -mean_s * log(1 - noise_uniform(noise));

    return (struct throttle_loop){(uint64_t)fmax(1, round(length_s * together / CHUNK_S)), CHUNK_S,
                                  bandwidth};
}

void throttle_scene_make(struct throttle_scene *scene, uint64_t seed)
{
    struct noise noise = {seed};

    for (size_t i = 0; i < THROTTLE_SCENE_LOOPS; i += 2) {
        scene->loop[i] = phase(&noise, 0.100, 20, 1 / 20.);
        scene->loop[i + 1] = phase(&noise, 0.020, THREADS, 1 / 200.);
    }
    scene->program = (struct throttle_program){.threads = THREADS,
                                               .n = THROTTLE_SCENE_LOOPS,
                                               .loop = scene->loop,
                                               .rounds = 1,
                                               .rules = {0.9, SATURATION_IDLE_PART * 0.9, 1},
                                               .dt_s = 0.001};
}
