/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/flows_lp.h"

#define ROUNDING 1e-12 /* of sums, relative */

/* ---- who sends to whom ---- */

static double route_max(const struct numem_machine *m, size_t from, size_t to)
{
    size_t pair = from * m->nodes + to, back = to * m->nodes + from;
    double max = fmin(m->uni_max[pair], fmin(m->bi_max[pair], m->bi_max[back]));

    for (size_t h = 0; m->route && h < m->route[pair].hops; h++) {
        const size_t *hop = m->route[pair].hop[h];
        size_t out = hop[0] * m->nodes + hop[1], in = hop[1] * m->nodes + hop[0];

        max = fmin(max, fmin(m->uni_max[out], fmin(m->bi_max[out], m->bi_max[in])));
    }
    return max;
}

/* Appends the flow, if there is any. */
static void add_flow(struct flows *f, size_t p, size_t from, size_t to)
{
    const struct numem_machine *m = f->machine;
    size_t pair = from * m->nodes + to;
    struct flow flow = {.program = p, .from = from, .to = to};

    flow.read = f->program[p]->read_solo[pair];
    flow.write = f->program[p]->write_solo[pair];
    flow.max = fmin(route_max(m, from, to), flow.read * m->cores[to] + flow.write * m->cores[from]);
    if (flow.max > 0)
        f->flow[f->flows++] = flow;
}

static void add_flows(struct flows *f)
{
    size_t n = f->machine->nodes;

    for (size_t p = 0; p < f->programs; p++)
        for (size_t from = 0; from < n; from++)
            for (size_t to = 0; to < n; to++)
                if (from != to)
                    add_flow(f, p, from, to);
}

/* ---- over which links ---- */

/* For each ordered pair, the flows on it: those between the two, and those that pass. */
struct loads {
    size_t *start; /* pairs + 1: where each pair's begin in flow */
    size_t *flow;
};

/* Fills in the pairs that a flow loads: its own, and each hop where there are several. */
static size_t flow_pairs(const struct flows *f, const struct flow *flow, size_t *pair)
{
    const struct numem_machine *m = f->machine;
    size_t own = flow->from * m->nodes + flow->to, pairs = 0;

    pair[pairs++] = own;
    if (m->route && m->route[own].hops > 1)
        for (size_t h = 0; h < m->route[own].hops; h++)
            pair[pairs++] = m->route[own].hop[h][0] * m->nodes + m->route[own].hop[h][1];
    return pairs;
}

static int loads_fill(struct loads *loads, const struct flows *f)
{
    size_t n = f->machine->nodes, pair[NUMEM_HOPS_MAX + 1], total = 0;

    loads->start = calloc(n * n + 2, sizeof(*loads->start));
    if (!loads->start)
        return -1;
    for (size_t i = 0; i < f->flows; i++)
        for (size_t k = flow_pairs(f, &f->flow[i], pair); k > 0; k--, total++)
            loads->start[pair[k - 1] + 2]++;
    loads->flow = calloc(total + 1, sizeof(*loads->flow));
    if (!loads->flow)
        return -1;
    for (size_t k = 2; k <= n * n; k++)
        loads->start[k] += loads->start[k - 1];
    for (size_t i = 0; i < f->flows; i++)
        for (size_t k = flow_pairs(f, &f->flow[i], pair); k > 0; k--)
            loads->flow[loads->start[pair[k - 1] + 1]++] = i;
    return 0;
}

static size_t copy_load(const struct loads *loads, size_t pair, size_t *member)
{
    size_t flows = loads->start[pair + 1] - loads->start[pair];

    memcpy(member, &loads->flow[loads->start[pair]], flows * sizeof(*member));
    return flows;
}

/* The last `flows` members are together at most max: a link, where that says anything. A single
 * flow's own max says it already. */
static size_t add_link(struct flows *f, const size_t *member, size_t flows, double max)
{
    double sum = 0;

    for (size_t k = 0; k < flows; k++)
        sum += f->flow[member[k]].max;
    if (flows < 2 || sum <= max)
        return 0;
    f->link[f->links++] = (struct flow_link){.max = max, .flows = flows, .flow = member};
    return flows;
}

static void add_links(struct flows *f, const struct loads *loads)
{
    const struct numem_machine *m = f->machine;
    size_t n = m->nodes, *member = f->member, flows;

    for (size_t x = 0; x < n; x++)
        for (size_t y = 0; y < n; y++) {
            size_t pair = x * n + y, back = y * n + x;

            if (x == y || loads->start[pair] == loads->start[pair + 1])
                continue;
            flows = copy_load(loads, pair, member);
            member += add_link(f, member, flows, m->uni_max[pair]);
            if (x > y && loads->start[back] != loads->start[back + 1])
                continue; /* the two ways together were looked at from the other side */
            flows = copy_load(loads, pair, member);
            flows += copy_load(loads, back, member + flows);
            member += add_link(f, member, flows, fmin(m->bi_max[pair], m->bi_max[back]));
        }
}

static int find_links(struct flows *f)
{
    size_t pairs = f->machine->nodes * f->machine->nodes;
    struct loads loads = {0};
    int rc = loads_fill(&loads, f);

    if (rc == 0) {
        /* a pair is in a link of one way, and in one of both ways */
        f->member = calloc(2 * loads.start[pairs] + 1, sizeof(*f->member));
        f->link = calloc(2 * pairs, sizeof(*f->link));
        rc = f->member && f->link ? 0 : -1;
    }
    if (rc == 0)
        add_links(f, &loads);
    free(loads.start);
    free(loads.flow);
    return rc;
}

struct flows *flows_new(const struct numem_machine *machine,
                        const struct numem_program *const *program, size_t programs)
{
    struct flows *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    *f = (struct flows){.machine = machine, .program = program, .programs = programs};
    f->flow = calloc(programs * machine->nodes * machine->nodes, sizeof(*f->flow));
    if (f->flow)
        add_flows(f);
    if (!f->flow || find_links(f) < 0) {
        flows_free(f);
        errno = ENOMEM;
        return NULL;
    }
    return f;
}

void flows_free(struct flows *f)
{
    if (!f)
        return;
    flows_lp_free(f->lp);
    free(f->flow);
    free(f->link);
    free(f->member);
    free(f);
}

/* ---- how much of it there is ---- */

/* One program: a node's own cores get what they ask for, as far as the memory has it: with beta <=
 * 1, what they leave is as good as what another share would bring. False where eq. 5.7 has no
 * solution. */
static bool serve_locals(const struct flows *f, const unsigned *allocation, double *local)
{
    const struct numem_machine *m = f->machine;

    for (size_t i = 0; i < m->nodes; i++) {
        double demand = f->program[0]->local_demand[i][allocation[i]];

        if (m->beta[i] * demand > m->alpha[i])
            return false;
        local[i] = fmin(demand, m->alpha[i]);
    }
    return true;
}

/* Each flow gets what its cores ask for, in equal parts where a memory has less: the most that each
 * node can send. Returns false where a link has not as much. */
static bool share_out(const struct flows *f, const unsigned *allocation, const double *local,
                      double *amount)
{
    const struct numem_machine *m = f->machine;
    double wanted[NUMEM_NODES_MAX] = {0};

    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];

        amount[k] = flow_cap(flow, allocation[flow->from], allocation[flow->to]);
        wanted[flow->from] += amount[k];
    }
    for (size_t k = 0; k < f->flows; k++) {
        size_t from = f->flow[k].from;
        double left = m->alpha[from] - local[from];

        if (wanted[from] > left)
            amount[k] *= left / wanted[from];
    }
    for (size_t k = 0; k < f->links; k++) {
        double load = 0;

        for (size_t j = 0; j < f->link[k].flows; j++)
            load += amount[f->link[k].flow[j]];
        if (load > f->link[k].max)
            return false;
    }
    return true;
}

/* One program: returns whether the most that each node can send is wanted. */
static bool is_wanted(const struct flows *f, const struct flows_aim *aim, const double *local,
                      const double *amount)
{
    double sum = flows_bandwidth(f, 0, local, amount);

    return (aim->gain ? aim->gain[0] : 1) * sum > aim->above - ROUNDING * fabs(aim->above);
}

int flows_solve(struct flows *f, const unsigned *allocation, const struct flows_aim *aim,
                double *local, double *amount)
{
    if (f->programs == 1) {
        if (!serve_locals(f, allocation, local))
            return 1;
        if (share_out(f, allocation, local, amount))
            return 0;
        if (!is_wanted(f, aim, local, amount))
            return 1;
    }
    if (!f->lp)
        f->lp = flows_lp_new(f, aim);
    return f->lp ? flows_lp_solve(f->lp, allocation, aim->above, local, amount) : -1;
}

double flows_bandwidth(const struct flows *f, size_t program, const double *local,
                       const double *amount)
{
    size_t n = f->machine->nodes;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += local[program * n + i];
    for (size_t k = 0; k < f->flows; k++)
        if (f->flow[k].program == program)
            sum += amount[k];
    return sum;
}

double flows_worth(const struct flows *f, const struct flows_aim *aim, const double *local,
                   const double *amount)
{
    double worth = 0, price = flows_short(f, aim);

    for (size_t p = 0; p < f->programs; p++) {
        double bandwidth = flows_bandwidth(f, p, local, amount);

        worth += (aim->gain ? aim->gain[p] : 1) * bandwidth;
        if (aim->floor)
            worth -= price * fmax(0, aim->floor[p] - bandwidth);
    }
    return worth;
}
