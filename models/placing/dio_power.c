/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dio_power - see dio_power.h
 *
 * Algorithm 4 as printed drops a thread whose walk ends beside another devil (its lines 5 to 9 have
 * no else). cluster.c's walk avoids such caches from the machine down, so it ends nowhere else
 * while there is a choice. */
#include "models/placing/dio_power.h"

#include <stdlib.h>

int dio_power_place(const struct di_machine *machine, const struct cluster_rule *rule, size_t n,
                    const double *miss_pmi, size_t *core)
{
    struct cluster_unit *unit = calloc(n + 1, sizeof(*unit)); /* + 1: calloc(0) may be NULL */
    int rc = -1;

    for (size_t i = 0; unit && i < n; i++)
        unit[i] = (struct cluster_unit){{miss_pmi[i], 1}, true};
    if (unit)
        rc = cluster_place(machine, rule, NULL, n, unit, core);
    free(unit);
    return rc;
}
