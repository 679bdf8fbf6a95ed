/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa - see numa.h
 *
 * Here it is seen to that the numbers are there, and that they are numbers; what they may be, the
 * models know (numem_check_machine and the others). */
#include "lab/model/numa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/plan/apps.h"

struct memory {
    struct memory *next;
    double room[]; /* aligned for all that is kept here */
};

/* Returns n elements, all 0, for as long as numa is there. NULL and err. */
static void *numa_alloc(struct ctl_numa *numa, size_t n, size_t size, struct berth_error *err)
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

static const struct json_field count_item = {
    .kind = JSON_UNSIGNED, .need = JSON_REQUIRED, .size = sizeof(unsigned), .max = NUMEM_CORES_MAX};
static const struct json_field null_item = {.kind = JSON_NUMBER}; /* may be null */
static const struct json_field array_item = {.kind = JSON_ANY_ARRAY};

unsigned *ctl_numa_counts(struct ctl_numa *numa, struct json_object *object, const char *key,
                          size_t n, struct berth_error *err)
{
    struct json_object *list = json_find(object, key);
    unsigned *counts = numa_alloc(numa, n, sizeof(*counts), err);

    return counts && json_get_list(list, key, n, &count_item, counts, sizeof(*counts), err) == 0
               ? counts
               : NULL;
}

static double *read_list(struct ctl_numa *numa, struct json_object *object, const char *key,
                         struct berth_error *err)
{
    struct json_object *list = json_find(object, key);
    size_t n = numa->machine.nodes;
    double *number = numa_alloc(numa, n, sizeof(*number), err);

    return number && json_get_list(list, key, n, &json_number, number, sizeof(*number), err) == 0
               ? number
               : NULL;
}

/* Reads it row by row; the diagonal may be null, elsewhere the models say that NAN is no number. */
static double *read_matrix(struct ctl_numa *numa, struct json_object *object, const char *key,
                           struct berth_error *err)
{
    struct json_object *rows = json_find(object, key);
    size_t n = numa->machine.nodes;
    double *matrix = numa_alloc(numa, n * n, sizeof(*matrix), err);

    for (size_t i = 0; matrix && i < n * n; i++)
        matrix[i] = i / n == i % n ? 0 : NAN;
    return matrix && json_get_matrix(rows, key, n, n, &null_item, matrix, sizeof(*matrix), err) == 0
               ? matrix
               : NULL;
}

/* ---- the machine ---- */

static int read_route(struct ctl_numa *numa, struct json_object *hops, const char *name,
                      struct numem_route *route, struct berth_error *err)
{
    static const struct json_field end = {
        .kind = JSON_UNSIGNED, .need = JSON_REQUIRED, .size = sizeof(size_t)};
    static const struct json_field item = {.kind = JSON_LIST,
                                           .need = JSON_REQUIRED,
                                           .size = 2 * sizeof(size_t),
                                           .n = 2,
                                           .fields = &end};
    size_t n = hops ? json_object_array_length(hops) : 0;
    size_t(*hop)[2];

    if (n > NUMEM_HOPS_MAX)
        return berth_error_set(err, "%s: at most %d hops expected", name, NUMEM_HOPS_MAX);
    hop = numa_alloc(numa, n, sizeof(*hop), err);
    if (!hop || (hops && json_get_list(hops, name, n, &item, hop, sizeof(*hop), err) < 0))
        return -1;
    for (size_t h = 0; h < 2 * n; h++)
        if (hop[h / 2][h % 2] >= numa->machine.nodes)
            return berth_error_set(err, "%s[%zu]: %zu: there is no such node", name, h / 2,
                                   hop[h / 2][h % 2]);
    route->hops = n;
    route->hop = (const size_t(*)[2])hop;
    return 0;
}

static int read_routes(struct ctl_numa *numa, struct json_object *input, struct berth_error *err)
{
    struct json_object *rows = json_find(input, "route"), **hops;
    size_t n = numa->machine.nodes;
    struct numem_route *route;
    char name[64];

    if (!rows)
        return 0;
    route = numa_alloc(numa, n * n, sizeof(*route), err);
    hops = numa_alloc(numa, n * n, sizeof(*hops), err);
    if (!route || !hops ||
        json_get_matrix(rows, "route", n, n, &array_item, hops, sizeof(*hops), err) < 0)
        return -1;
    for (size_t k = 0; k < n * n; k++) {
        snprintf(name, sizeof(name), "route[%zu][%zu]", k / n, k % n);
        if (read_route(numa, hops[k], name, &route[k], err) < 0)
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
    struct json_object *tables = json_find(object, "local_demand");
    size_t n = numa->machine.nodes;
    struct json_object **list = numa_alloc(numa, n, sizeof(*list), err);
    const double **demand = numa_alloc(numa, n, sizeof(*demand), err);
    char name[64];

    if (!list || !demand ||
        json_get_list(tables, "local_demand", n, &array_item, list, sizeof(*list), err) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t counts = numa->machine.cores[i] + 1;
        double *table = numa_alloc(numa, counts, sizeof(*table), err);

        snprintf(name, sizeof(name), "local_demand[%zu]", i);
        if (!table ||
            json_get_list(list[i], name, counts, &json_number, table, sizeof(*table), err) < 0)
            return NULL;
        demand[i] = table;
    }
    return demand;
}

static const struct json_field limit_fields[] = {
    JSON_FIELD(struct nucore_program, "cores_min", cores_min, OPTIONAL),
    JSON_RANGE(struct nucore_program, "cores_max", cores_max, OPTIONAL, 1, UINT32_MAX),
    JSON_FIELD(struct nucore_program, "weight", weight, OPTIONAL),
    JSON_FIELD(struct nucore_program, "floor", floor, OPTIONAL),
    JSON_END,
};

/* Reads a list of counts that may be missing: NULL. Returns 0, or -1 and err. */
static int read_counts(struct ctl_numa *numa, struct json_object *object, const char *key,
                       const unsigned **counts, struct berth_error *err)
{
    if (!json_find(object, key))
        return 0;
    *counts = ctl_numa_counts(numa, object, key, numa->machine.nodes, err);
    return *counts ? 0 : -1;
}

/* Reads "cores_min", "cores_max", "least", "most", "weight" and "floor". */
static int read_limits(struct ctl_numa *numa, struct json_object *object,
                       struct nucore_program *program, struct berth_error *err)
{
    program->weight = 1;
    if (json_read(object, limit_fields, program, err) < 0 ||
        read_counts(numa, object, "least", &program->least, err) < 0)
        return -1;
    return read_counts(numa, object, "most", &program->most, err);
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
    struct json_object *value = json_find(object, "name");
    const char *name = json_text(value);

    if (!value)
        return berth_error_set(err, "name: missing");
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
    for (size_t p = 0; p < numa->programs; p++) {
        struct json_object *object = json_object_array_get_idx(list, p);

        if (read_name(numa, object, p, err) < 0 ||
            read_program(numa, object, &numa->program[p], err) < 0)
            return berth_error_before(err, "programs[%zu].", p);
    }
    return 0;
}

int ctl_numa_programs(struct ctl_numa *numa, struct json_object *input, struct berth_error *err)
{
    struct json_object *list = NULL;

    numa->programs = 1;
    json_asked_note(input, "programs");
    if (json_object_object_get_ex(input, "programs", NULL)) {
        if (ctl_input_list(input, "programs", json_type_object, &list, err) < 0)
            return -1;
        numa->programs = json_object_array_length(list);
        if (numa->programs > NUCORE_PROGRAMS_MAX)
            return berth_error_set(err, "programs: at most %d expected", NUCORE_PROGRAMS_MAX);
    }
    numa->program = numa_alloc(numa, numa->programs, sizeof(*numa->program), err);
    numa->name = numa_alloc(numa, numa->programs, sizeof(struct json_object *), err);
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
