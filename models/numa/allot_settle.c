/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_settle - which of several optima: the one with the most cores on the lower nodes.
 *
 * The search has kept the boxes that may have equals of the best. What is left of them are the
 * allocations that have more cores than the best in the first cell that differs. Most often one
 * linear program, in the box of the best itself, says that there are none. Where the relaxation's
 * optimum is an allocation, the first cell that is no point is branched on: are there more
 * cores for it at all? And when that was so, how many, by bisection. */
#include "models/numa/allot_impl.h"

/* Takes from the box what comes after the best. Returns false where nothing is left. */
static bool keep_rises(const struct allot *a, struct box *box)
{
    for (size_t cell = 0; cell < a->cells; cell++) {
        unsigned best = a->best->allocation[cell];

        while (box->lo[cell] < box->hi[cell] && allot_count(a, cell, box->lo[cell]) < best)
            box->lo[cell]++;
        if (allot_count(a, cell, box->lo[cell]) > best)
            return true;
        if (allot_count(a, cell, box->lo[cell]) < best)
            return false;
        if (box->lo[cell] < box->hi[cell])
            return true;
    }
    return false;
}

/* Looks at one box. Returns 0, 1: stopped, -1: no memory. */
static int visit(struct allot *a, struct box *box)
{
    enum simplex_end end;
    int rc = 0;

    if (box->bound <= a->above || !keep_rises(a, box))
        return 0;
    if (!box_is_point(a, box)) {
        end = relax_solve(a->relax, box, a->above);
        if (end == SIMPLEX_STOPPED)
            return 1;
        if (end == SIMPLEX_INFEASIBLE || end == SIMPLEX_CUTOFF)
            return 0;
        if (end == SIMPLEX_OPTIMAL) {
            allot_try_rounding(a, box);
            relax_tighten(a->relax, box, a->above);
            if (allot_scan(a, box) != SCAN_TOO_MANY)
                return 0;
            rc = keep_rises(a, box) && !box_is_point(a, box) ? allot_branch(a, box) : 0;
        }
    }
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (!keep_rises(a, box))
        return 0;
    if (!box_is_point(a, box))
        return allot_split_first(a, box);
    allot_try_point(a, box);
    return 0;
}

int allot_settle(struct allot *a)
{
    struct boxes ties = a->ties;
    struct box *box;
    int rc = 0;

    a->ties = a->open;
    a->open = ties;
    a->settling = true;
    a->risen = a->cells;
    while (rc == 0 && (box = boxes_pop(&a->open))) {
        rc = visit(a, box);
        rc = relax_has_failed(a->relax) ? -1 : rc;
        box_free(box);
    }
    return rc;
}
