/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound - see bound.h
 *
 * Lagrangian relaxation. Make caches full: idle cores are items like the programs, and every group
 * has k items. Whatever prices the items have, a partition costs the sum of all prices and of what
 * its groups cost above their items' prices; and each item bears a k-th of its group's rest. Let
 * each item choose the group with the least rest that it could be in, and the sum is a lower bound:
 * no partition gives every item a better one. Raise the price of an item that few choose, lower
 * that of one that many choose (a subgradient step, Polyak's length), and the bound rises to that
 * of the linear relaxation of set partitioning.
 *
 * Where there are too many groups to look at all, and the cost is the sum over pairs, each item
 * chooses its k - 1 neighbours instead, as if they got on with each other: weaker. */
#include "models/partition/bound.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MIN 1e-3
#define LOOK 64     /* groups that are listed between two looks at the time */
#define PATIENCE 10 /* steps without a gain before they get shorter */
#define FIRST_STEPS 60
#define CLOSED 1e-10

struct neighbour {
    double rest;
    size_t item;
};

struct bound {
    const struct costs *costs;
    const struct partition *p;
    double idle; /* cores */
    double best;
    double step;
    unsigned waited;
    bool done;
    double *price, *gradient; /* [n + 1] the last is that of an idle core */
    /* every possible group that can still be in a better partition */
    bool listed;
    size_t groups;
    size_t *index;    /* [group] scratch */
    double *cost;     /* [groups] */
    uint16_t *size;   /* [groups] */
    uint16_t *member; /* [groups * group] */
    double *least;    /* [n + 1] the least rest of a group with that item... */
    size_t *choice;   /* ...and which group that is; `groups`: the empty one */
    /* or the neighbours of one item */
    struct neighbour *neighbour; /* [group - 1] by rest, but for the item's own price */
};

/* ---- all groups ---- */

/* Returns the least number of members: as many as do not fit into the other caches. */
static size_t least_size(const struct partition *p)
{
    size_t others = (p->groups - 1) * p->group;

    return p->n > others ? p->n - others : 0;
}

/* Returns how many groups there are; a number above `limit` if there are more than that. */
static double count_groups(const struct partition *p, size_t limit)
{
    double count = 0;

    for (size_t size = least_size(p); size <= p->group && count <= (double)limit; size++) {
        double ways = 1;

        for (size_t i = 0; i < size; i++)
            ways *= (double)(p->n - i) / (double)(i + 1);
        count += size > 0 ? round(ways) : 0;
    }
    return count;
}

static void add_group(struct bound *b, size_t size)
{
    uint16_t *member = &b->member[b->groups * b->p->group];

    b->cost[b->groups] = b->p->cost(b->index, size, b->p->arg);
    b->size[b->groups] = (uint16_t)size;
    for (size_t i = 0; i < size; i++)
        member[i] = (uint16_t)b->index[i];
    b->groups++;
}

/* Adds all groups of that size, in lexical order. Returns false when it was stopped. */
static bool add_groups(struct bound *b, size_t size)
{
    size_t n = b->p->n, last, *index = b->index;

    for (size_t i = 0; i < size; i++)
        index[i] = i;
    for (;;) {
        add_group(b, size);
        if (b->groups % LOOK == 0 && costs_stopped(b->costs))
            return false;
        for (last = size; last > 0 && index[last - 1] == n - size + last - 1; last--)
            ;
        if (last == 0)
            return true;
        index[last - 1]++;
        for (; last < size; last++)
            index[last] = index[last - 1] + 1;
    }
}

static int alloc_groups(struct bound *b, size_t count)
{
    const struct partition *p = b->p;

    b->index = calloc(p->group, sizeof(*b->index));
    b->cost = calloc(count, sizeof(*b->cost));
    b->size = calloc(count, sizeof(*b->size));
    b->member = calloc(count, p->group * sizeof(*b->member));
    b->least = calloc(p->n + 1, sizeof(*b->least));
    b->choice = calloc(p->n + 1, sizeof(*b->choice));
    return b->index && b->cost && b->size && b->member && b->least && b->choice ? 0 : -1;
}

/* Lists the groups, once. Returns false when it was stopped. */
static bool list_groups(struct bound *b)
{
    b->listed = true;
    for (size_t size = least_size(b->p); size <= b->p->group; size++)
        if (size > 0 && !add_groups(b, size))
            return false;
    return true;
}

static double rest(const struct bound *b, size_t group)
{
    const uint16_t *member = &b->member[group * b->p->group];
    double rest = b->cost[group];

    for (size_t i = 0; i < b->size[group]; i++)
        rest -= b->price[member[i]];
    return rest - (double)(b->p->group - b->size[group]) * b->price[b->p->n];
}

static void offer(struct bound *b, size_t item, size_t group, double rest)
{
    if (rest < b->least[item]) {
        b->least[item] = rest;
        b->choice[item] = group;
    }
}

/* Lets each item choose its group. Returns false when it was stopped. */
static bool choose_groups(struct bound *b)
{
    const struct partition *p = b->p;

    for (size_t i = 0; i <= p->n; i++)
        b->least[i] = INFINITY;
    for (size_t g = 0; g < b->groups; g++) {
        const uint16_t *member = &b->member[g * p->group];
        double r = rest(b, g);

        if (g % (LOOK * LOOK) == 0 && costs_stopped(b->costs))
            return false;
        for (size_t i = 0; i < b->size[g]; i++)
            offer(b, member[i], g, r);
        if (b->size[g] < p->group)
            offer(b, p->n, g, r);
    }
    if (least_size(p) == 0)
        offer(b, p->n, b->groups, -(double)p->group * b->price[p->n]);
    return true;
}

/* Returns the bound with these prices, and finds where it rises; -INFINITY when it was stopped. */
static double bound_of_groups(struct bound *b)
{
    const struct partition *p = b->p;
    double bound = 0, k = (double)p->group;

    if (!choose_groups(b))
        return -INFINITY;
    for (size_t i = 0; i <= p->n; i++)
        b->gradient[i] = i < p->n ? 1 : b->idle;
    for (size_t i = 0; i <= p->n; i++) {
        double items = i < p->n ? 1 : b->idle;
        size_t g = b->choice[i], size = 0;

        if (items == 0)
            continue;
        if (isinf(b->least[i]))
            return INFINITY; /* nothing is left that is better than the best known */
        bound += items * (b->price[i] + b->least[i] / k);
        if (g < b->groups)
            size = b->size[g];
        for (size_t j = 0; j < size; j++)
            b->gradient[b->member[g * p->group + j]] -= items / k;
        b->gradient[p->n] -= items * (k - (double)size) / k;
    }
    return bound;
}

/* Drops the groups that no partition better than `total` has: with one of them, its items would
 * raise the bound above that. */
static void drop_groups(struct bound *b, double bound, double total)
{
    size_t k = b->p->group, left = 0;

    for (size_t g = 0; g < b->groups; g++) {
        const uint16_t *member = &b->member[g * k];
        double r = rest(b, g), more = 0;

        for (size_t i = 0; i < b->size[g]; i++)
            more += r - b->least[member[i]];
        if (b->size[g] < k)
            more += (double)(k - b->size[g]) * (r - b->least[b->p->n]);
        if (bound + more / (double)k > total + CLOSED * fabs(total))
            continue;
        b->cost[left] = b->cost[g];
        b->size[left] = b->size[g];
        memmove(&b->member[left * k], member, k * sizeof(*member));
        left++;
    }
    b->groups = left;
}

/* ---- neighbours ---- */

/* Keeps the k - 1 least, in ascending order. */
static void keep(struct bound *b, size_t *kept, size_t item, double rest)
{
    size_t most = b->p->group - 1, at = *kept;

    if (at == most && (most == 0 || !(rest < b->neighbour[most - 1].rest)))
        return;
    if (at == most)
        at--;
    else
        ++*kept;
    for (; at > 0 && rest < b->neighbour[at - 1].rest; at--)
        b->neighbour[at] = b->neighbour[at - 1];
    b->neighbour[at] = (struct neighbour){rest, item};
}

/* Puts the k - 1 neighbours with the least rests of an item into b->neighbour; returns their sum.
 */
static double choose_neighbours(struct bound *b, size_t item)
{
    size_t n = b->p->n, most = b->p->group - 1, kept = 0;
    size_t idle = (size_t)b->idle - (item == n);
    double sum = 0;

    for (size_t j = 0; j < n; j++)
        if (j != item)
            keep(b, &kept, j, (item < n ? b->costs->pair[item * n + j] : 0) - b->price[j]);
    for (size_t j = 0; j < idle && j < most; j++)
        keep(b, &kept, n, -b->price[n]);
    for (size_t j = 0; j < most; j++)
        sum += b->neighbour[j].rest - b->price[item];
    return sum;
}

/* Does the same where the items choose neighbours. */
static double bound_of_neighbours(struct bound *b)
{
    size_t n = b->p->n, degree = b->p->group - 1;
    double bound = 0;

    for (size_t i = 0; i <= n; i++)
        b->gradient[i] = (double)degree * (i < n ? 1 : b->idle) / 2;
    for (size_t i = 0; i <= n; i++) {
        double items = i < n ? 1 : b->idle;

        if (items == 0)
            continue;
        if (costs_stopped(b->costs))
            return -INFINITY;
        bound += items * ((double)degree * b->price[i] + choose_neighbours(b, i) / 2);
        for (size_t j = 0; j < degree; j++)
            b->gradient[b->neighbour[j].item] -= items / 2;
    }
    return bound;
}

/* ---- the ascent ---- */

/* Chooses the way, and makes room for what the items can choose from. */
static int alloc_choices(struct bound *b)
{
    const struct partition *p = b->p;
    double count = count_groups(p, p->bound_groups);

    if (count <= (double)p->bound_groups)
        return alloc_groups(b, (size_t)count);
    b->done = p->bound_groups == 0 || !p->pairwise;
    if (b->done)
        return 0;
    b->neighbour = calloc(p->group, sizeof(*b->neighbour));
    return b->neighbour ? 0 : -1;
}

struct bound *bound_new(const struct costs *costs)
{
    const struct partition *p = costs->partition;
    struct bound *b = calloc(1, sizeof(*b));
    int rc = -1;

    if (!b)
        return NULL;
    b->costs = costs;
    b->p = p;
    b->idle = (double)(p->groups * p->group - p->n);
    b->best = -INFINITY;
    b->step = 1;
    b->price = calloc(p->n + 1, sizeof(*b->price));
    b->gradient = calloc(p->n + 1, sizeof(*b->gradient));
    if (b->price && b->gradient)
        rc = alloc_choices(b);
    if (rc < 0) {
        bound_free(b);
        return NULL;
    }
    return b;
}

void bound_free(struct bound *b)
{
    if (!b)
        return;
    free(b->price);
    free(b->gradient);
    free(b->index);
    free(b->cost);
    free(b->size);
    free(b->member);
    free(b->least);
    free(b->choice);
    free(b->neighbour);
    free(b);
}

/* Takes one step along the gradient, as long as the bound would rise to `total` if it rose evenly.
 */
static void move_prices(struct bound *b, double bound, double total)
{
    double square = 0;

    for (size_t i = 0; i <= b->p->n; i++)
        square += b->gradient[i] * b->gradient[i];
    if (square < 1e-12) { /* all items agree: it cannot rise */
        b->done = true;
        return;
    }
    for (size_t i = 0; i <= b->p->n; i++)
        b->price[i] += b->step * (total - bound) / square * b->gradient[i];
}

bool bound_raise(struct bound *b, double total)
{
    double bound;

    if (b->done || (b->cost && !b->listed && !list_groups(b))) {
        b->done = true;
        return false;
    }
    bound = b->cost ? bound_of_groups(b) : bound_of_neighbours(b);
    if (bound > b->best) {
        b->best = bound;
        b->waited = 0;
    } else if (++b->waited == PATIENCE) {
        b->step /= 2;
        b->waited = 0;
    }
    if (!(bound < total) || isinf(bound) || b->step < STEP_MIN) {
        b->done = true;
        return false;
    }
    if (b->cost && bound == b->best)
        drop_groups(b, bound, total);
    move_prices(b, bound, total);
    return !b->done;
}

void bound_begin(struct bound *b, double total)
{
    for (unsigned i = 0; b->neighbour && i < FIRST_STEPS && bound_raise(b, total); i++)
        ;
}

double bound_best(const struct bound *b)
{
    return b->best;
}
