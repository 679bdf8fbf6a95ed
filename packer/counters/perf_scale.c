/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/perf_scale.h"

#include <math.h>

#define WINDOWS_MIN 3 /* from which on the spread of their rates says something */
#define WHOLE 0.999   /* the kernel's two times differ a little where no turn was lost, too */

void perf_scale_add(struct perf_scale *scale, uint64_t count, uint64_t enabled_ns,
                    uint64_t running_ns)
{
    double enabled = (double)(enabled_ns - scale->enabled_ns);
    double running = (double)(running_ns - scale->running_ns);
    double counted = (double)(count - scale->count), rate, weight;

    scale->open_ns = enabled;
    if (running <= 0)
        return;
    scale->open_ns = 0;
    if (running >= WHOLE * enabled)
        enabled = running;
    rate = counted / running;
    weight = enabled * (enabled - running);
    if (scale->windows > 0)
        scale->differences += (rate - scale->rate) * (rate - scale->rate);
    scale->windows++;
    scale->value += enabled > running ? rate * enabled : counted;
    scale->weight_ns2 += weight;
    scale->prior += weight * rate * rate / fmax(running / PERF_TURN_NS, 1);
    scale->covered_ns += enabled;
    scale->rate = rate;
    scale->count = count;
    scale->enabled_ns = enabled_ns;
    scale->running_ns = running_ns;
}

static double variance(const struct perf_scale *scale)
{
    if (scale->windows < WINDOWS_MIN)
        return scale->prior;
    return scale->weight_ns2 * scale->differences / (2 * (double)(scale->windows - 1));
}

void perf_estimate_add(struct perf_estimate *sum, const struct perf_scale *scale)
{
    sum->value += scale->value;
    sum->variance += variance(scale);
    sum->covered_ns += scale->covered_ns;
    sum->open_ns += scale->open_ns;
}

void perf_estimate_join(struct perf_estimate *sum, const struct perf_estimate *other)
{
    sum->value += other->value;
    sum->variance += other->variance;
    sum->covered_ns += other->covered_ns;
    sum->open_ns += other->open_ns;
}

bool perf_estimate_known(const struct perf_estimate *sum)
{
    return sum->open_ns <= sum->covered_ns;
}

double perf_estimate_error(const struct perf_estimate *sum)
{
    return sum->value > 0 ? sqrt(sum->variance) / sum->value : 0;
}
