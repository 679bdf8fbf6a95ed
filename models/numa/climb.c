/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOPELESS 1e100 /* what a GB/s costs that eq. 5.7 does not allow */

/* ---- what an allocation is worth ---- */

unsigned climb_least(const struct climb *c, size_t cell)
{
    const unsigned *least = c->nucore->program[cell / c->nodes].least;

    return least ? least[cell % c->nodes] : 0;
}

unsigned climb_most(const struct climb *c, size_t cell)
{
    return nucore_most(c->nucore, cell / c->nodes, cell % c->nodes);
}

bool climb_is_stopped(struct climb *c)
{
    c->stopped |= c->nucore->stop && c->nucore->stop(c->nucore->stop_arg);
    return c->stopped;
}

/* Returns by how many GB/s the trial is beyond what eq. 5.7 allows. */
static double excess(const struct climb *c)
{
    const struct numem_machine *m = c->nucore->machine;
    double sum = 0;

    for (size_t i = 0; i < c->nodes; i++) {
        double asked = 0;

        for (size_t p = 0; p < c->programs; p++)
            asked += c->ascent->use[p]->local_demand[i][c->trial[p * c->nodes + i]];
        sum += fmax(0, m->beta[i] * asked - m->alpha[i]);
    }
    return sum;
}

/* Returns what the trial is worth; -INFINITY where that is not above `above`, or not known. */
static double value_of(struct climb *c, double above)
{
    double beyond = excess(c), cores = 0;
    int rc;

    if (beyond > 0)
        return -HOPELESS * beyond;
    for (size_t cell = 0; cell < c->cells; cell++)
        cores += c->trial[cell];
    c->aim.above = above + cores;
    rc = flows_solve(c->flows, c->trial, &c->aim, c->local, c->amount);
    c->failed |= rc < 0;
    return rc == 0 ? flows_worth(c->flows, &c->aim, c->local, c->amount) - cores : -INFINITY;
}

/* Returns whether the trial's cores are no more and no less than all nodes and programs allow. */
static bool fits(const struct climb *c)
{
    for (size_t p = 0; p < c->programs; p++) {
        double sum = 0;

        for (size_t i = 0; i < c->nodes; i++)
            sum += c->trial[p * c->nodes + i];
        if (sum < c->ascent->cores_min[p] || sum > c->ascent->cores_max[p])
            return false;
    }
    for (size_t i = 0; i < c->nodes; i++) {
        double sum = 0;

        for (size_t p = 0; p < c->programs; p++)
            sum += c->trial[p * c->nodes + i];
        if (sum > c->nucore->machine->cores[i])
            return false;
    }
    return true;
}

static double tie(double value)
{
    return NUCORE_TIE * (1 + fabs(value) / 1000);
}

bool climb_try(struct climb *c)
{
    double value, least = c->begun ? c->top - tie(c->top) : -INFINITY;
    struct rank rank;

    if (c->failed || climb_is_stopped(c) || !fits(c))
        return false;
    value = value_of(c, least - tie(least));
    if (c->failed || (c->begun && !(value >= least)))
        return false;
    rank = rank_of(c->flows, c->trial);
    if (c->begun && value <= c->top + tie(c->top) &&
        !rank_precedes(c, &rank, c->trial, &c->rank, c->now))
        return false;
    c->top = c->begun ? fmax(c->top, value) : value;
    c->rank = rank;
    c->begun = true;
    memcpy(c->now, c->trial, c->cells * sizeof(*c->now));
    return true;
}

/* Returns whether now's allocation gives everybody what he must have. */
bool climb_is_feasible(struct climb *c)
{
    const double *floor = c->ascent->floor;

    if (!c->begun || c->top <= -HOPELESS * 1e-12)
        return false;
    memcpy(c->trial, c->now, c->cells * sizeof(*c->now));
    c->aim.stop = NULL;
    value_of(c, -INFINITY);
    for (size_t p = 0; floor && p < c->programs; p++)
        if (flows_bandwidth(c->flows, p, c->local, c->amount) < floor[p] * (1 - 1e-7) - 1e-9)
            return false;
    return true;
}

void climb_free(struct climb *c)
{
    flows_free(c->flows);
    free(c->now);
    free(c->local);
    free(c->amount);
}

int climb_init(struct climb *c, const struct ascent *ascent)
{
    const struct nucore *nucore = ascent->nucore;
    size_t nodes = nucore->machine->nodes, cells = nodes * nucore->programs;

    *c = (struct climb){.ascent = ascent,
                        .nucore = nucore,
                        .nodes = nodes,
                        .programs = nucore->programs,
                        .cells = cells,
                        .aim = {.gain = ascent->gain,
                                .floor = ascent->floor,
                                .stop = nucore->stop,
                                .stop_arg = nucore->stop_arg}};
    c->flows = flows_new(nucore->machine, ascent->use, nucore->programs);
    c->now = calloc(2 * cells, sizeof(*c->now));
    c->local = calloc(cells, sizeof(*c->local));
    c->amount = c->flows ? calloc(c->flows->flows + 1, sizeof(*c->amount)) : NULL;
    c->trial = c->now ? c->now + cells : NULL;
    return c->now && c->local && c->amount ? 0 : -1;
}
