/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/improve_guess.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12 /* of sums, as a part of them */

void guess_free(struct guess *guess)
{
    free(guess->cache_of);
    free(guess->used);
    free(guess->first);
    free(guess->member);
    free(guess->own);
    free(guess->beside);
    free(guess->closest);
    free(guess->asks);
}

static int guess_alloc(struct guess *guess, size_t n, size_t caches)
{
    guess->cache_of = calloc(n + 1, sizeof(*guess->cache_of));
    guess->used = calloc(caches + 1, sizeof(*guess->used));
    guess->first = calloc(caches + 2, sizeof(*guess->first));
    guess->member = calloc(n + 1, sizeof(*guess->member));
    guess->own = calloc(n + 1, sizeof(*guess->own));
    guess->beside = calloc(n * caches + 1, sizeof(*guess->beside));
    guess->closest = calloc(n * caches + 1, sizeof(*guess->closest));
    guess->asks = calloc(3 * caches + 1, sizeof(*guess->asks));
    if (!guess->cache_of || !guess->used || !guess->first || !guess->member || !guess->own ||
        !guess->beside || !guess->closest || !guess->asks) {
        errno = ENOMEM;
        return -1;
    }
    guess->minds = guess->asks + caches;
    guess->both = guess->minds + caches;
    return 0;
}

/* Whether everybody stands somewhere, and has his cores there. */
static bool input_valid(const struct improve *problem, const size_t *cache_of, size_t *used)
{
    for (size_t u = 0; u < problem->n; u++) {
        if (cache_of[u] >= problem->caches || problem->cores[u] == 0)
            return false;
        used[cache_of[u]] += problem->cores[u];
    }
    for (size_t c = 0; c < problem->caches; c++) {
        if (used[c] > problem->room[c] ||
            (problem->domain && problem->domain[c] >= problem->caches))
            return false;
    }
    return problem->horizon >= 0;
}

/* Returns the memory node of a cache. */
static size_t guess_domain(const struct guess *guess, size_t cache)
{
    return guess->problem->domain ? guess->problem->domain[cache] : 0;
}

/* Lists the units cache by cache. */
static void list_members(struct guess *guess)
{
    const struct improve *problem = guess->problem;
    size_t *first = guess->first;

    memset(first, 0, (problem->caches + 2) * sizeof(*first));
    for (size_t u = 0; u < problem->n; u++)
        first[guess->cache_of[u] + 2]++;
    for (size_t c = 2; c < problem->caches + 2; c++)
        first[c] += first[c - 1];
    for (size_t u = 0; u < problem->n; u++)
        guess->member[first[guess->cache_of[u] + 1]++] = u;
}

/* Adds a unit to the sums of a cache's domain, or takes it out of them (sign -1). */
static void count_in_domain(struct guess *guess, size_t unit, size_t cache, double sign)
{
    const struct improve *problem = guess->problem;
    size_t domain = guess_domain(guess, cache);

    if (!problem->asks)
        return;
    guess->asks[domain] += sign * problem->asks[unit];
    guess->minds[domain] += sign * problem->minds[unit];
    guess->both[domain] += sign * problem->asks[unit] * problem->minds[unit];
}

double guess_sum(struct guess *guess, size_t unit, size_t cache)
{
    const struct improve *problem = guess->problem;
    double *kept = guess_kept(guess, unit, cache), sum = 0, closest = 0;

    for (size_t i = guess->first[cache]; i < guess->first[cache + 1]; i++) {
        size_t member = guess->member[i];
        double pair = member == unit ? 0 : problem->pair(unit, member, problem->arg);

        sum += pair;
        closest = pair > closest ? pair : closest;
    }
    if (guess->cache_of[unit] != cache)
        guess->closest[guess_at(guess, unit, cache)] = closest;
    return *kept = sum;
}

/* Forgets the sums for a cache: its members have changed. */
static void forget_beside(struct guess *guess, size_t cache)
{
    for (size_t u = 0; u < guess->problem->n; u++) {
        guess->beside[u * guess->problem->caches + cache] = NAN;
        if (guess->cache_of[u] == cache)
            guess->own[u] = NAN;
    }
}

/* Returns by how much a sum differs between domains. */
static double spread(const struct guess *guess, const double *sum)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t c = 0; c < guess->problem->caches; c++) {
        least = fmin(least, sum[guess_domain(guess, c)]);
        most = fmax(most, sum[guess_domain(guess, c)]);
    }
    return most - least;
}

static void take_spreads(struct guess *guess)
{
    guess->asks_off = spread(guess, guess->asks);
    guess->minds_off = spread(guess, guess->minds);
}

int guess_init(struct guess *guess, const struct improve *problem, const size_t *cache_of)
{
    *guess = (struct guess){.problem = problem};
    if (guess_alloc(guess, problem->n, problem->caches) < 0)
        return -1;
    if (!input_valid(problem, cache_of, guess->used)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(guess->cache_of, cache_of, problem->n * sizeof(*cache_of));
    for (size_t u = 0; u < problem->n; u++)
        count_in_domain(guess, u, cache_of[u], 1);
    for (size_t u = 0; problem->asks && u < problem->n; u++) {
        guess->asks_most = fmax(guess->asks_most, problem->asks[u]);
        guess->minds_most = fmax(guess->minds_most, problem->minds[u]);
    }
    take_spreads(guess);
    for (size_t c = 0; c < problem->caches; c++)
        forget_beside(guess, c);
    list_members(guess);
    return 0;
}

bool guess_fits(const struct guess *guess, const struct guess_change *change)
{
    const struct improve *problem = guess->problem;

    for (size_t i = 0; i < change->n; i++) {
        size_t cache = change->move[i].to, used = guess->used[cache], left = 0;

        for (size_t j = 0; j < change->n; j++) {
            size_t unit = change->move[j].unit;

            used += change->move[j].to == cache ? problem->cores[unit] : 0;
            left += guess->cache_of[unit] == cache ? problem->cores[unit] : 0;
        }
        if (used - left > problem->room[cache])
            return false;
    }
    return true;
}

/* Returns what is lost more on the caches. A pair of units that both move is in no sum as it will
 * be: it is taken out as the sums have it, and counted as it will be. */
static double more_beside(struct guess *guess, const struct guess_change *change)
{
    const struct improve *problem = guess->problem;
    double more = 0;

    for (size_t i = 0; i < change->n; i++) {
        size_t u = change->move[i].unit, to = change->move[i].to, from = guess->cache_of[u];

        more += guess_beside(guess, u, to) - guess_beside(guess, u, from);
        for (size_t j = 0; j < i; j++) {
            size_t v = change->move[j].unit, v_to = change->move[j].to, at = guess->cache_of[v];
            int counted = (at == to) - (at == from) + (from == v_to) - (from == at);
            int due = (to == v_to) - (from == at);

            if (counted != due)
                more += (due - counted) * problem->pair(u, v, problem->arg);
        }
    }
    return more;
}

/* How the sums of a domain change. */
struct shift {
    size_t domain;
    double asks, minds, both;
};

/* Adds a unit to what changes in a domain, or takes it out of it (sign -1). */
static void add_shift(const struct guess *guess, struct shift *shift, size_t *n, size_t domain,
                      size_t unit, double sign)
{
    double asks = sign * guess->problem->asks[unit], minds = guess->problem->minds[unit];
    size_t i = 0;

    while (i < *n && shift[i].domain != domain)
        i++;
    if (i == *n)
        shift[(*n)++] = (struct shift){.domain = domain};
    shift[i].asks += asks;
    shift[i].minds += sign * minds;
    shift[i].both += asks * minds;
}

/* Returns what is lost more by the queues of the domains. */
static double more_in_domains(const struct guess *guess, const struct guess_change *change)
{
    struct shift shift[2 * GUESS_CHANGE_MAX];
    double more = 0;
    size_t n = 0;

    for (size_t i = 0; guess->problem->asks && guess->problem->domain && i < change->n; i++) {
        size_t unit = change->move[i].unit, to = guess_domain(guess, change->move[i].to);
        size_t from = guess_domain(guess, guess->cache_of[unit]);

        if (from == to)
            continue;
        add_shift(guess, shift, &n, from, unit, -1);
        add_shift(guess, shift, &n, to, unit, 1);
    }
    for (size_t i = 0; i < n; i++) {
        double asks = guess->asks[shift[i].domain], minds = guess->minds[shift[i].domain];

        more += (asks + shift[i].asks) * (minds + shift[i].minds) - asks * minds - shift[i].both;
    }
    return more;
}

double guess_change_price(const struct guess *guess, const struct guess_change *change)
{
    double price = 0;

    for (size_t i = 0; i < change->n; i++)
        price += guess_price(guess, change->move[i].unit, change->move[i].to);
    return price;
}

double guess_at_most(struct guess *guess, const struct guess_change *change)
{
    double price = guess_change_price(guess, change), less = 0;

    if (!isfinite(price))
        return -INFINITY;
    for (size_t i = 0; i < change->n; i++) {
        size_t unit = change->move[i].unit;

        less += guess_beside(guess, unit, guess->cache_of[unit]);
    }
    return (less - more_in_domains(guess, change)) * guess->problem->horizon - price;
}

double guess_value(struct guess *guess, const struct guess_change *change)
{
    double price = guess_change_price(guess, change);

    if (!isfinite(price))
        return -INFINITY;
    return -(more_beside(guess, change) + more_in_domains(guess, change)) *
               guess->problem->horizon -
           price;
}

/* Returns what is worth nothing of an exchange whatever the pairs on the caches are: prices, and
 * what is lost more in the domains. */
static double exchange_costs(const struct guess *guess, size_t u, size_t v)
{
    const struct improve *problem = guess->problem;
    size_t here = guess->cache_of[u], there = guess->cache_of[v];
    double price = guess_price(guess, u, there) + guess_price(guess, v, here);
    size_t a = guess_domain(guess, here), b = guess_domain(guess, there);
    double asks, minds;

    if (!problem->asks || a == b)
        return price;
    asks = problem->asks[v] - problem->asks[u];
    minds = problem->minds[v] - problem->minds[u];
    return price +
           problem->horizon * (asks * (guess->minds[a] - guess->minds[b]) +
                               minds * (guess->asks[a] - guess->asks[b]) + 2 * asks * minds);
}

double guess_exchange(struct guess *guess, size_t u, size_t v, double least)
{
    const struct improve *problem = guess->problem;
    size_t here = guess->cache_of[u], there = guess->cache_of[v];
    double costs = exchange_costs(guess, u, v), own_u, own_v, more, most, pair;

    if (!isfinite(costs))
        return -INFINITY;
    own_u = guess_beside(guess, u, here);
    own_v = guess_beside(guess, v, there);
    more = guess_beside(guess, u, there) + guess_beside(guess, v, here);
    pair =
        fmin(guess->closest[guess_at(guess, u, there)], guess->closest[guess_at(guess, v, here)]);
    most = (own_u + own_v - more + 2 * pair) * problem->horizon - costs;
    if (!(most + ROUNDING * ((own_u + own_v + more) * problem->horizon + fabs(costs)) > least))
        return -INFINITY;
    more = more - own_u - own_v - 2 * problem->pair(u, v, problem->arg);
    return -more * problem->horizon - costs;
}

/* Returns what is lost less at most in the domains for the unit's part of a change. The products of
 * two units that both move, asks of the one and minds of the other, are divided between them:
 * 2 a b <= a B + A b, where A and B are the greatest. */
static double less_in_domains(const struct guess *guess, size_t unit)
{
    const struct improve *problem = guess->problem;

    if (!problem->asks || !problem->domain)
        return 0;
    return problem->asks[unit] * (guess->minds_off + guess->minds_most) +
           problem->minds[unit] * (guess->asks_off + guess->asks_most);
}

/* Where it goes to one leaves at most, the one that it minds most. */
double guess_unit_at_most(struct guess *guess, size_t unit)
{
    const struct improve *problem = guess->problem;
    size_t here = guess->cache_of[unit];
    double less = guess_beside(guess, unit, here) + less_in_domains(guess, unit);
    double most = -INFINITY;

    for (size_t c = 0; c < problem->caches; c++) {
        double price = guess_price(guess, unit, c), there, worth;

        if (c == here || price == INFINITY)
            continue;
        there = guess_beside(guess, unit, c) - guess->closest[guess_at(guess, unit, c)];
        worth = (less - there) * problem->horizon - price;
        most = worth > most ? worth : most;
    }
    return most;
}

void guess_make(struct guess *guess, const struct guess_change *change)
{
    for (size_t i = 0; i < change->n; i++) {
        size_t unit = change->move[i].unit, from = guess->cache_of[unit], to = change->move[i].to;

        forget_beside(guess, from);
        forget_beside(guess, to);
        count_in_domain(guess, unit, from, -1);
        count_in_domain(guess, unit, to, 1);
        guess->used[from] -= guess->problem->cores[unit];
        guess->used[to] += guess->problem->cores[unit];
        guess->cache_of[unit] = to;
    }
    take_spreads(guess);
    list_members(guess);
}
