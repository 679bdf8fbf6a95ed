/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_accounting - what an accountant asks of totals: by several words at once, steps divided at the
 * limits of a bill, what was given and not used, and a price that changes with the time. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/totals.h"

static struct report *report;
static struct report_box box;

static int setup(void **state)
{
    (void)state;
    report = report_new();
    return report ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    report_free(report);
    return 0;
}

static void add(struct ledger_record record)
{
    report_box_add(report, &record);
}

static void assert_cell(size_t i, const char *field, const char *wanted)
{
    const char *text = report_box_cell(&box.row[i], field);

    if (strcmp(text, wanted) != 0)
        fail_msg("row %zu, %s: '%s' expected, not '%s'", i, field, wanted, text);
}

/* By several at once: each pair that there is, in the order of their names; and by months. */
static void test_keys(void **state)
{
    static const struct report_keys keys = {{REPORT_BY_MONTH, REPORT_BY_USER}};
    const struct report_visitor visitor = {.total = NULL};
    struct report_totals *totals = report_totals_new(&keys);
    struct ledger_record late = report_box_record(13, 0);
    struct report_row *row, grand;
    size_t n;

    (void)state;
    late.end += 14 * 86400;
    late.end_ms = 0;
    for (int user = 2; user > 0; user--) {
        struct ledger_record record = report_box_record(14 + (uint32_t)user, 0);

        report_clear(report);
        snprintf(record.user, sizeof(record.user), "u%d", user);
        add(record);
        add(report_box_record(12, (uint32_t)user)); /* of alice, twice */
        assert_int_equal(report_totals_add(totals, report, false, &visitor), 0);
    }
    report_clear(report);
    add(late);
    assert_int_equal(report_totals_add(totals, report, false, NULL), 0);
    row = report_totals_conclude(totals, &n, &grand);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        static const char *const name[][2] = {
            {"2026-11", "alice"}, {"2026-11", "u1"}, {"2026-11", "u2"}, {"2026-12", "alice"}};

        assert_string_equal(row[i].group[0], name[i][0]);
        assert_string_equal(row[i].group[1], name[i][1]);
    }
    assert_string_equal(report_box_cell(&row[0], "Energy"), "8.000kJ");
    assert_string_equal(report_box_cell(&row[0], "EDP"), "8.000MJs");
    assert_string_equal(report_box_cell(&grand, "Energy"), "20.00kJ");
    assert_string_equal(report_box_cell(&grand, "EDP"), ""); /* that of its parts is another one */
    report_totals_free(totals);
}

/* ---- dividing ---- */

static struct report_row month_of(const struct ledger_record *record, size_t n, int64_t since,
                                  int64_t until)
{
    const struct report_how how = {.divide = true, .since = since, .until = until};
    struct report *month = report_new();
    struct report_row grand;

    report_set(month, &how);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(report_add(month, &record[i]), 0);
    assert_int_equal(report_walk(month, NULL, false, &(struct report_visitor){0}, &grand), 0);
    report_free(month);
    return grand;
}

/* What ran over limits is divided there: the parts add up to the whole, to the last microjoule and
 * second, wherever the limits are, and each step counts once. */
static void test_divide(void **state)
{
    const int64_t begin = report_box_record(1, 0).start - 5000, end = begin + 100000;
    struct ledger_record record[200];
    struct report_row whole;

    (void)state;
    srand(3);
    for (uint32_t i = 0; i < 200; i++) {
        record[i] = report_box_record(i + 1, 0);
        record[i].start = begin + rand() % 50000;
        record[i].start_ms = record[i].start * 1000 + rand() % 1000;
        record[i].elapsed_s = i % 10 ? rand() % 40000 + 0.25 : 0;
        record[i].end_ms = record[i].start_ms + (int64_t)(record[i].elapsed_s * 1000);
        record[i].end = record[i].end_ms / 1000;
        record[i].uj[ENERGY_PACKAGE] = rand() * 1000.0 + 1;
        record[i].user_s = rand() / 1000.0;
        record[i].moves = (uint64_t)rand() % 7;
    }
    whole = month_of(record, 200, begin, end);
    for (int parts = 2; parts < 40; parts += 5) {
        struct report_energy energy = {0};
        double cpu_s = 0, user_s = 0, steps = 0, moves = 0;

        for (int i = 0; i < parts; i++) {
            struct report_row part = month_of(record, 200, begin + (end - begin) * i / parts,
                                              begin + (end - begin) * (i + 1) / parts);

            report_energy_add(&energy, &part.energy[REPORT_ENERGY]);
            cpu_s += isnan(part.number[REPORT_CPU_TIME_S]) ? 0 : part.number[REPORT_CPU_TIME_S];
            user_s += isnan(part.number[REPORT_USER_S]) ? 0 : part.number[REPORT_USER_S];
            steps += isnan(part.number[REPORT_STEPS]) ? 0 : part.number[REPORT_STEPS];
            moves += isnan(part.number[REPORT_MOVES]) ? 0 : part.number[REPORT_MOVES];
        }
        assert_true(energy.j == whole.energy[REPORT_ENERGY].j);
        assert_int_equal(energy.uj, whole.energy[REPORT_ENERGY].uj);
        assert_true(fabs(cpu_s - whole.number[REPORT_CPU_TIME_S]) < 1e-6);
        assert_true(fabs(user_s - whole.number[REPORT_USER_S]) < 1e-6);
        assert_true(steps == 200);
        assert_true(moves == whole.number[REPORT_MOVES]);
    }
}

/* At each midnight: a step of three days is in each of them, and ends in the last. */
static void test_divide_days(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    const struct report_how how = {
        .divide = true, .since = 0, .until = record.start + 30 * 86400, .at = REPORT_BY_DAY};

    (void)state;
    record.elapsed_s = 2 * 86400;
    record.end = record.start + 2 * 86400;
    record.start_ms = record.end_ms = 0;
    report_set(report, &how);
    assert_int_equal(report_add(report, &record), 0);
    report_box_walk(report, REPORT_BY_DAY, false, &box);
    assert_int_equal(box.n, 9);
    assert_cell(2, "Group", "2026-11-21"); /* from 08:00 on: 16 of 48 hours */
    assert_cell(2, "EnergyRaw", "1333.333333");
    assert_cell(2, "CoreHours", "64.0");
    assert_cell(2, "Steps", "0");
    assert_cell(2, "Jobs", "1");
    assert_cell(2, "AvePower", report_box_cell(&box.row[8], "AvePower"));
    assert_cell(5, "Group", "2026-11-22");
    assert_cell(5, "Elapsed", "1-00:00:00");
    assert_cell(8, "Group", "2026-11-23");
    assert_cell(8, "EnergyRaw", "666.666667");
    assert_cell(8, "Steps", "1");
    assert_string_equal(report_box_cell(&box.grand, "EnergyRaw"), "4000.000000");
    assert_string_equal(report_box_cell(&box.grand, "Jobs"), "1");
}

/* ---- what was given ---- */

/* A batch script holds the cores of what srun starts on its node: they are given once. What was
 * given and not used is told with what of it was waiting. */
static void test_allocation(void **state)
{
    struct ledger_record batch = report_box_record(12, WIRE_STEP_BATCH);
    struct ledger_record here = report_box_record(12, 0), there = here;

    (void)state;
    batch.elapsed_s = 1000;
    batch.user_s = batch.system_s = 1;
    here.elapsed_s = there.elapsed_s = 900;
    here.user_s = there.user_s = 1000;
    here.system_s = there.system_s = 0;
    batch.cpu_wait_s = 0;
    here.cpu_wait_s = there.cpu_wait_s = 50;
    strcpy(there.node, "n2");
    add(here);
    add(batch);
    add(there);
    report_box_walk(report, REPORT_BY_USER, false, &box);
    assert_cell(0, "CPUTime", "02:06:40"); /* 4000 s on n1, 3600 on n2 */
    assert_cell(0, "CoreHours", "2.111");
    assert_cell(0, "TotalCPU", "00:33:22"); /* 2002 s */
    assert_cell(0, "WaitedHours", "0.028");
    assert_cell(0, "UnusedHours", "1.527"); /* 7600 - 2002 - 100 s */
    assert_cell(1, "JobID", "12.batch");
    assert_cell(1, "CPUTime", "01:06:40");
    assert_cell(2, "CPUTime", "02:00:00"); /* its own, on both nodes */
    assert_cell(2, "UnusedHours", "1.417");
    assert_cell(3, "CoreHours", "2.111");
    assert_cell(3, "UnusedHours", "1.527");
}

/* Waiting cannot be more than what was not used, and what is not known of a part is not made up. */
static void test_unused(void **state)
{
    struct ledger_record crowded = report_box_record(1, 0), old = report_box_record(2, 0),
                         none = report_box_unknown(3, 0);

    (void)state;
    crowded.user_s = 3000;
    crowded.system_s = 0;
    crowded.cpu_wait_s = 9000;
    old.user_s = 500;
    old.system_s = 0;
    old.cpu_wait_s = NAN;
    add(crowded);
    add(old);
    add(none);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_cell(0, "WaitedHours", "0.278"); /* 4000 - 3000 s */
    assert_cell(0, "UnusedHours", "0.000");
    assert_cell(2, "WaitedHours", "");
    assert_cell(2, "UnusedHours", "0.972"); /* and perhaps it has waited */
    assert_cell(4, "UnusedHours", "");
    assert_string_equal(report_box_cell(&box.grand, "UnusedHours"), "0.972");
    assert_string_equal(report_box_cell(&box.grand, "WaitedHours"), "0.278");
}

/* The price is that of the hours in which a step ran, and a divided one is priced part by part. */
static void test_tariff(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct report_how how = {.terms = {.price = 0.30, .currency = "EUR"}};
    struct tariff tariff;
    struct berth_error err;

    (void)state;
    assert_int_equal(tariff_parse(&tariff, "08:00-09:00=0.6", &err), 0);
    how.terms.tariff = &tariff;
    record.elapsed_s = 2 * 3600; /* 08:00 to 10:00 */
    record.end = record.start + 2 * 3600;
    record.start_ms = record.end_ms = 0;
    record.uj[ENERGY_PACKAGE] = 7.2e12;
    record.uj[ENERGY_DRAM] = 0;
    report_set(report, &how);
    assert_int_equal(report_add(report, &record), 0);
    how.divide = true;
    how.since = record.start;
    how.until = record.start + 3600;
    record.id.job = 13;
    assert_int_equal(report_add(report, &record), 0);
    report_box_walk(report, REPORT_BY_NOTHING, false, &box);
    assert_string_equal(report_box_raw(&box.row[0], "Cost"), "0.9");
    assert_string_equal(report_box_raw(&box.row[2], "Cost"), "0.6");
    assert_string_equal(report_box_raw(&box.grand, "Cost"), "1.5");
    assert_string_equal(report_box_raw(&box.grand, "Currency"), "EUR");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_keys),       TEST(test_divide), TEST(test_divide_days),
        TEST(test_allocation), TEST(test_unused), TEST(test_tariff),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
