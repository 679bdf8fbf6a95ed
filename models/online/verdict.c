/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - see verdict.h */
#include "models/online/verdict.h"

#include <math.h>
#include <string.h>

static struct opticore_signature look_of(const struct verdict_phase *phase)
{
    struct opticore_signature look = {.region = 0};

    for (size_t i = 0; i < OPTICORE_RATES; i++)
        look.rate[i] = rate_mean(&phase->look[i]);
    return look;
}

/* How far two of them are apart: the largest of the ratios. */
static double distance(const struct opticore_signature *a, const struct opticore_signature *b)
{
    double most = 0;

    for (size_t i = 0; i < OPTICORE_RATES; i++)
        if (a->rate[i] > 0 && b->rate[i] > 0)
            most = fmax(most, fabs(log(a->rate[i] / b->rate[i])));
    return most;
}

/* The phase that is alike, the nearest of them; NULL. */
static struct verdict_phase *phase_like(struct verdict *verdict,
                                        const struct opticore_signature *look, uint64_t who)
{
    struct verdict_phase *best = NULL;
    double nearest = INFINITY;

    for (size_t i = 0; i < verdict->n; i++) {
        struct verdict_phase *phase = &verdict->phase[i];
        struct opticore_signature is = look_of(phase);

        if (phase->who != who || !opticore_alike(&is, look) || distance(&is, look) >= nearest)
            continue;
        nearest = distance(&is, look);
        best = phase;
    }
    return best;
}

static struct verdict_phase *add(struct verdict *verdict, uint64_t who)
{
    struct verdict_phase *phase = &verdict->phase[0];

    if (verdict->n < VERDICT_PHASES)
        phase = &verdict->phase[verdict->n++];
    else
        for (size_t i = 1; i < VERDICT_PHASES; i++)
            if (verdict->phase[i].seen < phase->seen)
                phase = &verdict->phase[i];
    *phase = (struct verdict_phase){.who = who};
    return phase;
}

void verdict_window(struct verdict *verdict, const struct verdict_window *window, bool fewer)
{
    double millions = window->instructions / 1e6;
    struct opticore_signature look = {
        .rate = {window->misses / millions, window->bytes / millions}};
    struct verdict_phase *phase;
    struct rate *speed;

    if (!(window->seconds > 0 && millions > 0) || (isnan(window->misses) && isnan(window->bytes)))
        return;
    phase = phase_like(verdict, &look, window->who);
    if (!phase)
        phase = add(verdict, window->who);
    phase->seen = ++verdict->seen;
    verdict->now = phase;
    for (size_t i = 0; i < OPTICORE_RATES; i++) {
        rate_add(&phase->look[i], millions, look.rate[i] * millions);
        rate_forget(&phase->look[i], PHASE_WINDOWS);
    }
    speed = fewer ? &phase->fewer : &phase->full;
    rate_add(speed, window->seconds, window->instructions);
    rate_forget(speed, PHASE_WINDOWS);
}

void verdict_resized(struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->n; i++)
        verdict->phase[i].fewer = (struct rate){0};
}

/* The relative standard error of a mean of windows. */
static double error_of(const struct rate *speed)
{
    return fmax(rate_deviation(speed) / rate_mean(speed), VERDICT_NOISE) / sqrt(speed->n);
}

/* What this run has shown on all cores. */
static struct verdict_speed shown(const struct verdict_phase *phase)
{
    if (!phase || phase->full.n < VERDICT_WINDOWS)
        return (struct verdict_speed){0};
    return (struct verdict_speed){look_of(phase), rate_mean(&phase->full), error_of(&phase->full),
                                  phase->full.n};
}

struct verdict_speed verdict_speed(const struct verdict *verdict)
{
    const struct verdict_phase *phase = verdict->now;

    return phase && phase->who == 0 ? shown(phase) : (struct verdict_speed){0};
}

/* The speed on all cores that the present one is compared with. */
static struct verdict_speed speed_on_all(const struct verdict *verdict)
{
    const struct verdict_phase *phase = verdict->now;
    struct verdict_speed full = shown(phase);
    struct opticore_signature look = {.region = 0};

    if (full.windows > 0 || !phase || phase->who != 0 || !(verdict->told.windows > 0))
        return full;
    look = look_of(phase);
    return opticore_same(&look, &verdict->told.look) ? verdict->told : full;
}

double verdict_loss(const struct verdict *verdict, double *error)
{
    const struct verdict_phase *phase = verdict->now;
    struct verdict_speed full = speed_on_all(verdict);
    double part;

    *error = NAN;
    if (!(full.windows > 0) || phase->fewer.n < VERDICT_WINDOWS)
        return NAN;
    part = rate_mean(&phase->fewer) / full.instructions_per_s;
    *error = part * hypot(full.error, error_of(&phase->fewer));
    return 1 - part;
}

bool verdict_exceeds(const struct verdict *verdict, double bound)
{
    double error, loss = verdict_loss(verdict, &error);
    double windows = speed_on_all(verdict).windows;

    if (isnan(loss))
        return false;
    return loss - bound > error * rate_student(fmin(windows, verdict->now->fewer.n) - 1);
}

struct opticore_signature verdict_signature(const struct verdict *verdict)
{
    if (!verdict->now)
        return (struct opticore_signature){.rate = {NAN, NAN}};
    return look_of(verdict->now);
}
