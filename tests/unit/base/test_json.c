/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_json - what is JSON, and fields that are added to an object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"

static struct json_object *parsed(const char *text)
{
    struct berth_error err = {""};
    struct json_object *object = json_parse(text, strlen(text), &err);

    if (!object)
        fail_msg("%s: %s", text, err.text);
    return object;
}

/* ---- parsing ---- */

static void test_parse(void **state)
{
    static const char *const good[] = {"{}",       " {\"a\":1} \r\n", "[1,2]", "7",
                                       "\"text\"", "{\"a\":null}",    "-1.5",  "true"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        json_object_put(parsed(good[i]));
}

static void test_parse_refuses(void **state)
{
    static const struct {
        const char *text;
        size_t length; /* 0: strlen */
        const char *why;
    } bad[] = {
        {"", 0, "not JSON"},
        {"  ", 0, "not JSON"},
        {"null", 0, "null"},
        {"{", 0, "not JSON"},
        {"{\"a\":1", 0, "not JSON"},
        {"{\"a\":1}}", 0, "text after"},
        {"{} {}", 0, "text after"},
        {"{}\0", 3, "text after"},
        {"{\"a\0\":1}", 8, "not JSON"},
        {"{\"a\":1,}", 0, "not JSON"},
        {"[1,]", 0, "not JSON"},
        {"/* c */{}", 0, "not JSON"},
        {"{\"a\":01}", 0, "not JSON"},
        {"\x80\xff", 0, "not JSON"},
        {"[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", 0, "not JSON"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct berth_error err = {""};
        size_t length = bad[i].length ? bad[i].length : strlen(bad[i].text);

        if (json_parse(bad[i].text, length, &err))
            fail_msg("'%s' was taken", bad[i].text);
        if (!strstr(err.text, bad[i].why))
            fail_msg("'%s': '%s'", bad[i].text, err.text);
        assert_null(json_parse(bad[i].text, length, NULL));
    }
}

/* Only the bytes that were given are read. */
static void test_parse_length(void **state)
{
    char *text = malloc(7);
    struct json_object *object;

    (void)state;
    memcpy(text, "{\"a\":1}", 7);
    object = json_parse(text, 7, NULL);
    assert_non_null(object);
    json_object_put(object);
    assert_null(json_parse(text, 6, NULL));
    free(text);
}

/* ---- adding fields ---- */

static void test_add(void **state)
{
    struct json_object *object = json_object_new_object();
    struct cpus set = {0};

    (void)state;
    cpus_add(&set, 1);
    cpus_add(&set, 2);
    json_add_text(object, "t", "x\n");
    json_add_text(object, "none", NULL);
    json_add_u64(object, "u", UINT64_MAX);
    json_add_double(object, "d", 0.5);
    json_add_measure(object, "m", 0);
    json_add_measure(object, "negative", -1);
    json_add_measure(object, "nan", NAN);
    json_add_measure(object, "inf", INFINITY);
    json_add_bool(object, "b", true);
    json_add_cpus(object, "c", &set);
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
                        "{\"t\":\"x\\n\",\"none\":null,\"u\":18446744073709551615,\"d\":0.5,"
                        "\"m\":0.0,\"negative\":null,\"nan\":null,\"inf\":null,\"b\":true,"
                        "\"c\":\"1-2\"}");
    json_object_put(object);
}

/* Every set can be written: without that a step could not be journaled. */
static void test_add_any_cpus(void **state)
{
    struct json_object *object = json_object_new_object();
    struct cpus set = {0};

    (void)state;
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (cpu % 3)
            cpus_add(&set, cpu);
    json_add_cpus(object, "c", &set);
    assert_true(json_object_object_get_ex(object, "c", NULL));
    json_object_put(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_parse_length), cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_any_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
