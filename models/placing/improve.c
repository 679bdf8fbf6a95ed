/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/improve.h"

#include <stdlib.h>
#include <string.h>

#include "models/placing/improve_offers.h"

#define ROUNDS 16 /* and one a unit: a truth that is only nearly one could go round in circles */

static void add_touched(size_t *touched, size_t *n, size_t cache)
{
    for (size_t i = 0; i < *n; i++)
        if (touched[i] == cache)
            return;
    touched[(*n)++] = cache;
}

/* Returns what the node loses less by the change. */
static double gain_of(struct offers *offers, const struct guess_change *change)
{
    const struct improve *problem = offers->problem;
    size_t *at = offers->guess.cache_of, touched[2 * GUESS_CHANGE_MAX], n = 0;
    size_t from[GUESS_CHANGE_MAX];
    double less;

    for (size_t i = 0; i < change->n; i++) {
        from[i] = at[change->move[i].unit];
        add_touched(touched, &n, from[i]);
        add_touched(touched, &n, change->move[i].to);
    }
    less = problem->lost(at, touched, n, problem->arg);
    for (size_t i = 0; i < change->n; i++)
        at[change->move[i].unit] = change->move[i].to;
    less -= problem->lost(at, touched, n, problem->arg);
    for (size_t i = 0; i < change->n; i++)
        at[change->move[i].unit] = from[i];
    return less;
}

/* Makes the best of the candidates, if any pays. Returns whether one did. */
static bool make_best(struct offers *offers, struct improve_found *found)
{
    const struct guess_change *best = NULL;
    double most = OFFERS_LEAST, gain = 0, price = 0;

    for (size_t i = 0; i < offers->nbest; i++) {
        const struct guess_change *change = &offers->best[i];
        double its_price = guess_change_price(&offers->guess, change), its_gain;

        if (best && offers->nbest == offers->tries && change->value < most)
            break; /* there are many, and the rest is guessed to be worse than what was found */
        its_gain = gain_of(offers, change);
        found->judged += 2;
        if (its_gain * offers->problem->horizon - its_price <= most)
            continue;
        most = its_gain * offers->problem->horizon - its_price;
        gain = its_gain;
        price = its_price;
        best = change;
    }
    if (!best)
        return false;
    found->gain += gain;
    found->price += price;
    found->moved = offers->moved = offers_moved_after(offers, best);
    guess_make(&offers->guess, best);
    return true;
}

/* Changes that are made at most: one that swings would be tried again and again. */
static size_t changes_of(const struct improve *problem)
{
    return problem->changes_max ? problem->changes_max : ROUNDS + problem->n;
}

int improve_solve(const struct improve *problem, size_t *cache_of, struct improve_found *found)
{
    struct offers *offers = malloc(sizeof(*offers));
    int rc = offers ? offers_init(offers, problem, cache_of) : -1;

    if (rc == 0) {
        *found = (struct improve_found){0};
        for (size_t changes = 0; changes < changes_of(problem); changes++) {
            offers_collect(offers);
            if (!make_best(offers, found))
                break;
        }
        memcpy(cache_of, offers->guess.cache_of, problem->n * sizeof(*cache_of));
    }
    if (offers)
        offers_free(offers);
    free(offers);
    return rc;
}
