/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange - see partition/search.h
 *
 * Iterated local search. Two groups are settled when no exchange of a member of one for a member of
 * the other (or for a free core) gains anything; only pairs of groups that have changed since are
 * looked at again. */
#include "models/partition/search.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DISTURBANCES 3
#define GAIN_MIN 1e-12 /* of the costs that change: less is rounding, and would never end */

struct state {
    size_t *member; /* [groups * group] */
    size_t *size;   /* [groups] */
    double *cost;   /* [groups] */
};

struct exchange {
    const struct partition *p;
    struct state now, best;
    bool begun;     /* to search */
    bool *settled;  /* [groups * groups] */
    size_t *new[2]; /* [group] scratch: members of two groups as they would be */
    uint64_t random;
};

static bool stopped(const struct exchange *x)
{
    return x->p->stop && x->p->stop(x->p->stop_arg);
}

/* The same sequence on every run (xorshift). */
static size_t pick(struct exchange *x, size_t n)
{
    x->random ^= x->random << 13;
    x->random ^= x->random >> 7;
    x->random ^= x->random << 17;
    return (size_t)(x->random % n);
}

static double cost(const struct exchange *x, const size_t *member, size_t n)
{
    return n == 0 ? 0 : x->p->cost(member, n, x->p->arg);
}

static size_t *members(const struct exchange *x, size_t g)
{
    return &x->now.member[g * x->p->group];
}

static double total(const struct exchange *x, const struct state *state)
{
    double sum = 0;

    for (size_t g = 0; g < x->p->groups; g++)
        sum += state->cost[g];
    return sum;
}

static void copy(const struct exchange *x, struct state *to, const struct state *from)
{
    memcpy(to->member, from->member, x->p->groups * x->p->group * sizeof(*to->member));
    memcpy(to->size, from->size, x->p->groups * sizeof(*to->size));
    memcpy(to->cost, from->cost, x->p->groups * sizeof(*to->cost));
}

/* ---- one exchange ---- */

/* Into new[side]: group g without its member i (none if i is its size), and with that program. */
static size_t replace(struct exchange *x, int side, size_t g, size_t i, bool add, size_t program)
{
    size_t n = 0;

    for (size_t j = 0; j < x->now.size[g]; j++)
        if (j != i)
            x->new[side][n++] = members(x, g)[j];
    if (add)
        x->new[side][n++] = program;
    return n;
}

static void change(struct exchange *x, size_t g, int side, size_t n, double new_cost)
{
    memcpy(members(x, g), x->new[side], n * sizeof(*x->new[side]));
    x->now.size[g] = n;
    x->now.cost[g] = new_cost;
    for (size_t other = 0; other < x->p->groups; other++)
        x->settled[g * x->p->groups + other] = x->settled[other * x->p->groups + g] = false;
}

/* Member i of a for member j of b; i or j the size of its group: for a free core there. If it gains
 * something, or is forced. */
static bool swap(struct exchange *x, size_t a, size_t i, size_t b, size_t j, bool forced)
{
    bool from_a = i < x->now.size[a], from_b = j < x->now.size[b];
    double was = x->now.cost[a] + x->now.cost[b], cost_a, cost_b;
    size_t size_a, size_b;

    if ((!from_a && !from_b) || (!from_a && i == x->p->group) || (!from_b && j == x->p->group))
        return false;
    size_a = replace(x, 0, a, i, from_b, from_b ? members(x, b)[j] : 0);
    size_b = replace(x, 1, b, j, from_a, from_a ? members(x, a)[i] : 0);
    cost_a = cost(x, x->new[0], size_a);
    cost_b = cost(x, x->new[1], size_b);
    if (!forced &&
        !(cost_a + cost_b < was - GAIN_MIN * (fabs(x->now.cost[a]) + fabs(x->now.cost[b]))))
        return false;
    change(x, a, 0, size_a, cost_a);
    change(x, b, 1, size_b, cost_b);
    return true;
}

/* ---- descent ---- */

/* One gain between two groups. */
static bool improve(struct exchange *x, size_t a, size_t b)
{
    for (size_t i = 0; i <= x->now.size[a]; i++) {
        if (stopped(x))
            return false;
        for (size_t j = 0; j <= x->now.size[b]; j++)
            if (swap(x, a, i, b, j, false))
                return true;
    }
    return false;
}

static void descend(struct exchange *x)
{
    size_t groups = x->p->groups;
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t a = 0; a < groups; a++)
            for (size_t b = a + 1; b < groups; b++) {
                if (x->settled[a * groups + b])
                    continue;
                while (improve(x, a, b))
                    changed = true;
                if (stopped(x))
                    return;
                x->settled[a * groups + b] = true;
            }
    }
}

static void disturb(struct exchange *x)
{
    for (int i = 0; i < DISTURBANCES; i++) {
        size_t a = pick(x, x->p->groups), b = pick(x, x->p->groups);

        if (a != b)
            swap(x, a, pick(x, x->now.size[a] + 1), b, pick(x, x->now.size[b] + 1), true);
    }
}

bool exchange_again(struct exchange *x)
{
    double best = total(x, &x->best), now;

    if (x->begun)
        disturb(x);
    x->begun = true;
    descend(x);
    now = total(x, &x->now);
    if (now > best || isnan(now)) {
        copy(x, &x->now, &x->best);
        memset(x->settled, true, x->p->groups * x->p->groups * sizeof(*x->settled));
        return false;
    }
    copy(x, &x->best, &x->now);
    return now < best - GAIN_MIN * fabs(best);
}

/* ---- the beginning ---- */

static void put(struct exchange *x, size_t g, size_t program)
{
    members(x, g)[x->now.size[g]++] = program;
    x->now.cost[g] = cost(x, members(x, g), x->now.size[g]);
}

/* Where the program costs least in addition; without a look at the costs once it is time to stop.
 */
static size_t cheapest_group(struct exchange *x, size_t program)
{
    double least = INFINITY;
    size_t best = 0;

    while (x->now.size[best] == x->p->group)
        best++;
    for (size_t g = best; g < x->p->groups && !stopped(x); g++) {
        double more;

        if (x->now.size[g] == x->p->group)
            continue;
        more = cost(x, x->new[0], replace(x, 0, g, x->now.size[g], true, program)) - x->now.cost[g];
        if (more < least) {
            least = more;
            best = g;
        }
    }
    return best;
}

static int state_alloc(struct state *state, const struct partition *p)
{
    state->member = calloc(p->groups * p->group, sizeof(*state->member));
    state->size = calloc(p->groups, sizeof(*state->size));
    state->cost = calloc(p->groups, sizeof(*state->cost));
    return state->member && state->size && state->cost ? 0 : -1;
}

static void state_free(struct state *state)
{
    free(state->member);
    free(state->size);
    free(state->cost);
}

struct exchange *exchange_new(const struct partition *p)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (!x)
        return NULL;
    x->p = p;
    x->random = 88172645463325252u;
    x->settled = calloc(p->groups * p->groups, sizeof(*x->settled));
    x->new[0] = calloc(p->group + 1, sizeof(*x->new[0]));
    x->new[1] = calloc(p->group + 1, sizeof(*x->new[1]));
    if (state_alloc(&x->now, p) < 0 || state_alloc(&x->best, p) < 0 || !x->settled || !x->new[0] ||
        !x->new[1]) {
        exchange_free(x);
        return NULL;
    }
    for (size_t i = 0; i < p->n; i++)
        put(x, p->start ? p->start[i] : cheapest_group(x, i), i);
    copy(x, &x->best, &x->now);
    return x;
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    state_free(&x->now);
    state_free(&x->best);
    free(x->settled);
    free(x->new[0]);
    free(x->new[1]);
    free(x);
}

double exchange_best(const struct exchange *x, size_t *group_of)
{
    for (size_t g = 0; group_of && g < x->p->groups; g++)
        for (size_t i = 0; i < x->best.size[g]; i++)
            group_of[x->best.member[g * x->p->group + i]] = g;
    return total(x, &x->best);
}
