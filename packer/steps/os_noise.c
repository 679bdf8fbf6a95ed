/* SPDX-License-Identifier: GPL-2.0-or-later */
/* os_noise - see os_noise.h */
#include "packer/steps/os_noise.h"

#include <math.h>
#include <string.h>

static size_t bin_of(double run_s)
{
    size_t bin = 0;

    for (double us = 1; bin < OS_NOISE_BINS - 1 && run_s * 1e6 > us; us *= 2)
        bin++;
    return bin;
}

void os_noise_add(struct os_noise *noise, double at_s, double run_s)
{
    struct os_noise_half *now = &noise->half[0];
    size_t bin = bin_of(run_s);

    if (now->since_s > 0 && at_s - now->since_s >= OS_NOISE_HALF_S) {
        noise->half[1] = *now;
        memset(now, 0, sizeof(*now));
    }
    if (!(now->since_s > 0))
        now->since_s = at_s;
    now->n[bin]++;
    now->run_s[bin] += run_s;
    now->longest_s = fmax(now->longest_s, run_s);
}

static double seconds_of(const struct os_noise *noise, double at_s)
{
    const struct os_noise_half *first = &noise->half[noise->half[1].since_s > 0];

    return first->since_s > 0 ? at_s - first->since_s : 0;
}

struct os_noise_told os_noise_told(const struct os_noise *noise, double at_s)
{
    struct os_noise_told told = {.seconds = seconds_of(noise, at_s)};
    double run_s = 0, n = 0;

    if (!(told.seconds > 0))
        return (struct os_noise_told){.seconds = 0};
    for (size_t i = 0; i < 2; i++) {
        for (size_t bin = 0; bin < OS_NOISE_BINS; bin++) {
            n += (double)noise->half[i].n[bin];
            run_s += noise->half[i].run_s[bin];
        }
        told.longest_s = fmax(told.longest_s, noise->half[i].longest_s);
    }
    told.per_s = n / told.seconds;
    told.core = run_s / told.seconds;
    return told;
}

/* From the longest bursts to the shortest: as often as one is longer than those of the next bin, it
 * is what an iteration waits for. */
static double wait_s(const struct os_noise *noise, double seconds, double node_s)
{
    double rate = 0, sum_s = 0, longer_s = 0, part = 0;

    for (size_t bin = OS_NOISE_BINS; bin-- > 0;) {
        double n = (double)(noise->half[0].n[bin] + noise->half[1].n[bin]);
        double mean_s = n > 0 ? (noise->half[0].run_s[bin] + noise->half[1].run_s[bin]) / n : 0;

        if (!(n > 0))
            continue;
        sum_s += (longer_s - mean_s) * part;
        rate += n / seconds;
        part = 1 - exp(-rate * node_s);
        longer_s = mean_s;
    }
    return sum_s + longer_s * part;
}

double os_noise_longer(const struct os_noise *noise, double at_s, size_t nodes, double iteration_s,
                       bool together)
{
    struct os_noise_told told = os_noise_told(noise, at_s);

    if (!(told.seconds > 0))
        return 1;
    if (together)
        return 1 + told.core;
    return 1 +
           fmax(told.core, wait_s(noise, told.seconds, (double)nodes * iteration_s) / iteration_s);
}
