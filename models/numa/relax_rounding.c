/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_rounding - mixed-integer rounding cuts for memories and links that are full.
 *
 * A memory delivers cap = s + sum of y, where s >= 0 is what it has left and each y (a local
 * bandwidth, a flow) is at most a line over cores: y <= constant + g * a. So sum g * a + s >= d,
 * cap less the constants. Cores are whole, and where d is no multiple of g the relaxation buys a
 * part of one; the cut of this inequality (Nemhauser and Wolsey 1990) takes that away: for x >= 0
 * whole, G = g / delta, D = d / delta, f = D - floor(D): sum (f * floor(G) + min(G - floor(G), f))
 * * x + s / delta >= f * ceil(D). */
#include <math.h>
#include <stdlib.h>

#include "models/numa/relax_impl.h"

#define DELTAS 12     /* tried for each row */
#define FRACTION 1e-2 /* f is between this and 1 less this */
#define SAME 1e-7     /* GB/s */
#define EFFICACY 1e-4 /* how far beyond a cut the optimum must be */

/* y <= constant + g[0] * cores of cell[0] + ..., or the sum of that over merged flows. */
struct line {
    size_t terms, cell[2];
    double g[2], constant;
    size_t flow, flows; /* the merged ones are among these */
};

struct cover {
    struct relax *relax;
    struct line *line;   /* of each column */
    double *g;           /* of each cell, in the row that is looked at */
    size_t *cell, cells; /* those that are in it */
    double cap, d, slack;
    int terms, *col; /* the row: from 1 */
    double *coefficient;
    double best, delta; /* the best cut of the row */
};

static double cores_at(const struct cover *c, size_t cell)
{
    return relax_cores(c->relax, cell);
}

static double line_at(const struct cover *c, const struct line *line)
{
    double y = line->constant;

    for (size_t t = 0; t < line->terms; t++)
        y += line->g[t] * cores_at(c, line->cell[t]);
    return y;
}

/* Keeps, of lines that meet at the optimum, the flattest one: it has least to do with its cells. */
static void lower(const struct cover *c, int col, struct line line)
{
    const struct line *old = &c->line[col];
    double y = line_at(c, &line), before = line_at(c, old);
    bool flatter = fabs(line.g[0]) + fabs(line.g[1]) < fabs(old->g[0]) + fabs(old->g[1]);

    if (y < before - SAME || (y < before + SAME && flatter))
        c->line[col] = line;
}

static struct line flow_line(const struct relax *r, size_t k)
{
    const struct flow *flow = &r->flows->flow[k];
    size_t cell = flow->program * r->nodes;

    return (struct line){
        .terms = 2, .cell = {cell + flow->to, cell + flow->from}, .g = {flow->read, flow->write}};
}

/* Finds the lowest lines at the relaxation's optimum, of those that hold for all points. */
static void find_lines(struct cover *c)
{
    struct relax *r = c->relax;

    for (size_t k = 0; k < r->flows->flows; k++) {
        struct line *line = &c->line[r->amount[k]];

        if (relax_is_merged(r, k)) {
            line->flow = line->flows ? line->flow : k;
            line->flows = k + 1 - line->flow;
            continue;
        }
        *line = (struct line){.constant = r->flows->flow[k].max};
        lower(c, r->amount[k], flow_line(r, k));
    }
    for (size_t cell = 0; cell < r->cells; cell++) {
        const struct points *points = &r->problem->points[cell];
        double most = 0;

        for (size_t k = 0; k < points->n; k++)
            most = fmax(most, points->demand[k]);
        c->line[r->local + (int)cell].constant = most;
        if (r->demand)
            c->line[r->demand + (int)cell].constant = most;
    }
    for (size_t k = 0; k < r->facets; k++) {
        const struct facet *facet = &r->facet[k];
        const struct curve *curve = &r->curve[facet->curve];
        struct line line = {
            .terms = 1, .cell = {curve->cell}, .g = {facet->slope}, .constant = facet->constant};

        if (curve->kind == CURVE_LOWER || facet->lo > 0 ||
            facet->hi + 1 < r->problem->points[curve->cell].n)
            continue;
        lower(c, curve->col, line);
        if (curve->kind == CURVE_DEMAND && r->demand)
            lower(c, r->local + (int)curve->cell, line);
    }
}

static void add_terms(struct cover *c, double coefficient, const struct line *line)
{
    for (size_t t = 0; t < line->terms; t++) {
        size_t cell = line->cell[t];

        if (line->g[t] == 0)
            continue;
        if (c->g[cell] == 0)
            c->cell[c->cells++] = cell;
        c->g[cell] += coefficient * line->g[t];
    }
}

static void add_lines(struct cover *c, double coefficient, const struct line *line)
{
    add_terms(c, coefficient, line);
    for (size_t k = line->flow; k < line->flow + line->flows; k++) {
        struct line one = flow_line(c->relax, k);

        if (relax_is_merged(c->relax, k))
            add_terms(c, coefficient, &one);
    }
}

/* Makes sum g * a + s >= d from a row sum coefficient * y + s = cap. */
static void make_cover(struct cover *c)
{
    for (size_t k = 0; k < c->cells; k++)
        c->g[c->cell[k]] = 0;
    c->cells = 0;
    c->d = c->slack = c->cap;
    for (int j = 1; j <= c->terms; j++) {
        const struct line *line = &c->line[c->col[j]];

        c->slack -= c->coefficient[j] * simplex_col_value(c->relax->lp, c->col[j]);
        c->d -= c->coefficient[j] * line->constant;
        add_lines(c, c->coefficient[j], line);
    }
    c->slack = fmax(0, c->slack);
}

/* Returns whether the cell is near its most cores, and counted from there, x = most - a; else it is
 * x = a - least. */
static bool is_from_above(const struct cover *c, size_t cell)
{
    const struct points *points = &c->relax->problem->points[cell];

    return 2 * cores_at(c, cell) > (double)points->count[0] + points->count[points->n - 1];
}

static double end_of(const struct cover *c, size_t cell)
{
    const struct points *points = &c->relax->problem->points[cell];

    return is_from_above(c, cell) ? points->count[points->n - 1] : points->count[0];
}

/* Returns d when each cell is counted from its end. */
static double rest_of(const struct cover *c)
{
    double d = c->d;

    for (size_t k = 0; k < c->cells; k++)
        d -= c->g[c->cell[k]] * end_of(c, c->cell[k]);
    return d;
}

static double rounded(double g, double delta, double f)
{
    double whole = floor(g / delta), rest = g / delta - whole;

    return delta * (f * whole + fmin(rest, f));
}

/* Returns how far the relaxation's optimum is beyond the cut, in terms of its length; delta times
 * it. */
static double efficacy(const struct cover *c, double rest, double delta)
{
    double f = rest / delta - floor(rest / delta), left = c->slack, square = c->terms;

    if (f < FRACTION || f > 1 - FRACTION)
        return 0;
    for (size_t k = 0; k < c->cells; k++) {
        size_t cell = c->cell[k];
        bool above = is_from_above(c, cell);
        double gamma = rounded(above ? -c->g[cell] : c->g[cell], delta, f);

        left += gamma * fabs(cores_at(c, cell) - end_of(c, cell));
        square += gamma * gamma;
    }
    return (delta * f * ceil(rest / delta) - left) / sqrt(square);
}

/* Chooses the best divisor: one of the coefficients of cells that have a part of a core. */
static void choose(struct cover *c, double rest)
{
    unsigned tried = 0;

    c->best = 0;
    for (size_t k = 0; k < c->cells && tried < DELTAS; k++) {
        size_t cell = c->cell[k];
        double cores = cores_at(c, cell), delta = fabs(c->g[cell]), found;

        if (fabs(cores - round(cores)) < 1e-5 || delta < 1e-6)
            continue;
        tried++;
        found = efficacy(c, rest, delta);
        if (found > c->best) {
            c->best = found;
            c->delta = delta;
        }
    }
}

static void add_cut(struct cover *c, double rest)
{
    struct relax *r = c->relax;
    double f = rest / c->delta - floor(rest / c->delta);
    double right = c->delta * f * ceil(rest / c->delta) - c->cap;

    for (int j = 1; j <= c->terms; j++)
        simplex_row_put(&r->row, c->col[j], -c->coefficient[j]);
    for (size_t k = 0; k < c->cells; k++) {
        size_t cell = c->cell[k];
        bool above = is_from_above(c, cell);
        double gamma = rounded(above ? -c->g[cell] : c->g[cell], c->delta, f);

        simplex_row_put(&r->row, r->cores + (int)cell, above ? -gamma : gamma);
        right += above ? -gamma * end_of(c, cell) : gamma * end_of(c, cell);
    }
    simplex_row_add(r->lp, &r->row, right - 1e-11 * (1 + fabs(right)), INFINITY);
}

static int cut_row(struct cover *c)
{
    double rest;

    make_cover(c);
    rest = rest_of(c);
    choose(c, rest);
    if (c->best < EFFICACY)
        return 0;
    add_cut(c, rest);
    return 1;
}

static int cut_rows(struct cover *c)
{
    struct relax *r = c->relax;
    int added = 0, rows = r->limits;

    for (int row = 1; row <= rows; row++) {
        c->terms = simplex_row_get(r->lp, row, c->col, c->coefficient);
        c->cap = simplex_row_most(r->lp, row);
        added += cut_row(c);
    }
    for (size_t k = 0; k < r->flows->flows; k++) {
        c->terms = 1;
        if (relax_is_merged(r, k))
            continue;
        c->col[1] = r->amount[k];
        c->coefficient[1] = 1;
        c->cap = r->flows->flow[k].max;
        added += r->flows->flow[k].read > 0 && r->flows->flow[k].write > 0 ? cut_row(c) : 0;
    }
    return added;
}

int rounding_separate(struct relax *r)
{
    size_t columns = (size_t)simplex_cols(r->lp) + 1;
    struct cover c = {.relax = r};
    int added = -1;

    c.line = calloc(columns, sizeof(*c.line));
    c.col = calloc(columns, sizeof(*c.col));
    c.coefficient = calloc(columns, sizeof(*c.coefficient));
    c.g = calloc(r->cells, sizeof(*c.g));
    c.cell = calloc(r->cells, sizeof(*c.cell));
    if (c.line && c.col && c.coefficient && c.g && c.cell) {
        find_lines(&c);
        added = cut_rows(&c);
    }
    free(c.line);
    free(c.col);
    free(c.coefficient);
    free(c.g);
    free(c.cell);
    return added;
}
