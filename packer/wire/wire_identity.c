/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_identity - see wire_identity.h */
#include "packer/wire/wire_identity.h"
#include "enum_table.h"

#include <string.h>

const char *const TABLE(wire_source_name, WIRE_SOURCES) = {
    ROW(WIRE_SOURCE_NONE) = "none",
    ROW(WIRE_SOURCE_SLURMD) = "slurmd",
    ROW(WIRE_SOURCE_SLURMDBD) = "slurmdbd",
    ROW(WIRE_SOURCE_SLURMCTLD) = "slurmctld",
};
TABLE_COMPLETE(wire_source_name);

#define FIELD(member, need) JSON_FIELD(struct wire_identity, #member, member, need)

const struct json_field wire_identity_fields[] = {
    JSON_CHOICE(struct wire_identity, "source", source, OPTIONAL, wire_source_name),
    FIELD(job, REQUIRED),
    FIELD(uid, REQUIRED),
    JSON_RANGE(struct wire_identity, "start", start, OPTIONAL, 0, 9e15),
    FIELD(restart, OPTIONAL),
    FIELD(nodes, OPTIONAL),
    FIELD(array_job, OPTIONAL),
    FIELD(array_task, OPTIONAL),
    FIELD(cluster, OPTIONAL),
    FIELD(account, OPTIONAL),
    FIELD(qos, OPTIONAL),
    FIELD(partition, OPTIONAL),
    FIELD(job_name, OPTIONAL),
    JSON_END,
};

bool wire_name_valid(const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,+-";

    return name[0] && name[strspn(name, letters)] == '\0';
}

void wire_identity_clean(struct wire_identity *identity)
{
    char *const name[] = {identity->cluster, identity->account, identity->qos, identity->partition};

    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (!wire_name_valid(name[i]))
            name[i][0] = '\0';
}
