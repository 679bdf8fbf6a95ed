/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - see search.h
 *
 * Iterated local search. Two groups are settled when no exchange of a member of one for a member of
 * the other (or for free cores) gains anything; only pairs of groups that have changed since are
 * looked at again. */
#include "models/partition/search.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DISTURBANCES 3
#define GAIN_MIN 1e-12 /* of the costs that change: less is rounding, and would never end */

struct state {
    size_t *member; /* [groups * stride] */
    size_t *size;   /* [groups] */
    size_t *cores;  /* [groups] that its members take */
    double *cost;   /* [groups] */
};

struct search {
    struct costs *costs;
    const struct partition *p;
    size_t stride; /* most members of a group */
    bool by_pairs; /* costs are those of the pairs */
    bool begun;    /* to search */
    struct state now, best;
    bool *settled;  /* [groups * groups] */
    size_t *new[2]; /* [stride + 1] scratch: members of two groups as they would be */
    uint64_t random;
};

/* Returns the same sequence on every run (xorshift). */
static size_t pick(struct search *s, size_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (size_t)(s->random % n);
}

static double cost(const struct search *s, const size_t *member, size_t n)
{
    return s->by_pairs ? costs_by_pairs(s->costs, member, n) : costs_of(s->costs, member, n);
}

static size_t *members(const struct search *s, size_t g)
{
    return &s->now.member[g * s->stride];
}

static double total(const struct search *s, const struct state *state)
{
    double sum = 0;

    for (size_t g = 0; g < s->p->groups; g++)
        sum += state->cost[g];
    return sum;
}

static void copy(const struct search *s, struct state *to, const struct state *from)
{
    memcpy(to->member, from->member, s->p->groups * s->stride * sizeof(*to->member));
    memcpy(to->size, from->size, s->p->groups * sizeof(*to->size));
    memcpy(to->cores, from->cores, s->p->groups * sizeof(*to->cores));
    memcpy(to->cost, from->cost, s->p->groups * sizeof(*to->cost));
}

static void settle_all(struct search *s, bool settled)
{
    memset(s->settled, settled, s->p->groups * s->p->groups * sizeof(*s->settled));
}

/* ---- one exchange ---- */

/* Puts into new[side] group g without its member i (none if i is its size), and with that program.
 */
static size_t replace(struct search *s, int side, size_t g, size_t i, bool add, size_t program)
{
    size_t n = 0;

    for (size_t j = 0; j < s->now.size[g]; j++)
        if (j != i)
            s->new[side][n++] = members(s, g)[j];
    if (add)
        s->new[side][n++] = program;
    return n;
}

static void change(struct search *s, size_t g, int side, size_t n, double new_cost)
{
    s->now.cores[g] = 0;
    for (size_t i = 0; i < n; i++)
        s->now.cores[g] += s->p->cores[s->new[side][i]];
    memcpy(members(s, g), s->new[side], n * sizeof(*s->new[side]));
    s->now.size[g] = n;
    s->now.cost[g] = new_cost;
    for (size_t other = 0; other < s->p->groups; other++)
        s->settled[g * s->p->groups + other] = s->settled[other * s->p->groups + g] = false;
}

/* Exchanges member i of a for member j of b (i or j the size of its group: for free cores there) if
 * they fit, and it gains something or is forced. */
static bool swap(struct search *s, size_t a, size_t i, size_t b, size_t j, bool forced)
{
    const struct partition *p = s->p;
    bool from_a = i < s->now.size[a], from_b = j < s->now.size[b];
    size_t x = from_a ? members(s, a)[i] : 0, y = from_b ? members(s, b)[j] : 0;
    size_t cores_x = from_a ? p->cores[x] : 0, cores_y = from_b ? p->cores[y] : 0, size_a, size_b;
    double was = s->now.cost[a] + s->now.cost[b], cost_a, cost_b;

    if ((!from_a && !from_b) || (from_a && from_b && p->kind[x] == p->kind[y]) ||
        s->now.cores[a] - cores_x + cores_y > p->room[a] ||
        s->now.cores[b] - cores_y + cores_x > p->room[b])
        return false;
    size_a = replace(s, 0, a, i, from_b, y);
    size_b = replace(s, 1, b, j, from_a, x);
    cost_a = cost(s, s->new[0], size_a);
    cost_b = cost(s, s->new[1], size_b);
    if (!forced &&
        !(cost_a + cost_b < was - GAIN_MIN * (fabs(s->now.cost[a]) + fabs(s->now.cost[b]))))
        return false;
    change(s, a, 0, size_a, cost_a);
    change(s, b, 1, size_b, cost_b);
    return true;
}

/* ---- descent ---- */

/* Finds one gain between two groups. */
static bool improve(struct search *s, size_t a, size_t b)
{
    for (size_t i = 0; i <= s->now.size[a]; i++) {
        if (costs_stopped(s->costs))
            return false;
        for (size_t j = 0; j <= s->now.size[b]; j++)
            if (swap(s, a, i, b, j, false))
                return true;
    }
    return false;
}

static void descend(struct search *s)
{
    size_t groups = s->p->groups;
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t a = 0; a < groups; a++)
            for (size_t b = a + 1; b < groups; b++) {
                if (s->settled[a * groups + b])
                    continue;
                while (improve(s, a, b))
                    changed = true;
                if (costs_stopped(s->costs))
                    return;
                s->settled[a * groups + b] = true;
            }
    }
}

static void disturb(struct search *s)
{
    for (int i = 0; i < DISTURBANCES; i++) {
        size_t a = pick(s, s->p->groups), b = pick(s, s->p->groups);

        if (a != b)
            swap(s, a, pick(s, s->now.size[a] + 1), b, pick(s, s->now.size[b] + 1), true);
    }
}

bool search_again(struct search *s)
{
    double best = total(s, &s->best), now;

    if (s->begun)
        disturb(s);
    s->begun = true;
    descend(s);
    now = total(s, &s->now);
    if (now > best || isnan(now)) {
        copy(s, &s->now, &s->best);
        settle_all(s, true);
        return false;
    }
    copy(s, &s->best, &s->now);
    return now < best - GAIN_MIN * fabs(best);
}

/* ---- the beginning ---- */

static void put(struct search *s, size_t g, size_t program)
{
    members(s, g)[s->now.size[g]++] = program;
    s->now.cores[g] += s->p->cores[program];
    s->now.cost[g] = cost(s, members(s, g), s->now.size[g]);
}

/* Returns where the program costs least in addition; does not look at the costs once it is time to
 * stop. */
static size_t cheapest_group(struct search *s, size_t program)
{
    double least = INFINITY;
    size_t best = 0;

    while (s->now.cores[best] + s->p->cores[program] > s->p->room[best])
        best++;
    for (size_t g = best; g < s->p->groups && !costs_stopped(s->costs); g++) {
        double more;

        if (s->now.cores[g] + s->p->cores[program] > s->p->room[g])
            continue;
        more = cost(s, s->new[0], replace(s, 0, g, s->now.size[g], true, program)) - s->now.cost[g];
        if (more < least) {
            least = more;
            best = g;
        }
    }
    return best;
}

static void recount(struct search *s, bool by_pairs)
{
    s->by_pairs = by_pairs;
    for (size_t g = 0; g < s->p->groups; g++)
        s->now.cost[g] = cost(s, members(s, g), s->now.size[g]);
    settle_all(s, false);
}

static void search_reset(struct search *s)
{
    const struct partition *p = s->p;

    s->by_pairs = !p->pairwise;
    for (size_t i = 0; i < p->n; i++)
        put(s, p->start ? p->start[i] : cheapest_group(s, i), i);
    if (!p->pairwise) {
        recount(s, false);
        copy(s, &s->best, &s->now);
        recount(s, true);
        descend(s);
        recount(s, false);
        if (total(s, &s->now) > total(s, &s->best))
            copy(s, &s->now, &s->best);
    }
    copy(s, &s->best, &s->now);
}

static int state_alloc(struct state *state, size_t groups, size_t stride)
{
    state->member = calloc(groups * stride, sizeof(*state->member));
    state->size = calloc(groups, sizeof(*state->size));
    state->cores = calloc(groups, sizeof(*state->cores));
    state->cost = calloc(groups, sizeof(*state->cost));
    return state->member && state->size && state->cores && state->cost ? 0 : -1;
}

static void state_free(struct state *state)
{
    free(state->member);
    free(state->size);
    free(state->cores);
    free(state->cost);
}

struct search *search_new(struct costs *costs)
{
    const struct partition *p = costs->partition;
    struct search *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct search){.costs = costs, .p = p, .random = 88172645463325252u};
    for (size_t g = 0; g < p->groups; g++)
        s->stride = p->room[g] > s->stride ? p->room[g] : s->stride;
    s->stride = s->stride < p->n ? s->stride : p->n;
    s->settled = calloc(p->groups * p->groups, sizeof(*s->settled));
    s->new[0] = calloc(s->stride + 1, sizeof(*s->new[0]));
    s->new[1] = calloc(s->stride + 1, sizeof(*s->new[1]));
    if (state_alloc(&s->now, p->groups, s->stride) < 0 ||
        state_alloc(&s->best, p->groups, s->stride) < 0 || !s->settled || !s->new[0] ||
        !s->new[1]) {
        search_free(s);
        return NULL;
    }
    search_reset(s);
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    state_free(&s->now);
    state_free(&s->best);
    free(s->settled);
    free(s->new[0]);
    free(s->new[1]);
    free(s);
}

double search_best(const struct search *s, size_t *group_of)
{
    for (size_t g = 0; group_of && g < s->p->groups; g++)
        for (size_t i = 0; i < s->best.size[g]; i++)
            group_of[s->best.member[g * s->stride + i]] = g;
    return total(s, &s->best);
}
