/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_text - which bytes are a character, and what stands in the place of the others. */
#include "packer/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What each text becomes; as many bytes as before. */
static const struct {
    const char *text, *clean;
    size_t columns;
} cases[] = {
    {"", "", 0},
    {"plain ~", "plain ~", 7},
    {"a\nb\tc\r\x1b[2J\x7f", "a?b?c??[2J?", 11},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", 8},
    {"\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80"
     "\xf4\x8f\xbf\xbf",
     "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80"
     "\xf4\x8f\xbf\xbf",
     8},                             /* the ends of each form */
    {"\xc2\x80\xc2\x9f", "????", 4}, /* C1 */
    {"\x9b", "?", 1},                /* C1 where a terminal takes bytes for characters */
    {"\xff\xfe", "??", 2},           /* never */
    {"\xc3", "?", 1},                /* cut off */
    {"\xe2\x82", "??", 2},           /* two of three bytes */
    {"\xf0\x9f\x90", "???", 3},      /* three of four bytes */
    {"\xe2\x82x", "??x", 3},         /* what follows is whole */
    {"\xc0\xaf", "??", 2},           /* '/' the long way */
    {"\xe0\x9f\xbf", "???", 3},      /* and a longer one */
    {"\xed\xa0\x80", "???", 3},      /* half a surrogate pair */
    {"\xf4\x90\x80\x80", "????", 4}, /* beyond the last character */
    {"\xf5\x80\x80\x80", "????", 4},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static char *put(void (*fn)(FILE *out, const char *text), const char *text)
{
    char *found = NULL;
    size_t length;
    FILE *out = open_memstream(&found, &length);

    fn(out, text);
    assert_int_equal(fclose(out), 0);
    return found;
}

static void put_all(FILE *out, const char *text)
{
    text_put(out, text, strlen(text));
}

static void test_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        char *text = strdup(cases[i].text), *found;

        text_clean(text);
        assert_string_equal(text, cases[i].clean);
        text_clean(text); /* which changes nothing more */
        assert_string_equal(text, cases[i].clean);
        free(text);
        found = put(put_all, cases[i].text);
        assert_string_equal(found, cases[i].clean);
        free(found);
    }
}

static void test_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        size_t length = strlen(cases[i].text);

        assert_int_equal(text_columns(cases[i].text, length), cases[i].columns);
        assert_int_equal(text_fit(cases[i].text, cases[i].columns), length);
        assert_int_equal(text_fit(cases[i].text, SIZE_MAX), length);
        assert_int_equal(text_fit(cases[i].text, 0), 0);
    }
    assert_int_equal(text_fit("\xc3\xa4\xe2\x82\xac!", 1), 2);
    assert_int_equal(text_fit("\xc3\xa4\xe2\x82\xac!", 2), 5);
}

static void test_csv(void **state)
{
    static const struct {
        const char *text, *field;
    } row[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"\"", "\"\"\"\""},
        {" first", "\" first\""},
        {"two\nlines\xc2\x9b", "two?lines??"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *found = put(text_put_csv, row[i].text);

        assert_string_equal(found, row[i].field);
        free(found);
    }
}

/* A spreadsheet computes nothing of it; numbers stay numbers. */
static void test_csv_cells(void **state)
{
    static const char *const row[][2] = {
        {"=1+2", "'=1+2"},
        {"@SUM(a)", "'@SUM(a)"},
        {"+x", "'+x"},
        {"-x", "'-x"},
        {"=a,\"b\"", "\"'=a,\"\"b\"\"\""},
        {" =x", "\"' =x\""},
        {"-1.5", "-1.5"},
        {"+2e3", "+2e3"},
        {"-", "'-"},
        {"a=b", "a=b"},
        {"", ""},
        {"-1;=x", "'-1;=x"},
        {"\t=x", "'?=x"},
        {"solver", "solver"},
        {"a,b", "\"a,b\""},
        {"a\xff", "a?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *found = put(text_put_csv_cell, row[i][0]);

        assert_string_equal(found, row[i][1]);
        assert_true(!text_is_csv_cell(row[i][0]) || strcmp(row[i][0], row[i][1]) == 0);
        free(found);
    }
}

/* What is a cell at a glance: most texts of a report are. */
static void test_csv_glance(void **state)
{
    static const char *const plain[] = {"", "n14", "2026-10-01T00:00:00", "0-7", "a.b_c/d"};
    static const char *const other[] = {"-1", "=x", "a,b", "a\"", " a", "a b", "\xc3\xa4", "a\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        assert_true(text_is_csv_cell(plain[i]));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_false(text_is_csv_cell(other[i]));
}

static void test_json(void **state)
{
    static const char *const row[][2] = {
        {"{\"a\":\"b\"}", "{\"a\":\"b\"}"},
        {"{\n\"a\":\"\xc3\xa4\"\n}", "{\n\"a\":\"\xc3\xa4\"\n}"},
        {"\"a\xff\"", "\"a\\ufffd\""},
        {"\"a\xc2\x9b\x7f\"", "\"a\\u009b\\u007f\""},
        {"\"\xc2", "\"\\ufffd"},
        {"\"\xe2\x82\"", "\"\\ufffd\\ufffd\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *found = put(text_put_json, row[i][0]);

        assert_string_equal(found, row[i][1]);
        free(found);
    }
}

static void test_lists(void **state)
{
    (void)state;
    assert_true(text_lists("a", "a"));
    assert_true(text_lists("a,bc,d", "bc"));
    assert_true(text_lists("a, bc d", "bc"));
    assert_true(text_lists(",,a,", "a"));
    assert_false(text_lists("abc", "ab"));
    assert_false(text_lists("abc", "bc"));
    assert_false(text_lists("ab", "abc"));
    assert_false(text_lists("", "a"));
    assert_false(text_lists("a,,b", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),      cmocka_unit_test(test_columns),
        cmocka_unit_test(test_csv),        cmocka_unit_test(test_csv_cells),
        cmocka_unit_test(test_csv_glance), cmocka_unit_test(test_json),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
