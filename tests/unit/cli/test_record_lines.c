/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_record_lines - from berthd's answers to the lines of a file: names, counts that go on, and
 * the bounds of a file. test_ctl_record.sh has the verb as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/cli/record/record_lines.h"

static int add(struct record_lines *recording, const char *sample, char **line,
               struct berth_error *err)
{
    struct json_object *object = json_parse(sample, strlen(sample), err);
    int rc;

    assert_non_null(object);
    rc = record_lines_add(recording, object, line, err);
    json_object_put(object);
    return rc;
}

/* The sample becomes this line; NULL: none. */
static void assert_line(struct record_lines *recording, const char *sample, const char *wanted)
{
    struct berth_error err = {""};
    char *line = NULL;
    int rc = add(recording, sample, &line, &err);

    if (rc < 0)
        fail_msg("%s: %s", sample, err.text);
    assert_int_equal(rc, wanted != NULL);
    if (wanted)
        assert_string_equal(line, wanted);
    free(line);
}

#define SAMPLE(id, name, at, more)                                                                 \
    "{\"id\":\"" id "\",\"step\":\"" name "\",\"at\":" at ",\"threads\":2" more "}"
#define LINE(name, at, more)                                                                       \
    "{\"version\":1,\"step\":\"" name "\",\"at\":" at more ",\"threads\":2}\n"

static void test_names(void **state)
{
    struct record_lines *recording = record_lines_new(false, NULL);

    (void)state;
    assert_line(recording, SAMPLE("1.0", "a", "1", ""), LINE("a", "1", ""));
    assert_line(recording, SAMPLE("1.1", "a", "1", ""), LINE("1.1", "1", ""));
    assert_line(recording, SAMPLE("2.0", "1.1", "1", ""), LINE("2.0", "1", ""));
    assert_line(recording, SAMPLE("3.0", "", "1", ""), LINE("3.0", "1", ""));
    assert_line(recording, SAMPLE("1.0", "a", "2", ""), LINE("a", "2", ""));
    assert_line(recording, SAMPLE("1.1", "a", "2", ""), LINE("1.1", "2", ""));
    /* requeued, twice */
    assert_line(recording, SAMPLE("1.0", "a", "0.5", ""), LINE("1.0", "0.5", ""));
    assert_line(recording, SAMPLE("1.0", "a", "3", ""), LINE("1.0", "3", ""));
    assert_line(recording, SAMPLE("1.0", "a", "0.25", ""), LINE("1.0#2", "0.25", ""));
    assert_int_equal(record_lines_samples(recording), 9);
    assert_int_equal(record_lines_steps(recording), 6);
    record_lines_free(recording);
}

static void test_nothing_to_write(void **state)
{
    struct record_lines *recording = record_lines_new(false, NULL);

    (void)state;
    assert_line(recording, "{\"id\":\"1.0\",\"step\":\"a\",\"at\":1}", NULL);
    assert_int_equal(record_lines_steps(recording), 0);
    assert_line(recording, SAMPLE("1.0", "a", "1", ""), LINE("a", "1", ""));
    assert_line(recording, SAMPLE("1.0", "a", "1", ""), NULL); /* that moment is written */
    record_lines_free(recording);
}

static void test_restarted(void **state)
{
    struct record_lines *recording = record_lines_new(false, NULL);

    (void)state;
    assert_line(recording, SAMPLE("1.0", "a", "1", ",\"cycles\":100,\"faults\":3"),
                LINE("a", "1", ",\"cycles\":100,\"faults\":3"));
    record_lines_restarted(recording);
    /* faults are not known at first, and go on where they were */
    assert_line(recording, SAMPLE("1.0", "a", "2", ",\"cycles\":150"),
                LINE("a", "2", ",\"cycles\":250"));
    record_lines_restarted(recording);
    record_lines_restarted(recording);
    assert_line(recording, SAMPLE("1.0", "a", "3", ",\"cycles\":10,\"faults\":1"),
                LINE("a", "3", ",\"cycles\":260,\"faults\":4"));
    /* what falls by itself stays */
    assert_line(recording, SAMPLE("1.0", "a", "4", ",\"cycles\":9,\"faults\":2"),
                LINE("a", "4", ",\"cycles\":260,\"faults\":5"));
    record_lines_free(recording);
}

/* What is counted by node goes on as well. */
static void test_restarted_by_node(void **state)
{
    struct record_lines *recording = record_lines_new(false, NULL);

    (void)state;
    assert_line(recording, SAMPLE("1.0", "a", "1", ",\"by_node\":{\"bytes\":[5,0]}"),
                "{\"version\":1,\"step\":\"a\",\"at\":1,\"threads\":2,"
                "\"by_node\":{\"bytes\":[5,0]}}\n");
    record_lines_restarted(recording);
    assert_line(recording, SAMPLE("1.0", "a", "2", ",\"by_node\":{\"bytes\":[1,3]}"),
                "{\"version\":1,\"step\":\"a\",\"at\":2,\"threads\":2,"
                "\"by_node\":{\"bytes\":[6,3]}}\n");
    /* what falls by itself stays; another number of nodes is not taken */
    assert_line(recording, SAMPLE("1.0", "a", "3", ",\"by_node\":{\"bytes\":[0,4]}"),
                "{\"version\":1,\"step\":\"a\",\"at\":3,\"threads\":2,"
                "\"by_node\":{\"bytes\":[6,4]}}\n");
    assert_line(recording, SAMPLE("1.0", "a", "4", ",\"by_node\":{\"bytes\":[9]}"),
                LINE("a", "4", ""));
    record_lines_free(recording);
}

static void test_wrong(void **state)
{
    static const char *const wrong[][2] = {
        {"{\"step\":\"a\",\"at\":1}", "a sample of berthd: id: missing"},
        {"{\"id\":\"1.0\",\"at\":1}", "a sample of berthd: step: missing"},
        {"{\"id\":\"1.0\",\"step\":\"a\"}", "a sample of berthd: at: missing"},
        {"{\"id\":\"1.0\",\"step\":\"a\",\"at\":1,\"cycles\":[]}",
         "a sample of berthd: cycles: number expected, not array"},
    };
    struct record_lines *recording = record_lines_new(true, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct berth_error err = {""};
        char *line;

        assert_int_equal(add(recording, wrong[i][0], &line, &err), -1);
        assert_string_equal(err.text, wrong[i][1]);
    }
    record_lines_free(recording);
}

/* What is in the file already counts, and its names are taken. */
static void test_full(void **state)
{
    char path[] = "/tmp/berth-recording-XXXXXX", sample[128], *line;
    int fd = mkstemp(path), rc;
    struct record_lines *recording;
    struct recorded *before;
    struct berth_error err = {""};

    (void)state;
    assert_true(dprintf(fd, "step,at\nold,1\n") > 0);
    close(fd);
    assert_int_equal(recorded_read(&before, path, &err), 0);
    unlink(path);
    recording = record_lines_new(false, before);
    assert_line(recording, SAMPLE("1.0", "old", "1", ""), LINE("1.0", "1", ""));
    for (unsigned i = 2; i < RECORDED_STEPS_MAX; i++) {
        snprintf(sample, sizeof(sample), "{\"id\":\"%u.0\",\"step\":\"a\",\"at\":1,\"cycles\":1}",
                 i);
        rc = add(recording, sample, &line, &err);
        assert_int_equal(rc, 1);
        free(line);
    }
    assert_int_equal(add(recording, SAMPLE("9999.0", "b", "1", ""), &line, &err), -1);
    assert_string_equal(err.text, "the file is full: a file of samples has at most 1024 steps");
    assert_line(recording, SAMPLE("1.0", "old", "2", ""), LINE("1.0", "2", ""));
    record_lines_free(recording);
    recorded_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_nothing_to_write),
        cmocka_unit_test(test_restarted), cmocka_unit_test(test_restarted_by_node),
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
