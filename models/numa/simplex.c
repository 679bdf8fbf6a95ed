/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simplex - see simplex.h */
#include "models/numa/simplex.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-9

/* Until the caller is asked again whether to stop: iterations, the fewer the larger the program. */
#define ITERATIONS_MIN 100
#define ITERATIONS_MAX 500
#define WORK 1000000 /* iterations times rows and columns */

glp_prob *simplex_new(void)
{
    glp_prob *lp;
    int before = glp_term_out(GLP_OFF);

    lp = glp_create_prob();
    glp_set_obj_dir(lp, GLP_MAX);
    glp_term_out(before);
    return lp;
}

static int bound_type(double lower, double upper)
{
    if (isfinite(lower) && isfinite(upper))
        return lower < upper ? GLP_DB : GLP_FX;
    if (isfinite(lower))
        return GLP_LO;
    return isfinite(upper) ? GLP_UP : GLP_FR;
}

void simplex_bound_row(glp_prob *lp, int row, double lower, double upper)
{
    glp_set_row_bnds(lp, row, bound_type(lower, upper), lower, upper);
}

void simplex_bound_col(glp_prob *lp, int col, double lower, double upper)
{
    glp_set_col_bnds(lp, col, bound_type(lower, upper), lower, upper);
}

int simplex_add_cols(glp_prob *lp, size_t n)
{
    return glp_add_cols(lp, (int)n);
}

int simplex_row_new(struct simplex_row *row, size_t columns)
{
    row->n = 0;
    row->col = calloc(columns + 1, sizeof(*row->col));
    row->value = calloc(columns + 1, sizeof(*row->value));
    if (row->col && row->value)
        return 0;
    simplex_row_free(row);
    return -1;
}

void simplex_row_free(struct simplex_row *row)
{
    free(row->col);
    free(row->value);
    *row = (struct simplex_row){0};
}

void simplex_row_put(struct simplex_row *row, int col, double value)
{
    if (value == 0)
        return;
    row->n++;
    row->col[row->n] = col;
    row->value[row->n] = value;
}

int simplex_row_add(glp_prob *lp, struct simplex_row *row, double lower, double upper)
{
    int number = glp_add_rows(lp, 1);

    glp_set_mat_row(lp, number, row->n, row->col, row->value);
    simplex_bound_row(lp, number, lower, upper);
    row->n = 0;
    return number;
}

static int iterations(glp_prob *lp)
{
    int most = WORK / (glp_get_num_rows(lp) + glp_get_num_cols(lp) + 1);

    if (most > ITERATIONS_MAX)
        return ITERATIONS_MAX;
    return most > ITERATIONS_MIN ? most : ITERATIONS_MIN;
}

/* One go, of so many iterations at most. */
static int go(glp_prob *lp, const struct simplex_call *call, bool primal)
{
    glp_smcp parm;

    glp_init_smcp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.meth = primal ? GLP_PRIMAL : GLP_DUAL;
    parm.tol_bnd = parm.tol_dj = TOLERANCE;
    parm.r_test = GLP_RT_FLIP;
    parm.it_lim = iterations(lp);
    if (isfinite(call->cutoff) && !primal)
        parm.obj_ll = call->cutoff;
    return glp_simplex(lp, &parm);
}

static enum simplex_end ended(glp_prob *lp, int rc)
{
    if (rc == GLP_EOBJLL)
        return SIMPLEX_CUTOFF;
    if (rc != 0)
        return SIMPLEX_FAILED;
    if (glp_get_status(lp) == GLP_OPT)
        return SIMPLEX_OPTIMAL;
    return glp_get_status(lp) == GLP_NOFEAS || glp_get_prim_stat(lp) == GLP_NOFEAS
               ? SIMPLEX_INFEASIBLE
               : SIMPLEX_FAILED;
}

/* As many goes as it takes. */
static enum simplex_end solve(glp_prob *lp, const struct simplex_call *call, bool primal)
{
    int rc;

    do {
        if (call->stop && call->stop(call->stop_arg))
            return SIMPLEX_STOPPED;
        rc = go(lp, call, primal);
    } while (rc == GLP_EITLIM);
    return ended(lp, rc);
}

enum simplex_end simplex_solve(glp_prob *lp, const struct simplex_call *call)
{
    int before = glp_term_out(GLP_OFF);
    enum simplex_end end = solve(lp, call, call->primal);

    if (end == SIMPLEX_FAILED && !call->primal)
        end = solve(lp, call, true);
    if (end == SIMPLEX_FAILED) {
        glp_std_basis(lp);
        end = solve(lp, call, true);
    }
    glp_term_out(before);
    return end;
}
