/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_noise - see day_noise.h */
#include "tests/bench/day_noise.h"

#include <math.h>

#include "tests/bench/day_random.h"

#define NS 1000000000ll

/* Adds the logarithms of one factor a counter. `number` tells which phase or window it is. */
static void add(double sigma, uint64_t seed, uint64_t number, double sum[DAY_NOISIES])
{
    uint64_t at = day_random_seed(seed, 0, number);
    double traffic, shared = sqrt(DAY_NOISE_SHARED), own = sqrt(1 - DAY_NOISE_SHARED);

    sum[DAY_INSTRUCTIONS] += sigma * day_random_normal(&at);
    traffic = day_random_normal(&at);
    for (enum day_noisy c = DAY_ACCESSES; c < DAY_NOISIES; c++)
        sum[c] += sigma * (shared * traffic + own * day_random_normal(&at));
}

void day_noise_at(const struct day_noise *noise, uint64_t seed, uint32_t job, int64_t at,
                  double factor[DAY_NOISIES])
{
    uint64_t begins = day_random_seed(seed, 0, job); /* each job has phases of its own */
    int64_t phase = at / NS + (int64_t)(day_random(&begins) * DAY_PHASE_S);
    double sum[DAY_NOISIES] = {0};

    add(noise->job, day_random_seed(seed, 1, job), 0, sum);
    add(noise->phase, day_random_seed(seed, 2, job), (uint64_t)(phase / DAY_PHASE_S), sum);
    add(noise->window, day_random_seed(seed, 3, job), (uint64_t)(at / NS / DAY_NOISE_S), sum);
    for (enum day_noisy c = 0; c < DAY_NOISIES; c++)
        factor[c] = exp(sum[c]);
}

int64_t day_noise_until(int64_t at)
{
    return (at / (DAY_NOISE_S * NS) + 1) * DAY_NOISE_S * NS;
}
