/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_format - what is said in which column, and how it is laid out. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/table.h"

static struct report_row row_of(const struct ledger_record *record)
{
    struct report_row row;

    report_row_of(record, &row);
    report_derive(&row);
    return row;
}

static void test_columns(void **state)
{
    static const char *const bad[] = {"",           ",",       "nothing", "JobID,x",
                                      "JobID%",     "JobID%x", "JobID%0", "JobID%1x",
                                      "JobID%9999", "%5",      "JobID% 5"};
    struct report_column *column;
    struct berth_error err;
    size_t n;

    (void)state;
    assert_int_equal(report_columns_parse("jobid%20,STATE%-3,,energ,node,nodel", &column, &n, &err),
                     0);
    assert_int_equal(n, 5);
    assert_string_equal(column[0].title, "JobID");
    assert_int_equal(column[0].width, 20);
    assert_int_equal(column[1].width, -3);
    assert_string_equal(column[2].title, "Energy"); /* the first that begins so */
    assert_string_equal(column[3].title, "Node");   /* the whole word before a longer one */
    assert_string_equal(column[4].title, "NodeList");
    free(column);
    assert_int_equal(report_columns_parse("all", &column, &n, &err), 0);
    assert_true(n > 40);
    free(column);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(report_columns_parse(bad[i], &column, &n, &err), -1);
}

/* No two fields have one name, and no two of the figures that JSON has one key. */
static void test_keys(void **state)
{
    struct report_column *column;
    struct berth_error err;
    size_t n;

    (void)state;
    assert_int_equal(report_columns_all(&column, &n, &err), 0);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(column[i].key, column[k].key);
            assert_string_not_equal(column[i].title, column[k].title);
        }
    free(column);
}

static void test_known(void **state)
{
    static const struct {
        const char *field, *cell, *raw;
    } cell[] = {
        {"JobID", "12.0", "12.0"},
        {"JobIDRaw", "12.0", "12.0"},
        {"JobName", "solve", "solve"},
        {"State", "COMPLETED", "COMPLETED"},
        {"ExitCode", "0:0", "0:0"},
        {"Start", "2026-11-21T08:00:00", "2026-11-21T08:00:00"},
        {"End", "2026-11-21T08:16:40", "2026-11-21T08:16:40"},
        {"Elapsed", "00:16:40", "1000"},
        {"ElapsedRaw", "1000", "1000"},
        {"CPUTime", "01:06:40", "4000"},
        {"UserCPU", "50:00.500", "3000.5"},
        {"SystemCPU", "00:00.250", "0.25"},
        {"TotalCPU", "50:00.750", "3000.75"},
        {"MaxRSS", "2M", "2048"},
        {"AllocCPUS", "4", "4"},
        {"Energy", "4.000kJ", "4000.000000"},
        {"EnergyRaw", "4000.000000", "4000.000000"},
        {"ConsumedEnergy", "4.000kJ", "4000.000000"},
        {"Package", "3.000kJ", "3000.000000"},
        {"DRAM", "1.000kJ", "1000.000000"},
        {"Node", "", ""},
        {"AvePower", "4.000W", "4"},
        {"EDP", "4.000MJs", "4000000"},
        {"EDPI", "4.000e-06", "4e-06"},
        {"SlowdownPred", "25.0%", "0.25"},
        {"SlowdownObs", "6.3%", "0.0625"},
        {"Avoided", "18.8%", "0.1875"},
        {"Instructions", "1000000000000", "1000000000000"},
        {"Misses", "", ""},
        {"MemBytes", "", ""},
        {"Metered", "1/1", "1"},
        {"CountersSource", "", ""},
    };
    struct ledger_record record = report_box_record(12, 0);
    struct report_row row = row_of(&record);

    (void)state;
    for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
        if (strcmp(report_box_cell(&row, cell[i].field), cell[i].cell) != 0)
            fail_msg("%s: '%s' expected, not '%s'", cell[i].field, cell[i].cell,
                     report_box_cell(&row, cell[i].field));
        if (strcmp(report_box_raw(&row, cell[i].field), cell[i].raw) != 0)
            fail_msg("%s raw: '%s' expected, not '%s'", cell[i].field, cell[i].raw,
                     report_box_raw(&row, cell[i].field));
    }
}

/* What is not known is blank, and null: never 0. */
static void test_unknown(void **state)
{
    static const char *const blank[] = {
        "State",  "ExitCode",    "CPUTime", "UserCPU",      "TotalCPU",     "MaxRSS",
        "Energy", "EnergyRaw",   "Package", "AvePower",     "EDP",          "EDPI",
        "NTasks", "SlowdownObs", "Avoided", "Instructions", "EnergySource", "AllocCPUS"};
    struct ledger_record record = report_box_unknown(12, 0);
    struct report_row row = row_of(&record);
    struct report_column *column;
    struct berth_error err;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof(blank) / sizeof(blank[0]); i++) {
        assert_string_equal(report_box_cell(&row, blank[i]), "");
        assert_string_equal(report_box_raw(&row, blank[i]), "");
        assert_int_equal(report_columns_parse(blank[i], &column, &n, &err), 0);
        assert_null(report_format_json(&row, column->field,
                                       &(struct report_terms){.price = 1, .co2_g = 1}));
        free(column);
    }
    assert_string_equal(report_box_cell(&row, "Metered"), "0/1");
}

static void test_names(void **state)
{
    struct ledger_record record = report_box_record(14, WIRE_STEP_BATCH);
    struct report_row row = row_of(&record);

    (void)state;
    assert_string_equal(report_box_cell(&row, "JobID"), "14.batch");
    record.array_job = 13;
    record.array_task = 3;
    row = row_of(&record);
    assert_string_equal(report_box_cell(&row, "JobID"), "13_3.batch");
    assert_string_equal(report_box_cell(&row, "JobIDRaw"), "14.batch");
    row.kind = REPORT_JOB;
    assert_string_equal(report_box_cell(&row, "JobID"), "13_3");
    row.kind = REPORT_TOTAL;
    assert_string_equal(report_box_cell(&row, "JobID"), "");
    assert_string_equal(report_box_cell(&row, "ExitCode"), "");
}

static void test_exit(void **state)
{
    static const struct {
        int status;
        const char *code, *state;
    } exit[] = {{0, "0:0", "COMPLETED"},
                {256 * 3, "3:0", "FAILED"},
                {SIGKILL, "0:9", "FAILED"},
                {-1, "", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(exit) / sizeof(exit[0]); i++) {
        struct ledger_record record = report_box_record(1, 0);
        struct report_row row;

        record.exit_status = exit[i].status;
        row = row_of(&record);
        assert_string_equal(report_box_cell(&row, "ExitCode"), exit[i].code);
        assert_string_equal(report_box_cell(&row, "State"), exit[i].state);
    }
}

static void test_energy(void **state)
{
    static const struct {
        double joules;
        enum report_unit unit;
        const char *text;
    } energy[] = {
        {0, REPORT_UNIT_AUTO, "0.000J"},       {0.0004, REPORT_UNIT_AUTO, "0.000J"},
        {9.9994, REPORT_UNIT_AUTO, "9.999J"},  {9.9996, REPORT_UNIT_AUTO, "10.00J"},
        {99.996, REPORT_UNIT_AUTO, "100.0J"},  {999.9, REPORT_UNIT_AUTO, "999.9J"},
        {999.97, REPORT_UNIT_AUTO, "1.000kJ"}, {123456, REPORT_UNIT_AUTO, "123.5kJ"},
        {1e6, REPORT_UNIT_AUTO, "1.000MJ"},    {3.6e6, REPORT_UNIT_AUTO, "1.000kWh"},
        {3.6e9, REPORT_UNIT_AUTO, "1.000MWh"}, {3.6e13, REPORT_UNIT_AUTO, "10000MWh"},
        {123456, REPORT_UNIT_J, "123456J"},    {123456, REPORT_UNIT_MJ, "0.123MJ"},
        {1.8e6, REPORT_UNIT_KWH, "0.500kWh"},  {NAN, REPORT_UNIT_AUTO, ""},
        {5e23, REPORT_UNIT_J, "5.000e+23J"},
    };
    char text[REPORT_NUMBER_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(energy) / sizeof(energy[0]); i++) {
        size_t length = report_format_energy(energy[i].joules, energy[i].unit, text);

        assert_string_equal(text, energy[i].text);
        assert_int_equal(length, strlen(text));
    }
}

/* ---- layout ---- */

static char *put(enum report_shape shape, const char *format, bool header, const char *delimiter,
                 const struct report_row *row)
{
    struct report_column *column;
    struct berth_error err;
    struct report_table out = {.shape = shape, .delimiter = delimiter, .header = header};
    char *text;
    size_t size;

    assert_int_equal(report_columns_parse(format, &column, &out.columns, &err), 0);
    out.column = column;
    out.out = open_memstream(&text, &size);
    report_table_header(&out);
    report_table_row(&out, row);
    assert_int_equal(fclose(out.out), 0);
    free(column);
    return text;
}

static void assert_put(enum report_shape shape, const char *format, bool header,
                       const char *delimiter, const struct report_row *row, const char *wanted)
{
    char *text = put(shape, format, header, delimiter, row);

    assert_string_equal(text, wanted);
    free(text);
}

static void test_layout(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct report_row row;

    (void)state;
    strcpy(record.job_name, "a-name-of-17-char");
    row = row_of(&record);
    assert_put(REPORT_SHAPE_TABLE, "JobID,JobName,User%-7,ExitCode", true, "|", &row,
               "JobID           JobName User    ExitCode \n"
               "------------ ---------- ------- -------- \n"
               "12.0         a-name-of+ alice        0:0 \n");
    assert_put(REPORT_SHAPE_TABLE, "JobName%17,JobName%-1,JobName%-19", false, "|", &row,
               "a-name-of-17-char + a-name-of-17-char   \n");
    assert_put(REPORT_SHAPE_PARSABLE, "JobID,JobName%3,Misses", true, "|", &row,
               "JobID|JobName|Misses|\n12.0|a-name-of-17-char||\n");
    assert_put(REPORT_SHAPE_PARSABLE2, "JobID,JobName,Misses", false, "::", &row,
               "12.0::a-name-of-17-char::\n");
    assert_put(REPORT_SHAPE_CSV, "JobID,Energy,Elapsed", true, "|", &row,
               "job_id,energy_j,elapsed_s\n12.0,4000.000000,1000\n");
}

/* Names come from users. */
static void test_hostile(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct report_row row;

    (void)state;
    strcpy(record.job_name, "a\x1b[2J\n\xc2\x9b\x7f");
    row = row_of(&record);
    assert_put(REPORT_SHAPE_PARSABLE2, "JobName", false, "|", &row, "a?[2J????\n");
    strcpy(record.job_name, "say \"hi\", x");
    row = row_of(&record);
    assert_put(REPORT_SHAPE_CSV, "JobName,User", false, "|", &row, "\"say \"\"hi\"\", x\",alice\n");
    strcpy(record.job_name, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f"); /* four characters */
    row = row_of(&record);
    assert_put(REPORT_SHAPE_TABLE, "JobName%4,JobName%3,JobName%-5", false, "|", &row,
               "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f \xc3\xa4\xc3\xb6+ "
               "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f  \n");
}

static void test_json(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct report_row row = row_of(&record);
    struct report_column *column;
    struct berth_error err;
    struct report_table out = {.shape = REPORT_SHAPE_JSON};
    struct json_object *object;

    (void)state;
    row.energy[REPORT_ENERGY].uj = 1;
    assert_int_equal(report_columns_parse("JobID,Start,Energy,EDPI,Misses,AllocCPUS,Metered",
                                          &column, &out.columns, &err),
                     0);
    out.column = column;
    object = report_table_object(&out, &row);
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
                        "{\"job_id\":\"12.0\",\"start\":1795248000,\"energy_j\":4000.000001,"
                        "\"edp_per_instruction_js\":4e-06,\"llc_misses\":null,\"alloc_cpus\":4,"
                        "\"metered\":1}");
    json_object_put(object);
    free(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_known),   cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_exit),
        cmocka_unit_test(test_energy),  cmocka_unit_test(test_layout),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
