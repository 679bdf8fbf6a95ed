/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_html: the page has the figures without its script, is well formed, needs nothing from
 * elsewhere, takes no markup from users, and appears whole or not at all. How it looks in a
 * browser is test_ctl_report_page.sh's. */
#include "tests/unit/common/report_box.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Each element that is opened is closed, in order; what is void, or closes itself, is not. */
static void assert_well_formed(const char *page)
{
    char open[32][16];
    size_t depth = 0;

    for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
        bool close = at[1] == '/';
        char name[16] = "";

        sscanf(at + 1 + close, "%15[a-z0-9A-Z!]", name);
        if (!name[0])
            fail_msg("no element: %.40s", at);
        if (strcmp(name, "script") == 0 && !close)
            at = strstr(at, "</script>") - 1; /* code is no markup */
        else if (close)
            assert_true(depth > 0 && strcmp(open[--depth], name) == 0);
        else if (strcmp(name, "!DOCTYPE") != 0 && strcmp(name, "meta") != 0 &&
                 strcmp(name, "link") != 0 && strchr(at, '>')[-1] != '/') {
            assert_true(depth < 32);
            strcpy(open[depth++], name);
        }
        if (strcmp(name, "script") == 0)
            at += strlen("</script>");
    }
    assert_int_equal(depth, 0);
}

static void test_figures(void **state)
{
    static const char *const wanted[] = {
        "<h1>What steps cost</h1>",
        "from 2026-11-21 00:00:00 until 2026-11-22 00:00:00",
        "<li><b>8.000\xc2\xa0kJ</b><span>energy</span></li>",
        "Energy: rapl-powercap.",
        "<h2>Energy and EDP by user</h2>",
        "<h2>Energy and EDP by job</h2>",
        "<h3>n1</h3>",
        "<td class=\"n\" data-v=\"4000.000000\" data-t=\"Energy\">4.000\xc2\xa0kJ</td>",
        "<td class=\"n\" data-v=\"0.1875\" data-t=\"Avoided\">18.8%</td>",
        "sqlite:/x/&lt;&amp;&gt;.db",
    };
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    char *page;

    (void)state;
    report_box_add(report, &record);
    record.id.job = 13;
    report_box_add(report, &record);
    page = page_of(report);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        assert_has(page, wanted[i]);
    assert_lacks(page, "class=\"note\"");
    assert_lacks(page, "nan");
    assert_lacks(page, "inf\"");
    assert_well_formed(page);
    free(page);
}

/* What is not known is said, and is no 0. */
static void test_unknown(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_unknown(12, 0);
    char *page;

    (void)state;
    report_box_add(report, &record);
    page = page_of(report);
    assert_has(page, "No meter was read while these steps ran");
    assert_has(page, "<b>not known</b><span>energy</span>");
    assert_has(page, "Of 1 steps it is not known where they stood.");
    assert_lacks(page, "kJ<");
    assert_lacks(page, "nan");
    assert_well_formed(page);
    free(page);
}

static void test_part_unknown(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct ledger_record other = report_box_unknown(13, 0);
    char *page;

    (void)state;
    strcpy(record.energy_source, "model");
    strcpy(record.idle_energy, "evenly");
    report_box_add(report, &record);
    report_box_add(report, &other);
    page = page_of(report);
    assert_has(page, "Of 1 of 2 step records the energy is not known");
    assert_has(page, "\xe2\x89\xa5\xe2\x80\xaf"
                     "4.000\xc2\xa0kJ");
    assert_has(page, "by the rule idle_energy = evenly.");
    assert_has(page, "Some of it is a model");
    assert_has(page, "class=\"note\"");
    free(page);
}

/* Whether berth helps is on the page where it was asked; users' names are text there, too. */
static void test_benefit(void **state)
{
    struct ledger_record record = report_box_record(12, 0);
    struct benefit *benefit = benefit_new();
    struct report *report = report_new();
    char *page;

    (void)state;
    strcpy(record.program, "<b>x");
    report_box_add(report, &record);
    assert_int_equal(benefit_add(benefit, &record), 0);
    write_page(report, &about, benefit_conclude(benefit));
    page = read_page();
    assert_has(page, "Does berth help?");
    assert_has(page, "<td class=\"w\">as berth put them</td><td class=\"n\">25.0");
    assert_has(page, "<code>berthctl explain 12.0</code>");
    assert_has(page, "&lt;b&gt;x");
    assert_lacks(page, "nan");
    assert_well_formed(page);
    free(page);
    benefit_free(benefit);
    report_free(report);
}

static void test_nothing(void **state)
{
    char *page;

    (void)state;
    page = page_of(report_new());
    assert_has(page, "No step of the kind that was asked for");
    assert_lacks(page, "<table");
    assert_well_formed(page);
    free(page);
}

/* Users name their jobs, and may hope for a reader. */
static void test_hostile(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    char *page;

    (void)state;
    strcpy(record.job_name,
           "</title><script>x('\"&')</script>\x1b\xc2\x9b\xff\xc0\xaf\xed\xa0\x80");
    strcpy(record.user, "<b onload=x>");
    strcpy(record.node, "n\"'><svg>");
    strcpy(record.energy_source, "<i>");
    report_box_add(report, &record);
    page = page_of(report);
    assert_lacks(page, "<script>x");
    assert_lacks(page, "<b onload");
    assert_lacks(page, "><svg>\"");
    assert_lacks(page, "<i>");
    assert_lacks(page, "\x1b");
    assert_lacks(page, "\xff");
    assert_has(page, "&lt;/title&gt;&lt;script&gt;x(&#39;&quot;&amp;&#39;)&lt;/script&gt;"
                     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_well_formed(page);
    free(page);
}

/* Nothing is loaded from anywhere. */
static void test_self_contained(void **state)
{
    static const char *const away[] = {"http://", "https://", "//", "src=", "@import", "url("};
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    char *page;

    (void)state;
    report_box_add(report, &record);
    page = page_of(report);
    assert_has(page, "default-src 'none'");
    for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
        assert_lacks(page, away[i]);
    free(page);
}

/* Long tables and crowded nodes are cut, and the page says so. */
static void test_many(void **state)
{
    struct report *report = report_new();
    char *page;

    (void)state;
    for (uint32_t i = 1; i <= 3500; i++) {
        struct ledger_record record = report_box_record(i, 0);

        record.start += i;
        record.end += i;
        record.uid = i % 20;
        snprintf(record.user, sizeof(record.user), "u%u", i % 20);
        report_box_add(report, &record);
    }
    page = page_of(report);
    assert_has(page, "The 15 that used most energy, of 3500.");
    assert_has(page, "The 15 that used most energy, of 20.");
    assert_has(page, "The 500 that used most energy, of 3500");
    assert_has(page, "3500 steps are too many to be drawn one by one (2000 at most)");
    assert_lacks(page, "class=\"legend\"><li><i class=\"c0\"");
    assert_well_formed(page);
    free(page);
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
static void test_drawings(void **state)
{
    const struct ledger_record record[] = {record_of(1, "n1", 0, 1000), record_of(2, "n1", 0, 500),
                                           record_of(3, "n2", 0, 3000)};
    char *page = page_of(report_of(record, 3));

    (void)state;
    assert_has(page, "<th scope=\"row\">n1</th><td style=\"--v:0.50\" title=\"n1, 2026-11-21: "
                     "1.500kJ\">1.500kJ</td></tr>");
    assert_has(page, "title=\"n2, 2026-11-21: 3.000kJ\"");
    assert_has(page, "aria-label=\"Power over time\"");
    assert_has(page, ">4.5\xc2\xa0W</text>"); /* 4500 J in 1000 s, drawn from start to end */
    assert_has(page, "<span>20 to 50\xc2\xa0%</span>"); /* 43.75 and 25 % */
    assert_has(page, "class=\"c9\" style=\"width:100.0%\"></i></i><b>3</b>");
    assert_has(page, "<span>5 to 10\xc2\xa0%</span>"); /* 6.25 % */
    assert_lacks(page, "\xe2\x96\xb2</");
    assert_well_formed(page);
    free(page);
}

/* One that is far greater than all others does not make them vanish. */
static void test_outlier(void **state)
{
    struct ledger_record record[20];
    char *page;

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        record[i] = record_of(i + 1, i % 2 ? "n1" : "n2", 0, i == 7 ? 1e6 : 1000 + i);
    page = page_of(report_of(record, 20));
    assert_has(page, " over\" style=\"width:100.0%\""); /* its bar is broken */
    assert_has(page, "style=\"width:80.0%\"");          /* the next one's is not short */
    free(page);
}

/* Without a meter the days have core-hours, and what a kWh is to the site is not told. */
static void test_no_meter(void **state)
{
    struct ledger_record record = report_box_unknown(12, 0);
    char *page;

    (void)state;
    record.cores_given = 4;
    record.elapsed_s = 900;
    page = page_of(report_of(&record, 1));
    assert_has(page, "Core-hours given of the steps");
    assert_lacks(page, "Power over time");
    assert_lacks(page, "what it cost");
    assert_well_formed(page);
    free(page);
}

static void test_terms(void **state)
{
    const struct ledger_record record = record_of(1, "n1", 0, 3.6e6);
    struct report *report = report_of(&record, 1);
    struct report_page with = about;
    char *page;

    (void)state;
    with.terms = (struct report_terms){.price = 0.25, .currency = "EUR", .co2_g = 400};
    write_page(report, &with, NULL);
    report_free(report);
    page = read_page();
    assert_has(page, "<b>0.25\xc2\xa0"
                     "EUR</b><span>what it cost</span>");
    assert_has(page, "<b>400.0\xc2\xa0g</b><span>CO2");
    assert_has(page, "data-t=\"Cost\">0.25\xc2\xa0"
                     "EUR</td>");
    free(page);
}

static void test_scale(void **state)
{
    double alike[] = {3, NAN, 1, 2, 0}, far[] = {1, 100, 2, 3, 2};

    (void)state;
    assert_true(page_scale(alike, 5, 0.5) == 3);
    assert_true(page_scale(far, 5, 0.75) == 1.25 * 3);
    assert_true(page_scale(far, 0, 0.5) == 0);
}

static void test_file(void **state)
{
    struct report *report = report_new();
    struct ledger_record record = report_box_record(12, 0);
    struct berth_error err = {""};
    char missing[160], *page;
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
    page = page_of(report_new()); /* replaces it */
    assert_has(page, "No step of the kind");
    free(page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_figures), TEST(test_unknown),  TEST(test_part_unknown),   TEST(test_nothing),
        TEST(test_benefit), TEST(test_hostile),  TEST(test_self_contained), TEST(test_many),
        TEST(test_file),    TEST(test_drawings), TEST(test_outlier),        TEST(test_no_meter),
        TEST(test_terms),   TEST(test_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
