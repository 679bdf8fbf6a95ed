/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_page_move - what it costs and gains that pages follow a program, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/online/page_move.h"

/* Two cores that wait for memory half of their time, 1 GB to move at 1 GB/s, far memory takes twice
 * as long: 1.5 times the time, a third of two cores is lost. */
static const struct page_move usual = {.bytes = 1e9,
                                       .rate = 1e9,
                                       .cores = 2,
                                       .traffic = NAN,
                                       .stalled = 0.5,
                                       .core_bytes_s = NAN,
                                       .ratio = 2,
                                       .link_bytes_s = NAN};

#define NEAR(a, b) assert_float_equal(a, b, 1e-9)

static void test_usual(void **state)
{
    struct page_move_price price = page_move_price(&usual);

    assert_true(price.known);
    NEAR(price.moving_s, 1);
    NEAR(price.lost, 1);
    NEAR(price.gain, 2.0 / 3);
    NEAR(price.break_even_s, 0.5 + 1.5);
    NEAR(page_move_worth(&price, price.break_even_s), 0);
    NEAR(page_move_worth(&price, 10), 9.5 * 2 / 3 - 1);
    (void)state;
}

/* Slowly moved memory has paid before all of it is there. */
static void test_slow(void **state)
{
    struct page_move move = usual;
    struct page_move_price price;

    move.rate = 1e8;
    price = page_move_price(&move);
    NEAR(price.moving_s, 10);
    NEAR(price.break_even_s, sqrt(30));
    NEAR(page_move_worth(&price, price.break_even_s), 0);
    assert_true(page_move_worth(&price, 10) <
                page_move_worth(&(struct page_move_price){true, 1, 1, price.gain, 0}, 10));
    (void)state;
}

/* Without a figure of the waiting, the traffic says it: 4 of 2 x 8 GB/s is a quarter. */
static void test_traffic(void **state)
{
    struct page_move move = usual;

    move.stalled = NAN;
    move.traffic = 4e9;
    NEAR(page_move_price(&move).gain, 2 * (1 - 1 / 1.25));
    move.core_bytes_s = 4e9;
    NEAR(page_move_price(&move).gain, 2 * (1 - 1 / 1.5));
    move.traffic = 1e12; /* not more than all the time */
    NEAR(page_move_price(&move).gain, 1);
    (void)state;
}

static void test_link(void **state)
{
    struct page_move move = usual;

    move.traffic = 20e9;
    move.link_bytes_s = 5e9; /* four times as long */
    NEAR(page_move_price(&move).gain, 1.5);
    move.link_bytes_s = 19e9; /* less of a hindrance than the latency */
    NEAR(page_move_price(&move).gain, 2.0 / 3);
    (void)state;
}

static void test_no_gain(void **state)
{
    struct page_move move = usual;
    struct page_move_price price;

    move.ratio = 1;
    price = page_move_price(&move);
    NEAR(price.gain, 0);
    assert_true(isinf(price.break_even_s));
    NEAR(page_move_worth(&price, 1e6), -1);
    move.bytes = 0; /* nothing to move costs nothing */
    price = page_move_price(&move);
    NEAR(price.break_even_s, 0);
    NEAR(page_move_worth(&price, 1), 0);
    (void)state;
}

static void test_not_known(void **state)
{
    struct page_move without[3] = {usual, usual, usual};

    without[0].stalled = NAN;
    without[1].ratio = NAN;
    without[2].bytes = NAN;
    for (size_t i = 0; i < 3; i++) {
        struct page_move_price price = page_move_price(&without[i]);

        assert_int_equal(price.known, i == 2);
        assert_true(isnan(price.break_even_s));
        assert_true(isnan(page_move_worth(&price, 60)));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),   cmocka_unit_test(test_slow),
        cmocka_unit_test(test_traffic), cmocka_unit_test(test_link),
        cmocka_unit_test(test_no_gain), cmocka_unit_test(test_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
