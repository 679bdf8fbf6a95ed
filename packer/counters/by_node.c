/* SPDX-License-Identifier: GPL-2.0-or-later */
/* by_node - see by_node.h */
#include "packer/counters/by_node.h"

#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "enum_table.h"

#define COUNT_MAX 0x1p64 /* as sample_line.c */
#define ERROR_MAX 1e12

const char *const TABLE(by_node_name, BY_NODE_KINDS) = {
    ROW(BY_NODE_CPU_NS) = "cpu_ns",
    ROW(BY_NODE_READS_LOCAL) = "reads_local",
    ROW(BY_NODE_READS_REMOTE) = "reads_remote",
    ROW(BY_NODE_WRITES_LOCAL) = "writes_local",
    ROW(BY_NODE_WRITES_REMOTE) = "writes_remote",
    ROW(BY_NODE_BYTES_LOCAL) = "bytes_local",
    ROW(BY_NODE_BYTES) = "bytes",
    ROW(BY_NODE_MEMORY_READS) = "memory_reads",
    ROW(BY_NODE_MEMORY_READS_REMOTE) = "memory_reads_remote",
    ROW(BY_NODE_MEMORY_WRITES) = "memory_writes",
    ROW(BY_NODE_MEMORY_WRITES_REMOTE) = "memory_writes_remote",
    ROW(BY_NODE_DRAM_REQUESTS) = "dram_requests",
    ROW(BY_NODE_DRAM_OPENINGS) = "dram_openings",
    ROW(BY_NODE_DRAM_CONFLICTS) = "dram_conflicts",
    ROW(BY_NODE_DRAM_WRITE_TO_READ) = "dram_write_to_read",
    ROW(BY_NODE_DRAM_RANK_TURNS) = "dram_rank_turns",
    ROW(BY_NODE_READS_FROM) = "reads_from",
    ROW(BY_NODE_WRITES_TO) = "writes_to",
    ROW(BY_NODE_ALL_READS_FROM) = "all_reads_from",
    ROW(BY_NODE_ALL_WRITES_TO) = "all_writes_to",
};
TABLE_COMPLETE(by_node_name);

static bool is_matrix(enum by_node_kind kind)
{
    return kind >= BY_NODE_READS_FROM;
}

/* Is there room for so many nodes? */
static bool fits(size_t nodes, enum by_node_kind kind)
{
    return nodes > 0 && nodes <= (is_matrix(kind) ? BY_NODE_PAIRS : BY_NODE_MAX);
}

size_t by_node_count(size_t nodes, enum by_node_kind kind)
{
    if (!fits(nodes, kind))
        return 0;
    return is_matrix(kind) ? nodes * nodes : nodes;
}

double *by_node_room(struct by_node *by, enum by_node_kind kind)
{
    return is_matrix(kind) ? by->pair[kind - BY_NODE_READS_FROM] : by->each[kind];
}

const double *by_node_values(const struct by_node *by, enum by_node_kind kind)
{
    return is_matrix(kind) ? by->pair[kind - BY_NODE_READS_FROM] : by->each[kind];
}

void by_node_set(struct by_node *by, enum by_node_kind kind, size_t nodes, const double *values,
                 double error)
{
    if (by_node_knows(by, kind) || !fits(nodes, kind) || (by->nodes > 0 && by->nodes != nodes))
        return;
    by->nodes = nodes;
    by->known |= 1u << kind;
    by->error[kind] = error;
    memcpy(by_node_room(by, kind), values, by_node_count(nodes, kind) * sizeof(*values));
}

void by_node_add(struct by_node *by, const struct by_node *from)
{
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (by_node_knows(from, kind))
            by_node_set(by, kind, from->nodes, by_node_values(from, kind), from->error[kind]);
}

void by_node_update(struct by_node *by, const struct by_node *from)
{
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (by_node_knows(from, kind)) {
            by->known &= ~(1u << kind);
            by_node_set(by, kind, from->nodes, by_node_values(from, kind), from->error[kind]);
        }
}

bool by_node_grown(const struct by_node *before, const struct by_node *after,
                   enum by_node_kind kind, double *grown)
{
    const double *from = by_node_values(before, kind), *to = by_node_values(after, kind);

    if (!by_node_knows(before, kind) || !by_node_knows(after, kind) ||
        before->nodes != after->nodes)
        return false;
    for (size_t i = 0; i < by_node_count(after->nodes, kind); i++) {
        grown[i] = to[i] - from[i];
        if (!(grown[i] >= 0))
            return false;
    }
    return true;
}

enum by_node_kind by_node_fallen(const struct by_node *before, const struct by_node *after)
{
    double grown[BY_NODE_PAIRS * BY_NODE_PAIRS];
    enum by_node_kind kind = 0;

    while (kind < BY_NODE_KINDS && (!by_node_knows(before, kind) || !by_node_knows(after, kind) ||
                                    by_node_grown(before, after, kind, grown)))
        kind++;
    return kind;
}

/* One kind of by_node_play, whose numbers go into played[]. */
static void play(const struct by_node *before, const struct by_node *after, double part,
                 const struct by_node *whole, double times, enum by_node_kind kind, double *played)
{
    const double *from = before ? by_node_values(before, kind) : NULL;
    const double *to = by_node_values(after, kind), *all = by_node_values(whole, kind);

    for (size_t i = 0; i < by_node_count(after->nodes, kind); i++) {
        double start = from ? from[i] : 0, value = to[i];

        if (part < 1)
            value = fmin(start + (to[i] - start) * part, to[i]);
        played[i] = fmin(times * all[i] + value, (times + 1) * all[i]);
    }
}

void by_node_play(struct by_node *by, const struct by_node *before, const struct by_node *after,
                  double part, const struct by_node *whole, double times)
{
    double played[BY_NODE_PAIRS * BY_NODE_PAIRS];

    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        bool met = part >= 1 || !before || by_node_knows(before, kind);

        if (!met || !by_node_knows(after, kind) || !by_node_knows(whole, kind))
            continue;
        play(before, after, part, whole, times, kind, played);
        by_node_set(by, kind, after->nodes, played,
                    fmax(before ? before->error[kind] : 0, after->error[kind]));
    }
}

/* ---- all numbers in a row ---- */

size_t by_node_numbers(const struct by_node *by)
{
    size_t numbers = 0;

    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (by_node_knows(by, kind))
            numbers += 1 + by_node_count(by->nodes, kind);
    return numbers;
}

void by_node_pack(const struct by_node *by, double *number)
{
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        size_t count = by_node_count(by->nodes, kind);

        if (!by_node_knows(by, kind))
            continue;
        *number++ = by->error[kind];
        memcpy(number, by_node_values(by, kind), count * sizeof(*number));
        number += count;
    }
}

void by_node_unpack(struct by_node *by, size_t nodes, uint32_t known, const double *number)
{
    *by = (struct by_node){.nodes = 0};
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (known & 1u << kind) {
            by_node_set(by, kind, nodes, number + 1, number[0]);
            number += 1 + by_node_count(nodes, kind);
        }
}

/* ---- JSON ---- */

/* The text is read back exactly. */
static const struct json_field count_item = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = COUNT_MAX, .format = "%.17g"};

static struct json_object *values_json(const struct by_node *by, enum by_node_kind kind)
{
    const double *values = by_node_values(by, kind);

    if (is_matrix(kind))
        return json_new_matrix(by->nodes, by->nodes, &count_item, values, sizeof(*values));
    return json_new_list(by->nodes, &count_item, values, sizeof(*values));
}

/* Adds "error" where something is inexact. */
static void add_errors(struct json_object *object, const struct by_node *by)
{
    struct json_object *errors = NULL;

    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        struct json_field field = {.name = by_node_name[kind],
                                   .kind = JSON_NUMBER,
                                   .size = sizeof(double),
                                   .max = ERROR_MAX,
                                   .format = "%.17g"};
        struct json_field fields[] = {field, JSON_END};

        if (!by_node_knows(by, kind) || !(by->error[kind] > 0))
            continue;
        if (!errors)
            json_add(object, "error", errors = json_object_new_object());
        json_write(errors, fields, &by->error[kind]);
    }
}

struct json_object *by_node_json(const struct by_node *by)
{
    struct json_object *object;

    if (!by->known)
        return NULL;
    object = json_object_new_object();
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        if (by_node_knows(by, kind))
            json_add(object, by_node_name[kind], values_json(by, kind));
    add_errors(object, by);
    return object;
}

static int take_values(struct json_object *list, enum by_node_kind kind, struct by_node *by,
                       struct berth_error *err)
{
    const char *name = by_node_name[kind];
    size_t n = json_object_array_length(list), most = is_matrix(kind) ? BY_NODE_PAIRS : BY_NODE_MAX;
    double *values = by_node_room(by, kind);

    if (!fits(n, kind) || (by->nodes > 0 && by->nodes != n))
        return berth_error_set(err, "%s: as many nodes as the others have expected, 1 to %zu", name,
                               most);
    if ((is_matrix(kind)
             ? json_get_matrix(list, name, n, n, &count_item, values, sizeof(*values), err)
             : json_get_list(list, name, n, &count_item, values, sizeof(*values), err)) < 0)
        return -1;
    by->nodes = n;
    by->known |= 1u << kind;
    return 0;
}

/* Errors of what is known; others are nobody's. */
static int take_errors(struct json_object *object, struct by_node *by, struct berth_error *err)
{
    struct json_object *errors = NULL;

    if (json_get_object(object, "error", JSON_OPTIONAL, &errors, err) < 0)
        return -1;
    for (enum by_node_kind kind = 0; errors && kind < BY_NODE_KINDS; kind++) {
        struct json_field field = {
            .name = by_node_name[kind], .kind = JSON_NUMBER, .max = ERROR_MAX};

        if (by_node_knows(by, kind) && json_get(errors, &field, &by->error[kind], err) < 0)
            return berth_error_before(err, "error.");
    }
    return 0;
}

int by_node_take(struct json_object *object, struct by_node *by, struct berth_error *err)
{
    *by = (struct by_node){.nodes = 0};
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        struct json_object *list = NULL;

        if (json_get_array(object, by_node_name[kind], JSON_OPTIONAL, &list, err) < 0 ||
            (list && take_values(list, kind, by, err) < 0))
            return -1;
    }
    return take_errors(object, by, err);
}
