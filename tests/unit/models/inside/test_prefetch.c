/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_prefetch - both outcomes of a test, the 2 % edge exactly, by which figure it goes, and when
 * the next one is due. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/inside/prefetch.h"

static struct prefetch tested(struct prefetch_half on, struct prefetch_half off)
{
    struct prefetch prefetch = {0};

    prefetch_begin(&prefetch, 1, 100);
    assert_int_equal(prefetch.state, PREFETCH_TEST_ON);
    prefetch_tell(&prefetch, &on);
    assert_int_equal(prefetch.state, PREFETCH_TEST_OFF);
    prefetch_tell(&prefetch, &off);
    return prefetch;
}

static int state_after(double on, double off)
{
    return (int)tested((struct prefetch_half){on, NAN}, (struct prefetch_half){off, NAN}).state;
}

static void test_outcomes(void **state)
{
    (void)state;
    assert_int_equal(state_after(2e9, 1e9), PREFETCH_ON);
    assert_int_equal(state_after(1e9, 2e9), PREFETCH_OFF);
    assert_int_equal(state_after(1e9, 1e9), PREFETCH_OFF);
    assert_int_equal(state_after(0, 1e9), PREFETCH_OFF);
}

/* More than 2 % more, and not 2 % exactly: whatever the size of the figures. */
static void test_edge(void **state)
{
    (void)state;
    for (double off = 1; off < 1e12; off *= 3) {
        double edge = PREFETCH_WORTH * off;

        assert_false(prefetch_helps(edge, off));
        assert_true(prefetch_helps(nextafter(edge, INFINITY), off));
        assert_int_equal(state_after(edge, off), PREFETCH_OFF);
        assert_int_equal(state_after(nextafter(edge, INFINITY), off), PREFETCH_ON);
    }
}

/* Where both halves have their energy it decides, also against the speed. */
static void test_energy(void **state)
{
    struct prefetch prefetch =
        tested((struct prefetch_half){2e9, 1e8}, (struct prefetch_half){1e9, 1.1e8});

    (void)state;
    assert_true(prefetch.by_energy);
    assert_int_equal(prefetch.state, PREFETCH_OFF);
    assert_true(fabs(prefetch.ratio - 1 / 1.1) < 1e-12);
    prefetch = tested((struct prefetch_half){2e9, 1e8}, (struct prefetch_half){1e9, NAN});
    assert_false(prefetch.by_energy);
    assert_int_equal(prefetch.state, PREFETCH_ON);
    assert_true(prefetch.ratio == 2);
}

static void test_nothing_known(void **state)
{
    struct prefetch prefetch;

    (void)state;
    assert_int_equal(state_after(NAN, 1e9), PREFETCH_WAITING);
    assert_int_equal(state_after(1e9, NAN), PREFETCH_WAITING);
    assert_int_equal(state_after(1e9, 0), PREFETCH_WAITING);
    prefetch = tested((struct prefetch_half){1e9, NAN}, (struct prefetch_half){NAN, NAN});
    assert_false(prefetch.tested);
    assert_true(isnan(prefetch.ratio));
    assert_true(prefetch_due(&prefetch, 1, 130) == 30);
    assert_true(prefetch_due(&prefetch, 1, 160) == 0);
}

static void test_due(void **state)
{
    struct prefetch prefetch = {0};

    (void)state;
    assert_true(prefetch_due(&prefetch, 1, 1) == 0);
    prefetch_begin(&prefetch, 1, 100);
    assert_true(prefetch_due(&prefetch, 2, 100) == 0);
    prefetch = tested((struct prefetch_half){2e9, NAN}, (struct prefetch_half){1e9, NAN});
    assert_true(prefetch_due(&prefetch, 1, 1000) < 0);
    assert_true(prefetch_due(&prefetch, 2, 101) == 59);
    assert_true(prefetch_due(&prefetch, 2, 160) == 0);
}

/* Other cores: the half that has been taken is lost. What is decided stays. */
static void test_again(void **state)
{
    struct prefetch prefetch = {0};
    struct prefetch_half half = {1e9, NAN};

    (void)state;
    prefetch_begin(&prefetch, 1, 100);
    prefetch_tell(&prefetch, &half);
    prefetch_again(&prefetch);
    assert_int_equal(prefetch.state, PREFETCH_TEST_ON);
    prefetch_tell(&prefetch, &half);
    prefetch_tell(&prefetch, &half);
    assert_int_equal(prefetch.state, PREFETCH_OFF);
    prefetch_again(&prefetch);
    prefetch_tell(&prefetch, &half);
    assert_int_equal(prefetch.state, PREFETCH_OFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes), cmocka_unit_test(test_edge),
        cmocka_unit_test(test_energy),   cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_due),      cmocka_unit_test(test_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
