/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_try - allocations that may be the best: the extremes, what is near the relaxation's
 * optimum, and what is near the best. */
#include <math.h>
#include <string.h>

#include "models/numa/allot_impl.h"
#include "models/numa/nucore.h"

double allot_goal(const struct allot *a)
{
    if (a->settling || !a->best->found)
        return a->above;
    return a->best->objective + allot_tie(a->best->objective);
}

/* Returns the objective; NAN where eq. 5.7 or a floor has no solution, or where it is not above
 * that. */
static double objective_of(struct allot *a, const unsigned *allocation, double above)
{
    struct flows_aim aim = {.gain = a->problem->gain,
                            .floor = a->problem->floor,
                            .above = above,
                            .stop = a->problem->stop,
                            .stop_arg = a->problem->stop_arg};
    double cores = 0, objective = 0;

    for (size_t cell = 0; cell < a->cells; cell++)
        cores += allocation[cell];
    aim.above += cores;
    if (flows_solve(a->flows, allocation, &aim, a->local, a->amount) != 0)
        return NAN;
    for (size_t k = 0; k < a->flows->flows; k++)
        objective += a->problem->gain[a->flows->flow[k].program] * a->amount[k];
    for (size_t cell = 0; cell < a->cells; cell++)
        objective += a->problem->gain[cell / a->nodes] * a->local[cell];
    return objective - cores;
}

/* Does the machine have these cores, and may each program have them? */
static bool is_allowed(const struct allot *a, const unsigned *allocation)
{
    for (size_t p = 0; p < a->programs; p++) {
        double sum = 0;

        for (size_t i = 0; i < a->nodes; i++)
            sum += allocation[p * a->nodes + i];
        if (sum < a->cores_min[p] || sum > a->cores_max[p])
            return false;
    }
    for (size_t i = 0; a->programs > 1 && i < a->nodes; i++) {
        double sum = 0;

        for (size_t cell = i; cell < a->cells; cell += a->nodes)
            sum += allocation[cell];
        if (sum > a->flows->machine->cores[i])
            return false;
    }
    return true;
}

bool allot_try(struct allot *a, const unsigned *allocation, double above)
{
    struct rank rank;
    double objective;

    if (!is_allowed(a, allocation) || (a->settling && !allot_precedes(a, allocation, &rank)))
        return false;
    objective = objective_of(a, allocation, above);
    if (!(objective > above))
        return false;
    if (!(objective > allot_goal(a)))
        return true;
    a->best->found = true;
    a->best->objective = objective;
    if (a->settling)
        a->rank = rank;
    else
        a->above = objective - allot_tie(objective);
    memcpy(a->best->allocation, allocation, a->cells * sizeof(*allocation));
    return true;
}

/* Takes the trial if it is the best so far. */
static bool try_trial(struct allot *a)
{
    return allot_try(a, a->trial, allot_goal(a));
}

void allot_try_point(struct allot *a, const struct box *box)
{
    for (size_t cell = 0; cell < a->cells; cell++)
        a->trial[cell] = allot_count(a, cell, box->lo[cell]);
    try_trial(a);
}

/* ---- near the relaxation's optimum ---- */

/* Makes the trial the relaxation's optimum, rounded: to the next count above from that part of a
 * core on. */
static void round_cores(struct allot *a, const struct box *box, double from)
{
    for (size_t cell = 0; cell < a->cells; cell++) {
        size_t point = allot_below(a, box, cell);
        double rest = relax_cores(a->relax, cell) - allot_count(a, cell, point);

        if (point < box->hi[cell] && rest > ALLOT_WHOLE && rest >= from)
            point++;
        a->trial[cell] = allot_count(a, cell, point);
    }
}

/* Returns whether the trial is better with another point of the cell; it has that one then. */
static bool move(struct allot *a, const struct box *box, size_t cell, int step)
{
    unsigned before = a->trial[cell];
    size_t point = box->lo[cell];

    while (point < box->hi[cell] && allot_count(a, cell, point) < before)
        point++;
    if (allot_count(a, cell, point) != before ||
        (step < 0 ? point == box->lo[cell] : point == box->hi[cell]))
        return false;
    a->trial[cell] = allot_count(a, cell, step < 0 ? point - 1 : point + 1);
    if (try_trial(a))
        return true;
    a->trial[cell] = before;
    return false;
}

static bool is_stopped(const struct allot *a)
{
    return a->problem->stop && a->problem->stop(a->problem->stop_arg);
}

/* Takes single steps from the best allocation, as long as they lead to a better one. */
static void climb(struct allot *a, const struct box *box)
{
    bool better = true;

    memcpy(a->trial, a->best->allocation, a->cells * sizeof(*a->trial));
    while (better) {
        better = false;
        for (size_t cell = 0; cell < a->cells && !is_stopped(a); cell++)
            if (box->lo[cell] < box->hi[cell])
                better |= move(a, box, cell, -1) || move(a, box, cell, 1);
    }
}

void allot_try_rounding(struct allot *a, const struct box *box)
{
    bool better;

    round_cores(a, box, 0);
    better = try_trial(a);
    round_cores(a, box, 0.5);
    better |= try_trial(a);
    if (better && !a->settling)
        climb(a, box);
}

/* ---- the extremes ---- */

/* Gives the cell its next count, if the node and the program have the cores. */
static bool give(struct allot *a, const struct box *box, size_t cell, double *node, double *program)
{
    size_t point = box->lo[cell];
    double more;

    while (point < box->hi[cell] && allot_count(a, cell, point) <= a->trial[cell])
        point++;
    more = (double)allot_count(a, cell, point) - a->trial[cell];
    if (more <= 0 || more > *node || more > *program)
        return false;
    a->trial[cell] = allot_count(a, cell, point);
    *node -= more;
    *program -= more;
    return true;
}

/* The fewest cores, and all of them, to the programs in turn: allocations to begin with. */
void allot_try_extremes(struct allot *a, const struct box *box)
{
    double node[NUMEM_NODES_MAX], program[NUCORE_PROGRAMS_MAX];
    bool given = true;

    for (size_t i = 0; i < a->nodes; i++)
        node[i] = a->flows->machine->cores[i];
    for (size_t p = 0; p < a->programs; p++)
        program[p] = box->sum_hi[p];
    for (size_t cell = 0; cell < a->cells; cell++) {
        a->trial[cell] = allot_count(a, cell, box->lo[cell]);
        node[cell % a->nodes] -= a->trial[cell];
        program[cell / a->nodes] -= a->trial[cell];
    }
    try_trial(a); /* that never takes long */
    while (given) {
        given = false;
        for (size_t cell = 0; cell < a->cells; cell++)
            given |= give(a, box, cell, &node[cell % a->nodes], &program[cell / a->nodes]);
    }
    try_trial(a);
}
