/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_schema - see ledger/schema.h */
#include "packer/ledger/schema.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX 9.2e18 /* greater ones are not known */

/* clang-format off */
#define FIELD(member) JSON_FIELD(struct ledger_record, #member, member, OPTIONAL)
#define MICROJOULES(key, member)                                                                   \
    {JSON_AT(struct ledger_record, key, member, OPTIONAL), .kind = JSON_NUMBER, .whole = true,     \
     .min = -WHOLE_MAX, .max = WHOLE_MAX}
/* clang-format on */

const struct json_field ledger_fields[] = {
    FIELD(node),
    JSON_RANGE(struct ledger_record, "job", id.job, REQUIRED, 1, UINT32_MAX),
    JSON_FIELD(struct ledger_record, "step", id.step, OPTIONAL),
    FIELD(array_job),
    FIELD(array_task),
    JSON_RANGE(struct ledger_record, "start", start, REQUIRED, 1, WHOLE_MAX),
    FIELD(end),
    FIELD(start_ms),
    FIELD(end_ms),
    JSON_RANGE(struct ledger_record, "exit_status", exit_status, OPTIONAL, 0, INT32_MAX),
    FIELD(counters_source),
    MICROJOULES("uj_package", uj[ENERGY_PACKAGE]),
    MICROJOULES("uj_dram", uj[ENERGY_DRAM]),
    MICROJOULES("uj_node", uj[ENERGY_NODE]),
    MICROJOULES("uj_idle", uj_idle),
#define FACT_KEPT(ID, member, type) FIELD(member),
#include "packer/fact/facts.def"
    JSON_END,
};

void ledger_record_init(struct ledger_record *record)
{
    memset(record, 0, sizeof(*record));
    record->exit_status = -1;
    for (const struct json_field *field = ledger_fields; field->name; field++)
        if (field->kind == JSON_NUMBER)
            *(double *)((char *)record + field->offset) = NAN;
}

/* A row's key is also the order that reports want. "end" is what periods are looked up by: a step
 * ran in one when it began before its end and ended after its beginning. */
#define COLUMN_double " DOUBLE"
#define COLUMN_uint64_t " BIGINT NOT NULL DEFAULT 0"
const sql_migration ledger_migration[] = {
    {
        "CREATE TABLE IF NOT EXISTS ledger_record ("
        " cluster VARCHAR(64) NOT NULL, node VARCHAR(64) NOT NULL, job BIGINT NOT NULL,"
        " step BIGINT NOT NULL, array_job BIGINT NOT NULL, array_task BIGINT NOT NULL,"
        " restart BIGINT NOT NULL, nodes BIGINT NOT NULL, uid BIGINT NOT NULL,"
        " gid BIGINT NOT NULL, \"user\" VARCHAR(64) NOT NULL, account VARCHAR(64) NOT NULL,"
        " qos VARCHAR(64) NOT NULL, \"partition\" VARCHAR(64) NOT NULL,"
        " job_name VARCHAR(128) NOT NULL, program VARCHAR(128) NOT NULL,"
        " tag VARCHAR(64) NOT NULL, \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL,"
        " elapsed_s DOUBLE, exit_status BIGINT, state VARCHAR(16) NOT NULL,"
        " tasks BIGINT NOT NULL, cores_given BIGINT NOT NULL, cores_used BIGINT NOT NULL,"
        " home VARCHAR(256) NOT NULL, cpus VARCHAR(256) NOT NULL, policy VARCHAR(16) NOT NULL,"
        " moves BIGINT NOT NULL, user_s DOUBLE, system_s DOUBLE, maxrss_kib DOUBLE,"
        " instructions DOUBLE, llc_misses DOUBLE, memory_bytes DOUBLE,"
        " counters_source VARCHAR(32) NOT NULL, uj_package BIGINT, uj_dram BIGINT,"
        " uj_node BIGINT, energy_source VARCHAR(32) NOT NULL, power_w DOUBLE, edp DOUBLE,"
        " edp_per_instruction DOUBLE, slowdown_home DOUBLE, slowdown_predicted DOUBLE,"
        " slowdown_observed DOUBLE,"
        " slowdown_source VARCHAR(32) NOT NULL,"
        " PRIMARY KEY (\"start\", job, step, cluster, node, restart))%s",
        "CREATE INDEX IF NOT EXISTS ledger_job ON ledger_record (job, step)",
        "CREATE INDEX IF NOT EXISTS ledger_array ON ledger_record (array_job)",
        "CREATE INDEX IF NOT EXISTS ledger_end ON ledger_record (\"end\")",
        "CREATE INDEX IF NOT EXISTS ledger_user ON ledger_record (\"user\", \"end\")",
        "CREATE INDEX IF NOT EXISTS ledger_uid ON ledger_record (uid, \"end\")",
        "CREATE INDEX IF NOT EXISTS ledger_account ON ledger_record (account, \"end\")",
    },
    {
        /* Until then, records had what the step's environment said. */
        "ALTER TABLE ledger_record ADD COLUMN%s identity VARCHAR(16) NOT NULL"
        " DEFAULT 'environment'",
    },
    {
        "ALTER TABLE ledger_record ADD COLUMN%s size_loss_asked DOUBLE",
        "ALTER TABLE ledger_record ADD COLUMN%s size_loss_predicted DOUBLE",
        "ALTER TABLE ledger_record ADD COLUMN%s size_loss_measured DOUBLE",
        "ALTER TABLE ledger_record ADD COLUMN%s size_freed_core_s DOUBLE",
    },
    {
        "ALTER TABLE ledger_record ADD COLUMN%s start_ms BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE ledger_record ADD COLUMN%s end_ms BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE ledger_record ADD COLUMN%s proposed VARCHAR(256) NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_record ADD COLUMN%s slowdown_proposed DOUBLE",
        "ALTER TABLE ledger_record ADD COLUMN%s knowledge VARCHAR(16) NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_record ADD COLUMN%s reason VARCHAR(128) NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_record ADD COLUMN%s uj_idle BIGINT",
        "ALTER TABLE ledger_record ADD COLUMN%s idle_energy VARCHAR(16) NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_record ADD COLUMN%s inside VARCHAR(64) NOT NULL DEFAULT ''",
        "ALTER TABLE ledger_record ADD COLUMN%s inside_changes BIGINT NOT NULL DEFAULT 0",
        /* Until then, `cpus` of an observed step was where it would have stood. */
        "UPDATE ledger_record SET proposed = cpus WHERE state = 'observed' AND proposed = ''",
        "UPDATE ledger_record SET cpus = home WHERE state = 'observed'",
    },
    {
        "ALTER TABLE ledger_record ADD COLUMN%s inside_s DOUBLE",
    },
    {
        "ALTER TABLE ledger_record ADD COLUMN%s throttled BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE ledger_record ADD COLUMN%s throttled_s DOUBLE",
        "ALTER TABLE ledger_record ADD COLUMN%s idle_thread_s DOUBLE",
    },
/* clang-format off */
#define FACT_ADDED(ID, member, type, version)                                                      \
    [(version) - 1] = {"ALTER TABLE ledger_record ADD COLUMN%s " #member COLUMN_##type},
#include "packer/fact/facts.def"
    /* clang-format on */
    [7] =
        {
            "ALTER TABLE ledger_record ADD COLUMN%s left_for VARCHAR(16) NOT NULL DEFAULT ''",
            /* Until then, only the sentence said it. */
            "UPDATE ledger_record SET left_for = 'off' WHERE state = 'left' AND left_for = ''"
            " AND reason LIKE '%: did not opt in%'",
            "UPDATE ledger_record SET left_for = 'bound' WHERE state = 'left' AND left_for = ''"
            " AND reason LIKE '%: bound by hand%'",
            "UPDATE ledger_record SET left_for = 'other' WHERE state = 'left' AND left_for = ''"
            " AND reason <> ''",
        },
    [10] = {"ALTER TABLE ledger_record ADD COLUMN%s trial VARCHAR(16) NOT NULL DEFAULT ''"},
    [11] =
        {
            "ALTER TABLE ledger_record ADD COLUMN%s lost DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_caches DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_siblings DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_clock DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_waiting DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_threads DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s lost_rest DOUBLE",
            "ALTER TABLE ledger_record ADD COLUMN%s cpus_taken_by VARCHAR(16) NOT NULL DEFAULT ''",
            "ALTER TABLE ledger_record ADD COLUMN%s disturbed_by VARCHAR(96) NOT NULL DEFAULT ''",
        },
};
const int ledger_schema = sizeof(ledger_migration) / sizeof(ledger_migration[0]);

double ledger_fact(const struct ledger_record *record, enum fact_id id)
{
    switch (id) {
#define FACT_WORD_KEPT(ID, member, size)
#define FACT_KEPT(ID, member, type)                                                                \
    case FACT_##ID:                                                                                \
        return (double)record->member;
#define FACT_BACK(ID, value)                                                                       \
    case FACT_##ID:                                                                                \
        return (value);
#include "packer/fact/facts.def"
    default:
        return NAN;
    }
}

const char *ledger_word(const struct ledger_record *record, enum fact_id id)
{
    switch (id) {
#define FACT_WORD_KEPT(ID, member, size)                                                           \
    case FACT_##ID:                                                                                \
        return record->member;
#include "packer/fact/facts.def"
    default:
        return "";
    }
}

bool ledger_tells(enum fact_id id)
{
    switch (id) {
#define FACT_KEPT(ID, member, type) case FACT_##ID:
#define FACT_BACK(ID, value) case FACT_##ID:
#include "packer/fact/facts.def"
        return true;
    default:
        return false;
    }
}

enum wire_left ledger_left_for(const struct ledger_record *record)
{
    return wire_left_of(record->left_for);
}

bool ledger_is_known(const struct ledger_record *record)
{
    for (int i = WIRE_SOURCE_NONE + 1; i < WIRE_SOURCES; i++)
        if (strcmp(record->identity, wire_source_name[i]) == 0)
            return true;
    return false;
}

double ledger_energy_j(const struct ledger_record *record)
{
    bool known[ENERGY_DOMAINS];
    double uj = NAN;

    for (enum energy_domain d = 0; d < ENERGY_DOMAINS; d++)
        known[d] = record->uj[d] >= 0;
    for (enum energy_domain d = 0; d < ENERGY_DOMAINS; d++)
        if (energy_counts(known, d))
            uj = (isnan(uj) ? 0 : uj) + record->uj[d];
    return uj * 1e-6;
}
