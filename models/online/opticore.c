/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/opticore.h"
#include "enum_table.h"

#include <math.h>
#include <string.h>

#define ALIKE 2    /* one rate is at most so many times the other */
#define SLACK 0.05 /* of a window: between the change of the cores and its own beginning */

const char *const TABLE(opticore_state_name, OPTICORE_STATES) = {
    ROW(OPTICORE_STORED) = "sized-by-store",
    ROW(OPTICORE_PROFILING) = "profiling",
    ROW(OPTICORE_SIZED) = "sized",
    ROW(OPTICORE_WATCHING) = "watching",
};
TABLE_COMPLETE(opticore_state_name);

/* A twentieth of what makes a devil (Blagodurov 2010), and the bytes of so many lines: less is
 * nothing. */
static const double TABLE(least, OPTICORE_RATES) = {ROW(OPTICORE_MISSES) = 100,
                                                    ROW(OPTICORE_BYTES) = 6400};
TABLE_COMPLETE(least);

/* Compares rate by rate: none that both know is further apart than `apart` of the larger one.
 * Returns whether there is any that both know, and all are. */
static bool within(const struct opticore_signature *a, const struct opticore_signature *b,
                   double apart)
{
    bool any = false;

    for (size_t i = 0; i < OPTICORE_RATES; i++) {
        double x = a->rate[i], y = b->rate[i], off = fabs(x - y);

        if (isnan(x) || isnan(y))
            continue;
        if (off > apart * fmax(x, y) && off > least[i])
            return false;
        any = true;
    }
    return any;
}

bool opticore_same(const struct opticore_signature *a, const struct opticore_signature *b)
{
    if (a->region && b->region)
        return a->region == b->region && opticore_alike(a, b);
    return within(a, b, OPTICORE_NEAR);
}

bool opticore_alike(const struct opticore_signature *a, const struct opticore_signature *b)
{
    return within(a, b, 1 - 1.0 / ALIKE);
}

static void watch(struct opticore *core)
{
    phase_init(&core->seen, OPTICORE_RATES, (1u << OPTICORE_RATES) - 1, OPTICORE_NEAR, least);
}

void opticore_init(struct opticore *core)
{
    memset(core, 0, sizeof(*core));
    core->profile_began_s = NAN;
    core->changed_s = -INFINITY;
    watch(core);
}

struct opticore_signature opticore_signature(const struct opticore *core)
{
    struct opticore_signature signature = {.region = core->region};

    for (size_t i = 0; i < OPTICORE_RATES; i++)
        signature.rate[i] = rate_mean(&core->seen.rate[i]);
    return signature;
}

/* Says whether the averages are those of one phase: each is known to within what two windows of the
 * same phase may be apart. */
static bool is_steady(const struct opticore *core)
{
    bool any = false;

    for (size_t i = 0; i < OPTICORE_RATES; i++) {
        const struct rate *rate = &core->seen.rate[i];

        if (rate->n == 0)
            continue;
        if (!(rate_error(rate) <= fmax(OPTICORE_NEAR * rate_mean(rate), least[i])))
            return false;
        any = true;
    }
    return any;
}

/* Says whether the averages have crept away from what the phase was looked up by, by more than its
 * windows vary. */
static bool has_drifted(const struct opticore *core)
{
    struct opticore_signature now = opticore_signature(core);

    if (opticore_same(&now, &core->at))
        return false;
    for (size_t i = 0; i < OPTICORE_RATES; i++)
        if (fabs(now.rate[i] - core->at.rate[i]) >
            PHASE_DEVIATIONS * rate_deviation(&core->seen.rate[i]))
            return true;
    return false;
}

/* Takes in whose window it is. Returns whether another region has begun. */
static bool enter_region(struct opticore *core, const struct opticore_window *window)
{
    bool other = window->region && core->region && window->region != core->region;

    if (window->region)
        core->region = window->region;
    if (!other)
        return false;
    phase_restart(&core->seen);
    core->looked = false;
    core->phase = 0;
    core->began_s = window->began_s;
    return true;
}

bool opticore_window(struct opticore *core, const struct opticore_window *window)
{
    double length_s = window->ended_s - window->began_s;
    struct phase_window seen = {{0}, {0}};
    bool other;

    if (core->state == OPTICORE_PROFILING || window->began_s < core->changed_s - SLACK * length_s)
        return false;
    seen.x[OPTICORE_MISSES] = seen.x[OPTICORE_BYTES] = window->instructions / 1e6;
    seen.y[OPTICORE_MISSES] = window->misses;
    seen.y[OPTICORE_BYTES] = window->bytes;
    other = enter_region(core, window);
    if (phase_add(&core->seen, &seen)) {
        core->looked = false;
        core->phase = 0;
        core->began_s = window->began_s - length_s; /* with the window before */
    }
    if (other)
        return true;
    if (!is_steady(core))
        return false;
    return !core->looked || core->phase == 0 || has_drifted(core);
}

void opticore_is(struct opticore *core, unsigned phase, double now_s)
{
    if (core->looked && core->phase != phase)
        core->began_s = now_s; /* it crept there */
    core->at = opticore_signature(core);
    core->looked = true;
    core->phase = phase;
    core->state = phase ? OPTICORE_WATCHING : OPTICORE_STORED;
}

double opticore_lasted(const struct opticore *core, double now_s)
{
    return now_s - core->began_s;
}

bool opticore_is_due(const struct opticore *core, const struct opticore_rules *rules, double now_s)
{
    return core->looked && core->phase == 0 &&
           opticore_lasted(core, now_s) >= (core->profiles ? rules->stay_s : rules->first_s);
}

/* Says whether another run is within what all of them may cost; the first one is on credit. */
static bool is_affordable(const struct opticore *core, const struct opticore_rules *rules,
                          double now_s)
{
    if (core->profiles == 0)
        return rules->cost > 0;
    return core->profiled_s + rules->profile_s <= rules->cost * now_s;
}

bool opticore_may_profile(const struct opticore *core, const struct opticore_rules *rules,
                          double now_s)
{
    return core->state != OPTICORE_PROFILING && opticore_is_due(core, rules, now_s) &&
           !(now_s < core->profile_began_s + rules->rest_s) && is_affordable(core, rules, now_s);
}

void opticore_profile(struct opticore *core, double now_s)
{
    core->state = OPTICORE_PROFILING;
    core->profile_began_s = now_s;
    core->profiles++;
}

void opticore_profiled(struct opticore *core, double now_s)
{
    core->profiled_s += now_s - core->profile_began_s;
    core->state = OPTICORE_STORED;
    core->changed_s = now_s;
}

void opticore_resized(struct opticore *core, double now_s)
{
    if (core->state != OPTICORE_PROFILING)
        core->state = OPTICORE_SIZED;
    core->changed_s = now_s;
    core->looked = false;
    phase_restart(&core->seen);
}
