/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_samples - a sample as a line of JSON or CSV is read back exactly; lines that people wrote;
 * and each thing that can be wrong with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/counters/sample_line.h"

/* Every counter, with figures that have no short decimal form. */
static struct counters_sample full(void)
{
    static struct by_node by;
    struct counters_sample sample = {.at_s = 0.1 + 0.2, .nodes = 3, .by_node = &by};

    for (int i = 0; i < COUNTERS; i++) {
        counters_set(&sample, (enum counter)i, (double)(1 << i) / 3 * 1e6);
        sample.error[i] = i % 3 == 0 ? 1.0 / (i + 7) : 0;
    }
    sample.value[COUNTER_INSTRUCTIONS] = 9007199254740991; /* 2^53 - 1 */
    sample.rss_node[0] = 4096;
    sample.rss_node[2] = 1e15 / 7;
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
        by_node_set(&by, kind, 2, (double[]){1e15 / 7, 2, 3e9 / 7, kind}, kind == 1 ? 1. / 3 : 0);
    return sample;
}

static struct counters_sample some(void)
{
    struct counters_sample sample = {.at_s = 12.5};

    counters_set(&sample, COUNTER_CYCLES, 12e9);
    counters_set(&sample, COUNTER_THREADS, 0);
    return sample;
}

static uint32_t known_by_node(const struct counters_sample *sample)
{
    return sample->by_node ? sample->by_node->known : 0;
}

static void assert_same(const struct counters_sample *a, const struct counters_sample *b,
                        bool errors)
{
    assert_true(a->at_s == b->at_s);
    assert_int_equal(a->known, b->known);
    for (int i = 0; i < COUNTERS; i++) {
        assert_true(a->value[i] == b->value[i]);
        assert_true((errors ? a->error[i] : 0) == b->error[i]);
    }
    assert_int_equal(errors ? a->nodes : 0, b->nodes);
    for (size_t i = 0; i < b->nodes; i++)
        assert_true(a->rss_node[i] == b->rss_node[i]);
    assert_int_equal(errors ? known_by_node(a) : 0, known_by_node(b));
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS && known_by_node(b); kind++) {
        assert_true(a->by_node->error[kind] == b->by_node->error[kind]);
        for (size_t i = 0; i < by_node_count(a->by_node->nodes, kind); i++)
            assert_true(by_node_values(a->by_node, kind)[i] == by_node_values(b->by_node, kind)[i]);
    }
}

static void test_json_round_trip(void **state)
{
    static const char *const names[] = {"solver", "a \"b\",\n\t\\c", "\xc3\xbc", " ", "4711.0"};
    const struct counters_sample samples[] = {full(), some(), {.at_s = 0}};

    (void)state;
    for (size_t i = 0; i < 15; i++) {
        const struct counters_sample *sample = &samples[i % 3];
        char *line = sample_line_json(names[i / 3], sample), step[SAMPLES_NAME_MAX];
        struct counters_sample back;
        struct by_node by;
        struct berth_error err;

        assert_non_null(line);
        assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
        assert_true(strlen(line) < SAMPLES_LINE_MAX);
        if (sample_line_read_json(line, strlen(line), step, &back, &by, &err) < 0)
            fail_msg("%s: %s", line, err.text);
        assert_string_equal(step, names[i / 3]);
        assert_same(sample, &back, true);
        free(line);
    }
}

static void test_json_text(void **state)
{
    struct counters_sample sample = some();
    char *line;

    (void)state;
    sample.error[COUNTER_CYCLES] = 0.25;
    sample.error[COUNTER_FAULTS] = 0.5; /* of something unknown */
    sample.nodes = 1;
    line = sample_line_json("a/b", &sample);
    assert_string_equal(line, "{\"version\":1,\"step\":\"a/b\",\"at\":12.5,\"cycles\":12000000000,"
                              "\"threads\":0,\"rss_node\":[0],\"error\":{\"cycles\":0.25}}\n");
    free(line);
}

static void test_csv_round_trip(void **state)
{
    static const char *const names[] = {"solver", "a \"b\",c", "\"", " x", "4711.0"};
    const struct counters_sample samples[] = {full(), some(), {.at_s = 0}};
    char *header = sample_line_csv_header();
    struct sample_line_columns columns;
    struct berth_error err;

    (void)state;
    assert_int_equal(sample_line_read_header(header, strlen(header), &columns, &err), 0);
    assert_int_equal(columns.n, 2 + COUNTERS);
    for (size_t i = 0; i < 15; i++) {
        const struct counters_sample *sample = &samples[i % 3];
        char *line = sample_line_csv(names[i / 3], sample), step[SAMPLES_NAME_MAX];
        struct counters_sample back;

        assert_non_null(line);
        if (sample_line_read_csv(line, strlen(line), &columns, step, &back, &err) < 0)
            fail_msg("%s: %s", line, err.text);
        assert_string_equal(step, names[i / 3]);
        assert_same(sample, &back, false);
        free(line);
    }
    free(header);
}

static void test_csv_text(void **state)
{
    struct counters_sample sample = some();
    char *header = sample_line_csv_header(), *line = sample_line_csv("a\nb", &sample);

    (void)state;
    assert_string_equal(
        header, "step,at,instructions,cycles,stalls,llc_accesses,llc_misses,reads_local,"
                "reads_remote,bytes_local,bytes,cpu_ns,user_ns,system_ns,run_delay_ns,"
                "lock_wait_ns,switches,voluntary,involuntary,migrations,faults,threads,rss_bytes,"
                "occupancy_bytes\n");
    assert_string_equal(line, "a?b,12.5,,12000000000,,,,,,,,,,,,,,,,,,0,,\n");
    free(header);
    free(line);
}

/* What people and other programs write. */
static void test_json_lenient(void **state)
{
    static const char line[] =
        "{ \"step\": \"s\", \"at\": 3, \"color\": [\"red\"], \"cycles\": null,"
        "\"instructions\": 1e3, \"error\": {\"cycles\": 1, \"other\": \"x\"}}"
        " \r\n";
    struct counters_sample sample;
    struct by_node by;
    char step[SAMPLES_NAME_MAX];
    struct berth_error err;

    (void)state;
    assert_int_equal(sample_line_read_json(line, strlen(line), step, &sample, &by, &err), 0);
    assert_string_equal(step, "s");
    assert_true(sample.at_s == 3 && sample.value[COUNTER_INSTRUCTIONS] == 1000);
    assert_int_equal(sample.known, 1u << COUNTER_INSTRUCTIONS);
    assert_true(sample.error[COUNTER_CYCLES] == 0);
}

static void test_csv_lenient(void **state)
{
    static const char header[] = "at,note,cycles,\"step\",threads\r\n",
                      row[] = "3,\"x,y\", 1e3 ,s,";
    struct sample_line_columns columns;
    struct counters_sample sample;
    char step[SAMPLES_NAME_MAX];
    struct berth_error err;

    (void)state;
    assert_int_equal(sample_line_read_header(header, strlen(header), &columns, &err), 0);
    assert_int_equal(sample_line_read_csv(row, strlen(row), &columns, step, &sample, &err), 0);
    assert_string_equal(step, "s");
    assert_true(sample.at_s == 3 && sample.value[COUNTER_CYCLES] == 1000);
    assert_int_equal(sample.known, 1u << COUNTER_CYCLES);
}

static void test_json_errors(void **state)
{
    static const char *const wrong[][2] = {
        {"[]", "a JSON object expected, not array"},
        {"{\"step\":\"s\",\"at\":1", "not JSON at byte"},
        {"{\"version\":2,\"step\":\"s\",\"at\":1}", "version: 2: 1 expected"},
        {"{\"version\":\"1\",\"step\":\"s\",\"at\":1}", "version: int expected"},
        {"{\"at\":1}", "step: the name of a step expected"},
        {"{\"step\":\"\",\"at\":1}", "step: the name of a step expected"},
        {"{\"step\":7,\"at\":1}", "step: string expected, not int"},
        {"{\"step\":\"a\\u0000b\",\"at\":1}", "step: 0 to 255 bytes expected, none of them NUL"},
        {"{\"step\":\"s\"}", "at: missing"},
        {"{\"step\":\"s\",\"at\":\"1\"}", "at: number expected, not string"},
        {"{\"step\":\"s\",\"at\":-1}", "at: -1: between 0 and 1e+12 expected"},
        {"{\"step\":\"s\",\"at\":1e13}", "at: 1e+13: between 0 and"},
        {"{\"step\":\"s\",\"at\":1,\"cycles\":-2}",
         "cycles: -2: between 0 and 1.84467440737e+19 expected"},
        {"{\"step\":\"s\",\"at\":1,\"cycles\":1e20}", "cycles: 1e+20: between 0 and"},
        {"{\"step\":\"s\",\"at\":1,\"cycles\":true}", "cycles: number expected, not boolean"},
        {"{\"step\":\"s\",\"at\":1,\"rss_node\":7}", "rss_node: array expected, not int"},
        {"{\"step\":\"s\",\"at\":1,\"rss_node\":[0,null]}", "rss_node[1]: missing"},
        {"{\"step\":\"s\",\"at\":1,\"rss_node\":[-1]}", "rss_node[0]: -1: between 0 and"},
        {"{\"step\":\"s\",\"at\":1,\"cycles\":1,\"error\":{\"cycles\":-1}}",
         "error.cycles: -1: between 0"},
        {"{\"step\":\"s\",\"at\":1,\"error\":[]}", "error: object expected, not array"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct counters_sample sample;
        struct by_node by;
        char step[SAMPLES_NAME_MAX];
        struct berth_error err = {""};

        assert_int_equal(
            sample_line_read_json(wrong[i][0], strlen(wrong[i][0]), step, &sample, &by, &err), -1);
        if (strncmp(err.text, wrong[i][1], strlen(wrong[i][1])) != 0)
            fail_msg("%s: %s, not %s", wrong[i][0], err.text, wrong[i][1]);
    }
}

static void test_too_many_nodes(void **state)
{
    char line[1024] = "{\"step\":\"s\",\"at\":1,\"rss_node\":[0";
    struct counters_sample sample;
    struct by_node by;
    char step[SAMPLES_NAME_MAX];
    struct berth_error err = {""};

    (void)state;
    for (int i = 0; i < COUNTERS_NODES_MAX; i++)
        strcat(line, ",0");
    strcat(line, "]}");
    assert_int_equal(sample_line_read_json(line, strlen(line), step, &sample, &by, &err), -1);
    assert_string_equal(err.text, "rss_node: at most 64 nodes expected");
}

static void test_header_errors(void **state)
{
    static const char *const wrong[][2] = {
        {"step,cycles", "a JSON object, or a CSV header with the columns step and at expected"},
        {"at,cycles", "a JSON object, or a CSV header"},
        {"", "a JSON object, or a CSV header"},
        {"step,at,cycles,cycles", "cycles: one column of that name expected"},
        {"step,at,step", "step: one column of that name expected"},
        {"step,at,\"cycles", "a cell: a closing quote expected"},
        {"step,at,\"cycles\"x", "a cell: at most 255 bytes expected"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sample_line_columns columns;
        struct berth_error err = {""};

        assert_int_equal(sample_line_read_header(wrong[i][0], strlen(wrong[i][0]), &columns, &err),
                         -1);
        if (strncmp(err.text, wrong[i][1], strlen(wrong[i][1])) != 0)
            fail_msg("%s: %s, not %s", wrong[i][0], err.text, wrong[i][1]);
    }
}

static void test_too_many_columns(void **state)
{
    char header[1024] = "step,at";
    struct sample_line_columns columns;
    struct berth_error err = {""};

    (void)state;
    for (int i = 2; i < SAMPLES_COLUMNS_MAX; i++)
        strcat(header, ",x");
    assert_int_equal(sample_line_read_header(header, strlen(header), &columns, &err), 0);
    strcat(header, ",x");
    assert_int_equal(sample_line_read_header(header, strlen(header), &columns, &err), -1);
    assert_string_equal(err.text, "at most 256 columns expected");
}

static void test_row_errors(void **state)
{
    static const char header[] = "step,at,cycles";
    static const char *const wrong[][2] = {
        {"s,1", "2 cells: 3 expected, as in the header"},
        {"s,1,2,3", "4 cells: 3 expected, as in the header"},
        {",1,2", "step: the name of a step expected"},
        {"s,,2", "at: '': a number expected"},
        {"s,x,2", "at: 'x': a number expected"},
        {"s,1e,2", "at: '1e': a number expected"},
        {"s,-1,2", "at: -1: between 0 and 1e+12 expected"},
        {"s,1,0x10", "cycles: '0x10': a number expected"},
        {"s,1,nan", "cycles: 'nan': a number expected"},
        {"s,1,inf", "cycles: 'inf': a number expected"},
        {"s,1,2 3", "cycles: '2 3': a number expected"},
        {"s,1,1e999", "cycles: inf: between 0 and"},
        {"s,1,-1", "cycles: -1: between 0 and"},
    };
    struct sample_line_columns columns;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(sample_line_read_header(header, strlen(header), &columns, &err), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct counters_sample sample;
        char step[SAMPLES_NAME_MAX];

        assert_int_equal(
            sample_line_read_csv(wrong[i][0], strlen(wrong[i][0]), &columns, step, &sample, &err),
            -1);
        if (strncmp(err.text, wrong[i][1], strlen(wrong[i][1])) != 0)
            fail_msg("%s: %s, not %s", wrong[i][0], err.text, wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_round_trip), cmocka_unit_test(test_json_text),
        cmocka_unit_test(test_csv_round_trip),  cmocka_unit_test(test_csv_text),
        cmocka_unit_test(test_json_lenient),    cmocka_unit_test(test_csv_lenient),
        cmocka_unit_test(test_json_errors),     cmocka_unit_test(test_too_many_nodes),
        cmocka_unit_test(test_header_errors),   cmocka_unit_test(test_too_many_columns),
        cmocka_unit_test(test_row_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
