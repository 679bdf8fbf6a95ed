/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore_proof - see nucore_proof.h
 *
 * The columns: of each cell (program * nodes + node) its cores, what they ask of their own memory
 * and what they get of it, and of each of its counts of cores whether it has them; of each flow its
 * amount. In cores: a GB/s is worth nucore_gain. */
#include "lab/model/nucore_proof.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/flows.h"
#include "packer/base/clock.h"

struct proof {
    const struct nucore *nucore;
    const struct flows *flows;
    glp_prob *lp;
    size_t nodes, cells;
    int cores, demand, local, amount; /* first columns */
    int n, *col;                      /* the row that is put together; from 1 */
    double *value, bound;
};

static void put(struct proof *p, int col, double value)
{
    p->n++;
    p->col[p->n] = col;
    p->value[p->n] = value;
}

static void end_row(struct proof *p, double least, double most)
{
    int row = glp_add_rows(p->lp, 1), type = GLP_DB;

    if (isinf(least))
        type = GLP_UP;
    else if (isinf(most))
        type = GLP_LO;
    else if (least == most)
        type = GLP_FX;
    glp_set_mat_row(p->lp, row, p->n, p->col, p->value);
    glp_set_row_bnds(p->lp, row, type, least, most);
    p->n = 0;
}

static int add_columns(struct proof *p, size_t n)
{
    int first = n > 0 ? glp_add_cols(p->lp, (int)n) : 0;

    for (int k = 0; k < (int)n; k++)
        glp_set_col_bnds(p->lp, first + k, GLP_LO, 0, 0);
    return first;
}

/* It has one of the counts that it may have: that many cores, which ask for so much. */
static void add_cell(struct proof *p, int cell)
{
    size_t program = (size_t)cell / p->nodes, node = (size_t)cell % p->nodes;
    const struct nucore_program *which = &p->nucore->program[program];
    unsigned least = which->least ? which->least[node] : 0;
    unsigned most = nucore_most(p->nucore, program, node);
    int has = glp_add_cols(p->lp, (int)(most - least + 1));

    for (unsigned c = least; c <= most; c++) {
        glp_set_col_kind(p->lp, has + (int)(c - least), GLP_BV);
        put(p, has + (int)(c - least), 1);
    }
    end_row(p, 1, 1);
    for (unsigned c = least; c <= most; c++)
        put(p, has + (int)(c - least), c);
    put(p, p->cores + cell, -1);
    end_row(p, 0, 0);
    for (unsigned c = least; c <= most; c++)
        put(p, has + (int)(c - least), which->use.local_demand[node][c]);
    put(p, p->demand + cell, -1);
    end_row(p, 0, 0);
    put(p, p->local + cell, 1);
    put(p, p->demand + cell, -1);
    end_row(p, -INFINITY, 0); /* eq. 5.4 */
}

/* Eq. 5.1 and 5.2; links of a single flow are in its max. */
static void add_flow(struct proof *p, size_t k)
{
    const struct flow *flow = &p->flows->flow[k];
    int cores = p->cores + (int)(flow->program * p->nodes);

    put(p, p->amount + (int)k, 1);
    put(p, cores + (int)flow->to, -flow->read);
    put(p, cores + (int)flow->from, -flow->write);
    end_row(p, -INFINITY, 0);
    glp_set_col_bnds(p->lp, p->amount + (int)k, GLP_DB, 0, flow->max);
}

/* Eq. 5.8 and 5.7 of a node, and its cores. */
static void add_node(struct proof *p, size_t i)
{
    const struct numem_machine *m = p->nucore->machine;

    for (int share = 0; share <= 1; share++) {
        for (size_t cell = i; cell < p->cells; cell += p->nodes)
            put(p, (share ? p->demand : p->local) + (int)cell, share ? m->beta[i] : 1);
        for (size_t k = 0; k < p->flows->flows; k++)
            if (p->flows->flow[k].from == i)
                put(p, p->amount + (int)k, 1);
        end_row(p, -INFINITY, m->alpha[i]);
    }
    for (size_t cell = i; cell < p->cells; cell += p->nodes)
        put(p, p->cores + (int)cell, 1);
    end_row(p, -INFINITY, m->cores[i]);
}

static void put_bandwidth(struct proof *p, size_t program, double value)
{
    for (size_t i = 0; i < p->nodes; i++)
        put(p, p->local + (int)(program * p->nodes + i), value);
    for (size_t k = 0; k < p->flows->flows; k++)
        if (p->flows->flow[k].program == program)
            put(p, p->amount + (int)k, value);
}

/* A program's cores on all nodes together, and what it gets at least. */
static void add_program(struct proof *p, size_t program, double floor)
{
    const struct nucore_program *which = &p->nucore->program[program];

    for (size_t i = 0; i < p->nodes; i++)
        put(p, p->cores + (int)(program * p->nodes + i), 1);
    end_row(p, which->cores_min, which->cores_max > 0 ? which->cores_max : INFINITY);
    if (floor > 0) {
        put_bandwidth(p, program, 1);
        end_row(p, floor, INFINITY);
    }
}

static double unit(const struct nucore *nucore)
{
    return nucore->programs > 1 ? NUCORE_SPEED_PER_CORE : 1;
}

/* Sets the objective, and asks for more than was found. */
static void add_objective(struct proof *p, double found)
{
    for (size_t program = 0; program < p->nucore->programs; program++)
        put_bandwidth(p, program, nucore_gain(p->nucore, program));
    for (size_t cell = 0; cell < p->cells; cell++)
        put(p, p->cores + (int)cell, -1);
    for (int k = 1; k <= p->n; k++)
        glp_set_obj_coef(p->lp, p->col[k], p->value[k]);
    end_row(p, found + NUCORE_PROOF_LEAST * (1 + fabs(found)), INFINITY);
}

static void fill(struct proof *p, const struct nucore_result *result)
{
    glp_set_obj_dir(p->lp, GLP_MAX);
    p->cores = add_columns(p, 3 * p->cells);
    p->demand = p->cores + (int)p->cells;
    p->local = p->demand + (int)p->cells;
    p->amount = add_columns(p, p->flows->flows);
    for (int cell = 0; cell < (int)p->cells; cell++)
        add_cell(p, cell);
    for (size_t k = 0; k < p->flows->flows; k++)
        add_flow(p, k);
    for (size_t i = 0; i < p->nodes; i++)
        add_node(p, i);
    for (size_t k = 0; k < p->flows->links; k++) {
        for (size_t j = 0; j < p->flows->link[k].flows; j++)
            put(p, p->amount + (int)p->flows->link[k].flow[j], 1);
        end_row(p, -INFINITY, p->flows->link[k].max);
    }
    for (size_t program = 0; program < p->nucore->programs; program++)
        add_program(p, program, nucore_floor(p->nucore, program, result->solo));
    add_objective(p, result->objective / unit(p->nucore));
}

/* GLPK calls this now and then: keeps what is not exceeded. */
static void note_bound(glp_tree *tree, void *arg)
{
    int best = glp_ios_best_node(tree);

    if (best != 0)
        ((struct proof *)arg)->bound = glp_ios_node_bound(tree, best);
}

/* Makes what GLPK found the result where that is better. */
static int take_better(const struct proof *p, struct nucore_result *result)
{
    size_t bytes = p->cells * sizeof(*result->allocation);
    unsigned *before = malloc(bytes), *cores = malloc(bytes);
    double found = result->objective;
    int rc = before && cores ? 0 : -1;

    if (rc == 0) {
        memcpy(before, result->allocation, bytes);
        for (size_t cell = 0; cell < p->cells; cell++)
            cores[cell] = (unsigned)round(glp_mip_col_val(p->lp, p->cores + (int)cell));
        rc = nucore_describe(p->nucore, cores, result);
    }
    if (rc == 0 && result->objective < found)
        rc = nucore_describe(p->nucore, before, result);
    free(before);
    free(cores);
    return rc;
}

static int solve(struct proof *p, double limit_s, struct nucore_result *result)
{
    glp_iocp parm;
    int status;

    glp_init_iocp(&parm);
    parm.presolve = GLP_ON;
    parm.tm_lim = (int)fmax(1, limit_s * 1000);
    parm.cb_func = note_bound;
    parm.cb_info = p;
    if (glp_intopt(p->lp, &parm) == GLP_ENOPFS) {
        result->status = NUCORE_OPTIMAL;
        return 0;
    }
    status = glp_mip_status(p->lp);
    if ((status == GLP_OPT || status == GLP_FEAS) && take_better(p, result) < 0)
        return -1;
    if (status == GLP_OPT || status == GLP_NOFEAS)
        result->status = NUCORE_OPTIMAL;
    return 0;
}

static int prove(struct proof *p, double limit_s, struct nucore_result *result)
{
    double end_s = clock_s() + limit_s;
    size_t columns = 3 * p->cells + p->flows->flows + NUMEM_CORES_MAX + 1;
    int rc = -1;

    p->col = calloc(columns + 1, sizeof(*p->col));
    p->value = calloc(columns + 1, sizeof(*p->value));
    if (p->col && p->value) {
        glp_term_out(GLP_OFF);
        p->lp = glp_create_prob();
        fill(p, result);
        rc = solve(p, end_s - clock_s(), result);
        glp_delete_prob(p->lp);
        glp_free_env();
    }
    free(p->col);
    free(p->value);
    return rc;
}

int nucore_prove(const struct nucore *nucore, double limit_s, struct nucore_result *result,
                 double *bound, struct berth_error *err)
{
    const struct numem_program *use[NUCORE_PROGRAMS_MAX];
    struct proof p = {.nucore = nucore,
                      .nodes = nucore->machine->nodes,
                      .cells = nucore->machine->nodes * nucore->programs,
                      .bound = NAN};
    struct flows *flows;
    int rc;

    for (size_t k = 0; k < nucore->programs; k++)
        use[k] = &nucore->program[k].use;
    p.flows = flows = flows_new(nucore->machine, use, nucore->programs);
    rc = flows ? prove(&p, limit_s, result) : -1;
    flows_free(flows);
    *bound = result->status == NUCORE_OPTIMAL ? result->objective : p.bound * unit(nucore);
    return rc < 0 ? berth_no_memory(err) : 0;
}
