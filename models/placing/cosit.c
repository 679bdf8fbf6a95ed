/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cosit - see cosit.h */
#include "models/placing/cosit.h"

#include <math.h>

#define LEAST 1e-9     /* that an exchange gains: less is rounding */
#define UNBEARABLE 1e3 /* lost work: more than there is to gain */

/* ---- the rule ---- */

/* Lists the programs by descending use, equal ones in their order. */
static void sort(size_t n, const double *use, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        for (; at > 0 && use[order[at - 1]] < use[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

void cosit_divide(size_t n, const double *use, size_t cores, size_t *core)
{
    size_t order[COSIT_MAX], on[COSIT_MAX] = {0};
    double used[COSIT_MAX] = {0};

    for (size_t i = 0; i < n; i++)
        core[i] = 0;
    if (n > COSIT_MAX || cores > COSIT_MAX || cores == 0)
        return;
    sort(n, use, order);
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;

        for (size_t c = 1; c < cores; c++)
            if (on[c] < on[best] || (on[c] == on[best] && used[c] < used[best]))
                best = c;
        core[order[i]] = best;
        on[best]++;
        used[best] += use[order[i]];
    }
}

/* ---- exchanges ---- */

/* The places of a core: [first, end). */
struct seats {
    size_t first, end;
};

static struct seats seats_of(const struct cosit *cosit, size_t place)
{
    struct seats seats = {place, place + 1};

    while (seats.first > 0 && cosit->core[seats.first - 1] == cosit->core[place])
        seats.first--;
    while (seats.end < cosit->n && cosit->core[seats.end] == cosit->core[place])
        seats.end++;
    return seats;
}

/* Returns by how much he who stands on the place is slower for the others on its core. */
static double slower(const struct cosit *cosit, const size_t *who, struct seats seats, size_t place)
{
    double sum = 0;

    for (size_t i = seats.first; i < seats.end; i++)
        if (i != place && cosit->works[who[i]])
            sum += cosit->loses(who[place], who[i], cosit->arg);
    return sum;
}

/* Returns the work that all on the core lose. */
static double lost_on(const struct cosit *cosit, const size_t *who, struct seats seats)
{
    double lost = 0;

    for (size_t i = seats.first; i < seats.end; i++)
        if (cosit->works[who[i]]) {
            double slowdown = slower(cosit, who, seats, i);

            lost +=
                slowdown / (1 + slowdown) + UNBEARABLE * fmax(0, slowdown - cosit->bears[who[i]]);
        }
    return lost;
}

/* Returns what it costs that he stands on that place. */
static double price_at(const struct cosit *cosit, size_t number, size_t place)
{
    size_t began = cosit->began[number];

    return began == COSIT_NOWHERE || began == place ? 0 : cosit->price[number];
}

static void exchange(size_t *who, size_t p, size_t q)
{
    size_t number = who[p];

    who[p] = who[q];
    who[q] = number;
}

/* Returns what it is worth to exchange those on two places, less what it costs. */
static double worth(const struct cosit *cosit, size_t *who, size_t p, size_t q)
{
    struct seats one = seats_of(cosit, p), other = seats_of(cosit, q);
    double gain = lost_on(cosit, who, one) + lost_on(cosit, who, other);
    double price = price_at(cosit, who[p], q) + price_at(cosit, who[q], p) -
                   price_at(cosit, who[p], p) - price_at(cosit, who[q], q);

    exchange(who, p, q);
    gain -= lost_on(cosit, who, one) + lost_on(cosit, who, other);
    exchange(who, p, q);
    return cosit->horizon * gain - price;
}

/* May they be exchanged, and does it matter? */
static bool is_candidate(const struct cosit *cosit, const size_t *who, size_t p, size_t q)
{
    return cosit->core[p] != cosit->core[q] && !cosit->fixed[p] && !cosit->fixed[q] &&
           (cosit->works[who[p]] || cosit->works[who[q]]);
}

/* Makes the best exchange. Returns false where none is worth it. */
static bool make_best(const struct cosit *cosit, size_t *who)
{
    double most = LEAST;
    size_t best[2] = {0};

    for (size_t p = 0; p < cosit->n; p++)
        for (size_t q = p + 1; q < cosit->n && cosit->group[q] == cosit->group[p]; q++) {
            double its = is_candidate(cosit, who, p, q) ? worth(cosit, who, p, q) : 0;

            if (its > most) {
                most = its;
                best[0] = p;
                best[1] = q;
            }
        }
    exchange(who, best[0], best[1]);
    return best[0] != best[1];
}

size_t cosit_improve(const struct cosit *cosit, size_t *who)
{
    size_t made = 0;

    for (size_t i = 0; i < cosit->n; i++)
        who[i] = i;
    while ((!cosit->changes_max || made < cosit->changes_max) && make_best(cosit, who))
        made++;
    return made;
}
