/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax_impl - what the parts of the relaxation ask of it and of each other. */
#include "models/numa/relax_impl.h"

double relax_cores(const struct relax *r, size_t cell)
{
    return simplex_col_value(r->lp, r->cores + (int)cell);
}

size_t relax_sender(const struct relax *r, const struct flow *flow)
{
    return flow->program * r->nodes + flow->from;
}

bool relax_is_merged(const struct relax *r, size_t flow)
{
    return r->merged[relax_sender(r, &r->flows->flow[flow])] == r->amount[flow];
}
