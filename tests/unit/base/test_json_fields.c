/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_json_fields - structs from and to JSON by their tables: types, ranges, what is not known,
 * and errors that say where, what and what instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

static struct json_object *parsed(const char *text)
{
    struct berth_error err = {""};
    struct json_object *object = json_parse(text, strlen(text), &err);

    if (!object)
        fail_msg("%s: %s", text, err.text);
    return object;
}

/* ---- one field ---- */

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
        {TEXT, "{\"f\":\"abcd\"}", "f: 0 to 3 bytes expected"},
        {TEXT, "{\"f\":\"a\\u0000\"}", "f: 0 to 3 bytes expected, none of them NUL"},
        {TEXT, "{\"f\":1}", "f: string expected, not int"},
        {U32, "{\"f\":0}", NULL},
        {U32, "{\"f\":4294967295}", NULL},
        {U32, "{\"f\":4294967296}", "f: 4294967296: 4294967295 or less expected"},
        {U32, "{\"f\":-1}", "f: -1: 0 or more expected"},
        {U32, "{\"f\":1.0}", "f: int expected, not double"},
        {U32, "{\"f\":\"1\"}", "f: int expected, not string"},
        {U64, "{\"f\":18446744073709551615}", NULL},
        {U64, "{\"f\":-9223372036854775808}", "f: -9.22337203685e+18: 0 or more expected"},
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

/* ---- a struct ---- */

enum colour { RED, GREEN };
static const char *const colour_name[] = {"red", "green"};

struct end {
    uint32_t id;
    double at;
};

struct all {
    char text[4], name[4];
    uint32_t u32, some;
    uint64_t u64;
    int32_t i32, status;
    int64_t i64;
    double number, measure, share, count, rounded;
    bool flag, coloured, sized;
    enum colour colour, hue;
    uint64_t bytes;
    struct cpus cpus;
    struct end inner, pair;
    double list[3];
    struct end ends[2];
};

#define FIELD(member) JSON_FIELD(struct all, #member, member, OPTIONAL)
#define RANGE(member, least, most) JSON_RANGE(struct all, #member, member, OPTIONAL, least, most)

static const struct json_field end_fields[] = {
    JSON_FIELD(struct end, "id", id, REQUIRED),
    JSON_RANGE(struct end, "at", at, OPTIONAL, 0, HUGE_VAL),
    JSON_END,
};
static const struct json_field any_number = {.kind = JSON_NUMBER};
static const struct json_field end_pair = {
    .kind = JSON_TUPLE, .need = JSON_REQUIRED, .fields = end_fields};

static const struct json_field all_fields[] = {
    FIELD(text),
    RANGE(name, 1, 3),
    JSON_FIELD(struct all, "u32", u32, REQUIRED),
    RANGE(some, 1, 64),
    FIELD(u64),
    FIELD(i32),
    RANGE(status, 0, 65535),
    FIELD(i64),
    FIELD(number),
    RANGE(measure, 0, HUGE_VAL),
    RANGE(share, 0, 1),
    {JSON_AT(struct all, "count", count, OPTIONAL), .kind = JSON_NUMBER, .whole = true},
    {JSON_AT(struct all, "rounded", rounded, OPTIONAL), .kind = JSON_NUMBER, .format = "%.3g"},
    FIELD(flag),
    JSON_CHOICE(struct all, "colour", colour, OPTIONAL, colour_name),
    {JSON_AT(struct all, "hue", hue, OPTIONAL), .kind = JSON_WORD, .words = colour_name, .n = 2,
     .given = offsetof(struct all, coloured) + 1},
    {JSON_AT(struct all, "bytes", bytes, OPTIONAL), .kind = JSON_UNSIGNED,
     .given = offsetof(struct all, sized) + 1},
    FIELD(cpus),
    JSON_NESTED(struct all, "inner", inner, OPTIONAL, end_fields),
    {JSON_AT(struct all, "pair", pair, OPTIONAL), .kind = JSON_TUPLE, .fields = end_fields},
    {JSON_AT(struct all, "list", list, OPTIONAL), .kind = JSON_LIST, .n = 3, .fields = &any_number},
    {JSON_AT(struct all, "ends", ends, OPTIONAL), .kind = JSON_LIST, .n = 2, .fields = &end_pair},
    JSON_END,
};

static char *text_of(const struct all *all)
{
    struct json_object *object = json_object_new_object();
    char *text;

    json_write(object, all_fields, all);
    text = strdup(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
    return text;
}

static int read_text(const char *text, struct all *all, struct berth_error *err)
{
    struct json_object *object = parsed(text);
    int rc = json_read(object, all_fields, all, err);

    json_object_put(object);
    return rc;
}

static const char everything[] =
    "{\"text\":\"abc\",\"name\":\"n\",\"u32\":4294967295,\"some\":64,"
    "\"u64\":18446744073709551615,\"i32\":-2147483648,\"status\":256,"
    "\"i64\":-9223372036854775808,\"number\":-0.5,\"measure\":0.125,\"share\":1.0,"
    "\"count\":-9007199254740992,\"rounded\":0.667,\"flag\":true,\"colour\":\"green\","
    "\"hue\":\"red\",\"bytes\":0,\"cpus\":\"0-1,4\",\"inner\":{\"id\":1,\"at\":2.5},"
    "\"pair\":[3,null],\"list\":[1.0,2.0,3.0],\"ends\":[[1,0.0],[2,null]]}";

/* What is written is what was read, to the letter. */
static void test_there_and_back(void **state)
{
    struct all all = {.pair.at = NAN, .ends = {{0, NAN}, {0, NAN}}};
    struct berth_error err = {""};
    char *text;

    (void)state;
    if (read_text(everything, &all, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(all.u64 == UINT64_MAX && all.i64 == INT64_MIN && all.i32 == INT32_MIN);
    assert_true(all.coloured && all.hue == RED && all.sized && all.colour == GREEN);
    assert_true(all.ends[1].id == 2 && isnan(all.ends[1].at) && isnan(all.pair.at));
    text = text_of(&all);
    assert_string_equal(text, everything);
    free(text);
}

/* What is not known, or has no name, is null; and null leaves all as it is but what says whether it
 * is given. */
static void test_not_known(void **state)
{
    struct all all = {.status = -1,
                      .number = NAN,
                      .measure = -1,
                      .share = 1.5,
                      .count = INFINITY,
                      .rounded = NAN,
                      .colour = (enum colour)2,
                      .inner.at = NAN,
                      .pair.at = NAN,
                      .list = {NAN, 0, NAN}},
               back;
    static const char nothing[] =
        "{\"text\":\"\",\"name\":null,\"u32\":0,\"some\":null,\"u64\":0,\"i32\":0,\"status\":null,"
        "\"i64\":0,\"number\":null,\"measure\":null,\"share\":null,\"count\":null,"
        "\"rounded\":null,\"flag\":false,\"colour\":null,\"hue\":null,\"bytes\":null,\"cpus\":\"\","
        "\"inner\":{\"id\":0,\"at\":null},\"pair\":[0,null],\"list\":[null,0.0,null],"
        "\"ends\":[[0,0.0],[0,0.0]]}";
    struct berth_error err = {""};
    char *text = text_of(&all);

    (void)state;
    assert_string_equal(text, nothing);
    free(text);
    back = all;
    back.coloured = back.sized = true;
    if (read_text(nothing, &back, &err) < 0)
        fail_msg("%s", err.text);
    assert_false(back.coloured || back.sized);
    assert_memory_equal(&back, &all, sizeof(all));
    assert_int_equal(read_text("{\"u32\":0,\"other\":[]}", &back, &err), 0);
    assert_memory_equal(&back, &all, sizeof(all));
}

static void test_refused(void **state)
{
    static const struct {
        const char *rest, *why;
    } cases[] = {
        {"\"u32\":null", "u32: missing"},
        {"\"u32\":-1", "u32: -1: 0 or more expected"},
        {"\"name\":\"\"", "name: 1 to 3 bytes expected, none of them NUL"},
        {"\"some\":0", "some: 0: between 1 and 64 expected"},
        {"\"i32\":2147483648", "i32: 2147483648: 2147483647 or less expected"},
        {"\"i32\":-2147483649", "i32: -2147483649: -2147483648 or more expected"},
        {"\"status\":-1", "status: -1: between 0 and 65535 expected"},
        {"\"measure\":-0.5", "measure: -0.5: 0 or more expected"},
        {"\"share\":2", "share: 2: between 0 and 1 expected"},
        {"\"share\":1e999", "share: not a finite number"},
        {"\"count\":0.5", "count: 0.5: a whole number expected"},
        {"\"colour\":\"blue\"", "colour: 'blue' is none of: red, green"},
        {"\"hue\":\"blue\"", "hue: 'blue' is none of: red, green"},
        {"\"cpus\":\"0-\"", "cpus: '0-': a list such as 0-5,12 expected"},
        {"\"cpus\":\"1\\u0000\"", "cpus: '1': a list such as"},
        {"\"cpus\":1", "cpus: string expected, not int"},
        {"\"inner\":[]", "inner: object expected, not array"},
        {"\"inner\":{}", "inner.id: missing"},
        {"\"inner\":{\"id\":1,\"at\":-1}", "inner.at: -1: 0 or more expected"},
        {"\"pair\":{}", "pair: [id, at] expected"},
        {"\"pair\":[1]", "pair: [id, at] expected"},
        {"\"pair\":[1,-2]", "pair.at: -2: 0 or more expected"},
        {"\"list\":[1,2]", "list: 3 elements expected, not 2"},
        {"\"list\":{}", "list: array expected, not object"},
        {"\"list\":[1,2,\"3\"]", "list[2]: number expected, not string"},
        {"\"ends\":[[1,1],null]", "ends[1]: missing"},
        {"\"ends\":[[1,1],[-1,1]]", "ends[1].id: -1: 0 or more expected"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct berth_error err = {""};
        struct all all = {0};
        char text[128];

        snprintf(text, sizeof(text), "{\"u32\":1,%s}", cases[i].rest);
        assert_int_equal(read_text(text, &all, NULL), -1);
        assert_int_equal(read_text(text, &all, &err), -1);
        if (strncmp(err.text, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("%s: '%s', not '%s'", text, err.text, cases[i].why);
    }
}

static void test_no_object(void **state)
{
    struct berth_error err = {""};
    struct all all;

    (void)state;
    assert_int_equal(read_text("[1]", &all, &err), -1);
    assert_string_equal(err.text, "object expected, not array");
}

/* A text that is borrowed is where the object has it; NULL is written as "". */
static void test_borrowed(void **state)
{
    struct {
        const char *text;
    } lent = {NULL};
    const struct json_field fields[] = {
        {.name = "f", .kind = JSON_BORROWED, .size = sizeof(lent.text), .max = 3}, JSON_END};
    struct json_object *good = parsed("{\"f\":\"abc\"}"), *bad = parsed("{\"f\":\"abcd\"}"),
                       *empty = json_object_new_object();
    struct berth_error err = {""};

    (void)state;
    json_write(empty, fields, &lent);
    assert_string_equal(json_object_to_json_string_ext(empty, JSON_C_TO_STRING_PLAIN),
                        "{\"f\":\"\"}");
    assert_int_equal(json_read(good, fields, &lent, &err), 0);
    assert_ptr_equal(lent.text, json_object_get_string(json_object_object_get(good, "f")));
    assert_int_equal(json_read(bad, fields, &lent, &err), -1);
    assert_string_equal(err.text, "f: 0 to 3 bytes expected, none of them NUL");
    assert_string_equal(lent.text, "abc");
    json_object_put(good);
    json_object_put(bad);
    json_object_put(empty);
}

/* ---- lists and matrices ---- */

struct figure {
    double value, spread;
};

/* Every other number of an array is left alone; what may be absent stays where it is null. */
static void test_matrix(void **state)
{
    static const struct json_field item = {.kind = JSON_NUMBER, .min = 0, .max = 9};
    struct figure figure[4] = {{7, 1}, {7, 2}, {7, 3}, {7, 4}};
    struct json_object *matrix = parsed("[[1,null],[0.5,9]]"), *again;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(
        json_get_matrix(matrix, "m", 2, 2, &item, &figure[0].value, sizeof(figure[0]), &err), 0);
    assert_true(figure[0].value == 1 && figure[1].value == 7 && figure[3].value == 9);
    assert_true(figure[0].spread == 1 && figure[3].spread == 4);
    figure[1].value = NAN;
    again = json_new_matrix(2, 2, &item, &figure[0].value, sizeof(figure[0]));
    assert_string_equal(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PLAIN),
                        "[[1.0,null],[0.5,9.0]]");
    json_object_put(again);
    json_object_put(matrix);
}

static void test_matrix_refused(void **state)
{
    static const struct json_field item = {.kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = 9};
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"[[1,2]]", "m: 2 elements expected, not 1"},
        {"{}", "m: array expected, not object"},
        {"[[1,2],3]", "m[1]: array expected, not int"},
        {"[[1,2],[3]]", "m[1]: 2 elements expected, not 1"},
        {"[[1,2],null]", "m[1]: missing"},
        {"[[1,2],[3,null]]", "m[1][1]: missing"},
        {"[[1,10],[3,4]]", "m[0][1]: 10: between 0 and 9 expected"},
    };
    struct berth_error err = {""};
    double number[4];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_object *matrix = parsed(cases[i].text);

        assert_int_equal(json_get_matrix(matrix, "m", 2, 2, &item, number, sizeof(number[0]), &err),
                         -1);
        assert_string_equal(err.text, cases[i].why);
        json_object_put(matrix);
    }
    assert_int_equal(json_get_list(NULL, "m", 2, &item, number, sizeof(number[0]), &err), -1);
    assert_string_equal(err.text, "m: missing");
}

/* Of nothing there is an empty list. */
static void test_empty_list(void **state)
{
    struct json_object *list = json_new_list(0, &any_number, NULL, sizeof(double));

    (void)state;
    assert_int_equal(json_object_array_length(list), 0);
    assert_int_equal(json_get_list(list, "l", 0, &any_number, NULL, sizeof(double), NULL), 0);
    json_object_put(list);
}

/* A value that has no word is null, and no text is taken for it. */
static void test_no_word(void **state)
{
    static const char *const names[] = {NULL, "pages", "counted"};
    struct json_object *object = json_parse("{\"f\":\"x\"}", 9, NULL);
    struct berth_error err = {""};
    int found = 7;

    (void)state;
    assert_int_equal(json_get_word(object, "f", JSON_OPTIONAL, names, 3, &found, &err), -1);
    assert_string_equal(err.text, "f: 'x' is none of: pages, counted");
    assert_int_equal(found, 7);
    json_object_object_add(object, "f", json_object_new_string("counted"));
    assert_int_equal(json_get_word(object, "f", JSON_OPTIONAL, names, 3, &found, &err), 0);
    assert_int_equal(found, 2);
    json_object_put(object);
}

/* ---- as many as there are ---- */

struct burst {
    double *reading;
    size_t n;
    char name[8];
};

struct bursts {
    struct burst *burst;
    size_t n;
};

static const double unknown = NAN;
static const struct burst nameless = {.name = "none"};
static const struct json_field burst_fields[] = {
    JSON_FIELD(struct burst, "name", name, OPTIONAL),
    JSON_VALUES(struct burst, "reading", reading, n, REQUIRED, 0, 3, &unknown, .max = 9),
    JSON_END,
};
static const struct json_field bursts_fields[] = {
    JSON_STRUCTS(struct bursts, "bursts", burst, n, OPTIONAL, 1, 0, burst_fields, &nameless),
    JSON_END,
};

/* Rows of rows, of which elements that are null stay unset, and back. */
static void test_rows(void **state)
{
    const char *text = "{\"bursts\":[{\"reading\":[1,null,3]},{\"name\":\"b\",\"reading\":[]}]}";
    struct json_object *object = parsed(text), *output = json_object_new_object();
    struct berth_error err = {""};
    struct bursts in = {NULL, 0};

    (void)state;
    assert_int_equal(json_read(object, bursts_fields, &in, &err), 0);
    assert_int_equal(in.n, 2);
    assert_int_equal(in.burst[0].n, 3);
    assert_true(in.burst[0].reading[0] == 1 && isnan(in.burst[0].reading[1]));
    assert_string_equal(in.burst[0].name, "none");
    assert_string_equal(in.burst[1].name, "b");
    assert_int_equal(in.burst[1].n, 0);
    json_write(output, bursts_fields, &in);
    assert_string_equal(json_object_to_json_string_ext(output, JSON_C_TO_STRING_PLAIN),
                        "{\"bursts\":[{\"name\":\"none\",\"reading\":[1.0,null,3.0]},"
                        "{\"name\":\"b\",\"reading\":[]}]}");
    json_clear(bursts_fields, &in);
    assert_null(in.burst);
    assert_int_equal(in.n, 0);
    json_object_put(object);
    json_object_put(output);
}

/* Errors say which element; what was read up to there is freed, which AddressSanitizer sees. */
static void test_rows_refused(void **state)
{
    static const char *const refused[][2] = {
        {"{\"bursts\":[]}", "bursts: empty"},
        {"{\"bursts\":{}}", "bursts: array expected, not object"},
        {"{\"bursts\":[{\"reading\":[1]},7]}", "bursts[1]: object expected, not int"},
        {"{\"bursts\":[{\"reading\":[1]},{}]}", "bursts[1].reading: missing"},
        {"{\"bursts\":[{\"reading\":[1,10]}]}",
         "bursts[0].reading[1]: 10: between 0 and 9 expected"},
        {"{\"bursts\":[{\"reading\":[1,2,3,4]}]}", "bursts[0].reading: at most 3 expected, not 4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct json_object *object = parsed(refused[i][0]);
        struct berth_error err = {""};
        struct bursts in = {NULL, 0};

        assert_int_equal(json_read(object, bursts_fields, &in, &err), -1);
        assert_string_equal(err.text, refused[i][1]);
        json_clear(bursts_fields, &in);
        json_object_put(object);
    }
}

/* Rows that are absent are none. */
static void test_rows_absent(void **state)
{
    struct json_object *object = parsed("{}");
    struct berth_error err = {""};
    struct bursts in = {NULL, 0};

    (void)state;
    assert_int_equal(json_read(object, bursts_fields, &in, &err), 0);
    json_clear(bursts_fields, &in);
    assert_null(in.burst);
    json_object_put(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),         cmocka_unit_test(test_values),
        cmocka_unit_test(test_many_words),     cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_not_known),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_object),      cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_matrix),         cmocka_unit_test(test_empty_list),
        cmocka_unit_test(test_matrix_refused), cmocka_unit_test(test_no_word),
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_rows_refused),
        cmocka_unit_test(test_rows_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
