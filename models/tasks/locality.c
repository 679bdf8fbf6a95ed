/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/locality.h"

void locality_similarity(const struct locality *locality, size_t task, double *row)
{
    for (size_t n = 0; n < locality->nodes; n++)
        row[n] = 0;
    for (size_t i = locality->first[task]; i < locality->first[task + 1]; i++) {
        size_t node = locality->node[locality->use[i]];

        if (node != LOCALITY_NOWHERE)
            row[node]++;
    }
    for (size_t n = 0; n < locality->nodes && locality->objects; n++)
        row[n] /= (double)locality->objects;
}

size_t locality_node(size_t nodes, const double *row)
{
    size_t best = LOCALITY_NOWHERE;

    for (size_t n = 0; n < nodes; n++)
        if (row[n] > (best == LOCALITY_NOWHERE ? 0 : row[best]))
            best = n;
    return best;
}
