/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_own_cpus - berthd's own threads keep off the cores of steps. */
#include "tests/unit/common/fixture.h"

#include "packer/daemon/own_cpus.h"

static void assert_choice(const struct fixture *f, const char *given, const char *choice)
{
    const struct cpus all = cpus_of(given);
    struct cpus own = own_cpus_choose(&f->packer, &all);

    assert_cpus(&own, choice);
}

static int setup(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static void test_free_cores(void **state)
{
    struct fixture *f = *state;

    assert_choice(f, "0-7", "0-7");
    fixture_run(f, 1, "0-2", "prog");
    assert_choice(f, "0-7", "3-7");
    assert_choice(f, "0-3", "3");
    assert_choice(f, "0-1", "0-1"); /* there is none: the kernel chooses */
    fixture_run(f, 2, "3-7", "prog");
    assert_choice(f, "0-7", "0-7");
    fixture_end(f, 1, 0);
    assert_choice(f, "0-7", "0-2");
}

/* Who is on his way between two cores has both. */
static void test_moved(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "prog");

    step->body.task[0].cpus = cpus_of("5");
    assert_choice(f, "0-7", "1-4,6-7");
}

/* A hardware thread beside a step's takes a half of its core. */
static void test_siblings(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO_SMT);

    (void)state;
    fixture_run(f, 1, "0", "prog");
    assert_choice(f, "0-15", "2-15");
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_free_cores, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_moved, setup, fixture_teardown),
        cmocka_unit_test(test_siblings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
