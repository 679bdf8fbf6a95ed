/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/nucore_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_in(const struct part *part, size_t node)
{
    return !part->in || part->in[node];
}

static unsigned least_of(const struct part *part, size_t program, size_t node)
{
    const unsigned *least = part->nucore->program[program].least;

    return least ? least[node] : 0;
}

/* Fills in the counts that a cell can have. One program: what its cores ask for beyond alpha is of
 * no use to them. */
static int points_fill(const struct part *part, size_t program, size_t node, struct points *points)
{
    const struct numem_machine *m = part->nucore->machine;
    unsigned most = is_in(part, node) ? nucore_most(part->nucore, program, node) : 0;

    points->count = calloc(most + 1, sizeof(*points->count));
    points->demand = calloc(most + 1, sizeof(*points->demand));
    if (!points->count || !points->demand)
        return -1;
    points->n = is_in(part, node) ? 0 : 1; /* elsewhere: no cores, no demand */
    for (unsigned c = least_of(part, program, node); is_in(part, node) && c <= most; c++) {
        double demand = part->use[program]->local_demand[node][c];

        if (m->beta[node] * demand > m->alpha[node])
            continue;
        points->count[points->n] = c;
        points->demand[points->n++] =
            part->nucore->programs > 1 ? demand : fmin(demand, m->alpha[node]);
    }
    return 0;
}

static void points_free(struct points *points, size_t cells)
{
    for (size_t cell = 0; points && cell < cells; cell++) {
        free(points[cell].count);
        free(points[cell].demand);
    }
    free(points);
}

static struct points *points_new(const struct part *part)
{
    size_t n = part->nucore->machine->nodes, cells = n * part->nucore->programs;
    struct points *points = calloc(cells, sizeof(*points));

    for (size_t cell = 0; points && cell < cells; cell++)
        if (points_fill(part, cell / n, cell % n, &points[cell]) < 0) {
            points_free(points, cells);
            return NULL;
        }
    return points;
}

static enum allot_end solve(const struct part *part, struct flows *flows, struct points *points,
                            struct allot_best *best)
{
    struct relax_problem problem = {.flows = flows,
                                    .points = points,
                                    .gain = part->gain,
                                    .floor = part->floor,
                                    .stop = part->nucore->stop,
                                    .stop_arg = part->nucore->stop_arg};
    struct allot *allot = allot_new(&problem, flows, part->cores_min, part->cores_max);
    enum allot_end end = ALLOT_FAILED;

    if (allot)
        end = allot_solve(allot, part->any, best);
    allot_free(allot);
    return end;
}

enum allot_end part_solve(const struct part *part, struct allot_best *best)
{
    size_t nodes = part->nucore->machine->nodes, cells = nodes * part->nucore->programs;
    struct flows *flows =
        flows_new(part->nucore->machine, part->use, part->nucore->programs, part->in);
    struct points *points = points_new(part);
    struct allot_best found = {.allocation = calloc(cells, sizeof(*found.allocation))};
    enum allot_end end = ALLOT_FAILED;

    if (flows && points && found.allocation)
        end = solve(part, flows, points, &found);
    for (size_t cell = 0; end != ALLOT_FAILED && found.found && cell < cells; cell++)
        if (is_in(part, cell % nodes))
            best->allocation[cell] = found.allocation[cell];
    best->found = found.found;
    best->objective = found.objective;
    best->bound = found.bound;
    best->settled = found.settled;
    flows_free(flows);
    points_free(points, cells);
    free(found.allocation);
    if (end == ALLOT_FAILED)
        errno = ENOMEM;
    return end;
}
