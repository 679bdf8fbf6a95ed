/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measuring - see measuring.h */
#include "packer/size/measuring.h"

#include <math.h>

#define LINE_BYTES 64 /* where the topology does not tell it */

double measuring_line_bytes(const struct packer *packer)
{
    const struct topo *topo = packer->world.topo;

    return topo->llcs > 0 && topo_cache(topo)->line_bytes ? topo_cache(topo)->line_bytes
                                                          : LINE_BYTES;
}

size_t measuring_os_index(const struct measuring *m, size_t node)
{
    return m->packer->world.machine->node[node].os_index;
}

void measuring_error(struct measuring *m, double error)
{
    m->traffic->error = fmax(m->traffic->error, error);
}

bool measuring_grown(struct measuring *m, enum by_node_kind kind, double *values)
{
    const struct by_node *before = m->before->by_node, *after = m->after->by_node;

    if (!before || !after || !by_node_grown(before, after, kind, values))
        return false;
    for (size_t i = 0; i < m->n; i++)
        if (measuring_os_index(m, i) >= after->nodes)
            return false;
    measuring_error(m, after->error[kind]);
    return true;
}

double measuring_of_core(const struct measuring *m, double bytes, size_t node)
{
    return m->cores[node] > 0 ? bytes / m->seconds / m->cores[node] / 1e9 : 0;
}
