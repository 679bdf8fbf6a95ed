/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_price - what the relaxation's prices say of single counts: Lagrangian bounds.
 *
 * With the rows other than facets paid for at their prices, each cell stands alone, and its counts
 * can be looked at one by one. */
#include <math.h>

#include "models/numa/relax_impl.h"

/* Finds what each column is worth when the rows other than facets are paid for at their prices. */
static void find_prices(struct relax *r)
{
    for (int col = 1; col <= simplex_cols(r->lp); col++)
        r->price[col] = simplex_col_price(r->lp, col);
    for (size_t k = 0; k < r->facets; k++) {
        const struct facet *facet = &r->facet[k];
        const struct curve *curve = &r->curve[facet->curve];
        double dual = simplex_row_price(r->lp, facet->row);

        r->price[curve->col] += dual;
        r->price[r->cores + (int)curve->cell] -= facet->slope * dual;
    }
}

/* Sets value[k] to what point k of the cell is worth at these prices. Returns the best one. */
static double value_points(struct relax *r, size_t cell, const struct box *box)
{
    const struct points *points = &r->problem->points[cell];
    double best = -INFINITY;

    for (size_t k = box->lo[cell]; k <= box->hi[cell]; k++) {
        double value = r->price[r->cores + (int)cell] * points->count[k];

        if (r->demand)
            value += r->price[r->demand + (int)cell] * points->demand[k];
        for (size_t c = r->first[cell]; c < r->first[cell + 1]; c++) {
            const struct curve *curve = &r->curve[r->of[c]];

            if (!r->demand || curve->kind == CURVE_FLOW)
                value += fmax(0, r->price[curve->col]) * curve_value(r, curve, k);
        }
        r->value[k] = value;
        best = fmax(best, value);
    }
    return best;
}

void relax_losses(struct relax *r, const struct box *box, size_t cell, double *loss)
{
    double best = value_points(r, cell, box);

    for (size_t k = box->lo[cell]; k <= box->hi[cell]; k++)
        loss[k - box->lo[cell]] = best - r->value[k];
}

bool relax_tighten(struct relax *r, struct box *box, double cutoff)
{
    double bound = relax_bound(r);

    find_prices(r);
    for (size_t cell = 0; cell < r->cells; cell++) {
        size_t *lo = &box->lo[cell], *hi = &box->hi[cell];
        double best;

        if (*lo == *hi)
            continue;
        best = value_points(r, cell, box);
        while (*lo < *hi && bound - (best - r->value[*lo]) <= cutoff)
            ++*lo;
        while (*lo < *hi && bound - (best - r->value[*hi]) <= cutoff)
            --*hi;
    }
    return bound > cutoff;
}

/* Returns what a GB/s more that flow k could have is worth. */
static double flow_price(const struct relax *r, size_t k)
{
    double price = fmax(0, r->price[r->amount[k]]);

    return r->line[k] ? price + fmax(0, simplex_row_price(r->lp, r->line[k])) : price;
}

void relax_misses(struct relax *r, double *idle, double *over)
{
    for (size_t i = 0; i < r->nodes; i++) {
        idle[i] = over[i] = 0;
        if (!r->memory[i])
            continue;
        idle[i] = fmax(0, simplex_row_price(r->lp, r->memory[i]));
        over[i] = fmax(0, r->price[r->local + (int)i]);
        for (size_t k = r->sent[i]; k < r->sent[i + 1]; k++)
            over[i] = fmin(over[i], flow_price(r, k));
    }
}
