/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_kinds - see topo_kinds.h */
#include "packer/machine/topo_kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.1 /* of a number: hwloc itself takes clocks for equal up to that, where it can */

/* What hwloc tells of a kind; hwloc owns it. */
struct told {
    struct hwloc_info_s *info;
    unsigned n;
};

static struct told told_of(hwloc_topology_t hwloc, unsigned kind)
{
    struct told told = {NULL, 0};

    if (hwloc_cpukinds_get_info(hwloc, kind, NULL, NULL, &told.n, &told.info, 0) < 0)
        told.n = 0;
    return told;
}

static bool same_value(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);

    if (end_a == a || end_b == b || *end_a || *end_b)
        return strcmp(a, b) == 0;
    return fabs(x - y) <= ALIKE * fmax(fabs(x), fabs(y));
}

/* Is all that is told of the one told of the other, and the same? */
static bool has_all(const struct told *of, const struct told *in)
{
    for (unsigned i = 0; i < of->n; i++) {
        bool found = false;

        for (unsigned j = 0; j < in->n && !found; j++)
            found = strcmp(of->info[i].name, in->info[j].name) == 0 &&
                    same_value(of->info[i].value, in->info[j].value);
        if (!found)
            return false;
    }
    return true;
}

int topo_kind_of(hwloc_topology_t hwloc, hwloc_const_bitmap_t cpus)
{
    int own = hwloc_cpukinds_get_by_cpuset(hwloc, cpus, 0);
    struct told told;

    if (own < 0)
        return -1;
    told = told_of(hwloc, (unsigned)own);
    for (unsigned kind = 0; told.n > 0 && kind < (unsigned)own; kind++) {
        struct told other = told_of(hwloc, kind);

        if (has_all(&told, &other) && has_all(&other, &told))
            return (int)kind;
    }
    return own;
}
