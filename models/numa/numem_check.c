/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numem_check - what makes no sense in the description of a machine or a program. */
#include "models/numa/numem.h"

#include <errno.h>
#include <math.h>

int numem_fault_set(struct numem_fault *fault, struct numem_fault what)
{
    if (fault)
        *fault = what;
    errno = EINVAL;
    return -1;
}

/* Says what is wrong with a field of one value for each node. */
static int fault_node(struct numem_fault *fault, const char *field, size_t i, double value,
                      const char *why)
{
    return numem_fault_set(fault, (struct numem_fault){field, {i}, 1, value, why});
}

/* Returns NULL, or what is wrong with a bandwidth. */
static const char *bandwidth_fault(double gbps)
{
    if (isnan(gbps))
        return "not a number";
    if (gbps < 0)
        return "a bandwidth is not negative";
    return gbps > NUMEM_GBPS_MAX ? "a bandwidth is at most 1e12 GB/s" : NULL;
}

static const char *share_fault(double share)
{
    if (isnan(share))
        return "not a number";
    return share < 0 || share > 1 ? "a share is 0 to 1" : NULL;
}

static int check_nodes(const struct numem_machine *m, struct numem_fault *fault)
{
    const char *why;

    for (size_t i = 0; i < m->nodes; i++) {
        if (m->cores[i] > NUMEM_CORES_MAX)
            return fault_node(fault, "cores", i, m->cores[i], "a node has at most 4096 cores");
        why = bandwidth_fault(m->alpha[i]);
        if (why)
            return fault_node(fault, "alpha", i, m->alpha[i], why);
        why = share_fault(m->beta[i]);
        if (why)
            return fault_node(fault, "beta", i, m->beta[i], why);
    }
    return 0;
}

static int check_matrix(size_t nodes, const char *field, const double *matrix,
                        struct numem_fault *fault)
{
    for (size_t from = 0; from < nodes; from++)
        for (size_t to = 0; to < nodes; to++) {
            double value = matrix[from * nodes + to];
            const char *why = bandwidth_fault(value);

            if (why)
                return numem_fault_set(fault,
                                       (struct numem_fault){field, {from, to}, 2, value, why});
        }
    return 0;
}

/* Returns whether there is a link from x to y, that is no route over others. */
static bool is_link(const struct numem_machine *m, size_t x, size_t y)
{
    return m->uni_max[x * m->nodes + y] > 0 && m->route[x * m->nodes + y].hops <= 1;
}

/* Returns NULL, or what is wrong with hop h of the route. */
static const char *hop_fault(const struct numem_machine *m, size_t from, size_t to, size_t h)
{
    const struct numem_route *route = &m->route[from * m->nodes + to];
    const size_t *hop = route->hop[h];

    if (hop[0] >= m->nodes || hop[1] >= m->nodes)
        return "there is no such node";
    if (hop[0] == hop[1])
        return "a hop leads to another node";
    if (hop[0] != (h == 0 ? from : route->hop[h - 1][1]))
        return h == 0 ? "a route begins at its first node" : "a hop begins where the last one ends";
    if (h + 1 == route->hops && hop[1] != to)
        return "a route ends at its second node";
    for (size_t k = 0; k < h; k++)
        if (route->hop[k][0] == hop[1])
            return "a route does not come back";
    return is_link(m, hop[0], hop[1]) ? NULL : "there is no such link";
}

static int check_route(const struct numem_machine *m, size_t from, size_t to,
                       struct numem_fault *fault)
{
    const struct numem_route *route = &m->route[from * m->nodes + to];

    if (from == to && route->hops > 0)
        return numem_fault_set(
            fault, (struct numem_fault){
                       "route", {from, to}, 2, NAN, "nothing is sent from a node to itself"});
    for (size_t h = 0; h < route->hops; h++) {
        const char *why = hop_fault(m, from, to, h);

        if (why)
            return numem_fault_set(fault,
                                   (struct numem_fault){"route", {from, to, h}, 3, NAN, why});
    }
    return 0;
}

static int check_routes(const struct numem_machine *m, struct numem_fault *fault)
{
    for (size_t from = 0; m->route && from < m->nodes; from++)
        for (size_t to = 0; to < m->nodes; to++)
            if (check_route(m, from, to, fault) < 0)
                return -1;
    return 0;
}

int numem_check_machine(const struct numem_machine *m, struct numem_fault *fault)
{
    if (m->nodes < 1 || m->nodes > NUMEM_NODES_MAX)
        return numem_fault_set(
            fault, (struct numem_fault){
                       "nodes", {0}, 0, (double)m->nodes, "a machine has 1 to 256 nodes"});
    if (check_nodes(m, fault) < 0 || check_matrix(m->nodes, "uni_max", m->uni_max, fault) < 0 ||
        check_matrix(m->nodes, "bi_max", m->bi_max, fault) < 0)
        return -1;
    return check_routes(m, fault);
}

/* That no count of cores satisfies eq. 5.7 is not to be seen by a count alone. */
static int check_demand(const struct numem_machine *m, const struct numem_program *program,
                        size_t i, struct numem_fault *fault)
{
    for (size_t c = 0; c <= m->cores[i]; c++) {
        double value = program->local_demand[i][c];
        const char *why = bandwidth_fault(value);

        if (why)
            return numem_fault_set(fault,
                                   (struct numem_fault){"local_demand", {i, c}, 2, value, why});
    }
    return 0;
}

int numem_check_program(const struct numem_machine *m, const struct numem_program *program,
                        struct numem_fault *fault)
{
    for (size_t i = 0; i < m->nodes; i++)
        if (check_demand(m, program, i, fault) < 0)
            return -1;
    if (check_matrix(m->nodes, "read_solo", program->read_solo, fault) < 0)
        return -1;
    return check_matrix(m->nodes, "write_solo", program->write_solo, fault);
}
