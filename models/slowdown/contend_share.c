/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_share - see contend_stands.h: for given speeds, the time at which the footprints fill a
 * cache is the root of a rising function, and gives the shares. */
#include <float.h>
#include <math.h>

#include "models/slowdown/contend_stands.h"

#define FULL 1e-6 /* a cache that lacks less than that part of it */

/* Returns the part of the cache, in cells, that a program has touched after that many ns of all;
 * one that is slowed down is behind. Fills in how fast that grows. */
static double footprint(const struct contend *contend, struct tenant *tenant, double time,
                        double *growth)
{
    const struct study_point *point = tenant->study->point;
    double own = tenant->study->ns / tenant->ns / (1 + tenant->apart.crowd), late = time * own,
           width;
    size_t cell = tenant->cell;

    while (cell > 0 && late < point[cell].time_ns)
        cell--;
    while (cell < contend->cells && late >= point[cell + 1].time_ns)
        cell++;
    tenant->cell = cell;
    *growth = 0;
    if (cell == contend->cells || point[cell + 1].time_ns >= FLT_MAX)
        return (double)cell; /* it never touches more */
    width = point[cell + 1].time_ns - point[cell].time_ns;
    *growth = own / width;
    return (double)cell + (late - point[cell].time_ns) / width;
}

/* Returns the cells by which the footprints are more than the cache has, and how fast that rises.
 */
static double overflow(const struct contend *contend, const struct cache *cache, double time,
                       double *rise)
{
    double cells = -(double)contend->cells * (1 - cache->port.first->apart.small), growth;

    *rise = 0;
    for (struct tenant *tenant = cache->port.first; tenant; tenant = tenant->next) {
        double prints = tenant->count * (1 + tenant->apart.crowd);

        cells += prints * footprint(contend, tenant, time, &growth);
        *rise += prints * growth;
    }
    return cells;
}

/* Returns the time at which together they fill the cache, by Newton's steps from the left: it rises
 * ever more slowly, so that none goes too far; from the right they may, back to the beginning. */
static double fill_time(const struct contend *contend, const struct cache *cache)
{
    double time = isfinite(cache->time) ? cache->time : 0, rise;

    for (int i = 0; i < STANDS_ROOT_MAX; i++) {
        double excess = overflow(contend, cache, time, &rise);

        if (fabs(excess) < FULL * (double)contend->cells)
            break;
        if (!(rise > 0))
            return excess > 0 ? time : INFINITY;
        time = fmax(0, time - excess / rise);
    }
    return time;
}

/* Returns what is between two figures. */
static double between(double a, double b, double part)
{
    return a + part * (b - a);
}

/* Finds what a program waits for with that share of the cache, in cells, and what its lines ask of
 * memory. What it loses besides is that part of the way to no cache. */
static void take_share(const struct contend *contend, struct tenant *tenant, double share)
{
    const struct study *study = tenant->study;
    size_t cell = (size_t)share < contend->cells ? (size_t)share : contend->cells - 1;
    const struct study_point *a = &study->point[cell], *b = a + 1;
    double part = share - (double)cell;
    const struct study_point *none = &study->point[0];
    double wait_ns = between(a->wait_ns, b->wait_ns, part);
    double late_ns = between(a->late_ns, b->late_ns, part), none_wait = none->wait_ns;
    double none_late = none->late_ns, lines = between(a->lines, b->lines, part);

    if (tenant->copied) {
        wait_ns = between(a->copy_wait_ns, b->copy_wait_ns, part);
        late_ns = between(a->copy_late_ns, b->copy_late_ns, part);
        none_wait = none->copy_wait_ns;
        none_late = none->copy_late_ns;
    }
    tenant->base_ns =
        study->ns * (1 + tenant->apart.siblings) + between(wait_ns, none_wait, tenant->apart.lost);
    tenant->late_ns = fmin(between(late_ns, none_late, tenant->apart.lost), tenant->base_ns);
    tenant->gbps = contend->line_bytes * between(lines, none->lines, tenant->apart.lost);
}

void cache_share(const struct contend *contend, struct cache *cache)
{
    double growth, time;

    if (!cache->port.first)
        return;
    time = stand_is_alone(cache->port.first, cache->port.first->next) ? INFINITY
                                                                      : fill_time(contend, cache);
    cache->time = time;
    for (struct tenant *tenant = cache->port.first; tenant; tenant = tenant->next)
        take_share(contend, tenant,
                   isfinite(time) ? footprint(contend, tenant, time, &growth)
                                  : (double)contend->cells);
}
