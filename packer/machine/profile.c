/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile - see machine/profile.h. Its JSON is in profile_json.c, its file in
 * profile_file.c. */
#include "packer/machine/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* count figures of which nothing is known; NULL: no memory. */
static struct machine_figure *new_figures(size_t count)
{
    struct machine_figure *figure = calloc(count, sizeof(*figure));

    for (size_t i = 0; figure && i < count; i++)
        figure[i] = (struct machine_figure){NAN, NAN};
    return figure;
}

static int init_nodes(struct machine_profile *profile, const size_t *cores)
{
    for (size_t i = 0; i < profile->nodes; i++) {
        struct machine_node *node = &profile->node[i];

        *node = (struct machine_node){
            .os_index = (unsigned)i,
            .cores = cores[i],
            .local = new_figures(cores[i] + 1),
            .triad = new_figures(cores[i] + 1),
            .cache = {NAN, NAN},
            .alpha = {NAN, NAN},
            .beta = {NAN, NAN},
            .correlation = NAN,
        };
        if (!node->local || !node->triad)
            return -1;
        node->local[0].value = node->triad[0].value = 0;
    }
    return 0;
}

struct machine_profile *machine_profile_new(size_t nodes, const size_t *cores)
{
    struct machine_profile *profile;
    bool valid = nodes >= 1 && nodes <= MACHINE_NODES_MAX;

    for (size_t i = 0; valid && i < nodes; i++)
        valid = cores[i] >= 1 && cores[i] <= MACHINE_CORES_MAX;
    if (!valid) {
        errno = EINVAL;
        return NULL;
    }
    profile = calloc(1, sizeof(*profile));
    if (!profile)
        return NULL;
    profile->nodes = nodes;
    machine_dram_init(&profile->dram);
    profile->suspend_ns = (struct machine_figure){NAN, NAN};
    profile->clock.one_ghz = profile->clock.half_ghz = profile->clock.all_ghz = NAN;
    profile->node = calloc(nodes, sizeof(*profile->node));
    profile->uni = new_figures(nodes * nodes);
    profile->bi = new_figures(nodes * nodes);
    profile->latency_ns = new_figures(nodes * nodes);
    profile->core_latency = new_figures(nodes * nodes);
    profile->route = calloc(nodes * nodes, sizeof(*profile->route));
    if (profile->node && profile->uni && profile->bi && profile->latency_ns &&
        profile->core_latency && profile->route && init_nodes(profile, cores) == 0)
        return profile;
    machine_profile_free(profile);
    errno = ENOMEM;
    return NULL;
}

void machine_profile_free(struct machine_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; profile->node && i < profile->nodes; i++) {
        free(profile->node[i].local);
        free(profile->node[i].triad);
    }
    for (size_t i = 0; profile->route && i < profile->nodes * profile->nodes; i++)
        free(profile->route[i].node);
    free(profile->node);
    free(profile->uni);
    free(profile->bi);
    free(profile->latency_ns);
    free(profile->core_latency);
    free(profile->route);
    free(profile);
}

long machine_profile_node(const struct machine_profile *profile, size_t os_index)
{
    for (size_t i = 0; profile && i < profile->nodes; i++)
        if (profile->node[i].os_index == os_index)
            return (long)i;
    return -1;
}

int machine_profile_set_route(struct machine_profile *profile, const size_t *node, size_t hops)
{
    struct machine_route *route = &profile->route[node[0] * profile->nodes + node[hops]];
    size_t *copy = calloc(hops + 1, sizeof(*copy));

    if (!copy)
        return -1;
    memcpy(copy, node, (hops + 1) * sizeof(*copy));
    free(route->node);
    *route = (struct machine_route){.hops = hops, .node = copy};
    return 0;
}

const struct machine_route *machine_profile_route(const struct machine_profile *profile,
                                                  size_t from, size_t to)
{
    return &profile->route[from * profile->nodes + to];
}

double machine_profile_local(const struct machine_profile *profile, size_t node, size_t cores)
{
    const struct machine_node *of = &profile->node[node];
    size_t below, above;

    if (cores > of->cores)
        cores = of->cores;
    for (below = cores; below > 0 && isnan(of->local[below].value);)
        below--;
    for (above = cores; above < of->cores && isnan(of->local[above].value);)
        above++;
    if (above == below)
        return of->local[cores].value;
    return of->local[below].value + (of->local[above].value - of->local[below].value) *
                                        (double)(cores - below) / (double)(above - below);
}

/* ---- for NuMem ---- */

/* What machine_profile_numem returns is the first field of it. */
struct numem_copy {
    struct numem_machine machine;
    unsigned *cores;
    double *alpha, *beta, *uni, *bi; /* in one array, from alpha on */
    struct numem_route *route;
    size_t (*hop)[2]; /* of all routes */
};

void machine_profile_numem_free(struct numem_machine *machine)
{
    struct numem_copy *copy = (struct numem_copy *)machine;

    if (!copy)
        return;
    free(copy->cores);
    free(copy->alpha);
    free(copy->route);
    free(copy->hop);
    free(copy);
}

static struct numem_copy *new_copy(const struct machine_profile *profile)
{
    size_t nodes = profile->nodes, pairs = nodes * nodes, hops = 1;
    struct numem_copy *copy = calloc(1, sizeof(*copy));

    if (!copy)
        return NULL;
    for (size_t i = 0; i < pairs; i++)
        hops += profile->route[i].hops;
    copy->cores = calloc(nodes, sizeof(*copy->cores));
    copy->alpha = calloc(2 * (nodes + pairs), sizeof(*copy->alpha));
    copy->route = calloc(pairs, sizeof(*copy->route));
    copy->hop = calloc(hops, sizeof(*copy->hop));
    if (!copy->cores || !copy->alpha || !copy->route || !copy->hop) {
        machine_profile_numem_free(&copy->machine);
        return NULL;
    }
    copy->beta = copy->alpha + nodes;
    copy->uni = copy->beta + nodes;
    copy->bi = copy->uni + pairs;
    copy->machine = (struct numem_machine){nodes,     copy->cores, copy->alpha, copy->beta,
                                           copy->uni, copy->bi,    copy->route};
    return copy;
}

static int copy_nodes(struct numem_copy *copy, const struct machine_profile *profile,
                      struct berth_error *err)
{
    for (size_t i = 0; i < profile->nodes; i++) {
        const struct machine_node *node = &profile->node[i];

        copy->cores[i] = (unsigned)node->cores;
        copy->alpha[i] = node->alpha.value;
        copy->beta[i] = node->beta.value;
        if (profile->nodes == 1 && isnan(node->alpha.value)) {
            copy->beta[i] = 0;
            for (size_t c = 1; c <= node->cores; c++)
                copy->alpha[i] = fmax(copy->alpha[i], node->local[c].value); /* NAN: the other */
        }
        if (isnan(copy->alpha[i]))
            return berth_error_set(err, "nodes[%zu].alpha_gbps: not known", i);
        if (isnan(copy->beta[i]))
            return berth_error_set(err, "nodes[%zu].beta: not known", i);
    }
    return 0;
}

/* Bandwidths between two nodes. */
static int copy_pair(struct numem_copy *copy, const struct machine_profile *profile, size_t from,
                     size_t to, struct berth_error *err)
{
    size_t pair = from * profile->nodes + to;

    copy->uni[pair] = profile->uni[pair].value;
    copy->bi[pair] = profile->bi[pair].value;
    if (isnan(copy->uni[pair]))
        return berth_error_set(err, "uni_gbps[%zu][%zu]: not known", from, to);
    if (isnan(copy->bi[pair]))
        return berth_error_set(err, "bi_gbps[%zu][%zu]: not known", from, to);
    return 0;
}

static void copy_routes(struct numem_copy *copy, const struct machine_profile *profile)
{
    size_t(*hop)[2] = copy->hop;

    for (size_t i = 0; i < profile->nodes * profile->nodes; i++) {
        const struct machine_route *route = &profile->route[i];

        copy->route[i] = (struct numem_route){route->hops, (const size_t(*)[2])hop};
        for (size_t h = 0; h < route->hops; h++, hop++) {
            (*hop)[0] = route->node[h];
            (*hop)[1] = route->node[h + 1];
        }
    }
}

struct numem_machine *machine_profile_numem(const struct machine_profile *profile,
                                            struct berth_error *err)
{
    struct numem_copy *copy = new_copy(profile);
    int rc;

    if (!copy) {
        berth_no_memory(err);
        return NULL;
    }
    rc = copy_nodes(copy, profile, err);
    for (size_t i = 0; rc == 0 && i < profile->nodes; i++)
        for (size_t j = 0; rc == 0 && j < profile->nodes; j++)
            if (i != j)
                rc = copy_pair(copy, profile, i, j, err);
    if (rc < 0) {
        machine_profile_numem_free(&copy->machine);
        return NULL;
    }
    copy_routes(copy, profile);
    return &copy->machine;
}
