/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_impl - what the relax files share. */
#ifndef BERTH_MODELS_NUMA_RELAX_IMPL_H
#define BERTH_MODELS_NUMA_RELAX_IMPL_H

#include "models/numa/relax.h"

/* A column that is below (LOWER: above) the hull of a function of one cell's cores. */
enum curve_kind { CURVE_DEMAND, CURVE_LOWER, CURVE_FLOW };

struct curve {
    enum curve_kind kind;
    size_t cell;
    int col;
    double rate, max; /* of a flow */
};

/* A row: column - slope * a <= constant (LOWER: >=), which holds for points lo .. hi. */
struct facet {
    int row;
    size_t curve, lo, hi;
    double slope, constant;
    bool active;
};

struct relax {
    const struct relax_problem *problem;
    const struct flows *flows;
    size_t nodes, programs, cells;
    struct simplex *lp;
    int cores, local, demand; /* first columns; demand: 0 where there is none */
    int *amount;              /* of each flow: its column */
    int *merged;              /* of each cell: the column that flows from it share; 0: none */
    int *memory;              /* of each node: the row of eq. 5.8; 0: it is not looked at */
    int *line;                /* of each flow: the row of eq. 5.1 and 5.2; 0: it is a curve */
    size_t *sent; /* of each cell: flows sent[cell] .. before sent[cell + 1] are its own */
    int limits;   /* rows 1 .. limits: memories and links */
    int sum;      /* first row of the programs' sums of cores */
    size_t curves, facets, facets_size;
    struct curve *curve;
    size_t *first, *of; /* the curves of cell c: curve[of[first[c]]] .. before first[c + 1] */
    struct facet *facet;
    bool solved;    /* there is a basis to go on from */
    struct box now; /* the box that the columns' bounds describe */
    size_t *chain;  /* scratch: a hull */
    struct simplex_row row;
    double *value; /* scratch: of columns, or of a cell's points */
    double *price; /* scratch: of each column */
};

/* Returns the cell that drives the flow from its own memory. */
static inline size_t relax_sender(const struct relax *relax, const struct flow *flow)
{
    return flow->program * relax->nodes + flow->from;
}

/* Returns whether the flow shares its column with others from the same cell. */
static inline bool relax_is_merged(const struct relax *relax, size_t flow)
{
    return relax->merged[relax_sender(relax, &relax->flows->flow[flow])] == relax->amount[flow];
}

/* ---- relax_flow.c ---- */

void relax_add_flow_columns(struct relax *relax);
int relax_add_flow_rows(struct relax *relax); /* 0, or -1: errno ENOMEM */

/* Puts the columns of all flows from the cell in the scratch row. */
void relax_put_sent(struct relax *relax, size_t cell);

/* ---- relax_hull.c ---- */

/* Appends the facet's row. Returns 0, or -1 with errno ENOMEM. */
int facet_add(struct relax *relax, struct facet facet);

double curve_value(const struct relax *relax, const struct curve *curve, size_t point);

/* Cuts off the relaxation's optimum where it is above this curve's hull in the box. Returns 1 where
 * it was, 0, or -1 with errno ENOMEM. */
int hull_separate(struct relax *relax, size_t curve, const struct box *box);

/* ---- relax_rounding.c ---- */

/* Cuts off the relaxation's optimum by mixed-integer rounding. Returns how many rows were added. */
int rounding_separate(struct relax *relax);

#endif
