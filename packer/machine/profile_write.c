/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile_write - a machine profile as JSON and into a file, all of it or nothing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/machine/profile_fields.h"

#define STYLE (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

/* A figure as people read it: six digits are more than any measurement has. */
static struct json_object *new_number(double value)
{
    char text[32];

    if (isnan(value))
        return NULL;
    snprintf(text, sizeof(text), "%.6g", value);
    return json_object_new_double_s(value, text);
}

static struct json_object *new_row(const struct machine_figure *figure, size_t n, bool spread)
{
    struct json_object *row = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_object_array_add(row, new_number(spread ? figure[i].spread : figure[i].value));
    return row;
}

static struct json_object *new_matrix(const struct machine_figure *figure, size_t n, bool spread)
{
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_object_array_add(rows, new_row(&figure[i * n], n, spread));
    return rows;
}

static struct json_object *new_node(const struct machine_node *node)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "node", node->os_index);
    json_add_cpus(object, "cpus", &node->cpus);
    json_add_u64(object, "cores", node->cores);
    json_object_object_add(object, "local_gbps", new_row(node->local, node->cores + 1, false));
    json_object_object_add(object, "local_spread", new_row(node->local, node->cores + 1, true));
    json_object_object_add(object, "triad_gbps", new_row(node->triad, node->cores + 1, false));
    json_object_object_add(object, "triad_spread", new_row(node->triad, node->cores + 1, true));
    json_object_object_add(object, "alpha_gbps", new_number(node->alpha.value));
    json_object_object_add(object, "alpha_spread", new_number(node->alpha.spread));
    json_object_object_add(object, "beta", new_number(node->beta.value));
    json_object_object_add(object, "beta_spread", new_number(node->beta.spread));
    json_object_object_add(object, "correlation", new_number(node->correlation));
    return object;
}

static struct json_object *new_route(const struct machine_route *route)
{
    struct json_object *hops = route->hops ? json_object_new_array() : NULL;

    for (size_t i = 0; i < route->hops; i++) {
        struct json_object *hop = json_object_new_array();

        json_object_array_add(hop, json_object_new_uint64(route->node[i]));
        json_object_array_add(hop, json_object_new_uint64(route->node[i + 1]));
        json_object_array_add(hops, hop);
    }
    return hops;
}

static struct json_object *new_routes(const struct machine_profile *profile)
{
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < profile->nodes; i++) {
        struct json_object *row = json_object_new_array();

        for (size_t j = 0; j < profile->nodes; j++)
            json_object_array_add(row, new_route(machine_profile_route(profile, i, j)));
        json_object_array_add(rows, row);
    }
    return rows;
}

struct json_object *machine_profile_json(const struct machine_profile *profile)
{
    struct json_object *object = json_object_new_object(), *nodes = json_object_new_array();

    json_add_u64(object, "version", MACHINE_PROFILE_VERSION);
    json_add_text(object, "source", profile->source);
    json_add_text(object, "host", profile->host);
    json_add_text(object, "cpu", profile->cpu);
    json_add_text(object, "date", profile->date);
    json_add_u64(object, "runs", profile->runs);
    for (size_t i = 0; i < profile->nodes; i++)
        json_object_array_add(nodes, new_node(&profile->node[i]));
    json_object_object_add(object, "nodes", nodes);
    for (size_t i = 0; i < MACHINE_MATRICES; i++) {
        const struct machine_figure *figure = machine_matrix_of(profile, &machine_matrices[i]);

        json_object_object_add(object, machine_matrices[i].value,
                               new_matrix(figure, profile->nodes, false));
        json_object_object_add(object, machine_matrices[i].spread,
                               new_matrix(figure, profile->nodes, true));
    }
    json_object_object_add(object, "route", new_routes(profile));
    return object;
}

/* An array of arrays or of nodes, one to a line. */
static void print_rows(struct json_object *rows, FILE *out)
{
    size_t n = json_object_array_length(rows);

    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n    %s", i ? "," : "[",
                json_object_to_json_string_ext(json_object_array_get_idx(rows, i), STYLE));
    fprintf(out, "\n  ]");
}

/* The file's text, which the caller frees; a field, or a row of one, to a line. NULL: no memory. */
static char *print_profile(const struct machine_profile *profile, size_t *length)
{
    struct json_object *object = machine_profile_json(profile);
    const char *before = "{";
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out) {
        json_object_put(object);
        return NULL;
    }
    json_object_object_foreach(object, key, value)
    {
        fprintf(out, "%s\n  \"%s\": ", before, key);
        if (json_object_is_type(value, json_type_array))
            print_rows(value, out);
        else
            fputs(json_object_to_json_string_ext(value, STYLE), out);
        before = ",";
    }
    fputs("\n}\n", out);
    json_object_put(object);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int machine_profile_write(const struct machine_profile *profile, const char *path, bool force,
                          struct berth_error *err)
{
    unsigned flags = FILE_SYNC | FILE_ANY | (force ? 0 : FILE_FIRST);
    size_t length;
    char *text = print_profile(profile, &length);
    int rc = text ? file_replace(path, 0644, flags, text, length) : -1;

    free(text);
    if (rc == 0)
        return 0;
    if (errno == EEXIST)
        return berth_error_set(err, "%s: there is one already; --force replaces it", path);
    return berth_error_set(err, "%s: %s", path,
                           errno == EINVAL ? "not a regular file" : strerror(errno));
}
