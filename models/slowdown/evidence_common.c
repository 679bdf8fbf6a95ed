/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_common - what all programs have in common: the means of sensitivity and pressure, and
 * the stretch.
 *
 * One program at a time, they would hardly move: sensitivities up and pressures down, or the
 * stretch one way and both the other, change what cells see next to nothing. So these are gone
 * along as directions, each to where the energy (half of the sum of squares, each in parts of its
 * variance) is least. */
#include "models/slowdown/evidence_common.h"

#include <math.h>

#include "models/slowdown/evidence_fit.h"

#define SETTLED 1e-3 /* of the stretch */
#define GROWTH 16    /* the stretch is found anew when there is that part of measurements more */

/* A direction: by how much sensitivities [0] and pressures [1] move, less what they take back of
 * the stretch, and their means, and the stretch. */
struct turn {
    double own[2], mean[2], stretch;
};

/* How the energy changes along it. */
struct tilt {
    double slope, curve;
};

/* Adds the square of z, which has that variance and moves by dz. */
static void tilt_add(struct tilt *tilt, double z, double dz, double variance)
{
    tilt->slope += z * dz / variance;
    tilt->curve += dz * dz / variance;
}

static double moved(const struct evidence_row *row, const struct turn *turn, bool pressure)
{
    return turn->own[pressure] - turn->stretch * row->reach[pressure];
}

/* Adds the squares of what programs differ from their means. */
static void tilt_rows(const struct evidence *evidence, const struct turn *turn, struct tilt *tilt)
{
    double own = 1 - evidence->constants.common * evidence->constants.common;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];
        double doubt = row->doubt, variance = own * doubt * doubt;

        if (row->cells != EVIDENCE_NONE)
            tilt_add(tilt, row->sensitivity.value - doubt * evidence->sensitivity.value,
                     moved(row, turn, false) - doubt * turn->mean[0], variance);
        if (row->members != EVIDENCE_NONE)
            tilt_add(tilt, row->pressure.value - doubt * evidence->pressure.value,
                     moved(row, turn, true) - doubt * turn->mean[1], variance);
    }
}

/* Goes as far in that direction as is best; `tilt` is what the cells say. Returns how far. */
static double take_turn(struct evidence *evidence, struct turn turn, struct tilt tilt)
{
    double common = evidence->constants.common, stretch = evidence->constants.stretch, step;

    tilt_rows(evidence, &turn, &tilt);
    tilt_add(&tilt, evidence->sensitivity.value, turn.mean[0], common * common);
    tilt_add(&tilt, evidence->pressure.value, turn.mean[1], common * common);
    if (turn.stretch != 0)
        tilt_add(&tilt, evidence->stretch, turn.stretch, stretch * stretch);
    step = -tilt.slope / tilt.curve;
    evidence->sensitivity.value += step * turn.mean[0];
    evidence->pressure.value += step * turn.mean[1];
    evidence->stretch += step * turn.stretch;
    for (uint32_t i = 0; i < evidence->programs; i++) {
        struct evidence_row *row = &evidence->row[i];

        if (row->cells != EVIDENCE_NONE)
            row->sensitivity.value += step * moved(row, &turn, false);
        if (row->members != EVIDENCE_NONE)
            row->pressure.value += step * moved(row, &turn, true);
    }
    return step;
}

/* ---- means ---- */

/* Returns the precision of a mean, from how exactly each program's own is known. */
static double mean_precision(const struct evidence *evidence, bool pressure)
{
    double share = evidence->constants.common * evidence->constants.common;
    double was = (pressure ? &evidence->pressure : &evidence->sensitivity)->variance;
    double precision = 1 / share;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];
        double squared = row->doubt * row->doubt, measured;

        if ((pressure ? row->members : row->cells) == EVIDENCE_NONE)
            continue;
        measured = 1 / (pressure ? row->pressure.variance : row->sensitivity.variance) -
                   1 / (squared * (1 - share + was));
        if (measured > 0)
            precision += 1 / (1 - share + 1 / (squared * measured));
    }
    return precision;
}

/* Has those wait whom a change of the means may move. */
static void spread_change(struct evidence *evidence, double sensitivity, double pressure)
{
    double own = 1 - evidence->constants.common * evidence->constants.common;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        const struct evidence_row *row = &evidence->row[i];

        if (row->cells != EVIDENCE_NONE)
            evidence_concern(evidence, i, fabs(sensitivity) / (row->doubt * own),
                             &row->sensitivity);
        if (row->members != EVIDENCE_NONE)
            evidence_concern(evidence, i, fabs(pressure) / (row->doubt * own), &row->pressure);
    }
}

/* Finds both means; `doubt` is the mean doubt about programs that were measured. */
static void solve_means(struct evidence *evidence, double doubt)
{
    double sensitivity, pressure;

    take_turn(evidence, (struct turn){{1, -1}, {1 / doubt, -1 / doubt}, 0}, (struct tilt){0});
    take_turn(evidence, (struct turn){.own = {1, -1}}, (struct tilt){0});
    sensitivity = evidence->sensitivity.value;
    pressure = evidence->pressure.value;
    take_turn(evidence, (struct turn){.mean = {1, 0}}, (struct tilt){0});
    take_turn(evidence, (struct turn){.mean = {0, 1}}, (struct tilt){0});
    evidence->sensitivity.variance = 1 / mean_precision(evidence, false);
    evidence->pressure.variance = 1 / mean_precision(evidence, true);
    spread_change(evidence, evidence->sensitivity.value - sensitivity,
                  evidence->pressure.value - pressure);
}

/* ---- the stretch ---- */

/* Finds what each program can take back of the stretch: the mean over its cells of what one unit
 * moves, less half of the mean over all. */
static void find_reach(struct evidence *evidence)
{
    double all = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < evidence->programs; i++) {
        struct evidence_row *row = &evidence->row[i];
        double sum[2] = {0}, weight[2] = {0};

        for (uint32_t c = row->cells; c != EVIDENCE_NONE; c = evidence->cell[c].next) {
            sum[0] += evidence_cell_lever(evidence, &evidence->cell[c]);
            weight[0]++;
        }
        for (uint32_t m = row->members; m != EVIDENCE_NONE; m = evidence->member[m].next) {
            const struct evidence_member *member = &evidence->member[m];

            sum[1] += member->part * evidence_cell_lever(evidence, &evidence->cell[member->cell]);
            weight[1] += member->part;
        }
        for (int side = 0; side < 2; side++)
            row->reach[side] = (float)(weight[side] > 0 ? sum[side] / weight[side] : 0);
        all += sum[0];
        n += (uint32_t)weight[0];
    }
    for (uint32_t i = 0; n > 0 && i < evidence->programs; i++)
        for (int side = 0; side < 2; side++)
            evidence->row[i].reach[side] -= (float)(all / n / 2);
}

/* Finds the level of all together, and the stretch, with sensitivities and pressures taking back of
 * it what they can. */
static void solve_stretch(struct evidence *evidence, double doubt)
{
    struct tilt level = {0}, stretch = {0};
    double step;

    evidence->stretched = evidence->stamp;
    find_reach(evidence);
    for (uint32_t c = 0; c < evidence->cells; c++) {
        struct evidence_cell *cell = &evidence->cell[c];
        struct evidence_draw draw;
        double by;

        if (cell->precision <= 0)
            continue;
        draw = evidence_cell_fit(evidence, cell);
        by = evidence_cell_lever(evidence, cell) - evidence->row[cell->program].reach[0];
        for (uint32_t m = cell->first; m < cell->first + cell->n; m++)
            by -= evidence->member[m].part * evidence->row[evidence->member[m].program].reach[1];
        level.slope -= draw.force;
        level.curve += draw.strength;
        stretch.slope -= draw.force * by;
        stretch.curve += draw.strength * by * by;
    }
    step =
        fabs(take_turn(evidence, (struct turn){{0.5, 0.5}, {0.5 / doubt, 0.5 / doubt}, 0}, level));
    step = fmax(step, fabs(take_turn(evidence, (struct turn){.stretch = 1}, stretch)));
    evidence->unsettled = step > SETTLED;
    for (uint32_t i = 0; evidence->unsettled && i < evidence->programs; i++)
        if (evidence->row[i].cells != EVIDENCE_NONE || evidence->row[i].members != EVIDENCE_NONE)
            evidence_wait(evidence, i);
}

void evidence_common_reset(struct evidence *evidence)
{
    double variance = evidence->constants.common * evidence->constants.common;

    evidence->sensitivity = evidence->pressure = (struct evidence_side){0, variance};
    evidence->stretch = 0;
    evidence->unsettled = false;
}

void evidence_solve_common(struct evidence *evidence)
{
    double doubt = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < evidence->programs; i++)
        if (evidence->row[i].cells != EVIDENCE_NONE) {
            doubt += evidence->row[i].doubt;
            n++;
        }
    if (n == 0) {
        evidence_common_reset(evidence);
        return;
    }
    solve_means(evidence, doubt / n);
    if (evidence->unsettled || evidence->stamp - evidence->stretched > evidence->cells / GROWTH)
        solve_stretch(evidence, doubt / n);
}
