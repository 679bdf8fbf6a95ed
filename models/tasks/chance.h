/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chance - random numbers for simulations: the same on every machine for the same seed
 * (splitmix64). */
#ifndef BERTH_MODELS_TASKS_CHANCE_H
#define BERTH_MODELS_TASKS_CHANCE_H

#include <math.h>
#include <stdint.h>

struct chance {
    uint64_t state; /* the seed at first */
};

/* Returns 0 <= value < 1. */
static inline double chance_uniform(struct chance *chance)
{
    uint64_t z = chance->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Returns a time of that mean, exponentially distributed. */
static inline double chance_time(struct chance *chance, double mean)
{
    return -mean * log(1 - chance_uniform(chance));
}

#endif
