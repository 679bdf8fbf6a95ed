/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_scan - a box with few allocations of one program is looked through, which takes less than
 * the linear programs of the boxes that it would be split into.
 *
 * Cell by cell, with the most cores first, and back where what is left has nothing above the goal.
 * Two bounds say so: the relaxation's, less what its prices say that the chosen counts lose; and
 * what the memories deliver when no link limits it and the cells still to come have all the cores
 * of the box, less the fewest cores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/allot_impl.h"

#define WORK 20000            /* flows worked out, for one box */
#define ALLOCATIONS_MAX 20000 /* more are not even begun with */
#define CELLS_MAX 24          /* to choose counts for */

/* A flow, as one of its ends sees it. */
struct lane {
    size_t other, from;
    double mine, theirs, max; /* for each core at this end and at the other; at most */
    double base;              /* what the other end's cores drive */
};

struct scan {
    size_t *first; /* the lanes of node i: lane[first[i]] .. before first[i + 1] */
    struct lane *lane;
    unsigned *cores; /* of each cell: chosen, or the most that the box has */
    double *supply;  /* for each depth, of each node: what is asked of its memory */
    double *loss;    /* for each depth, of each point: how far the bound falls */
    size_t points;   /* of a cell, at most */
    /* the box that is looked through */
    const struct box *box;
    size_t cells, cell[CELLS_MAX]; /* those with several counts */
    double least[CELLS_MAX + 1];   /* cores, of those from here on */
    size_t work;                   /* that is left */
    double above;                  /* what is not above it is passed over */
    bool met;                      /* something was above it */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double most_demand(const struct points *points, size_t lo, size_t hi)
{
    double most = 0;

    for (size_t k = lo; k <= hi; k++)
        most = points->demand[k] > most ? points->demand[k] : most;
    return most;
}

/* supply += sign * what the lanes of the cell have with that many cores in it. */
static void charge(const struct scan *s, size_t cell, double cores, double sign, double *supply)
{
    for (size_t k = s->first[cell]; k < s->first[cell + 1]; k++) {
        const struct lane *lane = &s->lane[k];

        supply[lane->from] += sign * smaller(lane->max, lane->base + lane->mine * cores);
    }
}

/* Take what the cell asks for with all its cores from what is asked for at this depth. */
static void open_cell(struct allot *a, size_t depth)
{
    struct scan *s = a->scan;
    size_t cell = s->cell[depth], lo = s->box->lo[cell], hi = s->box->hi[cell];
    double *supply = &s->supply[depth * a->nodes];

    for (size_t k = s->first[cell]; k < s->first[cell + 1]; k++)
        s->lane[k].base = s->lane[k].theirs * s->cores[s->lane[k].other];
    charge(s, cell, allot_count(a, cell, hi), -1, supply);
    supply[cell] -= most_demand(&a->problem->points[cell], lo, hi);
}

/* Choose a count for the cell at this depth: what do the memories deliver at most? */
static double choose(const struct allot *a, size_t depth, size_t point)
{
    struct scan *s = a->scan;
    size_t cell = s->cell[depth];
    double *now = &s->supply[depth * a->nodes], *next = now + a->nodes, sum = 0;

    s->cores[cell] = allot_count(a, cell, point);
    memcpy(next, now, a->nodes * sizeof(*next));
    next[cell] += a->problem->points[cell].demand[point];
    charge(s, cell, s->cores[cell], 1, next);
    for (size_t i = 0; i < a->nodes; i++)
        sum += smaller(a->flows->machine->alpha[i], next[i]);
    return sum;
}

/* Settling: returns whether what is chosen up to the cell can still come before the best. */
static bool may_rise(const struct allot *a, size_t cell)
{
    const unsigned *best = a->best->allocation, *cores = a->scan->cores;

    for (size_t i = 0; a->settling && i <= cell; i++)
        if (cores[i] != best[i])
            return cores[i] > best[i];
    return true;
}

static void look(struct allot *a)
{
    struct scan *s = a->scan;

    s->met |= allot_try(a, s->cores, s->met ? allot_goal(a) : a->above);
    s->above = s->met ? allot_goal(a) : a->above;
}

/* The counts of the cells from this depth on, when those before leave that bound and have so many
 * cores. False when the work is done before they are looked through. */
static bool scan_from(struct allot *a, size_t depth, double bound, double cores)
{
    struct scan *s = a->scan;
    size_t cell, lo, hi;
    const double *loss = &s->loss[depth * s->points];
    bool all = true;

    if (depth == s->cells) {
        look(a);
        return true;
    }
    cell = s->cell[depth];
    lo = s->box->lo[cell];
    hi = s->box->hi[cell];
    open_cell(a, depth);
    for (size_t k = hi + 1; all && k-- > lo;) {
        double sum = cores + allot_count(a, cell, k), least = sum + s->least[depth + 1], most;
        size_t work = s->first[cell + 1] - s->first[cell] + a->nodes;

        if (bound - loss[k - lo] <= s->above || least > s->box->sum_hi[0])
            continue;
        if (s->work < work)
            return false;
        s->work -= work;
        most = a->problem->gain[0] * choose(a, depth, k) - fmax(least, s->box->sum_lo[0]);
        if (most > s->above && may_rise(a, cell))
            all = scan_from(a, depth + 1, bound - loss[k - lo], sum);
    }
    s->cores[cell] = allot_count(a, cell, hi);
    return all;
}

/* The cells to choose for, and what is asked of the memories with all cores of the box. */
static bool prepare(struct allot *a, const struct box *box)
{
    struct scan *s = a->scan;
    double allocations = 1;

    s->box = box;
    s->cells = 0;
    for (size_t cell = 0; cell < a->cells; cell++) {
        s->cores[cell] = allot_count(a, cell, box->hi[cell]);
        s->supply[cell] = most_demand(&a->problem->points[cell], box->lo[cell], box->hi[cell]);
        if (box->lo[cell] == box->hi[cell])
            continue;
        if (s->cells == CELLS_MAX)
            return false;
        allocations *= (double)(box->hi[cell] - box->lo[cell] + 1);
        relax_losses(a->relax, box, cell, &s->loss[s->cells * s->points]);
        s->cell[s->cells++] = cell;
    }
    for (size_t k = 0; k < a->flows->flows; k++) {
        const struct flow *flow = &a->flows->flow[k];

        s->supply[flow->from] += flow_cap(flow, s->cores[flow->from], s->cores[flow->to]);
    }
    if (allocations > ALLOCATIONS_MAX)
        return false;
    s->least[s->cells] = 0;
    for (size_t d = s->cells; d-- > 0;)
        s->least[d] = s->least[d + 1] + allot_count(a, s->cell[d], box->lo[s->cell[d]]);
    return true;
}

enum scan_end allot_scan(struct allot *a, const struct box *box)
{
    struct scan *s = a->scan;
    double fixed = 0;

    if (!s || !a->best->found || !prepare(a, box))
        return SCAN_TOO_MANY;
    for (size_t cell = 0; cell < a->cells; cell++)
        if (box->lo[cell] == box->hi[cell])
            fixed += s->cores[cell];
    s->work = WORK;
    s->met = false;
    s->above = a->above;
    if (!scan_from(a, 0, relax_bound(a->relax), fixed))
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

struct scan *scan_new(const struct allot *a)
{
    struct scan *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    for (size_t cell = 0; cell < a->cells; cell++)
        s->points = a->problem->points[cell].n > s->points ? a->problem->points[cell].n : s->points;
    s->first = calloc(a->nodes + 2, sizeof(*s->first));
    s->lane = calloc(2 * a->flows->flows + 1, sizeof(*s->lane));
    s->cores = calloc(a->cells, sizeof(*s->cores));
    s->supply = calloc((CELLS_MAX + 1) * a->nodes, sizeof(*s->supply));
    s->loss = calloc(CELLS_MAX * s->points, sizeof(*s->loss));
    if (s->first && s->lane && s->cores && s->supply && s->loss) {
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
    free(s->cores);
    free(s->supply);
    free(s->loss);
    free(s);
}
