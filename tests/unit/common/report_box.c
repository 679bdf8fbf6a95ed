/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_box - see report_box.h */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/ledger/schema.h"

#define MORNING 1795248000 /* 2026-11-21T08:00:00 UTC */

struct ledger_record report_box_unknown(uint32_t job, uint32_t step)
{
    struct ledger_record record;

    setenv("TZ", "UTC0", 1);
    tzset();
    ledger_record_init(&record);
    strcpy(record.cluster, "c");
    strcpy(record.node, "n1");
    strcpy(record.user, "alice");
    record.id = (struct wire_step_id){job, step};
    strcpy(record.identity, "slurmctld");
    record.uid = 1000;
    record.start = MORNING;
    record.end = MORNING + 1000;
    return record;
}

struct ledger_record report_box_record(uint32_t job, uint32_t step)
{
    struct ledger_record record = report_box_unknown(job, step);

    strcpy(record.account, "phys");
    strcpy(record.partition, "main");
    strcpy(record.job_name, "solve");
    strcpy(record.home, "0-3");
    strcpy(record.cpus, "4-7");
    strcpy(record.state, "placed");
    strcpy(record.energy_source, "rapl-powercap");
    strcpy(record.idle_energy, "cores");
    strcpy(record.slowdown_source, "contend");
    record.exit_status = 0;
    record.elapsed_s = 1000;
    record.tasks = record.cores_given = record.cores_used = 4;
    record.uj[ENERGY_PACKAGE] = 3e9;
    record.uj[ENERGY_DRAM] = 1e9;
    record.uj_idle = 5e8 + 1;
    record.user_s = 3000.5;
    record.system_s = 0.25;
    record.maxrss_kib = 2048;
    record.instructions = 1e12;
    record.slowdown_home = 0.4375;
    record.slowdown_predicted = 0.25;
    record.slowdown_observed = 0.0625;
    return record;
}

static const struct report_how how = {.terms = {.price = 0.25, .currency = "EUR", .co2_g = 400}};

void report_box_add(struct report *report, const struct ledger_record *record)
{
    report_set(report, &how);
    assert_int_equal(report_add(report, record), 0);
}

static const struct report_field *field_of(const char *name)
{
    struct report_column *column;
    struct berth_error err;
    const struct report_field *field;
    size_t n;

    assert_int_equal(report_columns_parse(name, &column, &n, &err), 0);
    field = column->field;
    free(column);
    return field;
}

static char *next_text(void)
{
    static char text[8][REPORT_CELL_MAX];
    static unsigned next;

    return text[next++ % 8];
}

const char *report_box_cell(const struct report_row *row, const char *field)
{
    char *text = next_text();
    size_t length = report_format_cell(row, field_of(field), &how.terms, text);

    assert_int_equal(length, strlen(text));
    return text;
}

const char *report_box_raw(const struct report_row *row, const char *field)
{
    char *text = next_text();
    size_t length = report_format_raw(row, field_of(field), &how.terms, text);

    assert_int_equal(length, strlen(text));
    return text;
}

static void take(struct report_box *box, const struct report_row *row)
{
    assert_true(box->n < sizeof(box->row) / sizeof(box->row[0]));
    box->row[box->n++] = *row;
}

static int take_job(const struct report_row *job, const struct report_row *steps, size_t n,
                    void *arg)
{
    take(arg, job);
    for (size_t i = 0; i < n; i++)
        take(arg, &steps[i]);
    return 0;
}

static int take_total(const struct report_row *total, void *arg)
{
    take(arg, total);
    return 0;
}

void report_box_walk(struct report *report, enum report_by by, bool per_node,
                     struct report_box *box)
{
    const struct report_visitor visitor = {take_job, take_total, box};
    const struct report_keys keys = {{by}};

    box->n = 0;
    assert_int_equal(report_walk(report, &keys, per_node, &visitor, &box->grand), 0);
}
