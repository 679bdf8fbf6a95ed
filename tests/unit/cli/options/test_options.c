/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_options - a table of every kind of option, and command lines that it takes or refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/cli/options/options.h"

struct fields {
    bool flag;
    enum { ONE_NONE, ONE_RED, ONE_BLUE } one;
    const char *text;
    int word;
    double number;
    uint64_t whole, count;
    char called[32], listed[32];
};

static int call(const struct ctl_option *option, const char *value, void *into)
{
    struct fields *fields = into;

    snprintf(fields->called, sizeof(fields->called), "%s=%s", option->name, value ? value : "");
    return value && strcmp(value, "no") == 0 ? 7 : -1;
}

static int add(const struct ctl_option *option, const char *value, void *into)
{
    char *list = (char *)into + option->offset;

    snprintf(list + strlen(list), 32 - strlen(list), "[%s]", value);
    return -1;
}

static const char *const words[] = {"zero", "one", "two", NULL};

static const struct ctl_option rows[] = {
    {"flag", 'f', NULL, "a flag", CTL_FLAG(struct fields, flag)},
    {"red", 0, NULL, "one of two", CTL_ONE(struct fields, one, ONE_RED)},
    {"blue", 'b', NULL, "the other", CTL_ONE(struct fields, one, ONE_BLUE)},
    {"text", 't', "TEXT", "a text", CTL_TEXT(struct fields, text)},
    {"word", 0, "WORD", "a word", CTL_WORD(struct fields, word, words)},
    {"number", 'n', "N", "a number", CTL_NUMBER(struct fields, number, "seconds", 0.5, 10)},
    {"whole", 0, "N", "a whole number", CTL_WHOLE(struct fields, whole, "a number", 1, 1000)},
    {"count", 0, "N", "a count", CTL_COUNT(struct fields, count, "a number", 0, 0)},
    {"call", 0, "X", "a call", CTL_CALL(call)},
    {"bare", 0, NULL, "a call without a value", CTL_CALL(call)},
    {"list", 0, "LIST", NULL, CTL_LIST(struct fields, listed, add)},
};
static const struct ctl_options options = {
    .verb = "verb",
    .synopsis = "[OPTION...] [FILE]",
    .about = "What it does.",
    .more = "And more.",
    CTL_OPTIONS(rows),
    .most = 1,
    .takes = "one FILE",
};

/* Reads up to five words as a command line. */
static int read_with(const struct ctl_options *with, struct fields *fields, const char *const *word)
{
    char *argv[8] = {(char *)"verb"};
    int argc = 1;

    *fields = (struct fields){.number = 1, .word = -1};
    while (argc <= 5 && word[argc - 1]) {
        argv[argc] = (char *)word[argc - 1];
        argc++;
    }
    return ctl_options_read(with, argc, argv, fields);
}

static int read_line(struct fields *fields, const char *const *word)
{
    return read_with(&options, fields, word);
}
#define LINE(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_taken(void **state)
{
    struct fields fields;

    (void)state;
    assert_int_equal(read_line(&fields, (const char *const[]){NULL}), -1);
    assert_false(fields.flag);
    assert_int_equal(read_line(&fields, LINE("-fb", "-t", "x", "file", "--number=2.5")), -1);
    assert_true(fields.flag);
    assert_int_equal(fields.one, ONE_BLUE);
    assert_string_equal(fields.text, "x");
    assert_true(fields.number == 2.5);
    assert_int_equal(optind, 5);
    assert_int_equal(read_line(&fields, LINE("--word", "TWO", "--blue", "--blue")), -1);
    assert_int_equal(fields.word, 2);
    assert_int_equal(read_line(&fields, LINE("--whole", "1000", "--count", "3k")), -1);
    assert_int_equal(fields.whole, 1000);
    assert_int_equal(fields.count, 3000);
    assert_int_equal(read_line(&fields, LINE("--list", "a,,b", "--call", "yes")), -1);
    assert_string_equal(fields.listed, "[a][b]");
    assert_string_equal(fields.called, "call=yes");
    assert_int_equal(read_line(&fields, LINE("--bare")), -1);
    assert_string_equal(fields.called, "bare=");
}

static void test_refused(void **state)
{
    static const char *const lines[][3] = {
        {"--nosuch"},
        {"-x"},
        {"-t"},
        {"--text"},
        {"--flag=1"},
        {"--red", "-b"},
        {"--word", "3"},
        {"--number", "0.4"},
        {"--number", "10.1"},
        {"-n", "nan"},
        {"-n", "1s"},
        {"-n", ""},
        {"--whole", "0"},
        {"--whole", "1k"},
        {"--whole", "-1"},
        {"--whole", "1001"},
        {"--whole", "1e2"},
        {"--count", "1T"},
        {"--count", ""},
        {"--count", "18446744073709551616"},
        {"--count", "18446744073709552K"},
        {"--list", ","},
        {"--list", ""},
        {"a", "b"},
    };
    struct fields fields;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(read_line(&fields, lines[i]), 2);
    assert_int_equal(read_line(&fields, LINE("--call", "no", "--flag")), 7);
    assert_false(fields.flag);
}

static void test_arguments(void **state)
{
    struct ctl_options stops = options;
    struct fields fields;

    (void)state;
    stops.stops = true;
    stops.least = 2;
    stops.most = -1;
    assert_int_equal(read_with(&stops, &fields, LINE("-f", "program", "-b", "--nosuch")), -1);
    assert_int_equal(optind, 2);
    assert_int_equal(fields.one, ONE_NONE);
    assert_int_equal(read_with(&stops, &fields, LINE("-f", "program")), 2);
    assert_int_equal(read_with(&stops, &fields, LINE("--", "-f", "-b")), -1);
    assert_false(fields.flag);
}

/* What --help prints. */
static void test_help(void **state)
{
    static const char wanted[] = "usage: berthctl verb [OPTION...] [FILE]\n\nWhat it does.\n\n"
                                 "  -f, --flag       a flag\n"
                                 "      --red        one of two\n"
                                 "  -b, --blue       the other\n"
                                 "  -t, --text TEXT  a text\n"
                                 "      --word WORD  a word\n"
                                 "  -n, --number N   a number\n"
                                 "      --whole N    a whole number\n"
                                 "      --count N    a count\n"
                                 "      --call X     a call\n"
                                 "      --bare       a call without a value\n"
                                 "  -h, --help       this text\n"
                                 "\nAnd more.\n";
    char got[1024] = "";
    FILE *file = tmpfile();
    int saved = dup(STDOUT_FILENO), rc;
    struct fields fields;

    (void)state;
    assert_non_null(file);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    rc = read_line(&fields, LINE("-f", "--help", "--nosuch"));
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    assert_int_equal(fread(got, 1, sizeof(got) - 1, file), sizeof(wanted) - 1);
    fclose(file);
    assert_int_equal(rc, 0);
    assert_string_equal(got, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_help)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
