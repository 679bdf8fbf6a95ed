/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_json - what is JSON, and fields that are added to an object. json-c's parser is wrapped: it
 * can be made to do as version 0.18 does. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"

/* ---- json-c 0.18, which takes a byte above 127 for a control character where it is strict ---- */

static bool is_018, is_strict;

void __real_json_tokener_set_flags(struct json_tokener *tokener, int flags);
void __wrap_json_tokener_set_flags(struct json_tokener *tokener, int flags);
struct json_object *__real_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
                                                 int length);
struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
                                                 int length);

void __wrap_json_tokener_set_flags(struct json_tokener *tokener, int flags)
{
    is_strict = flags & JSON_TOKENER_STRICT;
    __real_json_tokener_set_flags(tokener, flags);
}

/* Has the parser meet a wrong escape in the place of each such byte. */
struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
                                                 int length)
{
    char *copy = malloc((size_t)length + 1);
    struct json_object *object;

    memcpy(copy, text, (size_t)length);
    for (int i = 0; is_018 && is_strict && i < length; i++)
        if (text[i] & 0x80)
            copy[i] = i > 0 && text[i - 1] & 0x80 ? 'q' : '\\';
    object = __real_json_tokener_parse_ex(tokener, copy, length);
    free(copy);
    return object;
}

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

/* Users name their jobs in their own languages; what is no JSON is refused all the same. The first
 * test of this program that has such bytes: json-c is asked once. */
static void test_parse_bytes_above_127(void **state)
{
    static const struct {
        const char *text, *says; /* says: of field a, or why it is refused */
        bool good;
    } table[] = {
        {"{\"a\":\"gr\xc3\xb6\xc3\x9f\x65\"}", "gr\xc3\xb6\xc3\x9f\x65", true},
        {"{\"a\":\"\xe2\x82\xac\",\"\xc3\xa4\":[1,{\"b\":2}]} \n", "\xe2\x82\xac", true},
        {"{\"a\":\"\xff\"}", "\xff", true}, /* no UTF-8: who shows it cleans it (base/text.h) */
        {"{\"a\":\"\xc3\xa4\",}", "not JSON at byte 10", false},
        {"{\"a\":\"\xc3\xa4\"} x", "text after", false},
        {"{\"a\":\xc3\xa4}", "not JSON at byte 5", false},
        {"{\"a\":01,\"b\":\"\xc3\xa4\"}", "not JSON", false},
        {"/* \xc3\xa4 */{}", "not JSON", false},
    };

    (void)state;
    is_018 = true;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct berth_error err = {""};
        struct json_object *object, *a = NULL;

        object = json_parse(table[i].text, strlen(table[i].text), &err);
        if (table[i].good && !object)
            fail_msg("'%s': %s", table[i].text, err.text);
        if (object) {
            assert_true(table[i].good && json_object_object_get_ex(object, "a", &a));
            assert_string_equal(json_text(a), table[i].says);
        } else if (!strstr(err.text, table[i].says)) {
            fail_msg("'%s': '%s'", table[i].text, err.text);
        }
        json_object_put(object);
    }
    is_018 = false;
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

/* What memory ran out for is NULL: nothing is added to it, and what was to be added is released. */
static void test_nothing_to_add_to(void **state)
{
    struct json_object *value = json_object_new_object(), *list = json_object_new_array();

    (void)state;
    json_object_get(value);
    errno = 0;
    json_add(NULL, "a", value);
    assert_int_equal(errno, ENOMEM);
    json_object_get(value);
    json_append(NULL, value);
    json_append(list, value); /* the last reference: both others were given back */
    assert_int_equal(json_object_array_length(list), 1);
    json_add_text(NULL, "b", "c");
    json_object_put(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_add_to),
        cmocka_unit_test(test_parse_bytes_above_127),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_parse_length),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_any_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
