/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/flows_lp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "models/numa/simplex.h"

struct flows_lp {
    const struct flows *flows;
    struct flows_aim aim;
    struct simplex *lp;
    int local, amount; /* the columns: one for each cell, one for each flow */
    int alpha, beta;   /* the rows of eq. 5.8 and 5.7: one for each node */
};

static int add_memory_rows(struct flows_lp *l, struct simplex_row *row, bool locals)
{
    const struct numem_machine *m = l->flows->machine;
    int first = 0, number;

    for (size_t i = 0; i < m->nodes; i++) {
        for (size_t p = 0; locals && p < l->flows->programs; p++)
            simplex_row_put(row, l->local + (int)(p * m->nodes + i), 1);
        for (size_t k = 0; k < l->flows->flows; k++)
            if (l->flows->flow[k].from == i)
                simplex_row_put(row, l->amount + (int)k, 1);
        number = simplex_row_add(l->lp, row, -INFINITY, m->alpha[i]);
        first = first ? first : number;
    }
    return first;
}

static void add_floor_rows(struct flows_lp *l, struct simplex_row *row, const double *floor)
{
    size_t n = l->flows->machine->nodes;

    for (size_t p = 0; floor && p < l->flows->programs; p++) {
        for (size_t i = 0; i < n; i++)
            simplex_row_put(row, l->local + (int)(p * n + i), 1);
        for (size_t k = 0; k < l->flows->flows; k++)
            if (l->flows->flow[k].program == p)
                simplex_row_put(row, l->amount + (int)k, 1);
        simplex_row_add(l->lp, row, floor[p], INFINITY);
    }
}

static void add_link_rows(struct flows_lp *l, struct simplex_row *row)
{
    for (size_t k = 0; k < l->flows->links; k++) {
        const struct flow_link *link = &l->flows->link[k];

        for (size_t j = 0; j < link->flows; j++)
            simplex_row_put(row, l->amount + (int)link->flow[j], 1);
        simplex_row_add(l->lp, row, -INFINITY, link->max);
    }
}

static void set_gains(struct flows_lp *l, const double *gain)
{
    size_t n = l->flows->machine->nodes;

    for (size_t c = 0; c < l->flows->programs * n; c++)
        simplex_gain(l->lp, l->local + (int)c, gain ? gain[c / n] : 1);
    for (size_t k = 0; k < l->flows->flows; k++)
        simplex_gain(l->lp, l->amount + (int)k, gain ? gain[l->flows->flow[k].program] : 1);
}

struct flows_lp *flows_lp_new(const struct flows *flows, const struct flows_aim *aim)
{
    size_t cells = flows->programs * flows->machine->nodes;
    struct flows_lp *l = calloc(1, sizeof(*l));
    struct simplex_row row;

    if (!l)
        return NULL;
    l->lp = simplex_new();
    if (!l->lp || simplex_row_new(&row, cells + flows->flows) < 0) {
        flows_lp_free(l);
        return NULL;
    }
    l->flows = flows;
    l->aim = aim ? *aim : (struct flows_aim){0};
    l->local = simplex_add_cols(l->lp, cells);
    l->amount = flows->flows ? simplex_add_cols(l->lp, flows->flows) : 0;
    set_gains(l, aim ? aim->gain : NULL);
    l->alpha = add_memory_rows(l, &row, true);
    l->beta = add_memory_rows(l, &row, false);
    add_link_rows(l, &row);
    add_floor_rows(l, &row, aim ? aim->floor : NULL);
    simplex_row_free(&row);
    if (!simplex_has_failed(l->lp))
        return l;
    flows_lp_free(l);
    errno = ENOMEM;
    return NULL;
}

void flows_lp_free(struct flows_lp *l)
{
    if (!l)
        return;
    simplex_free(l->lp);
    free(l);
}

/* Sets the bounds of these cores: local_demand, and eq. 5.1 and 5.2 of each flow. False where eq.
 * 5.7 has no solution. */
static bool set_bounds(struct flows_lp *l, const unsigned *allocation, const double *local)
{
    const struct flows *f = l->flows;
    const struct numem_machine *m = f->machine;

    for (size_t i = 0; i < m->nodes; i++) {
        double left = m->alpha[i];

        for (size_t p = 0; p < f->programs; p++) {
            size_t cell = p * m->nodes + i;
            double demand = flows_in(f, i) ? f->program[p]->local_demand[i][allocation[cell]] : 0;

            left -= m->beta[i] * demand;
            simplex_bound_col(l->lp, l->local + (int)cell, f->programs > 1 ? 0 : local[cell],
                              f->programs > 1 ? demand : local[cell]);
        }
        if (left < 0)
            return false;
        simplex_bound_row(l->lp, l->beta + (int)i, -INFINITY, left);
    }
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];
        const unsigned *cores = &allocation[flow->program * m->nodes];

        simplex_bound_col(l->lp, l->amount + (int)k, 0,
                          flow_cap(flow, cores[flow->from], cores[flow->to]));
    }
    return true;
}

int flows_lp_solve(struct flows_lp *l, const unsigned *allocation, double above, double *local,
                   double *amount)
{
    struct simplex_call call = {
        .cutoff = above > 0 ? above : -INFINITY, .stop = l->aim.stop, .stop_arg = l->aim.stop_arg};
    enum simplex_end end;

    if (!set_bounds(l, allocation, local))
        return 1;
    end = simplex_solve(l->lp, &call);
    if (end == SIMPLEX_INFEASIBLE || end == SIMPLEX_CUTOFF || end == SIMPLEX_STOPPED)
        return 1;
    if (end != SIMPLEX_OPTIMAL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t c = 0; c < l->flows->programs * l->flows->machine->nodes; c++)
        local[c] = fmax(0, simplex_col_value(l->lp, l->local + (int)c));
    for (size_t k = 0; k < l->flows->flows; k++)
        amount[k] = fmax(0, simplex_col_value(l->lp, l->amount + (int)k));
    return 0;
}
