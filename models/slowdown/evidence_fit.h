/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_fit - one cell of evidence: what the model makes of it, and what it makes of the model.
 */
#ifndef BERTH_MODELS_SLOWDOWN_EVIDENCE_FIT_H
#define BERTH_MODELS_SLOWDOWN_EVIDENCE_FIT_H

#include "models/slowdown/evidence_cells.h"

#define EVIDENCE_TOLERANCE 2e-3 /* of a logarithm */
#define EVIDENCE_STEP 1.0       /* of a logarithm at a time */

/* What a cell draws on its mean. */
struct evidence_draw {
    double force;    /* by how much times how strongly */
    double strength; /* how strongly */
    double spread;   /* of the measurement and the residual together, a variance */
};

static inline double evidence_square(double x)
{
    return x * x;
}

/* Returns the doubt about a program, which may be one that nothing was said of. */
double evidence_doubt(const struct evidence *evidence, size_t program);

/* Returns by how much one unit of the stretch moves a prediction whose logarithm is `base`, with
 * the doubts about the program and about those beside it. */
double evidence_lever(const struct evidence *evidence, double base, double own, double others);
double evidence_cell_lever(const struct evidence *evidence, const struct evidence_cell *cell);

/* Returns log(sum of the parts times exp(pressure)) of a cell's members. */
double evidence_cell_pressure(const struct evidence *evidence, const struct evidence_cell *cell);

/* Returns what prediction, stretch, sensitivity and pressures make of a cell's x. */
double evidence_cell_mean(const struct evidence *evidence, const struct evidence_cell *cell);

/* Returns the usual variance of a residual where mean = log(slowdown + offset). */
double evidence_residual(const struct evidence *evidence, double mean);

/* Returns the variance of one whose value is known to within `variance`: where that is far out, the
 * usual variance does not hold. (Expectation maximisation of Student's t.) */
double evidence_residual_of(const struct evidence *evidence, double usual, double value,
                            double variance);

/* Moves a cell's x towards the most probable value: two of Newton's steps, from where it was. */
struct evidence_draw evidence_cell_fit(const struct evidence *evidence, struct evidence_cell *cell);

/* Has a program wait if a force of that size may move that side of it. */
void evidence_concern(struct evidence *evidence, uint32_t program, double force,
                      const struct evidence_side *side);

#endif
