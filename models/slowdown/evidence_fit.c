/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_fit - one cell: what the model makes of it, and what it makes of the model.
 *
 * A cell's own x = log(slowdown + offset) lies between what prediction, sensitivity and pressures
 * make of it (to within `residual`) and what was measured (to within its error): Newton's steps
 * find it, and by how much it draws on sensitivity and pressures. */
#include "models/slowdown/evidence_fit.h"

#include <math.h>

#define SETTLED 1e-4 /* of a logarithm */

double evidence_doubt(const struct evidence *evidence, size_t program)
{
    return program < evidence->programs ? evidence->row[program].doubt
                                        : evidence->constants.doubt[EVIDENCE_COUNTERS];
}

double evidence_cell_pressure(const struct evidence *evidence, const struct evidence_cell *cell)
{
    const struct evidence_member *member = &evidence->member[cell->first];
    double sum = 0;

    if (cell->n == 1)
        return evidence->row[member->program].pressure.value;
    for (uint32_t i = 0; i < cell->n; i++)
        sum += member[i].part * exp(evidence->row[member[i].program].pressure.value);
    return log(sum);
}

double evidence_lever(const struct evidence *evidence, double base, double own, double others)
{
    return (own + others) / 2 * (base - evidence->level);
}

double evidence_cell_lever(const struct evidence *evidence, const struct evidence_cell *cell)
{
    const struct evidence_member *member = &evidence->member[cell->first];
    double others = 0;

    for (uint32_t i = 0; i < cell->n; i++)
        others += member[i].part * evidence->row[member[i].program].doubt;
    return evidence_lever(evidence, cell->base, evidence->row[cell->program].doubt, others);
}

double evidence_cell_mean(const struct evidence *evidence, const struct evidence_cell *cell)
{
    return cell->base + evidence->stretch * evidence_cell_lever(evidence, cell) +
           evidence->row[cell->program].sensitivity.value + evidence_cell_pressure(evidence, cell);
}

double evidence_residual(const struct evidence *evidence, double mean)
{
    const struct evidence_constants *constants = &evidence->constants;
    double slowdown = fmax(exp(mean), constants->offset / 2);

    return evidence_square(constants->residual) + evidence_square(constants->points / slowdown);
}

double evidence_residual_of(const struct evidence *evidence, double usual, double value,
                            double variance)
{
    double tail = evidence->constants.tail;

    variance = 1 / (1 / usual + 1 / variance);
    return (tail * usual + evidence_square(value) + variance) / (tail + 1);
}

struct evidence_draw evidence_cell_fit(const struct evidence *evidence, struct evidence_cell *cell)
{
    double mean = evidence_cell_mean(evidence, cell), usual = evidence_residual(evidence, mean);
    double variance = usual, strength = 0, step = INFINITY;

    for (int i = 0; i < 2 && fabs(step) > SETTLED; i++) {
        double slowdown = exp(cell->x);
        double pull = cell->slowdown + evidence->constants.offset - slowdown;

        strength = evidence_square(slowdown) * cell->precision;
        variance = evidence_residual_of(evidence, usual, cell->x - mean, 1 / strength);
        step = (mean - cell->x) / variance + slowdown * pull * cell->precision;
        step /= 1 / variance + strength;
        cell->x += fmax(-EVIDENCE_STEP, fmin(EVIDENCE_STEP, step));
    }
    return (struct evidence_draw){.force = (cell->x - mean) / variance,
                                  .strength = strength / (1 + strength * variance),
                                  .spread = variance + 1 / strength};
}

void evidence_concern(struct evidence *evidence, uint32_t program, double force,
                      const struct evidence_side *side)
{
    if (force * side->variance > EVIDENCE_TOLERANCE)
        evidence_wait(evidence, program);
}
