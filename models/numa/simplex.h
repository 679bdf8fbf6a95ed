/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simplex - GLPK's simplex method for linear programs that are to be maximised: silent, with tight
 * tolerances, and ready to stop. */
#ifndef BERTH_MODELS_NUMA_SIMPLEX_H
#define BERTH_MODELS_NUMA_SIMPLEX_H

#include <glpk.h>
#include <stdbool.h>
#include <stddef.h>

enum simplex_end {
    SIMPLEX_OPTIMAL,
    SIMPLEX_INFEASIBLE,
    SIMPLEX_CUTOFF,  /* the optimum is not above the cutoff */
    SIMPLEX_STOPPED, /* the caller said so */
    SIMPLEX_FAILED,  /* numerical trouble: nothing is known */
};

struct simplex_call {
    bool primal;   /* begin with the primal method: the basis is feasible, or nothing is known */
    double cutoff; /* what is not better than that is not looked for; -INFINITY: no cutoff */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

/* A linear program to maximise. NULL is never returned: GLPK ends the process when it finds no
 * memory. */
glp_prob *simplex_new(void);

/* lower <= value <= upper of a row or a column; infinite where there is no bound. */
void simplex_bound_row(glp_prob *lp, int row, double lower, double upper);
void simplex_bound_col(glp_prob *lp, int col, double lower, double upper);

/* Append columns with a coefficient of 0; the number of the first one. */
int simplex_add_cols(glp_prob *lp, size_t n);

/* A row as it is put together: its columns are distinct. */
struct simplex_row {
    int n;
    int *col;      /* from 1 */
    double *value; /* from 1 */
};

int simplex_row_new(struct simplex_row *row, size_t columns); /* 0, or -1: errno ENOMEM */
void simplex_row_free(struct simplex_row *row);
void simplex_row_put(struct simplex_row *row, int col, double value);
/* Append the row and empty it; its number. */
int simplex_row_add(glp_prob *lp, struct simplex_row *row, double lower, double upper);

enum simplex_end simplex_solve(glp_prob *lp, const struct simplex_call *call);

#endif
