/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_scan - a box with few allocations of one program is looked through, which takes less than
 * the linear programs of the boxes that it would be split into.
 *
 * Cell by cell, with the most cores first, and back where what is left has nothing above the goal.
 * Two bounds say so, for which each memory is asked for the most and for the least that the counts
 * still to be chosen allow: the relaxation's, less what its prices say that the chosen counts lose,
 * and what memories lose that are asked for too little or too much; and what the memories deliver
 * when no link limits it, less the fewest cores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/allot_impl.h"

#define WORK 20000   /* flows worked out, for one box; settling: a->work */
#define CELLS_MAX 24 /* to choose counts for */

/* A flow, as one of its ends sees it. */
struct lane {
    size_t other, from;
    double mine, theirs, max; /* for each core at this end and at the other; at most */
};

/* The counts that are chosen, and for the others the most (or the least) that the box has. */
struct side {
    unsigned *cores; /* of each cell */
    double *base;    /* of each lane: what the other end's cores drive */
    double *asked;   /* for each depth, of each node: what is asked of its memory */
};

struct scan {
    size_t *first; /* the lanes of node i: lane[first[i]] .. before first[i + 1] */
    struct lane *lane;
    struct side most, least;
    struct prices now, root; /* of the box's relaxation, and of the first one */
    size_t points;           /* of a cell, at most */
    /* the box that is looked through */
    const struct box *box;
    size_t cells, cell[CELLS_MAX]; /* those with several counts */
    double fewest[CELLS_MAX + 1];  /* cores, of those from here on */
    double largest[CELLS_MAX + 1]; /* the same, at most */
    double sum_lo, sum_hi;         /* cores, of all */
    size_t work;                   /* that is left */
    double above;                  /* what is not above it is passed over */
    bool met;                      /* something was above it */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the most (least) that the cell asks of its own memory with points lo .. hi. */
static double demand_of(const struct points *points, size_t lo, size_t hi, bool most)
{
    double demand = points->demand[lo];

    for (size_t k = lo + 1; k <= hi; k++)
        if (most ? points->demand[k] > demand : points->demand[k] < demand)
            demand = points->demand[k];
    return demand;
}

/* asked += sign * what the lanes of the cell have with that many cores in it. */
static void charge(const struct scan *s, const struct side *side, size_t cell, double cores,
                   double sign, double *asked)
{
    for (size_t k = s->first[cell]; k < s->first[cell + 1]; k++) {
        const struct lane *lane = &s->lane[k];

        asked[lane->from] += sign * smaller(lane->max, side->base[k] + lane->mine * cores);
    }
}

/* Takes what the cell asks for before it is chosen from what is asked for at this depth. */
static void open_side(const struct allot *a, struct side *side, size_t depth)
{
    const struct scan *s = a->scan;
    size_t cell = s->cell[depth];
    double *asked = &side->asked[depth * a->nodes];

    for (size_t k = s->first[cell]; k < s->first[cell + 1]; k++)
        side->base[k] = s->lane[k].theirs * side->cores[s->lane[k].other];
    charge(s, side, cell, side->cores[cell], -1, asked);
    asked[cell] -=
        demand_of(&a->problem->points[cell], s->box->lo[cell], s->box->hi[cell], side == &s->most);
}

/* Chooses a count for the cell at this depth. Returns what is asked for then. */
static const double *choose_side(const struct allot *a, struct side *side, size_t depth,
                                 size_t point)
{
    const struct scan *s = a->scan;
    size_t cell = s->cell[depth];
    double *now = &side->asked[depth * a->nodes], *next = now + a->nodes;

    memcpy(next, now, a->nodes * sizeof(*next));
    next[cell] += a->problem->points[cell].demand[point];
    charge(s, side, cell, allot_count(a, cell, point), 1, next);
    return next;
}

/* Chooses a count for the cell at this depth. Returns what the memories deliver at most, and in
 * *missed by how much the bound falls as they are asked for too little or too much. */
static double choose(const struct allot *a, size_t depth, size_t point, double *missed,
                     double *missed_root)
{
    struct scan *s = a->scan;
    const double *most = choose_side(a, &s->most, depth, point);
    const double *least = choose_side(a, &s->least, depth, point);
    const double *alpha = a->flows->machine->alpha;
    double sum = 0;

    *missed = *missed_root = 0;
    for (size_t i = 0; i < a->nodes; i++) {
        sum += smaller(alpha[i], most[i]);
        if (most[i] < alpha[i]) {
            *missed += s->now.idle[i] * (alpha[i] - most[i]);
            *missed_root += s->root.idle[i] * (alpha[i] - most[i]);
        } else if (least[i] > alpha[i]) {
            *missed += s->now.over[i] * (least[i] - alpha[i]);
            *missed_root += s->root.over[i] * (least[i] - alpha[i]);
        }
    }
    return sum;
}

static void look(struct allot *a)
{
    struct scan *s = a->scan;

    s->met |= allot_try(a, s->most.cores, s->met ? allot_goal(a) : a->above);
    s->above = s->met ? allot_goal(a) : a->above;
}

static void set_cores(struct scan *s, size_t cell, unsigned most, unsigned least)
{
    s->most.cores[cell] = most;
    s->least.cores[cell] = least;
}

/* What is chosen up to a depth. */
struct prefix {
    double bound, root, cores;
    size_t nodes; /* that have cores */
};

static bool scan_from(struct allot *a, size_t depth, struct prefix prefix);

/* Chooses the point for the cell at this depth, and goes on where that may be worth while. Returns
 * false when the work is done before all is looked through. */
static bool scan_point(struct allot *a, size_t depth, size_t point, struct prefix prefix)
{
    struct scan *s = a->scan;
    size_t cell = s->cell[depth];
    size_t work = 2 * (s->first[cell + 1] - s->first[cell] + a->nodes);
    double fewest, most, missed, missed_root;
    unsigned count = allot_count(a, cell, point);

    if (count > s->most.cores[a->before[cell]])
        return true;
    prefix.bound -= s->now.loss[cell * s->points + point];
    prefix.root -= s->root.loss[cell * s->points + point];
    prefix.cores += count;
    prefix.nodes += count > 0;
    fewest = prefix.cores + s->fewest[depth + 1];
    if (prefix.bound <= s->above || prefix.root <= s->above || fewest > s->sum_hi ||
        prefix.cores + s->largest[depth + 1] < s->sum_lo)
        return true;
    if (s->work < work)
        return false;
    s->work -= work;
    set_cores(s, cell, count, count);
    most = a->problem->gain[0] * choose(a, depth, point, &missed, &missed_root) -
           fmax(fewest, s->sum_lo);
    if (most <= s->above || prefix.bound - missed <= s->above ||
        prefix.root - missed_root <= s->above ||
        (a->settling && !allot_may_precede(a, s->most.cores, cell, prefix.nodes)))
        return true;
    return scan_from(a, depth + 1, prefix);
}

/* Looks at the counts of the cells from this depth on. */
static bool scan_from(struct allot *a, size_t depth, struct prefix prefix)
{
    struct scan *s = a->scan;
    size_t cell, lo, hi;
    bool all = true;

    if (depth == s->cells) {
        look(a);
        return true;
    }
    cell = s->cell[depth];
    lo = s->box->lo[cell];
    hi = s->box->hi[cell];
    open_side(a, &s->most, depth);
    open_side(a, &s->least, depth);
    for (size_t k = hi + 1; all && k-- > lo;)
        all = scan_point(a, depth, k, prefix);
    set_cores(s, cell, allot_count(a, cell, hi), allot_count(a, cell, lo));
    return all;
}

/* Finds what is asked of the memories before anything is chosen. */
static void prepare_side(struct allot *a, struct side *side, const struct box *box)
{
    for (size_t cell = 0; cell < a->cells; cell++)
        side->asked[cell] = demand_of(&a->problem->points[cell], box->lo[cell], box->hi[cell],
                                      side == &a->scan->most);
    for (size_t k = 0; k < a->flows->flows; k++) {
        const struct flow *flow = &a->flows->flow[k];

        side->asked[flow->from] += flow_cap(flow, side->cores[flow->from], side->cores[flow->to]);
    }
}

static void prices_fill(struct allot *a, struct prices *prices, const struct box *box)
{
    prices->bound = relax_bound(a->relax);
    for (size_t cell = 0; cell < a->cells; cell++)
        relax_losses(a->relax, box, cell, &prices->loss[cell * a->scan->points + box->lo[cell]]);
    relax_misses(a->relax, prices->idle, prices->over);
}

/* Finds the cells to choose for. Returns false where there are too many. */
static bool prepare(struct allot *a, const struct box *box)
{
    struct scan *s = a->scan;

    s->box = box;
    s->cells = 0;
    for (size_t cell = 0; cell < a->cells; cell++) {
        set_cores(s, cell, allot_count(a, cell, box->hi[cell]),
                  allot_count(a, cell, box->lo[cell]));
        if (box->lo[cell] == box->hi[cell])
            continue;
        if (s->cells == CELLS_MAX)
            return false;
        s->cell[s->cells++] = cell;
    }
    prepare_side(a, &s->most, box);
    prepare_side(a, &s->least, box);
    prices_fill(a, &s->now, box);
    s->sum_lo = fmax(box->sum_lo[0], a->fewest[0]);
    s->sum_hi = smaller(box->sum_hi[0], a->most[0]);
    s->fewest[s->cells] = s->largest[s->cells] = 0;
    for (size_t d = s->cells; d-- > 0;) {
        s->fewest[d] = s->fewest[d + 1] + allot_count(a, s->cell[d], box->lo[s->cell[d]]);
        s->largest[d] = s->largest[d + 1] + allot_count(a, s->cell[d], box->hi[s->cell[d]]);
    }
    return true;
}

void scan_keep_root(struct allot *a, const struct box *box)
{
    prices_fill(a, &a->scan->root, box);
}

enum scan_end allot_scan(struct allot *a, const struct box *box)
{
    struct scan *s = a->scan;
    struct prefix prefix = {0};
    size_t given = a->settling ? a->work : WORK;
    bool all;

    if (!s || !a->best->found || !prepare(a, box))
        return SCAN_TOO_MANY;
    prefix.bound = s->now.bound;
    prefix.root = s->root.bound;
    for (size_t cell = 0; cell < a->cells; cell++)
        if (box->lo[cell] == box->hi[cell]) {
            prefix.root -= s->root.loss[cell * s->points + box->lo[cell]];
            prefix.cores += s->most.cores[cell];
            prefix.nodes += s->most.cores[cell] > 0;
        }
    s->work = given;
    s->met = false;
    s->above = a->above;
    all = scan_from(a, 0, prefix);
    a->work -= a->settling ? given - s->work : 0;
    if (!all)
        return SCAN_TOO_MANY;
    return s->met ? SCAN_MET : SCAN_NOTHING;
}

static void make_lanes(struct scan *s, const struct flows *f)
{
    for (size_t k = 0; k < f->flows; k++) {
        s->first[f->flow[k].from + 2]++;
        s->first[f->flow[k].to + 2]++;
    }
    for (size_t i = 2; i <= f->machine->nodes; i++)
        s->first[i] += s->first[i - 1];
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];

        s->lane[s->first[flow->from + 1]++] = (struct lane){.other = flow->to,
                                                            .from = flow->from,
                                                            .mine = flow->write,
                                                            .theirs = flow->read,
                                                            .max = flow->max};
        s->lane[s->first[flow->to + 1]++] = (struct lane){.other = flow->from,
                                                          .from = flow->from,
                                                          .mine = flow->read,
                                                          .theirs = flow->write,
                                                          .max = flow->max};
    }
}

static bool side_init(const struct allot *a, struct side *side)
{
    side->cores = calloc(a->cells, sizeof(*side->cores));
    side->base = calloc(2 * a->flows->flows + 1, sizeof(*side->base));
    side->asked = calloc((CELLS_MAX + 1) * a->nodes, sizeof(*side->asked));
    return side->cores && side->base && side->asked;
}

static void side_free(struct side *side)
{
    free(side->cores);
    free(side->base);
    free(side->asked);
}

static bool prices_init(const struct allot *a, struct prices *prices, size_t points)
{
    prices->bound = INFINITY;
    prices->loss = calloc(a->cells * points, sizeof(*prices->loss));
    prices->idle = calloc(2 * a->nodes, sizeof(*prices->idle));
    prices->over = prices->idle ? prices->idle + a->nodes : NULL;
    return prices->loss && prices->idle;
}

static void prices_free(struct prices *prices)
{
    free(prices->loss);
    free(prices->idle);
}

const struct prices *scan_root(const struct allot *a, size_t *points)
{
    if (!a->scan || !a->root)
        return NULL;
    *points = a->scan->points;
    return &a->scan->root;
}

struct scan *scan_new(const struct allot *a)
{
    struct scan *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    for (size_t cell = 0; cell < a->cells; cell++)
        s->points = a->problem->points[cell].n > s->points ? a->problem->points[cell].n : s->points;
    s->first = calloc(a->nodes + 2, sizeof(*s->first));
    s->lane = calloc(2 * a->flows->flows + 1, sizeof(*s->lane));
    if (s->first && s->lane && side_init(a, &s->most) && side_init(a, &s->least) &&
        prices_init(a, &s->now, s->points) && prices_init(a, &s->root, s->points)) {
        make_lanes(s, a->flows);
        return s;
    }
    scan_free(s);
    return NULL;
}

void scan_free(struct scan *s)
{
    if (!s)
        return;
    free(s->first);
    free(s->lane);
    side_free(&s->most);
    side_free(&s->least);
    prices_free(&s->now);
    prices_free(&s->root);
    free(s);
}
