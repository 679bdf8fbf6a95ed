/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/relax.h"

#include <math.h>
#include <stdlib.h>

#include "models/numa/dual.h"

/* The columns: of each cell its cores and its local traffic, of each flow its
 * amount, of each program how much it is below its floor. */
struct relax {
    const struct ascent *ascent;
    const struct flows *flows;
    struct dual *lp;
    size_t nodes, programs, cells, local, amount, below, cols, rows; /* rows: so far */
    unsigned *hull;                                                  /* scratch: counts of cores */
};

static unsigned least_of(const struct relax *r, size_t cell)
{
    const unsigned *least = r->ascent->nucore->program[cell / r->nodes].least;

    return least ? least[cell % r->nodes] : 0;
}

static unsigned most_of(const struct relax *r, size_t cell)
{
    return nucore_most(r->ascent->nucore, cell / r->nodes, cell % r->nodes);
}

static void put(struct relax *r, size_t col, double value)
{
    if (value != 0)
        dual_put(r->lp, r->rows, col, value);
}

static void end_row(struct relax *r, double most)
{
    dual_limit_row(r->lp, r->rows++, most);
}

/* Fills in the counts at which the least concave curve above the table bends. Returns how many. */
static size_t find_hull(struct relax *r, const double *table, unsigned least, unsigned most)
{
    unsigned *at = r->hull;
    size_t n = 0;

    for (unsigned c = least; c <= most; c++) {
        while (n >= 2 && (table[at[n - 1]] - table[at[n - 2]]) * (c - at[n - 1]) <=
                             (table[c] - table[at[n - 1]]) * (at[n - 1] - at[n - 2]))
            n--;
        at[n++] = c;
    }
    return n;
}

static void add_cell(struct relax *r, size_t cell)
{
    const double *table = r->ascent->use[cell / r->nodes]->local_demand[cell % r->nodes];
    unsigned least = least_of(r, cell), most = most_of(r, cell);
    size_t n = find_hull(r, table, least, most);
    double top = table[least];

    for (size_t k = 0; k + 1 < n; k++) {
        unsigned c = r->hull[k];
        double slope = (table[r->hull[k + 1]] - table[c]) / (r->hull[k + 1] - c);

        put(r, cell, -slope);
        put(r, r->local + cell, 1);
        end_row(r, table[c] - slope * c);
        top = fmax(top, table[r->hull[k + 1]]);
    }
    dual_gain(r->lp, cell, -1);
    dual_limit(r->lp, cell, least, most);
    dual_gain(r->lp, r->local + cell, r->ascent->gain[cell / r->nodes]);
    dual_limit(r->lp, r->local + cell, 0, top);
}

static void add_flow(struct relax *r, size_t k)
{
    const struct flow *flow = &r->flows->flow[k];
    size_t from = flow->program * r->nodes + flow->from, to = flow->program * r->nodes + flow->to;

    put(r, from, -flow->write);
    put(r, to, -flow->read);
    put(r, r->amount + k, 1);
    end_row(r, 0);
    dual_gain(r->lp, r->amount + k, r->ascent->gain[flow->program]);
    dual_limit(r->lp, r->amount + k, 0, flow->max);
}

/* Puts all that other nodes have of the node's memory. */
static void put_sent(struct relax *r, size_t i)
{
    for (size_t k = 0; k < r->flows->flows; k++)
        put(r, r->amount + k, r->flows->flow[k].from == i);
}

/* The node's memory, and its cores. */
static void add_node(struct relax *r, size_t i)
{
    const struct numem_machine *m = r->flows->machine;

    for (size_t p = 0; p < r->programs; p++)
        put(r, r->local + p * r->nodes + i, 1);
    put_sent(r, i);
    end_row(r, m->alpha[i]);
    for (size_t p = 0; p < r->programs; p++)
        put(r, p * r->nodes + i, 1);
    end_row(r, m->cores[i]);
}

/* Returns the slope of the steepest line from the first value that no value is below. */
static double least_slope(const double *table, unsigned least, unsigned most)
{
    double slope = most > least ? INFINITY : 0;

    for (unsigned c = least + 1; c <= most; c++)
        slope = fmin(slope, (table[c] - table[least]) / (c - least));
    return slope;
}

/* Eq. 5.7, with each demand on a line below it. */
static void add_share(struct relax *r, size_t i)
{
    double left = r->flows->machine->alpha[i], beta = r->flows->machine->beta[i];

    for (size_t p = 0; p < r->programs; p++) {
        size_t cell = p * r->nodes + i;
        unsigned least = least_of(r, cell);
        const double *table = r->ascent->use[p]->local_demand[i];
        double slope = least_slope(table, least, most_of(r, cell));

        put(r, cell, beta * slope);
        left -= beta * (table[least] - slope * least);
    }
    put_sent(r, i);
    end_row(r, left);
}

static void add_link(struct relax *r, const struct flow_link *link)
{
    for (size_t j = 0; j < link->flows; j++)
        put(r, r->amount + link->flow[j], 1);
    end_row(r, link->max);
}

static void add_floor(struct relax *r, size_t p, double floor, double price)
{
    for (size_t i = 0; i < r->nodes; i++)
        put(r, r->local + p * r->nodes + i, -1);
    for (size_t k = 0; k < r->flows->flows; k++)
        put(r, r->amount + k, -(double)(r->flows->flow[k].program == p));
    put(r, r->below + p, -1);
    end_row(r, -floor);
    dual_gain(r->lp, r->below + p, -price);
    dual_limit(r->lp, r->below + p, 0, floor);
}

/* All cores of a program together. */
static void add_sum(struct relax *r, size_t p)
{
    const struct ascent *a = r->ascent;

    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < r->nodes; i++)
            put(r, p * r->nodes + i, sign);
        end_row(r, sign > 0 ? a->cores_max[p] : -(double)a->cores_min[p]);
    }
}

static int init(struct relax *r)
{
    const struct flows *f = r->flows;
    size_t rows = f->flows + 3 * r->nodes + f->links + 3 * r->programs;
    size_t values = 6 * f->flows + 7 * r->cells + r->programs, most = 0;

    for (size_t cell = 0; cell < r->cells; cell++) {
        rows += most_of(r, cell) - least_of(r, cell);
        values += 2 * (most_of(r, cell) - least_of(r, cell));
        most = most_of(r, cell) > most ? most_of(r, cell) : most;
    }
    for (size_t k = 0; k < f->links; k++)
        values += f->link[k].flows;
    r->hull = calloc(most + 1, sizeof(*r->hull));
    r->lp = r->hull ? dual_new(r->cols, rows, values) : NULL;
    return r->lp ? 0 : -1;
}

static void fill(struct relax *r)
{
    const struct flows_aim aim = {.gain = r->ascent->gain};

    for (size_t cell = 0; cell < r->cells; cell++)
        add_cell(r, cell);
    for (size_t k = 0; k < r->flows->flows; k++)
        add_flow(r, k);
    for (size_t i = 0; i < r->nodes; i++) {
        add_node(r, i);
        add_share(r, i);
    }
    for (size_t k = 0; k < r->flows->links; k++)
        add_link(r, &r->flows->link[k]);
    for (size_t p = 0; p < r->programs; p++) {
        add_sum(r, p);
        if (r->ascent->floor)
            add_floor(r, p, r->ascent->floor[p], flows_short(r->flows, &aim));
    }
}

struct relax *relax_new(const struct ascent *ascent, const struct flows *flows)
{
    size_t nodes = flows->machine->nodes, cells = nodes * flows->programs;
    struct relax *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    *r = (struct relax){.ascent = ascent,
                        .flows = flows,
                        .nodes = nodes,
                        .programs = flows->programs,
                        .cells = cells,
                        .local = cells,
                        .amount = 2 * cells,
                        .below = 2 * cells + flows->flows,
                        .cols = 2 * cells + flows->flows + flows->programs};
    if (init(r) == 0) {
        fill(r);
        return r;
    }
    relax_free(r);
    return NULL;
}

void relax_free(struct relax *r)
{
    if (!r)
        return;
    dual_free(r->lp);
    free(r->hull);
    free(r);
}

void relax_limit(struct relax *r, size_t cell, unsigned least, unsigned most)
{
    dual_limit(r->lp, cell, least, most);
}

int relax_solve(struct relax *r, double above, double *cores)
{
    const struct nucore *nucore = r->ascent->nucore;
    const struct dual_call call = {above, nucore->stop, nucore->stop_arg};
    enum dual_end end = dual_solve(r->lp, &call);

    if (end == DUAL_OPTIMAL)
        for (size_t cell = 0; cell < r->cells; cell++)
            cores[cell] = dual_value(r->lp, cell);
    return end == DUAL_OPTIMAL ? 0 : end == DUAL_FAILED ? -1 : 1;
}
