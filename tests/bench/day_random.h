/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_random - numbers by lot, the same with every C library. */
#ifndef BERTH_BENCH_DAY_RANDOM_H
#define BERTH_BENCH_DAY_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Draws a number between 0 and 1, neither of them: SplitMix64 (Steele 2014). */
static inline double day_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* Draws a normal one, of mean 0 and deviation 1 (Box and Muller 1958). */
static inline double day_random_normal(uint64_t *seed)
{
    double normal = sqrt(-2 * log(day_random(seed)));

    return normal * cos(2 * M_PI * day_random(seed));
}

/* Returns a seed of its own for what these numbers name. */
static inline uint64_t day_random_seed(uint64_t seed, uint64_t what, uint64_t number)
{
    uint64_t at = seed * 1000003 + what;

    at = (uint64_t)(day_random(&at) * 9007199254740992.0) ^ number * 0x9e3779b97f4a7c15;
    return at;
}

#endif
