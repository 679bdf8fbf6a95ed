/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile_read - a machine profile from its JSON, every field checked.
 *
 * QUANTITY_UNIT and QUANTITY_spread may be absent, and any number in them null: not known. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/machine/profile_fields.h"

#define FIGURE_MAX 1e12
#define FILE_BYTES_MAX (64u << 20)

/* A number from 0 to `most`, or null: NAN. 0, or -1 and err without the name. */
static int read_value(struct json_object *value, double most, double *out, struct berth_error *err)
{
    if (!value) {
        *out = NAN;
        return 0;
    }
    if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
        return berth_error_set(err, "a number or null expected, not %s",
                               json_type_to_name(json_object_get_type(value)));
    *out = json_object_get_double(value);
    if (!(*out >= 0 && *out <= most))
        return berth_error_set(err, "%.12g: between 0 and %g, or null, expected", *out, most);
    return 0;
}

static int read_field(struct json_object *object, const char *key, double most, double *out,
                      struct berth_error *err)
{
    struct berth_error why;

    if (read_value(json_object_object_get(object, key), most, out, &why) < 0)
        return berth_error_set(err, "%s: %.400s", key, why.text);
    return 0;
}

/* An array of n numbers: the values, or the spreads, of n figures. */
static int read_row(struct json_object *list, size_t n, bool spread, struct machine_figure *figure,
                    struct berth_error *err)
{
    struct berth_error why;

    if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) != n)
        return berth_error_set(err, ": an array of %zu expected", n);
    for (size_t i = 0; i < n; i++) {
        double *out = spread ? &figure[i].spread : &figure[i].value;

        if (read_value(json_object_array_get_idx(list, i), FIGURE_MAX, out, &why) < 0)
            return berth_error_set(err, "[%zu]: %.400s", i, why.text);
    }
    return 0;
}

/* The field `key` as such an array; absent: nothing is known. */
static int read_list(struct json_object *object, const char *key, size_t n, bool spread,
                     struct machine_figure *figure, struct berth_error *err)
{
    struct json_object *list = json_object_object_get(object, key);
    struct berth_error why;

    if (list && read_row(list, n, spread, figure, &why) < 0)
        return berth_error_set(err, "%s%.400s", key, why.text);
    return 0;
}

static int read_matrix(struct json_object *object, const char *key, bool spread,
                       struct machine_profile *profile, struct machine_figure *figure,
                       struct berth_error *err)
{
    struct json_object *rows = json_object_object_get(object, key);
    size_t n = profile->nodes;
    struct berth_error why;

    if (!rows)
        return 0;
    if (!json_object_is_type(rows, json_type_array) || json_object_array_length(rows) != n)
        return berth_error_set(err, "%s: an array of %zu arrays expected, one for each of nodes",
                               key, n);
    for (size_t i = 0; i < n; i++)
        if (read_row(json_object_array_get_idx(rows, i), n, spread, &figure[i * n], &why) < 0)
            return berth_error_set(err, "%s[%zu]%.400s", key, i, why.text);
    return 0;
}

static int read_cpus(struct json_object *object, struct cpus *cpus, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "";

    if (json_get_text(object, "cpus", JSON_OPTIONAL, text, sizeof(text), err) < 0)
        return -1;
    if (cpus_parse(cpus, text) < 0)
        return berth_error_set(err, "cpus: '%.64s': a list such as 0-5,12 expected", text);
    return 0;
}

static int read_node(struct json_object *object, struct machine_node *node, struct berth_error *err)
{
    if (json_get_u32(object, "node", JSON_OPTIONAL, &node->os_index, err) < 0 ||
        read_cpus(object, &node->cpus, err) < 0 ||
        read_list(object, "local_gbps", node->cores + 1, false, node->local, err) < 0 ||
        read_list(object, "local_spread", node->cores + 1, true, node->local, err) < 0 ||
        read_list(object, "triad_gbps", node->cores + 1, false, node->triad, err) < 0 ||
        read_list(object, "triad_spread", node->cores + 1, true, node->triad, err) < 0 ||
        read_field(object, "alpha_gbps", FIGURE_MAX, &node->alpha.value, err) < 0 ||
        read_field(object, "alpha_spread", FIGURE_MAX, &node->alpha.spread, err) < 0 ||
        read_field(object, "beta", 1, &node->beta.value, err) < 0 ||
        read_field(object, "beta_spread", FIGURE_MAX, &node->beta.spread, err) < 0 ||
        read_field(object, "correlation", 1, &node->correlation, err) < 0)
        return -1;
    return 0;
}

/* One hop: the link to the next node of the route. */
static int read_hop(struct json_object *hop, size_t at, size_t nodes, size_t *next)
{
    if (!json_object_is_type(hop, json_type_array) || json_object_array_length(hop) != 2)
        return -1;
    for (size_t i = 0; i < 2; i++) {
        struct json_object *end = json_object_array_get_idx(hop, i);
        int64_t node = json_object_get_int64(end);

        if (!json_object_is_type(end, json_type_int) || node < 0 || node >= (int64_t)nodes ||
            (i == 0 && (size_t)node != at))
            return -1;
        *next = (size_t)node;
    }
    return 0;
}

/* [[from,x],[x,to]]; null and [] mean that the way is not known. */
static int read_route(struct json_object *hops, size_t from, size_t to,
                      struct machine_profile *profile, struct berth_error *err)
{
    size_t n, node[MACHINE_NODES_MAX] = {from};

    if (!hops)
        return 0;
    n = json_object_is_type(hops, json_type_array) ? json_object_array_length(hops)
                                                   : MACHINE_NODES_MAX;
    if (n == 0)
        return 0;
    if (n >= MACHINE_NODES_MAX)
        return berth_error_set(err, "route[%zu][%zu]: an array of at most %d links expected", from,
                               to, MACHINE_NODES_MAX - 1);
    for (size_t i = 0; i < n; i++)
        if (read_hop(json_object_array_get_idx(hops, i), node[i], profile->nodes, &node[i + 1]) < 0)
            return berth_error_set(err, "route[%zu][%zu][%zu]: a link [%zu,x] to a node x expected",
                                   from, to, i, node[i]);
    if (node[n] != to)
        return berth_error_set(err, "route[%zu][%zu]: ends at node %zu", from, to, node[n]);
    return machine_profile_set_route(profile, node, n) < 0 ? berth_error_set(err, "out of memory")
                                                           : 0;
}

static int read_routes(struct json_object *object, struct machine_profile *profile,
                       struct berth_error *err)
{
    struct json_object *rows = json_object_object_get(object, "route");
    size_t n = profile->nodes;

    if (!rows)
        return 0;
    if (!json_object_is_type(rows, json_type_array) || json_object_array_length(rows) != n)
        return berth_error_set(err, "route: an array of %zu arrays expected, one for each of nodes",
                               n);
    for (size_t i = 0; i < n; i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);

        if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) != n)
            return berth_error_set(err, "route[%zu]: an array of %zu expected", i, n);
        for (size_t j = 0; j < n; j++)
            if (read_route(json_object_array_get_idx(row, j), i, j, profile, err) < 0)
                return -1;
    }
    return 0;
}

/* The empty profile for "nodes": how many there are, and of how many cores. */
static struct machine_profile *new_profile(struct json_object *nodes, struct berth_error *err)
{
    size_t n = json_object_array_length(nodes), cores[MACHINE_NODES_MAX];
    struct machine_profile *profile;

    if (n == 0 || n > MACHINE_NODES_MAX) {
        berth_error_set(err, "nodes: 1 to %d expected, not %zu", MACHINE_NODES_MAX, n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        struct json_object *node = json_object_array_get_idx(nodes, i);
        struct berth_error why;
        uint32_t count = 0;

        if (!json_object_is_type(node, json_type_object)) {
            berth_error_set(err, "nodes[%zu]: an object expected", i);
            return NULL;
        }
        if (json_get_u32(node, "cores", JSON_REQUIRED, &count, &why) < 0) {
            berth_error_set(err, "nodes[%zu].%.400s", i, why.text);
            return NULL;
        }
        if (count == 0 || count > MACHINE_CORES_MAX) {
            berth_error_set(err, "nodes[%zu].cores: %u: between 1 and %d expected", i, count,
                            MACHINE_CORES_MAX);
            return NULL;
        }
        cores[i] = count;
    }
    profile = machine_profile_new(n, cores);
    if (!profile)
        berth_error_set(err, "out of memory");
    return profile;
}

static int read_nodes(struct json_object *nodes, struct machine_profile *profile,
                      struct berth_error *err)
{
    for (size_t i = 0; i < profile->nodes; i++) {
        struct berth_error why;

        if (read_node(json_object_array_get_idx(nodes, i), &profile->node[i], &why) < 0)
            return berth_error_set(err, "nodes[%zu].%.400s", i, why.text);
        for (size_t j = 0; j < i; j++)
            if (profile->node[j].os_index == profile->node[i].os_index)
                return berth_error_set(err, "nodes[%zu].node: %u is there twice", i,
                                       profile->node[i].os_index);
    }
    return 0;
}

static int read_head(struct json_object *object, struct machine_profile *profile,
                     struct berth_error *err)
{
    uint32_t runs = 0;

    if (json_get_text(object, "source", JSON_OPTIONAL, profile->source, sizeof(profile->source),
                      err) < 0 ||
        json_get_text(object, "host", JSON_OPTIONAL, profile->host, sizeof(profile->host), err) <
            0 ||
        json_get_text(object, "cpu", JSON_OPTIONAL, profile->cpu, sizeof(profile->cpu), err) < 0 ||
        json_get_text(object, "date", JSON_OPTIONAL, profile->date, sizeof(profile->date), err) <
            0 ||
        json_get_u32(object, "runs", JSON_OPTIONAL, &runs, err) < 0)
        return -1;
    profile->runs = runs;
    return 0;
}

struct machine_profile *machine_profile_parse(struct json_object *object, struct berth_error *err)
{
    struct machine_profile *profile;
    struct json_object *nodes;
    uint32_t version = 0;
    int rc;

    if (json_get_u32(object, "version", JSON_REQUIRED, &version, err) < 0)
        return NULL;
    if (version != MACHINE_PROFILE_VERSION) {
        berth_error_set(err, "version: %u: this berth reads version %d", version,
                        MACHINE_PROFILE_VERSION);
        return NULL;
    }
    if (json_get_array(object, "nodes", JSON_REQUIRED, &nodes, err) < 0)
        return NULL;
    profile = new_profile(nodes, err);
    if (!profile)
        return NULL;
    rc = read_head(object, profile, err);
    if (rc == 0)
        rc = read_nodes(nodes, profile, err);
    for (size_t i = 0; rc == 0 && i < MACHINE_MATRICES; i++) {
        struct machine_figure *figure = machine_matrix_of(profile, &machine_matrices[i]);

        rc = read_matrix(object, machine_matrices[i].value, false, profile, figure, err);
        if (rc == 0)
            rc = read_matrix(object, machine_matrices[i].spread, true, profile, figure, err);
    }
    if (rc == 0 && read_routes(object, profile, err) == 0)
        return profile;
    machine_profile_free(profile);
    return NULL;
}

struct machine_profile *machine_profile_read(const char *path, struct berth_error *err)
{
    struct machine_profile *profile = NULL;
    struct json_object *object = NULL;
    struct berth_error why;
    size_t length;
    char *text = file_read(path, FILE_BYTES_MAX, &length, &why);

    if (text)
        object = json_parse(text, length, &why);
    if (object && !json_object_is_type(object, json_type_object))
        berth_error_set(&why, "a JSON object expected");
    else if (object)
        profile = machine_profile_parse(object, &why);
    json_object_put(object);
    free(text);
    if (!profile)
        berth_error_set(err, "%.200s: %.300s", path, why.text);
    return profile;
}
