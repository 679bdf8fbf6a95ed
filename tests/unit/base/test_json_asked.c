/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_json_asked - fields that nobody reads are told with their path and what may be meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"

struct app {
    double llc_mpki, ipc;
};
static const struct json_field app_fields[] = {
    JSON_FIELD(struct app, "llc_mpki", llc_mpki, OPTIONAL),
    JSON_FIELD(struct app, "ipc", ipc, REQUIRED),
    JSON_END,
};

static void tell(const char *path, const char *meant, void *arg)
{
    char *text = arg;

    sprintf(text + strlen(text), "%s=%s;", path, meant ? meant : "");
}

/* Reads as a model does: the list of apps, each with its fields. Returns what is told. */
static const char *told(const char *json)
{
    static char text[1024];
    struct json_object *input = json_parse(json, strlen(json), NULL), *list;
    struct app app;
    int rc = 0;

    json_asked_go_on();
    list = json_find(input, "apps");
    json_find(input, "machine");
    for (size_t i = 0; rc == 0 && i < json_object_array_length(list); i++)
        rc = json_read(json_object_array_get_idx(list, i), app_fields, &app, NULL);
    text[0] = '\0';
    json_asked_tell(input, rc == 0, tell, text);
    json_asked_end();
    json_object_put(input);
    return text;
}

static void test_told(void **state)
{
    (void)state;
    assert_string_equal(told("{\"apps\":[{\"ipc\":1,\"llc_mpki\":2}]}"), "");
    assert_string_equal(
        told("{\"apps\":[{\"ipc\":1},{\"ipc\":1,\"lcc_mpki\":2,\"x\":0}],\"k\":{}}"),
        "apps[1].lcc_mpki=llc_mpki;apps[1].x=;k=;");
    assert_string_equal(told("{\"apps\":[],\"machin\":{\"a\":1}}"), "machin=machine;");
}

/* Nobody asks for the keys of an object one by one: they are names. */
static void test_left_out(void **state)
{
    (void)state;
    assert_string_equal(told("{\"apps\":[],\"machine\":{\"a\":1,\"b\":{\"c\":2}}}"), "");
    assert_string_equal(told("{\"apps\":[],\"note\":1,\"comment\":2,\"_mine\":3}"), "");
}

/* Who stopped at an error has not asked for the rest. */
static void test_given_up(void **state)
{
    (void)state;
    assert_string_equal(told("{\"apps\":[{\"icp\":1,\"x\":2},{\"y\":1}],\"z\":1}"),
                        "apps[0].icp=ipc;");
    assert_string_equal(told("{\"apps\":[{\"ipc\":\"1\",\"ipcs\":2}]}"), "");
}

/* A field that the table has is not unread because one before it was missing: n was asked for, ns
 * would have been. */
static void test_not_come_to(void **state)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct app, "n", ipc, REQUIRED),
        JSON_FIELD(struct app, "ns", llc_mpki, OPTIONAL),
        JSON_END,
    };
    const char *json = "{\"ns\":1,\"nn\":2}";
    struct json_object *input = json_parse(json, strlen(json), NULL);
    char text[64] = "";
    struct app app;

    (void)state;
    json_asked_go_on();
    assert_int_equal(json_read(input, fields, &app, NULL), -1);
    json_asked_tell(input, false, tell, text);
    json_asked_end();
    json_object_put(input);
    assert_null(strstr(text, "ns="));
    assert_non_null(strstr(text, "nn="));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_not_come_to),
    };

    return cmocka_run_group_tests_name("json_asked", tests, NULL, NULL);
}
