/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_schema - see ledger/schema.h */
#include "packer/ledger/schema.h"

#include <math.h>
#include <string.h>

#define PLACE(member)                                                                              \
    offsetof(struct ledger_record, member), sizeof(((struct ledger_record *)NULL)->member)
#define FIELD(type, member, unit)                                                                  \
    {                                                                                              \
#member, LEDGER_##type, PLACE(member), unit                                                \
    }

const struct ledger_field ledger_field[LEDGER_FIELDS] = {
    FIELD(TEXT, cluster, ""),
    FIELD(TEXT, node, ""),
    {"job", LEDGER_U32, PLACE(id.job), ""},
    {"step", LEDGER_U32, PLACE(id.step), ""},
    FIELD(U32, array_job, ""),
    FIELD(U32, array_task, ""),
    FIELD(U32, restart, ""),
    FIELD(U32, nodes, ""),
    FIELD(U32, uid, ""),
    FIELD(U32, gid, ""),
    FIELD(TEXT, user, ""),
    FIELD(TEXT, account, ""),
    FIELD(TEXT, qos, ""),
    FIELD(TEXT, partition, ""),
    FIELD(TEXT, job_name, ""),
    FIELD(TEXT, program, ""),
    FIELD(TEXT, tag, ""),
    FIELD(I64, start, "unix s"),
    FIELD(I64, end, "unix s"),
    FIELD(DOUBLE, elapsed_s, "s"),
    FIELD(STATUS, exit_status, ""),
    FIELD(TEXT, state, ""),
    FIELD(U32, tasks, ""),
    FIELD(U32, cores_given, ""),
    FIELD(U32, cores_used, ""),
    FIELD(TEXT, home, ""),
    FIELD(TEXT, cpus, ""),
    FIELD(TEXT, policy, ""),
    FIELD(U64, moves, ""),
    FIELD(DOUBLE, user_s, "s"),
    FIELD(DOUBLE, system_s, "s"),
    FIELD(DOUBLE, maxrss_kib, "KiB"),
    FIELD(DOUBLE, instructions, ""),
    FIELD(DOUBLE, llc_misses, ""),
    FIELD(DOUBLE, memory_bytes, "bytes"),
    FIELD(TEXT, counters_source, ""),
    {"uj_package", LEDGER_WHOLE, PLACE(uj[ENERGY_PACKAGE]), "uJ"},
    {"uj_dram", LEDGER_WHOLE, PLACE(uj[ENERGY_DRAM]), "uJ"},
    {"uj_node", LEDGER_WHOLE, PLACE(uj[ENERGY_NODE]), "uJ"},
    FIELD(TEXT, energy_source, ""),
    FIELD(DOUBLE, power_w, "W"),
    FIELD(DOUBLE, edp, "J s"),
    FIELD(DOUBLE, edp_per_instruction, "J s per instruction"),
    FIELD(DOUBLE, slowdown_home, "fraction"),
    FIELD(DOUBLE, slowdown_predicted, "fraction"),
    FIELD(DOUBLE, slowdown_observed, "fraction"),
    FIELD(TEXT, slowdown_source, ""),
};

const struct ledger_field *ledger_field_named(const char *name)
{
    for (size_t i = 0; i < LEDGER_FIELDS; i++)
        if (strcmp(ledger_field[i].name, name) == 0)
            return &ledger_field[i];
    return NULL;
}

void ledger_record_init(struct ledger_record *record)
{
    memset(record, 0, sizeof(*record));
    record->exit_status = -1;
    for (size_t i = 0; i < LEDGER_FIELDS; i++)
        if (ledger_field[i].type == LEDGER_DOUBLE || ledger_field[i].type == LEDGER_WHOLE)
            *(double *)((char *)record + ledger_field[i].offset) = NAN;
}

/* A row's key is also the order that reports want. "end" is what periods are looked up by: a step
 * ran in one when it began before its end and ended after its beginning. */
const sql_migration ledger_migration[LEDGER_SCHEMA] = {
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
};
