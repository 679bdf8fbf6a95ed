/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa - see numa.h
 *
 * Here it is seen to that the numbers are there, and that they are numbers; what they may be, the
 * models know (numem_check_machine and the others). */
#include "packer/cli/model/numa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "packer/cli/plan/apps.h"

struct memory {
    struct memory *next;
    double room[]; /* aligned for all that is kept here */
};

/* Returns n elements, all 0, for as long as numa is there. NULL and err. */
static void *take(struct ctl_numa *numa, size_t n, size_t size, struct berth_error *err)
{
    struct memory *memory = calloc(1, sizeof(*memory) + n * size + 1);

    if (!memory) {
        berth_no_memory(err);
        return NULL;
    }
    memory->next = numa->memory;
    numa->memory = memory;
    return memory->room;
}

void ctl_numa_free(struct ctl_numa *numa)
{
    while (numa->memory) {
        struct memory *next = numa->memory->next;

        free(numa->memory);
        numa->memory = next;
    }
}

/* ---- lists of numbers ---- */

/* Checks that there is an array of n; `what` names it in errors. */
static int check_list(struct json_object *list, const char *what, size_t n, struct berth_error *err)
{
    if (!json_object_is_type(list, json_type_array))
        return berth_error_set(err, "%s: array expected", what);
    if (json_object_array_length(list) != n)
        return berth_error_set(err, "%s: %zu elements expected, not %zu", what, n,
                               json_object_array_length(list));
    return 0;
}

/* Is it so, or is it null where nothing need be? */
static int read_number(struct json_object *value, bool null, double *out)
{
    if (!value && null)
        return 0;
    if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
        return -1;
    *out = json_object_get_double(value);
    return 0;
}

static int read_numbers(struct json_object *list, const char *what, size_t n, double *out,
                        size_t null, struct berth_error *err)
{
    if (check_list(list, what, n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (read_number(json_object_array_get_idx(list, i), i == null, &out[i]) < 0)
            return berth_error_set(err, "%s[%zu]: a number expected", what, i);
    return 0;
}

static int read_counts(struct json_object *list, const char *what, size_t n, unsigned *out,
                       struct berth_error *err)
{
    if (check_list(list, what, n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct json_object *value = json_object_array_get_idx(list, i);
        int64_t count = json_object_get_int64(value);

        if (!json_object_is_type(value, json_type_int) || count < 0 || count > NUMEM_CORES_MAX)
            return berth_error_set(err, "%s[%zu]: a whole number of 0 to %d expected", what, i,
                                   NUMEM_CORES_MAX);
        out[i] = (unsigned)count;
    }
    return 0;
}

static struct json_object *field(struct json_object *object, const char *key,
                                 struct berth_error *err)
{
    struct json_object *value;

    return json_get_array(object, key, JSON_REQUIRED, &value, err) < 0 ? NULL : value;
}

unsigned *ctl_numa_counts(struct ctl_numa *numa, struct json_object *object, const char *key,
                          size_t n, struct berth_error *err)
{
    struct json_object *list = field(object, key, err);
    unsigned *counts = list ? take(numa, n, sizeof(*counts), err) : NULL;

    return counts && read_counts(list, key, n, counts, err) == 0 ? counts : NULL;
}

static double *read_list(struct ctl_numa *numa, struct json_object *object, const char *key,
                         struct berth_error *err)
{
    size_t n = numa->machine.nodes;
    struct json_object *list = field(object, key, err);
    double *numbers = list ? take(numa, n, sizeof(*numbers), err) : NULL;

    return numbers && read_numbers(list, key, n, numbers, n, err) == 0 ? numbers : NULL;
}

/* Reads a matrix row by row; the diagonal may be null. */
static double *read_matrix(struct ctl_numa *numa, struct json_object *object, const char *key,
                           struct berth_error *err)
{
    size_t n = numa->machine.nodes;
    struct json_object *rows = field(object, key, err);
    double *matrix;
    char what[64];

    if (!rows || check_list(rows, key, n, err) < 0)
        return NULL;
    matrix = take(numa, n * n, sizeof(*matrix), err);
    for (size_t i = 0; matrix && i < n; i++) {
        snprintf(what, sizeof(what), "%s[%zu]", key, i);
        if (read_numbers(json_object_array_get_idx(rows, i), what, n, &matrix[i * n], i, err) < 0)
            return NULL;
    }
    return matrix;
}

/* ---- the machine ---- */

static int read_hop(struct json_object *hop, const char *what, size_t nodes, size_t *ends,
                    struct berth_error *err)
{
    unsigned ids[2];

    if (read_counts(hop, what, 2, ids, err) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (ids[i] >= nodes)
            return berth_error_set(err, "%s: %u: there is no such node", what, ids[i]);
        ends[i] = ids[i];
    }
    return 0;
}

static int read_route(struct ctl_numa *numa, struct json_object *hops, const char *what,
                      struct numem_route *route, struct berth_error *err)
{
    size_t n =
        hops && json_object_is_type(hops, json_type_array) ? json_object_array_length(hops) : 0;
    size_t(*hop)[2];
    char name[96];

    if (hops && !json_object_is_type(hops, json_type_array))
        return berth_error_set(err, "%s: a list of hops expected", what);
    if (n > NUMEM_HOPS_MAX)
        return berth_error_set(err, "%s: at most %d hops expected", what, NUMEM_HOPS_MAX);
    hop = take(numa, n, sizeof(*hop), err);
    if (!hop)
        return -1;
    for (size_t h = 0; h < n; h++) {
        snprintf(name, sizeof(name), "%s[%zu]", what, h);
        if (read_hop(json_object_array_get_idx(hops, h), name, numa->machine.nodes, hop[h], err) <
            0)
            return -1;
    }
    route->hops = n;
    route->hop = (const size_t(*)[2])hop;
    return 0;
}

static int read_routes(struct ctl_numa *numa, struct json_object *input, struct berth_error *err)
{
    size_t n = numa->machine.nodes;
    struct json_object *rows = NULL, *row;
    struct numem_route *route;
    char what[64];

    if (json_get_array(input, "route", JSON_OPTIONAL, &rows, err) < 0)
        return -1;
    if (!rows)
        return 0;
    route = take(numa, n * n, sizeof(*route), err);
    if (!route || check_list(rows, "route", n, err) < 0)
        return -1;
    for (size_t k = 0; k < n * n; k++) {
        row = json_object_array_get_idx(rows, k / n);
        snprintf(what, sizeof(what), "route[%zu]", k / n);
        if (check_list(row, what, n, err) < 0)
            return -1;
        snprintf(what, sizeof(what), "route[%zu][%zu]", k / n, k % n);
        if (read_route(numa, json_object_array_get_idx(row, k % n), what, &route[k], err) < 0)
            return -1;
    }
    numa->machine.route = route;
    return 0;
}

int ctl_numa_machine(struct ctl_numa *numa, struct json_object *input, struct berth_error *err)
{
    struct numem_machine *m = &numa->machine;
    struct numem_fault fault;
    uint32_t nodes;

    *numa = (struct ctl_numa){0};
    if (json_get_u32(input, "nodes", JSON_REQUIRED, &nodes, err) < 0)
        return -1;
    if (nodes < 1 || nodes > NUMEM_NODES_MAX)
        return berth_error_set(err, "nodes: 1 to %d expected", NUMEM_NODES_MAX);
    m->nodes = nodes;
    m->cores = ctl_numa_counts(numa, input, "cores", nodes, err);
    if (!m->cores || !(m->alpha = read_list(numa, input, "alpha", err)) ||
        !(m->beta = read_list(numa, input, "beta", err)) ||
        !(m->uni_max = read_matrix(numa, input, "uni_max", err)) ||
        !(m->bi_max = read_matrix(numa, input, "bi_max", err)) || read_routes(numa, input, err) < 0)
        return -1;
    if (numem_check_machine(m, &fault) < 0)
        return ctl_numa_fault(numa, &fault, 0, err);
    return 0;
}

/* ---- programs ---- */

static const double *const *read_demand(struct ctl_numa *numa, struct json_object *object,
                                        struct berth_error *err)
{
    size_t n = numa->machine.nodes;
    struct json_object *tables = field(object, "local_demand", err);
    const double **demand;
    double *table;
    char what[64];

    if (!tables || check_list(tables, "local_demand", n, err) < 0)
        return NULL;
    demand = take(numa, n, sizeof(*demand), err);
    for (size_t i = 0; demand && i < n; i++) {
        size_t counts = numa->machine.cores[i] + 1;

        snprintf(what, sizeof(what), "local_demand[%zu]", i);
        table = take(numa, counts, sizeof(*table), err);
        if (!table || read_numbers(json_object_array_get_idx(tables, i), what, counts, table,
                                   counts, err) < 0)
            return NULL;
        demand[i] = table;
    }
    return demand;
}

/* Reads "cores_min", "cores_max", "least" and "weight". */
static int read_limits(struct ctl_numa *numa, struct json_object *object,
                       struct nucore_program *program, struct berth_error *err)
{
    struct json_object *least = NULL;

    program->weight = 1;
    if (json_get_u32(object, "cores_min", JSON_OPTIONAL, &program->cores_min, err) < 0 ||
        json_get_u32(object, "cores_max", JSON_OPTIONAL, &program->cores_max, err) < 0 ||
        json_get_double(object, "weight", JSON_OPTIONAL, &program->weight, err) < 0 ||
        json_get_array(object, "least", JSON_OPTIONAL, &least, err) < 0)
        return -1;
    if (program->cores_max == 0 && json_object_object_get_ex(object, "cores_max", NULL))
        return berth_error_set(err, "cores_max: at least 1 expected");
    if (!least)
        return 0;
    program->least = ctl_numa_counts(numa, object, "least", numa->machine.nodes, err);
    return program->least ? 0 : -1;
}

static int read_program(struct ctl_numa *numa, struct json_object *object,
                        struct nucore_program *program, struct berth_error *err)
{
    struct numem_program *use = &program->use;

    use->local_demand = read_demand(numa, object, err);
    if (!use->local_demand || !(use->read_solo = read_matrix(numa, object, "read_solo", err)) ||
        !(use->write_solo = read_matrix(numa, object, "write_solo", err)))
        return -1;
    return read_limits(numa, object, program, err);
}

static int read_name(struct ctl_numa *numa, struct json_object *object, size_t p,
                     struct berth_error *err)
{
    struct json_object *value;
    const char *name;

    if (!json_object_object_get_ex(object, "name", &value))
        return berth_error_set(err, "name: missing");
    name = json_text(value);
    if (!name || !name[0] || strlen(name) > CTL_APPS_NAME_MAX)
        return berth_error_set(err, "name: a name of 1 to %d bytes expected", CTL_APPS_NAME_MAX);
    for (size_t k = 0; k < p; k++)
        if (json_object_equal(numa->name[k], value))
            return berth_error_set(err, "name: programs[%zu] has the same", k);
    numa->name[p] = value;
    return 0;
}

static int read_programs(struct ctl_numa *numa, struct json_object *list, struct berth_error *err)
{
    struct berth_error why;

    for (size_t p = 0; p < numa->programs; p++) {
        struct json_object *object = json_object_array_get_idx(list, p);

        if (read_name(numa, object, p, &why) < 0 ||
            read_program(numa, object, &numa->program[p], &why) < 0)
            return berth_error_set(err, "programs[%zu].%.400s", p, why.text);
    }
    return 0;
}

int ctl_numa_programs(struct ctl_numa *numa, struct json_object *input, struct berth_error *err)
{
    struct json_object *list = NULL;

    numa->programs = 1;
    if (json_object_object_get_ex(input, "programs", NULL)) {
        if (ctl_input_list(input, "programs", json_type_object, &list, err) < 0)
            return -1;
        numa->programs = json_object_array_length(list);
        if (numa->programs > NUCORE_PROGRAMS_MAX)
            return berth_error_set(err, "programs: at most %d expected", NUCORE_PROGRAMS_MAX);
    }
    numa->program = take(numa, numa->programs, sizeof(*numa->program), err);
    numa->name = take(numa, numa->programs, sizeof(struct json_object *), err);
    if (!numa->program || !numa->name)
        return -1;
    return list ? read_programs(numa, list, err)
                : read_program(numa, input, &numa->program[0], err);
}

int ctl_numa_fault(const struct ctl_numa *numa, const struct numem_fault *fault, size_t program,
                   struct berth_error *err)
{
    char where[128] = "", value[40] = "";
    size_t used = 0;

    if (program < numa->programs && numa->name[program])
        used = (size_t)snprintf(where, sizeof(where), "programs[%zu].", program);
    used += (size_t)snprintf(where + used, sizeof(where) - used, "%s", fault->field);
    for (size_t i = 0; i < fault->indices && used < sizeof(where); i++)
        used += (size_t)snprintf(where + used, sizeof(where) - used, "[%zu]", fault->index[i]);
    if (!isnan(fault->value))
        snprintf(value, sizeof(value), "%g: ", fault->value);
    return berth_error_set(err, "%s: %s%s", where, value, fault->why);
}
