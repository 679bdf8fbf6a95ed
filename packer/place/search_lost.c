/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_lost - see search_impl.h: what a standing loses, and what is guessed of two parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/place/place.h"
#include "packer/place/search_impl.h"
#include "packer/place/siblings.h"
#include "packer/place/threads.h"

/* Up to so many cores in use the whole node is solved for every candidate; beyond, the caches that
 * it touches, and what they change by their traffic. */
#define WHOLE_NODE 24

#define LIMITED 10 /* times the guess: what concerns who has a bound is judged first */

/* ---- what is lost ---- */

/* What comes to the work that a core loses: of a promise that is not kept, and of a step that pays
 * for others. */
static double broken(const struct part *part, double slowdown)
{
    double sum = isnan(part->limit) ? 0 : BROKEN * fmax(0, slowdown - part->limit);

    return slowdown > part->bearable ? sum + UNBEARABLE * (slowdown - part->bearable) : sum;
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

/* Cores of threads that a user wants to be spread, beside others of their task on the cache. */
static double broken_spread(const struct search *search, const size_t *cache_of, size_t cache)
{
    const struct part *part = search->part;
    double pairs = 0;

    for (size_t p = 0; p < search->n; p++)
        for (size_t q = p + 1; part[p].word == THREADS_SPREAD && cache_of[p] == cache &&
                               q < search->n && part[q].unit == part[p].unit;
             q++)
            pairs += cache_of[q] == cache ? (double)(part[p].cores * part[q].cores) : 0;
    return BROKEN * pairs;
}

/* Returns what the cores of a unit, of which that part is the first on its cache, have of those
 * that are there and of those that are not. */
static struct contend_apart apart_of(const struct search *search, const size_t *cache_of,
                                     size_t first)
{
    const struct part *part = &search->part[first];
    size_t cores = search->units->unit[part->unit].cores, here = 0;

    if (cores < 2)
        return (struct contend_apart){0};
    for (size_t p = first; p < search->n && search->part[p].unit == part->unit; p++)
        here += cache_of[p] == cache_of[first] ? search->part[p].cores : 0;
    return threads_lose(search->scene->packer, search->units->first[part->unit], cores, here,
                        part->far_now);
}

/* Lists the cores in use of who stands on a cache, beginning with the n-th. Returns how many there
 * are then. */
static size_t list_cache(struct search *search, const size_t *cache_of, size_t cache, size_t n)
{
    size_t unit = UNITS_NONE;
    struct contend_apart apart = {0};

    for (size_t p = 0; p < search->n; p++) {
        const struct part *part = &search->part[p];

        if (cache_of[p] != cache || part->slot == FORECAST_IDLE)
            continue;
        if (part->unit != unit)
            apart = apart_of(search, cache_of, p);
        apart.small = search->small[cache];
        unit = part->unit;
        for (size_t i = 0; i < part->cores; i++)
            search->core[n++] = (struct forecast_core){.slot = part->slot,
                                                       .owner = part->apart ? SIZE_MAX - p : unit,
                                                       .cache = cache,
                                                       .memory = search->domain[cache],
                                                       .apart = apart};
    }
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

/* Guesses who shares a core of those on a cache: who does not move, and core[first .. n-1]. */
static void share_cores(struct search *search, size_t cache, size_t first, size_t n)
{
    struct forecast_core *on[CONTEND_GROUP_MAX];
    size_t members = 0;

    if (!search_topo(search)->split)
        return;
    for (size_t i = 0; i < n && members < CONTEND_GROUP_MAX; i++)
        if ((i < search->fixed || i >= first) && search->core[i].cache == cache)
            on[members++] = &search->core[i];
    siblings_guess(search->scene->packer->state->forecast, cache, search->wholes[cache], members,
                   on);
}

/* Lists all cores in use after the fixed ones. Returns how many there are. */
static size_t search_list(struct search *search, const size_t *cache_of)
{
    size_t n = search->fixed;

    for (size_t c = 0; c < search->caches; c++) {
        size_t first = n;

        n = list_cache(search, cache_of, c, n);
        share_cores(search, c, first, n);
    }
    return n;
}

/* Returns what the whole node loses. */
static double lost_on_node(struct search *search, const size_t *cache_of)
{
    size_t n = search_list(search, cache_of), at = search->fixed;
    double lost = 0;

    if (forecast_node(search->scene->packer->state->forecast, FORECAST_CAUTION, n, search->core,
                      search->slowdown, NULL) < 0)
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

    share_cores(search, cache, begin, end);
    *parts = end - begin;
    *fixed = 0;
    for (size_t j = 0; j < search->fixed; j++)
        if (search->core[j].cache == cache)
            search->core[end + (*fixed)++] = search->core[j];
    return forecast_cache(search->scene->packer->state->forecast, FORECAST_CAUTION,
                          asked_beside(search, cache_of, search->domain[cache], cache),
                          *parts + *fixed, search->core + begin, search->slowdown, gbps);
}

/* Returns what a cache's cores lose, and what traffic they put on its memory node; nothing of both
 * where that cannot be told. */
static struct search_cache lost_on_cache(struct search *search, const size_t *cache_of,
                                         size_t cache)
{
    struct search_cache it = {.known = true};
    size_t parts, fixed;

    if (predict_cache(search, cache_of, cache, &parts, &fixed, &it.gbps) < 0)
        return (struct search_cache){.known = true};
    it.lost = lost_by(search, cache_of, cache, search->slowdown);
    for (size_t j = 0; j < fixed; j++)
        it.lost += 1 - 1 / (1 + search->slowdown[parts + j]);
    return it;
}

/* Is that the standing before a change, which is asked for again and again? Forgets what was known
 * of another one that was. */
static bool is_before(struct search *search, const size_t *cache_of)
{
    size_t size = search->n * sizeof(*cache_of);

    if (search->calls++ % 2)
        return false;
    if (search->before_known && memcmp(cache_of, search->before_at, size) == 0)
        return true;
    memcpy(search->before_at, cache_of, size);
    memset(search->before, 0, search->caches * sizeof(*search->before));
    search->before_lost = NAN;
    return search->before_known = true;
}

/* What the touched caches lose, and what others lose by the traffic that these put on their memory
 * nodes: in straight lines. */
static double lost_on_caches(struct search *search, const size_t *cache_of, const size_t *touched,
                             size_t n)
{
    bool before = is_before(search, cache_of);
    double lost = 0;

    for (size_t i = 0; i < n; i++) {
        struct search_cache *kept = &search->before[touched[i]];
        struct search_cache it =
            before && kept->known ? *kept : lost_on_cache(search, cache_of, touched[i]);
        size_t domain = search->domain[touched[i]];
        double minds = 0;

        if (before)
            *kept = it;
        for (size_t p = 0; p < search->n; p++)
            if (search->domain[cache_of[p]] == domain && !is_touched(touched, n, cache_of[p]))
                minds += search->minds[p];
        lost += it.lost + minds * it.gbps;
    }
    return lost;
}

/* What the whole node loses: of the standing before a change it is found once. */
static double lost_now_or_before(struct search *search, const size_t *cache_of)
{
    if (!is_before(search, cache_of))
        return lost_on_node(search, cache_of);
    if (isnan(search->before_lost))
        search->before_lost = lost_on_node(search, cache_of);
    return search->before_lost;
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

/* Returns the work that all lose by the clocks of their packages, of which the busy cores are those
 * that stand there by cache_of. */
static double lost_by_clock(const struct search *search, const size_t *cache_of)
{
    const struct packer *packer = search->scene->packer;
    const struct topo *topo = search_topo(search);
    size_t busy[FORECAST_PACKAGES_MAX] = {0};
    double lost = 0;

    if (!forecast_has_clocks(packer))
        return 0;
    for (size_t i = 0; i < search->fixed; i++)
        busy[topo->llc[search->core[i].cache].package]++;
    for (size_t p = 0; p < search->n; p++)
        if (search->part[p].slot != FORECAST_IDLE)
            busy[topo->llc[cache_of[p]].package] += search->part[p].cores;
    for (size_t i = 0; i < search->fixed; i++)
        lost += forecast_clock_lost(packer->state->forecast, search->core[i].slot,
                                    busy[topo->llc[search->core[i].cache].package]);
    for (size_t p = 0; p < search->n; p++)
        if (search->part[p].slot != FORECAST_IDLE)
            lost += (double)search->part[p].cores *
                    forecast_clock_lost(packer->state->forecast, search->part[p].slot,
                                        busy[topo->llc[cache_of[p]].package]);
    return lost;
}

double search_lost(const size_t *cache_of, const size_t *touched, size_t n, void *arg)
{
    struct search *search = arg;
    double lost;

    if (search->policy != WIRE_POLICY_CONTEND)
        lost = scores_on_caches(search, cache_of, touched, n) +
               broken_bounds(search, cache_of, touched, n);
    else if (search->in_use <= WHOLE_NODE)
        lost = lost_now_or_before(search, cache_of);
    else
        lost = lost_on_caches(search, cache_of, touched, n);
    if (search->policy == WIRE_POLICY_CONTEND)
        lost += search_even_lost(search, cache_of) + lost_by_clock(search, cache_of);
    for (size_t i = 0; i < n && units_isolate(search->units); i++)
        lost += broken_isolation(search, cache_of, touched[i]);
    for (size_t i = 0; i < n; i++)
        lost += broken_spread(search, cache_of, touched[i]);
    return lost;
}

/* What parts lose to each other on hardware threads of one core, if the threads of a cache were
 * dealt out by lot. Caches are taken to be alike. */
static double guess_siblings(const struct search *search, const struct part *x,
                             const struct part *y)
{
    const struct forecast *forecast = search->scene->packer->state->forecast;
    const struct topo *topo = search_topo(search);
    double others;

    if (!topo->split)
        return 0;
    others = (double)topo->cores / (double)topo->llcs - 1;
    if (others < 1)
        return 0;
    return (double)x->cores * (double)y->cores / others *
           (forecast_sibling(forecast, x->slot, y->slot) +
            forecast_sibling(forecast, y->slot, x->slot));
}

/* What parts lose beside each other by contend, as far as pairs tell of it; a step's own parts, and
 * where there are too many programs for a table, in two numbers each. */
static double guess_pair(const struct search *search, const struct part *x, const struct part *y)
{
    double lost = x->unit == y->unit ? NAN
                                     : forecast_pair(search->scene->packer->state->forecast,
                                                     x->stands_for, y->stands_for);

    return isnan(lost) ? x->suffers * y->presses + y->suffers * x->presses
                       : (double)x->cores * (double)y->cores * lost;
}

/* The guess: what two parts lose together on one cache, promises included. */
double search_pair(size_t a, size_t b, void *arg)
{
    const struct search *search = arg;
    const struct part *x = &search->part[a], *y = &search->part[b];
    double cores = (double)x->cores * (double)y->cores, sum;

    if (search->policy == WIRE_POLICY_CONTEND)
        sum = guess_pair(search, x, y) + guess_siblings(search, x, y);
    else if (x->unit == y->unit && !x->apart)
        sum = 0;
    else
        sum = search->scale * cores * opinion_pair(search->opinion, x->slot, y->slot);
    if ((x->isolated && y->devil) || (y->isolated && x->devil))
        sum += BROKEN * cores;
    if (x->unit == y->unit && x->word == THREADS_SPREAD)
        sum += BROKEN * cores;
    return isnan(x->limit) && isnan(y->limit) ? sum : LIMITED * sum;
}

/* ---- before the search ---- */

/* Forms the opinion of all who are in it. */
static int form_opinion(struct search *search)
{
    size_t n = 0, *slot = calloc(search->n + search->fixed + 1, sizeof(*slot));

    for (size_t p = 0; slot && p < search->n; p++)
        slot[n++] = search->part[p].slot;
    for (size_t i = 0; slot && i < search->fixed; i++)
        slot[n++] = search->core[i].slot;
    if (slot)
        search->opinion =
            opinion_form(search->scene->packer->state->forecast, search->policy, n, slot);
    free(slot);
    return search->opinion ? 0 : -1;
}

/* Finds what one part of the node's present score is as lost work. */
static void take_scale(struct search *search)
{
    size_t n = search_list(search, search->cache_of);
    double score = opinion_score(search->opinion, n, search->core);
    double lost = (double)n - forecast_work(search->scene, NULL);

    lost = fmax(isnan(lost) ? 0 : lost, PLACE_AT_STAKE * (double)n);
    search->scale = score > 0 ? lost / score : 0;
}

/* Finds what the parts suffer from others on their caches, and others from them, in two numbers
 * each: matrices of slowdowns are nearly of rank one. */
static void take_figures(struct search *search)
{
    const struct forecast *forecast = search->scene->packer->state->forecast;
    double typical = fmax(forecast_figures(forecast, FORECAST_AVERAGE).suffers, 1e-6);

    for (size_t p = 0; p < search->n; p++) {
        struct part *part = &search->part[p];
        struct forecast_figures figures = forecast_figures(forecast, part->slot);

        part->stands_for = forecast_stands_for(forecast, part->slot);
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

    if (forecast_cache(search->scene->packer->state->forecast, 0, others_gbps, 1, &core, &slowdown,
                       &gbps) < 0)
        return 0;
    return 1 - 1 / (1 + slowdown);
}

/* Returns what a core of the part loses for each unit of traffic more on its memory node, of which
 * there is so much; what was found of a part of the same slot there is said of this one, too. */
static double minds_of(const struct search *search, size_t p, double all_gbps)
{
    const struct part *part = search->part;
    double others = all_gbps - search->asks[p], more = others + 0.05 * all_gbps;
    size_t domain = search->domain[search->cache_of[p]];

    for (size_t q = 0; q < p; q++)
        if (part[q].slot == part[p].slot && search->domain[search->cache_of[q]] == domain)
            return search->minds[q] / (double)part[q].cores;
    if (!(more > others) || part[p].slot == FORECAST_IDLE)
        return 0;
    return (lost_alone(search, part[p].slot, more) - lost_alone(search, part[p].slot, others)) /
           (more - others);
}

/* Finds what each part asks of its memory node as things are, and what it loses for each unit more
 * that others ask. */
static void take_traffic(struct search *search)
{
    const struct forecast *forecast = search->scene->packer->state->forecast;
    size_t n = search_list(search, search->cache_of);
    double *sum = search->slowdown + n; /* scratch, by domain */

    if (forecast_node(forecast, 0, n, search->core, search->slowdown, NULL) < 0)
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
                search->cache_of[p] == search->core[i].cache)
                search->asks[p] = asks * (double)search->part[p].cores;
    }
    for (size_t p = 0; p < search->n; p++)
        search->minds[p] = (double)search->part[p].cores *
                           minds_of(search, p, sum[search->domain[search->cache_of[p]]]);
}

int search_judge(struct search *search)
{
    search->in_use = search_list(search, search->cache_of);
    search->before_known = false;
    if (search->opinion) /* of who is there, however they are divided */
        return 0;
    search->scale = 1;
    if (search->policy == WIRE_POLICY_CONTEND) {
        take_figures(search);
        take_traffic(search);
        return 0;
    }
    if (form_opinion(search) < 0)
        return -1;
    take_scale(search);
    return 0;
}
