/* SPDX-License-Identifier: GPL-2.0-or-later */
/* climb_start - where the ascent begins. A dive into the relaxation gives whole cores to the cell
 * that is nearest to them, solves it again, and so on until all are whole. A few other dives turn
 * the other way at one cell, or at some: they are abandoned where nothing better is to be expected.
 */
#include <math.h>
#include <stdlib.h>

#include "models/numa/climb.h"
#include "models/numa/relax.h"

#define WHOLE 1e-6 /* cores: so near to a whole number is one */
#define TINY 1e-7  /* of the value: what is better by less is not looked for */
#define WORK 2e6   /* relaxations solved beyond one a cell, times the square of their size */
#define TURNS_ONE 1
#define TURNS_MANY 3 /* several programs: who has which node is not to be seen by small changes */

struct dive {
    struct climb *climb;
    struct relax *relax;
    unsigned *least, *most; /* [cells] */
    double *cores;          /* [cells] */
    double left;            /* relaxations that may still be solved */
};

/* Returns the cell nearest to whole cores that has none; cells: all have. */
static size_t find_nearest(const struct dive *d)
{
    size_t found = d->climb->cells;
    double least = INFINITY;

    for (size_t cell = 0; cell < d->climb->cells; cell++) {
        double off = fabs(d->cores[cell] - round(d->cores[cell]));

        if (off > WHOLE && off < least) {
            least = off;
            found = cell;
        }
    }
    return found;
}

static void limit(struct dive *d, size_t cell, unsigned least, unsigned most)
{
    d->least[cell] = least;
    d->most[cell] = most;
    relax_limit(d->relax, cell, least, most);
}

static void try_cores(struct dive *d)
{
    for (size_t cell = 0; cell < d->climb->cells; cell++)
        d->climb->trial[cell] = (unsigned)round(d->cores[cell]);
    climb_try(d->climb);
}

static void dive_on(struct dive *d, unsigned turns)
{
    struct climb *c = d->climb;
    double above = c->begun ? c->top + TINY * fabs(c->top) : -INFINITY;
    size_t cell;
    int rc;

    if (climb_is_stopped(c) || d->left-- <= 0)
        return;
    rc = relax_solve(d->relax, above, d->cores);
    c->failed |= rc < 0;
    if (rc != 0)
        return;
    cell = find_nearest(d);
    if (cell == c->cells) {
        try_cores(d);
        return;
    }
    double cores = d->cores[cell];
    unsigned least = d->least[cell], most = d->most[cell];
    bool up = cores - floor(cores) >= 0.5;

    for (unsigned turn = 0; turn <= 1 && turn <= turns && !c->failed; turn++, up = !up) {
        limit(d, cell, up ? (unsigned)ceil(cores) : least, up ? most : (unsigned)floor(cores));
        dive_on(d, turns - turn);
    }
    limit(d, cell, least, most);
}

/* Tries all cores that each cell may have: something, should there be no time for more. */
static void try_most(struct climb *c)
{
    for (size_t cell = 0; cell < c->cells; cell++)
        c->trial[cell] = climb_most(c, cell);
    climb_try(c);
}

static void dive(struct dive *d)
{
    struct climb *c = d->climb;

    d->most = d->least + c->cells;
    for (size_t cell = 0; cell < c->cells; cell++)
        limit(d, cell, climb_least(c, cell), climb_most(c, cell));
    dive_on(d, c->programs > 1 ? TURNS_MANY : TURNS_ONE);
}

int climb_start(struct climb *c)
{
    double size = 2 * (double)c->cells + (double)c->flows->flows;
    struct dive d = {.climb = c, .left = (double)c->cells + WORK / (size * size)};

    try_most(c);
    d.relax = relax_new(c->ascent, c->flows);
    d.least = calloc(2 * c->cells, sizeof(*d.least));
    d.cores = calloc(c->cells, sizeof(*d.cores));
    if (d.relax && d.least && d.cores)
        dive(&d);
    else
        c->failed = true;
    relax_free(d.relax);
    free(d.least);
    free(d.cores);
    return c->failed ? -1 : 0;
}
