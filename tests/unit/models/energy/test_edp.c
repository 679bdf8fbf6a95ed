/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_edp - both energy-delay products against numbers worked by hand. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/energy/edp.h"

struct row {
    double energy_j, seconds, instructions, classic, paper;
};

static const struct row rows[] = {
    /* 15 W for 10 s; 3e9 instructions/s: 150 / 3e9 */
    {150, 10, 3e10, 1500, 5e-8},
    /* the same work, half the power, twice the time: energy equal, the product is not */
    {150, 20, 3e10, 3000, 1e-7},
    {0, 10, 1, 0, 0},
    {10, 0, 1, 0, 0},
    {1e24, 1e24, 1, 1e48, 1e48},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double classic = edp_classic(rows[i].energy_j, rows[i].seconds);
        double paper = edp_per_instruction(rows[i].energy_j, rows[i].seconds, rows[i].instructions);

        assert_true(fabs(classic - rows[i].classic) <= rows[i].classic * 1e-12);
        assert_true(fabs(paper - rows[i].paper) <= rows[i].paper * 1e-12);
    }
}

/* Equation 9 says it twice: energy per speed, and average power * time^2 / instructions. */
static void test_both_forms(void **state)
{
    double energy = 123.5, time = 7.25, instructions = 1.5e10, power = energy / time;

    (void)state;
    assert_true(fabs(edp_per_instruction(energy, time, instructions) -
                     (power * time * time / instructions)) <= 1e-18);
    assert_true(fabs(edp_per_instruction(energy, time, instructions) -
                     (energy / (instructions / time))) <= 1e-18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_both_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
