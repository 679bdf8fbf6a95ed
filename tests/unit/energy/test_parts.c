/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_parts - counters that wrap around, are set back or are not read for long; powers; the
 * file that a meter keeps open; the numbers of packages. */
#include "tests/unit/common/meters.h"

#include <errno.h>

/* A counter of 0 to 10 J, of a thing that takes 2 W at most: it wraps around every 5 s. */
static void test_counter(void **state)
{
    static const struct {
        const char *what;
        double after_s;
        uint64_t value, more_uj, gaps;
    } cases[] = {
        {"goes on", 1, 6000000, 1000000, 0},
        {"stands", 1, 5000000, 0, 0},
        {"wraps around", 3, 1000000, 6000000, 0},
        {"wraps around to 0", 3, 0, 5000000, 0},
        {"reaches the end", 3, 10000000, 5000000, 0},
        {"has just not had the time to wrap around twice", 4.8, 4700000, 9700000, 0},
        {"may have wrapped around twice", 5, 4900000, 9900000, 1},
        {"has not been read for long", 3600, 6000000, 1000000, 1},
        {"was set back", 1, 4000000, 0, 1},
        {"jumped", 1, 9000000, 0, 1},
        {"says what it cannot say", 1, 10000001, 0, 1},
        {"two readings at a time", 0, 5000001, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct energy_counter counter = {.range = 10000000, .most_w = 2};

        energy_counter_take(&counter, 4000000, 99.5);
        energy_counter_take(&counter, 5000000, 100);
        assert_int_equal(counter.uj + counter.gaps, 1000000);
        energy_counter_take(&counter, cases[i].value, 100 + cases[i].after_s);
        if (counter.uj != 1000000 + cases[i].more_uj || counter.gaps != cases[i].gaps)
            fail_msg("%s: %lu uJ, %lu gaps", cases[i].what, counter.uj - 1000000, counter.gaps);
    }
}

/* After each of these it goes on from where it is. */
static void test_counter_goes_on(void **state)
{
    struct energy_counter counter = {.range = 10000000, .most_w = 2};

    (void)state;
    energy_counter_take(&counter, 9000000, 1);
    energy_counter_take(&counter, 7000000, 2); /* set back */
    energy_counter_take(&counter, 8000000, 3);
    assert_int_equal(counter.uj, 1000000);
    energy_counter_take(&counter, UINT64_MAX, 4); /* nonsense */
    energy_counter_take(&counter, 9000000, 5);
    energy_counter_take(&counter, 9500000, 6);
    assert_int_equal(counter.uj, 1500000);
    assert_int_equal(counter.gaps, 2);
}

static void test_counter_without_end(void **state)
{
    struct energy_counter counter = {.most_w = 1000};

    (void)state;
    energy_counter_take(&counter, UINT64_MAX - 5000000, 1);
    energy_counter_take(&counter, UINT64_MAX, 2);
    assert_int_equal(counter.uj, 5000000);
    energy_counter_take(&counter, 0, 3); /* the driver was loaded anew */
    energy_counter_take(&counter, 1000000, 4);
    assert_int_equal(counter.uj, 6000000);
    assert_int_equal(counter.gaps, 1);
    energy_counter_take(&counter, 100001000000, 104); /* 1000 W */
    assert_int_equal(counter.uj, 100006000000);
}

/* Counted one by one, wrap after wrap: nothing is lost. */
static void test_counter_long(void **state)
{
    struct energy_counter counter = {.range = 10000000, .most_w = 20};
    uint64_t used = 0, step = 123457;

    (void)state;
    for (unsigned i = 0; i < 10000; i++) {
        energy_counter_take(&counter, used % counter.range, 0.01 * i);
        assert_int_equal(counter.uj, used);
        used += step + i % 7;
    }
    assert_int_equal(counter.gaps, 0);
}

static void test_power(void **state)
{
    struct energy_power power = {.begun = false};

    (void)state;
    energy_power_take(&power, 100, 50);
    assert_int_equal(power.uj, 0);
    energy_power_take(&power, 200, 52); /* 150 W on average */
    assert_int_equal(power.uj, 300000000);
    energy_power_take(&power, 300, 52); /* at the same time */
    energy_power_take(&power, 300, 51); /* time does not go back */
    assert_int_equal(power.uj, 300000000);
    energy_power_take(&power, 300, 51 + ENERGY_BRIDGE_S);
    assert_int_equal(power.uj, 300000000 + 300000000 * (uint64_t)ENERGY_BRIDGE_S);
    assert_int_equal(power.gaps, 0);
    energy_power_take(&power, 300, 51 + 2.1 * ENERGY_BRIDGE_S);
    assert_int_equal(power.uj, 300000000 + 300000000 * (uint64_t)ENERGY_BRIDGE_S);
    assert_int_equal(power.gaps, 1);
}

/* What is less than a microjoule is kept for the next time. */
static void test_power_fractions(void **state)
{
    struct energy_power power = {.begun = false};

    (void)state;
    for (unsigned i = 0; i <= 1 << 20; i++)
        energy_power_take(&power, 0.5, i * 0x1p-20);
    assert_int_equal(power.uj, 500000);
}

static void test_file(void **state)
{
    struct energy_file file = {.path = "/d/energy_uj", .witness = "/d/name", .name = "package-0"};
    struct meters meters;
    uint64_t value;

    (void)state;
    meters_open(&meters, NULL);
    assert_int_equal(energy_file_open(&file, &meters.root, &value), -1);
    meters_put(&meters, "/d/name", "package-0");
    meters_put(&meters, "/d/energy_uj", "18446744073709551615");
    assert_int_equal(energy_file_open(&file, &meters.root, &value), 0);
    assert_true(value == UINT64_MAX);
    meters_put(&meters, "/d/energy_uj", "12"); /* read again without opening it */
    assert_int_equal(energy_file_read(&file, &meters.root, &value), 0);
    assert_int_equal(value, 12);
    meters_put(&meters, "/d/energy_uj", "%s", "");
    assert_int_equal(energy_file_read(&file, &meters.root, &value), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(file.fd, -1);
    meters_put(&meters, "/d/energy_uj", "13");
    meters_put(&meters, "/d/name", "package-1"); /* another one has its place */
    assert_int_equal(energy_file_read(&file, &meters.root, &value), -1);
    assert_int_equal(errno, ENODEV);
    meters_put(&meters, "/d/name", "package-0");
    assert_int_equal(energy_file_read(&file, &meters.root, &value), 0);
    assert_int_equal(value, 13);
    energy_file_close(&file);
    meters_close(&meters);
}

static void test_file_text(void **state)
{
    static const char *const wrong[] = {"",   "-1",  "x",  "1x",     "1 2",
                                        " 1", "1.5", "+1", "0x10\n", "18446744073709551616"};
    struct energy_file file = {.path = "/f"};
    struct meters meters;

    (void)state;
    meters_open(&meters, NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        meters_put(&meters, "/f", "%s", wrong[i]);
        assert_int_equal(energy_file_open(&file, &meters.root, NULL), -1);
        assert_int_equal(file.fd, -1);
    }
    meters_put(&meters, "/f", "0");
    assert_int_equal(energy_file_open(&file, &meters.root, NULL), 0);
    energy_file_close(&file);
    meters_close(&meters);
}

static void test_package(void **state)
{
    struct meters meters;

    (void)state;
    meters_open(&meters, NULL); /* /sys says nothing: in order */
    assert_int_equal(energy_package(&meters.node, 0), 0);
    assert_int_equal(energy_package(&meters.node, 1), 1);
    assert_int_equal(energy_package(&meters.node, 2), -1);
    meters_close(&meters);
    meters_open(&meters, "epyc");
    assert_int_equal(energy_package(&meters.node, 1), 1);
    meters_put(&meters, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "3");
    meters_put(&meters, "/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0");
    assert_int_equal(energy_package(&meters.node, 3), 0);
    assert_int_equal(energy_package(&meters.node, 0), 1);
    assert_int_equal(energy_package(&meters.node, 1), -1);
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),
        cmocka_unit_test(test_counter_goes_on),
        cmocka_unit_test(test_counter_without_end),
        cmocka_unit_test(test_counter_long),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_power_fractions),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_text),
        cmocka_unit_test(test_package),
    };

    return cmocka_run_group_tests_name("energy_parts", tests, NULL, NULL);
}
