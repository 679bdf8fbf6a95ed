/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cpus - sets of CPUs, and the kernel's and Slurm's list format. */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "packer/base/cpus.h"

static struct cpus set_of(const char *text)
{
    struct cpus set;

    assert_int_equal(cpus_parse(&set, text), 0);
    return set;
}

static void assert_set(const struct cpus *set, const char *text)
{
    char got[CPUS_TEXT_MAX];

    assert_int_equal(cpus_format(set, got, sizeof(got)), 0);
    assert_string_equal(got, text);
}

static void test_list_is_read(void **state)
{
    static const struct {
        const char *text, *same;
    } lists[] = {
        {"", ""},
        {"\n", ""},
        {" \t\n", ""},
        {"0", "0"},
        {"0-3,8\n", "0-3,8"},
        {" 7 ", "7"},
        {"8,0-3", "0-3,8"},
        {"1-1", "1"},
        {"0,1,2", "0-2"},
        {"0-5,3-8,4", "0-8"},
        {"63,64,127-128", "63-64,127-128"},
        {"007", "7"},
        {"2047", "2047"},
        {"0-2047", "0-2047"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct cpus set = set_of(lists[i].text);

        assert_set(&set, lists[i].same);
    }
}

static void test_other_text_is_refused(void **state)
{
    static const struct {
        const char *text;
        int why;
    } wrong[] = {
        {"x", EINVAL},
        {"-", EINVAL},
        {"-1", EINVAL},
        {"1-", EINVAL},
        {"3-1", EINVAL},
        {"1,", EINVAL},
        {",1", EINVAL},
        {"1,,2", EINVAL},
        {"1 2", EINVAL},
        {"1, 2", EINVAL},
        {"1-2-3", EINVAL},
        {"0x1", EINVAL},
        {"+1", EINVAL},
        {"1\v", EINVAL},
        {"1;2", EINVAL},
        {"0-7:2/4", EINVAL},
        {"2048", ERANGE},
        {"0-2048", ERANGE},
        {"99999999999999999999999", ERANGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cpus set = set_of("5");

        errno = 0;
        assert_int_equal(cpus_parse(&set, wrong[i].text), -1);
        assert_int_equal(errno, wrong[i].why);
        assert_set(&set, "5"); /* unchanged */
    }
}

static void test_format_needs_room(void **state)
{
    struct cpus set = set_of("0-3,8");
    char text[8];

    (void)state;
    assert_int_equal(cpus_format(&set, text, 6), 0);
    assert_string_equal(text, "0-3,8");
    for (size_t size = 0; size < 6; size++) {
        errno = 0;
        assert_int_equal(cpus_format(&set, text, size), -1);
        assert_int_equal(errno, ENOSPC);
    }
    cpus_zero(&set);
    assert_int_equal(cpus_format(&set, text, 1), 0);
    assert_string_equal(text, "");
}

/* The longest text that any set has fits CPUS_TEXT_MAX and is read back as the same set. */
static void test_longest_text(void **state)
{
    char text[CPUS_TEXT_MAX];
    struct cpus set = {0}, again;

    (void)state;
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (cpu % 3 < 2)
            cpus_add(&set, cpu);
    assert_int_equal(cpus_format(&set, text, sizeof(text)), 0);
    assert_int_equal(cpus_parse(&again, text), 0);
    assert_true(cpus_equal(&set, &again));
}

static void test_members(void **state)
{
    struct cpus set = {0};

    (void)state;
    assert_true(cpus_empty(&set));
    assert_int_equal(cpus_next(&set, 0), CPUS_MAX);
    cpus_add(&set, 0);
    cpus_add(&set, 63);
    cpus_add(&set, 64);
    cpus_add(&set, CPUS_MAX - 1);
    cpus_add(&set, CPUS_MAX); /* no such CPU: nothing happens */
    assert_int_equal(cpus_count(&set), 4);
    assert_false(cpus_empty(&set));
    assert_true(cpus_has(&set, 63) && cpus_has(&set, CPUS_MAX - 1));
    assert_false(cpus_has(&set, 1) || cpus_has(&set, CPUS_MAX));
    cpus_remove(&set, 63);
    cpus_remove(&set, 62);
    cpus_remove(&set, CPUS_MAX);
    assert_set(&set, "0,64,2047");
}

static void test_walk(void **state)
{
    struct cpus set = set_of("0,62-65,2047");
    size_t want[] = {0, 62, 63, 64, 65, 2047}, n = 0;

    (void)state;
    cpus_foreach(cpu, &set) assert_int_equal(cpu, want[n++]);
    assert_int_equal(n, 6);
    assert_int_equal(cpus_next(&set, 1), 62);
    assert_int_equal(cpus_next(&set, 62), 62);
    assert_int_equal(cpus_next(&set, 66), 2047);
    assert_int_equal(cpus_next(&set, CPUS_MAX), CPUS_MAX);
}

static void test_algebra(void **state)
{
    static const struct {
        const char *a, *b, *both, *either, *only_a;
        bool subset, intersect;
    } cases[] = {
        {"", "", "", "", "", true, false},
        {"", "0-3", "", "0-3", "", true, false},
        {"0-3", "", "", "0-3", "0-3", false, false},
        {"0-3", "2-5", "2-3", "0-5", "0-1", false, true},
        {"64,200", "0-2047", "64,200", "0-2047", "", true, true},
        {"0-63", "64-127", "", "0-127", "0-63", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpus a = set_of(cases[i].a), b = set_of(cases[i].b), set;

        assert_int_equal(cpus_subset(&a, &b), cases[i].subset);
        assert_int_equal(cpus_intersect(&a, &b), cases[i].intersect);
        assert_int_equal(cpus_equal(&a, &b), strcmp(cases[i].a, cases[i].b) == 0);
        set = a;
        cpus_and(&set, &b);
        assert_set(&set, cases[i].both);
        set = a;
        cpus_or(&set, &b);
        assert_set(&set, cases[i].either);
        set = a;
        cpus_andnot(&set, &b);
        assert_set(&set, cases[i].only_a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_is_read),      cmocka_unit_test(test_other_text_is_refused),
        cmocka_unit_test(test_format_needs_room), cmocka_unit_test(test_longest_text),
        cmocka_unit_test(test_members),           cmocka_unit_test(test_walk),
        cmocka_unit_test(test_algebra),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
