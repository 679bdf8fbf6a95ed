/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/improve.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/improve_guess.h"

#define LEAST 1e-9 /* that a change is worth: less is rounding */
#define RINGS 16   /* pairs that a third unit is sought for */
#define ROUNDS 16  /* and one a unit: a truth that is only nearly one could go round in circles */

/* The begin of a ring: u takes v's place, and v has none. */
struct ring {
    double value;
    size_t u, v;
};

/* A cache with free cores, and what it is worth to a unit to stand there. */
struct away {
    double value;
    size_t cache;
};

/* A unit, and its part of what a change of two units can be worth at most. */
struct rated {
    double most;
    size_t unit;
};

struct search {
    const struct improve *problem;
    struct guess guess;
    size_t *start;         /* [n] where the units stood at first */
    struct rated *rated;   /* [n] in descending order */
    struct rated *crowded; /* [n] the same of what leaving their places is worth */
    size_t tries;          /* the most that there may be of the first, */
    size_t nbest, nring;   /* how many there are of: */
    struct guess_change best[IMPROVE_TRIES]; /* candidates by descending value */
    struct ring ring[RINGS];                 /* the same */
    bool any_free;                           /* a cache has a core that nobody uses */
    struct away *away;                       /* [2 * n] the best two for each unit, if any_free */
    struct improve_found found;
};

/* ---- candidates ---- */

static size_t kind_of(const struct search *search, size_t unit)
{
    return search->problem->kind ? search->problem->kind[unit] : unit;
}

static bool is_focus(const struct search *search, size_t unit)
{
    return !search->problem->focus || search->problem->focus[unit];
}

/* Whether two changes move units of the same kinds on the same ways. */
static bool alike(const struct search *search, const struct guess_change *a,
                  const struct guess_change *b)
{
    const size_t *at = search->guess.cache_of;

    if (a->n != b->n || fabs(a->value - b->value) > LEAST * fabs(a->value))
        return false;
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;

        for (size_t j = 0; j < b->n && !found; j++)
            found = a->move[i].to == b->move[j].to && at[a->move[i].unit] == at[b->move[j].unit] &&
                    kind_of(search, a->move[i].unit) == kind_of(search, b->move[j].unit);
        if (!found)
            return false;
    }
    return true;
}

/* Keeps the candidate, if it is among the best. */
static void keep(struct search *search, const struct guess_change *change)
{
    struct guess_change *list = search->best;
    size_t i;

    for (size_t j = 0; j < search->nbest; j++)
        if (alike(search, &list[j], change))
            return;
    search->nbest += search->nbest < search->tries;
    for (i = search->nbest - 1; i > 0 && list[i - 1].value < change->value; i--)
        list[i] = list[i - 1];
    list[i] = *change;
}

/* Whether a candidate of that value would be kept. */
static bool is_good(const struct search *search, double value)
{
    return value > -INFINITY &&
           (search->nbest < search->tries || value > search->best[search->tries - 1].value);
}

static void keep_ring(struct search *search, double value, size_t u, size_t v)
{
    size_t i = search->nring;

    if (!(value > -INFINITY) || (i == RINGS && value <= search->ring[RINGS - 1].value))
        return;
    if (search->nring < RINGS)
        search->nring++;
    else
        i--;
    for (; i > 0 && search->ring[i - 1].value < value; i--)
        search->ring[i] = search->ring[i - 1];
    search->ring[i] = (struct ring){value, u, v};
}

/* Returns how many units stand elsewhere than at the start, after the change. */
static size_t moved_after(const struct search *search, const struct guess_change *change)
{
    size_t moved = search->found.moved;

    for (size_t i = 0; i < change->n; i++) {
        size_t unit = change->move[i].unit;

        moved += change->move[i].to != search->start[unit];
        moved -= search->guess.cache_of[unit] != search->start[unit];
    }
    return moved;
}

/* Whether units that change places are more than may end elsewhere than they began. */
static bool exceeds(const struct search *search, size_t u, size_t v)
{
    const size_t *at = search->guess.cache_of, *start = search->start;
    size_t most = search->problem->moves_max, moved = search->found.moved;

    moved += (at[v] != start[u]) + (at[u] != start[v]);
    return most && moved > most + (at[u] != start[u]) + (at[v] != start[v]);
}

static void offer(struct search *search, struct guess_change *change)
{
    size_t most = search->problem->moves_max;

    if (most && moved_after(search, change) > most)
        return;
    if (!is_good(search, guess_at_most(&search->guess, change)))
        return;
    change->value = guess_value(&search->guess, change);
    if (is_good(search, change->value) && guess_fits(&search->guess, change))
        keep(search, change);
}

static void add_move(struct guess_change *change, size_t unit, size_t to)
{
    change->move[change->n].unit = unit;
    change->move[change->n++].to = to;
}

static size_t free_cores(const struct search *search, size_t cache)
{
    return search->problem->room[cache] - search->guess.used[cache];
}

/* Finds the two caches with free cores where the unit loses least by the guess. */
static void find_away(struct search *search, size_t unit)
{
    const struct improve *problem = search->problem;
    struct away *best = &search->away[2 * unit];
    struct guess_change change;

    best[0] = best[1] = (struct away){-INFINITY, problem->caches};
    change.n = 0;
    add_move(&change, unit, 0);
    for (size_t c = 0; c < problem->caches; c++) {
        struct away away = {-INFINITY, c};

        if (c == search->guess.cache_of[unit] || free_cores(search, c) < problem->cores[unit])
            continue;
        change.move[0].to = c;
        away.value = guess_value(&search->guess, &change);
        if (away.value > best[0].value) {
            best[1] = best[0];
            best[0] = away;
        } else if (away.value > best[1].value) {
            best[1] = away;
        }
    }
}

/* Offers that u takes v's place, which goes to a free core elsewhere. */
static void offer_chain(struct search *search, size_t u, size_t v)
{
    const size_t *at = search->guess.cache_of;
    const struct away *best = &search->away[2 * v];
    size_t away = best[best[0].cache == at[u]].cache;
    struct guess_change change;

    if (away == search->problem->caches)
        return;
    change.n = 0;
    add_move(&change, u, at[v]);
    add_move(&change, v, away);
    offer(search, &change);
}

/* Notes how good it would be for u and those about it that it takes v's place if v vanished. */
static void begin_ring(struct search *search, size_t u, size_t v)
{
    struct guess *guess = &search->guess;
    size_t here = guess->cache_of[u], there = guess->cache_of[v];
    double horizon = search->problem->horizon, price = guess_price(guess, u, there), less;

    if (search->nring == RINGS &&
        (guess_beside(guess, u, here) + guess_beside(guess, v, there)) * horizon - price <=
            search->ring[RINGS - 1].value)
        return; /* whatever the pair is: it is a part of what u loses there */
    less = guess_beside(guess, u, here) - guess_beside(guess, u, there) +
           guess_beside(guess, v, there) + search->problem->pair(u, v, search->problem->arg);

    keep_ring(search, less * horizon - price, u, v);
}

/* Offers that u takes v's place, which goes to u's, or elsewhere. */
static void offer_exchange(struct search *search, size_t u, size_t v)
{
    const size_t *at = search->guess.cache_of, *cores = search->problem->cores;
    struct guess_change change;

    if ((u < v || cores[u] != cores[v] || !is_focus(search, v)) && !exceeds(search, u, v) &&
        is_good(search, guess_exchange_at_most(&search->guess, u, v)) &&
        is_good(search, guess_exchange(&search->guess, u, v))) {
        change.n = 0;
        add_move(&change, u, at[v]);
        add_move(&change, v, at[u]);
        offer(search, &change);
    }
    if (search->any_free)
        offer_chain(search, u, v);
}

/* Adds the member of the cache that best goes to `to` and is not in the change yet. Returns false
 * where all are. */
static bool add_ejected(struct search *search, size_t cache, size_t to, struct guess_change *change)
{
    struct guess *guess = &search->guess;
    size_t best = SIZE_MAX;
    double least = INFINITY;

    for (size_t i = guess->first[cache]; i < guess->first[cache + 1]; i++) {
        size_t v = guess->member[i];
        double more = (guess_beside(guess, v, to) - guess_beside(guess, v, cache)) /
                      (double)search->problem->cores[v];
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
static void offer_several(struct search *search, size_t u, size_t cache)
{
    const size_t *cores = search->problem->cores;
    struct guess_change change;
    size_t left = free_cores(search, cache);

    change.n = 0;
    add_move(&change, u, cache);
    while (left < cores[u]) {
        if (!add_ejected(search, cache, search->guess.cache_of[u], &change))
            return;
        left += cores[change.move[change.n - 1].unit];
    }
    if (change.n > 2)
        offer(search, &change);
}

/* Offers all that sends u where another unit stands, the best first: most are soon known not to be
 * worth a look. */
static void offer_exchanges(struct search *search, const struct rated *u)
{
    const size_t *at = search->guess.cache_of;

    for (size_t i = 0; i < search->problem->n; i++) {
        const struct rated *v = &search->rated[i];

        if (!is_good(search, u->most + v->most))
            return;
        if (at[v->unit] != at[u->unit] &&
            guess_price(&search->guess, u->unit, at[v->unit]) < INFINITY)
            offer_exchange(search, u->unit, v->unit);
    }
}

/* Notes with whom u could begin a ring, in the same way. */
static void begin_rings(struct search *search, const struct rated *u)
{
    const size_t *at = search->guess.cache_of, *cores = search->problem->cores;

    for (size_t i = 0; i < search->problem->n; i++) {
        const struct rated *v = &search->crowded[i];

        if (search->nring == RINGS && u->most + v->most <= search->ring[RINGS - 1].value)
            return;
        if (at[v->unit] != at[u->unit] && cores[v->unit] == cores[u->unit] &&
            guess_price(&search->guess, u->unit, at[v->unit]) < INFINITY)
            begin_ring(search, u->unit, v->unit);
    }
}

/* May a ring be made: of all, and of three? */
static bool has_rings(const struct improve *problem)
{
    return !problem->focus && (problem->moves_max == 0 || problem->moves_max >= 3);
}

static int compare_rated(const void *a, const void *b)
{
    const struct rated *x = a, *y = b;

    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static void rate(struct search *search)
{
    const struct improve *problem = search->problem;
    struct guess *guess = &search->guess;

    for (size_t u = 0; u < problem->n; u++) {
        double here = guess_beside(guess, u, guess->cache_of[u]);

        search->rated[u] = (struct rated){guess_unit_at_most(guess, u), u};
        search->crowded[u] = (struct rated){here * problem->horizon, u};
    }
    qsort(search->rated, problem->n, sizeof(*search->rated), compare_rated);
    qsort(search->crowded, problem->n, sizeof(*search->crowded), compare_rated);
}

/* Offers all that sends u to the cache and leaves another unit no choice. */
static void offer_way(struct search *search, size_t u, size_t cache)
{
    struct guess_change alone;

    alone.n = 0;
    if (guess_price(&search->guess, u, cache) == INFINITY)
        return;
    add_move(&alone, u, cache);
    if (free_cores(search, cache) >= search->problem->cores[u])
        offer(search, &alone);
    if (search->problem->cores[u] > 1)
        offer_several(search, u, cache);
}

/* Offers rings of three: w goes where u came from, and v where w was. */
static void offer_rings(struct search *search, size_t u, size_t v)
{
    const size_t *at = search->guess.cache_of, *cores = search->problem->cores;

    for (size_t w = 0; w < search->problem->n; w++) {
        struct guess_change change;

        if (at[w] == at[u] || at[w] == at[v] || cores[w] != cores[u])
            continue;
        change.n = 0;
        add_move(&change, u, at[v]);
        add_move(&change, v, at[w]);
        add_move(&change, w, at[u]);
        offer(search, &change);
    }
}

static void collect(struct search *search)
{
    search->nbest = search->nring = 0;
    search->any_free = false;
    for (size_t c = 0; c < search->problem->caches; c++)
        search->any_free = search->any_free || free_cores(search, c) > 0;
    for (size_t u = 0; search->any_free && u < search->problem->n; u++)
        find_away(search, u);
    for (size_t u = 0; u < search->problem->n; u++)
        for (size_t c = 0; is_focus(search, u) && c < search->problem->caches; c++)
            if (c != search->guess.cache_of[u])
                offer_way(search, u, c);
    rate(search);
    for (size_t i = 0; i < search->problem->n; i++)
        if (is_focus(search, search->rated[i].unit))
            offer_exchanges(search, &search->rated[i]);
    for (size_t i = 0; has_rings(search->problem) && i < search->problem->n; i++)
        begin_rings(search, &search->rated[i]);
    for (size_t i = 0; i < search->nring; i++)
        offer_rings(search, search->ring[i].u, search->ring[i].v);
}

/* ---- the truth ---- */

static void add_touched(size_t *touched, size_t *n, size_t cache)
{
    for (size_t i = 0; i < *n; i++)
        if (touched[i] == cache)
            return;
    touched[(*n)++] = cache;
}

/* Returns what the node loses less by the change. */
static double gain_of(struct search *search, const struct guess_change *change)
{
    const struct improve *problem = search->problem;
    size_t *at = search->guess.cache_of, touched[2 * GUESS_CHANGE_MAX], n = 0;
    size_t from[GUESS_CHANGE_MAX];
    double before;

    for (size_t i = 0; i < change->n; i++) {
        from[i] = at[change->move[i].unit];
        add_touched(touched, &n, from[i]);
        add_touched(touched, &n, change->move[i].to);
    }
    before = problem->lost(at, touched, n, problem->arg);
    for (size_t i = 0; i < change->n; i++)
        at[change->move[i].unit] = change->move[i].to;
    before -= problem->lost(at, touched, n, problem->arg);
    for (size_t i = 0; i < change->n; i++)
        at[change->move[i].unit] = from[i];
    search->found.judged += 2;
    return before;
}

/* Makes the best of the candidates, if any pays. Returns whether one did. */
static bool make_best(struct search *search)
{
    struct guess_change *best = NULL;
    double most = LEAST, gain = 0, price = 0;

    for (size_t i = 0; i < search->nbest; i++) {
        struct guess_change *change = &search->best[i];
        double its_gain, its_price = 0;

        if (best && search->nbest == search->tries && change->value < most)
            break; /* there are many, and the rest is guessed to be worse than what was found */
        for (size_t j = 0; j < change->n; j++)
            its_price += guess_price(&search->guess, change->move[j].unit, change->move[j].to);
        its_gain = gain_of(search, change);
        if (its_gain * search->problem->horizon - its_price > most) {
            most = its_gain * search->problem->horizon - its_price;
            gain = its_gain;
            price = its_price;
            best = change;
        }
    }
    if (!best)
        return false;
    search->found.gain += gain;
    search->found.price += price;
    search->found.moved = moved_after(search, best);
    guess_make(&search->guess, best);
    return true;
}

/* Changes that are made at most: one that swings would be tried again and again. */
static size_t changes_of(const struct improve *problem)
{
    return problem->changes_max ? problem->changes_max : ROUNDS + problem->n;
}

int improve_solve(const struct improve *problem, size_t *cache_of, struct improve_found *found)
{
    struct search *search = calloc(1, sizeof(*search));
    int rc = search ? guess_init(&search->guess, problem, cache_of) : -1;

    if (rc == 0 && (!(search->away = calloc(2 * problem->n + 1, sizeof(*search->away))) ||
                    !(search->rated = calloc(2 * problem->n + 1, sizeof(*search->rated)))))
        rc = -1;
    if (rc == 0) {
        search->problem = problem;
        search->tries = problem->tries ? problem->tries : IMPROVE_TRIES;
        search->start = cache_of;
        search->crowded = search->rated + problem->n;
        for (size_t changes = 0; changes < changes_of(problem); changes++) {
            collect(search);
            if (!make_best(search))
                break;
        }
        memcpy(cache_of, search->guess.cache_of, problem->n * sizeof(*cache_of));
        *found = search->found;
    }
    if (search) {
        guess_free(&search->guess);
        free(search->away);
        free(search->rated);
    }
    free(search);
    return rc;
}
