/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/phase.h"

#include <math.h>
#include <string.h>

void phase_init(struct phase *phase, size_t rates, uint32_t watched, double change,
                const double *least)
{
    memset(phase, 0, sizeof(*phase));
    phase->rates = rates;
    phase->watched = watched;
    phase->change = change;
    phase->least = least;
    phase->number = 1;
}

void phase_restart(struct phase *phase)
{
    memset(phase->rate, 0, sizeof(phase->rate));
    phase->holds = false;
}

/* Returns to which side the window is off the i-th average; 0: it is not. */
static signed char side_of(const struct phase *phase, const struct phase_window *window, size_t i)
{
    const struct rate *rate = &phase->rate[i];
    double mean = rate_mean(rate), off;

    if (!(phase->watched & 1u << i) || !(window->x[i] > 0) || isnan(mean))
        return 0;
    off = window->y[i] / window->x[i] - mean;
    if (!(fabs(off) > phase->change * mean && fabs(off) > phase->least[i]))
        return 0;
    if (rate->n >= PHASE_SETTLED && fabs(off) <= PHASE_DEVIATIONS * rate_deviation(rate))
        return 0;
    return off > 0 ? 1 : -1;
}

static void add_window(struct phase *phase, const struct phase_window *window)
{
    for (size_t i = 0; i < phase->rates; i++) {
        rate_add(&phase->rate[i], window->x[i], window->y[i]);
        rate_forget(&phase->rate[i], PHASE_WINDOWS);
    }
}

bool phase_add(struct phase *phase, const struct phase_window *window)
{
    signed char side[PHASE_RATES_MAX] = {0};
    bool off = false, again = false;

    for (size_t i = 0; i < phase->rates; i++) {
        side[i] = side_of(phase, window, i);
        off = off || side[i];
        again = again || (phase->holds && side[i] && side[i] == phase->side[i]);
    }
    if (again) {
        memset(phase->rate, 0, sizeof(phase->rate));
        phase->number++;
    }
    if (phase->holds)
        add_window(phase, &phase->held);
    phase->holds = off && !again;
    if (phase->holds) {
        phase->held = *window;
        memcpy(phase->side, side, sizeof(side));
    } else {
        add_window(phase, window);
    }
    return again;
}
