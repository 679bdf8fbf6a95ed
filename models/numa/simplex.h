/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simplex - GLPK's simplex method for linear programs that are to be maximised: silent, with tight
 * tolerances, ready to stop, and alive when there is no memory.
 *
 * GLPK ends the process when it finds no memory. Here it gives up all that it has in this thread
 * instead: every linear program of the thread has failed then, takes no notice of what is asked of
 * it, has no rows and no columns, and all its values are 0. A linear program stays in the thread
 * that made it. */
#ifndef BERTH_MODELS_NUMA_SIMPLEX_H
#define BERTH_MODELS_NUMA_SIMPLEX_H

#include <stdbool.h>
#include <stddef.h>

enum simplex_end {
    SIMPLEX_OPTIMAL,
    SIMPLEX_INFEASIBLE,
    SIMPLEX_CUTOFF,  /* the optimum is not above the cutoff */
    SIMPLEX_STOPPED, /* the caller said so */
    SIMPLEX_FAILED,  /* numerical trouble, or no memory (simplex_has_failed): nothing is known */
};

struct simplex_call {
    bool primal;   /* begin with the primal method: the basis is feasible, or nothing is known */
    double cutoff; /* what is not better than that is not looked for; -INFINITY: no cutoff */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

struct simplex;

/* Returns an empty linear program to maximise; NULL with errno ENOMEM. Free with simplex_free. */
struct simplex *simplex_new(void);
void simplex_free(struct simplex *simplex);

/* Returns whether memory ran out since the linear program was made. */
bool simplex_has_failed(const struct simplex *simplex);

/* Sets lower <= value <= upper of a row or a column; infinite where there is no bound. */
void simplex_bound_row(struct simplex *simplex, int row, double lower, double upper);
void simplex_bound_col(struct simplex *simplex, int col, double lower, double upper);

/* Appends columns with a coefficient of 0. Returns the number of the first one, from 1. */
int simplex_add_cols(struct simplex *simplex, size_t n);

/* Sets the column's coefficient in what is maximised. */
void simplex_gain(struct simplex *simplex, int col, double gain);

/* A row as it is put together: its columns are distinct. */
struct simplex_row {
    int n;
    int *col;      /* from 1 */
    double *value; /* from 1 */
};

int simplex_row_new(struct simplex_row *row, size_t columns); /* 0, or -1: errno ENOMEM */
void simplex_row_free(struct simplex_row *row);
void simplex_row_put(struct simplex_row *row, int col, double value);

/* Appends the row and empties it. Returns its number, from 1; 0 when there is no memory. */
int simplex_row_add(struct simplex *simplex, struct simplex_row *row, double lower, double upper);

enum simplex_end simplex_solve(struct simplex *simplex, const struct simplex_call *call);

/* ---- what there is ---- */

int simplex_rows(const struct simplex *simplex);
int simplex_cols(const struct simplex *simplex);

/* Fills col[1..] and value[1..] with the row's. Returns how many there are. */
int simplex_row_get(const struct simplex *simplex, int row, int *col, double *value);
double simplex_row_most(const struct simplex *simplex, int row); /* the upper bound */

/* After SIMPLEX_OPTIMAL: the optimum, values, and duals. */
double simplex_optimum(const struct simplex *simplex);
double simplex_col_value(const struct simplex *simplex, int col);
double simplex_col_price(const struct simplex *simplex, int col);
double simplex_row_price(const struct simplex *simplex, int row);

#endif
