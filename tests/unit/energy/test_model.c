/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_model - idle and busy time times watts: only where it is configured and nothing else
 * says it. */
#include "tests/unit/common/meters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void start(struct meters *meters, const char *text)
{
    meters_open(meters, NULL);
    snprintf(meters->conf.energy_model, sizeof(meters->conf.energy_model), "%s", text);
}

static uint64_t uj_at(struct way *way, size_t zone, double at_s, double busy_s)
{
    uint64_t uj = 0, gaps = 0;

    assert_int_equal(way->way->read(way->state, zone, at_s, busy_s, &uj, &gaps), 0);
    return uj;
}

static void test_energy(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, "idle=40W,core=6W");
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    assert_int_equal(way.zones, 2);
    assert_string_equal(way.say, "not measured: idle=40W,core=6W, 2 zones");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(way.zone[i].domain, ENERGY_PACKAGE);
        assert_string_equal(way.zone[i].source, "model");
    }
    assert_int_equal(uj_at(&way, 0, 1000, 500), 0);
    assert_int_equal(uj_at(&way, 0, 1010, 500), 400000000);
    assert_int_equal(uj_at(&way, 0, 1010.5, 501.25), 420000000 + 7500000);
    assert_int_equal(uj_at(&way, 1, 2000, 7), 0); /* each for itself */
    assert_int_equal(uj_at(&way, 1, 2001, 11), 64000000);
    way_close(&way);
    meters_close(&meters);
}

/* The next berthd goes on from what this one said at last. */
static void test_resume(void **state)
{
    struct energy_last last[ENERGY_LASTS];
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, "idle=40W,core=6W");
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    assert_int_equal(energy_model.keep(way.state, 0, last), 0); /* not read yet */
    uj_at(&way, 0, 1000, 500);
    uj_at(&way, 0, 1010, 520);
    assert_int_equal(energy_model.keep(way.state, 0, last), 1);
    way_close(&way);
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    assert_false(energy_model.resume(way.state, 0, last, 2));
    assert_true(energy_model.resume(way.state, 0, last, 1));
    assert_int_equal(uj_at(&way, 0, 1011, 521), 46000000);
    assert_int_equal(uj_at(&way, 0, 1012, 521), 86000000);
    way_close(&way);
    meters_close(&meters);
}

static void test_dram(void **state)
{
    static const struct energy_zone have[] = {{ENERGY_PACKAGE, 0, "rapl-powercap", false},
                                              {ENERGY_DRAM, 1, "rapl-powercap", false},
                                              {ENERGY_PACKAGE, 1, "rapl-powercap", false},
                                              {ENERGY_DRAM, 0, "rapl-powercap", false}};
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, "core=6W,dram=2.5W,idle=40W");
    meters.node.have = have;
    meters.node.had = 2;
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    assert_int_equal(way.zones, 2);
    way_says(&way, way_zone(&way, ENERGY_DRAM, 0), 5, 0, 0); /* whatever the CPUs do */
    way_says(&way, way_zone(&way, ENERGY_DRAM, 0), 7, 5000000, 0);
    assert_int_equal(uj_at(&way, way_zone(&way, ENERGY_PACKAGE, 1), 5, 0), 0);
    way_close(&way);
    meters.node.had = 4;
    assert_int_equal(way_open(&way, &energy_model, &meters), -1);
    assert_string_equal(way.err.text, "every zone of it has a meter");
    meters_close(&meters);
}

/* From one reading to the next in which it was not busy. */
static void test_sleep(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, "idle=40W,core=6W,sleep=10W");
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    assert_int_equal(uj_at(&way, 0, 0, 100), 0);
    assert_int_equal(uj_at(&way, 0, 10, 100), 100000000);
    assert_int_equal(uj_at(&way, 0, 20, 101), 506000000);
    assert_int_equal(uj_at(&way, 0, 30, 101), 606000000);
    way_close(&way);
    meters_close(&meters);
}

/* Busy time that is not known for a while is in the next reading; what falls is lost. */
static void test_busy(void **state)
{
    struct meters meters;
    struct way way;
    uint64_t uj, gaps;

    (void)state;
    start(&meters, "idle=0W,core=10W");
    assert_int_equal(way_open(&way, &energy_model, &meters), 0);
    way_fails(&way, 0, 1);
    assert_int_equal(uj_at(&way, 0, 2, 100), 0);
    way_fails(&way, 0, 3);
    assert_int_equal(uj_at(&way, 0, 4, 103), 30000000);
    assert_int_equal(uj_at(&way, 0, 5, 60), 30000000); /* a CPU has gone off line */
    assert_int_equal(way.way->read(way.state, 0, 6, 61, &uj, &gaps), 0);
    assert_int_equal(uj, 40000000);
    assert_int_equal(gaps, 1);
    way_close(&way);
    meters_close(&meters);
}

static void test_not_configured(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, "");
    assert_int_equal(way_open(&way, &energy_model, &meters), -1);
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy), cmocka_unit_test(test_resume),
        cmocka_unit_test(test_dram),   cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_busy),   cmocka_unit_test(test_not_configured),
    };

    return cmocka_run_group_tests_name("energy_model", tests, NULL, NULL);
}
