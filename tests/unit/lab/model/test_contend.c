/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_contend - the slowdown model's JSON: pairs, groups, what was observed, notes, and errors
 * that name the field. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "packer/base/json.h"
#include "lab/model/models.h"

#define SDP "\"sdp\":{\"hits\":[9000,9000],\"misses\":3000}"
#define WHOLE                                                                                      \
    "\"ipc\":0.5," SDP ",\"sdp_prefetch\":{\"hits\":[0,0],\"misses\":0},\"mem_write_gbps\":0"
#define APPS "\"apps\":[{\"name\":\"a\"," WHOLE "},{\"name\":\"b \\\"\"," WHOLE "}]"
#define MACHINE                                                                                    \
    "\"machine\":{\"llc_bytes\":1048576,\"llc_ways\":2,\"line_bytes\":64,\"dram_gbps\":20,"        \
    "\"clock_ghz\":3}"

static struct json_object *run(const char *text, struct berth_error *err)
{
    struct json_object *input = json_parse(text, strlen(text), err), *output;

    assert_non_null(input);
    output = ctl_filter_run(&ctl_filter_contend, input, err);
    json_object_put(input);
    return output;
}

/* The answer as it is printed, read again. */
static struct json_object *answer(const char *text)
{
    struct berth_error err = {""};
    struct json_object *output = run(text, &err), *again;
    const char *printed;

    assert_non_null(output);
    printed = json_object_to_json_string(output);
    again = json_parse(printed, strlen(printed), &err);
    assert_non_null(again);
    json_object_put(output);
    return again;
}

static struct json_object *element(struct json_object *object, const char *key, size_t i)
{
    return json_object_array_get_idx(json_object_object_get(object, key), i);
}

static double number(struct json_object *object, const char *key)
{
    return json_object_get_double(json_object_object_get(object, key));
}

static void pairs_and_groups(void **state)
{
    struct json_object *output = answer(
        "{" APPS "," MACHINE ",\"groups\":[[\"a\",\"b \\\"\"],[\"a\",\"a\",\"a\"],[\"a\"]]}");
    struct json_object *self, *pair, *group;

    (void)state;
    assert_int_equal(json_object_array_length(json_object_object_get(output, "pairs")), 3);
    self = element(output, "pairs", 0);
    pair = element(output, "pairs", 1);
    assert_string_equal(json_object_get_string(json_object_object_get(pair, "b")), "b \"");
    assert_true(number(pair, "a_given_b") > 0.01);
    assert_true(fabs(number(pair, "a_given_b") - number(self, "a_given_b")) < 1e-6);
    assert_true(fabs(number(pair, "score") - 2 * number(pair, "a_given_b")) < 1e-6);

    assert_int_equal(json_object_array_length(json_object_object_get(output, "groups")), 3);
    group = element(output, "groups", 0);
    assert_string_equal(json_object_get_string(element(group, "apps", 1)), "b \"");
    assert_true(fabs(json_object_get_double(element(group, "slowdown", 0)) -
                     number(pair, "a_given_b")) < 1e-6);
    group = element(output, "groups", 1);
    assert_true(json_object_get_double(element(group, "slowdown", 2)) >
                number(self, "a_given_b") * 1.1);
    assert_true(json_object_get_double(element(element(output, "groups", 2), "slowdown", 0)) == 0);
    assert_null(json_object_object_get(output, "notes"));
    json_object_put(output);
}

#define FOUR                                                                                       \
    "\"apps\":[{\"name\":\"a\"," WHOLE "},{\"name\":\"b\"," WHOLE "},{\"name\":\"c\"," WHOLE       \
    "},{\"name\":\"d\"," WHOLE "}]," MACHINE
#define GROUPS ",\"groups\":[[\"a\",\"b\"],[\"a\",\"b\",\"c\"],[\"c\",\"d\"]]"

/* Slowdown k of group g in an answer. */
static double of_group(struct json_object *output, size_t g, size_t k, const char *key)
{
    return json_object_get_double(element(element(output, "groups", g), key, k));
}

/* Of four programs that are alike, a was measured beside b and d: much slower than predicted. */
static void observed_corrects_pairs_and_groups(void **state)
{
    struct json_object *before = answer("{" FOUR GROUPS "}"), *after;
    double alike = of_group(before, 0, 0, "slowdown"), measured = alike + 0.5;
    char text[2048];

    (void)state;
    snprintf(text, sizeof(text),
             "{" FOUR GROUPS ",\"observed\":[{\"app\":\"a\",\"beside\":[\"b\"],\"slowdown\":%g,"
             "\"error\":0.01},{\"app\":\"a\",\"beside\":[\"d\"],\"slowdown\":%g,\"error\":0.01},"
             "{\"app\":\"b\",\"beside\":[\"a\",\"c\"],\"slowdown\":0.1,\"error\":null}]}",
             measured, measured);
    after = answer(text);
    assert_null(json_object_object_get(element(before, "pairs", 1), "a_error"));
    assert_true(fabs(number(element(after, "pairs", 1), "a_given_b") - measured) < 0.05);
    assert_true(fabs(of_group(after, 0, 0, "slowdown") - measured) < 0.05);
    assert_true(number(element(after, "pairs", 1), "a_error") < 0.05);
    /* a beside c, and c beside b: less is known; c beside d: least */
    assert_true(number(element(after, "pairs", 2), "a_given_b") > alike + 0.02);
    assert_true(number(element(after, "pairs", 2), "a_error") > 0.05);
    assert_true(number(element(after, "pairs", 5), "b_given_a") < measured);
    assert_true(of_group(after, 1, 0, "slowdown") > of_group(before, 1, 0, "slowdown") + 0.02);
    assert_true(of_group(after, 1, 1, "slowdown") < of_group(before, 1, 1, "slowdown"));
    assert_true(of_group(after, 1, 1, "error") > 0);
    json_object_put(before);
    json_object_put(after);
}

static void nothing_observed_is_no_error(void **state)
{
    struct json_object *output = answer("{" FOUR ",\"observed\":[]}");

    (void)state;
    assert_null(json_object_object_get(element(output, "pairs", 0), "a_error"));
    json_object_put(output);
}

/* Siblings lose more than neighbours on a cache; what the clock costs is beside the pairs. */
static void siblings_and_the_clock(void **state)
{
    struct json_object *neighbours = answer("{" FOUR "}"),
                       *siblings = answer("{" FOUR ",\"sibling\":true}"),
                       *turbo = answer("{\"apps\":[{\"name\":\"p\",\"ipc\":2}],\"machine\":{"
                                       "\"clock\":{\"one_ghz\":4,\"all_ghz\":3,\"cores\":7}}}");

    (void)state;
    assert_true(number(element(siblings, "pairs", 1), "a_given_b") >
                number(element(neighbours, "pairs", 1), "a_given_b") + 0.1);
    assert_null(json_object_object_get(neighbours, "clock"));
    assert_true(fabs(number(element(turbo, "clock", 0), "all") - 1.0 / 3) < 1e-9);
    assert_true(fabs(number(element(turbo, "clock", 0), "half") - (4 / (4 - 1.0 / 3) - 1)) < 1e-9);
    assert_true(number(element(turbo, "pairs", 0), "score") == 0);
    json_object_put(neighbours);
    json_object_put(siblings);
    json_object_put(turbo);
}

static void notes_say_what_is_assumed(void **state)
{
    struct json_object *output = answer("{\"apps\":[{\"name\":\"p\"},{\"name\":\"q\",\"ipc\":1," SDP
                                        "},{\"name\":\"r\"},{\"name\":\"s\"},{\"name\":\"t\"},"
                                        "{\"name\":\"u\"},{\"name\":\"v\"}]}");

    (void)state;
    assert_string_equal(json_object_get_string(element(output, "notes", 0)),
                        "p, r, s, t, u, and 1 more: ipc unknown: one instruction per cycle is "
                        "assumed");
    assert_int_equal(json_object_array_length(json_object_object_get(output, "notes")), 11);
    assert_string_equal(
        json_object_get_string(element(output, "notes", 10)),
        "machine.dram_gbps unknown: one channel is assumed, and what programs take");
    json_object_put(output);
}

static const struct {
    const char *input, *error;
} refused[] = {
    {"{}", "apps: "},
    {"{\"apps\":[{\"name\":\"a\",\"ipc\":-1}]}", "apps[0].ipc: -1: between 0 and 1e+12 expected"},
    {"{\"apps\":[{\"name\":\"a\",\"sdp\":{\"hits\":[1,2e12],\"misses\":0}}]}",
     "apps[0].sdp.hits[1]: "},
    {"{" APPS ",\"machine\":{\"clock_ghz\":0}}", "machine.clock_ghz: at least 0.001"},
    {"{" APPS ",\"machine\":{\"dram_gbps\":0}}", "machine.dram_gbps: at least 0.001"},
    {"{" APPS ",\"machine\":{\"llc_bytes\":0}}", "machine.llc_bytes: at least 0.001"},
    {"{" APPS ",\"groups\":{}}", "groups: "},
    {"{" APPS ",\"groups\":[[]]}", "groups[0]: 1 to 256 programs expected, not 0"},
    {"{" APPS ",\"groups\":[[\"a\"],[\"a\",\"c\"]]}", "groups[1][1]: \"c\" is no program of apps"},
    {"{" APPS ",\"groups\":[[7]]}", "groups[0][0]: 7 is no program of apps"},
    {"{" APPS ",\"observed\":{}}", "observed: "},
    {"{" APPS ",\"observed\":[3]}", "observed[0]: object expected, not int"},
    {"{" APPS ",\"observed\":[{\"beside\":[\"a\"],\"slowdown\":0.1}]}", "observed[0].app: "},
    {"{" APPS ",\"observed\":[{\"app\":\"x\",\"beside\":[\"a\"],\"slowdown\":0.1}]}",
     "observed[0].app: \"x\" is no program of apps"},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":[],\"slowdown\":0.1}]}",
     "observed[0].beside: 1 to 255 programs expected, not 0"},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":[\"y\"],\"slowdown\":0.1}]}",
     "observed[0].beside[0]: \"y\" is no program of apps"},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":\"a\",\"slowdown\":0.1}]}",
     "observed[0].beside: "},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":[\"a\"]}]}", "observed[0].slowdown: "},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":[\"a\"],\"slowdown\":-2}]}",
     "observed[0].slowdown: -2: "},
    {"{" APPS ",\"observed\":[{\"app\":\"a\",\"beside\":[\"a\"],\"slowdown\":0,\"error\":-1}]}",
     "observed[0].error: -1: "},
};

static void errors_name_the_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct berth_error err = {""};

        assert_null(run(refused[i].input, &err));
        if (strncmp(err.text, refused[i].error, strlen(refused[i].error)) != 0)
            fail_msg("%s: %s", refused[i].input, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_and_groups),
        cmocka_unit_test(observed_corrects_pairs_and_groups),
        cmocka_unit_test(nothing_observed_is_no_error),
        cmocka_unit_test(siblings_and_the_clock),
        cmocka_unit_test(notes_say_what_is_assumed),
        cmocka_unit_test(errors_name_the_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
