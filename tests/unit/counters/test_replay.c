/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_counters_replay - the backend: which recording a step gets, and what is counted for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/counters/counters.h"
#include "tests/unit/common/folder.h"

static void *open_fixture(void)
{
    const char *srcdir = getenv("srcdir");
    struct conf conf = {.counters_replay = ""};
    struct counters_node node = {.conf = &conf};
    char say[COUNTERS_SAY];
    struct berth_error err;
    uint32_t can = 0;
    void *state;

    snprintf(conf.counters_replay, sizeof(conf.counters_replay), "%s/tests/fixtures/samples/%s",
             srcdir ? srcdir : ".", "three.jsonl");
    if (counters_replay.open(&node, &state, &can, say, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(strstr(say, "plays 60 samples of 3 steps from "));
    assert_non_null(strstr(say, "three.jsonl"));
    assert_int_equal(can, 1u << COUNTER_INSTRUCTIONS | 1u << COUNTER_CYCLES |
                              1u << COUNTER_LLC_ACCESSES | 1u << COUNTER_LLC_MISSES |
                              1u << COUNTER_BYTES | 1u << COUNTER_CPU_NS | 1u << COUNTER_SWITCHES |
                              1u << COUNTER_THREADS | 1u << COUNTER_RSS_BYTES);
    return state;
}

static void test_reads(void **state)
{
    const struct enforce_step body = {.id = {4711, 0}};
    struct counters_target target = {.body = &body, .name = "devil", .elapsed_s = 2.5};
    void *backend = open_fixture(), *step;
    struct counters_sample sample = {0};
    struct berth_error err;

    (void)state;
    assert_int_equal(counters_replay.attach(backend, &target, &step, &err), 0);
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), 0);
    assert_true(sample.at_s == 2.5);
    assert_true(sample.value[COUNTER_INSTRUCTIONS] == 3e9);
    assert_true(sample.value[COUNTER_LLC_MISSES] == 60e6);
    assert_true(sample.value[COUNTER_THREADS] == 1);
    assert_false(counters_know(&sample, COUNTER_STALLS));
    sample = (struct counters_sample){0};
    target.elapsed_s = 42; /* it plays again */
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), 0);
    assert_true(sample.value[COUNTER_LLC_MISSES] == 42 * 24e6);
    counters_replay.detach(backend, step);
    counters_replay.close(backend);
}

static void test_lookup(void **state)
{
    static const char text[] = "step,at,cycles\n4711.batch,1,10\n4711.0,1,20\nsolver,1,30\n";
    static const struct {
        const char *name;
        struct wire_step_id id;
        double cycles; /* 0: no recording */
    } cases[] = {{"solver", {1, 0}, 30},   {"solver", {4711, 0}, 30},
                 {"other", {4711, 0}, 20}, {"", {4711, WIRE_STEP_BATCH}, 10},
                 {"other", {4711, 1}, 0},  {"", {1, 0}, 0}};
    struct conf conf = {.counters_replay = "/tmp/berth-replay-XXXXXX"};
    struct counters_node node = {.conf = &conf};
    char say[COUNTERS_SAY];
    uint32_t can;
    int fd = mkstemp(conf.counters_replay);
    struct berth_error err;
    void *backend;

    (void)state;
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    assert_int_equal(counters_replay.open(&node, &backend, &can, say, &err), 0);
    unlink(conf.counters_replay);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct enforce_step body = {.id = cases[i].id};
        struct counters_target target = {.body = &body, .name = cases[i].name, .elapsed_s = 1};
        int wanted = cases[i].cycles > 0 ? 0 : -1;
        struct counters_sample sample = {0};
        void *step;

        assert_int_equal(counters_replay.attach(backend, &target, &step, &err), wanted);
        if (wanted < 0) {
            assert_non_null(strstr(err.text, "no recording of '"));
            continue;
        }
        assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), 0);
        assert_true(sample.value[COUNTER_CYCLES] == cases[i].cycles);
        counters_replay.detach(backend, step);
    }
    counters_replay.close(backend);
}

static void test_not_here(void **state)
{
    struct conf conf = {.counters_replay = ""};
    struct counters_node node = {.conf = &conf};
    char say[COUNTERS_SAY];
    uint32_t can;
    struct berth_error err;
    void *backend;

    (void)state;
    assert_int_equal(counters_replay.open(&node, &backend, &can, say, &err), -1);
    assert_string_equal(err.text, "counters_replay is not set in berth.conf");
    strcpy(conf.counters_replay, "/nowhere/x");
    assert_int_equal(counters_replay.open(&node, &backend, &can, say, &err), -1);
    assert_string_equal(err.text, "/nowhere/x: No such file or directory");
}

/* The newest sample of each step in a folder, which somebody replaces while the step runs. */
static void test_folder(void **state)
{
    char path[] = "/tmp/berth-replay-XXXXXX";
    const struct enforce_step body = {.id = {4711, 0}};
    struct counters_target target = {.body = &body, .name = "solver", .elapsed_s = 99};
    struct conf conf = {.counters_replay = ""};
    struct counters_node node = {.conf = &conf};
    struct counters_sample sample = {0};
    char say[COUNTERS_SAY];
    struct berth_error err;
    void *backend, *step;
    uint32_t can;

    (void)state;
    assert_non_null(mkdtemp(path));
    strcpy(conf.counters_replay, path);
    assert_int_equal(counters_replay.open(&node, &backend, &can, say, &err), 0);
    assert_true(can & 1u << COUNTER_INSTRUCTIONS);
    assert_int_equal(counters_replay.attach(backend, &target, &step, &err), 0);
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), -1);
    assert_string_equal(err.text, "4711.0: No such file or directory");
    folder_put(path, "4711.0", "{\"step\":\"4711.0\",\"at\":3,\"cycles\":7}\n");
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), 0);
    assert_true(sample.at_s == 3 && sample.value[COUNTER_CYCLES] == 7);
    assert_true(sample.known == 1u << COUNTER_CYCLES);
    folder_put(path, "4711.0", "{\"step\":\"4711.0\",\"at\":4,\"cycles\":9}\n");
    sample = (struct counters_sample){0};
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), 0);
    assert_true(sample.at_s == 4 && sample.value[COUNTER_CYCLES] == 9);
    folder_put(path, "4711.0", "{\"step\":\"4711.0\",\"at\":4,\"cycles\":-9}\n");
    assert_int_equal(counters_replay.read(backend, step, &target, &sample, &err), -1);
    assert_non_null(strstr(err.text, "4711.0: cycles: -9"));
    counters_replay.detach(backend, step);
    counters_replay.close(backend);
    folder_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_not_here),
        cmocka_unit_test(test_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
