/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_solve - the most probable sensitivities and pressures, and what follows from them.
 *
 * They follow in turn, one program at a time, from what all cells that the program is in draw on
 * it; who moved has those wait whom that concerns. */
#include <math.h>

#include "models/slowdown/evidence_common.h"
#include "models/slowdown/evidence_fit.h"

#define VISITS_MAX 2000 /* of cells in one call: some tenths of a millisecond */

/* ---- one program ---- */

/* Sums over the cells that a sensitivity or a pressure is in. */
struct pull {
    double force, strength, precision;
    unsigned visits;
};

/* Takes the step that the pull and the program's likeness to all others ask for. Returns the force
 * by which that moves others. */
static double side_step(const struct evidence *evidence, struct evidence_side *side,
                        const struct evidence_side *common, double doubt, const struct pull *pull)
{
    double prior = evidence_square(doubt) * (1 - evidence_square(evidence->constants.common)), step;

    step = pull->force + (doubt * common->value - side->value) / prior;
    step /= pull->strength + 1 / prior;
    step = fmax(-EVIDENCE_STEP, fmin(EVIDENCE_STEP, step));
    side->value += step;
    side->variance =
        1 / (1 / (prior + evidence_square(doubt) * common->variance) + pull->precision);
    return fabs(step) > EVIDENCE_TOLERANCE
               ? fabs(step) / evidence_residual(evidence, evidence->level)
               : 0;
}

/* Returns the variance that those beside it bring to a cell. */
static double members_variance(const struct evidence *evidence, const struct evidence_cell *cell)
{
    const struct evidence_member *member = &evidence->member[cell->first];
    double variance = 0;

    for (uint32_t i = 0; i < cell->n; i++)
        variance +=
            evidence_square(member[i].part) * evidence->row[member[i].program].pressure.variance;
    return variance;
}

/* Returns how many cells were looked at. */
static unsigned solve_sensitivity(struct evidence *evidence, uint32_t program)
{
    struct evidence_row *row = &evidence->row[program];
    struct pull pull = {0};
    double force;

    for (uint32_t c = row->cells; c != EVIDENCE_NONE; c = evidence->cell[c].next) {
        struct evidence_cell *cell = &evidence->cell[c];
        struct evidence_draw draw;

        pull.visits++;
        if (cell->precision <= 0)
            continue;
        draw = evidence_cell_fit(evidence, cell);
        pull.force += draw.force;
        pull.strength += draw.strength;
        pull.precision += 1 / (draw.spread + members_variance(evidence, cell));
    }
    force = side_step(evidence, &row->sensitivity, &evidence->sensitivity, row->doubt, &pull);
    for (uint32_t c = row->cells; force > 0 && c != EVIDENCE_NONE; c = evidence->cell[c].next) {
        const struct evidence_cell *cell = &evidence->cell[c];

        for (uint32_t m = cell->first; m < cell->first + cell->n; m++)
            evidence_concern(evidence, evidence->member[m].program,
                             force * evidence->member[m].part,
                             &evidence->row[evidence->member[m].program].pressure);
    }
    return pull.visits;
}

static unsigned solve_pressure(struct evidence *evidence, uint32_t program)
{
    struct evidence_row *row = &evidence->row[program];
    struct pull pull = {0};
    double force;

    for (uint32_t m = row->members; m != EVIDENCE_NONE; m = evidence->member[m].next) {
        const struct evidence_member *member = &evidence->member[m];
        struct evidence_cell *cell = &evidence->cell[member->cell];
        struct evidence_draw draw;
        double share = 1;

        pull.visits++;
        if (cell->precision <= 0)
            continue;
        draw = evidence_cell_fit(evidence, cell);
        if (cell->n > 1)
            share =
                member->part * exp(row->pressure.value - evidence_cell_pressure(evidence, cell));
        pull.force += share * draw.force;
        pull.strength += evidence_square(share) * draw.strength;
        pull.precision += evidence_square(share) /
                          (draw.spread + evidence->row[cell->program].sensitivity.variance);
    }
    force = side_step(evidence, &row->pressure, &evidence->pressure, row->doubt, &pull);
    for (uint32_t m = row->members; force > 0 && m != EVIDENCE_NONE; m = evidence->member[m].next) {
        uint32_t other = evidence->cell[evidence->member[m].cell].program;

        evidence_concern(evidence, other, force * evidence->member[m].part,
                         &evidence->row[other].sensitivity);
    }
    return pull.visits;
}

int evidence_solve(struct evidence *evidence)
{
    unsigned visits = 0;

    if (evidence->waiting == EVIDENCE_NONE)
        return 0;
    while (evidence->waiting != EVIDENCE_NONE && visits < VISITS_MAX) {
        uint32_t program = evidence->waiting;

        evidence->waiting = evidence->row[program].after;
        evidence->row[program].waits = false;
        visits += solve_sensitivity(evidence, program);
        visits += solve_pressure(evidence, program);
    }
    evidence_solve_common(evidence);
    return evidence->waiting != EVIDENCE_NONE;
}

/* ---- answers ---- */

/* Returns a program's side; one of which nothing was measured is as all are. */
static struct evidence_side side_of(const struct evidence *evidence, size_t program, bool pressure)
{
    const struct evidence_side *common = pressure ? &evidence->pressure : &evidence->sensitivity;
    const struct evidence_row *row = program < evidence->programs ? &evidence->row[program] : NULL;
    double doubt = evidence_doubt(evidence, program);
    double own = 1 - evidence_square(evidence->constants.common);

    if (row && (pressure ? row->members : row->cells) != EVIDENCE_NONE)
        return pressure ? row->pressure : row->sensitivity;
    return (struct evidence_side){doubt * common->value,
                                  evidence_square(doubt) * (own + common->variance)};
}

/* What is known of a cell's residual: its value, and of its x the precision (1 / variance) that
 * measurements give it. */
struct residual {
    double value, variance, precision;
};

/* Returns a cell's; of EVIDENCE_NONE, what is to be expected where the rest makes `mean`. */
static struct residual residual_of(const struct evidence *evidence, uint32_t c, double mean)
{
    const struct evidence_cell *cell = c == EVIDENCE_NONE ? NULL : &evidence->cell[c];
    double tail = evidence->constants.tail, value, precision;

    if (!cell || cell->precision <= 0)
        return (struct residual){0, evidence_residual(evidence, mean) * tail / (tail - 2), 0};
    mean = evidence_cell_mean(evidence, cell);
    value = cell->x - mean;
    precision = evidence_square(exp(cell->x)) * cell->precision;
    return (struct residual){
        value,
        evidence_residual_of(evidence, evidence_residual(evidence, mean), value, 1 / precision),
        precision};
}

/* Returns the residual of program beside one other alone. */
static double pair_residual(const struct evidence *evidence, size_t program, size_t other)
{
    struct evidence_set set;

    evidence_set_make(&set, 1, &other, NULL);
    return residual_of(evidence, evidence_cell_find(evidence, program, &set), 0).value;
}

double evidence_correct(const struct evidence *evidence, size_t program, size_t n,
                        const size_t *beside, const double *part, double predicted, double *error)
{
    double offset = evidence->constants.offset, base = log(fmax(0, predicted) + offset);
    double sum = 0, others = 0, variance, slowdown;
    struct residual residual;
    struct evidence_side side;
    struct evidence_set set;
    uint32_t cell;

    if (error)
        *error = 0;
    if (n == 0 || n > EVIDENCE_BESIDE_MAX)
        return predicted;
    evidence_set_make(&set, n, beside, part);
    cell = evidence_cell_find(evidence, program, &set);
    side = side_of(evidence, program, false);
    variance = side.variance;
    for (uint32_t i = 0; i < set.n; i++) {
        struct evidence_side pressure = side_of(evidence, set.program[i], true);

        if (cell == EVIDENCE_NONE && n > 1)
            pressure.value += pair_residual(evidence, program, set.program[i]);
        sum += set.part[i] * exp(pressure.value);
        others += set.part[i] * evidence_doubt(evidence, set.program[i]);
        variance += evidence_square(set.part[i]) * pressure.variance;
    }
    base += evidence->stretch *
            evidence_lever(evidence, base, evidence_doubt(evidence, program), others);
    residual = residual_of(evidence, cell, log(sum) + base + side.value);
    slowdown = sum * exp(base + side.value + residual.value);
    variance = 1 / (1 / (variance + residual.variance) + residual.precision);
    if (error)
        *error = slowdown * sqrt(variance);
    return fmax(0, slowdown - offset);
}

double evidence_known(const struct evidence *evidence, size_t program)
{
    double doubt = evidence_doubt(evidence, program);
    double variance =
        side_of(evidence, program, false).variance + side_of(evidence, program, true).variance;

    return fmax(0, 1 - variance / (2 * evidence_square(doubt)));
}
