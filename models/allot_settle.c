/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_settle - which of several optima: the one with the most cores on the lower nodes.
 *
 * Cell after cell: is there an optimum with more cores here, and those settled before the same?
 * Most often one linear program says no. Whether there is one with at least that many is monotonic,
 * so the most is found by bisection. */
#include "allot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct settle {
    struct allot *allot;
    const struct relax_problem *problem;
    size_t cells;
    struct box *box; /* the optima; the cells settled before are points of it */
    double above;    /* all above that are optima */
    struct allot_best *best;
    struct allot_best trial;
};

static size_t point_of(const struct settle *s, size_t cell)
{
    const struct points *points = &s->problem->points[cell];
    size_t point = 0;

    while (points->count[point] != s->best->allocation[cell])
        point++;
    return point;
}

/* Is there an optimum with at least that point in the cell? Then it is the best one. */
static enum allot_end try_point(struct settle *s, size_t cell, size_t point, bool *found)
{
    struct box *box = box_copy(s->allot, s->box);
    enum allot_end end;

    if (!box)
        return ALLOT_FAILED;
    box->lo[cell] = point;
    end = allot_search(s->allot, box, s->above, true, &s->trial);
    *found = s->trial.found;
    if (*found) {
        s->best->objective = s->trial.objective;
        memcpy(s->best->allocation, s->trial.allocation, s->cells * sizeof(*s->trial.allocation));
    }
    box_free(box);
    return end;
}

static enum allot_end settle_cell(struct settle *s, size_t cell)
{
    size_t least = point_of(s, cell), most = s->box->hi[cell], point = least + 1;
    enum allot_end end = ALLOT_DONE;

    while (least < most && end == ALLOT_DONE) {
        bool found = false;

        end = try_point(s, cell, point, &found);
        if (found)
            least = point_of(s, cell);
        else
            most = point - 1;
        point = least + (most - least + 1) / 2;
    }
    s->box->lo[cell] = s->box->hi[cell] = least;
    return end;
}

enum allot_end allot_settle(struct allot *allot, const struct relax_problem *problem,
                            const struct box *box, struct allot_best *best)
{
    struct settle s = {.allot = allot, .problem = problem, .best = best};
    enum allot_end end = ALLOT_FAILED;

    s.cells = problem->flows->programs * problem->flows->machine->nodes;
    s.above = best->objective - allot_tie(best->objective);
    s.trial.allocation = calloc(s.cells, sizeof(*s.trial.allocation));
    s.box = box_copy(allot, box);
    if (s.box && s.trial.allocation)
        end = allot_narrow(allot, s.box, s.above);
    for (size_t cell = 0; cell < s.cells && end == ALLOT_DONE; cell++)
        end = settle_cell(&s, cell);
    box_free(s.box);
    free(s.trial.allocation);
    if (end == ALLOT_FAILED)
        errno = ENOMEM;
    return end;
}
