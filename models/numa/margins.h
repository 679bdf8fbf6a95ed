/* SPDX-License-Identifier: GPL-2.0-or-later */
/* margins - traffic between pairs of nodes of which only the sums are counted: what each node's
 * cores exchange with others' memories, and what each memory exchanges with others' cores.
 *
 * Of all matrices with these sums the one is taken that differs least, by relative entropy, from
 * what is believed before (Deming and Stephan 1940: rows and columns are scaled in turns). Pure
 * arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_MARGINS_H
#define BERTH_MODELS_NUMA_MARGINS_H

#include <stddef.h>

/* Scales matrix[n * n], which holds what is believed before (>= 0; where it is 0, it stays 0), so
 * that row i sums to rows[i] and column j to columns[j], all >= 0; rows NULL: only columns are
 * told. The columns are scaled last: where the two have different totals, theirs holds, and rows
 * keep their proportions. A row or column whose beliefs are all 0 stays so. */
void margins_fit(size_t n, const double *rows, const double *columns, double *matrix);

#endif
