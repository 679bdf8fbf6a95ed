/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence - see evidence.h: what comes in. */
#include "models/slowdown/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "models/slowdown/evidence_cells.h"
#include "models/slowdown/evidence_common.h"

#define FIGURE_MAX 1e6     /* of a slowdown: more is a mistake */
#define SURPRISES_MOST 1.5 /* from which a program is taken to have changed */

const struct evidence_constants evidence_constants = {
    .doubt = {0.7, 0.6, 0.5, 0.45, 0.2},
    .common = 0.5,
    .stretch = 1,
    .level = 0.15,
    .residual = 0.12,
    .points = 0.025,
    .tail = 4,
    .offset = 0.05,
    .error = 0.05,
    .least = 0.01,
    .contradiction = 4,
};

struct evidence *evidence_new(const struct evidence_constants *constants)
{
    struct evidence *evidence = calloc(1, sizeof(*evidence));

    if (!evidence) {
        errno = ENOMEM;
        return NULL;
    }
    evidence->constants = constants ? *constants : evidence_constants;
    evidence->level = log(evidence->constants.level + evidence->constants.offset);
    evidence->waiting = evidence->last = EVIDENCE_NONE;
    evidence_common_reset(evidence);
    return evidence;
}

void evidence_free(struct evidence *evidence)
{
    if (!evidence)
        return;
    free(evidence->row);
    free(evidence->cell);
    free(evidence->member);
    free(evidence->table);
    free(evidence);
}

int evidence_program(struct evidence *evidence, size_t program, double doubt)
{
    if (program >= EVIDENCE_PROGRAMS_MAX || !(doubt > 0 && doubt < FIGURE_MAX)) {
        errno = EINVAL;
        return -1;
    }
    if (evidence_rows(evidence, program) < 0)
        return -1;
    if (evidence->row[program].doubt != doubt) {
        evidence->row[program].doubt = doubt;
        evidence_wait(evidence, (uint32_t)program);
    }
    return 0;
}

/* ---- observations ---- */

static bool is_figure(double value, double least)
{
    return value >= least && value <= FIGURE_MAX;
}

/* Returns the greatest number of a program in it; SIZE_MAX where something is out of range. */
static size_t check_seen(const struct evidence_seen *seen)
{
    size_t most = seen->program;
    bool good = seen->n > 0 && seen->n <= EVIDENCE_BESIDE_MAX && is_figure(seen->predicted, 0) &&
                is_figure(seen->slowdown, -FIGURE_MAX) && is_figure(seen->weight, 0) &&
                !(seen->error < 0) && !isinf(seen->error);

    for (size_t i = 0; good && i < seen->n; i++) {
        most = seen->beside[i] > most ? seen->beside[i] : most;
        good = !seen->part || is_figure(seen->part[i], 0);
    }
    return good && most < EVIDENCE_PROGRAMS_MAX ? most : SIZE_MAX;
}

static double variance_of(const struct evidence *evidence, const struct evidence_seen *seen)
{
    const struct evidence_constants *constants = &evidence->constants;
    double time = fmax(1 + seen->slowdown, 0.5);
    double error = seen->error > 0 ? seen->error : constants->error * time;

    error = fmax(error, constants->least * time);
    return error * error;
}

/* Makes what was measured before lose weight where this contradicts it, as if its error were as
 * large as the difference; when that happens again to a program, all that was measured with it. */
static void weigh_contradiction(struct evidence *evidence, uint32_t c,
                                const struct evidence_seen *seen, double variance)
{
    struct evidence_cell *cell = &evidence->cell[c];
    double off = fabs(seen->slowdown - cell->slowdown) / sqrt(variance + 1 / cell->precision);
    double keep = off > evidence->constants.contradiction ? 1 / (off * off) : 1;

    cell->precision *= keep;
    for (uint32_t i = 0; i <= cell->n; i++) {
        uint32_t program = i < cell->n ? evidence->member[cell->first + i].program : cell->program;
        struct evidence_row *row = &evidence->row[program];

        row->surprise = keep < 1 ? row->surprise + 1 : row->surprise / 2;
        if (row->surprise >= SURPRISES_MOST) {
            row->surprise = 0;
            evidence_forget(evidence, program, keep);
        }
    }
}

/* Adds one measurement to a cell, as the mean of both by their precision. */
static void cell_merge(struct evidence *evidence, struct evidence_cell *cell,
                       const struct evidence_seen *seen, const struct evidence_set *set,
                       double variance)
{
    double precision = seen->weight / variance, sum = cell->precision + precision;
    double base = log(seen->predicted + evidence->constants.offset);
    double part = precision / sum, least = evidence->constants.least;

    if (cell->precision <= 0)
        cell->x = base;
    cell->base += (base - cell->base) * part;
    cell->slowdown += (seen->slowdown - cell->slowdown) * part;
    least *= fmax(1 + cell->slowdown, 0.5);
    cell->precision = fmin(sum, 1 / (least * least));
    cell->stamp = ++evidence->stamp;
    for (uint32_t i = 0; i < cell->n; i++) {
        struct evidence_member *member = &evidence->member[cell->first + i];

        member->part += (float)((set->part[i] - member->part) * part);
        evidence_wait(evidence, member->program);
    }
    evidence_wait(evidence, cell->program);
}

int evidence_observe(struct evidence *evidence, const struct evidence_seen *seen)
{
    size_t most = check_seen(seen);
    struct evidence_set set;
    double variance;
    uint32_t c;

    if (most == SIZE_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (seen->weight == 0)
        return 0;
    if (evidence_rows(evidence, most) < 0)
        return -1;
    evidence_set_make(&set, seen->n, seen->beside, seen->part);
    variance = variance_of(evidence, seen);
    c = evidence_cell_find(evidence, seen->program, &set);
    if (c == EVIDENCE_NONE)
        c = evidence_cell_add(evidence, seen->program, &set);
    else if (evidence->cell[c].precision > 0)
        weigh_contradiction(evidence, c, seen, variance);
    if (c == EVIDENCE_NONE)
        return -1;
    cell_merge(evidence, &evidence->cell[c], seen, &set, variance);
    return 0;
}

/* ---- what is no longer true ---- */

/* Puts all programs of a cell among those that wait. */
static void cell_wait(struct evidence *evidence, const struct evidence_cell *cell)
{
    evidence_wait(evidence, cell->program);
    for (uint32_t m = cell->first; m < cell->first + cell->n; m++)
        evidence_wait(evidence, evidence->member[m].program);
}

size_t evidence_forget(struct evidence *evidence, size_t program, double keep)
{
    size_t count = 0;

    if (program >= evidence->programs)
        return 0;
    for (uint32_t c = evidence->row[program].cells; c != EVIDENCE_NONE;
         c = evidence->cell[c].next, count++) {
        evidence->cell[c].precision *= keep;
        cell_wait(evidence, &evidence->cell[c]);
    }
    for (uint32_t m = evidence->row[program].members; m != EVIDENCE_NONE;
         m = evidence->member[m].next) {
        struct evidence_cell *cell = &evidence->cell[evidence->member[m].cell];

        if (cell->program == program) /* beside itself: counted above */
            continue;
        cell->precision *= keep;
        cell_wait(evidence, cell);
        count++;
    }
    if (keep <= 0)
        evidence_cells_drop(evidence, 0);
    evidence->unsettled = true;
    return count;
}

/* Asks for one cell's prediction anew; forgets the cell when nothing is left of `left`. */
static void cell_review(struct evidence *evidence, struct evidence_cell *cell,
                        evidence_predict *predict, void *context, unsigned *left)
{
    size_t beside[EVIDENCE_BESIDE_MAX], n = 0;
    double part[EVIDENCE_BESIDE_MAX], predicted = 0;
    struct evidence_member *member = &evidence->member[cell->first];
    struct evidence_set set;

    if (*left == 0) {
        cell->precision = 0;
        return;
    }
    --*left;
    for (uint32_t i = 0; i < cell->n; i++)
        for (uint32_t k = 0; k < member[i].count; k++, n++) {
            beside[n] = member[i].program;
            part[n] = 1;
        }
    predict(context, cell->program, n, beside, &predicted, part);
    cell->base = log(fmax(0, predicted) + evidence->constants.offset);
    evidence_set_make(&set, n, beside, part);
    for (uint32_t i = 0; i < cell->n; i++)
        member[i].part = (float)set.part[i];
    cell_wait(evidence, cell);
}

void evidence_review(struct evidence *evidence, size_t program, evidence_predict *predict,
                     void *context)
{
    unsigned left = EVIDENCE_REVIEWED_MAX;

    if (program >= evidence->programs)
        return;
    for (uint32_t c = evidence->row[program].cells; c != EVIDENCE_NONE; c = evidence->cell[c].next)
        cell_review(evidence, &evidence->cell[c], predict, context, &left);
    left = EVIDENCE_REVIEWED_MAX;
    for (uint32_t m = evidence->row[program].members; m != EVIDENCE_NONE;
         m = evidence->member[m].next)
        if (evidence->cell[evidence->member[m].cell].program != program)
            cell_review(evidence, &evidence->cell[evidence->member[m].cell], predict, context,
                        &left);
    evidence_cells_drop(evidence, 0);
    evidence->unsettled = true;
}
