/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax - see relax.h
 *
 * Columns: cores of each cell (a), local bandwidth of each cell (L), amount of flows (I,
 * relax_flow.c); of several programs also each cell's local demand (LD), as eq. 5.7 can then cost
 * more than it gains. One program: L itself is below the hull of the local demand. */
#include "models/numa/relax_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS 60 /* of facets, for one box */

/* ---- the rows that are always there ---- */

static void add_memory_rows(struct relax *r)
{
    const struct numem_machine *m = r->flows->machine;
    int number;

    for (int beta = 0; beta <= (r->demand > 0); beta++)
        for (size_t i = 0; i < m->nodes; i++) {
            if (!flows_in(r->flows, i))
                continue;
            for (size_t cell = i; cell < r->cells; cell += r->nodes)
                simplex_row_put(&r->row, (beta ? r->demand : r->local) + (int)cell,
                                beta ? m->beta[i] : 1);
            for (size_t cell = i; cell < r->cells; cell += r->nodes)
                relax_put_sent(r, cell);
            number = simplex_row_add(r->lp, &r->row, -INFINITY, m->alpha[i]);
            r->memory[i] = beta ? r->memory[i] : number;
        }
}

static void add_link_rows(struct relax *r)
{
    for (size_t k = 0; k < r->flows->links; k++) {
        const struct flow_link *link = &r->flows->link[k];

        for (size_t j = 0; j < link->flows; j++)
            simplex_row_put(&r->row, r->amount[link->flow[j]], 1);
        simplex_row_add(r->lp, &r->row, -INFINITY, link->max);
    }
}

/* Several programs: the cores of a node are shared out, and L <= LD. */
static void add_sharing_rows(struct relax *r)
{
    for (size_t i = 0; r->demand && i < r->nodes; i++) {
        for (size_t cell = i; cell < r->cells; cell += r->nodes)
            simplex_row_put(&r->row, r->cores + (int)cell, 1);
        simplex_row_add(r->lp, &r->row, -INFINITY, r->flows->machine->cores[i]);
    }
    for (size_t cell = 0; r->demand && cell < r->cells; cell++) {
        simplex_row_put(&r->row, r->local + (int)cell, 1);
        simplex_row_put(&r->row, r->demand + (int)cell, -1);
        simplex_row_add(r->lp, &r->row, -INFINITY, 0);
    }
}

static void add_program_rows(struct relax *r)
{
    int number;

    for (size_t p = 0; p < r->programs; p++) {
        for (size_t i = 0; i < r->nodes; i++)
            if (flows_in(r->flows, i))
                simplex_row_put(&r->row, r->cores + (int)(p * r->nodes + i), 1);
        number = simplex_row_add(r->lp, &r->row, -INFINITY, INFINITY);
        r->sum = p == 0 ? number : r->sum;
    }
    for (size_t p = 0; r->problem->floor && p < r->programs; p++) {
        for (size_t cell = p * r->nodes; cell < (p + 1) * r->nodes; cell++) {
            simplex_row_put(&r->row, r->local + (int)cell, 1);
            relax_put_sent(r, cell);
        }
        simplex_row_add(r->lp, &r->row, r->problem->floor[p], INFINITY);
    }
}

static void add_columns(struct relax *r)
{
    r->cores = simplex_add_cols(r->lp, r->cells);
    r->local = simplex_add_cols(r->lp, r->cells);
    r->demand = r->programs > 1 ? simplex_add_cols(r->lp, r->cells) : 0;
    for (size_t cell = 0; cell < r->cells; cell++) {
        simplex_gain(r->lp, r->cores + (int)cell, -1);
        simplex_gain(r->lp, r->local + (int)cell, r->problem->gain[cell / r->nodes]);
    }
    relax_add_flow_columns(r);
}

static void add_demand_curves(struct relax *r)
{
    int col = r->demand ? r->demand : r->local;

    for (size_t cell = 0; cell < r->cells; cell++) {
        if (!flows_in(r->flows, cell % r->nodes))
            continue;
        r->curve[r->curves++] =
            (struct curve){.kind = CURVE_DEMAND, .cell = cell, .col = col + (int)cell};
        if (r->demand)
            r->curve[r->curves++] =
                (struct curve){.kind = CURVE_LOWER, .cell = cell, .col = col + (int)cell};
    }
}

/* ---- a box ---- */

/* Bounds the columns of a cell that is looked at or not: of its cores, and of what is below its
 * curves where the box is a point. */
static void bound_cell(struct relax *r, size_t cell, size_t lo, size_t hi)
{
    const struct points *points = &r->problem->points[cell];
    double least = INFINITY, most = 0;
    int col = (int)cell;

    simplex_bound_col(r->lp, r->cores + col, points->count[lo], points->count[hi]);
    for (size_t k = lo; k <= hi; k++) {
        least = fmin(least, points->demand[k]);
        most = fmax(most, points->demand[k]);
    }
    simplex_bound_col(r->lp, r->local + col, 0, most);
    if (r->demand)
        simplex_bound_col(r->lp, r->demand + col, least, most);
    r->now.lo[cell] = lo;
    r->now.hi[cell] = hi;
}

static void set_box(struct relax *r, const struct box *box)
{
    for (size_t cell = 0; cell < r->cells; cell++)
        if (box->lo[cell] != r->now.lo[cell] || box->hi[cell] != r->now.hi[cell])
            bound_cell(r, cell, box->lo[cell], box->hi[cell]);
    for (size_t p = 0; p < r->programs; p++)
        if (box->sum_lo[p] != r->now.sum_lo[p] || box->sum_hi[p] != r->now.sum_hi[p]) {
            simplex_bound_row(r->lp, r->sum + (int)p, box->sum_lo[p], box->sum_hi[p]);
            r->now.sum_lo[p] = box->sum_lo[p];
            r->now.sum_hi[p] = box->sum_hi[p];
        }
    for (size_t k = 0; k < r->facets; k++) {
        struct facet *facet = &r->facet[k];
        const struct curve *curve = &r->curve[facet->curve];
        bool holds = facet->lo <= box->lo[curve->cell] && facet->hi >= box->hi[curve->cell];
        bool lower = curve->kind == CURVE_LOWER;

        if (holds == facet->active)
            continue;
        simplex_bound_row(r->lp, facet->row, holds && lower ? facet->constant : -INFINITY,
                          holds && !lower ? facet->constant : INFINITY);
        facet->active = holds;
    }
}

enum simplex_end relax_solve(struct relax *r, const struct box *box, double cutoff)
{
    struct simplex_call call = {.primal = !r->solved,
                                .cutoff = cutoff,
                                .stop = r->problem->stop,
                                .stop_arg = r->problem->stop_arg};
    enum simplex_end end;

    set_box(r, box);
    for (unsigned round = 0;; round++) {
        int added = 0;

        end = simplex_solve(r->lp, &call);
        if (end != SIMPLEX_OPTIMAL)
            return end;
        r->solved = true;
        call.primal = false;
        if (relax_bound(r) <= cutoff)
            return SIMPLEX_CUTOFF;
        for (size_t c = 0; c < r->curves && added >= 0 && round < ROUNDS; c++) {
            int rc = hull_separate(r, c, box);

            added = rc < 0 ? -1 : added + rc;
        }
        if (added <= 0)
            return SIMPLEX_OPTIMAL;
    }
}

enum simplex_end relax_strengthen(struct relax *r, const struct box *box, double cutoff,
                                  unsigned rounds)
{
    enum simplex_end end = relax_solve(r, box, cutoff);

    while (end == SIMPLEX_OPTIMAL && rounds-- > 0 && rounding_separate(r) > 0)
        end = relax_solve(r, box, cutoff);
    return end;
}

bool relax_has_failed(const struct relax *r)
{
    return simplex_has_failed(r->lp);
}

double relax_bound(const struct relax *r)
{
    return simplex_optimum(r->lp);
}

/* ---- making one ---- */

/* Makes the scratch memory, and the box that no column is bounded to yet. */
static int allocate(struct relax *r)
{
    size_t columns = 3 * r->cells + r->flows->flows, points = 1;

    for (size_t cell = 0; cell < r->cells; cell++)
        points = points > r->problem->points[cell].n ? points : r->problem->points[cell].n;
    r->curve = calloc(2 * r->cells + r->flows->flows + 1, sizeof(*r->curve));
    r->amount = calloc(r->flows->flows + 1, sizeof(*r->amount));
    r->merged = calloc(r->cells, sizeof(*r->merged));
    r->memory = calloc(r->nodes, sizeof(*r->memory));
    r->line = calloc(r->flows->flows + 1, sizeof(*r->line));
    r->sent = calloc(r->cells + 1, sizeof(*r->sent));
    r->first = calloc(r->cells + 2, sizeof(*r->first));
    r->of = calloc(2 * r->cells + r->flows->flows + 1, sizeof(*r->of));
    r->now.lo = calloc(2 * r->cells, sizeof(*r->now.lo));
    r->now.sum_lo = calloc(2 * r->programs, sizeof(*r->now.sum_lo));
    r->chain = calloc(points, sizeof(*r->chain));
    r->value = calloc(points, sizeof(*r->value));
    r->price = calloc(columns + 1, sizeof(*r->price));
    if (!r->amount || !r->merged || !r->memory || !r->line || !r->sent || !r->curve || !r->first ||
        !r->of || !r->now.lo || !r->now.sum_lo || !r->chain || !r->value || !r->price)
        return -1;
    r->now.hi = r->now.lo + r->cells;
    r->now.sum_hi = r->now.sum_lo + r->programs;
    for (size_t cell = 0; cell < r->cells; cell++)
        r->now.lo[cell] = 1; /* lo > hi: no box is like that */
    for (size_t p = 0; p < r->programs; p++)
        r->now.sum_lo[p] = NAN;
    return simplex_row_new(&r->row, columns);
}

static void index_curves(struct relax *r)
{
    for (size_t c = 0; c < r->curves; c++)
        r->first[r->curve[c].cell + 2]++;
    for (size_t cell = 2; cell <= r->cells; cell++)
        r->first[cell] += r->first[cell - 1];
    for (size_t c = 0; c < r->curves; c++)
        r->of[r->first[r->curve[c].cell + 1]++] = c;
}

struct relax *relax_new(const struct relax_problem *problem)
{
    struct relax *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->problem = problem;
    r->flows = problem->flows;
    r->nodes = problem->flows->machine->nodes;
    r->programs = problem->flows->programs;
    r->cells = r->nodes * r->programs;
    r->lp = simplex_new();
    if (r->lp && allocate(r) == 0) {
        add_columns(r);
        add_memory_rows(r);
        add_link_rows(r);
        r->limits = simplex_rows(r->lp);
        add_sharing_rows(r);
        add_program_rows(r);
        add_demand_curves(r);
        if (relax_add_flow_rows(r) == 0 && !relax_has_failed(r)) {
            index_curves(r);
            return r;
        }
    }
    relax_free(r);
    errno = ENOMEM;
    return NULL;
}

void relax_free(struct relax *r)
{
    if (!r)
        return;
    simplex_free(r->lp);
    simplex_row_free(&r->row);
    free(r->amount);
    free(r->merged);
    free(r->memory);
    free(r->line);
    free(r->sent);
    free(r->curve);
    free(r->first);
    free(r->of);
    free(r->facet);
    free(r->now.lo);
    free(r->now.sum_lo);
    free(r->chain);
    free(r->value);
    free(r->price);
    free(r);
}
