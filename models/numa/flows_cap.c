/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flows_cap - what a flow can have at most, and which nodes have any. */
#include <math.h>

#include "models/numa/flows.h"

double flow_cap(const struct flow *flow, double cores_from, double cores_to)
{
    return fmin(flow->max, flow->read * cores_to + flow->write * cores_from);
}

bool flows_in(const struct flows *f, size_t node)
{
    return !f->in || f->in[node];
}
