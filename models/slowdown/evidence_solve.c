/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_solve - the most probable sensitivities and pressures, and what follows from them.
 *
 * A cell's own x = log(slowdown + offset) lies between what sensitivity, pressures and prediction
 * make of it (to within `residual`) and what was measured (to within its error): Newton's steps
 * find it, and by how much it draws on sensitivity and pressures. These follow in turn, one program
 * at a time, from all cells that the program is in; who moved has those wait whom that concerns. */
#include <math.h>

#include "models/slowdown/evidence_cells.h"

#define VISITS_MAX 4000 /* of cells in one call: some tenths of a millisecond */
#define TOLERANCE 1e-3  /* of a logarithm */
#define STEP_MAX 1.0    /* of a logarithm at a time */

/* ---- one cell ---- */

/* Returns a program's side; one of which nothing was measured is as all are. */
static struct evidence_side side_of(const struct evidence *evidence, size_t program, bool pressure)
{
    const struct evidence_side *common = pressure ? &evidence->pressure : &evidence->sensitivity;
    const struct evidence_row *row = program < evidence->programs ? &evidence->row[program] : NULL;
    double doubt = row ? row->doubt : evidence->constants.doubt[EVIDENCE_COUNTERS];
    double own = 1 - evidence->constants.common * evidence->constants.common;

    if (row && (pressure ? row->members : row->cells) != EVIDENCE_NONE)
        return pressure ? row->pressure : row->sensitivity;
    return (struct evidence_side){doubt * common->value, doubt * doubt * (own + common->variance)};
}

/* Returns log(sum of the parts times exp(pressure)) of a cell's members. */
static double cell_pressure(const struct evidence *evidence, const struct evidence_cell *cell)
{
    const struct evidence_member *member = &evidence->member[cell->first];
    double sum = 0;

    if (cell->n == 1)
        return evidence->row[member->program].pressure.value;
    for (uint32_t i = 0; i < cell->n; i++)
        sum += member[i].part * exp(evidence->row[member[i].program].pressure.value);
    return log(sum);
}

/* What a cell draws on its mean: by how much times how strongly, and how strongly. */
struct draw {
    double force, strength;
    double spread; /* of the measurement and the residual together: a variance */
};

/* Moves a cell's x towards the most probable value; two steps do, from where it was last. */
static struct draw cell_fit(const struct evidence *evidence, struct evidence_cell *cell)
{
    double mean =
        cell->base + evidence->row[cell->program].sensitivity.value + cell_pressure(evidence, cell);
    double variance = evidence->constants.residual * evidence->constants.residual;
    double strength = 0;

    for (int i = 0; i < 2; i++) {
        double slowdown = exp(cell->x);
        double pull = cell->slowdown + evidence->constants.offset - slowdown;
        double step;

        strength = slowdown * slowdown * cell->precision;
        step = (mean - cell->x) / variance + slowdown * pull * cell->precision;
        step /= 1 / variance + strength;
        cell->x += fmax(-STEP_MAX, fmin(STEP_MAX, step));
    }
    return (struct draw){.force = (cell->x - mean) / variance,
                         .strength = strength / (1 + strength * variance),
                         .spread = variance + 1 / strength};
}

/* ---- one program ---- */

/* Sums over the cells that a sensitivity or a pressure is in. */
struct pull {
    double force, strength, precision;
};

/* Takes the step that the pull and the program's likeness to all others ask for. Returns how far it
 * went. */
static double side_step(const struct evidence *evidence, struct evidence_side *side,
                        const struct evidence_side *common, double doubt, const struct pull *pull)
{
    double own = 1 - evidence->constants.common * evidence->constants.common;
    double prior = doubt * doubt * own, step;

    step = pull->force + (doubt * common->value - side->value) / prior;
    step /= pull->strength + 1 / prior;
    step = fmax(-STEP_MAX, fmin(STEP_MAX, step));
    side->value += step;
    side->variance = 1 / (1 / (prior + doubt * doubt * common->variance) + pull->precision);
    return fabs(step);
}

/* Has a program wait if that much of a change in one of its cells may move it. */
static void concern(struct evidence *evidence, uint32_t program, double change,
                    const struct evidence_side *side)
{
    if (change * side->variance > TOLERANCE)
        evidence_wait(evidence, program);
}

/* Returns how many cells were looked at. */
static unsigned solve_sensitivity(struct evidence *evidence, uint32_t program)
{
    struct evidence_row *row = &evidence->row[program];
    struct pull pull = {0};
    unsigned visits = 0;
    double moved;

    for (uint32_t c = row->cells; c != EVIDENCE_NONE; c = evidence->cell[c].next, visits++) {
        struct evidence_cell *cell = &evidence->cell[c];
        struct draw draw;
        double others = 0;

        if (cell->precision <= 0)
            continue;
        draw = cell_fit(evidence, cell);
        for (uint32_t m = cell->first; m < cell->first + cell->n; m++)
            others = fmax(others, evidence->row[evidence->member[m].program].pressure.variance *
                                      evidence->member[m].part);
        pull.force += draw.force;
        pull.strength += draw.strength;
        pull.precision += 1 / (draw.spread + others);
    }
    moved = side_step(evidence, &row->sensitivity, &evidence->sensitivity, row->doubt, &pull);
    for (uint32_t c = row->cells; moved > TOLERANCE && c != EVIDENCE_NONE;
         c = evidence->cell[c].next) {
        struct evidence_cell *cell = &evidence->cell[c];

        for (uint32_t m = cell->first; m < cell->first + cell->n; m++)
            concern(evidence, evidence->member[m].program,
                    moved / (evidence->constants.residual * evidence->constants.residual),
                    &evidence->row[evidence->member[m].program].pressure);
    }
    return visits;
}

static unsigned solve_pressure(struct evidence *evidence, uint32_t program)
{
    struct evidence_row *row = &evidence->row[program];
    struct pull pull = {0};
    unsigned visits = 0;
    double moved;

    for (uint32_t m = row->members; m != EVIDENCE_NONE; m = evidence->member[m].next, visits++) {
        const struct evidence_member *member = &evidence->member[m];
        struct evidence_cell *cell = &evidence->cell[member->cell];
        struct draw draw;
        double share;

        if (cell->precision <= 0)
            continue;
        draw = cell_fit(evidence, cell);
        share = cell->n == 1
                    ? 1
                    : member->part * exp(row->pressure.value - cell_pressure(evidence, cell));
        pull.force += share * draw.force;
        pull.strength += share * share * draw.strength;
        pull.precision +=
            share * share / (draw.spread + evidence->row[cell->program].sensitivity.variance);
    }
    moved = side_step(evidence, &row->pressure, &evidence->pressure, row->doubt, &pull);
    for (uint32_t m = row->members; moved > TOLERANCE && m != EVIDENCE_NONE;
         m = evidence->member[m].next) {
        struct evidence_cell *cell = &evidence->cell[evidence->member[m].cell];

        concern(evidence, cell->program,
                moved / (evidence->constants.residual * evidence->constants.residual),
                &evidence->row[cell->program].sensitivity);
    }
    return visits;
}

/* ---- what all have in common ---- */

/* Sums over the programs that were measured, of one side: with z = value - doubt x common, the
 * squares of z / doubt when value moves by 1 and common by `turn`, and how that changes them. */
struct tilt {
    double slope, curve;
};

static void tilt_add(const struct evidence_row *row, const struct evidence_side *side,
                     const struct evidence_side *common, double value, double turn,
                     struct tilt *tilt)
{
    double precision = 1 / (row->doubt * row->doubt);
    double z = side->value - row->doubt * common->value, dz = value - row->doubt * turn;

    tilt->slope += z * dz * precision;
    tilt->curve += dz * dz * precision;
}

/* Moves sensitivities and their mean by `value` and `turn` times as much as is best, pressures and
 * theirs by as much the other way: what cells make of it stays, or only the means move. */
static void balance(struct evidence *evidence, double value, double turn_a, double turn_b)
{
    double common = evidence->constants.common * evidence->constants.common;
    struct evidence_side *a = &evidence->sensitivity, *b = &evidence->pressure;
    struct tilt tilt = {0};
    double step;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];

        if (row->cells != EVIDENCE_NONE)
            tilt_add(row, &row->sensitivity, a, value, turn_a, &tilt);
        if (row->members != EVIDENCE_NONE)
            tilt_add(row, &row->pressure, b, -value, turn_b, &tilt);
    }
    tilt.slope = tilt.slope / (1 - common) + (turn_a * a->value + turn_b * b->value) / common;
    tilt.curve = tilt.curve / (1 - common) + (turn_a * turn_a + turn_b * turn_b) / common;
    step = -tilt.slope / tilt.curve;
    a->value += turn_a * step;
    b->value += turn_b * step;
    for (uint32_t i = 0; value != 0 && i < evidence->programs; i++) {
        struct evidence_row *row = &evidence->row[i];

        if (row->cells != EVIDENCE_NONE)
            row->sensitivity.value += value * step;
        if (row->members != EVIDENCE_NONE)
            row->pressure.value -= value * step;
    }
}

/* Returns the precision of a mean in common, from how exactly each program's own is known. */
static double common_precision(const struct evidence *evidence, bool pressure)
{
    double share = evidence->constants.common * evidence->constants.common;
    double was = (pressure ? &evidence->pressure : &evidence->sensitivity)->variance;
    double precision = 1 / share;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];
        double square = row->doubt * row->doubt, measured;

        if ((pressure ? row->members : row->cells) == EVIDENCE_NONE)
            continue;
        measured = 1 / (pressure ? row->pressure.variance : row->sensitivity.variance) -
                   1 / (square * (1 - share + was));
        if (measured > 0)
            precision += 1 / (1 - share + 1 / (square * measured));
    }
    return precision;
}

/* Has those wait whom a mean's change may move. */
static void spread_change(struct evidence *evidence, double sensitivity, double pressure)
{
    double own = 1 - evidence->constants.common * evidence->constants.common;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];

        if (row->cells != EVIDENCE_NONE)
            concern(evidence, i, fabs(sensitivity) / (row->doubt * own), &row->sensitivity);
        if (row->members != EVIDENCE_NONE)
            concern(evidence, i, fabs(pressure) / (row->doubt * own), &row->pressure);
    }
}

static void solve_common(struct evidence *evidence)
{
    double doubt = 0, a, b;
    uint32_t n = 0;

    for (uint32_t i = 0; i < evidence->programs; i++)
        if (evidence->row[i].cells != EVIDENCE_NONE) {
            doubt += evidence->row[i].doubt;
            n++;
        }
    if (n == 0 || evidence->constants.common <= 0)
        return;
    balance(evidence, 1, n / doubt, -(double)n / doubt);
    balance(evidence, 1, 0, 0);
    a = evidence->sensitivity.value;
    b = evidence->pressure.value;
    balance(evidence, 0, 1, 0);
    balance(evidence, 0, 0, 1);
    evidence->sensitivity.variance = 1 / common_precision(evidence, false);
    evidence->pressure.variance = 1 / common_precision(evidence, true);
    spread_change(evidence, evidence->sensitivity.value - a, evidence->pressure.value - b);
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
    solve_common(evidence);
    return evidence->waiting != EVIDENCE_NONE;
}

/* ---- answers ---- */

/* What is known of the residual of a cell, or of another cell's with the same program. */
static struct evidence_side residual_of(const struct evidence *evidence, uint32_t c,
                                        double variance)
{
    double square = evidence->constants.residual * evidence->constants.residual;
    const struct evidence_cell *cell = &evidence->cell[c];
    double mean, slowdown, measured;

    if (c == EVIDENCE_NONE || cell->precision <= 0)
        return (struct evidence_side){0, variance + square};
    mean =
        cell->base + evidence->row[cell->program].sensitivity.value + cell_pressure(evidence, cell);
    slowdown = exp(cell->x);
    measured = slowdown * slowdown * cell->precision;
    return (struct evidence_side){cell->x - mean, 1 / (1 / (variance + square) + measured)};
}

double evidence_correct(const struct evidence *evidence, size_t program, size_t n,
                        const size_t *beside, const double *part, double predicted, double *error)
{
    double offset = evidence->constants.offset, sum = 0, variance, slowdown;
    struct evidence_side side, residual;
    struct evidence_set set;

    if (error)
        *error = 0;
    if (n == 0 || n > EVIDENCE_BESIDE_MAX)
        return predicted;
    evidence_set_make(&set, n, beside, part);
    side = side_of(evidence, program, false);
    variance = side.variance;
    for (uint32_t i = 0; i < set.n; i++) {
        struct evidence_side pressure = side_of(evidence, set.program[i], true);

        sum += set.part[i] * exp(pressure.value);
        variance += set.part[i] * set.part[i] * pressure.variance;
    }
    residual = residual_of(evidence, evidence_cell_find(evidence, program, &set), variance);
    slowdown = (fmax(0, predicted) + offset) * sum * exp(side.value + residual.value);
    if (error)
        *error = slowdown * sqrt(residual.variance);
    return fmax(0, slowdown - offset);
}

double evidence_known(const struct evidence *evidence, size_t program)
{
    double doubt = program < evidence->programs ? evidence->row[program].doubt
                                                : evidence->constants.doubt[EVIDENCE_COUNTERS];
    double variance =
        side_of(evidence, program, false).variance + side_of(evidence, program, true).variance;

    return fmax(0, 1 - variance / (2 * doubt * doubt));
}
