/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan - see plan/search.h
 *
 * A group's cost may take microseconds to find, and the search asks for the same groups again and
 * again: they are remembered under the sum of random numbers of their members' kinds. Two groups
 * with the same sum of 64 bits do not happen (2^-26 for a full memory). Where the cost is more than
 * that of the pairs, the search first goes by the pairs alone, which takes no time, and then on
 * from there. */
#include "packer/cli/plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/partition/matching.h"

#define MEMORY_SLOTS (1u << 20) /* groups remembered: half of that */
#define PATIENCE 60             /* disturbances that may be in vain, one after another */
#define GAIN 1e-9               /* what counts as less */

struct memory_slot {
    uint64_t key; /* 0: free */
    double cost;
};

/* A division during the search. */
struct search {
    const struct plan_problem *problem;
    struct memory_slot *memory; /* NULL: go by pair[] */
    size_t remembered;
    double *pair;        /* [n * n] costs of pairs */
    struct timespec end; /* when time is up */
    bool late;
    uint64_t seed;
    size_t stride;          /* most members of a cache */
    size_t *cache, *slot;   /* [n] where each program is */
    size_t *member, *count; /* [caches * stride], [caches] */
    size_t *free;           /* [caches] cores without a program */
    size_t *tried;          /* [2 * stride] members of two caches while they change places */
    double *cost;           /* [caches] */
    size_t *changed, *seen; /* [caches], [caches * caches]: is there anything new to try */
    size_t changes;
};

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t draw(struct search *search, size_t below)
{
    return (size_t)(mix(search->seed++) % below);
}

static bool time_is_up(struct search *search)
{
    struct timespec now;

    if (search->late)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    search->late = now.tv_sec > search->end.tv_sec ||
                   (now.tv_sec == search->end.tv_sec && now.tv_nsec >= search->end.tv_nsec);
    return search->late;
}

/* ---- the cost of a group ---- */

static double pairs_cost(const struct search *search, size_t n, const size_t *member)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += search->pair[member[i] * search->problem->n + member[j]];
    return sum;
}

static double group_cost(struct search *search, size_t n, const size_t *member)
{
    const struct plan_problem *problem = search->problem;
    uint64_t key = 0;
    size_t slot;
    double cost;

    if (n == 0)
        return 0;
    if (!search->memory)
        return pairs_cost(search, n, member);
    for (size_t i = 0; i < n; i++)
        key += mix(problem->kind[member[i]]);
    key += key == 0;
    for (slot = key % MEMORY_SLOTS; search->memory[slot].key; slot = (slot + 1) % MEMORY_SLOTS)
        if (search->memory[slot].key == key)
            return search->memory[slot].cost;
    cost = problem->cost(problem->context, n, member);
    if (search->remembered < MEMORY_SLOTS / 2) {
        search->memory[slot] = (struct memory_slot){key, cost};
        search->remembered++;
    }
    return cost;
}

double plan_cost(const struct plan_problem *problem, const size_t *cache)
{
    size_t *member = calloc(problem->n + 1, sizeof(*member)), n;
    double sum = member ? 0 : NAN;

    for (size_t i = 0; member && i < problem->caches; i++) {
        n = 0;
        for (size_t j = 0; j < problem->n; j++)
            if (cache[j] == i)
                member[n++] = j;
        sum += n > 0 ? problem->cost(problem->context, n, member) : 0;
    }
    free(member);
    return sum;
}

/* Costs of all pairs; of some, where time is up: no search will follow. */
static void fill_pairs(struct search *search, bool whole)
{
    const struct plan_problem *problem = search->problem;

    for (size_t i = 0; i < problem->n && (whole || !time_is_up(search)); i++)
        for (size_t j = 0; j < i; j++) {
            const size_t member[2] = {i, j};

            search->pair[i * problem->n + j] = search->pair[j * problem->n + i] =
                group_cost(search, 2, member);
        }
}

/* ---- two cores per cache ---- */

static bool is_matching(const struct plan_problem *problem)
{
    for (size_t i = 0; i < problem->caches; i++)
        if (problem->room[i] != 2)
            return false;
    for (size_t i = 0; i < problem->n; i++)
        if (problem->cores[i] != 1)
            return false;
    return true;
}

static int match(struct search *search, size_t *cache, double *cost)
{
    size_t n = search->problem->n, next = 0, *mate = calloc(n + 1, sizeof(*mate));
    double *suffered = calloc(n * n + 1, sizeof(*suffered)), doubled;
    int rc = -1;

    if (mate && suffered) {
        for (size_t i = 0; i < n; i++) /* each half of it; what each one costs alone is spent */
            for (size_t j = 0; j < n; j++)
                suffered[i * n + j] =
                    search->pair[i * n + j] - group_cost(search, 1, &i) - group_cost(search, 1, &j);
        rc = matching_pairs(n, suffered, search->problem->caches, mate, &doubled);
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (mate[i] >= i)
            cache[i] = cache[mate[i]] = next++;
    if (rc == 0)
        *cost = plan_cost(search->problem, cache);
    free(mate);
    free(suffered);
    return rc;
}

/* ---- a few programs: all divisions ---- */

struct divisions {
    size_t sets, caches;
    size_t cache[PLAN_EXACT_MAX]; /* the roomiest */
    size_t *cores;                /* [sets] that a set takes */
    double *cost;                 /* [sets] */
    double *best;                 /* [(caches + 1) * sets] of a set on the first so many caches */
    uint16_t *last;               /* of these, what the last one has */
};

/* As many of the roomiest caches as there are programs: more are of no use. */
static void choose_caches(struct divisions *all, const struct plan_problem *problem)
{
    for (size_t i = 0; i < problem->caches; i++) {
        size_t at = all->caches;

        while (at > 0 && problem->room[all->cache[at - 1]] < problem->room[i])
            at--;
        if (at == problem->n)
            continue;
        if (all->caches < problem->n)
            all->caches++;
        memmove(&all->cache[at + 1], &all->cache[at],
                (all->caches - at - 1) * sizeof(all->cache[0]));
        all->cache[at] = i;
    }
}

/* Cost of each set that fits a cache; false when time is up. */
static bool cost_sets(struct search *search, struct divisions *all)
{
    const struct plan_problem *problem = search->problem;

    for (size_t set = 1; set < all->sets; set++) {
        size_t member[PLAN_EXACT_MAX], n = 0;

        for (size_t i = 0; i < problem->n; i++)
            if (set >> i & 1) {
                member[n++] = i;
                all->cores[set] += problem->cores[i];
            }
        if (all->cores[set] > problem->room[all->cache[0]])
            continue;
        if (time_is_up(search))
            return false;
        all->cost[set] = group_cost(search, n, member);
    }
    return true;
}

static void divide(struct divisions *all, const struct plan_problem *problem)
{
    for (size_t i = 1; i < all->sets; i++)
        all->best[i] = INFINITY;
    for (size_t k = 0; k < all->caches; k++) {
        const double *before = &all->best[k * all->sets];
        double *after = &all->best[(k + 1) * all->sets];

        for (size_t set = 0; set < all->sets; set++) {
            size_t part = set;

            after[set] = before[set];
            for (; part > 0; part = (part - 1) & set)
                if (all->cores[part] <= problem->room[all->cache[k]] &&
                    before[set ^ part] + all->cost[part] < after[set] - GAIN) {
                    after[set] = before[set ^ part] + all->cost[part];
                    all->last[(k + 1) * all->sets + set] = (uint16_t)part;
                }
        }
    }
}

static int divide_exactly(struct search *search, size_t *cache, struct plan_result *result)
{
    const struct plan_problem *problem = search->problem;
    struct divisions all = {.sets = (size_t)1 << problem->n};
    size_t set = all.sets - 1;
    int rc = -1;

    choose_caches(&all, problem);
    all.cores = calloc(all.sets, sizeof(*all.cores));
    all.cost = calloc(all.sets, sizeof(*all.cost));
    all.best = calloc(all.sets * (all.caches + 1), sizeof(*all.best));
    all.last = calloc(all.sets * (all.caches + 1), sizeof(*all.last));
    if (all.cores && all.cost && all.best && all.last) {
        rc = 0;
        result->exact = cost_sets(search, &all);
    }
    if (result->exact) {
        divide(&all, problem);
        for (size_t k = all.caches; k > 0; k--) {
            size_t part = all.last[k * all.sets + set];

            for (size_t i = 0; i < problem->n; i++)
                if (part >> i & 1)
                    cache[i] = all.cache[k - 1];
            set ^= part;
        }
        result->cost = all.best[all.caches * all.sets + all.sets - 1];
    }
    free(all.cores);
    free(all.cost);
    free(all.best);
    free(all.last);
    return rc;
}

/* ---- many programs: exchanges and moves ---- */

static size_t *members(struct search *search, size_t cache)
{
    return &search->member[cache * search->stride];
}

static void add(struct search *search, size_t program, size_t cache)
{
    search->slot[program] = search->count[cache]++;
    members(search, cache)[search->slot[program]] = program;
    search->cache[program] = cache;
    search->free[cache] -= search->problem->cores[program];
}

static void drop(struct search *search, size_t program)
{
    size_t cache = search->cache[program], *member = members(search, cache);
    size_t last = member[--search->count[cache]];

    member[search->slot[program]] = last;
    search->slot[last] = search->slot[program];
    search->free[cache] += search->problem->cores[program];
}

/* Begin with that division. */
static void begin(struct search *search, const size_t *cache)
{
    const struct plan_problem *problem = search->problem;

    memcpy(search->free, problem->room, problem->caches * sizeof(*search->free));
    memset(search->count, 0, problem->caches * sizeof(*search->count));
    for (size_t i = 0; i < problem->n; i++)
        add(search, i, cache[i]);
    for (size_t i = 0; i < problem->caches; i++) {
        search->cost[i] = group_cost(search, search->count[i], members(search, i));
        search->changed[i] = ++search->changes;
    }
}

static double total(const struct search *search)
{
    double sum = 0;

    for (size_t i = 0; i < search->problem->caches; i++)
        sum += search->cost[i];
    return sum;
}

static void recost(struct search *search, size_t cache)
{
    search->cost[cache] = group_cost(search, search->count[cache], members(search, cache));
    search->changed[cache] = ++search->changes;
}

/* Let two programs change places (b: one past the last for none: move a to `to`) where they fit. */
static bool swap(struct search *search, size_t a, size_t b, size_t to)
{
    const struct plan_problem *problem = search->problem;
    size_t from = search->cache[a], back = b < problem->n ? problem->cores[b] : 0;

    if (search->free[to] + back < problem->cores[a] ||
        search->free[from] + problem->cores[a] < back)
        return false;
    drop(search, a);
    if (back)
        drop(search, b);
    add(search, a, to);
    if (back)
        add(search, b, from);
    return true;
}

/* The same if it costs less. */
static bool improve(struct search *search, size_t a, size_t b, size_t to)
{
    size_t from = search->cache[a];
    double was = search->cost[from] + search->cost[to], here, there;
    bool pair = b < search->problem->n;

    if ((pair && search->problem->kind[a] == search->problem->kind[b]) || !swap(search, a, b, to))
        return false;
    here = group_cost(search, search->count[from], members(search, from));
    there = group_cost(search, search->count[to], members(search, to));
    if (here + there < was - GAIN) {
        recost(search, from);
        recost(search, to);
        return true;
    }
    if (pair)
        swap(search, b, a, to);
    else
        swap(search, a, b, from);
    return false;
}

/* Try all exchanges and moves between two caches until one helps. What does not help is undone, but
 * in another order: hence the copies. */
static bool improve_two(struct search *search, size_t x, size_t y)
{
    size_t none = search->problem->n, here = search->count[x], there = search->count[y];
    size_t *a = search->tried, *b = search->tried + search->stride;

    memcpy(a, members(search, x), here * sizeof(*a));
    memcpy(b, members(search, y), there * sizeof(*b));
    for (size_t i = 0; i < here && !time_is_up(search); i++) {
        if (improve(search, a[i], none, y))
            return true;
        for (size_t j = 0; j < there; j++)
            if (improve(search, a[i], b[j], y))
                return true;
    }
    for (size_t j = 0; j < there && !time_is_up(search); j++)
        if (improve(search, b[j], none, x))
            return true;
    return false;
}

/* Down to where no exchange and no move helps, or time is up. */
static void descend(struct search *search)
{
    size_t caches = search->problem->caches;
    bool better = true;

    while (better) {
        better = false;
        for (size_t x = 0; x < caches; x++)
            for (size_t y = 0; y < x; y++) {
                size_t *seen = &search->seen[x * caches + y];

                if (*seen >= search->changed[x] && *seen >= search->changed[y])
                    continue;
                while (!time_is_up(search) && improve_two(search, x, y))
                    better = true;
                if (time_is_up(search))
                    return;
                *seen = search->changes;
            }
    }
}

/* Exchange some programs at random. */
static void disturb(struct search *search)
{
    size_t n = search->problem->n;

    for (size_t i = 0; i < 3; i++) {
        size_t a = draw(search, n), b = draw(search, n);
        size_t from = search->cache[a], to = search->cache[b];

        if (from != to && swap(search, a, b, to)) {
            recost(search, from);
            recost(search, to);
        }
    }
}

/* Nothing is new from here on (or everything, before the first change). */
static void see_all(struct search *search)
{
    size_t caches = search->problem->caches;

    for (size_t i = 0; i < caches * caches; i++)
        search->seen[i] = search->changes;
}

/* From cache[] to the best that is found, with that many disturbances in vain at most. */
static double wander(struct search *search, size_t *cache, int patience)
{
    size_t n = search->problem->n;
    double best;

    see_all(search);
    begin(search, cache);
    descend(search);
    best = total(search);
    memcpy(cache, search->cache, n * sizeof(*cache));
    for (int vain = 0; vain < patience && !time_is_up(search); vain++) {
        disturb(search);
        descend(search);
        if (total(search) < best - GAIN) {
            best = total(search);
            memcpy(cache, search->cache, n * sizeof(*cache));
            vain = -1;
        } else {
            begin(search, cache);
            see_all(search); /* which was as good as it gets */
        }
    }
    return best;
}

/* By pairs first, then, where that is not all, by groups; from the better start of the two. */
static int wander_all(struct search *search, size_t *cache, struct plan_result *result)
{
    const struct plan_problem *problem = search->problem;
    struct memory_slot *memory = search->memory;
    size_t *start = calloc(problem->n, sizeof(*start));

    if (!start)
        return -1;
    memcpy(start, cache, problem->n * sizeof(*start));
    search->memory = NULL;
    result->cost = wander(search, start, problem->pairwise ? PATIENCE : 0);
    search->memory = memory;
    if (!problem->pairwise) {
        if (plan_cost(problem, cache) < plan_cost(problem, start))
            memcpy(start, cache, problem->n * sizeof(*start));
        result->cost = wander(search, start, PATIENCE);
    }
    memcpy(cache, start, problem->n * sizeof(*start));
    result->cut_off = search->late;
    free(start);
    return 0;
}

/* ---- the search ---- */

static int allocate(struct search *search)
{
    const struct plan_problem *problem = search->problem;
    size_t n = problem->n, caches = problem->caches;

    for (size_t i = 0; i < caches; i++)
        if (problem->room[i] > search->stride)
            search->stride = problem->room[i];
    search->memory = calloc(MEMORY_SLOTS, sizeof(*search->memory));
    search->pair = calloc(n * n + 1, sizeof(*search->pair));
    search->cache = calloc(n + 1, sizeof(*search->cache));
    search->slot = calloc(n + 1, sizeof(*search->slot));
    search->member = calloc(caches * (search->stride + 1), sizeof(*search->member));
    search->count = calloc(caches, sizeof(*search->count));
    search->free = calloc(caches, sizeof(*search->free));
    search->tried = calloc(2 * search->stride + 1, sizeof(*search->tried));
    search->cost = calloc(caches, sizeof(*search->cost));
    search->changed = calloc(caches, sizeof(*search->changed));
    search->seen = calloc(caches * caches, sizeof(*search->seen));
    return search->memory && search->pair && search->cache && search->slot && search->member &&
                   search->count && search->free && search->tried && search->cost &&
                   search->changed && search->seen
               ? 0
               : -1;
}

static void release(struct search *search)
{
    free(search->memory);
    free(search->pair);
    free(search->cache);
    free(search->slot);
    free(search->member);
    free(search->count);
    free(search->free);
    free(search->tried);
    free(search->cost);
    free(search->changed);
    free(search->seen);
}

static void set_end(struct search *search, double limit_s)
{
    double ns = fmod(limit_s, 1) * 1e9;

    clock_gettime(CLOCK_MONOTONIC, &search->end);
    search->end.tv_sec += (time_t)limit_s;
    search->end.tv_nsec += (long)ns;
    if (search->end.tv_nsec >= 1000000000) {
        search->end.tv_nsec -= 1000000000;
        search->end.tv_sec++;
    }
}

int plan_search(const struct plan_problem *problem, double limit_s, size_t *cache,
                struct plan_result *result)
{
    struct search search = {.problem = problem};
    int rc = 0;

    *result = (struct plan_result){0};
    set_end(&search, limit_s);
    if (problem->n == 0)
        return 0;
    if (allocate(&search) < 0) {
        rc = -1;
    } else if (is_matching(problem)) {
        fill_pairs(&search, true);
        rc = match(&search, cache, &result->cost);
        result->exact = rc == 0;
    } else {
        if (problem->n <= PLAN_EXACT_MAX)
            rc = divide_exactly(&search, cache, result);
        if (rc == 0 && !result->exact) {
            fill_pairs(&search, false);
            rc = wander_all(&search, cache, result);
        }
    }
    release(&search);
    return rc;
}
