/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dual - the dual simplex method for programs of limits: the greatest sum of gain * x, where each
 * column is least <= x <= most, and each row, a sum of value * x, is at most what it may be.
 *
 * The method comes down to the optimum from above. So a change of limits leaves it near the new
 * optimum, and a caller who wants more than `above` hears early that there is nothing. A row is
 * looked at from when it is violated on: most never are. */
#ifndef BERTH_MODELS_NUMA_DUAL_H
#define BERTH_MODELS_NUMA_DUAL_H

#include <stdbool.h>
#include <stddef.h>

enum dual_end {
    DUAL_OPTIMAL,
    DUAL_BELOW,   /* the optimum is not above `above` */
    DUAL_STOPPED, /* the caller said so */
    DUAL_NOTHING, /* the limits contradict each other */
    DUAL_FAILED   /* errno ENOMEM */
};

struct dual_call {
    double above;                 /* -INFINITY: everything is wanted */
    bool (*stop)(void *stop_arg); /* NULL: never */
    void *stop_arg;
};

struct dual;

/* Returns a program without gains and with limits of 0, which has room for so many values other
 * than 0 in its rows. NULL: errno ENOMEM. Free with dual_free. */
struct dual *dual_new(size_t cols, size_t rows, size_t values);
void dual_free(struct dual *dual);

/* These come before the first call of dual_limit. The values of a row come one after the other, and
 * rows in the order of their numbers. */
void dual_gain(struct dual *dual, size_t col, double gain);
void dual_put(struct dual *dual, size_t row, size_t col, double value);

/* Sets the limits of a column, both finite; and the most that a row may be. */
void dual_limit(struct dual *dual, size_t col, double least, double most);
void dual_limit_row(struct dual *dual, size_t row, double most);

enum dual_end dual_solve(struct dual *dual, const struct dual_call *call);

/* After DUAL_OPTIMAL: a column's value. */
double dual_value(const struct dual *dual, size_t col);

#endif
