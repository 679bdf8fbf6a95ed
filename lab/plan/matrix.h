/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matrix - a degradation matrix that somebody measured: {"apps":[names],"degradation":[[...]]},
 * where row i tells what application i suffers beside each other one, as a fraction of its speed
 * alone (0.25: a quarter slower). */
#ifndef BERTH_LAB_PLAN_MATRIX_H
#define BERTH_LAB_PLAN_MATRIX_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"

struct ctl_matrix {
    struct json_object *file;
    struct json_object *names; /* in file */
    double *value;             /* row by row */
};

/* Reads a matrix and checks it: distinct names, a square of finite fractions above -1. 0, or -1 and
 * err. Free with ctl_matrix_free. */
int ctl_matrix_read(struct ctl_matrix *matrix, const char *path, struct berth_error *err);
void ctl_matrix_free(struct ctl_matrix *matrix);

/* Returns an application's row and column; -1 when it is not in the matrix. */
long ctl_matrix_index(const struct ctl_matrix *matrix, const char *name);

/* Returns what `row` suffers beside `column`. */
double ctl_matrix_at(const struct ctl_matrix *matrix, size_t row, size_t column);

#endif
