/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_paper - see numa_paper.h */
#include "tests/bench/numa_paper.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct paper {
    const struct numem_machine *m;
    const struct numem_program *program;
    size_t nodes, programs;
    glp_prob *lp;
    int cores, demand, local, read, write; /* first columns */
    int n, *col;
    double *value;
};

static void put(struct paper *p, int col, double value)
{
    p->n++;
    p->col[p->n] = col;
    p->value[p->n] = value;
}

static void end_row(struct paper *p, int type, double bound)
{
    int row = glp_add_rows(p->lp, 1);

    glp_set_mat_row(p->lp, row, p->n, p->col, p->value);
    glp_set_row_bnds(p->lp, row, type, bound, bound);
    p->n = 0;
}

/* The column of a program's read or write traffic from a node to another one. */
static int traffic(const struct paper *p, int first, size_t program, size_t from, size_t to)
{
    return first + (int)((program * p->nodes + from) * p->nodes + to);
}

static void put_traffic(struct paper *p, size_t program, size_t from, size_t to)
{
    put(p, traffic(p, p->read, program, from, to), 1);
    put(p, traffic(p, p->write, program, from, to), 1);
}

/* constraint 1 */
static void add_rates(struct paper *p, size_t program)
{
    const struct numem_program *use = &p->program[program];

    for (size_t from = 0; from < p->nodes; from++)
        for (size_t to = 0; to < p->nodes; to++) {
            int a = p->cores + (int)(program * p->nodes);

            if (from == to)
                continue;
            put(p, traffic(p, p->read, program, from, to), 1);
            put(p, a + (int)to, -use->read_solo[from * p->nodes + to]);
            end_row(p, GLP_UP, 0);
            put(p, traffic(p, p->write, program, from, to), 1);
            put(p, a + (int)from, -use->write_solo[from * p->nodes + to]);
            end_row(p, GLP_UP, 0);
        }
}

static bool passes(const struct paper *p, size_t from, size_t to, size_t x, size_t y)
{
    const struct numem_route *route =
        p->m->route ? &p->m->route[from * p->nodes + to] : &(struct numem_route){0};

    if (from == x && to == y)
        return true;
    for (size_t h = 0; h < route->hops; h++)
        if (route->hop[h][0] == x && route->hop[h][1] == y)
            return true;
    return false;
}

static void put_load(struct paper *p, size_t x, size_t y)
{
    for (size_t program = 0; program < p->programs; program++)
        for (size_t from = 0; from < p->nodes; from++)
            for (size_t to = 0; to < p->nodes; to++)
                if (from != to && passes(p, from, to, x, y))
                    put_traffic(p, program, from, to);
}

/* constraints 2 and 3, of links and of pairs that are several hops apart */
static void add_links(struct paper *p)
{
    for (size_t x = 0; x < p->nodes; x++)
        for (size_t y = 0; y < p->nodes; y++) {
            if (x == y)
                continue;
            put_load(p, x, y);
            end_row(p, GLP_UP, p->m->uni_max[x * p->nodes + y]);
            put_load(p, x, y);
            put_load(p, y, x);
            end_row(p, GLP_UP, p->m->bi_max[x * p->nodes + y]);
        }
}

/* constraint 4, and eq. 5.4 */
static void add_memories(struct paper *p)
{
    for (int beta = 0; beta <= 1; beta++)
        for (size_t i = 0; i < p->nodes; i++) {
            for (size_t program = 0; program < p->programs; program++) {
                int cell = (int)(program * p->nodes + i);

                put(p, (beta ? p->demand : p->local) + cell, beta ? p->m->beta[i] : 1);
                for (size_t to = 0; to < p->nodes; to++)
                    if (to != i)
                        put_traffic(p, program, i, to);
            }
            end_row(p, GLP_UP, p->m->alpha[i]);
        }
    for (int cell = 0; cell < (int)(p->programs * p->nodes); cell++) {
        put(p, p->local + cell, 1);
        put(p, p->demand + cell, -1);
        end_row(p, GLP_UP, 0);
    }
}

static void put_program(struct paper *p, size_t program)
{
    for (size_t i = 0; i < p->nodes; i++) {
        put(p, p->local + (int)(program * p->nodes + i), 1);
        for (size_t j = 0; j < p->nodes; j++)
            if (i != j)
                put_traffic(p, program, i, j);
    }
}

static void set_gain(struct paper *p, size_t program, double gain)
{
    p->n = 0;
    put_program(p, program);
    for (; p->n > 0; p->n--)
        glp_set_obj_coef(p->lp, p->col[p->n], gain);
}

static void paper_begin(struct paper *p)
{
    size_t cells = p->programs * p->nodes, pairs = cells * p->nodes;
    size_t columns = 3 * cells + 2 * pairs;
    int first;

    glp_term_out(GLP_OFF);
    p->lp = glp_create_prob();
    glp_set_obj_dir(p->lp, GLP_MAX);
    first = glp_add_cols(p->lp, (int)columns);
    for (int col = first; col < first + (int)columns; col++)
        glp_set_col_bnds(p->lp, col, GLP_LO, 0, 0);
    p->cores = first;
    p->demand = p->cores + (int)cells;
    p->local = p->demand + (int)cells;
    p->read = p->local + (int)cells;
    p->write = p->read + (int)pairs;
    p->n = 0;
    p->col = calloc(2 * columns + 1, sizeof(*p->col));
    p->value = calloc(2 * columns + 1, sizeof(*p->value));
    if (!p->col || !p->value) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (size_t program = 0; program < p->programs; program++)
        add_rates(p, program);
    add_links(p);
    add_memories(p);
}

static void paper_end(struct paper *p)
{
    glp_delete_prob(p->lp);
    free(p->col);
    free(p->value);
}

double paper_numem(const struct numem_machine *machine, const struct numem_program *program,
                   size_t programs, const double *gain, const double *floor,
                   const unsigned *allocation)
{
    struct paper p = {
        .m = machine, .program = program, .nodes = machine->nodes, .programs = programs};
    double value = NAN;
    glp_smcp parm;

    paper_begin(&p);
    for (size_t k = 0; k < programs; k++) {
        set_gain(&p, k, gain[k]);
        put_program(&p, k);
        end_row(&p, GLP_LO, floor ? floor[k] : 0);
        for (size_t i = 0; i < p.nodes; i++) {
            int cell = (int)(k * p.nodes + i);
            double demand = program[k].local_demand[i][allocation[cell]];

            glp_set_col_bnds(p.lp, p.cores + cell, GLP_FX, allocation[cell], 0);
            glp_set_col_bnds(p.lp, p.demand + cell, GLP_FX, demand, 0);
        }
    }
    glp_init_smcp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.tol_bnd = parm.tol_dj = 1e-10;
    if (glp_simplex(p.lp, &parm) == 0 && glp_get_status(p.lp) == GLP_OPT)
        value = glp_get_obj_val(p.lp);
    paper_end(&p);
    return value;
}
