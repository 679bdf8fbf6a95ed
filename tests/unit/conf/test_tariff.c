/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tariff - a figure by time: what is read, what is refused, and which entry counts when. */
#include "packer/conf/tariff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SATURDAY 1795219200 /* 2026-11-21T00:00:00 UTC */
#define HOUR 3600
#define DAY 86400

static void use_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static double mean(const char *text, double otherwise, int64_t from, int64_t to)
{
    struct tariff tariff;
    struct berth_error err;

    if (tariff_parse(&tariff, text, &err) < 0)
        fail_msg("%s", err.text);
    return tariff_mean(&tariff, otherwise, from * 1000, to * 1000);
}

static void test_means(void **state)
{
    static const struct {
        const char *text;
        int64_t from, to; /* seconds after SATURDAY */
        double mean;
    } list[] = {
        {"", 0, HOUR, 1},
        {"sat=2", 0, HOUR, 2},
        {"sun=2", 0, HOUR, 1},
        {"sat-sun=2", 23 * HOUR, 25 * HOUR, 2},
        {"sun-fri=2", 23 * HOUR, 25 * HOUR, 1.5},
        {"08:00-20:00=3", 7 * HOUR, 9 * HOUR, 2},
        {"08:30-09:00=3", 8 * HOUR, 9 * HOUR, 2},
        {"08:00-20:00=3", 0, DAY, 2},
        {"00:00-24:00=3", 0, DAY, 3},
        {"22:00-06:00=3", 0, 6 * HOUR, 3},
        {"22:00-06:00=3", 5 * HOUR, 7 * HOUR, 2},
        {"sat/22:00-06:00=3", 0, 6 * HOUR, 1}, /* that is Friday's night */
        {"sat/22:00-06:00=3", DAY, DAY + 6 * HOUR, 3},
        {"sat=2,08:00-09:00=4", 8 * HOUR, 10 * HOUR, 3}, /* the last one counts */
        {"08:00-09:00=4,sat=2", 8 * HOUR, 10 * HOUR, 2},
        {"2026-11-22=5", 23 * HOUR, 25 * HOUR, 3},
        {"2026-11-21/sat/00:00-01:00=5", 0, 2 * HOUR, 3},
        {"2027-01-01/sat=5", 0, HOUR, 1},
        {"sat=0", 0, HOUR, 0},
        {"sat=2", HOUR, HOUR, 2}, /* no time at all */
        {"08:00-20:00=3", 0, 100 * DAY, 2},
    };

    (void)state;
    use_zone("UTC0");
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        double got = mean(list[i].text, 1, SATURDAY + list[i].from, SATURDAY + list[i].to);

        if (fabs(got - list[i].mean) > 1e-12)
            fail_msg("%s, %lld to %lld: %g, not %g", list[i].text, (long long)list[i].from,
                     (long long)list[i].to, got, list[i].mean);
    }
}

/* A day of 25 hours has one more of its cheap night; one of 23 has one less. */
static void test_clocks(void **state)
{
    (void)state;
    use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_true(fabs(mean("00:00-06:00=0", 1, 1792879200, 1792879200 + 25 * HOUR) - 18.0 / 25) <
                1e-12); /* 2026-10-25 */
    assert_true(fabs(mean("00:00-06:00=0", 1, 1774738800, 1774738800 + 23 * HOUR) - 18.0 / 23) <
                1e-12); /* 2026-03-29 */
}

static void test_wrong(void **state)
{
    static const char *const list[] = {
        "0.3",           "=0.3",        "sat=",          "sat=x",        "sat=-1",
        "sat=0.3EUR",    "caturday=1",  "sat-=1",        "08:00=1",      "08:00-25:00=1",
        "24:00-06:00=1", "8:00-9:00=1", "08:60-09:00=1", "2026-13-01=1", "2026-02-30=1",
        "sat=1e9",       "sat 0.3",
    };
    struct tariff tariff;
    char many[1000] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct berth_error err = {""};

        if (tariff_parse(&tariff, list[i], &err) == 0)
            fail_msg("%s was read", list[i]);
        assert_non_null(strstr(err.text, "expected"));
    }
    for (int i = 0; i <= TARIFF_ENTRIES; i++)
        strcat(many, "sat=1,");
    assert_int_equal(tariff_parse(&tariff, many, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
