/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/numem_constraint.h"

#include <math.h>
#include <string.h>

#define FULL 1e-9  /* of a limit: so near to it is at it */
#define GROWS 1e-3 /* GB/s that another core must get: as many as NuCore pays for it */

struct scene {
    const struct flows *f;
    const unsigned *allocation; /* of each cell */
    const double *local, *amount;
    size_t program;
    const unsigned *most;           /* cores of each node that it may have; NULL: all */
    double out[NUMEM_NODES_MAX];    /* of each memory, to other nodes */
    double demand[NUMEM_NODES_MAX]; /* of each node's cores, of their own memory */
    double asked[NUMEM_NODES_MAX];  /* of each memory, by other nodes */
    bool full[NUMEM_NODES_MAX];     /* each memory delivers what it can */
};

/* Is there no room for what another core must get? */
static bool is_full(double load, double max)
{
    return load > max - GROWS;
}

static unsigned cores_of(const struct scene *l, size_t program, size_t node)
{
    return l->allocation[program * l->f->machine->nodes + node];
}

static unsigned most_of(const struct scene *l, size_t node)
{
    return l->most ? l->most[node] : l->f->machine->cores[node];
}

static void sum_up(struct scene *l)
{
    const struct numem_machine *m = l->f->machine;
    double used[NUMEM_NODES_MAX] = {0};

    for (size_t p = 0; p < l->f->programs; p++)
        for (size_t i = 0; i < m->nodes; i++) {
            used[i] += l->local[p * m->nodes + i];
            l->demand[i] += l->f->program[p]->local_demand[i][cores_of(l, p, i)];
        }
    for (size_t k = 0; k < l->f->flows; k++) {
        const struct flow *flow = &l->f->flow[k];

        l->out[flow->from] += l->amount[k];
        l->asked[flow->from] += flow_cap(flow, cores_of(l, flow->program, flow->from),
                                         cores_of(l, flow->program, flow->to));
    }
    for (size_t i = 0; i < m->nodes; i++)
        l->full[i] = used[i] + l->out[i] > 0 && is_full(used[i] + l->out[i], m->alpha[i]);
}

/* A memory that is full, and others have some of it: do they work on it alone (fully shared data),
 * or on memories of their own as well? */
static enum numem_constraint shared_limit(const struct scene *l, size_t node)
{
    for (size_t k = 0; k < l->f->flows; k++) {
        const struct flow *flow = &l->f->flow[k];

        if (flow->from == node && flow->read > 0 && l->demand[flow->to] > GROWS)
            return NUMEM_CONTENTION;
    }
    return NUMEM_MAX_OUT;
}

static enum numem_constraint memory_limit(const struct scene *l, size_t node)
{
    return l->asked[node] > 0 ? shared_limit(l, node) : NUMEM_LOCAL_BANDWIDTH;
}

/* Does the node's own memory give its cores no more, or would more cores not ask for more? */
static bool is_local_limit(const struct scene *l, size_t node)
{
    const double *demand = l->f->program[l->program]->local_demand[node];
    unsigned cores = cores_of(l, l->program, node);

    for (unsigned c = cores + 1; c <= most_of(l, node); c++)
        if (demand[c] - demand[cores] > GROWS * (c - cores))
            return false;
    return cores < most_of(l, node) && demand[cores] > 0;
}

/* Returns whether the flow is at what its links allow, and its cores would ask for more. */
static bool is_link_limit(const struct scene *l, size_t k)
{
    const struct flow *flow = &l->f->flow[k];
    double wanted = flow->read * cores_of(l, flow->program, flow->to) +
                    flow->write * cores_of(l, flow->program, flow->from);

    if (wanted > flow->max && is_full(l->amount[k], flow->max))
        return true;
    return l->amount[k] < fmin(wanted, flow->max) * (1 - FULL) && !l->full[flow->from];
}

/* Returns what limits the node's reading from others, and others' reading from it; and where. */
static enum numem_constraint flow_limit(const struct scene *l, size_t node, size_t where[2])
{
    bool spare = cores_of(l, l->program, node) < most_of(l, node);
    enum numem_constraint found = NUMEM_NONE;

    for (size_t k = 0; k < l->f->flows; k++) {
        const struct flow *flow = &l->f->flow[k];

        if (flow->program != l->program || (flow->from != node && flow->to != node))
            continue;
        if (is_link_limit(l, k)) {
            where[0] = flow->from;
            where[1] = flow->to;
            return NUMEM_LINK;
        }
        if (spare && flow->to == node && flow->read > 0 && l->full[flow->from]) {
            found = shared_limit(l, flow->from);
            where[0] = where[1] = flow->from;
        }
    }
    return found;
}

static void find_constraints(const struct flows *flows, const unsigned *allocation,
                             const double *local, const double *amount, size_t program,
                             const unsigned *most, enum numem_constraint *constraint,
                             size_t (*where)[2])
{
    struct scene l = {.f = flows,
                      .allocation = allocation,
                      .local = local,
                      .amount = amount,
                      .program = program,
                      .most = most};

    sum_up(&l);
    for (size_t i = 0; i < flows->machine->nodes; i++) {
        size_t at[2] = {i, i};

        constraint[i] = l.full[i] ? memory_limit(&l, i) : flow_limit(&l, i, at);
        if (constraint[i] == NUMEM_NONE && is_local_limit(&l, i))
            constraint[i] = NUMEM_LOCAL_BANDWIDTH;
        if (where)
            memcpy(where[i], at, sizeof(at));
    }
}

void constraint_fill_usage(const struct flows *flows, const unsigned *allocation,
                           const double *local, const double *amount, size_t program,
                           const unsigned *most, struct numem_usage *usage)
{
    size_t n = flows->machine->nodes;

    usage->bandwidth = flows_bandwidth(flows, program, local, amount);
    for (size_t i = 0; usage->local && i < n; i++)
        usage->local[i] = local[program * n + i];
    for (size_t k = 0; usage->inter && k < n * n; k++)
        usage->inter[k] = 0;
    for (size_t k = 0; k < flows->flows; k++) {
        const struct flow *flow = &flows->flow[k];

        if (usage->inter && flow->program == program)
            usage->inter[flow->from * n + flow->to] = amount[k];
    }
    if (usage->constraint)
        find_constraints(flows, allocation, local, amount, program, most, usage->constraint,
                         usage->where);
}
