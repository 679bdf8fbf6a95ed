/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pressure - how often berth-steer is told of the memory's pressure. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packer/daemon/pressure.h"

static void test_news(void **state)
{
    static const struct {
        double pressure;
        int64_t now;
        double last;
        int64_t last_at;
        bool news;
    } cases[] = {
        {0.5, 1000, 0, 0, true},       /* the first */
        {NAN, 1000, 0, 0, false},      /* not known */
        {0.9, 1029, 0.5, 1000, false}, /* too soon */
        {0.9, 1030, 0.5, 1000, true},
        {0.56, 1030, 0.5, 1000, false}, /* within the noise */
        {0.44, 1030, 0.5, 1000, false},
        {0.43, 1030, 0.5, 1000, true},
        {0.5, 1299, 0.5, 1000, false},
        {0.5, 1300, 0.5, 1000, true}, /* the same, that it is not forgotten */
        {NAN, 1300, 0.5, 1000, false},
        {0.5, 900, 0.5, 1000, true}, /* the clock was put back */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(
            pressure_is_news(cases[i].pressure, cases[i].now, cases[i].last, cases[i].last_at),
            cases[i].news);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_news)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
