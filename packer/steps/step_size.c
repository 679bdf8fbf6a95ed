/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_size - see step_size.h */
#include "packer/steps/step_size.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

#define CONSTRAINTS (NUMEM_CONTENTION + 1)

struct json_object *step_size_to_json(const struct step_size *size)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "cores", size->cores);
    json_add_u64(object, "given", size->given);
    json_object_object_add(object, "threads",
                           size->threads ? json_object_new_uint64(size->threads) : NULL);
    json_add_text(object, "constraint",
                  size->modelled ? numem_constraint_name(size->constraint) : NULL);
    json_add_measure(object, "gbps", size->gbps);
    json_add_measure(object, "gbps_all", size->gbps_all);
    json_add_text(object, "source", size->modelled ? "model" : NULL);
    json_add_text(object, "reason", size->reason);
    return object;
}

int step_size_from_json(struct json_object *object, struct step_size *size, struct berth_error *err)
{
    const char *name[CONSTRAINTS];
    uint64_t cores = 0, given = 0, threads = 0;
    int constraint = -1;

    *size = (struct step_size){.gbps = NAN, .gbps_all = NAN};
    for (int i = 0; i < CONSTRAINTS; i++)
        name[i] = numem_constraint_name((enum numem_constraint)i);
    if (json_get_u64(object, "cores", JSON_REQUIRED, &cores, err) < 0 ||
        json_get_u64(object, "given", JSON_REQUIRED, &given, err) < 0 ||
        json_get_u64(object, "threads", JSON_OPTIONAL, &threads, err) < 0 ||
        json_get_word(object, "constraint", JSON_OPTIONAL, name, CONSTRAINTS, &constraint, err) <
            0 ||
        json_get_double(object, "gbps", JSON_OPTIONAL, &size->gbps, err) < 0 ||
        json_get_double(object, "gbps_all", JSON_OPTIONAL, &size->gbps_all, err) < 0 ||
        json_get_text(object, "reason", JSON_REQUIRED, size->reason, sizeof(size->reason), err) < 0)
        return -1;
    size->cores = cores;
    size->given = given;
    size->threads = threads;
    size->modelled = constraint >= 0;
    size->constraint = constraint >= 0 ? (enum numem_constraint)constraint : NUMEM_NONE;
    return 0;
}
