/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - see search.h */
#include "packer/place/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/improve.h"
#include "packer/observe/classify.h"
#include "packer/place/forecast.h"
#include "packer/place/opinion.h"

/* Up to so many cores in use the whole node is solved for every candidate; beyond, the caches that
 * it touches, and what they change by their traffic. */
#define WHOLE_NODE 24

/* Lost work that a core is taken to lose which has a devil on its cache that it was promised not to
 * have, and that it loses for each part of its time that it is slower than was allowed: far more
 * than there is to lose, so that a promise comes first, whatever it costs. */
#define BROKEN 1e5
#define HORIZON_LEAST 1e-3 /* s: in which only a promise pays */
#define LIMITED 10         /* times the guess: what concerns who has a bound is judged first */

/* A part of a unit: its cores on one cache. */
struct part {
    size_t unit, cores, cache;
    size_t first; /* of its cores, in by_part */
    size_t slot;
    double limit;            /* slowdown that its step may have; NAN: any */
    double suffers, presses; /* of its cores; by contend, so that the product of the one's and the
                                other's is lost work */
    bool isolated, devil;
    bool fresh; /* its step has just come, and moves for nothing */
    bool focus; /* of the unit that has come, whoever shares its cores */
};

struct search {
    const struct scene *scene;
    const struct place_terms *terms;
    struct units *units;
    enum wire_policy policy;
    struct opinion *opinion;
    size_t n, caches, fixed;
    struct part *part;          /* [n] */
    size_t *by_part;            /* [units->total] indices into units->from */
    size_t *cache_of;           /* [n] */
    size_t *cores, *kind;       /* [n] as improve wants them */
    size_t *room, *domain;      /* [caches] */
    double *price;              /* [n * caches] */
    double *asks, *minds;       /* [n] */
    bool *focus;                /* [n] */
    struct forecast_core *core; /* [cores in use] scratch; the first `fixed` do not move */
    double *slowdown;           /* [cores in use] scratch */
    double scale;               /* of scores: lost work each */
    size_t in_use;              /* cores of all at work */
    double *fixed_asks;         /* [caches] by domain: traffic of who does not move */
    size_t calls;               /* of lost_of: improve.h asks for before and after in turn */
    size_t *before_at;          /* [n] the standing that before_lost is of */
    double before_lost;
    bool before_known;
};

bool search_can(enum wire_policy policy)
{
    return policy != WIRE_POLICY_DI && policy != WIRE_POLICY_DIO_POWER;
}

static const struct topo *topo_of(const struct search *search)
{
    return search->scene->packer->topo;
}

static size_t cache_now(const struct search *search, size_t index)
{
    return topo_of(search)->core[search->scene->pool->stand[search->units->from[index]]].llc;
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
            long core = topo_core_of_cpu(topo_of(search), cpu);

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
    const struct topo *topo = topo_of(search);
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
    const struct topo *topo = topo_of(search);
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
    topo_nodes_of(topo_of(search), &topo_of(search)->llc[cache].cpus, nodes);
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
    price = PLACE_COLD_S * (double)part->cores;
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

/* ---- what is lost ---- */

/* What comes to the work that a core loses: of a promise that is not kept. */
static double broken(const struct part *part, double slowdown)
{
    return isnan(part->limit) ? 0 : BROKEN * fmax(0, slowdown - part->limit);
}

/* Devils beside those who are to be isolated, on the touched caches. */
static double broken_isolation(const struct search *search, const size_t *cache_of, size_t cache)
{
    double cores = 0;

    for (size_t p = 0; p < search->n; p++)
        for (size_t q = 0; search->part[p].isolated && cache_of[p] == cache && q < search->n; q++)
            if (search->part[q].devil && cache_of[q] == cache &&
                search->units->isolate_for[search->part[q].unit] !=
                    search->units->isolate_for[search->part[p].unit])
                cores += (double)search->part[q].cores;
    return BROKEN * cores;
}

/* Lists the cores in use of who stands on a cache, beginning with the n-th. Returns how many there
 * are then. */
static size_t list_cache(struct search *search, const size_t *cache_of, size_t cache, size_t n)
{
    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0; cache_of[p] == cache && search->part[p].slot != FORECAST_IDLE &&
                           i < search->part[p].cores;
             i++)
            search->core[n++] = (struct forecast_core){search->part[p].slot, search->part[p].unit,
                                                       cache, search->domain[cache]};
    return n;
}

/* Returns what the cores in core[first .. n-1], of cache_of's members of that cache in their order,
 * lose by these slowdowns. */
static double lost_by(const struct search *search, const size_t *cache_of, size_t cache,
                      const double *slowdown)
{
    double lost = 0;
    size_t at = 0;

    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0; cache_of[p] == cache && search->part[p].slot != FORECAST_IDLE &&
                           i < search->part[p].cores;
             i++, at++)
            lost += 1 - 1 / (1 + slowdown[at]) + broken(&search->part[p], slowdown[at]);
    return lost;
}

/* Lists all cores in use after the fixed ones. Returns how many there are. */
static size_t list_node(struct search *search, const size_t *cache_of)
{
    size_t n = search->fixed;

    for (size_t c = 0; c < search->caches; c++)
        n = list_cache(search, cache_of, c, n);
    return n;
}

/* Returns what the whole node loses. */
static double lost_on_node(struct search *search, const size_t *cache_of)
{
    size_t n = list_node(search, cache_of), at = search->fixed;
    double lost = 0;

    if (forecast_node(search->scene->packer->forecast, n, search->core, search->slowdown) < 0)
        return 0;
    for (size_t i = 0; i < search->fixed; i++)
        lost += 1 - 1 / (1 + search->slowdown[i]);
    for (size_t c = 0; c < search->caches; c++) {
        lost += lost_by(search, cache_of, c, search->slowdown + at);
        while (at < n && search->core[at].cache == c)
            at++;
    }
    return lost;
}

/* The same for the standing before a change, which is asked for again and again. */
static double lost_before(struct search *search, const size_t *cache_of)
{
    size_t size = search->n * sizeof(*cache_of);

    if (!search->before_known || memcmp(cache_of, search->before_at, size) != 0) {
        search->before_lost = lost_on_node(search, cache_of);
        search->before_known = true;
        memcpy(search->before_at, cache_of, size);
    }
    return search->before_lost;
}

/* Returns what is asked of a domain by who is not on the cache. */
static double asked_beside(const struct search *search, const size_t *cache_of, size_t domain,
                           size_t cache)
{
    double asks = search->fixed_asks[domain];

    for (size_t p = 0; p < search->n; p++)
        if (search->domain[cache_of[p]] == domain && cache_of[p] != cache)
            asks += search->asks[p];
    return asks;
}

static bool is_touched(const size_t *touched, size_t n, size_t cache)
{
    for (size_t i = 0; i < n; i++)
        if (touched[i] == cache)
            return true;
    return false;
}

/* Predicts the cores in use on a cache, into slowdown[]: those of the parts there in their order,
 * then *fixed that do not move. Also the traffic of all. Returns -1 where that cannot be told. */
static int predict_cache(struct search *search, const size_t *cache_of, size_t cache, size_t *parts,
                         size_t *fixed, double *gbps)
{
    size_t begin = search->fixed, end = list_cache(search, cache_of, cache, begin);

    *parts = end - begin;
    *fixed = 0;
    for (size_t j = 0; j < search->fixed; j++)
        if (search->core[j].cache == cache)
            search->core[end + (*fixed)++] = search->core[j];
    return forecast_cache(search->scene->packer->forecast,
                          asked_beside(search, cache_of, search->domain[cache], cache),
                          *parts + *fixed, search->core + begin, search->slowdown, gbps);
}

/* What the touched caches lose, and what others lose by the traffic that these put on their memory
 * nodes: in straight lines. */
static double lost_on_caches(struct search *search, const size_t *cache_of, const size_t *touched,
                             size_t n)
{
    double lost = 0;

    for (size_t i = 0; i < n; i++) {
        size_t domain = search->domain[touched[i]], parts, fixed;
        double gbps, minds = 0;

        if (predict_cache(search, cache_of, touched[i], &parts, &fixed, &gbps) < 0)
            continue;
        lost += lost_by(search, cache_of, touched[i], search->slowdown);
        for (size_t j = 0; j < fixed; j++)
            lost += 1 - 1 / (1 + search->slowdown[parts + j]);
        for (size_t p = 0; p < search->n; p++)
            if (search->domain[cache_of[p]] == domain && !is_touched(touched, n, cache_of[p]))
                minds += search->minds[p];
        lost += minds * gbps;
    }
    return lost;
}

/* What comes to the scores of the other policies: bounds that are not kept on the touched caches,
 * by contend, which alone can tell. */
static double broken_bounds(struct search *search, const size_t *cache_of, const size_t *touched,
                            size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t parts, fixed, at = 0;
        bool any = false;
        double gbps;

        for (size_t p = 0; p < search->n; p++)
            any |= cache_of[p] == touched[i] && !isnan(search->part[p].limit);
        if (!any || predict_cache(search, cache_of, touched[i], &parts, &fixed, &gbps) < 0)
            continue;
        for (size_t p = 0; p < search->n; p++)
            for (size_t core = 0;
                 cache_of[p] == touched[i] && search->part[p].slot != FORECAST_IDLE &&
                 core < search->part[p].cores;
                 core++)
                sum += broken(&search->part[p], search->slowdown[at++]);
    }
    return sum;
}

/* Returns the scores of the pairs on the touched caches, as lost work. */
static double scores_on_caches(struct search *search, const size_t *cache_of, const size_t *touched,
                               size_t n)
{
    size_t end = search->fixed, begin = search->fixed;

    for (size_t i = 0; i < n; i++)
        end = list_cache(search, cache_of, touched[i], end);
    for (size_t j = 0; j < search->fixed; j++)
        if (is_touched(touched, n, search->core[j].cache))
            search->core[end++] = search->core[j];
    return search->scale * opinion_score(search->opinion, end - begin, search->core + begin);
}

static double lost_of(const size_t *cache_of, const size_t *touched, size_t n, void *arg)
{
    struct search *search = arg;
    double lost;

    if (search->policy != WIRE_POLICY_CONTEND)
        lost = scores_on_caches(search, cache_of, touched, n) +
               broken_bounds(search, cache_of, touched, n);
    else if (search->in_use <= WHOLE_NODE)
        lost = search->calls++ % 2 ? lost_on_node(search, cache_of) : lost_before(search, cache_of);
    else
        lost = lost_on_caches(search, cache_of, touched, n);
    for (size_t i = 0; i < n && units_isolate(search->units); i++)
        lost += broken_isolation(search, cache_of, touched[i]);
    return lost;
}

/* What parts lose beside each other by contend, as far as pairs tell of it; a step's own parts, and
 * where there are too many programs for a table, in two numbers each. */
static double guess_pair(const struct search *search, const struct part *x, const struct part *y)
{
    double lost =
        x->unit == y->unit ? NAN : forecast_pair(search->scene->packer->forecast, x->slot, y->slot);

    return isnan(lost) ? x->suffers * y->presses + y->suffers * x->presses
                       : (double)x->cores * (double)y->cores * lost;
}

/* The guess: what two parts lose together on one cache, promises included. */
static double pair_of(size_t a, size_t b, void *arg)
{
    const struct search *search = arg;
    const struct part *x = &search->part[a], *y = &search->part[b];
    double cores = (double)x->cores * (double)y->cores, sum;

    if (search->policy == WIRE_POLICY_CONTEND)
        sum = guess_pair(search, x, y);
    else if (x->unit == y->unit)
        return 0;
    else
        sum = search->scale * cores * opinion_pair(search->opinion, x->slot, y->slot);
    if ((x->isolated && y->devil) || (y->isolated && x->devil))
        sum += BROKEN * cores;
    return isnan(x->limit) && isnan(y->limit) ? sum : LIMITED * sum;
}

/* ---- the search ---- */

static void search_clear(struct search *search)
{
    opinion_free(search->opinion);
    free(search->part);
    free(search->by_part);
    free(search->cache_of);
    free(search->room);
    free(search->price);
    free(search->focus);
    free(search->core);
    free(search->slowdown);
}

static int search_init(struct search *search)
{
    size_t total = search->units->total + 1, caches = topo_of(search)->llcs;
    size_t cores = topo_of(search)->cores + total; /* the fixed ones, and the parts' */

    search->caches = caches;
    search->part = calloc(total, sizeof(*search->part));
    search->by_part = calloc(total, sizeof(*search->by_part));
    search->cache_of = calloc(4 * total, sizeof(*search->cache_of));
    search->room = calloc(2 * caches, sizeof(*search->room));
    search->price = calloc(total * caches + 2 * total + caches, sizeof(*search->price));
    search->focus = calloc(total, sizeof(*search->focus));
    search->core = calloc(2 * cores, sizeof(*search->core));
    search->slowdown = calloc(2 * cores, sizeof(*search->slowdown));
    if (!search->part || !search->by_part || !search->cache_of || !search->room || !search->price ||
        !search->focus || !search->core || !search->slowdown)
        return -1;
    search->cores = search->cache_of + total;
    search->kind = search->cores + total;
    search->before_at = search->kind + total;
    search->domain = search->room + caches;
    search->asks = search->price + total * caches;
    search->minds = search->asks + total;
    search->fixed_asks = search->minds + total;
    return 0;
}

/* Forms the opinion of all who are in it. */
static int form_opinion(struct search *search)
{
    size_t n = 0, *slot = calloc(search->n + search->fixed + 1, sizeof(*slot));

    for (size_t p = 0; slot && p < search->n; p++)
        slot[n++] = search->part[p].slot;
    for (size_t i = 0; slot && i < search->fixed; i++)
        slot[n++] = search->core[i].slot;
    if (slot)
        search->opinion = opinion_form(search->scene->packer->forecast, search->policy, n, slot);
    free(slot);
    return search->opinion ? 0 : -1;
}

/* Finds what one part of the node's present score is as lost work. */
static void take_scale(struct search *search)
{
    size_t n = list_node(search, search->cache_of);
    double score = opinion_score(search->opinion, n, search->core);
    double lost = (double)n - forecast_work(search->scene, NULL);

    lost = fmax(isnan(lost) ? 0 : lost, PLACE_AT_STAKE * (double)n);
    search->scale = score > 0 ? lost / score : 0;
}

/* Finds what the parts suffer from others on their caches, and others from them, in two numbers
 * each: matrices of slowdowns are nearly of rank one. */
static void take_figures(struct search *search)
{
    const struct forecast *forecast = search->scene->packer->forecast;
    double typical = fmax(forecast_figures(forecast, FORECAST_AVERAGE).suffers, 1e-6);

    for (size_t p = 0; p < search->n; p++) {
        struct part *part = &search->part[p];
        struct forecast_figures figures = forecast_figures(forecast, part->slot);

        if (part->slot == FORECAST_IDLE)
            continue;
        part->suffers = (double)part->cores * figures.suffers / typical;
        part->presses = (double)part->cores * figures.presses;
    }
}

/* Returns what a core of the slot loses while others ask so much of its memory node. */
static double lost_alone(const struct search *search, size_t slot, double others_gbps)
{
    struct forecast_core core = {.slot = slot};
    double slowdown = 0, gbps;

    if (forecast_cache(search->scene->packer->forecast, others_gbps, 1, &core, &slowdown, &gbps) <
        0)
        return 0;
    return 1 - 1 / (1 + slowdown);
}

/* Finds what each part asks of its memory node as things are, and what it loses for each unit more
 * that others ask. */
static void take_traffic(struct search *search)
{
    const struct forecast *forecast = search->scene->packer->forecast;
    size_t n = list_node(search, search->cache_of);
    double *sum = search->slowdown + n; /* scratch, by domain */

    if (forecast_node(forecast, n, search->core, search->slowdown) < 0)
        return;
    memset(sum, 0, search->caches * sizeof(*sum));
    for (size_t i = 0; i < n; i++) {
        double asks = forecast_figures(forecast, search->core[i].slot).asks;

        asks /= 1 + search->slowdown[i];
        sum[search->core[i].memory] += asks;
        if (i < search->fixed)
            search->fixed_asks[search->core[i].memory] += asks;
        for (size_t p = 0; i >= search->fixed && p < search->n; p++)
            if (search->part[p].unit == search->core[i].owner &&
                search->part[p].cache == search->core[i].cache)
                search->asks[p] = asks * (double)search->part[p].cores;
    }
    for (size_t p = 0; p < search->n; p++) {
        double others = sum[search->domain[search->part[p].cache]] - search->asks[p];
        double more = others + 0.05 * (others + search->asks[p]);
        size_t slot = search->part[p].slot;

        if (more > others && slot != FORECAST_IDLE)
            search->minds[p] = (double)search->part[p].cores *
                               (lost_alone(search, slot, more) - lost_alone(search, slot, others)) /
                               (more - others);
    }
}

/* Gives the parts that have moved free cores of their new caches; all others keep theirs. */
static void take_targets(const struct search *search)
{
    const struct topo *topo = topo_of(search);
    const struct pool *pool = search->scene->pool;
    struct units *units = search->units;
    size_t *taken = units->of_target;

    for (size_t core = 0; core < pool->cores; core++)
        taken[core] = !pool_has(pool, core);
    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0;
             search->cache_of[p] == search->part[p].cache && i < search->part[p].cores; i++) {
            size_t at = search->by_part[search->part[p].first + i];

            units->to[at] = pool->stand[units->from[at]];
            taken[units->to[at]] = true;
        }
    for (size_t p = 0; p < search->n; p++)
        for (size_t i = 0, core = 0;
             search->cache_of[p] != search->part[p].cache && i < search->part[p].cores; i++) {
            while (taken[core] || topo->core[core].llc != search->cache_of[p])
                core++;
            taken[core] = true;
            units->to[search->by_part[search->part[p].first + i]] = core;
        }
}

static int solve(struct search *search)
{
    const struct place_terms *terms = search->terms;
    struct improve_found found;
    struct improve problem;

    make_parts(search);
    take_machine(search);
    take_prices(search);
    take_parts(search);
    take_fixed(search);
    search->in_use = list_node(search, search->cache_of);
    if (search->policy != WIRE_POLICY_CONTEND && form_opinion(search) < 0)
        return -1;
    search->scale = 1;
    if (search->policy == WIRE_POLICY_CONTEND) {
        take_figures(search);
        take_traffic(search);
    } else {
        take_scale(search);
    }
    problem = (struct improve){.n = search->n,
                               .cores = search->cores,
                               .kind = search->kind,
                               .caches = search->caches,
                               .room = search->room,
                               .domain = search->domain,
                               .price = search->price,
                               .focus = terms && terms->fresh ? search->focus : NULL,
                               .horizon = terms ? fmax(terms->horizon_s, HORIZON_LEAST) : 1,
                               .moves_max = terms ? terms->moves_max : 0,
                               .pair = pair_of,
                               .asks = search->asks,
                               .minds = search->minds,
                               .lost = lost_of,
                               .arg = search};
    if (improve_solve(&problem, search->cache_of, &found) < 0)
        return -1;
    take_targets(search);
    return 0;
}

int search_units(const struct scene *scene, const struct place_terms *terms,
                 enum wire_policy policy, struct units *units, struct berth_error *err)
{
    struct search search = {.scene = scene, .terms = terms, .units = units, .policy = policy};
    int rc = search_init(&search);

    if (rc == 0)
        rc = solve(&search);
    if (rc < 0)
        berth_error_set(err, "%s: %s", wire_policy_name[policy], strerror(errno));
    search_clear(&search);
    return rc;
}
