/* SPDX-License-Identifier: GPL-2.0-or-later */
/* near_settle - see near.h. Here: a unit that is far from its devices gets cores near them.
 *
 * It needs so many cores as stand far. Those come from cores near on which no unit stands, and from
 * units that have no devices, or theirs where this one comes from. Each of these goes as a whole,
 * so that none is torn apart: which of them go is a problem of a knapsack, and is solved exactly. A
 * way that needs few of others' cores is taken. */
#include <stdlib.h>
#include <string.h>

#include "packer/place/near.h"

#define NOBODY ((size_t)-1)

/* One unit's way to its devices. */
struct way {
    const struct scene *scene;
    struct units *units;
    const struct cpus *near;
    size_t unit, need;    /* cores of it that are far */
    size_t *who;          /* [cores] the core of the pool that stands there; NOBODY */
    bool *open, *taken;   /* [cores] the unit may stand there; it will */
    size_t *far;          /* [cores] where the unit's cores are that are far: need of them */
    size_t *part, *reach; /* [units] cores there; [need + 1] the unit by which a sum is reached */
};

static const struct topo *topo_of(const struct way *way)
{
    return way->scene->packer->world.topo;
}

static bool is_near(const struct way *way, size_t core, const struct cpus *near)
{
    return cpus_subset(&topo_of(way)->core[core].cpus, near);
}

/* Returns the unit that stands on a core of the pool; UNITS_NONE: none. */
static size_t unit_at(const struct way *way, size_t core)
{
    return way->units->of_core[way->who[core]];
}

/* May the unit's memory be used from all of these cores? */
static bool may_use(const struct way *way, size_t unit, const size_t *core, size_t n)
{
    struct cpus cpus = {0}, nodes;

    for (size_t i = 0; i < n; i++)
        cpus_or(&cpus, &topo_of(way)->core[core[i]].cpus);
    topo_nodes_of(topo_of(way), &cpus, &nodes);
    return step_may_use(way->units->first[unit], &nodes);
}

/* Finds who stands where, which cores of the unit are far, and where it may go. */
static void look(struct way *way)
{
    const struct pool *pool = way->scene->pool;
    const struct units *units = way->units;
    const size_t *from = units->from + units->at[way->unit];

    for (size_t core = 0; core < pool->cores; core++)
        way->who[core] = NOBODY;
    for (size_t core = 0; core < pool->cores; core++)
        if (pool_has(pool, core))
            way->who[pool->stand[core]] = core;
    way->need = 0;
    for (size_t i = 0; i < units->unit[way->unit].cores; i++)
        if (!is_near(way, pool->stand[from[i]], way->near))
            way->far[way->need++] = pool->stand[from[i]];
    for (size_t core = 0; core < pool->cores; core++) {
        way->taken[core] = false;
        way->open[core] = units_may_have(units, way->scene, core) &&
                          is_near(way, core, way->near) && unit_at(way, core) != way->unit &&
                          may_use(way, way->unit, &core, 1);
    }
}

/* May the unit go where the other one's far cores are? With devices, only if these are near them.
 */
static bool may_go(const struct way *way, size_t unit)
{
    const struct cpus *near = way->units->near[unit];

    if (way->units->kept[unit])
        return false;
    for (size_t i = 0; near && i < way->need; i++)
        if (!is_near(way, way->far[i], near))
            return false;
    return may_use(way, unit, way->far, way->need);
}

/* Counts the open cores where nobody stands, and those of each unit that may leave them. */
static size_t count(struct way *way, bool others_go)
{
    const struct units *units = way->units;
    size_t nobody = 0;

    memset(way->part, 0, units->n * sizeof(*way->part));
    for (size_t core = 0; core < units->cores; core++) {
        size_t unit = way->open[core] ? unit_at(way, core) : UNITS_NONE;

        nobody += way->open[core] && unit == UNITS_NONE;
        if (unit != UNITS_NONE && others_go)
            way->part[unit]++;
    }
    for (size_t unit = 0; unit < units->n; unit++)
        if (way->part[unit] && !may_go(way, unit))
            way->part[unit] = 0;
    return nobody;
}

/* Takes the open cores of a unit. */
static void take_of(struct way *way, size_t unit)
{
    for (size_t core = 0; core < way->units->cores; core++)
        if (way->open[core] && unit_at(way, core) == unit)
            way->taken[core] = true;
}

/* Takes the cores of units that have `least` to `need` of them together, the fewest of these.
 * Returns how many; 0: no units do. */
static size_t take_units(struct way *way, size_t least)
{
    size_t sum;

    for (sum = 1; sum <= way->need; sum++)
        way->reach[sum] = UNITS_NONE;
    for (size_t unit = 0; unit < way->units->n; unit++)
        for (size_t part = way->part[unit], to = way->need; part && to >= part; to--)
            if (way->reach[to] == UNITS_NONE && (to == part || way->reach[to - part] != UNITS_NONE))
                way->reach[to] = unit;
    for (sum = least; sum <= way->need && way->reach[sum] == UNITS_NONE;)
        sum++;
    if (sum > way->need)
        return 0;
    for (size_t left = sum; left > 0; left -= way->part[way->reach[left]])
        take_of(way, way->reach[left]);
    return sum;
}

/* Returns how many cores of a cache nobody has that are open; 0 where they are taken. */
static size_t free_on(const struct way *way, size_t cache)
{
    size_t n = 0;

    for (size_t core = 0; core < way->units->cores; core++)
        n += topo_of(way)->core[core].llc == cache && way->open[core] && !way->taken[core] &&
             unit_at(way, core) == UNITS_NONE;
    return n;
}

/* Takes so many cores that nobody has, on few caches: the smallest that has all of them, else the
 * largest. */
static void take_free(struct way *way, size_t n)
{
    while (n > 0) {
        size_t best = 0, most = 0;

        for (size_t cache = 0; cache < topo_of(way)->llcs; cache++) {
            size_t here = free_on(way, cache);

            if (here > 0 && (most >= n ? here >= n && here < most : here > most)) {
                best = cache;
                most = here;
            }
        }
        for (size_t core = 0; n > 0 && core < way->units->cores; core++)
            if (topo_of(way)->core[core].llc == best && way->open[core] && !way->taken[core] &&
                unit_at(way, core) == UNITS_NONE) {
                way->taken[core] = true;
                n--;
            }
    }
}

/* Chooses the cores. False: there is no room. */
static bool choose(struct way *way, bool others_go)
{
    size_t nobody = count(way, others_go), others = 0;

    if (nobody < way->need) {
        others = take_units(way, way->need - nobody);
        if (others == 0)
            return false;
    }
    take_free(way, way->need - others);
    return true;
}

/* Who stands on the cores that are taken and the unit's far cores change places. */
static void exchange(const struct way *way)
{
    size_t *stand = way->scene->pool->stand, next = 0;

    for (size_t i = 0; i < way->need; i++) {
        while (!way->taken[next])
            next++;
        stand[way->who[way->far[i]]] = next;
        stand[way->who[next]] = way->far[i];
        next++;
    }
}

static bool is_to_come(const struct way *way, const struct place_terms *terms, size_t unit)
{
    return way->units->near[unit] &&
           (!terms || !terms->fresh || units_have(way->units, topo_of(way), terms->fresh, unit));
}

/* Brings each unit that is far and for which there is room. Returns whether there was one. */
static bool bring_all(struct way *way, const struct place_terms *terms)
{
    bool others_go = way->scene->packer->world.conf.device_near == CONF_NEAR_MUST &&
                     !(terms && terms->others_stay);
    bool any = false;

    for (size_t unit = 0; unit < way->units->n; unit++) {
        if (!is_to_come(way, terms, unit))
            continue;
        way->unit = unit;
        way->near = way->units->near[unit];
        look(way);
        if (way->need == 0 || !choose(way, others_go))
            continue;
        exchange(way);
        any = true;
    }
    return any;
}

void near_settle(const struct scene *scene, const struct place_terms *terms, struct units *units)
{
    const size_t n = units->cores + 1;
    size_t *numbers = calloc(4 * n, sizeof(*numbers));
    bool *flags = calloc(2 * n, sizeof(*flags));
    struct way way = {.scene = scene, .units = units};

    if (numbers && flags) {
        way.who = numbers;
        way.far = numbers + n;
        way.part = numbers + 2 * n;
        way.reach = numbers + 3 * n;
        way.open = flags;
        way.taken = flags + n;
    }
    while (way.who && bring_all(&way, terms))
        ; /* who made room for one may have left a place near for another */
    free(numbers);
    free(flags);
}
