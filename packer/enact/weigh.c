/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weigh - see weigh.h */
#include "packer/enact/weigh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enact/memory_follow.h"
#include "packer/place/forecast.h"
#include "packer/place/gain.h"
#include "packer/place/isolation.h"
#include "packer/place/near.h"
#include "packer/place/place.h"
#include "packer/place/price.h"
#include "packer/place/threads.h"
#include "packer/steps/step_counts.h"

/* ---- who moves ---- */

void weigh_image(const struct packer *packer, const struct pool *pool, const struct step *step,
                 struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct cpus image;

        stand_image(packer, pool, &step->body.task[i].use, &image);
        cpus_or(cpus, &image);
    }
}

/* Would the step stand elsewhere? A task that only changes cores inside the step does, too. */
static bool is_moved(const struct scene *now, const struct scene *next, const struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct cpus before, after;

        stand_image(now->packer, now->pool, &step->body.task[i].use, &before);
        stand_image(now->packer, next->pool, &step->body.task[i].use, &after);
        if (!cpus_equal(&before, &after))
            return true;
    }
    return false;
}

bool weigh_moves(const struct scene *now, const struct scene *next, const struct step *step)
{
    return stand_decides(next, step) && is_moved(now, next, step);
}

void weigh_nodes(const struct scene *now, const struct scene *next, const struct step *step,
                 struct cpus *before, struct cpus *after)
{
    struct cpus cpus;

    weigh_image(now->packer, now->pool, step, &cpus);
    topo_nodes_of(now->packer->world.topo, &cpus, before);
    weigh_image(now->packer, next->pool, step, &cpus);
    topo_nodes_of(now->packer->world.topo, &cpus, after);
}

/* ---- what it costs ---- */

static double horizon_of(const struct packer *packer)
{
    return (double)packer->world.conf.replace_horizon_ms / 1000;
}

/* Bytes resident when it was read last; 0: nobody counts them. */
static double resident(const struct step *step)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;

    return last && counters_know(last, COUNTER_RSS_BYTES) ? last->value[COUNTER_RSS_BYTES] : 0;
}

/* What it costs that a task's cores spread to more nodes: no pages follow, and those that go read
 * theirs from afar. (With several tasks, whose pages are where is not known.) */
static double spread_s(const struct packer *packer, const struct step *step,
                       const struct cpus *from, const struct cpus *to)
{
    double cores = (double)(cpus_count(to) - cpus_count(from)) / (double)cpus_count(to);
    struct page_move_price price;
    struct cpus added = *to;

    cpus_andnot(&added, from);
    if (cpus_empty(&added) || cpus_empty(from) || step->body.ntasks > 1)
        return 0;
    price = memory_price(packer, step, from, &added);
    if (isnan(price.gain)) /* what far pages cost is not known */
        return cores * resident(step) / PAGE_MOVE_COPY_BYTES_S;
    return cores * price.gain * horizon_of(packer);
}

/* What it costs that the step's memory follows, and what is lost if it does not pay to: far pages.
 */
static double pages_s(const struct packer *packer, const struct step *step, const struct cpus *from,
                      const struct cpus *to)
{
    struct page_move_price price;

    if (cpus_subset(from, to))
        return spread_s(packer, step, from, to);
    price = memory_price(packer, step, from, to);
    if (isnan(price.lost)) /* not known where its memory lies: all of it, if that much is known */
        return resident(step) / PAGE_MOVE_COPY_BYTES_S;
    if (isnan(price.gain)) /* what far pages cost is not known */
        return price.lost;
    return fmin(price.lost, price.gain * horizon_of(packer));
}

struct place_terms weigh_terms(const struct packer *packer, const struct step *fresh)
{
    return (struct place_terms){
        .fresh = fresh, .horizon_s = horizon_of(packer), .pages_s = pages_s};
}

/* Returns the odds that nobody disturbs anybody, and so nothing is gained: 0 where a newcomer may
 * be divided, which is about its own threads. */
static double null_odds(const struct packer *packer, const struct place_terms *terms)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    for (size_t t = 0; place_fresh(terms, step) && t < step->body.ntasks; t++)
        if (threads_divisible(packer, step, cpus_count(&step->body.task[t].use), true))
            return 0;
    return price_null(packer);
}

/* Adds what it costs that the steps move, and how many do; fresh ones move for nothing. */
static void add_price(const struct scene *now, const struct scene *next,
                      const struct place_terms *terms, enum wire_policy policy,
                      struct weighed *weighed)
{
    const struct packer *packer = next->packer;
    double null = null_odds(packer, terms);
    const struct step *step;
    struct cpus cpus, from, to;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (place_fresh(terms, step) || !weigh_moves(now, next, step))
            continue;
        weigh_image(packer, next->pool, step, &cpus);
        weigh_nodes(now, next, step, &from, &to);
        weighed->moves++;
        weighed->cost_s +=
            price_core_s(step, policy, horizon_of(packer), null) * (double)cpus_count(&cpus);
        weighed->cost_s += pages_s(packer, step, &from, &to);
    }
}

/* ---- what it gains ---- */

/* Would a step move that DIO-POWER places? */
static bool is_about_energy(const struct scene *now, const struct scene *next)
{
    const struct step *step;

    TAILQ_FOREACH(step, &next->packer->steps->live, link)
    if (step->place.policy_asked == WIRE_POLICY_DIO_POWER && weigh_moves(now, next, step))
        return true;
    return false;
}

/* The gain in energy times time, as cores: by how much more work per second the present power would
 * give the product that the proposal has, power / work^2. Where power is not known it pays in any
 * case to do more work; whether it pays to do less, nobody can tell. */
static void weigh_energy(const struct scene *now, const struct scene *next, struct weighed *weighed)
{
    double work_now = forecast_work(now, NULL), work_next = forecast_work(next, NULL);
    double saved = forecast_watts(now) / forecast_watts(next);

    weighed->energy = isfinite(saved) && saved > 0;
    if (weighed->energy) {
        weighed->gain = work_next * sqrt(saved) - work_now;
        weighed->worth = fmin(1, 1 / sqrt(saved));
    } else if (work_next <= work_now) {
        weighed->gain = NAN;
    }
}

/* Returns by how much bounds of slowdown are exceeded, in all. */
static double exceeded(const struct scene *scene)
{
    double sum = 0, *slowdown = NULL;
    const struct step *step;
    bool any = false;
    size_t i = 0;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    any = any || (!isnan(step->place.max_slowdown) && step_movable(step));
    if (any)
        slowdown = forecast_steps(scene);
    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        double off = slowdown ? slowdown[i++] - step->place.max_slowdown : 0;

        sum += off > 0 && step_movable(step) ? off : 0;
    }
    free(slowdown);
    return sum;
}

/* Whether somebody gets what he was promised, and nobody loses that. */
static bool is_owed(const struct scene *now, const struct scene *next)
{
    size_t missing_now = isolation_missing(now->packer, now->pool);
    size_t missing_next = isolation_missing(now->packer, next->pool);
    size_t far_now = near_missing(now), far_next = near_missing(next);

    if (next->as_if || far_next > far_now || (far_next == far_now && missing_next > missing_now))
        return false;
    return far_next < far_now || missing_next < missing_now ||
           threads_missing(next) < threads_missing(now) || exceeded(next) < exceeded(now) - 1e-9;
}

void weigh(const struct scene *now, const struct scene *next, const struct place_terms *terms,
           struct weighed *weighed)
{
    const struct step *fresh = terms->fresh;
    enum wire_policy policy = place_policy(next);

    *weighed = (struct weighed){.gain = NAN, .worth = 1};
    if (is_about_energy(now, next)) {
        weighed->by_rule = fresh && fresh->place.policy_asked == WIRE_POLICY_DIO_POWER;
        weighed->gain = gain_of(now, next, WIRE_POLICY_DIO_POWER);
        weigh_energy(now, next, weighed);
    } else {
        weighed->gain = gain_of(now, next, policy);
    }
    weighed->owed = is_owed(now, next);
    add_price(now, next, terms, policy, weighed);
}

/* ---- decisions ---- */

bool weigh_pays(const struct weighed *weighed, double horizon_s)
{
    return weighed->owed || (weighed->by_rule && isnan(weighed->gain)) ||
           weighed->gain * horizon_s > weighed->cost_s;
}

static double value_of(const struct weighed *weighed, double horizon_s)
{
    return weighed->gain * horizon_s - weighed->cost_s;
}

/* Would a step move that has to stay where it began? */
static bool moves_kept(const struct scene *now, const struct scene *next)
{
    const struct step *step;

    TAILQ_FOREACH(step, &next->packer->steps->live, link)
    if (!cpus_empty(&step->body.begun) && weigh_moves(now, next, step))
        return true;
    return false;
}

/* Where contend says that everybody at home did more work than as decided, and it pays better to go
 * there: so be it. Slurm's own placement is never the better one for long. */
static void consider_home(const struct scene *now, const struct scene *next,
                          const struct place_terms *terms, struct weighed *weighed)
{
    struct pool home;
    struct scene at_home = {now->packer, &home, now->as_if};
    struct weighed its;

    if (pool_copy(&home, now->pool) < 0)
        return;
    pool_reset(&home);
    if (!pool_same(&home, next->pool) && !moves_kept(now, &at_home) &&
        forecast_work(&at_home, NULL) > forecast_work(next, NULL)) {
        weigh(now, &at_home, terms, &its);
        if (!weighed->owed && value_of(&its, terms->horizon_s) > 0 &&
            !(value_of(&its, terms->horizon_s) <= value_of(weighed, terms->horizon_s)) &&
            isolation_missing(now->packer, &home) <= isolation_missing(now->packer, next->pool) &&
            near_missing(&at_home) <= near_missing(next)) {
            memcpy(next->pool->stand, home.stand, home.cores * sizeof(*home.stand));
            *weighed = its;
        }
    }
    pool_free(&home);
}

int weigh_decide(const struct scene *now, const struct scene *next, const struct place_terms *terms,
                 struct weighed *weighed, struct berth_error *err)
{
    if (place_decide(next, terms, err) < 0)
        return -1;
    if (terms->fresh && pool_same(now->pool, next->pool)) {
        *weighed = (struct weighed){.worth = 1};
        return 0;
    }
    weigh(now, next, terms, weighed);
    if (!terms->fresh && !terms->newcomers && !now->as_if &&
        place_policy(now) == WIRE_POLICY_CONTEND)
        consider_home(now, next, terms, weighed);
    return 0;
}
