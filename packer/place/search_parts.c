/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_parts - see search_impl.h: what may move, where to, and at what price. */
#include <math.h>

#include "packer/observe/classify.h"
#include "packer/place/price.h"
#include "packer/place/search_impl.h"

static size_t cache_now(const struct search *search, size_t index)
{
    return search_topo(search)->core[search->scene->pool->stand[search->units->from[index]]].llc;
}

/* ---- parts ---- */

/* Whether each core of the unit is a part: a new task of several cores that is bound by memory. */
static bool is_divided(const struct search *search, size_t unit)
{
    const struct packer *packer = search->scene->packer;
    const struct step *step = search->units->first[unit];

    return search->policy == WIRE_POLICY_CONTEND && search->terms && step == search->terms->fresh &&
           step->profile.known && classify_rate(packer, step) >= packer->conf.devil_miss_pmi;
}

/* Whether a step that has just come is of the unit. */
static bool has_come(const struct search *search, size_t unit)
{
    const struct step *fresh = search->terms ? search->terms->fresh : NULL;

    for (size_t t = 0; fresh && t < fresh->body.ntasks; t++)
        cpus_foreach(cpu, &fresh->body.task[t].use)
        {
            long core = topo_core_of_cpu(search_topo(search), cpu);

            if (core >= 0 && search->units->of_core[core] == unit)
                return true;
        }
    return false;
}

static void add_part(struct search *search, size_t unit, size_t cache, size_t first)
{
    const struct packer *packer = search->scene->packer;
    const struct units *units = search->units;
    const struct step *step = units->first[unit];

    search->part[search->n++] =
        (struct part){.unit = unit,
                      .cores = 1,
                      .cache = cache,
                      .first = first,
                      .slot = step->slot,
                      .limit = step->place.max_slowdown,
                      .isolated = units->isolate_for[unit] != NULL,
                      .devil = classify_rate(packer, step) >= packer->conf.devil_miss_pmi,
                      .fresh = search->terms && step == search->terms->fresh,
                      .focus = has_come(search, unit)};
}

/* Divides the units into parts, by the caches that their cores stand on. */
static void make_parts(struct search *search)
{
    const struct units *units = search->units;
    size_t listed = 0;

    for (size_t u = 0; u < units->n; u++) {
        size_t begin = search->n;
        bool divided = is_divided(search, u);

        for (size_t c = 0; c < search->caches; c++)
            for (size_t i = units->at[u]; i < units->at[u] + units->unit[u].cores; i++) {
                struct part *last = search->n > begin ? &search->part[search->n - 1] : NULL;

                if (cache_now(search, i) != c)
                    continue;
                if (last && last->cache == c && !divided)
                    last->cores++;
                else
                    add_part(search, u, c, listed);
                search->by_part[listed++] = i;
            }
    }
}

/* ---- what there is ---- */

static void take_machine(struct search *search)
{
    const struct topo *topo = search_topo(search);
    const struct pool *pool = search->scene->pool;

    for (size_t core = 0; core < pool->cores; core++)
        if (pool_has(pool, core))
            search->room[topo->core[core].llc]++;
    for (size_t c = 0; c < search->caches; c++) {
        search->domain[c] = c;
        for (size_t d = c; d-- > 0;)
            if (forecast_memory(topo, d) == forecast_memory(topo, c))
                search->domain[c] = search->domain[d];
    }
}

/* Lists the cores of a step at work that does not move. */
static void add_fixed(struct search *search, const struct step *step, size_t owner)
{
    const struct topo *topo = search_topo(search);
    long before = -1;

    cpus_foreach(cpu, &step->body.step_home)
    {
        long core = topo_core_of_cpu(topo, cpu);
        size_t cache;

        if (core < 0 || core == before || search->fixed == topo->cores)
            continue;
        before = core;
        cache = topo->core[core].llc;
        search->core[search->fixed++] =
            (struct forecast_core){step->slot, owner, cache, search->domain[cache]};
    }
}

/* Lists the cores of live steps at work that are no part's: they stay where they are. */
static void take_fixed(struct search *search)
{
    size_t owner = search->units->n;
    const struct step *step;

    TAILQ_FOREACH(step, &search->scene->packer->steps.live, link)
    if (step->slot != FORECAST_IDLE && !stand_movable(search->scene, step))
        add_fixed(search, step, owner++);
}

static void nodes_of_cache(const struct search *search, size_t cache, struct cpus *nodes)
{
    topo_nodes_of(search_topo(search), &search_topo(search)->llc[cache].cpus, nodes);
}

/* What it costs the part to end on that cache: its caches are cold, and pages follow or are far. */
static double price_of(const struct search *search, const struct part *part, size_t cache)
{
    const struct place_terms *terms = search->terms;
    const struct step *step = search->units->first[part->unit];
    struct cpus now, then;
    double price;

    if (cache == part->cache)
        return 0;
    nodes_of_cache(search, part->cache, &now);
    nodes_of_cache(search, cache, &then);
    if (!step_may_use(step, &then) || (terms && terms->others_stay && !part->fresh))
        return INFINITY;
    if (!terms || part->fresh)
        return 0;
    price = price_core_s(step, search->policy, terms->horizon_s) * (double)part->cores;
    if (terms->pages_s && !cpus_subset(&now, &then))
        price += terms->pages_s(search->scene->packer, step, &now, &then) * (double)part->cores /
                 fmax(1, (double)cpus_count(&step->body.step_home));
    return price;
}

/* Prices are by memory node: one cache of each tells for all. */
static void take_prices(struct search *search)
{
    for (size_t p = 0; p < search->n; p++) {
        const struct part *part = &search->part[p];
        double *price = search->price + p * search->caches;

        for (size_t c = 0; c < search->caches; c++) {
            size_t d = search->domain[c];

            price[c] = d < c && d != part->cache && c != part->cache ? price[d]
                                                                     : price_of(search, part, c);
        }
    }
}

/* Parts of a unit that are as large are alike; so are units of one step. */
static bool are_alike(const struct part *a, const struct part *b, const struct units *units)
{
    return a->cores == b->cores && a->slot == b->slot &&
           units->first[a->unit] == units->first[b->unit];
}

static void take_parts(struct search *search)
{
    for (size_t p = 0; p < search->n; p++) {
        const struct part *part = &search->part[p];

        search->cache_of[p] = part->cache;
        search->cores[p] = part->cores;
        search->focus[p] = part->focus;
        search->kind[p] = p;
        for (size_t q = 0; q < p && search->kind[p] == p; q++)
            if (are_alike(part, &search->part[q], search->units))
                search->kind[p] = search->kind[q];
    }
}

void search_parts(struct search *search)
{
    make_parts(search);
    take_machine(search);
    take_prices(search);
    take_parts(search);
    take_fixed(search);
}
