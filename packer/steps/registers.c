/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers - see registers.h */
#include "packer/steps/registers.h"

#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/base/cpus.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"

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
    *registers = (struct registers){0};
}

struct core_register *registers_find(const struct registers *registers, uint32_t cpu)
{
    for (size_t i = 0; i < registers->n; i++)
        if (registers->core[i].cpu == cpu)
            return &registers->core[i];
    return NULL;
}

struct core_register *registers_add(struct registers *registers, uint32_t cpu)
{
    struct core_register *core;

    if (array_grow(&registers->core, &registers->room, registers->n + 1, sizeof(*core)) < 0)
        return NULL;
    core = &registers->core[registers->n++];
    *core = (struct core_register){.cpu = cpu};
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

struct json_object *registers_write(const struct registers *registers)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; list && i < registers->n; i++) {
        struct json_object *one = registers->core[i].changed
                                      ? json_new_list(1, &core_item, &registers->core[i], 0)
                                      : NULL;

        if (one)
            json_append(list, json_object_get(json_object_array_get_idx(one, 0)));
        json_object_put(one);
    }
    return list;
}

int registers_read(struct registers *registers, struct json_object *list, struct berth_error *err)
{
    size_t n = json_object_array_length(list);
    struct core_register *core = calloc(n + 1, sizeof(*core));

    if (!core)
        return berth_no_memory(err);
    if (n > CPUS_MAX ||
        json_get_list(list, "registers", n, &core_item, core, sizeof(*core), err) < 0) {
        free(core);
        return n > CPUS_MAX ? berth_error_set(err, "registers: more than %d", CPUS_MAX) : -1;
    }
    for (size_t i = 0; i < n; i++)
        core[i].left = core[i].changed = true;
    free(registers->core);
    registers->core = core;
    registers->n = n;
    registers->room = n + 1;
    return 0;
}
