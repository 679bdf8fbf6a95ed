/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts - see parts.h */
#include "models/slowdown/parts.h"

#include <math.h>

#include "enum_table.h"

const char *const TABLE(parts_where_name, PARTS_PLACES) = {
    ROW(PARTS_ALONE) = "alone",       ROW(PARTS_PACKAGE) = "other-package",
    ROW(PARTS_CACHE) = "other-cache", ROW(PARTS_SAME) = "same-cache",
    ROW(PARTS_FAR) = "far-memory",
};
TABLE_COMPLETE(parts_where_name);

#define ALL (PARTS_OF_CACHE | PARTS_OF_BUS | PARTS_OF_CONTROLLER)

static bool knows(const struct parts_time *time, enum parts_where where)
{
    return time[where].seconds > 0; /* NAN is not */
}

static void add(struct parts *parts, unsigned of, double slowdown)
{
    parts->part[parts->n++] = (struct parts_part){of, slowdown, NAN};
}

/* Divides what is lost on the same cache, of these times: each place that was measured cuts off
 * what is shared from there on. */
static void divide(const struct parts_time *time, struct parts *parts)
{
    double alone = time[PARTS_ALONE].seconds, below = time[PARTS_SAME].seconds;
    unsigned left = ALL;

    if (knows(time, PARTS_CACHE)) { /* eq. 6 */
        add(parts, PARTS_OF_CACHE, (below - time[PARTS_CACHE].seconds) / alone);
        below = time[PARTS_CACHE].seconds;
        left &= ~(unsigned)PARTS_OF_CACHE;
    }
    if (knows(time, PARTS_PACKAGE)) { /* eq. 5 */
        unsigned of = left & ~(unsigned)PARTS_OF_CONTROLLER;

        add(parts, of, (below - time[PARTS_PACKAGE].seconds) / alone);
        below = time[PARTS_PACKAGE].seconds;
        left = PARTS_OF_CONTROLLER;
    }
    if (left == ALL && knows(time, PARTS_FAR)) {
        add(parts, PARTS_OF_CACHE | PARTS_OF_BUS, (time[PARTS_FAR].seconds - alone) / alone);
        below = alone + below - time[PARTS_FAR].seconds;
        left = PARTS_OF_CONTROLLER;
    }
    add(parts, left, (below - alone) / alone); /* eq. 4 */
}

static double lost(const struct parts_time *time)
{
    return time[PARTS_SAME].seconds / time[PARTS_ALONE].seconds - 1;
}

static bool divide_all(const struct parts_times *times, struct parts *parts)
{
    *parts = (struct parts){.prefetchers =
                                knows(times->off, PARTS_ALONE) && knows(times->off, PARTS_SAME)};
    if (!knows(times->on, PARTS_ALONE) || !knows(times->on, PARTS_SAME))
        return false;
    parts->total = (struct parts_part){ALL | PARTS_OF_PREFETCHERS, lost(times->on), NAN};
    divide(parts->prefetchers ? times->off : times->on, parts);
    if (parts->prefetchers) /* eq. 8 */
        add(parts, PARTS_OF_PREFETCHERS, lost(times->on) - lost(times->off));
    return true;
}

/* ---- errors ---- */

static double square(double x)
{
    return x * x;
}

/* Adds what an error of one of the times, `moved`, makes of each part's, squared. A time that
 * divides nothing makes nothing. */
static void add_error(const struct parts_times *with, struct parts_time *moved,
                      const struct parts *parts, double *sum)
{
    struct parts_time kept = *moved;
    struct parts other;

    if (!(kept.seconds > 0))
        return;
    moved->seconds += kept.error; /* NAN where it is not known: so are the parts' errors then */
    if (isnan(kept.error))
        for (size_t i = 0; i <= parts->n; i++)
            sum[i] = NAN;
    else if (divide_all(with, &other)) {
        sum[0] += square(other.total.slowdown - parts->total.slowdown);
        for (size_t i = 0; i < parts->n; i++)
            sum[i + 1] += square(other.part[i].slowdown - parts->part[i].slowdown);
    }
    *moved = kept;
}

bool parts_divide(const struct parts_times *times, struct parts *parts)
{
    struct parts_times moved = *times;
    double sum[PARTS_MOST + 1] = {0};

    if (!divide_all(times, parts))
        return false;
    for (enum parts_where where = 0; where < PARTS_PLACES; where++) {
        add_error(&moved, &moved.on[where], parts, sum);
        add_error(&moved, &moved.off[where], parts, sum);
    }
    parts->total.error = sqrt(sum[0]);
    for (size_t i = 0; i < parts->n; i++)
        parts->part[i].error = sqrt(sum[i + 1]);
    return true;
}
