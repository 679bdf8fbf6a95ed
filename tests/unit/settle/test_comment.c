/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_comment - a job's figures beside what others wrote: found in one way everywhere, replaced
 * and not repeated, and the rest byte by byte as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "packer/settle/comment.h"

static void expect(const char *old, const char *figures, const char *wanted)
{
    struct berth_error err = {""};
    char *merged = comment_merge(old, figures, &err);

    if (!merged)
        fail_msg("%s: %s", old ? old : "nothing", err.text);
    assert_string_equal(merged, wanted);
    free(merged);
}

static const struct {
    const char *old, *merged;
} cases[] = {
    {NULL, "{\"berth\":{\"nodes\":1}}"},
    {"", "{\"berth\":{\"nodes\":1}}"},
    {"bad node", "bad node {\"berth\":{\"nodes\":1}}"},
    {"bad node ", "bad node {\"berth\":{\"nodes\":1}}"},
    {"it's \"so\" \\n", "it's \"so\" \\n {\"berth\":{\"nodes\":1}}"},
    {"{}", "{\"berth\":{\"nodes\":1}}"},
    {"{\"a\":1.50,\"b\":[1e3, 2]}", "{\"a\":1.50,\"b\":[1e3, 2],\"berth\":{\"nodes\":1}}"},
    {" {\"a\":\"}\"} ", " {\"a\":\"}\",\"berth\":{\"nodes\":1}}"},
    {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2,\"berth\":{\"nodes\":1}}"},
    {"[1,2]", "[1,2] {\"berth\":{\"nodes\":1}}"},
    {"12", "12 {\"berth\":{\"nodes\":1}}"},
    {"{\"a\":1", "{\"a\":1 {\"berth\":{\"nodes\":1}}"},
    {"{\"a\":1} and more", "{\"a\":1} and more {\"berth\":{\"nodes\":1}}"},
    {"{\"berth\":{\"nodes\":9}}", "{\"berth\":{\"nodes\":1}}"},
    {"{\"berth\":null,\"a\":1.50}", "{\"berth\":{\"nodes\":1},\"a\":1.50}"},
    {"text {\"berth\":{\"nodes\":9}}", "text {\"berth\":{\"nodes\":1}}"},
    {"text {\"berth\":{\"nodes\":9}} more",
     "text {\"berth\":{\"nodes\":9}} more {\"berth\":{\"nodes\":1}}"},
    {"{\"berth\":{\"berth\":2} {\"berth\":{\"nodes\":9}}",
     "{\"berth\":{\"berth\":2} {\"berth\":{\"nodes\":1}}"},
};

static void figures_are_put_beside_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(cases[i].old, "{\"nodes\": 1}", cases[i].merged);
}

static void what_is_written_again_is_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(cases[i].merged, "{\"nodes\":1}", cases[i].merged);
}

static void what_is_no_object_is_refused(void **state)
{
    static const char *const wrong[] = {"", "1", "[]", "{", "{} {}", "text"};
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_null(comment_merge("x", wrong[i], &err));
        assert_string_equal(err.text, "the figures are no JSON object");
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    static char old[COMMENT_MAX + 1];
    const size_t own = strlen(" {\"berth\":{}}");
    struct berth_error err;
    char *merged;

    (void)state;
    memset(old, 'x', COMMENT_MAX - own);
    merged = comment_merge(old, "{}", &err);
    assert_non_null(merged);
    assert_int_equal(strlen(merged), COMMENT_MAX);
    free(merged);
    old[COMMENT_MAX - own] = 'x';
    assert_null(comment_merge(old, "{}", &err));
    assert_non_null(strstr(err.text, "65535"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_put_beside_what_is_there),
        cmocka_unit_test(what_is_written_again_is_there_once),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
