/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/ascent.h"

#include <string.h>

#include "models/numa/climb.h"

#define NEAR 2 /* cores: so many are exchanged one by one */

struct change {
    size_t cell;
    long by; /* cores */
};

static bool is_allowed(const struct climb *c, const struct change *change)
{
    long to = (long)c->now[change->cell] + change->by;

    return to >= (long)climb_least(c, change->cell) && to <= (long)climb_most(c, change->cell);
}

/* Tries now's allocation with these changes. */
static bool try_changes(struct climb *c, const struct change *change, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!is_allowed(c, &change[k]))
            return false;
    memcpy(c->trial, c->now, c->cells * sizeof(*c->now));
    for (size_t k = 0; k < n; k++)
        c->trial[change[k].cell] = (unsigned)((long)c->now[change[k].cell] + change[k].by);
    return climb_try(c);
}

/* More or fewer cores on one cell. */
static bool change_one(struct climb *c, size_t a)
{
    long span = (long)climb_most(c, a) - (long)climb_least(c, a);
    bool gained = false;

    for (long by = 1; by <= span; by *= 2) {
        gained |= try_changes(c, &(struct change){a, -by}, 1);
        gained |= try_changes(c, &(struct change){a, by}, 1);
    }
    return gained;
}

static bool exchange(struct climb *c, size_t a, size_t b, long fewer, long more)
{
    return fewer != 0 && try_changes(c, (const struct change[]){{a, -fewer}, {b, more}}, 2);
}

/* Cores of one cell for some on another one; all of them; each other's. */
static bool change_two(struct climb *c, size_t a, size_t b)
{
    bool gained = false;

    for (long fewer = 1; fewer <= NEAR; fewer++)
        for (long more = 1; more <= NEAR; more++)
            gained |= exchange(c, a, b, fewer, more);
    for (long all = 2 * NEAR; all < (long)c->now[a]; all *= 2)
        gained |= exchange(c, a, b, all, all);
    gained |= exchange(c, a, b, c->now[a], c->now[a]);
    return gained |
           exchange(c, a, b, (long)c->now[a] - (long)c->now[b], (long)c->now[a] - (long)c->now[b]);
}

/* A program's cores go from one node to another, where a second program takes their place; as many
 * of its own go the other way, or none. */
static bool change_places(struct climb *c, size_t p, size_t q, size_t i, size_t j)
{
    size_t n = c->nodes;
    bool gained = false;

    for (long by = 1; by <= (long)c->now[p * n + i]; by *= 2) {
        const struct change places[] = {
            {p * n + i, -by}, {p * n + j, by}, {q * n + i, by}, {q * n + j, -by}};

        gained |= try_changes(c, places, 3);
        gained |= try_changes(c, places, 4);
    }
    return gained;
}

static bool sweep(struct climb *c)
{
    bool gained = false;

    for (size_t a = 0; a < c->cells; a++)
        gained |= change_one(c, a);
    for (size_t a = 0; !gained && a < c->cells; a++)
        for (size_t b = 0; b < c->cells; b++)
            gained |= a != b && change_two(c, a, b);
    for (size_t a = 0; !gained && a < c->cells; a++)
        for (size_t q = 0; q < c->programs; q++)
            for (size_t j = 0; q != a / c->nodes && j < c->nodes; j++)
                gained |= j != a % c->nodes && change_places(c, a / c->nodes, q, a % c->nodes, j);
    return gained;
}

enum ascent_end ascent_climb(const struct ascent *ascent, unsigned *allocation, bool *feasible)
{
    enum ascent_end end = ASCENT_FAILED;
    struct climb c;

    if (climb_init(&c, ascent) == 0 && climb_start(&c) == 0) {
        while (c.begun && sweep(&c))
            ;
        memcpy(allocation, c.now, c.cells * sizeof(*allocation));
        end = c.stopped ? ASCENT_STOPPED : ASCENT_DONE;
        *feasible = !c.failed && climb_is_feasible(&c);
    }
    end = c.failed ? ASCENT_FAILED : end;
    climb_free(&c);
    return end;
}
