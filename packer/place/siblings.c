/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siblings - see siblings.h */
#include "packer/place/siblings.h"

#include <math.h>
#include <stdlib.h>

#include "models/placing/cosit.h"
#include "packer/place/price.h"

/* Exchanges at a time while steps run, as in a search. What is left to gain is for the next
 * decision; and for those who have come. */
#define CHANGES_MAX 5
#define FRESH_CHANGES_MAX 16

/* ---- a guess ---- */

void siblings_guess(const struct forecast *forecast, size_t cache, size_t cores, size_t n,
                    struct forecast_core *const *core)
{
    struct forecast_core on[COSIT_MAX];
    size_t whole[COSIT_MAX];
    double use[COSIT_MAX] = {0};

    if (n > COSIT_MAX)
        return;
    for (size_t i = 0; i < n; i++)
        use[i] = forecast_use(forecast, core[i]->slot);
    cosit_divide(n, use, cores, whole);
    for (size_t i = 0; i < n; i++) {
        on[i] = *core[i];
        on[i].seat = i;
        on[i].whole = cache * COSIT_MAX + whole[i];
    }
    forecast_siblings(forecast, n, on);
    for (size_t i = 0; i < n; i++)
        *core[i] = on[i];
}

/* ---- exchanges ---- */

/* The places of the machine, and who stands there. */
struct seating {
    const struct scene *scene;
    const struct place_terms *terms;
    enum wire_policy policy;
    const struct units *units;
    const struct pool *before;
    size_t n;
    size_t *core, *group, *began; /* [n] of models/placing/cosit.h */
    size_t *who;                  /* [n] the pool's core that stands there; UNITS_NONE */
    size_t *slot, *then;          /* [n] of who is at work there; who stands there then */
    bool *fixed, *works;
    double *price, *bears;
};

static const struct topo *topo_of(const struct seating *seating)
{
    return seating->scene->packer->world.topo;
}

static void clear(struct seating *seating)
{
    free(seating->core);
    free(seating->fixed);
    free(seating->price);
}

static int open_seats(struct seating *seating)
{
    size_t n = seating->n = topo_of(seating)->cores;

    seating->core = calloc(6 * n, sizeof(*seating->core));
    seating->fixed = calloc(2 * n, sizeof(*seating->fixed));
    seating->price = calloc(2 * n, sizeof(*seating->price));
    if (!seating->core || !seating->fixed || !seating->price)
        return -1;
    seating->group = seating->core + n;
    seating->began = seating->group + n;
    seating->who = seating->began + n;
    seating->slot = seating->who + n;
    seating->then = seating->slot + n;
    seating->works = seating->fixed + n;
    seating->bears = seating->price + n;
    return 0;
}

/* Returns the unit that stands on the place; UNITS_NONE: none. */
static size_t unit_at(const struct seating *seating, size_t place)
{
    size_t who = seating->who[place];

    return who == UNITS_NONE ? UNITS_NONE : seating->units->of_core[who];
}

static bool is_fresh(const struct seating *seating, size_t unit)
{
    const struct place_terms *terms = seating->terms;
    const struct units *units = seating->units;

    if (!terms)
        return true;
    return terms->fresh ? units_have(units, topo_of(seating), terms->fresh, unit)
                        : place_fresh(terms, units->first[unit]);
}

/* May the unit's threads change places? */
static bool may_move(const struct seating *seating, size_t unit)
{
    return !seating->units->near[unit] &&
           !(seating->terms && seating->terms->others_stay && !is_fresh(seating, unit));
}

/* Marks the places that steps use, at work or not, and which are no unit's: these stay. */
static void fix_others(struct seating *seating)
{
    const struct scene *scene = seating->scene;
    const struct step *step;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    for (size_t t = 0; t < step->body.ntasks; t++) {
        struct cpus cpus = step->body.task[t].use;

        if (stand_movable(scene, step))
            stand_image(scene->packer, scene->pool, &step->body.task[t].use, &cpus);
        cpus_foreach(cpu, &cpus)
        {
            long place = topo_core_of_cpu(topo_of(seating), cpu);

            if (place >= 0 && unit_at(seating, (size_t)place) == UNITS_NONE)
                seating->fixed[place] = true;
        }
    }
}

/* Finds who stands where, who may move, and for what. */
static void take_seats(struct seating *seating)
{
    const struct pool *pool = seating->scene->pool;
    const struct topo_core *core = topo_of(seating)->core;

    for (size_t i = 0; i < seating->n; i++)
        seating->who[i] = UNITS_NONE;
    for (size_t i = 0; i < seating->n; i++)
        if (pool_has(pool, i))
            seating->who[pool->stand[i]] = i;
    for (size_t i = 0; i < seating->n; i++) {
        size_t who = seating->who[i], unit = unit_at(seating, i);
        size_t start = who == UNITS_NONE ? i : seating->before->stand[who];

        seating->core[i] = core[i].whole;
        seating->group[i] = core[i].llc;
        seating->fixed[i] = who == UNITS_NONE || core[i].kind != seating->units->kind ||
                            (unit != UNITS_NONE && !may_move(seating, unit));
        seating->began[i] =
            start != POOL_OUTSIDE && core[start].llc == core[i].llc ? start : COSIT_NOWHERE;
        seating->bears[i] = INFINITY;
    }
    fix_others(seating);
}

/* Says what a move costs the unit's thread that stands there, and how slow others may make it. */
static void take_terms(struct seating *seating, size_t place, double slowdown)
{
    const struct packer *packer = seating->scene->packer;
    size_t unit = unit_at(seating, place);
    const struct step *step;

    if (unit == UNITS_NONE || !seating->terms)
        return;
    step = seating->units->first[unit];
    seating->bears[place] =
        slowdown + (isnan(step->place.max_slowdown) ? packer->world.conf.sacrifice : 0);
    if (!is_fresh(seating, unit))
        seating->price[place] = price_core_s(step, seating->policy, seating->terms->horizon_s, 0);
}

/* Finds who is at work where. -1: no memory. */
static int take_works(struct seating *seating)
{
    size_t n = 0;
    struct forecast_core *core = forecast_cores(seating->scene, &n);

    if (!core)
        return -1;
    for (size_t i = 0; i < n; i++) {
        seating->slot[core[i].seat] = core[i].slot;
        seating->works[core[i].seat] = true;
        take_terms(seating, core[i].seat, core[i].apart.siblings);
    }
    free(core);
    return 0;
}

static double loses(size_t a, size_t b, void *arg)
{
    const struct seating *seating = arg;
    const struct forecast *forecast = seating->scene->packer->state->forecast;

    return forecast_effect(forecast) *
           forecast_sibling(forecast, seating->slot[a], seating->slot[b]);
}

static void exchange_all(struct seating *seating)
{
    const struct place_terms *terms = seating->terms;
    bool comes = terms && (terms->fresh || terms->newcomers);
    const struct cosit cosit = {.n = seating->n,
                                .core = seating->core,
                                .group = seating->group,
                                .fixed = seating->fixed,
                                .works = seating->works,
                                .began = seating->began,
                                .price = seating->price,
                                .bears = seating->bears,
                                .horizon = terms ? terms->horizon_s : 1,
                                .changes_max = !terms  ? 0
                                               : comes ? FRESH_CHANGES_MAX
                                                       : CHANGES_MAX,
                                .loses = loses,
                                .arg = seating};

    cosit_improve(&cosit, seating->then);
    for (size_t i = 0; i < seating->n; i++)
        if (seating->who[i] != UNITS_NONE)
            seating->scene->pool->stand[seating->who[seating->then[i]]] = i;
}

int siblings_settle(const struct scene *scene, const struct place_terms *terms,
                    enum wire_policy policy, const struct units *units, const struct pool *before,
                    struct berth_error *err)
{
    struct seating seating = {
        .scene = scene, .terms = terms, .policy = policy, .units = units, .before = before};
    int rc = -1;

    if (!scene->packer->world.topo->split || !scene->packer->state->forecast || units->total == 0)
        return 0;
    if (open_seats(&seating) == 0) {
        take_seats(&seating);
        rc = take_works(&seating);
    }
    if (rc == 0)
        exchange_all(&seating);
    clear(&seating);
    return rc == 0 ? 0 : berth_no_memory(err);
}

double siblings_lost(const struct scene *scene)
{
    const struct forecast *forecast = scene->packer->state->forecast;
    struct forecast_core *core = NULL;
    size_t n = 0;
    double lost = 0;

    if (scene->packer->world.topo->split && forecast)
        core = forecast_cores(scene, &n);
    for (size_t i = 0; core && i < n; i++) {
        double slowdown = forecast_effect(forecast) * core[i].apart.siblings;

        lost += slowdown / (1 + slowdown);
    }
    free(core);
    return lost;
}
