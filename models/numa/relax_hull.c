/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_hull - the concave hulls of what one cell's cores drive, facet by facet as the relaxation
 * needs them. */
#include <math.h>
#include <stdlib.h>

#include "models/numa/relax_impl.h"

#define VIOLATED 1e-9 /* relative to 1 + value */

double curve_value(const struct relax *r, const struct curve *curve, size_t point)
{
    const struct points *points = &r->problem->points[curve->cell];

    if (curve->kind == CURVE_FLOW)
        return fmin(curve->max, curve->rate * points->count[point]);
    return points->demand[point];
}

/* Returns the same, so that it is always the upper hull that counts. */
static double curve_height(const struct relax *r, const struct curve *curve, size_t point)
{
    double value = curve_value(r, curve, point);

    return curve->kind == CURVE_LOWER ? -value : value;
}

static double at(const struct relax *r, const struct curve *curve, size_t left, size_t right,
                 double cores)
{
    const unsigned *count = r->problem->points[curve->cell].count;
    double y = curve_height(r, curve, left);

    if (left == right)
        return y;
    return y + (curve_height(r, curve, right) - y) * (cores - count[left]) /
                   ((double)count[right] - count[left]);
}

/* Returns the point left of a number of cores, between lo < hi; the next one is right of it. */
static size_t left_of(const struct points *points, size_t lo, size_t hi, double cores)
{
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;

        if (points->count[middle] <= cores)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Finds the segment of the upper hull of points lo .. hi over a number of cores. */
static void hull_segment(struct relax *r, const struct curve *curve, double cores, size_t *left,
                         size_t *right)
{
    const unsigned *count = r->problem->points[curve->cell].count;
    size_t n = 0, *chain = r->chain;

    for (size_t k = *left; k <= *right; k++) {
        while (n > 1 && at(r, curve, chain[n - 2], k, count[chain[n - 1]]) >=
                            curve_height(r, curve, chain[n - 1]))
            n--;
        chain[n++] = k;
    }
    for (size_t i = 1; i < n; i++)
        if (i == n - 1 || count[chain[i]] >= cores) {
            *left = chain[i - 1];
            *right = chain[i];
            return;
        }
}

static bool is_below(const struct relax *r, const struct facet *facet, size_t point)
{
    const struct curve *curve = &r->curve[facet->curve];
    double y = curve_value(r, curve, point);
    double line = facet->constant + facet->slope * r->problem->points[curve->cell].count[point];
    double rounding = 1e-13 * (1 + fabs(y));

    return curve->kind == CURVE_LOWER ? y >= line - rounding : y <= line + rounding;
}

/* Extends the facet as far as it holds beyond the box. */
static void widen(const struct relax *r, struct facet *facet)
{
    const struct points *points = &r->problem->points[r->curve[facet->curve].cell];

    while (facet->lo > 0 && is_below(r, facet, facet->lo - 1))
        facet->lo--;
    while (facet->hi + 1 < points->n && is_below(r, facet, facet->hi + 1))
        facet->hi++;
}

/* Cut off the relaxation's optimum where it is above this curve's hull: 1 where it was, 0, -1. */
int hull_separate(struct relax *r, size_t c, const struct box *box)
{
    const struct curve *curve = &r->curve[c];
    const struct points *points = &r->problem->points[curve->cell];
    size_t left = box->lo[curve->cell], right = box->hi[curve->cell];
    double cores = simplex_col_value(r->lp, r->cores + (int)curve->cell);
    double y = simplex_col_value(r->lp, curve->col), slack = VIOLATED * (1 + fabs(y));
    struct facet facet = {.curve = c, .lo = left, .hi = right};
    size_t near;

    if (left == right)
        return 0;
    if (curve->kind == CURVE_LOWER)
        y = -y;
    near = left_of(points, left, right, cores);
    if (y <= at(r, curve, near, near + 1, cores) + slack)
        return 0;
    hull_segment(r, curve, cores, &left, &right);
    if (y <= at(r, curve, left, right, cores) + slack)
        return 0;
    facet.slope = (curve_value(r, curve, right) - curve_value(r, curve, left)) /
                  ((double)points->count[right] - points->count[left]);
    facet.constant = curve_value(r, curve, left) - facet.slope * points->count[left];
    widen(r, &facet);
    return facet_add(r, facet) < 0 ? -1 : 1;
}

int facet_add(struct relax *r, struct facet facet)
{
    const struct curve *curve = &r->curve[facet.curve];
    bool lower = curve->kind == CURVE_LOWER;

    if (r->facets == r->facets_size) {
        size_t size = 2 * r->facets_size + 64;
        struct facet *more = realloc(r->facet, size * sizeof(*more));

        if (!more)
            return -1;
        r->facet = more;
        r->facets_size = size;
    }
    simplex_row_put(&r->row, curve->col, 1);
    simplex_row_put(&r->row, r->cores + (int)curve->cell, -facet.slope);
    facet.row = simplex_row_add(r->lp, &r->row, lower ? facet.constant : -INFINITY,
                                lower ? INFINITY : facet.constant);
    if (facet.row == 0)
        return -1;
    facet.active = true;
    r->facet[r->facets++] = facet;
    return 0;
}

double relax_cores(const struct relax *r, size_t cell)
{
    return simplex_col_value(r->lp, r->cores + (int)cell);
}

double relax_excess(const struct relax *r, size_t cell)
{
    const struct points *points = &r->problem->points[cell];
    double cores = relax_cores(r, cell), excess = 0;

    if (r->now.lo[cell] == r->now.hi[cell])
        return 0;
    for (size_t c = r->first[cell]; c < r->first[cell + 1]; c++) {
        const struct curve *curve = &r->curve[r->of[c]];
        size_t left;
        double y;

        left = left_of(points, r->now.lo[cell], r->now.hi[cell], cores);
        y = simplex_col_value(r->lp, curve->col);
        y = curve->kind == CURVE_LOWER ? -y : y;
        excess = fmax(excess, y - at(r, curve, left, left + 1, cores));
    }
    return excess;
}
