/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_dio - each rule by itself, and a long run in which a noisy gain must not make steps dance.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/online/dio.h"
#include "tests/unit/common/noise.h"

static const struct dio_rules rules = {
    .horizon_s = 60, .agreements = 2, .moves_per_minute = 4, .regret = 0.05, .ban_s = 600};

static enum dio_verdict decide(struct dio *dio, double now_s, uint64_t id, double gain,
                               double cost_s, size_t moves)
{
    struct dio_proposal proposal = {id, gain, cost_s, moves, .owed = false};

    return dio_decide(dio, &rules, now_s, &proposal);
}

static void test_two_agree(void **state)
{
    struct dio dio = {0};

    (void)state;
    assert_int_equal(decide(&dio, 1, 7, 0.1, 1, 2), DIO_AGAIN);
    assert_int_equal(decide(&dio, 2, 7, 0.1, 1, 2), DIO_MOVE);
    assert_int_equal(decide(&dio, 3, 7, 0.1, 1, 2), DIO_AGAIN); /* from the start again */
    assert_int_equal(decide(&dio, 4, 8, 0.1, 1, 2), DIO_AGAIN); /* another one */
    assert_int_equal(decide(&dio, 5, 7, 0.1, 1, 2), DIO_AGAIN);
    dio_content(&dio);
    assert_int_equal(decide(&dio, 6, 7, 0.1, 1, 2), DIO_AGAIN);
    assert_int_equal(decide(&dio, 7, 7, 0.1, 10, 2), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 8, 7, 0.1, 1, 2), DIO_AGAIN);
}

static void test_must_pay(void **state)
{
    struct dio dio = {0};

    (void)state;
    assert_int_equal(decide(&dio, 1, 1, 0.1, 6.0001, 1), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 2, 1, 0, 0, 1), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 3, 1, -1, 0, 1), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 4, 1, NAN, 0, 1), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 5, 1, 0.1, NAN, 1), DIO_NO_GAIN);
    assert_int_equal(decide(&dio, 6, 1, 0.1, 5.9999, 1), DIO_AGAIN);
    assert_int_equal(
        dio_decide(&dio, &rules, 7, &(struct dio_proposal){7, NAN, 100, 1, .owed = true}),
        DIO_AGAIN);
}

static void test_limit(void **state)
{
    struct dio dio = {0};

    (void)state;
    for (uint64_t id = 1; id <= 2; id++) { /* 2 + 2 moves at 1 s and 3 s */
        decide(&dio, 2 * (double)id - 2, id, 1, 0, 2);
        assert_int_equal(decide(&dio, 2 * (double)id - 1, id, 1, 0, 2), DIO_MOVE);
    }
    assert_int_equal(decide(&dio, 4, 3, 1, 0, 1), DIO_AGAIN);
    for (double now = 5; now < 61; now++)
        assert_int_equal(decide(&dio, now, 3, 1, 0, 1), DIO_LIMIT);
    assert_int_equal(decide(&dio, 61.5, 3, 1, 0, 1), DIO_MOVE); /* those of 1 s are a minute old */
    decide(&dio, 62, 4, 1, 0, 5);
    assert_int_equal(decide(&dio, 1e6, 4, 1, 0, 5), DIO_LIMIT); /* never more at once */
}

static void test_regret(void **state)
{
    struct dio dio = {0};

    (void)state;
    assert_true(dio_slower(&rules, 100, 1, 90, 1));
    assert_false(dio_slower(&rules, 100, 1, 96, 1)); /* 4 % */
    assert_false(dio_slower(&rules, 100, 8, 90, 8)); /* chance */
    assert_true(dio_slower(&rules, 100, NAN, 90, NAN));
    assert_false(dio_slower(&rules, NAN, 1, 90, 1));
    assert_false(dio_slower(&rules, 100, 1, NAN, 1));
    assert_false(dio_slower(&rules, 100, 1, 120, 1));
    dio_forbid(&dio, &rules, 10, 7);
    assert_int_equal(decide(&dio, 11, 7, 1, 0, 1), DIO_BANNED);
    assert_int_equal(decide(&dio, 11, 8, 1, 0, 1), DIO_AGAIN);
    assert_int_equal(decide(&dio, 610.5, 7, 1, 0, 1), DIO_AGAIN);
    for (uint64_t id = 100; id < 100 + DIO_BANS; id++)
        dio_forbid(&dio, &rules, 700, id);
    assert_int_equal(decide(&dio, 701, 100, 1, 0, 1), DIO_BANNED);
    dio_forbid(&dio, &rules, 702, 999); /* the eldest gives way */
    assert_int_equal(decide(&dio, 703, 100, 1, 0, 1), DIO_AGAIN);
}

/* FIDELITY DIO-4: a devil that lost 6 % for the greater gain of others stays where it is; it goes
 * back where the others gained less, or where it has more cores than they. */
static void test_regrets_together(void **state)
{
    struct dio_speed speed[] = {
        {1e9, 1e6, 0.94e9, 1e6, 1}, {2e9, 1e6, 2.2e9, 1e6, 1}, {4e9, 1e6, 4.04e9, 1e6, 1}};

    (void)state;
    assert_false(dio_regrets(&rules, 1, 3, speed));
    assert_true(dio_regrets(&rules, 1, 1, speed));
    speed[0].cores = 4;
    assert_true(dio_regrets(&rules, 1, 3, speed));
    speed[0].cores = 1;
    speed[1].after = 2.06e9;
    assert_true(dio_regrets(&rules, 1, 3, speed));
    speed[0].after = 0.96e9; /* slower, and all together, but by less than is too much */
    speed[1].after = 1.99e9;
    assert_false(dio_regrets(&rules, 1, 3, speed));
    speed[0].after = 0.8e9;
    assert_false(dio_regrets(&rules, 0.7, 3, speed)); /* it saves that much power */
    assert_false(dio_regrets(&rules, 1, 0, speed));
}

/* Gains that are nothing but noise about the cost: a move now and then, never more than the limit,
 * and none where the mean is well below. */
static void test_noise(void **state)
{
    struct noise noise = {3};
    struct dio dio = {0};
    size_t moves = 0;

    (void)state;
    for (double now = 0; now < 36000; now++)
        moves += decide(&dio, now, 1, 0.1 + 0.01 * noise_normal(&noise), 7.8, 1) == DIO_MOVE;
    assert_true(moves <= 20); /* 3 deviations above, twice in a row */
    moves = 0;
    for (double now = 0; now < 36000; now++)
        moves += decide(&dio, now, 1, 1, 0, 1) == DIO_MOVE;
    assert_true(moves <= 4 * 600 && moves >= 4 * 599);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_agree),
        cmocka_unit_test(test_must_pay),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_regret),
        cmocka_unit_test(test_regrets_together),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
