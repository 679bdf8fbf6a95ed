/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/simplex.h"

#include <errno.h>
#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#define TOLERANCE 1e-9

/* Until the caller is asked again whether to stop: iterations, the fewer the larger the program. */
#define ITERATIONS_MIN 100
#define ITERATIONS_MAX 500
#define WORK 1000000 /* iterations times rows and columns */

struct simplex {
    glp_prob *lp;
    unsigned life; /* of GLPK, in which it was made */
};

/* Of GLPK, which is another one in each thread: one ends when there is no memory. */
static _Thread_local unsigned lives;

/* ---- no memory ---- */

bool simplex_has_failed(const struct simplex *simplex)
{
    return simplex->life != lives;
}

/* GLPK calls this instead of ending the process. */
static void give_up(void *rescue)
{
    longjmp(*(jmp_buf *)rescue, 1);
}

static int say_nothing(void *unused, const char *text)
{
    (void)unused;
    (void)text;
    return 1;
}

/* Does the work, during which GLPK is silent. Returns false where there is no memory for it: then
 * GLPK is in no state to go on from, and all that it has is freed. */
static bool guard(void (*work)(struct simplex *simplex, void *arg), struct simplex *simplex,
                  void *arg)
{
    jmp_buf rescue;

    if (setjmp(rescue) == 0) {
        glp_error_hook(give_up, &rescue);
        glp_term_hook(say_nothing, NULL);
        work(simplex, arg);
        glp_error_hook(NULL, NULL);
        glp_term_hook(NULL, NULL);
        return true;
    }
    glp_free_env();
    lives++;
    return false;
}

/* ---- a linear program ---- */

static void create(struct simplex *simplex, void *unused)
{
    (void)unused;
    simplex->lp = glp_create_prob();
    glp_set_obj_dir(simplex->lp, GLP_MAX);
}

struct simplex *simplex_new(void)
{
    struct simplex *simplex = calloc(1, sizeof(*simplex));

    if (simplex)
        simplex->life = lives;
    if (simplex && glp_init_env() <= 1 && guard(create, simplex, NULL))
        return simplex;
    free(simplex);
    errno = ENOMEM;
    return NULL;
}

void simplex_free(struct simplex *simplex)
{
    if (simplex && !simplex_has_failed(simplex))
        glp_delete_prob(simplex->lp);
    free(simplex);
}

static int bound_type(double lower, double upper)
{
    if (isfinite(lower) && isfinite(upper))
        return lower < upper ? GLP_DB : GLP_FX;
    if (isfinite(lower))
        return GLP_LO;
    return isfinite(upper) ? GLP_UP : GLP_FR;
}

void simplex_bound_row(struct simplex *s, int row, double lower, double upper)
{
    if (!simplex_has_failed(s))
        glp_set_row_bnds(s->lp, row, bound_type(lower, upper), lower, upper);
}

void simplex_bound_col(struct simplex *s, int col, double lower, double upper)
{
    if (!simplex_has_failed(s))
        glp_set_col_bnds(s->lp, col, bound_type(lower, upper), lower, upper);
}

void simplex_gain(struct simplex *s, int col, double gain)
{
    if (!simplex_has_failed(s))
        glp_set_obj_coef(s->lp, col, gain);
}

static void add_cols(struct simplex *s, void *number)
{
    *(int *)number = glp_add_cols(s->lp, *(int *)number);
}

int simplex_add_cols(struct simplex *s, size_t n)
{
    int number = (int)n;

    return !simplex_has_failed(s) && guard(add_cols, s, &number) ? number : 0;
}

/* ---- rows ---- */

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

static void add_row(struct simplex *s, void *row)
{
    const struct simplex_row *r = row;

    glp_set_mat_row(s->lp, glp_add_rows(s->lp, 1), r->n, r->col, r->value);
}

int simplex_row_add(struct simplex *s, struct simplex_row *row, double lower, double upper)
{
    bool added = !simplex_has_failed(s) && guard(add_row, s, row);

    row->n = 0;
    if (!added)
        return 0;
    simplex_bound_row(s, glp_get_num_rows(s->lp), lower, upper);
    return glp_get_num_rows(s->lp);
}

int simplex_rows(const struct simplex *s)
{
    return simplex_has_failed(s) ? 0 : glp_get_num_rows(s->lp);
}

int simplex_cols(const struct simplex *s)
{
    return simplex_has_failed(s) ? 0 : glp_get_num_cols(s->lp);
}

int simplex_row_get(const struct simplex *s, int row, int *col, double *value)
{
    return simplex_has_failed(s) ? 0 : glp_get_mat_row(s->lp, row, col, value);
}

double simplex_row_most(const struct simplex *s, int row)
{
    return simplex_has_failed(s) ? 0 : glp_get_row_ub(s->lp, row);
}

/* ---- the method ---- */

static int iterations(glp_prob *lp)
{
    int most = WORK / (glp_get_num_rows(lp) + glp_get_num_cols(lp) + 1);

    if (most > ITERATIONS_MAX)
        return ITERATIONS_MAX;
    return most > ITERATIONS_MIN ? most : ITERATIONS_MIN;
}

struct go {
    const struct simplex_call *call;
    bool primal;
    int rc; /* GLPK's */
};

/* Goes on for so many iterations at most. */
static void go(struct simplex *s, void *arg)
{
    struct go *go = arg;
    glp_smcp parm;

    glp_init_smcp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.meth = go->primal ? GLP_PRIMAL : GLP_DUAL;
    parm.tol_bnd = parm.tol_dj = TOLERANCE;
    parm.r_test = GLP_RT_FLIP;
    parm.it_lim = iterations(s->lp);
    if (isfinite(go->call->cutoff) && !go->primal)
        parm.obj_ll = go->call->cutoff;
    go->rc = glp_simplex(s->lp, &parm);
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

/* Goes on as often as it takes. */
static enum simplex_end solve(struct simplex *s, const struct simplex_call *call, bool primal)
{
    struct go arg = {.call = call, .primal = primal};

    do {
        if (call->stop && call->stop(call->stop_arg))
            return SIMPLEX_STOPPED;
        if (simplex_has_failed(s) || !guard(go, s, &arg))
            return SIMPLEX_FAILED;
    } while (arg.rc == GLP_EITLIM);
    return ended(s->lp, arg.rc);
}

enum simplex_end simplex_solve(struct simplex *s, const struct simplex_call *call)
{
    enum simplex_end end = solve(s, call, call->primal);

    if (end == SIMPLEX_FAILED && !call->primal)
        end = solve(s, call, true);
    if (end == SIMPLEX_FAILED && !simplex_has_failed(s)) {
        glp_std_basis(s->lp);
        end = solve(s, call, true);
    }
    return end;
}

double simplex_optimum(const struct simplex *s)
{
    return simplex_has_failed(s) ? 0 : glp_get_obj_val(s->lp);
}

double simplex_col_value(const struct simplex *s, int col)
{
    return simplex_has_failed(s) ? 0 : glp_get_col_prim(s->lp, col);
}

double simplex_col_price(const struct simplex *s, int col)
{
    return simplex_has_failed(s) ? 0 : glp_get_col_dual(s->lp, col);
}

double simplex_row_price(const struct simplex *s, int row)
{
    return simplex_has_failed(s) ? 0 : glp_get_row_dual(s->lp, row);
}
