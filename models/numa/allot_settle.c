/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_settle - which of several optima: the first by the rule of nucore.h.
 *
 * The search has kept the boxes that may have equals of the best. First the best is improved by
 * moves of cores from one node to another, as far as that goes; then the boxes are looked through
 * for what comes before it. That may be a great many, where nodes are alike and the spread of
 * bandwidth is not 0: it ends after so many boxes, always the same number. */
#include "models/numa/allot_impl.h"

#include <string.h>

#define BOXES 100    /* that are looked at */
#define WORK 4000000 /* in them: flows worked out */
#define MOVES 20000  /* that are tried */

/* ---- moves ---- */

static bool is_stopped(const struct allot *a)
{
    return a->problem->stop && a->problem->stop(a->problem->stop_arg);
}

static bool has_count(const struct allot *a, size_t cell, unsigned count)
{
    const struct points *points = &a->problem->points[cell];
    size_t lo = 0, hi = points->n;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (points->count[middle] < count)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < points->n && points->count[lo] == count;
}

/* Moves that many cores of a program from one cell to another one, if that comes before the best;
 * it is the best then. */
static bool transfer(struct allot *a, size_t from, size_t to, unsigned count)
{
    const unsigned *best = a->best->allocation;

    if (count == 0 || count > best[from] || !has_count(a, from, best[from] - count) ||
        !has_count(a, to, best[to] + count))
        return false;
    memcpy(a->trial, best, a->cells * sizeof(*best));
    a->trial[from] -= count;
    a->trial[to] += count;
    return allot_try(a, a->trial, a->above);
}

/* Tries the moves between two cells of a program. */
static bool move(struct allot *a, size_t from, size_t to)
{
    unsigned x = a->best->allocation[from], y = a->best->allocation[to];
    unsigned room = a->problem->points[to].count[a->problem->points[to].n - 1] - y;

    return transfer(a, from, to, x < room ? x : room) ||
           (x > y && (transfer(a, from, to, x - y) || transfer(a, from, to, (x - y) / 2))) ||
           transfer(a, from, to, 1);
}

/* Takes moves as long as they lead to what comes before the best. */
static void climb(struct allot *a)
{
    size_t left = MOVES;
    bool better = true;

    while (better) {
        better = false;
        for (size_t from = 0; from < a->cells; from++)
            for (size_t k = 0; k < a->nodes; k++) {
                size_t to = from - from % a->nodes + k;

                if (to == from)
                    continue;
                if (left-- == 0 || is_stopped(a))
                    return;
                better |= move(a, from, to);
            }
    }
}

/* ---- all that there are ---- */

/* Looks at one box. Returns 0, 1: stopped, -1: no memory. */
static int visit(struct allot *a, struct box *box)
{
    enum simplex_end end;
    int rc = 0;

    if (box->bound <= a->above || !alike_narrow(a, box) || allot_is_outranked(a, box))
        return 0;
    if (box_is_point(a, box)) {
        allot_try_point(a, box);
        return 0;
    }
    end = relax_solve(a->relax, box, a->above);
    if (end == SIMPLEX_STOPPED)
        return 1;
    if (end == SIMPLEX_INFEASIBLE || end == SIMPLEX_CUTOFF)
        return 0;
    if (end == SIMPLEX_OPTIMAL) {
        allot_try_rounding(a, box);
        if (!relax_tighten(a->relax, box, a->above) || !alike_narrow(a, box))
            return 0;
        if (allot_scan(a, box) != SCAN_TOO_MANY)
            return 0;
    }
    if (allot_is_outranked(a, box))
        return 0;
    if (end == SIMPLEX_OPTIMAL)
        rc = allot_branch(a, box);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (!box_is_point(a, box))
        return allot_split_first(a, box);
    allot_try_point(a, box);
    return 0;
}

/* Returns the cores that the program has in the best. */
static double cores_of(const struct allot *a, size_t program)
{
    double sum = 0;

    for (size_t i = 0; i < a->nodes; i++)
        sum += a->best->allocation[program * a->nodes + i];
    return sum;
}

/* Looks whether equals of the best have fewer cores of the program than it, or (more) more. Returns
 * 1: they do not, 0: they may, or it was stopped, -1: no memory. */
static int has_all(struct allot *a, size_t program, bool more)
{
    struct box *box = box_new(a);
    double cores = cores_of(a, program);
    enum simplex_end end;

    if (!box)
        return -1;
    if (more)
        box->sum_lo[program] = cores + 1;
    else
        box->sum_hi[program] = cores - 1;
    end = SIMPLEX_CUTOFF;
    if (box->sum_lo[program] <= box->sum_hi[program])
        end = relax_solve(a->relax, box, a->above);
    box_free(box);
    return end == SIMPLEX_CUTOFF || end == SIMPLEX_INFEASIBLE;
}

/* Most often all equals have the same number of cores. Returns 0, or -1: no memory. */
static int find_sums(struct allot *a)
{
    for (size_t p = 0; p < a->programs; p++) {
        int fewest = has_all(a, p, false), most = has_all(a, p, true);

        if (fewest < 0 || most < 0)
            return -1;
        a->fewest[p] = fewest ? cores_of(a, p) : a->fewest[p];
        a->most[p] = most ? cores_of(a, p) : a->most[p];
    }
    return 0;
}

int allot_settle(struct allot *a)
{
    struct boxes ties = a->ties;
    size_t left = BOXES;
    struct box *box;
    int rc = 0;

    a->ties = a->open;
    a->open = ties;
    a->settling = true;
    a->work = WORK;
    a->rank = (struct rank){.nodes = allot_nodes(a, a->best->allocation),
                            .spread = allot_spread(a, a->best->allocation)};
    climb(a);
    rc = find_sums(a);
    while (rc == 0 && (box = boxes_pop(&a->open))) {
        rc = left-- > 0 ? visit(a, box) : 1;
        rc = relax_has_failed(a->relax) ? -1 : rc;
        box_free(box);
    }
    return rc;
}
