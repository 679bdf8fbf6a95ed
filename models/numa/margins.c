/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/margins.h"

#define ROUNDS                                                                                     \
    1000 /* the error falls by a factor each; at the edge of what is possible as 1 / round */

/* Scales n numbers, `stride` apart, to that sum. */
static void scale(double *number, size_t stride, size_t n, double wanted)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += number[i * stride];
    for (size_t i = 0; i < n && sum > 0; i++)
        number[i * stride] *= wanted / sum;
}

void margins_fit(size_t n, const double *rows, const double *columns, double *matrix)
{
    for (size_t round = 0; round < (rows ? ROUNDS : 1); round++) {
        for (size_t i = 0; rows && i < n; i++)
            scale(matrix + i * n, 1, n, rows[i]);
        for (size_t j = 0; j < n; j++)
            scale(matrix + j, n, n, columns[j]);
    }
}
