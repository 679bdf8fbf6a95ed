/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_together - the instants at which all nodes do what is done by time. */
#include "tests/unit/common/fixture.h"

#include <math.h>

#include "packer/steps/together.h"

static int setup(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

/* How far that time is from a multiple of the period on the clock. */
static double off_s(clockid_t clock, double at_s, double every_s)
{
    double ahead_s = (double)clock_ns(clock) / 1e9 - clock_s();

    return fabs(remainder(at_s + ahead_s, every_s));
}

static void test_on_the_wall(void **state)
{
    const struct fixture *f = *state;

    for (double every_s = 0.2; every_s < 100; every_s *= 3.7) {
        double now_s = clock_s(), next_s = together_next(&f->packer, now_s, every_s);

        assert_true(next_s > now_s + every_s / 2 - 1e-3);
        assert_true(next_s < now_s + every_s * 3 / 2 + 1e-3);
        assert_true(off_s(CLOCK_REALTIME, next_s, every_s) < 0.01);
    }
}

static void test_each_its_own(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.together = CONF_OFF;
    assert_float_equal(together_next(&f->packer, 100.2, 2), 102, 1e-6);
    assert_float_equal(together_next(&f->packer, 101.2, 2), 104, 1e-6);
    assert_true(off_s(CLOCK_MONOTONIC, together_next(&f->packer, clock_s(), 0.7), 0.7) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_on_the_wall, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_each_its_own, setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
