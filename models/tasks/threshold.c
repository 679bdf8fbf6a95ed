/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/threshold.h"

static int64_t whole(double tasks)
{
    return tasks < 0 ? 0 : (int64_t)(tasks + 0.5);
}

struct threshold threshold_of(const struct threshold_rates *rates, bool literal)
{
    struct threshold threshold = {.victim =
                                      whole(rates->capacity - rates->lambda_per_s * rates->push_s),
                                  .thief = whole(rates->mu_per_s * rates->pop_s),
                                  .literal = literal};

    if (!literal && threshold.victim < 2)
        threshold.victim = 2;
    threshold.clear = (threshold.victim + 1) / 2;
    if (!literal && threshold.thief >= threshold.clear)
        threshold.thief = threshold.clear - 1;
    return threshold;
}
