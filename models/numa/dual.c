/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dual - see dual.h
 *
 * The basic variables are sums of the nonbasic ones: x_B = table * x_N, and the objective is
 * price * x_N. A nonbasic variable is at its least where its price is negative, else at its most.
 * At first every column is nonbasic, and no row is in the table. Columns are variables 0 ..
 * cols - 1, rows are variables cols .. cols + rows - 1; the least of a row is -INFINITY. */
#include "models/numa/dual.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE SIZE_MAX
#define TOLERANCE 1e-10 /* of the greatest limit */
#define PIVOT_MIN 1e-9
#define STEPS_EACH 100 /* of a variable: more are going round in circles */
#define STEPS_MAX 2000 /* then rounding is got rid of by a new start */

struct dual {
    size_t cols, rows, values;
    size_t base, room; /* rows of the table; there is room for so many */
    double *gain;
    size_t *first, *end, *col; /* row r's values are value[first[r]] .. before value[end[r]] */
    double *value;
    double *least, *most, *x; /* of each variable */
    size_t *place;            /* of each variable: its column of the table, or cols + its row */
    size_t *nonbasic;         /* of each column of the table: its variable */
    size_t *basic;            /* of each row */
    double *price, *table;    /* price: of each column */
    size_t *used;             /* scratch: the columns that a row of the table has */
    double optimum, scale;    /* scale: the greatest limit */
    size_t steps;             /* since the start */
};

struct dual *dual_new(size_t cols, size_t rows, size_t values)
{
    struct dual *d = calloc(1, sizeof(*d));
    size_t all = cols + rows;

    if (!d)
        return NULL;
    *d = (struct dual){.cols = cols, .rows = rows};
    d->gain = calloc(2 * cols + 1, sizeof(*d->gain));
    d->first = calloc(2 * rows + 1, sizeof(*d->first));
    d->col = calloc(values + 1, sizeof(*d->col));
    d->value = calloc(values + 1, sizeof(*d->value));
    d->most = calloc(3 * all + 1, sizeof(*d->most));
    d->place = calloc(2 * all + cols + 1, sizeof(*d->place));
    if (!d->gain || !d->first || !d->col || !d->value || !d->most || !d->place) {
        dual_free(d);
        errno = ENOMEM;
        return NULL;
    }
    d->price = d->gain + cols;
    d->end = d->first + rows;
    d->x = d->most + all;
    d->least = d->x + all;
    for (size_t row = 0; row < rows; row++)
        d->least[cols + row] = -INFINITY;
    d->nonbasic = d->place + all;
    d->basic = d->nonbasic + cols;
    d->used = d->basic + rows;
    d->steps = SIZE_MAX;
    return d;
}

void dual_free(struct dual *d)
{
    if (!d)
        return;
    free(d->gain);
    free(d->first);
    free(d->col);
    free(d->value);
    free(d->most);
    free(d->place);
    free(d->table);
    free(d);
}

void dual_gain(struct dual *d, size_t col, double gain)
{
    d->gain[col] = gain;
}

void dual_put(struct dual *d, size_t row, size_t col, double value)
{
    if (d->end[row] == 0)
        d->first[row] = d->values;
    d->col[d->values] = col;
    d->value[d->values] = value;
    d->end[row] = ++d->values;
}

/* ---- where the variables are ---- */

static double *table_row(const struct dual *d, size_t r)
{
    return &d->table[r * d->cols];
}

/* Moves a nonbasic variable, and with it the basic ones. */
static void move(struct dual *d, size_t j, double by)
{
    d->x[d->nonbasic[j]] += by;
    d->optimum += d->price[j] * by;
    for (size_t r = 0; r < d->base; r++)
        d->x[d->basic[r]] += d->table[r * d->cols + j] * by;
}

/* Begins where every column is as great as it is good. */
static void restart(struct dual *d)
{
    d->base = 0;
    d->optimum = 0;
    d->scale = 0;
    d->steps = 0;
    for (size_t v = 0; v < d->cols + d->rows; v++) {
        d->place[v] = v < d->cols ? v : NOWHERE;
        d->scale = fmax(d->scale, fabs(d->most[v]));
    }
    for (size_t j = 0; j < d->cols; j++) {
        d->nonbasic[j] = j;
        d->price[j] = d->gain[j];
        d->x[j] = d->gain[j] > 0 ? d->most[j] : d->least[j];
        d->optimum += d->price[j] * d->x[j];
    }
}

/* Moves the variable to its new limit where it stood at the old one. */
static void limit(struct dual *d, size_t variable, double least, double most)
{
    size_t j = d->place[variable];
    double to;

    if (least == d->least[variable] && most == d->most[variable])
        return;
    d->least[variable] = least;
    d->most[variable] = most;
    if (d->steps > STEPS_MAX || j >= d->cols)
        return;
    to = d->price[j] < 0 && isfinite(least) ? least : most;
    move(d, j, to - d->x[variable]);
    d->x[variable] = to;
}

void dual_limit(struct dual *d, size_t col, double least, double most)
{
    limit(d, col, least, most);
}

void dual_limit_row(struct dual *d, size_t row, double most)
{
    limit(d, d->cols + row, -INFINITY, most);
}

/* ---- a step ---- */

/* Returns the row of the table whose variable is furthest out of its limits; base: none is. */
static size_t find_leaving(const struct dual *d)
{
    double most = TOLERANCE * d->scale;
    size_t found = d->base;

    for (size_t r = 0; r < d->base; r++) {
        size_t v = d->basic[r];
        double out = fmax(d->x[v] - d->most[v], d->least[v] - d->x[v]);

        if (out > most) {
            most = out;
            found = r;
        }
    }
    return found;
}

/* Returns how far the variable can go from where it is: up from its least, else down. */
static double range(const struct dual *d, size_t v)
{
    return d->x[v] > d->least[v] ? d->least[v] - d->most[v] : d->most[v] - d->least[v];
}

/* Returns the column of the table that brings the row's variable to its limit for the least loss;
 * cols: there is none. */
static size_t find_entering(const struct dual *d, size_t r, double by)
{
    const double *row = table_row(d, r);
    double least = INFINITY;
    size_t found = d->cols;

    for (size_t j = 0; j < d->cols; j++) {
        double ratio;

        if (fabs(row[j]) < PIVOT_MIN || !(row[j] * range(d, d->nonbasic[j]) * by > 0))
            continue;
        ratio = fabs(d->price[j] / row[j]);
        if (ratio < least || (ratio == least && fabs(row[j]) > fabs(row[found]))) {
            least = ratio;
            found = j;
        }
    }
    return found;
}

/* Adds that many times the pivot row to a row whose value in column q is that. */
static void eliminate(const struct dual *d, double *row, const double *pivot, size_t used, size_t q)
{
    double times = row[q];

    row[q] = 0;
    for (size_t k = 0; k < used; k++)
        row[d->used[k]] += times * pivot[d->used[k]];
}

/* Exchanges the variables of row r and column q. */
static void pivot(struct dual *d, size_t r, size_t q)
{
    double *row = table_row(d, r), value = row[q];
    size_t used = 0, variable = d->basic[r];

    row[q] = -1;
    for (size_t j = 0; j < d->cols; j++)
        if (row[j] != 0) {
            row[j] /= -value;
            d->used[used++] = j;
        }
    for (size_t i = 0; i < d->base; i++)
        if (i != r && d->table[i * d->cols + q] != 0)
            eliminate(d, table_row(d, i), row, used, q);
    eliminate(d, d->price, row, used, q);
    d->basic[r] = d->nonbasic[q];
    d->nonbasic[q] = variable;
    d->place[variable] = q;
    d->place[d->basic[r]] = d->cols + r;
}

/* Brings the variable of row r to its limit. Returns false where nothing does. */
static bool step(struct dual *d, size_t r)
{
    size_t v = d->basic[r], q;
    double to = d->x[v] > d->most[v] ? d->most[v] : d->least[v];

    for (;;) {
        double by = to - d->x[v], go;

        q = find_entering(d, r, by);
        if (q == d->cols)
            return false;
        go = range(d, d->nonbasic[q]);
        if (fabs(table_row(d, r)[q] * go) >= fabs(by) - TOLERANCE * d->scale) {
            move(d, q, by / table_row(d, r)[q]);
            break;
        }
        move(d, q, go); /* all the way, and it is not enough */
        if (go < 0)
            d->x[d->nonbasic[q]] = d->least[d->nonbasic[q]];
    }
    d->x[v] = to;
    pivot(d, r, q);
    d->steps++;
    return true;
}

/* ---- rows ---- */

static double sum_of(const struct dual *d, size_t row)
{
    double sum = 0;

    for (size_t k = d->first[row]; k < d->end[row]; k++)
        sum += d->value[k] * d->x[d->col[k]];
    return sum;
}

static int add_row(struct dual *d, size_t row)
{
    double *new;

    if (d->base == d->room) {
        size_t room = d->room < d->rows / 2 ? 2 * d->room + 8 : d->rows;

        new = realloc(d->table, room * d->cols * sizeof(*new));
        if (!new)
            return -1;
        d->table = new;
        d->room = room;
    }
    new = memset(table_row(d, d->base), 0, d->cols * sizeof(*new));
    for (size_t k = d->first[row]; k < d->end[row]; k++) {
        size_t place = d->place[d->col[k]];

        if (place < d->cols)
            new[place] += d->value[k];
        else
            for (size_t j = 0; j < d->cols; j++)
                new[j] += d->value[k] * table_row(d, place - d->cols)[j];
    }
    d->basic[d->base] = d->cols + row;
    d->place[d->cols + row] = d->cols + d->base++;
    return 0;
}

/* Returns how far the row is out of its limit; 0 where it is in the table. */
static double row_out(struct dual *d, size_t row)
{
    size_t v = d->cols + row;

    if (d->place[v] != NOWHERE)
        return 0;
    d->x[v] = sum_of(d, row);
    return d->x[v] - d->most[v];
}

/* Do the two rows end in the same column? Then they are bounds of it of one kind. */
static bool is_next(const struct dual *d, size_t row, size_t next)
{
    return next < d->rows && d->end[row] > 0 && d->end[next] > 0 &&
           d->col[d->end[row] - 1] == d->col[d->end[next] - 1];
}

/* Puts the rows into the table that are violated; of those in turn that end in the same column, the
 * one that is violated most. Returns how many, or -1. */
static int add_rows(struct dual *d)
{
    int added = 0;

    for (size_t row = 0, next; row < d->rows; row = next) {
        double most = row_out(d, row), out;
        size_t worst = row;

        for (next = row + 1; is_next(d, row, next); next++) {
            out = row_out(d, next);
            if (out > most) {
                most = out;
                worst = next;
            }
        }
        if (most <= TOLERANCE * d->scale)
            continue;
        if (add_row(d, worst) < 0)
            return -1;
        added++;
    }
    return added;
}

/* ---- the method ---- */

/* Goes on from where it is. */
static enum dual_end go_on(struct dual *d, const struct dual_call *call)
{
    size_t until = d->steps + STEPS_EACH * (d->rows + d->cols);

    while (d->optimum > call->above) {
        size_t r = find_leaving(d);
        int added = r == d->base ? add_rows(d) : 1;

        if (added <= 0)
            return added < 0 ? DUAL_FAILED : DUAL_OPTIMAL;
        if (call->stop && call->stop(call->stop_arg))
            return DUAL_STOPPED;
        if (r < d->base && (!step(d, r) || d->steps > until))
            return DUAL_NOTHING;
    }
    return DUAL_BELOW;
}

enum dual_end dual_solve(struct dual *d, const struct dual_call *call)
{
    enum dual_end end = DUAL_NOTHING;

    if (d->steps <= STEPS_MAX)
        end = go_on(d, call);
    if (end == DUAL_NOTHING) {
        restart(d);
        end = go_on(d, call);
    }
    if (end == DUAL_NOTHING || end == DUAL_FAILED)
        d->steps = SIZE_MAX;
    if (end == DUAL_FAILED)
        errno = ENOMEM;
    return end;
}

double dual_value(const struct dual *d, size_t col)
{
    return d->x[col];
}
