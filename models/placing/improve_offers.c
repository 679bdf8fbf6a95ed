/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/improve_offers.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int offers_init(struct offers *offers, const struct improve *problem, const size_t *start)
{
    *offers = (struct offers){.problem = problem, .start = start};
    if (guess_init(&offers->guess, problem, start) < 0)
        return -1;
    offers->tries = problem->tries ? problem->tries : IMPROVE_TRIES;
    offers->away = calloc(2 * problem->n + 1, sizeof(*offers->away));
    offers->rated = calloc(2 * problem->n + 1, sizeof(*offers->rated));
    if (!offers->away || !offers->rated)
        return -1;
    offers->crowded = offers->rated + problem->n;
    return 0;
}

void offers_free(struct offers *offers)
{
    guess_free(&offers->guess);
    free(offers->away);
    free(offers->rated);
}

static size_t kind_of(const struct offers *offers, size_t unit)
{
    return offers->problem->kind ? offers->problem->kind[unit] : unit;
}

static bool is_focus(const struct offers *offers, size_t unit)
{
    return !offers->problem->focus || offers->problem->focus[unit];
}

/* Whether two changes move units of the same kinds on the same ways. */
static bool alike(const struct offers *offers, const struct guess_change *a,
                  const struct guess_change *b)
{
    const size_t *at = offers->guess.cache_of;

    if (a->n != b->n || fabs(a->value - b->value) > OFFERS_LEAST * fabs(a->value))
        return false;
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;

        for (size_t j = 0; j < b->n && !found; j++)
            found = a->move[i].to == b->move[j].to && at[a->move[i].unit] == at[b->move[j].unit] &&
                    kind_of(offers, a->move[i].unit) == kind_of(offers, b->move[j].unit);
        if (!found)
            return false;
    }
    return true;
}

/* Keeps the candidate, if it is among the best. */
static void keep(struct offers *offers, const struct guess_change *change)
{
    struct guess_change *list = offers->best;
    size_t i;

    for (size_t j = 0; j < offers->nbest; j++)
        if (alike(offers, &list[j], change))
            return;
    offers->nbest += offers->nbest < offers->tries;
    for (i = offers->nbest - 1; i > 0 && list[i - 1].value < change->value; i--)
        list[i] = list[i - 1];
    list[i] = *change;
}

/* Returns what a candidate has to be worth more than to be kept. */
static double least_kept(const struct offers *offers)
{
    return offers->nbest < offers->tries ? -INFINITY : offers->best[offers->tries - 1].value;
}

/* Whether a candidate of that value would be kept. */
static bool is_good(const struct offers *offers, double value)
{
    return value > least_kept(offers);
}

static void keep_ring(struct offers *offers, double value, size_t u, size_t v)
{
    size_t i = offers->nring;

    if (!(value > -INFINITY) ||
        (i == OFFERS_RINGS && value <= offers->ring[OFFERS_RINGS - 1].value))
        return;
    if (offers->nring < OFFERS_RINGS)
        offers->nring++;
    else
        i--;
    for (; i > 0 && offers->ring[i - 1].value < value; i--)
        offers->ring[i] = offers->ring[i - 1];
    offers->ring[i] = (struct offers_ring){value, u, v};
}

size_t offers_moved_after(const struct offers *offers, const struct guess_change *change)
{
    size_t moved = offers->moved;

    for (size_t i = 0; i < change->n; i++) {
        size_t unit = change->move[i].unit;

        moved += change->move[i].to != offers->start[unit];
        moved -= offers->guess.cache_of[unit] != offers->start[unit];
    }
    return moved;
}

/* Whether units that change places are more than may end elsewhere than they began. */
static bool exceeds(const struct offers *offers, size_t u, size_t v)
{
    const size_t *at = offers->guess.cache_of, *start = offers->start;
    size_t most = offers->problem->moves_max, moved = offers->moved;

    moved += (at[v] != start[u]) + (at[u] != start[v]);
    return most && moved > most + (at[u] != start[u]) + (at[v] != start[v]);
}

static void offer(struct offers *offers, struct guess_change *change)
{
    size_t most = offers->problem->moves_max;

    if (most && offers_moved_after(offers, change) > most)
        return;
    if (!is_good(offers, guess_at_most(&offers->guess, change)))
        return;
    change->value = guess_value(&offers->guess, change);
    if (is_good(offers, change->value) && guess_fits(&offers->guess, change))
        keep(offers, change);
}

static void add_move(struct guess_change *change, size_t unit, size_t to)
{
    change->move[change->n].unit = unit;
    change->move[change->n++].to = to;
}

static size_t free_cores(const struct offers *offers, size_t cache)
{
    return offers->problem->room[cache] - offers->guess.used[cache];
}

/* Finds the two caches with free cores where the unit loses least by the guess. */
static void find_away(struct offers *offers, size_t unit)
{
    const struct improve *problem = offers->problem;
    struct offers_away *best = &offers->away[2 * unit];
    struct guess_change change;

    best[0] = best[1] = (struct offers_away){-INFINITY, problem->caches};
    change.n = 0;
    add_move(&change, unit, 0);
    for (size_t c = 0; c < problem->caches; c++) {
        struct offers_away away = {-INFINITY, c};

        if (c == offers->guess.cache_of[unit] || free_cores(offers, c) < problem->cores[unit])
            continue;
        change.move[0].to = c;
        away.value = guess_value(&offers->guess, &change);
        if (away.value > best[0].value) {
            best[1] = best[0];
            best[0] = away;
        } else if (away.value > best[1].value) {
            best[1] = away;
        }
    }
}

/* Offers that u takes v's place, which goes to a free core elsewhere. */
static void offer_chain(struct offers *offers, size_t u, size_t v)
{
    const size_t *at = offers->guess.cache_of;
    const struct offers_away *best = &offers->away[2 * v];
    size_t away = best[best[0].cache == at[u]].cache;
    struct guess_change change;

    if (away == offers->problem->caches)
        return;
    change.n = 0;
    add_move(&change, u, at[v]);
    add_move(&change, v, away);
    offer(offers, &change);
}

/* Notes how good it would be for u and those about it that it takes v's place if v vanished. */
static void begin_ring(struct offers *offers, size_t u, size_t v)
{
    struct guess *guess = &offers->guess;
    size_t here = guess->cache_of[u], there = guess->cache_of[v];
    double horizon = offers->problem->horizon, price = guess_price(guess, u, there), less;

    if (offers->nring == OFFERS_RINGS &&
        (guess_beside(guess, u, here) + guess_beside(guess, v, there)) * horizon - price <=
            offers->ring[OFFERS_RINGS - 1].value)
        return; /* whatever the pair is: it is a part of what u loses there */
    less = guess_beside(guess, u, here) - guess_beside(guess, u, there) +
           guess_beside(guess, v, there) + offers->problem->pair(u, v, offers->problem->arg);

    keep_ring(offers, less * horizon - price, u, v);
}

/* Offers that u and v change places. */
static void offer_exchange(struct offers *offers, size_t u, size_t v)
{
    const size_t *at = offers->guess.cache_of;
    struct guess_change change;

    if (exceeds(offers, u, v) ||
        !is_good(offers, guess_exchange(&offers->guess, u, v, least_kept(offers))))
        return;
    change.n = 0;
    add_move(&change, u, at[v]);
    add_move(&change, v, at[u]);
    offer(offers, &change);
}

/* Adds the member of the cache that best goes to `to` and is not in the change yet. Returns false
 * where all are. */
static bool add_ejected(struct offers *offers, size_t cache, size_t to, struct guess_change *change)
{
    struct guess *guess = &offers->guess;
    size_t best = SIZE_MAX;
    double least = INFINITY;

    for (size_t i = guess->first[cache]; i < guess->first[cache + 1]; i++) {
        size_t v = guess->member[i];
        double more = (guess_beside(guess, v, to) - guess_beside(guess, v, cache)) /
                      (double)offers->problem->cores[v];
        bool there = false;

        for (size_t j = 0; j < change->n; j++)
            there = there || change->move[j].unit == v;
        if (!there && more < least && guess_price(guess, v, to) < INFINITY) {
            least = more;
            best = v;
        }
    }
    if (best == SIZE_MAX || change->n == GUESS_CHANGE_MAX)
        return false;
    add_move(change, best, to);
    return true;
}

/* Offers that a unit of several cores takes the places of several smaller ones. */
static void offer_several(struct offers *offers, size_t u, size_t cache)
{
    const size_t *cores = offers->problem->cores;
    struct guess_change change;
    size_t left = free_cores(offers, cache);

    change.n = 0;
    add_move(&change, u, cache);
    while (left < cores[u]) {
        if (!add_ejected(offers, cache, offers->guess.cache_of[u], &change))
            return;
        left += cores[change.move[change.n - 1].unit];
    }
    if (change.n > 2)
        offer(offers, &change);
}

/* Whether the exchange of both is looked at for u's sake, not for v's. */
static bool is_found_here(const struct offers *offers, size_t u, size_t v)
{
    const size_t *cores = offers->problem->cores;

    return u < v || cores[u] != cores[v] || !is_focus(offers, v);
}

/* Offers all that sends u where another unit stands, the best first: most are soon known not to be
 * worth a look. */
static void offer_exchanges(struct offers *offers, const struct offers_rated *u)
{
    const size_t *at = offers->guess.cache_of;

    for (size_t i = 0; i < offers->problem->n; i++) {
        const struct offers_rated *v = &offers->rated[i];
        bool here = is_found_here(offers, u->unit, v->unit);

        if (!is_good(offers, u->most + v->most))
            return;
        if (at[v->unit] == at[u->unit] || !(here || offers->any_free) ||
            !(guess_price(&offers->guess, u->unit, at[v->unit]) < INFINITY))
            continue;
        if (here)
            offer_exchange(offers, u->unit, v->unit);
        if (offers->any_free)
            offer_chain(offers, u->unit, v->unit);
    }
}

/* May a ring be made: of all, and of three? */
static bool has_rings(const struct improve *problem)
{
    return !problem->focus && (problem->moves_max == 0 || problem->moves_max >= 3);
}

/* Notes with whom u could begin a ring, in the same way. */
static void begin_rings(struct offers *offers, const struct offers_rated *u)
{
    const size_t *at = offers->guess.cache_of, *cores = offers->problem->cores;

    for (size_t i = 0; i < offers->problem->n; i++) {
        const struct offers_rated *v = &offers->crowded[i];

        if (offers->nring == OFFERS_RINGS &&
            u->most + v->most <= offers->ring[OFFERS_RINGS - 1].value)
            return;
        if (at[v->unit] != at[u->unit] && cores[v->unit] == cores[u->unit] &&
            guess_price(&offers->guess, u->unit, at[v->unit]) < INFINITY)
            begin_ring(offers, u->unit, v->unit);
    }
}

static int compare_rated(const void *a, const void *b)
{
    const struct offers_rated *x = a, *y = b;

    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static void rate(struct offers *offers)
{
    const struct improve *problem = offers->problem;
    struct guess *guess = &offers->guess;

    for (size_t u = 0; u < problem->n; u++) {
        double here = guess_beside(guess, u, guess->cache_of[u]);

        offers->rated[u] = (struct offers_rated){guess_unit_at_most(guess, u), u};
        offers->crowded[u] = (struct offers_rated){here * problem->horizon, u};
    }
    qsort(offers->rated, problem->n, sizeof(*offers->rated), compare_rated);
    if (has_rings(problem))
        qsort(offers->crowded, problem->n, sizeof(*offers->crowded), compare_rated);
}

/* Offers all that sends u to the cache and leaves another unit no choice. */
static void offer_way(struct offers *offers, size_t u, size_t cache)
{
    struct guess_change alone;

    alone.n = 0;
    if (guess_price(&offers->guess, u, cache) == INFINITY)
        return;
    add_move(&alone, u, cache);
    if (free_cores(offers, cache) >= offers->problem->cores[u])
        offer(offers, &alone);
    if (offers->problem->cores[u] > 1)
        offer_several(offers, u, cache);
}

/* Offers rings of three: w goes where u came from, and v where w was. */
static void offer_rings(struct offers *offers, size_t u, size_t v)
{
    const size_t *at = offers->guess.cache_of, *cores = offers->problem->cores;

    for (size_t w = 0; w < offers->problem->n; w++) {
        struct guess_change change;

        if (at[w] == at[u] || at[w] == at[v] || cores[w] != cores[u])
            continue;
        change.n = 0;
        add_move(&change, u, at[v]);
        add_move(&change, v, at[w]);
        add_move(&change, w, at[u]);
        offer(offers, &change);
    }
}

void offers_collect(struct offers *offers)
{
    offers->nbest = offers->nring = 0;
    offers->any_free = false;
    for (size_t c = 0; c < offers->problem->caches; c++)
        offers->any_free = offers->any_free || free_cores(offers, c) > 0;
    for (size_t u = 0; offers->any_free && u < offers->problem->n; u++)
        find_away(offers, u);
    for (size_t u = 0; u < offers->problem->n; u++)
        for (size_t c = 0; is_focus(offers, u) && c < offers->problem->caches; c++)
            if (c != offers->guess.cache_of[u])
                offer_way(offers, u, c);
    rate(offers);
    for (size_t i = 0; i < offers->problem->n; i++)
        if (is_focus(offers, offers->rated[i].unit))
            offer_exchanges(offers, &offers->rated[i]);
    for (size_t i = 0; has_rings(offers->problem) && i < offers->problem->n; i++)
        begin_rings(offers, &offers->rated[i]);
    for (size_t i = 0; i < offers->nring; i++)
        offer_rings(offers, offers->ring[i].u, offers->ring[i].v);
}
