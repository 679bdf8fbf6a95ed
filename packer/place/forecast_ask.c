/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast_ask - see forecast.h: what slots do to each other, by the model and as it was measured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/place/forecast_impl.h"

/* What n cores suffer where programs disturb each other becomes what is to be expected of them. */
static void expect(const struct forecast *forecast, size_t n, double *slowdown)
{
    for (size_t i = 0; i < n; i++)
        slowdown[i] *= forecast->effect;
}

double forecast_sibling_mean(const struct forecast *forecast, size_t slot)
{
    const size_t stranger = FORECAST_NO_NUMBER;
    double mean = contend_sibling_mean(forecast->contend, slot);

    if (!forecast->shared || forecast->slot[slot]->program == FORECAST_NO_NUMBER)
        return mean;
    return evidence_correct(forecast->siblings, forecast->slot[slot]->program, 1, &stranger, NULL,
                            mean, NULL);
}

const struct app *forecast_app(const struct forecast *forecast, size_t slot)
{
    return &forecast->slot[slot]->app;
}

size_t forecast_ways(const struct forecast *forecast)
{
    return forecast->machine.llc_ways ? forecast->machine.llc_ways : 16;
}

/* Two numbers, corrected by what was measured of the slot's program. */
static void correct_figures(const struct forecast *forecast, const struct slot *slot,
                            struct forecast_figures *figures)
{
    const size_t stranger = FORECAST_NO_NUMBER;

    figures->suffers = evidence_correct(forecast->evidence, slot->program, 1, &stranger, NULL,
                                        figures->suffers, NULL);
    figures->presses = evidence_correct(forecast->evidence, stranger, 1, &slot->program, NULL,
                                        figures->presses, NULL);
}

struct forecast_figures forecast_figures(const struct forecast *forecast, size_t number)
{
    const struct slot *slot = forecast->slot[number];
    struct forecast_figures figures = slot->figures;

    if (forecast->observed && slot->program != FORECAST_NO_NUMBER)
        correct_figures(forecast, slot, &figures);
    expect(forecast, 1, &figures.suffers);
    expect(forecast, 1, &figures.presses);
    expect(forecast, 1, &figures.minds);
    return figures;
}

static size_t measured_by(const struct forecast *forecast, size_t number)
{
    size_t found = forecast_slot_of(forecast, forecast->slot[number]->program);

    return found == FORECAST_AVERAGE ? number : found;
}

size_t forecast_stands_for(const struct forecast *forecast, size_t slot)
{
    return forecast->observed && slot != FORECAST_IDLE ? measured_by(forecast, slot) : slot;
}

/* Predicts two slots beside each other. */
static void predict_two(const struct forecast *forecast, size_t a, size_t b)
{
    struct pair_table *pairs = forecast->pairs;
    const size_t member[2] = {a, b};
    double slowdown[2] = {0};

    contend_group(forecast->contend, 2, member, slowdown);
    pairs->predicted[a][b] = (float)slowdown[0];
    pairs->predicted[b][a] = (float)slowdown[1];
}

/* Returns what a core of slot a loses beside one of b. */
static double lost_beside(const struct forecast *forecast, size_t a, size_t b)
{
    double slowdown = forecast->pairs->predicted[a][b];

    if (forecast->observed && forecast->slot[a]->program != FORECAST_NO_NUMBER)
        slowdown = evidence_correct(forecast->evidence, forecast->slot[a]->program, 1,
                                    &forecast->slot[b]->program, NULL, slowdown, NULL);
    expect(forecast, 1, &slowdown);
    return slowdown / (1 + slowdown);
}

double forecast_pair(const struct forecast *forecast, size_t a, size_t b)
{
    struct pair_table *pairs = forecast->pairs;

    if (a == FORECAST_IDLE || b == FORECAST_IDLE)
        return 0;
    if (!pairs || a >= PAIR_TABLE_MAX || b >= PAIR_TABLE_MAX)
        return NAN;
    if (isnan(pairs->lost[a][b])) {
        if (isnan(pairs->predicted[a][b]))
            predict_two(forecast, a, b);
        pairs->lost[a][b] = pairs->lost[b][a] =
            (float)(lost_beside(forecast, a, b) + lost_beside(forecast, b, a));
    }
    return pairs->lost[a][b];
}

double forecast_use(const struct forecast *forecast, size_t slot)
{
    return contend_use(forecast->contend, slot);
}

/* Returns what slot a loses to b on its core, by the model and as it was measured. */
static double sibling_of(const struct forecast *forecast, size_t a, size_t b)
{
    double slowdown = contend_sibling(forecast->contend, a, b);

    if (!forecast->shared || forecast->slot[a]->program == FORECAST_NO_NUMBER)
        return slowdown;
    return evidence_correct(forecast->siblings, forecast->slot[a]->program, 1,
                            &forecast->slot[b]->program, NULL, slowdown, NULL);
}

double forecast_sibling(const struct forecast *forecast, size_t a, size_t b)
{
    struct pair_table *pairs = forecast->pairs;

    if (a == FORECAST_IDLE || b == FORECAST_IDLE)
        return 0;
    if (!pairs || a >= PAIR_TABLE_MAX || b >= PAIR_TABLE_MAX)
        return sibling_of(forecast, a, b);
    if (isnan(pairs->sibling[a][b]))
        pairs->sibling[a][b] = (float)sibling_of(forecast, a, b);
    return pairs->sibling[a][b];
}

void forecast_siblings(const struct forecast *forecast, size_t n, struct forecast_core *core)
{
    for (size_t i = 0; i < n; i++) {
        core[i].apart.siblings = 0;
        for (size_t j = 0; j < n; j++)
            if (core[j].whole == core[i].whole && core[j].seat != core[i].seat)
                core[i].apart.siblings += forecast_sibling(forecast, core[i].slot, core[j].slot);
    }
}

double forecast_effect(const struct forecast *forecast)
{
    return forecast->effect;
}

/* Returns a core's slowdown with the cache's memory node to itself, `alone` by the model, corrected
 * by what was measured of the program beside those that are on its cache: of what it suffers from
 * others, not from its step's own other cores. A correction is relative to the prediction that the
 * measurement was compared with, so that is made again where this one was made of other slots. */
static double corrected(const struct forecast *forecast, double caution, size_t n,
                        const struct forecast_core *core, size_t i, double alone)
{
    size_t beside[EVIDENCE_BESIDE_MAX], copy[CONTEND_GROUP_MAX], others = 0, copies = 0;
    double part[EVIDENCE_BESIDE_MAX], own[CONTEND_GROUP_MAX] = {0}, again[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];
    size_t member[CONTEND_GROUP_MAX] = {measured_by(forecast, core[i].slot)};
    const struct slot *self = forecast->slot[core[i].slot];
    bool same = member[0] == core[i].slot;
    bool is_apart = core[i].apart.lost != 0 || core[i].apart.crowd != 0 ||
                    core[i].apart.small != 0 || core[i].apart.siblings != 0;
    double error;

    for (size_t j = 0; j < n; j++) {
        if (core[j].owner == core[i].owner) {
            apart[copies] = core[j].apart;
            copy[copies++] = core[j].slot;
        } else if (core[j].slot != FORECAST_IDLE && others < CONTEND_GROUP_MAX - 1) {
            member[others + 1] = measured_by(forecast, core[j].slot);
            same = same && member[others + 1] == core[j].slot;
            part[others] = forecast->slot[member[others + 1]]->figures.presses;
            beside[others++] = forecast->slot[core[j].slot]->program;
        }
    }
    if (others == 0)
        return alone;
    again[0] = alone;
    if (copies > 1 || is_apart)
        contend_cache(forecast->contend, 0, copies, copy, apart, own, NULL);
    if (copies > 1 || is_apart || !same)
        contend_group(forecast->contend, others + 1, member, again);
    again[0] =
        evidence_correct(forecast->evidence, self->program, others, beside, part, again[0], &error);
    return (1 + own[0]) * (1 + again[0] + caution * error) - 1;
}

/* Predicts the cores on one cache as if they had its memory node to themselves. */
static int predict_alone(const struct forecast *forecast, size_t n,
                         const struct forecast_core *core, double *slowdown)
{
    size_t slot[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < n && i < CONTEND_GROUP_MAX; i++) {
        slot[i] = core[i].slot;
        apart[i] = core[i].apart;
    }
    return contend_cache(forecast->contend, 0, n, slot, apart, slowdown, NULL);
}

/* Corrects the slowdowns of n cores on one cache. Cores of one step are alike. What other caches of
 * the memory node do to them comes on top of what was measured, as predicted. */
static void correct(const struct forecast *forecast, double caution, size_t n,
                    const struct forecast_core *core, double *slowdown)
{
    double alone[CONTEND_GROUP_MAX];

    if (!forecast->observed || n == 0 || predict_alone(forecast, n, core, alone) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct slot *self = forecast->slot[core[i].slot];
        bool alike = i > 0 && core[i].owner == core[i - 1].owner &&
                     core[i].slot == core[i - 1].slot &&
                     core[i].apart.siblings == core[i - 1].apart.siblings;

        if (core[i].slot == FORECAST_IDLE || self->program == FORECAST_NO_NUMBER)
            continue;
        slowdown[i] = alike ? slowdown[i - 1]
                            : (1 + slowdown[i]) / (1 + alone[i]) *
                                      (1 + corrected(forecast, caution, n, core, i, alone[i])) -
                                  1;
    }
}

int forecast_cache(const struct forecast *forecast, double caution, double others_gbps, size_t n,
                   const struct forecast_core *core, double *slowdown, double *gbps)
{
    size_t slot[CONTEND_GROUP_MAX];
    struct contend_apart apart[CONTEND_GROUP_MAX];

    *gbps = 0;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n && i < CONTEND_GROUP_MAX; i++) {
        slot[i] = core[i].slot;
        apart[i] = core[i].apart;
    }
    if (contend_cache(forecast->contend, fmax(0, others_gbps), n, slot, apart, slowdown, gbps) < 0)
        return -1;
    correct(forecast, caution, n, core, slowdown);
    expect(forecast, n, slowdown);
    return 0;
}

/* Corrects cache by cache; order has the cores by cache. */
static void correct_caches(const struct forecast *forecast, double caution, size_t n,
                           const struct forecast_core *core, double *slowdown)
{
    struct forecast_core on[CONTEND_GROUP_MAX];
    double its[CONTEND_GROUP_MAX];
    size_t index[CONTEND_GROUP_MAX], caches = 0;

    for (size_t i = 0; i < n; i++)
        caches = core[i].cache < caches ? caches : core[i].cache + 1;
    for (size_t cache = 0; forecast->observed && cache < caches; cache++) {
        size_t members = 0;

        for (size_t i = 0; i < n && members < CONTEND_GROUP_MAX; i++)
            if (core[i].cache == cache) {
                on[members] = core[i];
                its[members] = slowdown[i];
                index[members++] = i;
            }
        if (members > 0)
            correct(forecast, caution, members, on, its);
        for (size_t i = 0; i < members; i++)
            slowdown[index[i]] = its[i];
    }
}

int forecast_node(const struct forecast *forecast, double caution, size_t n,
                  const struct forecast_core *core, double *slowdown, double *model)
{
    struct contend_stand *stand = calloc(n + 1, sizeof(*stand));
    int rc = -1;

    for (size_t i = 0; stand && i < n; i++)
        stand[i] =
            (struct contend_stand){core[i].slot, core[i].cache, core[i].memory, core[i].apart};
    if (stand && solved_node(forecast->solved, forecast->contend, n, stand, slowdown) == 0) {
        if (model)
            memcpy(model, slowdown, n * sizeof(*model));
        correct_caches(forecast, caution, n, core, slowdown);
        expect(forecast, n, slowdown);
        rc = 0;
    }
    free(stand);
    return rc;
}
