/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_replay - files of samples, read whole and played: what was counted between, before and after
 * the samples, and each file that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/counters/recorded.h"
#include "packer/counters/sample_line.h"

static char path[] = "/tmp/berth-replay-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *text, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static struct recorded *read_text(const char *text)
{
    struct recorded *replay;
    struct berth_error err;

    put(text, strlen(text));
    if (recorded_read(&replay, path, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return replay;
}

static struct counters_sample at(const struct recorded *replay, const char *name, double at_s)
{
    static struct by_node by[4]; /* of the last four */
    static unsigned called;
    struct counters_sample sample = {.by_node = &by[called++ % 4]};
    long step = recorded_find(replay, name);

    *sample.by_node = (struct by_node){.nodes = 0};
    assert_true(step >= 0);
    recorded_at(replay, (size_t)step, at_s, &sample);
    assert_true(sample.at_s == at_s);
    return sample;
}

static const char *fixture(const char *name)
{
    static char text[512];
    const char *srcdir = getenv("srcdir");

    snprintf(text, sizeof(text), "%s/tests/fixtures/samples/%s", srcdir ? srcdir : ".", name);
    return text;
}

/* A count and a gauge, from 2 s to 10 s, and another step between their lines. */
#define TWO_STEPS                                                                                  \
    "{\"version\":1,\"step\":\"a\",\"at\":2,\"cycles\":100,\"threads\":1,\"rss_node\":[5,6]}\n"    \
    "{\"version\":1,\"step\":\"b\",\"at\":0,\"cycles\":7}\n"                                       \
    "{\"version\":1,\"step\":\"a\",\"at\":4,\"cycles\":400,\"threads\":3,\"error\":"               \
    "{\"cycles\":0.5}}\n"                                                                          \
    "\n"                                                                                           \
    "{\"version\":1,\"step\":\"a\",\"at\":10,\"cycles\":1000,\"threads\":2}" /* no newline */

static void test_counts(void **state)
{
    static const double wanted[][2] = {
        {-1, 0},    {0, 0},     {1, 50},      {2, 100},     {3, 250},         {4, 400},
        {7, 700},   {10, 1000}, {11, 1050},   {12, 1100},   {13, 1250},       {20, 2000},
        {22, 2100}, {25, 2500}, {100, 10000}, {104, 10400}, {10007, 1000700},
    };
    struct recorded *replay = read_text(TWO_STEPS);
    struct counters_sample last;

    (void)state;
    assert_int_equal(recorded_steps(replay), 2);
    assert_string_equal(recorded_name(replay, 1), "b");
    assert_int_equal(recorded_find(replay, "c"), -1);
    assert_int_equal(recorded_samples(replay), 4);
    assert_int_equal(recorded_values(replay),
                     10); /* 3 of cycles of a, 3 of threads, 1 error, 2 nodes;
                             b */
    assert_int_equal(recorded_samples_of(replay, 0), 3);
    recorded_sample(replay, 0, 2, &last, NULL);
    assert_true(last.at_s == 10 && last.value[COUNTER_THREADS] == 2);
    assert_int_equal(recorded_known(replay, 0), 1u << COUNTER_CYCLES | 1u << COUNTER_THREADS);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct counters_sample sample = at(replay, "a", wanted[i][0]);

        assert_true(counters_know(&sample, COUNTER_CYCLES));
        if (sample.value[COUNTER_CYCLES] != wanted[i][1])
            fail_msg("at %g: %.17g, not %g", wanted[i][0], sample.value[COUNTER_CYCLES],
                     wanted[i][1]);
    }
    recorded_free(replay);
}

static void test_gauges(void **state)
{
    static const double wanted[][2] = {{0, -1}, {1.9, -1}, {2, 1},  {3.9, 1}, {4, 3},
                                       {9, 3},  {10, 2},   {11, 2}, {12, 1},  {14, 3}};
    struct recorded *replay = read_text(TWO_STEPS);

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct counters_sample sample = at(replay, "a", wanted[i][0]);

        assert_int_equal(counters_know(&sample, COUNTER_THREADS), wanted[i][1] >= 0);
        if (wanted[i][1] >= 0)
            assert_true(sample.value[COUNTER_THREADS] == wanted[i][1]);
    }
    recorded_free(replay);
}

static void test_errors_and_nodes(void **state)
{
    struct recorded *replay = read_text(TWO_STEPS);
    struct counters_sample sample = at(replay, "a", 3);

    (void)state;
    assert_true(sample.error[COUNTER_CYCLES] == 0.5);
    assert_int_equal(sample.nodes, 2);
    assert_true(sample.rss_node[0] == 5 && sample.rss_node[1] == 6);
    assert_true(at(replay, "a", 1).error[COUNTER_CYCLES] == 0);
    assert_int_equal(at(replay, "a", 1).nodes, 0);
    assert_int_equal(at(replay, "a", 5).nodes, 0); /* that sample knew none */
    recorded_free(replay);
}

#define BY_NODE                                                                                    \
    "{\"step\":\"a\",\"at\":1,\"by_node\":{\"reads_local\":[10,0],\"error\":{\"reads_local\":0.5}" \
    "}}\n"                                                                                         \
    "{\"step\":\"b\",\"at\":1,\"cycles\":3}\n"                                                     \
    "{\"step\":\"a\",\"at\":2,\"by_node\":{\"reads_local\":[30,8],\"reads_from\":[[1,2],[3,4]]}}"  \
    "\n"

/* Counts by node grow from sample to sample, and go on when the recording begins again. */
static void test_by_node(void **state)
{
    static const struct {
        double at_s, local[2];
        bool pairs;
    } wanted[] = {{0, {0, 0}, false},    {0.5, {5, 0}, false}, {1, {10, 0}, false},
                  {1.5, {20, 4}, false}, {2, {30, 8}, true},   {2.5, {35, 8}, false},
                  {4, {60, 16}, true}};
    struct recorded *replay = read_text(BY_NODE);

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct counters_sample sample = at(replay, "a", wanted[i].at_s);
        const double *local = by_node_values(sample.by_node, BY_NODE_READS_LOCAL);

        assert_true(by_node_knows(sample.by_node, BY_NODE_READS_LOCAL));
        if (local[0] != wanted[i].local[0] || local[1] != wanted[i].local[1])
            fail_msg("at %g: %g %g", wanted[i].at_s, local[0], local[1]);
        assert_int_equal(by_node_knows(sample.by_node, BY_NODE_READS_FROM), wanted[i].pairs);
    }
    assert_true(at(replay, "a", 1).by_node->error[BY_NODE_READS_LOCAL] == 0.5);
    assert_int_equal(at(replay, "b", 1).by_node->known, 0);
    recorded_free(replay);
}

/* All of it at once, at its registration: there is nothing to play on. */
static void test_one_sample_at_zero(void **state)
{
    struct recorded *replay = read_text(TWO_STEPS);

    (void)state;
    assert_true(at(replay, "b", 0).value[COUNTER_CYCLES] == 7);
    assert_true(at(replay, "b", 1e6).value[COUNTER_CYCLES] == 7);
    recorded_free(replay);
}

/* A counter that some samples lack is not guessed, and goes on from where it was. */
static void test_unknown_between(void **state)
{
    struct recorded *replay = read_text("step,at,cycles,faults\n"
                                        "a,1,10,\na,2,20,5\na,3,,7\na,4,40,\n");
    static const struct {
        double at_s, cycles, faults; /* -1: not known */
    } wanted[] = {{0.5, 5, -1},  {1, 10, -1},   {1.5, 15, -1}, {2, 20, 5},    {2.5, -1, 6},
                  {3, -1, 7},    {3.5, -1, -1}, {4, 40, -1},   {4.5, 45, -1}, {6, 60, 12},
                  {6.5, -1, 13}, {7, -1, 14},   {8, 80, -1}};

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct counters_sample sample = at(replay, "a", wanted[i].at_s);
        double cycles = counters_know(&sample, COUNTER_CYCLES) ? sample.value[COUNTER_CYCLES] : -1;
        double faults = counters_know(&sample, COUNTER_FAULTS) ? sample.value[COUNTER_FAULTS] : -1;

        if (cycles != wanted[i].cycles || faults != wanted[i].faults)
            fail_msg("at %g: %g %g", wanted[i].at_s, cycles, faults);
    }
    recorded_free(replay);
}

/* What another backend has entered stays. */
static void test_adds_only(void **state)
{
    struct recorded *replay = read_text(TWO_STEPS);
    struct counters_sample sample = {.nodes = 1, .rss_node = {9}};

    (void)state;
    counters_set(&sample, COUNTER_CYCLES, 1);
    recorded_at(replay, 0, 2, &sample);
    assert_true(sample.value[COUNTER_CYCLES] == 1 && sample.value[COUNTER_THREADS] == 1);
    assert_true(sample.nodes == 1 && sample.rss_node[0] == 9);
    recorded_free(replay);
}

/* With lengths and counts that no double is exact for. */
static void test_never_falls(void **state)
{
    struct recorded *replay = read_text("step,at,cycles\n"
                                        "a,0.1,0.30000000000000004\n"
                                        "a,0.7,1234567890123.7\na,1.1,9007199254740.993\n");
    double before = 0, last = 0;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        double at_s = i < 100000 ? i * 0.0011 : i / 100000 * 110 + (i - 100000) * 1.1e-9;
        double now = at(replay, "a", at_s).value[COUNTER_CYCLES];

        if (at_s >= last && now < before)
            fail_msg("at %.17g: %.17g after %.17g", at_s, now, before);
        before = now;
        last = at_s;
    }
    recorded_free(replay);
}

static void test_fixtures(void **state)
{
    struct recorded *json, *csv;
    struct berth_error err;

    (void)state;
    if (recorded_read(&json, fixture("three.jsonl"), &err) < 0 ||
        recorded_read(&csv, fixture("three.csv"), &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(recorded_steps(json), 3);
    for (size_t i = 0; i < 3; i++)
        for (double at_s = 0; at_s < 45; at_s += 0.3) {
            struct counters_sample a = at(json, recorded_name(json, i), at_s);
            struct counters_sample b = at(csv, recorded_name(json, i), at_s);

            a.nodes = 0; /* CSV has none */
            a.by_node = b.by_node = NULL;
            memset(a.rss_node, 0, sizeof(a.rss_node));
            assert_memory_equal(&a, &b, sizeof(a));
        }
    assert_true(at(json, "phases", 10).value[COUNTER_LLC_MISSES] == 1.2e6);
    assert_true(at(json, "phases", 11).value[COUNTER_LLC_MISSES] == 1.2e6 + 48e6);
    recorded_free(json);
    recorded_free(csv);
}

/* A real one, of a machine without a PMU: what nobody counted is not there. */
static void test_recorded(void **state)
{
    struct counters_sample first, last;
    struct recorded *replay;
    struct berth_error err;
    long devil;

    (void)state;
    if (recorded_read(&replay, fixture("software.jsonl"), &err) < 0)
        fail_msg("%s", err.text);
    devil = recorded_find(replay, "devil");
    assert_true(devil >= 0 && recorded_find(replay, "turtle") >= 0);
    recorded_sample(replay, (size_t)devil, 0, &first, NULL);
    recorded_sample(replay, (size_t)devil, recorded_samples_of(replay, (size_t)devil) - 1, &last,
                    NULL);
    assert_true(last.value[COUNTER_CPU_NS] - first.value[COUNTER_CPU_NS] <=
                (last.at_s - first.at_s) * 1e9);
    assert_true(last.value[COUNTER_RSS_BYTES] > 64 << 20 && last.nodes > 0);
    assert_false(counters_know(&last, COUNTER_INSTRUCTIONS));
    recorded_free(replay);
}

static void test_refused(void **state)
{
    static const char line[] = "{\"step\":\"a\",\"at\":1,\"cycles\":5,\"threads\":9,"
                               "\"by_node\":{\"bytes\":[5,6]}}\n";
    static const struct {
        const char *more, *error; /* behind the line; where and why */
    } wrong[] = {
        {"{\"step\":\"a\",\"at\":1}", ":2: at: 1: more than 1 expected"},
        {"\n\n{\"step\":\"a\",\"at\":0.5}", ":4: at: 0.5: more than 1 expected"},
        {"{\"step\":\"a\",\"at\":2,\"cycles\":4}", ":2: cycles: 4: 5 or more expected: a count"},
        {"{\"step\":\"a\",\"at\":2}\n{\"step\":\"a\",\"at\":3,\"cycles\":4}", ":3: cycles: 4: 5"},
        {"{\"step\":\"a\",\"at\":2,\"cycles\":5", ":2: not JSON"},
        {"step,at\n", ":2: not JSON"},
        {"{\"step\":\"b\"}", ":2: at: missing"},
        {"{\"step\":\"a\",\"at\":2,\"by_node\":{\"bytes\":[5,5]}}", ":2: by_node.bytes: as many"},
        {"{\"step\":\"a\",\"at\":2,\"by_node\":{\"bytes\":[9]}}", ":2: by_node.bytes: as many"},
        {"{\"step\":\"a\",\"at\":2,\"by_node\":{\"bytes\":[9,-1]}}", ":2: by_node.bytes[1]: -1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct recorded *replay = NULL;
        struct berth_error err = {""};
        char text[512];

        snprintf(text, sizeof(text), "%s%s", line, wrong[i].more);
        put(text, strlen(text));
        assert_int_equal(recorded_read(&replay, path, &err), -1);
        assert_null(replay);
        if (strncmp(err.text, path, strlen(path)) != 0 ||
            strncmp(err.text + strlen(path), wrong[i].error, strlen(wrong[i].error)) != 0)
            fail_msg("%s: %s", wrong[i].more, err.text);
    }
    /* gauges fall, of course; other steps are not compared with */
    recorded_free(read_text("step,at,cycles,threads\na,1,5,9\nb,0.5,1,1\na,2,5,3\n"));
}

static void test_no_samples(void **state)
{
    static const char *const texts[][2] = {
        {"", ":1: a sample expected"},
        {"\n\n", ":3: a sample expected"},
        {"step\n", ":1: a JSON object, or a CSV header with the columns step and at expected"},
        {"step,at\n", ":2: a sample expected"},
        {"\x7f\x45LF\n", ":1: a JSON object, or a CSV header"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct recorded *replay;
        struct berth_error err = {""};

        put(texts[i][0], strlen(texts[i][0]));
        assert_int_equal(recorded_read(&replay, path, &err), -1);
        if (!strstr(err.text, texts[i][1]))
            fail_msg("%s", err.text);
    }
}

static void test_long_line(void **state)
{
    size_t length = SAMPLES_LINE_MAX + 1;
    char *text = malloc(length);
    struct recorded *replay;
    struct berth_error err = {""};

    (void)state;
    memset(text, ' ', length);
    memcpy(text, "{\"step\":\"a\",\"at\":1}", 19);
    put(text, length - 1);
    assert_int_equal(recorded_read(&replay, path, &err), 0);
    recorded_free(replay);
    put(text, length);
    assert_int_equal(recorded_read(&replay, path, &err), -1);
    assert_non_null(strstr(err.text, ":1: at most 65536 bytes expected in a line"));
    free(text);
}

static void test_many_steps(void **state)
{
    FILE *file = fopen(path, "w");
    struct recorded *replay;
    struct berth_error err = {""};

    (void)state;
    fputs("step,at,cycles\n", file);
    for (int round = 1; round <= 2; round++)
        for (int i = 0; i < RECORDED_STEPS_MAX; i++)
            fprintf(file, "s%d,%d,%d\n", i, round, round * i);
    fclose(file);
    assert_int_equal(recorded_read(&replay, path, &err), 0);
    assert_int_equal(recorded_steps(replay), RECORDED_STEPS_MAX);
    assert_true(at(replay, "s1023", 1.5).value[COUNTER_CYCLES] == 1023 * 1.5);
    recorded_free(replay);
    file = fopen(path, "a");
    fputs("more,1,1\n", file);
    fclose(file);
    assert_int_equal(recorded_read(&replay, path, &err), -1);
    assert_non_null(strstr(err.text, ":2050: step: at most 1024 steps expected in one file"));
}

static void test_no_file(void **state)
{
    struct recorded *replay;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(recorded_read(&replay, "/nowhere/samples", &err), -1);
    assert_string_equal(err.text, "/nowhere/samples: No such file or directory");
    assert_int_equal(recorded_read(&replay, "/tmp", &err), -1);
    assert_string_equal(err.text, "/tmp: a regular file expected");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: not waited for */
    assert_int_equal(recorded_read(&replay, path, &err), -1);
    assert_non_null(strstr(err.text, ": a regular file expected"));
    unlink(path);
    put("", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_errors_and_nodes),
        cmocka_unit_test(test_by_node),
        cmocka_unit_test(test_one_sample_at_zero),
        cmocka_unit_test(test_unknown_between),
        cmocka_unit_test(test_adds_only),
        cmocka_unit_test(test_never_falls),
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_samples),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_no_file),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
