/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_parts - see search_impl.h: what may move, where to, and at what price. */
#include <math.h>
#include <stdint.h>

#include "packer/observe/classify.h"
#include "packer/place/price.h"
#include "packer/place/search_impl.h"
#include "packer/place/threads.h"

#define NOBODY SIZE_MAX

static size_t cache_now(const struct search *search, size_t index)
{
    return search_topo(search)->core[search->scene->pool->stand[search->units->from[index]]].llc;
}

/* ---- parts ---- */

/* Whether a step that has just come is of the unit. */
static bool has_come(const struct search *search, size_t unit)
{
    const struct place_terms *terms = search->terms;

    if (!terms || !terms->fresh)
        return place_fresh(terms, search->units->first[unit]);
    return units_have(search->units, search_topo(search), terms->fresh, unit);
}

/* Whether each core of the unit is a part: of a task that may be divided; while a step finds its
 * place, of that one only. */
static bool is_divided(const struct search *search, size_t unit)
{
    const struct units *units = search->units;

    if (!search->divides || (search_focuses(search) && !has_come(search, unit)))
        return false;
    return search->policy == WIRE_POLICY_CONTEND
               ? threads_divisible(search->scene->packer, units->first[unit],
                                   units->unit[unit].cores, has_come(search, unit))
               : units->apart[unit];
}

/* How far apart the unit stood at the start, of the core that is most. */
static double far_now(const struct search *search, size_t unit)
{
    const struct units *units = search->units;
    size_t cores = units->unit[unit].cores, begin = units->at[unit];
    double far = 0;

    for (size_t i = begin; cores > 1 && i < begin + cores; i++) {
        size_t here = 0;

        for (size_t j = begin; j < begin + cores; j++)
            here += cache_now(search, i) == cache_now(search, j);
        far = fmax(far, app_far(cores, here));
    }
    return far;
}

/* Adds a part of the core that by_part[first] says. */
static void add_part(struct search *search, size_t unit, size_t cache, size_t first, bool divided)
{
    const struct packer *packer = search->scene->packer;
    const struct units *units = search->units;
    const struct step *step = units->first[unit];

    search->cache_of[search->n] = search_topo(search)->core[units->to[search->by_part[first]]].llc;
    search->part[search->n++] =
        (struct part){.unit = unit,
                      .cores = 1,
                      .cache = cache,
                      .first = first,
                      .slot = step->slot,
                      .limit = step->place.max_slowdown,
                      .bearable = search->bears ? step->place.bearable : NAN,
                      .word = threads_word(step),
                      .rate = search_press(packer, step),
                      .apart = divided && search->policy != WIRE_POLICY_CONTEND,
                      .isolated = units->isolate_for[unit] != NULL,
                      .devil = classify_rate(packer, step) >= packer->world.conf.devil_miss_pmi,
                      .fresh = place_fresh(search->terms, step),
                      .focus = has_come(search, unit)};
}

/* Divides the units into parts, by the caches that their cores stood on at the start. */
static bool make_parts(struct search *search)
{
    const struct units *units = search->units;
    size_t listed = 0;
    bool any = false;

    search->n = 0;
    for (size_t u = 0; u < units->n; u++) {
        size_t begin = search->n, end = search->caches, c = 0;
        bool divided = is_divided(search, u);
        double far = far_now(search, u);

        if (units->unit[u].cores == 1)
            end = 1 + (c = cache_now(search, units->at[u]));
        for (; c < end; c++)
            for (size_t i = units->at[u]; i < units->at[u] + units->unit[u].cores; i++) {
                struct part *last = search->n > begin ? &search->part[search->n - 1] : NULL;

                if (cache_now(search, i) != c)
                    continue;
                search->by_part[listed] = i;
                if (last && last->cache == c && !divided)
                    last->cores++;
                else
                    add_part(search, u, c, listed, divided);
                search->part[search->n - 1].far_now = far;
                listed++;
            }
        any |= divided;
    }
    return any;
}

/* ---- what there is ---- */

static void take_machine(struct search *search)
{
    const struct topo *topo = search_topo(search);

    for (size_t c = 0; c < search->caches; c++) {
        topo_nodes_of(topo, &topo->llc[c].cpus, &search->nodes[c]);
        search->small[c] = topo_small(topo, c);
        search->package[c] = topo->llc[c].package;
        search->domain[c] = c;
        for (size_t d = c; d-- > 0;)
            if (topo->llc[d].node == topo->llc[c].node)
                search->domain[c] = search->domain[d];
    }
}

/* Lists a core of a step at work that does not move. */
static void add_fixed(struct search *search, const struct step *step, size_t owner, size_t core)
{
    const struct topo *topo = search_topo(search);
    size_t cache = topo->core[core].llc;

    search->fixed_press[cache] += search_press(search->scene->packer, step);
    if (step->slot != FORECAST_IDLE && search->fixed < topo->cores)
        search->core[search->fixed++] = (struct forecast_core){
            .slot = step->slot,
            .owner = owner,
            .cache = cache,
            .memory = search->domain[cache],
            .apart = {.small = search->small[cache]},
        };
}

/* Lists the cores of these CPUs; nobody else comes to stand there where they are `held`. */
static void fix_on(struct search *search, const struct step *step, size_t owner,
                   const struct cpus *cpus, bool held)
{
    struct cpus cores;

    topo_cores_of(search_topo(search), cpus, &cores);
    cpus_foreach(core, &cores)
    {
        add_fixed(search, step, owner, core);
        search->held[core] |= held;
    }
}

/* Takes the CPUs away whose cores are units'. */
static void leave_units(const struct search *search, struct cpus *cpus)
{
    const struct topo *topo = search_topo(search);

    for (size_t i = 0; i < search->units->total; i++)
        cpus_andnot(cpus, &topo->core[search->units->from[i]].cpus);
}

/* Lists where the tasks of a step stand that may move, but are no units now. */
static void fix_tasks(struct search *search, const struct step *step, size_t owner)
{
    struct cpus others, image;

    for (size_t i = 0; i < step->body.ntasks; i++) {
        others = step->body.task[i].use;
        leave_units(search, &others);
        stand_image(search->scene->packer, search->scene->pool, &others, &image);
        fix_on(search, step, owner, &image, true);
    }
}

/* Lists the cores of live steps that are no part's: they stay where they are. */
static void take_fixed(struct search *search)
{
    const struct scene *scene = search->scene;
    size_t owner = search->units->n;
    const struct step *step;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        if (!stand_movable(scene, step))
            fix_on(search, step, owner, &step->body.step_home, false);
        else if ((search->units->alone || search_topo(search)->kinds > 1) &&
                 units_count(scene, step))
            fix_tasks(search, step, owner);
        owner++;
    }
}

/* Counts the hardware cores of each cache. */
static void take_wholes(struct search *search)
{
    const struct topo *topo = search_topo(search);

    for (size_t i = 0; i < topo->cores; i++)
        search->wholes[topo->core[i].llc] += i == 0 || !topo_siblings(topo, i, i - 1);
}

/* Counts the cores of each cache on which parts may stand. */
static void take_room(struct search *search)
{
    const struct topo *topo = search_topo(search);
    const struct pool *pool = search->scene->pool;

    for (size_t core = 0; core < pool->cores; core++)
        if (units_may_have(search->units, search->scene, core) && !search->held[core])
            search->room[topo->core[core].llc]++;
}

/* What it costs a core of a new task to stand away from others of its task on another memory node:
 * that pays off only if the pages of its thread are there. */
static double price_away(const struct search *search, const struct part *part, size_t cache)
{
    size_t with = search->cache_of[part - search->part];

    if (!search->divides || !search->terms || part->cores > 1 ||
        search->units->unit[part->unit].cores < 2 || search->domain[with] == search->domain[cache])
        return 0;
    return PRICE_DOUBT * search->terms->horizon_s;
}

/* What it costs the part to end on that cache: its caches are cold, and pages follow or are far. */
static double price_of(const struct search *search, const struct part *part, size_t cache)
{
    const struct place_terms *terms = search->terms;
    const struct step *step = search->units->first[part->unit];
    const struct cpus *now = &search->nodes[part->cache], *then = &search->nodes[cache];
    double price;

    if (cache == part->cache)
        return part->fresh ? price_away(search, part, cache) : 0;
    if ((terms && terms->others_stay && !part->fresh) || !step_may_use(step, then) ||
        search->units->near[part->unit])
        return INFINITY;
    if (!terms || part->fresh)
        return price_away(search, part, cache);
    price = price_core_s(step, search->policy, terms->horizon_s,
                         search->divides ? 0 : search->null_odds) *
            (double)part->cores;
    if (terms->pages_s && !cpus_subset(now, then))
        price += terms->pages_s(search->scene->packer, step, now, then) * (double)part->cores /
                 fmax(1, (double)cpus_count(&step->body.step_home));
    return price;
}

/* Returns the cache on which a unit that is to be packed stands with most of its cores, of those
 * that have room for all of them; search->caches: there is none. */
static size_t pack_on(const struct search *search, size_t unit)
{
    const struct units *units = search->units;
    size_t cores = units->unit[unit].cores, best = search->caches, most = 0;

    for (size_t c = 0; c < search->caches; c++) {
        size_t here = 0;

        for (size_t i = units->at[unit]; i < units->at[unit] + cores; i++)
            here += cache_now(search, i) == c;
        if (search->room[c] >= cores && (best == search->caches || here > most)) {
            best = c;
            most = here;
        }
    }
    return best;
}

/* What a user insists on comes before all that can be gained. */
static void price_pack(const struct search *search, const struct part *part, double *price)
{
    double horizon = search->terms ? fmax(search->terms->horizon_s, HORIZON_LEAST) : 1;
    size_t target;

    if (part->word != THREADS_PACK || search->units->unit[part->unit].cores < 2)
        return;
    target = pack_on(search, part->unit);
    for (size_t c = 0; target < search->caches && c < search->caches; c++)
        price[c] += c == target ? 0 : BROKEN * horizon * (double)part->cores;
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
        price_pack(search, part, price);
    }
}

/* Returns the first part of the unit that is as large: they are alike. */
static size_t like_in_unit(const struct search *search, size_t p)
{
    const struct part *part = search->part;
    size_t first = p;

    for (size_t q = p; q-- > 0 && part[q].unit == part[p].unit;)
        if (part[q].cores == part[p].cores)
            first = q;
    return first;
}

static bool same_step(const struct search *search, size_t p, size_t q)
{
    const struct units *units = search->units;

    return units->first[search->part[p].unit] == units->first[search->part[q].unit];
}

/* Are two parts, that are units each, the same to search_pair() beside any other? */
static bool same_beside(const struct search *search, size_t p, size_t q)
{
    const struct part *x = &search->part[p], *y = &search->part[q];

    return x->slot == y->slot && x->cores == y->cores && x->isolated == y->isolated &&
           x->devil == y->devil && isnan(x->limit) == isnan(y->limit);
}

static void forget_first(struct search *search)
{
    for (size_t i = 0; i < search->slots; i++)
        search->first_like[i] = NOBODY;
}

/* Returns the first part of those asked for since forget_first() that is the same; the same have
 * the same hash. */
static size_t first_like(struct search *search, size_t p, size_t hash,
                         bool (*same)(const struct search *, size_t, size_t))
{
    size_t *first = search->first_like, i = hash & (search->slots - 1);

    while (first[i] != NOBODY && !same(search, first[i], p))
        i = (i + 1) & (search->slots - 1);
    if (first[i] == NOBODY)
        first[i] = p;
    return first[i];
}

/* Parts that are whole units of one core of the same step are alike. */
static void take_kinds(struct search *search)
{
    const struct units *units = search->units;

    forget_first(search);
    for (size_t p = 0; p < search->n; p++) {
        size_t unit = search->part[p].unit;

        search->kind[p] = units->unit[unit].cores == 1
                              ? first_like(search, p, (uintptr_t)units->first[unit] >> 6, same_step)
                              : like_in_unit(search, p);
    }
}

/* Units that are not divided are the same to pairs if their programs are; what a part loses beside
 * one of its own unit is another matter. */
static void take_likes(struct search *search)
{
    forget_first(search);
    for (size_t p = 0; p < search->n; p++) {
        const struct part *part = &search->part[p];

        search->like[p] = part->cores == search->units->unit[part->unit].cores
                              ? first_like(search, p, part->slot, same_beside)
                              : p;
    }
}

static void take_parts(struct search *search)
{
    for (size_t p = 0; p < search->n; p++) {
        search->cores[p] = search->part[p].cores;
        search->focus[p] = search->part[p].focus;
    }
    take_kinds(search);
    take_likes(search);
}

void search_machine(struct search *search)
{
    take_machine(search);
    take_fixed(search);
    take_wholes(search);
    take_room(search);
    search->null_odds = price_null(search->scene->packer);
}

bool search_parts(struct search *search)
{
    bool divided = make_parts(search);

    take_prices(search);
    take_parts(search);
    return divided;
}
