/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_flow - the flows in the relaxation: their columns, and the rows of eq. 5.1 and 5.2.
 *
 * The flows that a program sends from one node, and that no link limits, are only ever limited by
 * the cores that drive them and by the node's memory: one column is the sum of them, and one row
 * the sum of their lines. */
#include "models/numa/relax_impl.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-12 /* relative */

/* Sets amount[]: 1 for the flows that a link may limit, or 0. */
static void find_limited(struct relax *r)
{
    const struct flows *f = r->flows;

    for (size_t k = 0; k < f->links; k++)
        for (size_t j = 0; j < f->link[k].flows; j++)
            r->amount[f->link[k].flow[j]] = 1;
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];
        double all =
            flow->read * f->machine->cores[flow->to] + flow->write * f->machine->cores[flow->from];

        if (flow->max < all * (1 - ROUNDING))
            r->amount[k] = 1;
    }
}

/* Finds the flows of each sender, by which they are sorted. */
static void index_senders(struct relax *r)
{
    for (size_t k = 0; k < r->flows->flows; k++)
        r->sent[relax_sender(r, &r->flows->flow[k]) + 1]++;
    for (size_t cell = 0; cell < r->cells; cell++)
        r->sent[cell + 1] += r->sent[cell];
}

void relax_add_flow_columns(struct relax *r)
{
    index_senders(r);
    find_limited(r);
    for (size_t k = 0; k < r->flows->flows; k++) {
        const struct flow *flow = &r->flows->flow[k];
        int *merged = &r->merged[relax_sender(r, flow)];
        bool limited = r->amount[k] != 0;

        if (limited || *merged == 0)
            r->amount[k] = simplex_add_cols(r->lp, 1);
        else
            r->amount[k] = *merged;
        if (!limited)
            *merged = r->amount[k];
        simplex_gain(r->lp, r->amount[k], r->problem->gain[flow->program]);
        simplex_bound_col(r->lp, r->amount[k], 0, limited ? flow->max : INFINITY);
    }
}

void relax_put_sent(struct relax *r, size_t cell)
{
    if (r->merged[cell] != 0)
        simplex_row_put(&r->row, r->merged[cell], 1);
    for (size_t k = r->sent[cell]; k < r->sent[cell + 1]; k++)
        if (!relax_is_merged(r, k))
            simplex_row_put(&r->row, r->amount[k], 1);
}

/* A flow that both ends drive is below its line; one that only one end drives is a curve, of which
 * this is the first facet. */
static int add_row(struct relax *r, size_t k)
{
    const struct flow *flow = &r->flows->flow[k];
    size_t cell = flow->program * r->nodes;

    if (flow->read > 0 && flow->write > 0) {
        simplex_row_put(&r->row, r->amount[k], 1);
        simplex_row_put(&r->row, r->cores + (int)(cell + flow->to), -flow->read);
        simplex_row_put(&r->row, r->cores + (int)(cell + flow->from), -flow->write);
        r->line[k] = simplex_row_add(r->lp, &r->row, -INFINITY, 0);
        return 0;
    }
    cell += flow->read > 0 ? flow->to : flow->from;
    r->curve[r->curves] = (struct curve){.kind = CURVE_FLOW,
                                         .cell = cell,
                                         .col = r->amount[k],
                                         .rate = flow->read + flow->write,
                                         .max = flow->max};
    return facet_add(r, (struct facet){.curve = r->curves++,
                                       .hi = r->problem->points[cell].n - 1,
                                       .slope = flow->read + flow->write});
}

static void add_merged_row(struct relax *r, size_t cell)
{
    double write = 0;
    int row;

    if (r->merged[cell] == 0)
        return;
    simplex_row_put(&r->row, r->merged[cell], 1);
    for (size_t k = r->sent[cell]; k < r->sent[cell + 1]; k++) {
        const struct flow *flow = &r->flows->flow[k];

        if (!relax_is_merged(r, k))
            continue;
        simplex_row_put(&r->row, r->cores + (int)(flow->program * r->nodes + flow->to),
                        -flow->read);
        write += flow->write;
    }
    simplex_row_put(&r->row, r->cores + (int)cell, -write);
    row = simplex_row_add(r->lp, &r->row, -INFINITY, 0);
    for (size_t k = r->sent[cell]; k < r->sent[cell + 1]; k++)
        r->line[k] = relax_is_merged(r, k) ? row : 0;
}

int relax_add_flow_rows(struct relax *r)
{
    for (size_t cell = 0; cell < r->cells; cell++)
        add_merged_row(r, cell);
    for (size_t k = 0; k < r->flows->flows; k++)
        if (!relax_is_merged(r, k) && add_row(r, k) < 0)
            return -1;
    return 0;
}
