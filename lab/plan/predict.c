/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict - see predict.h
 *
 * Groups on caches with a memory node each do not touch each other: partition.h divides these.
 * Where caches share a memory node, every group changes what all others suffer. Few units are
 * divided in every possible way then; of many, models/placing/improve.h exchanges units. */
#include "lab/plan/predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/di.h"
#include "models/placing/dio_power.h"
#include "models/placing/improve.h"
#include "packer/base/clock.h"
#include "lab/plan/observed.h"
#include "lab/plan/siblings.h"

#define DIVISIONS_MAX 2000 /* that are all looked at */
#define EXCHANGE_MAX 2000  /* units: what each two lose is kept */
#define LEAST 1e-9         /* cores' worth of work: less is rounding */
#define BROKEN 1e5         /* the same, of two threads on one cache that are to be spread */
#define TIE 1e-6           /* the same, of a division as uneven as DI's: decides between equals */

/* ---- what is predicted ---- */

/* Returns what a unit has of its app's cores where `here` of these are on its cache. Where nothing
 * is known all is taken for shared: nothing is divided on hope. */
static struct contend_apart apart_of(const struct ctl_plan *plan, size_t unit, size_t here)
{
    const struct app *app = &plan->apps.app[plan->unit[unit].app];
    double shared = isnan(app->shared) ? 1 : app->shared;

    if (!ctl_plan_divisible(plan, plan->unit[unit].app))
        return (struct contend_apart){0};
    return (struct contend_apart){.lost = shared * app_far(app->cores, here),
                                  .crowd = app_crowd(shared, here)};
}

static void correct_group(const struct ctl_plan *plan, size_t n, const size_t *member,
                          double *slowdown)
{
    double error[CONTEND_GROUP_MAX];

    if (plan->evidence)
        ctl_observed_correct(plan->evidence, plan->contend, plan->unit_app, n, member, slowdown,
                             error);
}

void ctl_plan_beside(const struct ctl_plan *plan, size_t n, const size_t *member, double *slowdown)
{
    struct contend_apart apart[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < n && i < CONTEND_GROUP_MAX; i++) {
        size_t here = 0;

        for (size_t j = 0; j < n; j++)
            here += plan->unit[member[j]].app == plan->unit[member[i]].app
                        ? plan->unit_cores[member[j]]
                        : 0;
        apart[i] = apart_of(plan, member[i], here);
    }
    contend_cache(plan->contend, 0, n, member, apart, slowdown, NULL);
    correct_group(plan, n, member, slowdown);
    ctl_plan_share_cores(plan, n, member, slowdown);
}

double ctl_plan_broken(const struct ctl_plan *plan, size_t n, const size_t *member)
{
    double pairs = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; plan->apps.app[plan->unit[member[i]].app].threads == APP_SPREAD && j < i;
             j++)
            pairs += plan->unit[member[i]].app == plan->unit[member[j]].app;
    return BROKEN * pairs;
}

double ctl_plan_lost(const struct ctl_plan *plan, size_t n, const size_t *member,
                     const double *slowdown)
{
    double lost = 0;

    for (size_t i = 0; i < n; i++)
        lost += (double)plan->unit_cores[member[i]] * slowdown[i] / (1 + slowdown[i]);
    return lost;
}

/* Corrects the slowdowns of those who stand on one cache beside each other, and on one core. */
static void correct(const struct ctl_plan *plan, const size_t *cache, size_t at, double *slowdown)
{
    size_t member[CONTEND_GROUP_MAX] = {0}, n = 0;
    double each[CONTEND_GROUP_MAX], error[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < plan->units && n < CONTEND_GROUP_MAX; i++)
        if (cache[i] == at) {
            each[n] = slowdown[i];
            member[n++] = i;
        }
    if (n > 1 && plan->evidence)
        ctl_observed_correct(plan->evidence, plan->contend, plan->unit_app, n, member, each, error);
    ctl_plan_share_cores(plan, n, member, each);
    for (size_t i = 0; i < n; i++)
        slowdown[member[i]] = each[i];
}

/* Returns the cores of a unit's app that are on its cache. */
static size_t cores_there(const struct ctl_plan *plan, const size_t *cache, size_t unit)
{
    size_t app = plan->unit[unit].app, here = 0, first = unit;

    while (first > 0 && plan->unit[first - 1].app == app)
        first--;
    for (size_t i = first; i < plan->units && plan->unit[i].app == app; i++)
        here += cache[i] == cache[unit] ? plan->unit_cores[i] : 0;
    return here;
}

int ctl_plan_predict(const struct ctl_plan *plan, const size_t *cache, double *slowdown)
{
    struct contend_stand *stand = calloc(plan->units, sizeof(*stand));
    int rc = -1;

    for (size_t i = 0; stand && i < plan->units; i++)
        stand[i] = (struct contend_stand){i, cache[i], plan->memory[cache[i]],
                                          apart_of(plan, i, cores_there(plan, cache, i))};
    if (stand)
        rc = contend_node(plan->contend, plan->units, stand, slowdown);
    for (size_t i = 0;
         rc >= 0 && (plan->evidence || plan->topo->split) && i < plan->tree.level[TOPO_CACHE].count;
         i++)
        correct(plan, cache, i, slowdown);
    free(stand);
    return rc < 0 ? -1 : 0;
}

/* ---- the search ---- */

bool ctl_plan_limit_is_over(void *arg)
{
    const struct ctl_plan_limit *limit = arg;

    return limit->looks >= limit->most || (limit->end_s < INFINITY && clock_s() >= limit->end_s);
}

/* What a search has to hand. */
struct search {
    const struct ctl_plan *plan;
    struct ctl_plan_limit *limit;
    double *slowdown;             /* [units] */
    double *pair;                 /* [units * units] what two kinds lose together; NAN: not asked */
    size_t *all;                  /* [units] their indices */
    size_t *used, *cache, *found; /* [caches] cores in use; [units] a division, and the best one */
    size_t divisions;
    double least;
    double by_di;    /* DI's measure of its own division */
    bool refused;    /* one was better, and less even than that */
    double *press;   /* [2 * caches + packages] scratch */
    size_t *domain;  /* [caches] the first cache of its memory node */
    size_t *package; /* [caches] */
};

static int search_open(struct search *search, const struct ctl_plan *plan,
                       struct ctl_plan_limit *limit)
{
    size_t caches = plan->tree.level[TOPO_CACHE].count;

    *search = (struct search){.plan = plan, .limit = limit, .least = INFINITY};
    search->slowdown = calloc(plan->units, sizeof(*search->slowdown));
    search->all = calloc(plan->units, sizeof(*search->all));
    search->used = calloc(plan->tree.level[TOPO_CACHE].count, sizeof(*search->used));
    search->cache = calloc(plan->units, sizeof(*search->cache));
    search->found = calloc(plan->units, sizeof(*search->found));
    search->domain = calloc(2 * caches, sizeof(*search->domain));
    search->press =
        calloc(2 * caches + plan->tree.level[TOPO_PACKAGE].count, sizeof(*search->press));
    if (!search->slowdown || !search->all || !search->used || !search->cache || !search->found ||
        !search->domain || !search->press)
        return -1;
    for (size_t i = 0; i < plan->units; i++)
        search->all[i] = i;
    search->package = search->domain + caches;
    for (size_t i = 0; i < caches; i++) {
        search->package[i] = plan->tree.parent[TOPO_MEMORY][plan->tree.parent[TOPO_CACHE][i]];
        while (plan->memory[search->domain[i]] != plan->memory[i])
            search->domain[i]++;
    }
    return 0;
}

static void search_close(struct search *search)
{
    free(search->slowdown);
    free(search->all);
    free(search->used);
    free(search->cache);
    free(search->found);
    free(search->domain);
    free(search->press);
}

/* Returns what comes to it for threads that are to be spread. */
static double broken(const struct search *search, const size_t *cache)
{
    const struct ctl_plan *plan = search->plan;
    double pairs = 0;

    for (size_t i = 0; i < plan->units; i++)
        for (size_t j = i + 1; plan->apps.app[plan->unit[i].app].threads == APP_SPREAD &&
                               j < plan->units && plan->unit[j].app == plan->unit[i].app;
             j++)
            pairs += cache[i] == cache[j];
    return BROKEN * pairs;
}

/* Returns DI's measure of the devils' cores in a division. */
static double uneven(const struct search *search, const size_t *at)
{
    const struct ctl_plan *plan = search->plan;
    size_t caches = plan->tree.level[TOPO_CACHE].count;

    memset(search->press, 0, caches * sizeof(*search->press));
    for (size_t i = 0; i < plan->units; i++) {
        double rate = ctl_plan_rank(plan, plan->unit[i].app);

        if (rate >= DIO_POWER_DEVIL_MISS_PMI)
            search->press[at[i]] += rate * (double)plan->unit_cores[i];
    }
    return di_uneven(caches, plan->tree.level[TOPO_PACKAGE].count, search->domain, search->package,
                     search->press);
}

static bool is_even(const struct search *search, const size_t *cache)
{
    return !search->plan->assumed || uneven(search, cache) <= search->by_di * (1 + LEAST);
}

/* Returns the work that is lost by a division. When time is up none is good any more. */
static double lost(const struct search *search, const size_t *cache)
{
    search->limit->looks += search->plan->units;
    if (ctl_plan_limit_is_over(search->limit) ||
        ctl_plan_predict(search->plan, cache, search->slowdown) < 0)
        return INFINITY;
    return ctl_plan_lost(search->plan, search->plan->units, search->all, search->slowdown) +
           broken(search, cache) +
           (search->by_di > 0 ? TIE * uneven(search, cache) / search->by_di : 0);
}

static void keep(struct search *search, const size_t *cache)
{
    double now = lost(search, cache);

    if (!(now < search->least - LEAST))
        return;
    if (!is_even(search, cache)) {
        search->refused = true;
        return;
    }
    search->least = now;
    memcpy(search->found, cache, search->plan->units * sizeof(*cache));
}

/* Is the cache the first of those empty ones that make no difference? */
static bool is_first(const struct search *search, size_t cache)
{
    const struct ctl_plan *plan = search->plan;

    for (size_t i = 0; i < cache && search->used[cache] == 0; i++)
        if (search->used[i] == 0 && plan->memory[i] == plan->memory[cache] &&
            search->package[i] == search->package[cache] && plan->room[i] == plan->room[cache])
            return false;
    return true;
}

/* Goes through the divisions of the units from `unit` on; `look`: keeps the best one, else counts
 * them. */
static void divide_all(struct search *search, size_t unit, bool look)
{
    const struct ctl_plan *plan = search->plan;

    if (unit == plan->units) {
        search->divisions++;
        if (look)
            keep(search, search->cache);
        return;
    }
    for (size_t i = 0; i < plan->tree.level[TOPO_CACHE].count; i++) {
        if (search->divisions > DIVISIONS_MAX)
            return;
        if (search->used[i] + plan->unit_cores[unit] > plan->room[i] || !is_first(search, i))
            continue;
        search->used[i] += plan->unit_cores[unit];
        search->cache[unit] = i;
        divide_all(search, unit + 1, look);
        search->used[i] -= plan->unit_cores[unit];
    }
}

/* What two units lose beside each other on one cache. */
static double lost_pair(size_t a, size_t b, void *arg)
{
    const struct search *search = arg;
    const struct ctl_plan *plan = search->plan;
    size_t member[2] = {plan->unit_kind[a], plan->unit_kind[b]};
    double *both = &search->pair[member[0] * plan->units + member[1]], slowdown[2];

    if (isnan(*both)) {
        contend_group(plan->contend, 2, member, slowdown);
        correct_group(plan, 2, member, slowdown);
        *both = search->pair[member[1] * plan->units + member[0]] =
            ctl_plan_lost(plan, 2, member, slowdown);
    }
    return *both;
}

static double lost_node(const size_t *cache, const size_t *touched, size_t n, void *arg)
{
    const struct search *search = arg;

    (void)touched;
    (void)n;
    return lost(search, cache) + (is_even(search, cache) ? 0 : BROKEN);
}

/* Exchanges units, from a division on. */
static int exchange(struct search *search, const size_t *start)
{
    const struct ctl_plan *plan = search->plan;
    struct improve problem = {.n = plan->units,
                              .cores = plan->unit_cores,
                              .kind = plan->unit_kind,
                              .caches = plan->tree.level[TOPO_CACHE].count,
                              .room = plan->room,
                              .domain = search->domain,
                              .horizon = 1,
                              .pair = lost_pair,
                              .lost = lost_node,
                              .arg = search};
    struct improve_found found;

    memcpy(search->cache, start, plan->units * sizeof(*start));
    if (improve_solve(&problem, search->cache, &found) < 0)
        return -1;
    keep(search, search->cache);
    return 0;
}

/* Begins at the division that there is, and at DI's. */
static int search_far(struct search *search, const size_t *cache, const size_t *by_di)
{
    const struct ctl_plan *plan = search->plan;
    int rc = -1;

    search->pair = malloc(plan->units * plan->units * sizeof(*search->pair));
    for (size_t i = 0; search->pair && i < plan->units * plan->units; i++)
        search->pair[i] = NAN;
    if (search->pair)
        rc = exchange(search, cache);
    if (rc == 0)
        rc = exchange(search, by_di);
    free(search->pair);
    return rc;
}

int ctl_plan_improve(const struct ctl_plan *plan, struct ctl_plan_limit *limit, size_t *cache,
                     bool *best)
{
    size_t *by_di = calloc(plan->units, sizeof(*by_di));
    struct search search;
    int rc = search_open(&search, plan, limit);

    if (!by_di)
        rc = -1;
    if (rc == 0) {
        for (size_t i = 0; i < plan->units; i++)
            by_di[i] = plan->tree.parent[TOPO_CORE][plan->by_di[plan->unit[i].first]];
        search.by_di = uneven(&search, by_di);
        divide_all(&search, 0, false);
        *best = search.divisions <= DIVISIONS_MAX;
        search.divisions = 0;
        keep(&search, cache);
        keep(&search, by_di);
        if (*best)
            divide_all(&search, 0, true);
        else if (plan->units <= EXCHANGE_MAX)
            rc = search_far(&search, cache, by_di);
        *best = *best && !search.refused && !ctl_plan_limit_is_over(limit);
    }
    free(by_di);
    if (rc == 0 && search.least < INFINITY)
        memcpy(cache, search.found, plan->units * sizeof(*cache));
    search_close(&search);
    return rc;
}
