/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_box - boxes of allocations, and how they are split.
 *
 * Where the sum of a program's cores is no whole number, that is what is branched on: cores that
 * can be exchanged for one another make every single one of them a bad choice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/allot_impl.h"
#include "models/numa/nucore.h"

#define EXCESS 1e-9 /* what the relaxation has more than a count gives; GB/s: that is nothing */

static struct box *box_allocate(size_t cells, size_t programs)
{
    struct box *box = calloc(1, sizeof(*box));

    if (!box)
        return NULL;
    box->lo = calloc(2 * cells, sizeof(*box->lo));
    box->sum_lo = calloc(2 * programs, sizeof(*box->sum_lo));
    if (!box->lo || !box->sum_lo) {
        box_free(box);
        return NULL;
    }
    box->hi = box->lo + cells;
    box->sum_hi = box->sum_lo + programs;
    box->bound = INFINITY;
    return box;
}

void box_free(struct box *box)
{
    if (!box)
        return;
    free(box->lo);
    free(box->sum_lo);
    free(box);
}

struct box *box_new(const struct allot *a)
{
    struct box *box = box_allocate(a->cells, a->programs);

    for (size_t cell = 0; box && cell < a->cells; cell++)
        box->hi[cell] = a->problem->points[cell].n - 1;
    for (size_t p = 0; box && p < a->programs; p++) {
        box->sum_lo[p] = a->cores_min[p];
        box->sum_hi[p] = a->cores_max[p];
    }
    return box;
}

void box_assign(const struct allot *a, struct box *box, const struct box *from)
{
    memcpy(box->lo, from->lo, 2 * a->cells * sizeof(*box->lo));
    memcpy(box->sum_lo, from->sum_lo, 2 * a->programs * sizeof(*box->sum_lo));
    box->bound = from->bound;
}

struct box *box_copy(const struct allot *a, const struct box *box)
{
    struct box *copy = box_allocate(a->cells, a->programs);

    if (!copy)
        return NULL;
    box_assign(a, copy, box);
    return copy;
}

bool box_is_point(const struct allot *a, const struct box *box)
{
    return memcmp(box->lo, box->hi, a->cells * sizeof(*box->lo)) == 0;
}

/* ---- what counts as equal ---- */

double allot_tie(double objective)
{
    return NUCORE_TIE * (1 + fabs(objective) / 1000);
}

size_t allot_below(const struct allot *a, const struct box *box, size_t cell)
{
    double cores = relax_cores(a->relax, cell) + ALLOT_WHOLE;
    size_t lo = box->lo[cell], hi = box->hi[cell];

    while (lo < hi) {
        size_t middle = hi - (hi - lo) / 2;

        if (allot_count(a, cell, middle) <= cores)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

/* ---- stacks ---- */

int boxes_push(struct boxes *boxes, struct box *box)
{
    if (box && boxes->n == boxes->size) {
        size_t size = 2 * boxes->size + 64;
        struct box **more = realloc(boxes->box, size * sizeof(struct box *));

        if (!more) {
            box_free(box);
            return -1;
        }
        boxes->box = more;
        boxes->size = size;
    }
    if (!box)
        return -1;
    boxes->box[boxes->n++] = box;
    return 0;
}

struct box *boxes_pop(struct boxes *boxes)
{
    return boxes->n > 0 ? boxes->box[--boxes->n] : NULL;
}

void boxes_free(struct boxes *boxes)
{
    while (boxes->n > 0)
        box_free(boxes_pop(boxes));
    free(boxes->box);
    *boxes = (struct boxes){0};
}

/* ---- branching ---- */

static int push_copies(struct allot *a, const struct box *box, struct box **less, struct box **more)
{
    *less = box_copy(a, box);
    if (boxes_push(&a->open, *less) < 0)
        return -1;
    *more = box_copy(a, box);
    return boxes_push(&a->open, *more);
}

int allot_split(struct allot *a, const struct box *box, size_t cell, size_t split)
{
    struct box *less, *more;

    if (push_copies(a, box, &less, &more) < 0)
        return -1;
    less->hi[cell] = split;
    more->lo[cell] = split + 1;
    return 0;
}

int allot_split_first(struct allot *a, const struct box *box)
{
    size_t cell = 0, lo, hi;

    while (box->lo[cell] == box->hi[cell])
        cell++;
    lo = box->lo[cell];
    hi = box->hi[cell];
    return allot_split(a, box, cell, allot_count(a, cell, lo) > 0 ? lo + (hi - lo - 1) / 2 : lo);
}

/* Returns 1: there were two children, 0: the sums are whole numbers, -1: errno ENOMEM. */
static int branch_sum(struct allot *a, const struct box *box)
{
    for (size_t p = 0; p < a->programs; p++) {
        struct box *less, *more;
        double sum = 0;

        for (size_t i = 0; i < a->nodes; i++)
            sum += relax_cores(a->relax, p * a->nodes + i);
        if (fabs(sum - round(sum)) <= ALLOT_WHOLE)
            continue;
        if (push_copies(a, box, &less, &more) < 0)
            return -1;
        less->sum_hi[p] = floor(sum);
        more->sum_lo[p] = ceil(sum);
        return 1;
    }
    return 0;
}

/* Returns the GB/s that one core more or less of the cell moves. */
static double weight(const struct allot *a, size_t cell, size_t point)
{
    const struct points *points = &a->problem->points[cell];
    double moved = a->driven[cell];

    if (point + 1 < points->n)
        moved += fabs(points->demand[point + 1] - points->demand[point]) /
                 ((double)points->count[point + 1] - points->count[point]);
    return moved;
}

/* Returns how badly the relaxation's optimum misses the cell's counts: cores from the next one,
 * times what they move; or what it has more than a count of its own gives. */
static double miss(const struct allot *a, const struct box *box, size_t cell)
{
    double cores = relax_cores(a->relax, cell), rest;
    size_t point = allot_below(a, box, cell);

    rest = fabs(cores - allot_count(a, cell, point));
    if (point < box->hi[cell])
        rest = fmin(rest, allot_count(a, cell, point + 1) - cores);
    if (rest > ALLOT_WHOLE)
        return 1 + rest * weight(a, cell, point);
    return fmin(1, relax_excess(a->relax, cell));
}

static int branch_cell(struct allot *a, const struct box *box)
{
    size_t chosen = a->cells, split;
    double worst = EXCESS;

    for (size_t cell = 0; cell < a->cells; cell++) {
        double missed = box->lo[cell] < box->hi[cell] ? miss(a, box, cell) : 0;

        if (missed > worst) {
            worst = missed;
            chosen = cell;
        }
    }
    if (chosen == a->cells)
        return 0;
    split = allot_below(a, box, chosen);
    split -= split == box->hi[chosen];
    return allot_split(a, box, chosen, split) < 0 ? -1 : 1;
}

int allot_branch(struct allot *a, const struct box *box)
{
    int rc = branch_sum(a, box);

    return rc != 0 ? rc : branch_cell(a, box);
}
