/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers - see registers.h */
#include "packer/steps/registers.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/cpus.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "enum_table.h"

static const struct json_field core_fields[] = {
    JSON_RANGE(struct core_register, "cpu", cpu, REQUIRED, 0, CPUS_MAX - 1),
    JSON_FIELD(struct core_register, "was", was, REQUIRED),
    JSON_FIELD(struct core_register, "mask", mask, REQUIRED),
    JSON_END,
};
static const struct json_field core_item = {
    .kind = JSON_TUPLE, .need = JSON_REQUIRED, .fields = core_fields};

void registers_free(struct registers *registers)
{
    free(registers->core);
    free(registers->clock);
    *registers = (struct registers){0};
}

struct core_register *registers_find(const struct registers *registers, enum register_kind kind,
                                     uint32_t cpu)
{
    for (size_t i = 0; i < registers->n; i++)
        if (registers->core[i].kind == kind && registers->core[i].cpu == cpu)
            return &registers->core[i];
    return NULL;
}

struct core_register *registers_add(struct registers *registers, enum register_kind kind,
                                    uint32_t cpu)
{
    struct core_register *core;

    if (array_grow(&registers->core, &registers->room, registers->n + 1, sizeof(*core)) < 0)
        return NULL;
    core = &registers->core[registers->n++];
    *core = (struct core_register){.kind = kind, .cpu = cpu};
    return core;
}

void registers_drop(struct registers *registers, struct core_register *core)
{
    *core = registers->core[--registers->n];
}

bool registers_changed(const struct registers *registers)
{
    for (size_t i = 0; i < registers->n; i++)
        if (registers->core[i].changed)
            return true;
    return false;
}

/* ---- the journal ---- */

static const char *const TABLE(kind_key, REGISTER_KINDS) = {
    ROW(REGISTER_PREFETCHERS) = "registers",
    ROW(REGISTER_FREQUENCY) = "frequencies",
};
TABLE_COMPLETE(kind_key);

static struct json_object *write_kind(const struct registers *registers, enum register_kind kind)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; list && i < registers->n; i++) {
        const struct core_register *core = &registers->core[i];
        struct json_object *one =
            core->changed && core->kind == kind ? json_new_list(1, &core_item, core, 0) : NULL;

        if (one)
            json_append(list, json_object_get(json_object_array_get_idx(one, 0)));
        json_object_put(one);
    }
    return list;
}

void registers_write(const struct registers *registers, struct json_object *object)
{
    for (enum register_kind kind = 0; kind < REGISTER_KINDS; kind++)
        json_add(object, kind_key[kind], write_kind(registers, kind));
}

/* Adds those of a kind. A journal of a berthd before there were frequencies has none. */
static int read_kind(struct registers *registers, struct json_object *object,
                     enum register_kind kind, struct berth_error *err)
{
    struct json_object *list = NULL;
    size_t n, had = registers->n;

    if (json_get_array(object, kind_key[kind],
                       kind == REGISTER_PREFETCHERS ? JSON_REQUIRED : JSON_OPTIONAL, &list,
                       err) < 0)
        return -1;
    n = list ? json_object_array_length(list) : 0;
    if (n == 0)
        return 0;
    if (n > CPUS_MAX)
        return berth_error_set(err, "%s: more than %d", kind_key[kind], CPUS_MAX);
    if (array_grow(&registers->core, &registers->room, had + n, sizeof(*registers->core)) < 0)
        return berth_no_memory(err);
    memset(registers->core + had, 0, n * sizeof(*registers->core));
    if (json_get_list(list, kind_key[kind], n, &core_item, registers->core + had,
                      sizeof(*registers->core), err) < 0)
        return -1;
    registers->n += n;
    for (size_t i = had; i < registers->n; i++) {
        registers->core[i].kind = kind;
        registers->core[i].left = registers->core[i].changed = true;
    }
    return 0;
}

int registers_read(struct registers *registers, struct json_object *object, struct berth_error *err)
{
    struct registers read = {0};

    for (enum register_kind kind = 0; kind < REGISTER_KINDS; kind++)
        if (read_kind(&read, object, kind, err) < 0) {
            registers_free(&read);
            return -1;
        }
    free(registers->core);
    registers->core = read.core;
    registers->n = read.n;
    registers->room = read.room;
    return 0;
}
