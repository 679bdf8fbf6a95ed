/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile_json - a machine profile from JSON and to it (machine/profile.h).
 *
 * QUANTITY_UNIT and QUANTITY_spread may be absent, and any number in them null: not known. A file
 * is for people: six digits of a figure are more than any measurement has. */
#include <stdio.h>
#include <stdlib.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/machine/profile.h"

#define FORMAT 1
#define FIGURE_MAX 1e12

/* ---- the fields ---- */

#define HEAD(member) JSON_FIELD(struct machine_profile, #member, member, OPTIONAL)
#define NUMBER .kind = JSON_NUMBER, .format = "%.6g"
#define OF_NODE(key, member, most)                                                                 \
    {                                                                                              \
        JSON_AT(struct machine_node, key, member, OPTIONAL), NUMBER, .max = (most)                 \
    }

#define GHZ(member)                                                                                \
    {                                                                                              \
        JSON_AT(struct clock_curve, #member, member, OPTIONAL), NUMBER, .max = FIGURE_MAX          \
    }
static const struct json_field clock_fields[] = {
    GHZ(one_ghz), GHZ(half_ghz),
    GHZ(all_ghz), JSON_RANGE(struct clock_curve, "cores", cores, REQUIRED, 1, MACHINE_CORES_MAX),
    JSON_END,
};
static const struct json_field clock_field =
    JSON_NESTED(struct machine_profile, "clock", clock, OPTIONAL, clock_fields);

#define SUSPEND(key, part)                                                                         \
    {                                                                                              \
        JSON_AT(struct machine_profile, key, suspend_ns.part, OPTIONAL), NUMBER, .max = FIGURE_MAX \
    }
static const struct json_field head_fields[] = {
    HEAD(source),
    HEAD(host),
    HEAD(cpu),
    HEAD(date),
    HEAD(runs),
    SUSPEND("suspend_ns", value),
    SUSPEND("suspend_spread", spread),
    JSON_NESTED(struct machine_profile, "dram", dram, OPTIONAL, machine_dram_fields),
    JSON_END,
};

static const struct json_field node_fields[] = {
    JSON_FIELD(struct machine_node, "node", os_index, OPTIONAL),
    JSON_FIELD(struct machine_node, "cpus", cpus, OPTIONAL),
    JSON_RANGE(struct machine_node, "cores", cores, REQUIRED, 1, MACHINE_CORES_MAX),
    OF_NODE("cache_gbps", cache.value, FIGURE_MAX),
    OF_NODE("cache_spread", cache.spread, FIGURE_MAX),
    OF_NODE("alpha_gbps", alpha.value, FIGURE_MAX),
    OF_NODE("alpha_spread", alpha.spread, FIGURE_MAX),
    OF_NODE("beta", beta.value, 1),
    OF_NODE("beta_spread", beta.spread, FIGURE_MAX),
    OF_NODE("correlation", correlation, 1),
    JSON_END,
};

/* Only how many cores a node has. */
static const struct json_field cores_fields[] = {
    {.name = "cores",
     .kind = JSON_UNSIGNED,
     .need = JSON_REQUIRED,
     .size = sizeof(size_t),
     .min = 1,
     .max = MACHINE_CORES_MAX},
    JSON_END,
};
static const struct json_field cores_item = {
    .kind = JSON_STRUCT, .need = JSON_REQUIRED, .fields = cores_fields};

/* A list of figures, or a matrix of them: its values are one field, their spreads another. */
struct figures {
    const char *value, *spread;
    size_t offset; /* of the pointer to the first one */
};

static const struct figures node_figures[] = {
    {"local_gbps", "local_spread", offsetof(struct machine_node, local)},
    {"triad_gbps", "triad_spread", offsetof(struct machine_node, triad)},
    {NULL, NULL, 0},
};
static const struct figures pair_figures[] = {
    {"uni_gbps", "uni_spread", offsetof(struct machine_profile, uni)},
    {"bi_gbps", "bi_spread", offsetof(struct machine_profile, bi)},
    {"latency_ns", "latency_spread", offsetof(struct machine_profile, latency_ns)},
    {"core_latency_ns", "core_latency_spread", offsetof(struct machine_profile, core_latency)},
    {NULL, NULL, 0},
};
static const struct json_field figure_item = {NUMBER, .max = FIGURE_MAX};

/* A link of a route: two nodes. */
static const struct json_field end_item = {
    .kind = JSON_UNSIGNED, .need = JSON_REQUIRED, .size = sizeof(size_t)};
static const struct json_field link_item = {.kind = JSON_LIST,
                                            .need = JSON_REQUIRED,
                                            .size = 2 * sizeof(size_t),
                                            .n = 2,
                                            .fields = &end_item};

/* ---- reading ---- */

/* Reads one of the two numbers of each figure: of a list of n, or of a matrix of so many rows. */
static int read_numbers(struct json_object *object, const char *key, size_t rows, size_t n,
                        double *first, struct berth_error *err)
{
    struct json_object *list = json_find(object, key);
    size_t stride = sizeof(struct machine_figure);

    if (!list)
        return 0;
    return rows ? json_get_matrix(list, key, rows, n, &figure_item, first, stride, err)
                : json_get_list(list, key, n, &figure_item, first, stride, err);
}

static int read_figures(struct json_object *object, const struct figures *figures, const void *of,
                        size_t rows, size_t n, struct berth_error *err)
{
    for (; figures->value; figures++) {
        struct machine_figure *first =
            *(struct machine_figure *const *)((const char *)of + figures->offset);

        if (read_numbers(object, figures->value, rows, n, &first->value, err) < 0 ||
            read_numbers(object, figures->spread, rows, n, &first->spread, err) < 0)
            return -1;
    }
    return 0;
}

/* Reads [[from,x],[x,to]]; null and [] mean that the way is not known. */
static int read_route(struct json_object *links, size_t from, size_t to,
                      struct machine_profile *profile, struct berth_error *err)
{
    size_t n = links ? json_object_array_length(links) : 0, link[MACHINE_NODES_MAX][2];
    size_t node[MACHINE_NODES_MAX] = {from};
    char name[64];

    if (n == 0)
        return 0;
    snprintf(name, sizeof(name), "route[%zu][%zu]", from, to);
    if (n >= MACHINE_NODES_MAX)
        return berth_error_set(err, "%s: at most %d links expected, not %zu", name,
                               MACHINE_NODES_MAX - 1, n);
    if (json_get_list(links, name, n, &link_item, link, sizeof(link[0]), err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (link[i][0] != node[i] || link[i][1] >= profile->nodes)
            return berth_error_set(err, "%s[%zu]: a link [%zu,x] to a node x expected", name, i,
                                   node[i]);
        node[i + 1] = link[i][1];
    }
    if (node[n] != to)
        return berth_error_set(err, "%s: ends at node %zu", name, node[n]);
    return machine_profile_set_route(profile, node, n) < 0 ? berth_no_memory(err) : 0;
}

static int read_routes(struct json_object *object, struct machine_profile *profile,
                       struct berth_error *err)
{
    static const struct json_field item = {.kind = JSON_ANY_ARRAY};
    struct json_object *rows = json_find(object, "route"), **links;
    size_t n = profile->nodes;
    int rc;

    if (!rows)
        return 0;
    links = calloc(n * n, sizeof(*links));
    if (!links)
        return berth_no_memory(err);
    rc = json_get_matrix(rows, "route", n, n, &item, links, sizeof(*links), err);
    for (size_t k = 0; rc == 0 && k < n * n; k++)
        rc = read_route(links[k], k / n, k % n, profile, err);
    free(links);
    return rc;
}

/* The empty profile for "nodes": how many there are, and of how many cores. */
static struct machine_profile *new_profile(struct json_object *nodes, struct berth_error *err)
{
    size_t n = json_object_array_length(nodes), cores[MACHINE_NODES_MAX];
    struct machine_profile *profile = NULL;

    if (n == 0 || n > MACHINE_NODES_MAX)
        berth_error_set(err, "nodes: 1 to %d expected, not %zu", MACHINE_NODES_MAX, n);
    else if (json_get_list(nodes, "nodes", n, &cores_item, cores, sizeof(cores[0]), err) == 0 &&
             !(profile = machine_profile_new(n, cores)))
        berth_no_memory(err);
    return profile;
}

static int read_nodes(struct json_object *nodes, struct machine_profile *profile,
                      struct berth_error *err)
{
    for (size_t i = 0; i < profile->nodes; i++) {
        struct json_object *object = json_object_array_get_idx(nodes, i);
        struct machine_node *node = &profile->node[i];

        if (json_read(object, node_fields, node, err) < 0 ||
            read_figures(object, node_figures, node, 0, node->cores + 1, err) < 0)
            return berth_error_before(err, "nodes[%zu].", i);
        for (size_t j = 0; j < i; j++)
            if (profile->node[j].os_index == node->os_index)
                return berth_error_set(err, "nodes[%zu].node: %u is there twice", i,
                                       node->os_index);
    }
    return 0;
}

struct machine_profile *machine_profile_parse(struct json_object *object, struct berth_error *err)
{
    struct machine_profile *profile;
    struct json_object *nodes;
    uint32_t version = 0;

    if (json_get_u32(object, "version", JSON_REQUIRED, &version, err) < 0)
        return NULL;
    if (version != FORMAT) {
        berth_error_set(err, "version: %u: this berth reads version %d", version, FORMAT);
        return NULL;
    }
    if (json_get_array(object, "nodes", JSON_REQUIRED, &nodes, err) < 0)
        return NULL;
    profile = new_profile(nodes, err);
    if (profile && json_read(object, head_fields, profile, err) == 0 &&
        read_nodes(nodes, profile, err) == 0 &&
        read_figures(object, pair_figures, profile, profile->nodes, profile->nodes, err) == 0 &&
        read_routes(object, profile, err) == 0 &&
        json_get(object, &clock_field, &profile->clock, err) == 0 &&
        machine_adapt_read(object, "adapt", &profile->adapt, err) == 0)
        return profile;
    machine_profile_free(profile);
    return NULL;
}

/* ---- writing ---- */

static void add_figures(struct json_object *object, const struct figures *figures, const void *of,
                        size_t rows, size_t n)
{
    size_t stride = sizeof(struct machine_figure);

    for (; figures->value; figures++) {
        const struct machine_figure *first =
            *(struct machine_figure *const *)((const char *)of + figures->offset);

        json_add(object, figures->value,
                 rows ? json_new_matrix(rows, n, &figure_item, &first->value, stride)
                      : json_new_list(n, &figure_item, &first->value, stride));
        json_add(object, figures->spread,
                 rows ? json_new_matrix(rows, n, &figure_item, &first->spread, stride)
                      : json_new_list(n, &figure_item, &first->spread, stride));
    }
}

static struct json_object *new_node(const struct machine_node *node)
{
    struct json_object *object = json_object_new_object();

    json_write(object, node_fields, node);
    add_figures(object, node_figures, node, 0, node->cores + 1);
    return object;
}

/* A link for each node but the last: that node, and the next one. */
static struct json_object *new_route(const struct machine_route *route)
{
    return route->hops ? json_new_list(route->hops, &link_item, route->node, sizeof(size_t)) : NULL;
}

static struct json_object *new_routes(const struct machine_profile *profile)
{
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < profile->nodes; i++) {
        struct json_object *row = json_object_new_array();

        for (size_t j = 0; j < profile->nodes; j++)
            json_append(row, new_route(machine_profile_route(profile, i, j)));
        json_append(rows, row);
    }
    return rows;
}

struct json_object *machine_profile_json(const struct machine_profile *profile)
{
    struct json_object *object = json_object_new_object(), *nodes = json_object_new_array();

    json_add_u64(object, "version", FORMAT);
    json_write(object, head_fields, profile);
    for (size_t i = 0; i < profile->nodes; i++)
        json_append(nodes, new_node(&profile->node[i]));
    json_add(object, "nodes", nodes);
    add_figures(object, pair_figures, profile, profile->nodes, profile->nodes);
    json_add(object, "route", new_routes(profile));
    if (clock_is_known(&profile->clock)) {
        struct json_object *clock = json_object_new_object();

        json_write(clock, clock_fields, &profile->clock);
        json_add(object, "clock", clock);
    }
    if (profile->adapt.known)
        json_add(object, "adapt", machine_adapt_json(&profile->adapt));
    return object;
}
