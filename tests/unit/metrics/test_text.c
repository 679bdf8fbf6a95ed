/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics_text - the two text formats to the letter, what is escaped, how numbers are written,
 * and which format a client gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "packer/metrics/text.h"

static const struct metrics_family gauge = {"b_memory_bytes", METRICS_GAUGE, "bytes",
                                            "A \"level\" of \\ it."};
static const struct metrics_family counter = {"b_moves", METRICS_COUNTER, "", "Moves."};
static const struct metrics_family info = {"b_node", METRICS_INFO, "", "The node."};

static void assert_page(struct metrics_text *text, const char *wanted)
{
    assert_int_equal(metrics_text_end(text), 0);
    if (text->used != strlen(wanted) || memcmp(text->text, wanted, text->used) != 0)
        fail_msg("wanted\n%s\ngot\n%.*s", wanted, (int)text->used, text->text);
    free(text->text);
}

static void fill(struct metrics_text *text)
{
    const struct metrics_label labels[] = {{"a", "x"}, {"none", NULL}, {"empty", ""}, {"b", "y"}};

    metrics_text_add(text, &gauge, NULL, 0, 1.5);
    metrics_text_add(text, &gauge, labels, 4, 2);
    metrics_text_add(text, &counter, labels + 1, 2, 3);
    metrics_text_add(text, &info, labels, 1, 1);
}

static void test_openmetrics(void **state)
{
    struct metrics_text text;

    (void)state;
    metrics_text_begin(&text, METRICS_OPENMETRICS);
    fill(&text);
    assert_page(&text, "# TYPE b_memory_bytes gauge\n"
                       "# UNIT b_memory_bytes bytes\n"
                       "# HELP b_memory_bytes A \\\"level\\\" of \\\\ it.\n"
                       "b_memory_bytes 1.5\n"
                       "b_memory_bytes{a=\"x\",b=\"y\"} 2\n"
                       "# TYPE b_moves counter\n"
                       "# HELP b_moves Moves.\n"
                       "b_moves_total 3\n"
                       "# TYPE b_node info\n"
                       "# HELP b_node The node.\n"
                       "b_node_info{a=\"x\"} 1\n"
                       "# EOF\n");
}

/* No units, no info, no end; names with their suffixes; a quote in a help text needs no escape. */
static void test_plain(void **state)
{
    struct metrics_text text;

    (void)state;
    metrics_text_begin(&text, METRICS_PLAIN);
    fill(&text);
    assert_page(&text, "# HELP b_memory_bytes A \"level\" of \\\\ it.\n"
                       "# TYPE b_memory_bytes gauge\n"
                       "b_memory_bytes 1.5\n"
                       "b_memory_bytes{a=\"x\",b=\"y\"} 2\n"
                       "# HELP b_moves_total Moves.\n"
                       "# TYPE b_moves_total counter\n"
                       "b_moves_total 3\n"
                       "# HELP b_node_info The node.\n"
                       "# TYPE b_node_info gauge\n"
                       "b_node_info{a=\"x\"} 1\n");
}

/* What is not measured has no line, and a family without lines no description. */
static void test_absent(void **state)
{
    struct metrics_text text;

    (void)state;
    metrics_text_begin(&text, METRICS_OPENMETRICS);
    metrics_text_add(&text, &gauge, NULL, 0, NAN);
    metrics_text_add(&text, &gauge, NULL, 0, INFINITY);
    assert_page(&text, "# EOF\n");
}

static void test_escapes(void **state)
{
    static const struct {
        const char *value, *written;
    } cases[] = {
        {"plain", "plain"},
        {"a\"b", "a\\\"b"},
        {"a\\b", "a\\\\b"},
        {"a\nb", "a\\nb"},
        {"a\tb\r\x7f", "a?b??"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f"},
        {"\xff\xfe", "??"},
        {"\xc2\x9b 2J", "?? 2J"},          /* a control character, too */
        {"\xc3", "?"},                     /* cut off */
        {"\xc0\xaf", "??"},                /* '/' the long way */
        {"\xed\xa0\x80", "???"},           /* half a surrogate pair */
        {"\xf4\x90\x80\x80", "????"},      /* beyond the last character */
        {"\xe2\x82", "??"},                /* two of three bytes */
        {"\xf0\x9f\x90\" 1", "???\\\" 1"}, /* no way out of the quotes */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct metrics_label label = {"l", cases[i].value};
        struct metrics_text text;
        char wanted[256];

        metrics_text_begin(&text, METRICS_PLAIN);
        metrics_text_add(&text, &counter, &label, 1, 1);
        snprintf(wanted, sizeof(wanted),
                 "# HELP b_moves_total Moves.\n# TYPE b_moves_total counter\n"
                 "b_moves_total{l=\"%s\"} 1\n",
                 cases[i].written);
        assert_page(&text, wanted);
    }
}

static void test_numbers(void **state)
{
    static const struct {
        double value;
        const char *written;
    } cases[] = {{0, "0"},
                 {-1, "-1"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.33333333333333331"},
                 {9007199254740992, "9007199254740992"},
                 {123456789012, "123456789012"},
                 {1e300, "1e+300"},
                 {4096.5, "4096.5"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct metrics_text text;
        char wanted[256];

        metrics_text_begin(&text, METRICS_PLAIN);
        metrics_text_add(&text, &counter, NULL, 0, cases[i].value);
        snprintf(wanted, sizeof(wanted),
                 "# HELP b_moves_total Moves.\n# TYPE b_moves_total counter\nb_moves_total %s\n",
                 cases[i].written);
        assert_page(&text, wanted);
        assert_true(strtod(cases[i].written, NULL) == cases[i].value);
    }
}

/* Microjoules keep all their digits. */
static void test_micro(void **state)
{
    struct metrics_text text;

    (void)state;
    metrics_text_begin(&text, METRICS_PLAIN);
    metrics_text_add_micro(&text, &counter, NULL, 0, 0);
    metrics_text_add_micro(&text, &counter, NULL, 0, 1000001);
    metrics_text_add_micro(&text, &counter, NULL, 0, UINT64_MAX);
    assert_page(&text, "# HELP b_moves_total Moves.\n# TYPE b_moves_total counter\n"
                       "b_moves_total 0.000000\nb_moves_total 1.000001\n"
                       "b_moves_total 18446744073709.551615\n");
}

static void test_grows(void **state)
{
    char value[200];
    const struct metrics_label label = {"l", value};
    struct metrics_text text;

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    metrics_text_begin(&text, METRICS_OPENMETRICS);
    for (size_t i = 0; i < 10000; i++)
        metrics_text_add(&text, &gauge, &label, 1, (double)i);
    assert_int_equal(metrics_text_end(&text), 0);
    assert_true(text.used > 10000 * 200);
    assert_memory_equal(text.text + text.used - 6, "# EOF\n", 6);
    free(text.text);
}

static void test_negotiate(void **state)
{
    static const struct {
        const char *accept;
        enum metrics_format format;
    } cases[] = {
        {NULL, METRICS_PLAIN},
        {"", METRICS_PLAIN},
        {"*/*", METRICS_PLAIN},
        {"text/html,application/xhtml+xml,*/*;q=0.8", METRICS_PLAIN},
        {"application/openmetrics-text", METRICS_OPENMETRICS},
        {"application/openmetrics-text; version=1.0.0", METRICS_OPENMETRICS},
        {"Application/OpenMetrics-Text;Version=\"1.0.0\" ; charset=utf-8", METRICS_OPENMETRICS},
        {"application/openmetrics-text; version=0.0.1", METRICS_PLAIN},
        {"application/openmetrics-text; version=2.0.0", METRICS_PLAIN},
        {"application/openmetrics-text;q=0", METRICS_PLAIN},
        {"application/openmetrics-text;q=nan", METRICS_PLAIN},
        {"application/openmetrics-text-not", METRICS_PLAIN},
        /* Prometheus 2.42, and 3.0 */
        {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
         "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         METRICS_OPENMETRICS},
        {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/"
         "openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
         "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
         METRICS_OPENMETRICS},
        {"text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.9",
         METRICS_PLAIN},
        {"text/*;q=0.2 , application/openmetrics-text;q=0.2", METRICS_OPENMETRICS},
        {";;;,,,;q=,=", METRICS_PLAIN},
        {"application/openmetrics-text;", METRICS_OPENMETRICS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (metrics_negotiate(cases[i].accept) != cases[i].format)
            fail_msg("Accept: %s", cases[i].accept);
    assert_string_equal(metrics_content_type[METRICS_OPENMETRICS],
                        "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert_string_equal(metrics_content_type[METRICS_PLAIN],
                        "text/plain; version=0.0.4; charset=utf-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openmetrics), cmocka_unit_test(test_plain),
        cmocka_unit_test(test_absent),      cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_micro),
        cmocka_unit_test(test_grows),       cmocka_unit_test(test_negotiate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
