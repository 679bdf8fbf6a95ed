/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_beside - see day_beside.h */
#include "tests/bench/day_beside.h"

#include <math.h>
#include <stdlib.h>

int day_beside_open(struct day_beside *beside, const struct day_truth *truth,
                    struct berth_error *err)
{
    size_t n = truth->apps.n;

    *beside = (struct day_beside){.truth = truth, .log = calloc(n * n, sizeof(*beside->log))};
    if (!beside->log)
        return berth_no_memory(err);
    for (size_t i = 0; i < n * n; i++)
        beside->log[i] = log1p(truth->slowdown[i]);
    return 0;
}

void day_beside_free(struct day_beside *beside)
{
    free(beside->log);
    beside->log = NULL;
}

/* Returns how many times as many cores the j-th has as were measured beside the i-th. */
static double weight(const struct day_truth *truth, const struct day_part *part, size_t i, size_t j)
{
    double measured = (double)truth->apps.app[part[j].app].cores, cores = (double)part[j].cores;

    return i == j ? fmax(cores - measured, 0) / measured : cores / measured;
}

double day_beside_on(const struct day_beside *beside, const struct day_part *part, size_t n,
                     size_t i)
{
    const struct day_truth *truth = beside->truth;
    double sum = 0, worst = 0, in_use = 0, own;

    for (size_t j = 0; j < n; j++) {
        double each = beside->log[part[i].app * truth->apps.n + part[j].app];
        double times = weight(truth, part, i, j);

        sum += times * each;
        if (times > 0)
            worst = fmax(worst, each);
        in_use += (double)part[j].cores;
    }
    own = fmin((double)part[i].cores, (double)truth->apps.app[part[i].app].cores);
    return expm1(fmin(sum, fmax(log(in_use / own), worst)));
}
