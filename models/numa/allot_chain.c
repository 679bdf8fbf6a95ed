/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_chain - one program whose nodes have traffic with their neighbours only, in a ring or a
 * row: what branch and bound cannot prove where nodes are alike, as the relaxation's optimum can
 * be turned round the ring.
 *
 * By the prices of the first relaxation (relax_misses) an allocation loses something for each
 * node's count, and for each memory that is asked for too little or too much, which three
 * neighbours decide. What the nodes from one on lose at least, given the two before it, is found
 * backwards; then allocations are looked for forwards, and of those that agree on the first two
 * nodes and on the last two that are chosen, only the one that has lost least. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/allot_impl.h"

#define CHAIN_MIN 5           /* nodes */
#define CELLS_MOST 12000000.0 /* looked at backwards */
#define WORK 4000000          /* counts tried forwards */
#define STATES ((size_t)1 << 18)

/* What is known of the first two nodes and the last two chosen. */
struct state {
    uint64_t key; /* 0: free */
    double lost;
};

struct chain {
    struct allot *a;
    const struct box *box;
    const struct prices *root;
    size_t points; /* of a node, at most */
    size_t *first; /* the flows of node i's memory: first[i] .. before first[i + 1] */
    size_t *last;  /* of each node: when its memory is known to be asked for what */
    bool *seam;    /* the memory is asked from both ends of the row */
    double *ahead; /* [node][point of the one but last][point of the last]: lost from there on */
    size_t *now;   /* of each node: its point */
    struct state *state;
    size_t work;
    bool met, exact;
    bool turns; /* the ring: node 0 has the most cores */
};

static double *ahead_of(const struct chain *c, size_t node, size_t x, size_t y)
{
    return &c->ahead[(node * c->points + x) * c->points + y];
}

/* Returns what is lost at the memory of node m. */
static double missed(const struct chain *c, size_t m)
{
    const struct allot *a = c->a;
    double asked = a->problem->points[m].demand[c->now[m]], alpha = a->flows->machine->alpha[m];

    for (size_t k = c->first[m]; k < c->first[m + 1]; k++) {
        const struct flow *flow = &a->flows->flow[k];

        asked += flow_cap(flow, allot_count(a, m, c->now[m]),
                          allot_count(a, flow->to, c->now[flow->to]));
    }
    return asked < alpha ? c->root->idle[m] * (alpha - asked) : c->root->over[m] * (asked - alpha);
}

/* Returns what node i's count loses, and the memories that are known with it (seam: all of them,
 * or only those that three neighbours decide). */
static double lost_at(const struct chain *c, size_t i, bool seam)
{
    double lost = c->root->loss[i * c->points + c->now[i]];
    size_t from = i < 2 || (seam && i + 1 == c->a->nodes) ? 0 : i - 2;

    for (size_t m = from; m <= i; m++)
        if (c->last[m] == i && (seam || !c->seam[m]))
            lost += missed(c, m);
    return lost;
}

static void look_ahead(struct chain *c)
{
    size_t n = c->a->nodes, *now = c->now;
    const struct box *box = c->box;

    for (size_t i = n - 1; i >= 2; i--)
        for (now[i - 2] = box->lo[i - 2]; now[i - 2] <= box->hi[i - 2]; now[i - 2]++)
            for (now[i - 1] = box->lo[i - 1]; now[i - 1] <= box->hi[i - 1]; now[i - 1]++) {
                double least = INFINITY;

                for (now[i] = box->lo[i]; now[i] <= box->hi[i]; now[i]++) {
                    double after = i + 1 < n ? *ahead_of(c, i + 1, now[i - 1], now[i]) : 0;

                    if (after < least)
                        least = fmin(least, after + lost_at(c, i, false));
                }
                *ahead_of(c, i, now[i - 2], now[i - 1]) = least;
            }
}

/* Returns whether the first two nodes and the two before this one were met with no more lost. */
static bool was_met(struct chain *c, size_t i, double lost)
{
    uint64_t key = i;
    size_t at;

    key = key * c->points + c->now[0];
    key = key * c->points + c->now[1];
    key = key * c->points + c->now[i - 2];
    key = key * c->points + c->now[i - 1] + 1;
    at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 46) & (STATES - 1);
    for (size_t tried = 0; tried < 8; tried++, at = (at + 1) & (STATES - 1)) {
        if (c->state[at].key == 0)
            c->state[at] = (struct state){key, INFINITY};
        if (c->state[at].key != key)
            continue;
        if (c->state[at].lost <= lost)
            return true;
        c->state[at].lost = lost;
        return false;
    }
    return false;
}

static double bar(const struct chain *c)
{
    return c->met ? allot_goal(c->a) : c->a->above;
}

static void look(struct chain *c, double lost)
{
    struct allot *a = c->a;
    double bound = c->root->bound - lost, goal = bar(c);

    for (size_t i = 0; i < a->nodes; i++)
        a->trial[i] = allot_count(a, i, c->now[i]);
    if (!allot_try(a, a->trial, goal) || a->best->objective < bound - allot_tie(bound))
        c->exact = false;
    c->met = true;
}

static bool is_stopped(const struct allot *a)
{
    return a->problem->stop && a->problem->stop(a->problem->stop_arg);
}

/* Looks at node i and those after it. Returns false where the work is done before. */
static bool go_on(struct chain *c, size_t i, double lost)
{
    const struct box *box = c->box;
    size_t n = c->a->nodes;

    if (i == n) {
        look(c, lost);
        return c->exact;
    }
    if (i >= 4 && was_met(c, i, lost))
        return true;
    for (c->now[i] = box->lo[i]; c->now[i] <= box->hi[i]; c->now[i]++) {
        double after, more;

        if (c->work-- == 0 || (c->work % 4096 == 0 && is_stopped(c->a)))
            return false;
        if (c->now[i] > c->now[c->a->before[i]] || (c->turns && c->now[i] > c->now[0]))
            break;
        more = lost + lost_at(c, i, true);
        after = i > 0 && i + 1 < n ? *ahead_of(c, i + 1, c->now[i - 1], c->now[i]) : 0;
        if (c->root->bound - more - after > bar(c) && !go_on(c, i + 1, more))
            return false;
    }
    return true;
}

/* Finds who asks which memory. Returns whether neighbours decide of each. */
static bool is_chain(struct chain *c)
{
    const struct flows *f = c->a->flows;
    size_t n = c->a->nodes, k = 0, seams = 0;

    for (size_t m = 0; m < n; m++) {
        size_t lo = m, hi = m;

        for (c->first[m] = k; k < f->flows && f->flow[k].from == m; k++) {
            lo = f->flow[k].to < lo ? f->flow[k].to : lo;
            hi = f->flow[k].to > hi ? f->flow[k].to : hi;
        }
        c->first[m + 1] = k;
        c->seam[m] = hi - lo > 2;
        c->last[m] = c->seam[m] ? n - 1 : hi;
        for (size_t j = c->first[m]; c->seam[m] && j < k; j++)
            if (f->flow[j].to > 1 && f->flow[j].to + 2 < n)
                return false;
        if (c->seam[m] && m > 1 && m + 2 < n)
            return false;
        seams += c->seam[m];
    }
    return seams <= 4;
}

static bool allocate(struct chain *c)
{
    size_t n = c->a->nodes;

    c->first = calloc(3 * n + 1, sizeof(*c->first));
    c->seam = calloc(n, sizeof(*c->seam));
    if (!c->first || !c->seam)
        return false;
    c->last = c->first + n + 1;
    c->now = c->last + n;
    if (!is_chain(c))
        return false;
    c->ahead = calloc(n * c->points * c->points, sizeof(*c->ahead));
    c->state = calloc(STATES, sizeof(*c->state));
    return c->ahead && c->state;
}

static bool is_large(const struct allot *a, const struct box *box)
{
    double sum = 0;

    for (size_t i = 2; i < a->nodes; i++) {
        double cells = 1;

        for (size_t j = i - 2; j <= i; j++)
            cells *= (double)(box->hi[j] - box->lo[j] + 1);
        sum += cells;
    }
    return sum > CELLS_MOST;
}

bool allot_chain(struct allot *a, const struct box *box)
{
    struct chain c = {.a = a, .box = box, .work = WORK, .exact = true};
    bool done = false;

    c.root = a->nodes < CHAIN_MIN ? NULL : scan_root(a, &c.points);
    if (!c.root || !a->best->found || is_large(a, box))
        return false;
    if (allocate(&c)) {
        c.turns = alike_turns(a);
        look_ahead(&c);
        done = go_on(&c, 0, 0) && c.exact;
    }
    free(c.first);
    free(c.seam);
    free(c.ahead);
    free(c.state);
    return done;
}
