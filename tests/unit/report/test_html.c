/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_html: the page has the figures that its script draws, needs nothing from elsewhere, takes
 * no markup from users, and appears whole or not at all. What is drawn of them in a browser is
 * test_report_page.sh's. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json_pointer.h>

#include "packer/base/json.h"
#include "packer/report/html_impl.h"

static char dir[64], path[128];
static const struct report_page about = {
    .now = 1795263330, .since = 1795219200, .until = 1795305600, .ledger = "sqlite:/x/<&>.db"};

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/berth-test-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/page.html", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir); /* nothing else was left there */
}

static char *read_page(void)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;

    assert_non_null(in);
    assert_true(getdelim(&text, &room, '\0', in) > 0);
    fclose(in);
    return text;
}

static void write_page(struct report *report, const struct report_page *of,
                       const struct benefit_result *benefit)
{
    struct report_html *page = report_html_new(of);
    struct berth_error err = {""};

    assert_non_null(page);
    assert_int_equal(report_html_add(page, report), 0);
    if (report_html_write(page, benefit, path, &err) < 0)
        fail_msg("%s", err.text);
    report_html_free(page);
}

static char *page_of(struct report *report)
{
    write_page(report, &about, NULL);
    report_free(report);
    return read_page();
}

static void assert_has(const char *page, const char *text)
{
    if (!strstr(page, text))
        fail_msg("not on the page: %s", text);
}

static void assert_lacks(const char *page, const char *text)
{
    if (strstr(page, text))
        fail_msg("on the page: %s", text);
}

/* Returns the JSON that the page's script draws, which nothing in it can end too early; the page is
 * freed. */
static struct json_object *data_of(char *page)
{
    const char *begin = strstr(page, "id=\"data\">\n"), *end;
    struct json_object *data;
    struct berth_error err = {""};

    assert_non_null(begin);
    begin += strlen("id=\"data\">\n");
    end = strchr(begin, '<');
    assert_non_null(end);
    assert_int_equal(strncmp(end, "</script>\n<script>\n", 19), 0);
    data = json_parse(begin, (size_t)(end - begin), &err);
    if (!data)
        fail_msg("%s", err.text);
    free(page);
    return data;
}

/* What stands at /a/0/b; NULL where that is null. */
static struct json_object *value_at(struct json_object *data, const char *where)
{
    struct json_object *value;

    if (json_pointer_get(data, where, &value) < 0)
        fail_msg("no %s in %s", where, json_object_to_json_string(data));
    return value;
}

static void assert_text(struct json_object *data, const char *where, const char *wanted)
{
    assert_string_equal(json_object_get_string(value_at(data, where)), wanted);
}

static void assert_number(struct json_object *data, const char *where, double wanted)
{
    assert_float_equal(json_object_get_double(value_at(data, where)), wanted, 1e-9);
}

/* The title of column i is followed by what rows have there. */
static void assert_cell(struct json_object *data, const char *table, const char *title,
                        const char *wanted)
{
    char where[64];

    for (int i = 0;; i++) {
        snprintf(where, sizeof(where), "/%s/columns/%d/title", table, i);
        if (strcmp(json_object_get_string(value_at(data, where)), title) != 0)
            continue;
        snprintf(where, sizeof(where), "/%s/rows/0/text/%d", table, i);
        assert_text(data, where, wanted);
        return;
    }
}

static void test_figures(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct json_object *data;

    (void)state;
    report_box_add(report, &record);
    record.id.job = 13;
    report_box_add(report, &record);
    data = data_of(page_of(report));
    assert_text(data, "/since", "2026-11-21 00:00:00");
    assert_text(data, "/until", "2026-11-22 00:00:00");
    assert_text(data, "/ledger", "sqlite:/x/<&>.db");
    assert_cell(data, "total", "Energy", "8.000kJ");
    assert_cell(data, "total", "EnergySource", "rapl-powercap");
    assert_cell(data, "users", "User", "alice");
    assert_cell(data, "jobs", "Avoided", "18.8%");
    assert_number(data, "/jobs/rows/0/value/slowdown_avoided", 0.1875);
    assert_number(data, "/jobs/rows/1/value/energy_j", 4000);
    assert_text(data, "/jobs/columns/7/figure", "true");
    assert_text(data, "/jobs/columns/2/figure", "false");
    assert_cell(data, "steps", "NodeList", "n1");
    assert_number(data, "/steps/of", 2);
    assert_number(data, "/axis/from", 1795248000);
    assert_number(data, "/axis/zone/0/1", 0);
    assert_null(value_at(data, "/benefit"));
    json_object_put(data);
}

/* What is not known is no 0. */
static void test_unknown(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_unknown(12, 0);
    struct json_object *data;

    (void)state;
    report_box_add(report, &record);
    data = data_of(page_of(report));
    assert_cell(data, "total", "Energy", "");
    assert_null(value_at(data, "/total/rows/0/value/energy_j"));
    assert_number(data, "/total/rows/0/value/metered", 0);
    assert_number(data, "/total/rows/0/value/records", 1);
    assert_cell(data, "steps", "CPUs", "");
    assert_int_equal(json_object_array_length(value_at(data, "/power/joule")), 0);
    json_object_put(data);
}

static void test_part_unknown(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct ledger_record other = report_box_unknown(13, 0);
    struct json_object *data;

    (void)state;
    strcpy(record.energy_source, "model");
    strcpy(record.idle_energy, "evenly");
    report_box_add(report, &record);
    report_box_add(report, &other);
    data = data_of(page_of(report));
    assert_cell(data, "total", "Energy", ">=4.000kJ");
    assert_cell(data, "total", "IdleEnergy", "evenly");
    assert_cell(data, "total", "EnergySource", "model");
    assert_number(data, "/total/rows/0/value/metered", 1);
    assert_number(data, "/total/rows/0/value/records", 2);
    json_object_put(data);
}

/* Whether berth helps is on the page as `report --benefit --json` has it. */
static void test_benefit(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct benefit *benefit = benefit_new();
    struct report *report = report_new();
    struct json_object *data, *alone;
    const struct benefit_result *result;

    (void)state;
    strcpy(record.program, "<b>x");
    report_box_add(report, &record);
    assert_int_equal(benefit_add(benefit, &record), 0);
    result = benefit_conclude(benefit);
    write_page(report, &about, result);
    data = data_of(read_page());
    alone = benefit_json(result, &(struct benefit_about){about.since, about.until});
    assert_true(json_object_equal(value_at(data, "/benefit"), alone));
    assert_text(data, "/benefit/gained_predicted/0/program", "<b>x");
    assert_text(data, "/benefit/gained_predicted/0/explain", "berthctl explain 12.0");
    assert_number(data, "/of/gained_predicted", 1);
    json_object_put(alone);
    json_object_put(data);
    benefit_free(benefit);
    report_free(report);
}

static void test_nothing(void **state)
{
    struct json_object *data = data_of(page_of(report_new()));

    (void)state;
    assert_int_equal(json_object_array_length(value_at(data, "/jobs/rows")), 0);
    assert_int_equal(json_object_array_length(value_at(data, "/days/day")), 0);
    assert_number(data, "/records", 0);
    json_object_put(data);
}

/* Users name their jobs, and may hope for a reader. */
static void test_hostile(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct json_object *data;
    char *page;

    (void)state;
    strcpy(record.job_name,
           "</script><script>x('\"&')<!--</script>\x1b\xc2\x9b\xff\xc0\xaf\xed\xa0\x80");
    strcpy(record.user, "<b onload=x>");
    strcpy(record.node, "n\"'><svg>");
    strcpy(record.energy_source, "<i>");
    report_box_add(report, &record);
    page = page_of(report);
    assert_lacks(page, "<script>x");
    assert_lacks(page, "<b onload");
    assert_lacks(page, "<!--");
    assert_lacks(page, "\x1b");
    assert_lacks(page, "\xff");
    data = data_of(page);
    assert_cell(data, "jobs", "User", "<b onload=x>");
    assert_cell(data, "steps", "NodeList", "n\"'><svg>");
    json_object_put(data);
}

/* Nothing is loaded from anywhere, and nothing that comes from users becomes markup. */
static void test_self_contained(void **state)
{
    static const char *const away[] = {
        "http://", "https://", "//",   "src=",      "@import", "url(",
        "fetch(",  "import(",  "eval", "innerHTML", "write("};
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    char *page;

    (void)state;
    report_box_add(report, &record);
    page = page_of(report);
    assert_has(page, "<!DOCTYPE html>\n<html lang=\"en\">");
    assert_has(page, "default-src 'none'");
    for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
        assert_lacks(page, away[i]);
    free(page);
}

/* Long tables and crowded nodes are cut, and the page knows of how many they are. */
static void test_many(void **state)
{
    struct report *report = report_new();
    struct json_object *data;

    (void)state;
    for (uint32_t i = 1; i <= 3500; i++) {
        struct ledger_record record = report_box_record(i, 0);

        record.start += i;
        record.end += i;
        record.uid = i % 20;
        snprintf(record.user, sizeof(record.user), "u%u", i % 20);
        report_box_add(report, &record);
    }
    data = data_of(page_of(report));
    assert_number(data, "/users/of", 20);
    assert_int_equal(json_object_array_length(value_at(data, "/users/rows")), 20);
    assert_number(data, "/jobs/of", 3500);
    assert_int_equal(json_object_array_length(value_at(data, "/jobs/rows")), 500);
    assert_number(data, "/records", 3500);
    assert_int_equal(json_object_array_length(value_at(data, "/steps/rows")), 0);
    json_object_put(data);
}

/* A record of a day: 1000 s at its noon, or at another day's. */
static struct ledger_record record_of(uint32_t job, const char *node, int day, double joules)
{
    struct ledger_record record = report_box_record(job, 0);

    strcpy(record.node, node);
    record.start = about.since + 43200 + day * 86400;
    record.end = record.start + 1000;
    record.start_ms = record.start * 1000;
    record.end_ms = record.end * 1000;
    record.uj[ENERGY_PACKAGE] = joules * 1e6;
    record.uj[ENERGY_DRAM] = 0;
    return record;
}

static struct report *report_of(const struct ledger_record *record, size_t n)
{
    struct report *report = report_new();

    for (size_t i = 0; i < n; i++)
        report_box_add(report, &record[i]);
    return report;
}

/* Each node's days, the power, and the slowdowns by classes. */
static void test_sums(void **state)
{
    const struct ledger_record record[] = {record_of(1, "n1", 0, 1000), record_of(2, "n1", 0, 500),
                                           record_of(3, "n10", 0, 300),
                                           record_of(4, "n2", 0, 3000)};
    struct json_object *data = data_of(page_of(report_of(record, 4))), *joule;
    double sum = 0;

    (void)state;
    assert_text(data, "/days/energy", "true");
    assert_text(data, "/days/nodes/0/node", "n1");
    assert_number(data, "/days/nodes/0/value/0", 1500);
    assert_text(data, "/days/nodes/1/node", "n2"); /* by number, not by letter */
    assert_text(data, "/days/nodes/2/node", "n10");
    assert_text(data, "/days/day/0", "2026-11-21");
    joule = value_at(data, "/power/joule");
    for (size_t i = 0; i < json_object_array_length(joule); i++)
        sum += json_object_get_double(json_object_array_get_idx(joule, i));
    assert_float_equal(sum, 4800, 1e-6);
    assert_number(data, "/slowdowns/from/5", 20);
    assert_number(data, "/slowdowns/n/5/0", 4); /* 43.75 %: predicted as Slurm put them, */
    assert_number(data, "/slowdowns/n/5/1", 4); /* 25 %: where they stood, */
    assert_number(data, "/slowdowns/n/3/2", 4); /* 6.25 %: measured */
    json_object_put(data);
}

/* Without a meter the days have core-hours, and what a kWh is to the site is not told. */
static void test_no_meter(void **state)
{
    struct ledger_record record = report_box_unknown(12, 0);
    struct json_object *data;

    (void)state;
    record.cores_given = 4;
    record.elapsed_s = 900;
    data = data_of(page_of(report_of(&record, 1)));
    assert_text(data, "/days/energy", "false");
    assert_number(data, "/days/nodes/0/value/0", 3600);
    assert_int_not_equal(json_pointer_get(data, "/total/rows/0/value/cost", NULL), 0);
    json_object_put(data);
}

/* A machine's own time comes with the page, also where it changes. */
static void test_zone(void **state)
{
    struct ledger_record record = record_of(1, "n1", 0, 1000);
    struct report_page with = about;
    struct json_object *data;
    struct report *report;

    (void)state;
    setenv("TZ", "XST-1XDT,M3.5.0,M10.5.0/3", 1);
    tzset();
    record.start = 1792879200; /* 2026-10-25 00:00 in summer time, which ends at 01:00 UTC */
    record.end = record.start + 4 * 3600;
    with.since = record.start;
    with.until = record.end;
    report = report_of(&record, 1);
    write_page(report, &with, NULL);
    report_free(report);
    data = data_of(read_page());
    setenv("TZ", "UTC0", 1);
    tzset();
    assert_text(data, "/since", "2026-10-25 00:00:00");
    assert_number(data, "/axis/zone/0/1", 7200);
    assert_number(data, "/axis/zone/1/0", 1792890000);
    assert_number(data, "/axis/zone/1/1", 3600);
    json_object_put(data);
}

static void test_terms(void **state)
{
    const struct ledger_record record = record_of(1, "n1", 0, 3.6e6);
    struct report *report = report_of(&record, 1);
    struct report_page with = about;
    struct json_object *data;

    (void)state;
    with.terms = (struct report_terms){.price = 0.25, .currency = "EUR", .co2_g = 400};
    with.fields = "NTasks";
    write_page(report, &with, NULL);
    report_free(report);
    data = data_of(read_page());
    assert_cell(data, "total", "Cost", "0.25EUR");
    assert_cell(data, "total", "CO2", "400.0g");
    assert_cell(data, "jobs", "Cost", "0.25EUR");
    assert_text(data, "/jobs/columns/13/title", "NTasks"); /* the site's own column */
    json_object_put(data);
}

static void test_file(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct berth_error err = {""};
    struct json_object *data;
    char missing[160];
    struct report_html *html;
    struct stat stat_of;
    mode_t mask = umask(027);

    (void)state;
    report_box_add(report, &record);
    html = report_html_new(&about);
    assert_int_equal(report_html_add(html, report), 0);
    snprintf(missing, sizeof(missing), "%s/no/page.html", dir);
    assert_int_equal(report_html_write(html, NULL, missing, &err), -1);
    assert_non_null(strstr(err.text, "No such file"));
    snprintf(missing, sizeof(missing), "%s/fifo", dir); /* a device is not replaced, neither */
    assert_int_equal(mkfifo(missing, 0600), 0);
    assert_int_equal(report_html_write(html, NULL, missing, &err), -1);
    report_html_free(html);
    assert_non_null(strstr(err.text, "fifo: not a regular file"));
    assert_int_equal(lstat(missing, &stat_of), 0);
    assert_true(S_ISFIFO(stat_of.st_mode));
    unlink(missing);
    free(page_of(report));
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 07777, 0640);
    umask(mask);
    data = data_of(page_of(report_new())); /* replaces it */
    assert_number(data, "/records", 0);
    json_object_put(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_figures), TEST(test_unknown), TEST(test_part_unknown),   TEST(test_nothing),
        TEST(test_benefit), TEST(test_hostile), TEST(test_self_contained), TEST(test_many),
        TEST(test_file),    TEST(test_sums),    TEST(test_no_meter),       TEST(test_zone),
        TEST(test_terms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
