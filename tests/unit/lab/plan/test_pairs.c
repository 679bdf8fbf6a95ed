/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pairs - the printed list of pairs: its order, its names, and every kind of number
 * against the C library's reading of it. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/base/json.h"
#include "lab/plan/pairs.h"

/* The list of these apps and scores, printed. */
static char *print(const char **name, size_t n, const struct app_pair *pair, int flags)
{
    const struct ctl_apps apps = {.n = n, .name = name};
    struct app_pair *copy = ctl_pairs_alloc(&apps, NULL);
    struct json_object *list;
    char *text;

    assert_non_null(copy);
    memcpy(copy, pair, ctl_pairs_count(n) * sizeof(*pair));
    list = ctl_pairs_new(&apps, copy, NULL);
    assert_non_null(list);
    text = strdup(json_object_to_json_string_ext(list, flags));
    json_object_put(list);
    return text;
}

static void test_order(void **state)
{
    static const struct app_pair pair[] = {{1, 0.5, 0.5}, {5, 2, 3}, {0, 0, 0}};
    const char *name[] = {"a/\"b\"", "c\n"};
    char *text = print(name, 2, pair, JSON_C_TO_STRING_NOSLASHESCAPE);

    (void)state;
    assert_string_equal(
        text, "[{\"a\":\"a/\\\"b\\\"\",\"b\":\"a/\\\"b\\\"\",\"score\":1,\"a_given_b\":0.5,"
              "\"b_given_a\":0.5},{\"a\":\"a/\\\"b\\\"\",\"b\":\"c\\n\",\"score\":5,"
              "\"a_given_b\":2,\"b_given_a\":3},{\"a\":\"c\\n\",\"b\":\"c\\n\",\"score\":0,"
              "\"a_given_b\":0,\"b_given_a\":0}]");
    free(text);
    text = print(name, 2, pair, JSON_C_TO_STRING_PRETTY);
    assert_non_null(strstr(text, "},\n{"));
    free(text);
}

static void test_errors(void **state)
{
    const char *name[] = {"a", "b"};
    const struct ctl_apps apps = {.n = 2, .name = name};
    struct app_pair *pair = ctl_pairs_alloc(&apps, NULL);
    double *error = calloc(6, sizeof(*error));
    struct json_object *list;

    (void)state;
    assert_non_null(pair);
    assert_non_null(error);
    error[2] = 0.25;
    error[3] = 0.5;
    list = ctl_pairs_new(&apps, pair, error);
    assert_non_null(list);
    assert_non_null(strstr(json_object_to_json_string_ext(list, 0),
                           "{\"a\":\"a\",\"b\":\"b\",\"score\":0,\"a_given_b\":0,\"b_given_a\":0,"
                           "\"a_error\":0.25,\"b_error\":0.5}"));
    json_object_put(list);
}

/* What JSON reads from the number as printed. */
static double printed(double value)
{
    const struct app_pair pair = {value, 0, 0};
    const char *name = "a";
    char *text = print(&name, 1, &pair, 0), *field;
    struct json_object *list = json_parse(text, strlen(text), NULL);
    double read;

    assert_non_null(list);
    field = strstr(text, "\"score\":");
    assert_non_null(field);
    read = strtod(field + strlen("\"score\":"), NULL);
    json_object_put(list);
    free(text);
    return read;
}

static void test_numbers(void **state)
{
    static const double exact[] = {0,    1,     10,     42,     0.5,   0.1,       123456789,
                                   1e14, 1e15,  1e16,   1e-5,   1e-6,  1e-300,    1e300,
                                   0.25, 0.001, 1e12,   99999,  1e30,  0.1 + 0.2, 999999999999999,
                                   -1,   -0.5,  -1e-20, -1e20,  7e-5,  2e15,      0.99999,
                                   100,  1000,  1e5,    1.5e-5, 12.34, 1e9};
    unsigned seed = 23;

    (void)state;
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        assert_true(fabs(printed(exact[i]) - exact[i]) <= 1e-15 * fabs(exact[i]));
    for (int i = 0; i < 20000; i++) {
        double value = (rand_r(&seed) / 1e9 + rand_r(&seed) / 1e18) *
                       pow(10, (double)(rand_r(&seed) % 40) - 20);

        assert_true(fabs(printed(value) - value) <= 1e-14 * value);
    }
}

/* No JSON number can say it. */
static void test_not_finite(void **state)
{
    static const struct app_pair pair = {NAN, INFINITY, -INFINITY};
    const char *name = "a";
    char *text = print(&name, 1, &pair, 0);

    (void)state;
    assert_string_equal(text, "[{\"a\":\"a\",\"b\":\"a\",\"score\":null,\"a_given_b\":null,"
                              "\"b_given_a\":null}]");
    free(text);
}

static void test_too_many(void **state)
{
    const struct ctl_apps apps = {.n = CTL_PAIRS_APPS_MAX + 1};
    struct berth_error err = {""};

    (void)state;
    assert_null(ctl_pairs_alloc(&apps, &err));
    assert_string_equal(err.text, "apps: at most 4096 can be paired, not 4097");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
