/* SPDX-License-Identifier: GPL-2.0-or-later */
/* noise - random numbers that are the same on every machine. */
#ifndef TESTS_UNIT_NOISE_H
#define TESTS_UNIT_NOISE_H

#include <math.h>
#include <stdint.h>

struct noise {
    uint64_t state;
};

/* 0 <= value < 1 (splitmix64). */
static inline double noise_uniform(struct noise *noise)
{
    uint64_t z = noise->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Mean 0, deviation 1 (Box and Muller). */
static inline double noise_normal(struct noise *noise)
{
    double u = 1 - noise_uniform(noise);

    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979324 * noise_uniform(noise));
}

#endif
