/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_missrate - where the miss rate comes from, and that its scores spread misses over caches. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/missrate.h"

static void test_of(void **state)
{
    static const double hits[] = {1, 2};
    const struct app measured = {.llc_mpki = 21.5, .sdp = {2, hits, 7}};
    const struct app zero = {.llc_mpki = 0, .sdp = {2, hits, 7}};
    const struct app profiled = {.llc_mpki = NAN, .sdp = {2, hits, 7}};
    const struct app unknown = {.llc_mpki = NAN};

    (void)state;
    assert_true(fabs(missrate_of(&measured) - (21500)) <= 1e-9);
    assert_true(missrate_of(&zero) == 0);
    assert_true(missrate_of(&profiled) == 7);
    assert_true(isnan(missrate_of(&unknown)));
}

static void test_pair(void **state)
{
    struct app_pair pair = missrate_pair(300, 20);

    (void)state;
    assert_true(pair.score == 12000);
    assert_true(pair.a_given_b == 6000);
    assert_true(pair.b_given_a == 6000);
    assert_true(missrate_pair(300, 0).score == 0);
    assert_true(missrate_pair(0, 0).score == 0);
    assert_true(fabs(missrate_pair(1e15, 1e15).score - (2e30)) <= 1e15);
}

/* Of the three matchings of four programs the best is the one whose caches' sums are closest. */
static void test_spreads(void **state)
{
    static const double rate[] = {9000, 7000, 1000, 10};

    (void)state;
    assert_true(missrate_pair(rate[0], rate[3]).score + missrate_pair(rate[1], rate[2]).score <
                missrate_pair(rate[0], rate[2]).score + missrate_pair(rate[1], rate[3]).score);
    assert_true(missrate_pair(rate[0], rate[2]).score + missrate_pair(rate[1], rate[3]).score <
                missrate_pair(rate[0], rate[1]).score + missrate_pair(rate[2], rate[3]).score);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_spreads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
