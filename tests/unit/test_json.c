/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_json - reading and adding fields: types, bounds, and errors that name the field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/json.h"

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

/* ---- reading fields ---- */

enum kind { TEXT, U32, U64, I64, DOUBLE, BOOL, ARRAY, OBJECT, WORD };

static const char *const word[] = {"one", "two"};

/* Read "f" of object as that kind into places that say afterwards whether they were touched. */
static int get(struct json_object *object, enum kind kind, enum json_need need,
               struct berth_error *err, bool *touched)
{
    struct json_object *child = object;
    char text[4] = "~";
    uint32_t u32 = 99;
    uint64_t u64 = 99;
    int64_t i64 = 99;
    double number = 99;
    bool flag = false;
    int index = 99, rc = -2;

    switch (kind) {
    case TEXT:
        rc = json_get_text(object, "f", need, text, sizeof(text), err);
        break;
    case U32:
        rc = json_get_u32(object, "f", need, &u32, err);
        break;
    case U64:
        rc = json_get_u64(object, "f", need, &u64, err);
        break;
    case I64:
        rc = json_get_i64(object, "f", need, &i64, err);
        break;
    case DOUBLE:
        rc = json_get_double(object, "f", need, &number, err);
        break;
    case BOOL:
        rc = json_get_bool(object, "f", need, &flag, err);
        break;
    case ARRAY:
        rc = json_get_array(object, "f", need, &child, err);
        break;
    case OBJECT:
        rc = json_get_object(object, "f", need, &child, err);
        break;
    case WORD:
        rc = json_get_word(object, "f", need, word, 2, &index, err);
    }
    *touched = strcmp(text, "~") || u32 != 99 || u64 != 99 || i64 != 99 || number != 99 || flag ||
               index != 99 || child != object;
    return rc;
}

static void test_absent(void **state)
{
    static const char *const absent[] = {"{}", "{\"f\":null}", "{\"g\":1}"};

    (void)state;
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        struct json_object *object = parsed(absent[i]);

        for (int kind = TEXT; kind <= WORD; kind++) {
            struct berth_error err = {""};
            bool touched;

            assert_int_equal(get(object, (enum kind)kind, JSON_OPTIONAL, &err, &touched), 0);
            assert_false(touched);
            assert_int_equal(get(object, (enum kind)kind, JSON_REQUIRED, &err, &touched), -1);
            assert_string_equal(err.text, "f: missing");
            assert_false(touched);
        }
        json_object_put(object);
    }
}

static void test_values(void **state)
{
    static const struct {
        enum kind kind;
        const char *text; /* of the whole object */
        const char *why;  /* NULL: taken */
    } cases[] = {
        {TEXT, "{\"f\":\"abc\"}", NULL},
        {TEXT, "{\"f\":\"\"}", NULL},
        {TEXT, "{\"f\":\"abcd\"}", "f: longer than 3"},
        {TEXT, "{\"f\":\"a\\u0000\"}", "f: longer than 3 bytes or with a NUL"},
        {TEXT, "{\"f\":1}", "f: string expected, not int"},
        {U32, "{\"f\":0}", NULL},
        {U32, "{\"f\":4294967295}", NULL},
        {U32, "{\"f\":4294967296}", "f: greater than 4294967295"},
        {U32, "{\"f\":-1}", "f: negative"},
        {U32, "{\"f\":1.0}", "f: int expected, not double"},
        {U32, "{\"f\":\"1\"}", "f: int expected, not string"},
        {U64, "{\"f\":18446744073709551615}", NULL},
        {U64, "{\"f\":-9223372036854775808}", "f: negative"},
        {I64, "{\"f\":-9223372036854775808}", NULL},
        {I64, "{\"f\":true}", "f: int expected, not boolean"},
        {DOUBLE, "{\"f\":1e300}", NULL},
        {DOUBLE, "{\"f\":3}", NULL},
        {DOUBLE, "{\"f\":1e999}", "f: not a finite number"},
        {DOUBLE, "{\"f\":\"3\"}", "f: number expected, not string"},
        {BOOL, "{\"f\":true}", NULL},
        {BOOL, "{\"f\":1}", "f: boolean expected, not int"},
        {ARRAY, "{\"f\":[]}", NULL},
        {ARRAY, "{\"f\":{}}", "f: array expected, not object"},
        {OBJECT, "{\"f\":{}}", NULL},
        {OBJECT, "{\"f\":[]}", "f: object expected, not array"},
        {WORD, "{\"f\":\"two\"}", NULL},
        {WORD, "{\"f\":\"three\"}", "f: 'three' is none of: one, two"},
        {WORD, "{\"f\":\"\"}", "f: '' is none of: one, two"},
        {WORD, "{\"f\":\"two\\u0000\"}", "f: 'two' is none of"},
        {WORD, "{\"f\":2}", "f: string expected, not int"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_object *object = parsed(cases[i].text);
        struct berth_error err = {""};
        bool touched;
        int rc = get(object, cases[i].kind, JSON_REQUIRED, &err, &touched);

        if (rc != (cases[i].why ? -1 : 0) || touched == (rc < 0))
            fail_msg("%s: %d '%s'", cases[i].text, rc, err.text);
        if (cases[i].why && !strstr(err.text, cases[i].why))
            fail_msg("%s: '%s'", cases[i].text, err.text);
        json_object_put(object);
    }
}

/* A list of words that does not fit the error is cut, not overrun. */
static void test_many_words(void **state)
{
    struct json_object *object = parsed("{\"f\":\"x\"}");
    const char *many[40];
    struct berth_error err;
    int index = 0;

    (void)state;
    for (size_t i = 0; i < 40; i++)
        many[i] = "a-rather-long-word";
    assert_int_equal(json_get_word(object, "f", JSON_REQUIRED, many, 40, &index, &err), -1);
    assert_non_null(strstr(err.text, "none of: a-rather-long-word, a-rather"));
    json_object_put(object);
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
        cmocka_unit_test(test_parse_length), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_values),       cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_add),          cmocka_unit_test(test_add_any_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
