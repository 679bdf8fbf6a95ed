/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_settle_figures - a run of a job in a few figures: added up over steps and nodes, and absent
 * where a step's are not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/ledger/schema.h"
#include "packer/settle/figures.h"

struct row {
    const char *node;
    uint32_t step;
    double package, dram, whole;
    uint64_t moves;
    const char *source;
};

static void add(struct report *report, const struct row *row)
{
    struct ledger_record record;

    ledger_record_init(&record);
    record.id = (struct wire_step_id){7, row->step};
    record.moves = row->moves;
    record.start = 1000 + 10 * row->step;
    record.end = record.start + 10;
    record.elapsed_s = 10;
    record.uj[ENERGY_PACKAGE] = row->package;
    record.uj[ENERGY_DRAM] = row->dram;
    record.uj[ENERGY_NODE] = row->whole;
    snprintf(record.node, sizeof(record.node), "%s", row->node);
    snprintf(record.energy_source, sizeof(record.energy_source), "%s", row->source);
    assert_int_equal(report_add(report, &record), 0);
}

static const struct {
    size_t n;
    struct row row[3];
    const char *json;
    uint64_t joules;
} cases[] = {
    {1,
     {{"a", 0, 1500000, NAN, NAN, 2, "rapl-powercap"}},
     "{\"version\":1,\"nodes\":1,\"steps\":1,\"moves\":2,\"energy_j\":1.5,\"edp\":15,"
     "\"source\":\"rapl-powercap\"}",
     2},
    {3,
     {{"b", 1, 1000000, 1, NAN, 1, "rapl-powercap"},
      {"a", 1, 1000000, 0, NAN, 0, "rapl-powercap"},
      {"b", 0, 3000000, NAN, NAN, 0, "model"}},
     "{\"version\":1,\"nodes\":2,\"steps\":2,\"moves\":1,\"energy_j\":5.000001,\"edp\":100,"
     "\"source\":\"model,rapl-powercap\"}",
     0},
    /* the node's meter counts what the packages' count, too */
    {2,
     {{"a", 0, 2000000, NAN, 9000000, 0, "rapl-perf"}, {"c", 0, NAN, NAN, 10000000, 0, "hwmon"}},
     "{\"version\":1,\"nodes\":2,\"steps\":1,\"moves\":0,\"energy_j\":12,\"edp\":120,"
     "\"source\":\"rapl-perf,hwmon\"}",
     12},
    /* what is not known of one is not known of all */
    {2,
     {{"a", 0, 2000000, NAN, NAN, 0, "model"}, {"c", 0, NAN, NAN, NAN, 0, ""}},
     "{\"version\":1,\"nodes\":2,\"steps\":1,\"moves\":0}",
     0},
    {1,
     {{"a", 0, 0, NAN, NAN, 0, "model"}},
     "{\"version\":1,\"nodes\":1,\"steps\":1,\"moves\":0,\"energy_j\":0,\"edp\":0,\"source\":"
     "\"model\"}",
     0},
    {1,
     {{"a", 0, 1e16, NAN, NAN, 0, "model"}},
     "{\"version\":1,\"nodes\":1,\"steps\":1,\"moves\":0,\"energy_j\":10000000000,\"edp\":1e+11,"
     "\"source\":\"model\"}",
     0},
};

static void records_are_added_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct report *report = report_new();
        struct settle_figures figures;

        assert_non_null(report);
        for (size_t k = 0; k < cases[i].n; k++)
            add(report, &cases[i].row[k]);
        assert_int_equal(settle_figures_of(report, &figures), 0);
        assert_string_equal(figures.json, cases[i].json);
        assert_true(figures.joules == cases[i].joules);
        free(figures.json);
        report_free(report);
    }
}

static void many_records_are_counted(void **state)
{
    struct report *report = report_new();
    struct settle_figures figures;
    char node[16];

    (void)state;
    assert_int_equal(settle_figures_of(report, &figures), 0);
    assert_null(figures.json);
    for (uint32_t i = 0; i < 3000; i++) {
        snprintf(node, sizeof(node), "n%u", i % 30);
        add(report, &(struct row){node, i / 30, 1, NAN, NAN, 1, "model"});
    }
    assert_int_equal(settle_figures_of(report, &figures), 0);
    assert_string_equal(figures.json, "{\"version\":1,\"nodes\":30,\"steps\":100,\"moves\":3000,"
                                      "\"energy_j\":0.003,\"edp\":3,\"source\":\"model\"}");
    free(figures.json);
    report_free(report);
}

/* The rules by which idle energy was billed: of an older berth there is none. */
static void idle_rules_are_named(void **state)
{
    struct report *report = report_new();
    struct ledger_record record;
    struct settle_figures figures;

    (void)state;
    ledger_record_init(&record);
    record.id = (struct wire_step_id){7, 0};
    record.uj[ENERGY_PACKAGE] = 1500000;
    strcpy(record.energy_source, "model");
    for (size_t i = 0; i < 3; i++) {
        static const char *const rule[] = {"", "evenly", "nobody"};

        snprintf(record.node, sizeof(record.node), "n%zu", i);
        strcpy(record.idle_energy, rule[i]);
        assert_int_equal(report_add(report, &record), 0);
    }
    assert_int_equal(settle_figures_of(report, &figures), 0);
    assert_non_null(
        strstr(figures.json, "\"source\":\"model\",\"idle_energy\":\"evenly,nobody\"}"));
    free(figures.json);
    report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_added_up),
        cmocka_unit_test(many_records_are_counted),
        cmocka_unit_test(idle_rules_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
