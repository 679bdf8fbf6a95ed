/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_programs - numbers of programs: kept, shared, and given away where room runs out. */
#include "packer/steps/programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static size_t nth(struct programs *programs, size_t i)
{
    char key[32];

    snprintf(key, sizeof(key), "tag:%zu", i);
    return programs_number(programs, 7, key);
}

static void test_numbers(void **state)
{
    struct programs programs = {0};

    (void)state;
    assert_int_equal(programs_number(&programs, 7, "tag:a"), 0);
    assert_int_equal(programs_number(&programs, 7, "tag:b"), 1);
    assert_int_equal(programs_number(&programs, 7, "tag:a"), 0);
    assert_string_equal(programs.program[1].key, "tag:b");
    assert_true(programs_number(&programs, 7, "") == PROGRAM_NONE);
    programs_use(&programs, PROGRAM_NONE);
    programs_leave(&programs, PROGRAM_NONE);
    programs_free(&programs);
}

/* Another user's run of the same is another program. One that runs is found by its key alone. */
static void test_users(void **state)
{
    struct programs programs = {0};

    (void)state;
    assert_int_equal(programs_number(&programs, 7, "tag:a"), 0);
    assert_int_equal(programs_number(&programs, 8, "tag:a"), 1);
    assert_int_equal(programs_number(&programs, 8, "tag:a"), 1);
    assert_int_equal(programs.program[1].uid, 8);
    assert_true(programs_find_live(&programs, "tag:a") == PROGRAM_NONE);
    programs_use(&programs, 1);
    assert_int_equal(programs_find_live(&programs, "tag:a"), 1);
    assert_true(programs_find_live(&programs, "tag:b") == PROGRAM_NONE);
    programs_free(&programs);
}

/* The one that nobody runs and that was asked for longest ago goes; its number has a new birth. */
static void test_full(void **state)
{
    struct programs programs = {0};
    uint64_t born;

    (void)state;
    for (size_t i = 0; i < PROGRAMS_MAX; i++)
        assert_int_equal(nth(&programs, i), i);
    programs_use(&programs, 0);
    nth(&programs, 1);
    born = programs.program[2].born;
    assert_int_equal(nth(&programs, 5000), 2);
    assert_true(programs.program[2].born > born);
    assert_string_equal(programs.program[2].key, "tag:5000");
    for (size_t i = 0; i < PROGRAMS_MAX; i++)
        programs_use(&programs, i);
    assert_true(nth(&programs, 6000) == PROGRAM_NONE);
    programs_leave(&programs, 0);
    assert_true(nth(&programs, 6000) == PROGRAM_NONE); /* used twice */
    programs_leave(&programs, 0);
    assert_int_equal(nth(&programs, 6000), 0);
    programs_free(&programs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_users),
                                       cmocka_unit_test(test_full)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
