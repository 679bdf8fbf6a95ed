/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/flows_lp.h"

#include <math.h>
#include <stdlib.h>

#include "models/numa/dual.h"

/* The columns: of each cell its local traffic, of each flow its amount, of each program how much it
 * is below its floor. The rows: of each memory eq. 5.8 and eq. 5.7, each link, each floor. */
struct flows_lp {
    const struct flows *flows;
    struct flows_aim aim;
    struct dual *lp;
    size_t nodes, cells, amount, below, beta, link, floor; /* the first of each */
};

static bool is_alone(const struct flows *f)
{
    return f->programs == 1;
}

static void put_memories(struct flows_lp *l, size_t first, bool locals)
{
    const struct flows *f = l->flows;

    for (size_t i = 0; i < l->nodes; i++) {
        for (size_t p = 0; locals && p < f->programs; p++)
            dual_put(l->lp, first + i, p * l->nodes + i, 1);
        for (size_t k = 0; k < f->flows; k++)
            if (f->flow[k].from == i)
                dual_put(l->lp, first + i, l->amount + k, 1);
    }
}

static void put_links(struct flows_lp *l)
{
    for (size_t k = 0; k < l->flows->links; k++) {
        const struct flow_link *link = &l->flows->link[k];

        for (size_t j = 0; j < link->flows; j++)
            dual_put(l->lp, l->link + k, l->amount + link->flow[j], 1);
        dual_limit_row(l->lp, l->link + k, link->max);
    }
}

/* What a program gets, and what it is short of, is no less than its floor. */
static void put_floors(struct flows_lp *l)
{
    const struct flows *f = l->flows;

    for (size_t p = 0; l->aim.floor && p < f->programs; p++) {
        for (size_t i = 0; i < l->nodes; i++)
            dual_put(l->lp, l->floor + p, p * l->nodes + i, -1);
        for (size_t k = 0; k < f->flows; k++)
            if (f->flow[k].program == p)
                dual_put(l->lp, l->floor + p, l->amount + k, -1);
        dual_put(l->lp, l->floor + p, l->below + p, -1);
        dual_limit(l->lp, l->below + p, 0, l->aim.floor[p]);
        dual_limit_row(l->lp, l->floor + p, -l->aim.floor[p]);
    }
}

static void set_gains(struct flows_lp *l)
{
    const struct flows *f = l->flows;
    const double *gain = l->aim.gain;

    for (size_t c = 0; c < l->cells; c++)
        dual_gain(l->lp, c, gain ? gain[c / l->nodes] : 1);
    for (size_t k = 0; k < f->flows; k++)
        dual_gain(l->lp, l->amount + k, gain ? gain[f->flow[k].program] : 1);
    for (size_t p = 0; p < f->programs; p++)
        dual_gain(l->lp, l->below + p, -flows_short(f, &l->aim));
}

struct flows_lp *flows_lp_new(const struct flows *f, const struct flows_aim *aim)
{
    struct flows_lp *l = calloc(1, sizeof(*l));
    size_t n = f->machine->nodes, cells = f->programs * n, values = 3 * (cells + f->flows);

    if (!l)
        return NULL;
    *l = (struct flows_lp){.flows = f,
                           .aim = *aim,
                           .nodes = n,
                           .cells = cells,
                           .amount = cells,
                           .below = cells + f->flows,
                           .beta = n,
                           .link = 2 * n,
                           .floor = 2 * n + f->links};
    for (size_t k = 0; k < f->links; k++)
        values += f->link[k].flows;
    l->lp = dual_new(l->below + f->programs, l->floor + f->programs, values + f->programs);
    if (!l->lp) {
        free(l);
        return NULL;
    }
    set_gains(l);
    put_memories(l, 0, !is_alone(f));
    put_memories(l, l->beta, false);
    put_links(l);
    put_floors(l);
    return l;
}

void flows_lp_free(struct flows_lp *l)
{
    if (!l)
        return;
    dual_free(l->lp);
    free(l);
}

/* Sets what is left of the memories. False where eq. 5.7 has no solution. */
static bool limit_memories(struct flows_lp *l, const unsigned *allocation, const double *local)
{
    const struct flows *f = l->flows;
    const struct numem_machine *m = f->machine;

    for (size_t i = 0; i < m->nodes; i++) {
        double left = m->alpha[i];

        for (size_t p = 0; p < f->programs; p++) {
            size_t cell = p * m->nodes + i;
            double demand = f->program[p]->local_demand[i][allocation[cell]];

            left -= m->beta[i] * demand;
            dual_limit(l->lp, cell, 0, is_alone(f) ? local[cell] : demand);
        }
        if (left < 0)
            return false;
        dual_limit_row(l->lp, i, is_alone(f) ? m->alpha[i] - local[i] : m->alpha[i]);
        dual_limit_row(l->lp, l->beta + i, left);
    }
    return true;
}

/* Sets what these cores ask for: eq. 5.1 and 5.2 of each flow. */
static void limit_flows(struct flows_lp *l, const unsigned *allocation)
{
    const struct flows *f = l->flows;

    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];
        const unsigned *cores = &allocation[flow->program * l->nodes];

        dual_limit(l->lp, l->amount + k, 0, flow_cap(flow, cores[flow->from], cores[flow->to]));
    }
}

int flows_lp_solve(struct flows_lp *l, const unsigned *allocation, double above, double *local,
                   double *amount)
{
    struct dual_call call = {above, l->aim.stop, l->aim.stop_arg};
    enum dual_end end;

    if (!limit_memories(l, allocation, local))
        return 1;
    limit_flows(l, allocation);
    end = dual_solve(l->lp, &call);
    if (end != DUAL_OPTIMAL)
        return end == DUAL_FAILED ? -1 : 1;
    for (size_t c = 0; c < l->cells; c++)
        local[c] = fmax(0, dual_value(l->lp, c));
    for (size_t k = 0; k < l->flows->flows; k++)
        amount[k] = fmax(0, dual_value(l->lp, l->amount + k));
    return 0;
}
