/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_powercap - RAPL by powercap, on recorded trees: which zones there are, wrap-around,
 * reads that fail, counters that are set back, zones that vanish. */
#include "tests/unit/common/meters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASS "/sys/class/powercap/"

static void put_energy(const struct meters *meters, const char *folder, uint64_t uj)
{
    char path[128];

    snprintf(path, sizeof(path), CLASS "%s/energy_uj", folder);
    meters_put(meters, path, "%lu", uj);
}

static void test_xeon(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, "xeon");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    assert_int_equal(way.zones, 5);
    assert_string_equal(way.say, "RAPL: package 2 dram 2 node 1");
    for (size_t i = 0; i < way.zones; i++) {
        assert_string_equal(way.zone[i].source, "rapl-powercap");
        way_says(&way, i, 1, 0, 0);
    }
    put_energy(&meters, "intel-rapl:0", 153420871612 + 1);
    put_energy(&meters, "intel-rapl:0:0", 12873340871 + 20);
    put_energy(&meters, "intel-rapl:1", 483920114014 + 300);
    put_energy(&meters, "intel-rapl:2", 161903277120 + 4000);
    put_energy(&meters, "intel-rapl:2:0", 12440917236 + 50000);
    put_energy(&meters, "intel-rapl:3", 600000); /* the second package's psys: not used */
    way_says(&way, way_zone(&way, ENERGY_PACKAGE, 0), 2, 1, 0);
    way_says(&way, way_zone(&way, ENERGY_DRAM, 0), 2, 20, 0);
    way_says(&way, way_zone(&way, ENERGY_NODE, 0), 2, 300, 0);
    way_says(&way, way_zone(&way, ENERGY_PACKAGE, 1), 2, 4000, 0);
    way_says(&way, way_zone(&way, ENERGY_DRAM, 1), 2, 50000, 0);
    way_close(&way);
    meters_close(&meters);
}

/* AMD's are called intel-rapl too; the cores are in the package. */
static void test_epyc(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, "epyc");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    assert_int_equal(way.zones, 2);
    assert_string_equal(way.say, "RAPL: package 2");
    way_says(&way, 1, 10, 0, 0);
    put_energy(&meters, "intel-rapl:1", 65532610987 - 1000000);
    put_energy(&meters, "intel-rapl:1:0", 7);
    way_says(&way, 1, 20, 65532610987 - 1000000 - 61550328491, 0);
    put_energy(&meters, "intel-rapl:1", 2000000); /* wraps around */
    way_says(&way, 1, 21, 65532610987 - 61550328491 + 2000000, 0);
    way_close(&way);
    meters_close(&meters);
}

/* The kernel's number of a package need not be its place in the topology. */
static void test_numbers(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, "epyc");
    meters_put(&meters, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "1");
    meters_put(&meters, "/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    assert_int_equal(way.zone[0].package, 1); /* package-0 comes first */
    assert_int_equal(way.zone[1].package, 0);
    way_close(&way);
    meters_close(&meters);
}

/* Of a package with several dies the zone is their sum: all or nothing. */
static void test_dies(void **state)
{
    static const char *const name[] = {"package-0-die-0", "package-0-die-1", "package-1-die-0",
                                       "package-1-die-1"};
    struct meters meters;
    struct way way;
    char path[64];

    (void)state;
    meters_open(&meters, NULL);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), CLASS "intel-rapl:%u/name", i);
        meters_put(&meters, path, "%s", name[i]);
        snprintf(path, sizeof(path), CLASS "intel-rapl:%u/max_energy_range_uj", i);
        meters_put(&meters, path, "262143328850");
        snprintf(path, sizeof(path), "intel-rapl:%u", i);
        put_energy(&meters, path, 1000 * i);
    }
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    assert_int_equal(way.zones, 2);
    way_says(&way, 1, 1, 0, 0);
    put_energy(&meters, "intel-rapl:2", 2001);
    put_energy(&meters, "intel-rapl:3", 3010);
    way_says(&way, 1, 2, 11, 0);
    meters_put(&meters, CLASS "intel-rapl:2/energy_uj", "%s", "");
    put_energy(&meters, "intel-rapl:3", 3020);
    way_fails(&way, 1, 3);
    put_energy(&meters, "intel-rapl:2", 2005);
    way_says(&way, 1, 4, 25, 0);
    way_close(&way);
    meters_close(&meters);
}

/* What a read missed is in the next one; what it lost is counted. */
static void test_failed_reads(void **state)
{
    struct meters meters;
    struct way way;
    size_t dram;

    (void)state;
    meters_open(&meters, "xeon");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    dram = way_zone(&way, ENERGY_DRAM, 0);
    way_says(&way, dram, 1, 0, 0);
    meters_put(&meters, CLASS "intel-rapl:0:0/energy_uj", "%s", "");
    way_fails(&way, dram, 2);
    way_fails(&way, dram, 3);
    put_energy(&meters, "intel-rapl:0:0", 12873340871 + 100000000);
    way_says(&way, dram, 4, 100000000, 0);
    meters_remove(&meters, CLASS "intel-rapl:0:0/energy_uj"); /* the file that is open stays as */
    meters_put(&meters, CLASS "intel-rapl:0:0/name", "core"); /* it is; its folder is another's */
    way_says(&way, dram, 5, 100000000, 0);
    way_close(&way);
    meters_close(&meters);
}

/* A zone vanishes, and comes back when the module is loaded again: its counter goes on, or it may
 * have wrapped around more than once in 65.7 kJ at 500 W. */
static void test_vanishes(void **state)
{
    struct meters meters;
    struct way way;
    size_t dram;

    (void)state;
    meters_open(&meters, "xeon");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    dram = way_zone(&way, ENERGY_DRAM, 1);
    way_says(&way, dram, 1, 0, 0);
    meters_put(&meters, CLASS "intel-rapl:2:0/energy_uj", "%s", "");
    way_fails(&way, dram, 2);
    meters_remove(&meters, CLASS "intel-rapl:2:0/energy_uj");
    way_fails(&way, dram, 3);
    put_energy(&meters, "intel-rapl:2:0", 12440917236 + 5);
    way_says(&way, dram, 60, 5, 0);
    meters_put(&meters, CLASS "intel-rapl:2:0/energy_uj", "%s", "");
    way_fails(&way, dram, 61);
    meters_put(&meters, CLASS "intel-rapl:2:0/name", "core"); /* not what it was */
    put_energy(&meters, "intel-rapl:2:0", 12440917236 + 8);
    way_fails(&way, dram, 62);
    meters_put(&meters, CLASS "intel-rapl:2:0/name", "dram");
    way_says(&way, dram, 200, 8, 1);
    way_close(&way);
    meters_close(&meters);
}

static void test_set_back(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, "xeon");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    way_says(&way, 0, 1, 0, 0);
    put_energy(&meters, "intel-rapl:0", 1000); /* 108 kJ in a second would be too much */
    way_says(&way, 0, 2, 0, 1);
    put_energy(&meters, "intel-rapl:0", 3000);
    way_says(&way, 0, 3, 2000, 1);
    way_close(&way);
    meters_close(&meters);
}

static void refuses(struct meters *meters, const char *why)
{
    struct way way;

    assert_int_equal(way_open(&way, &energy_powercap, meters), -1);
    if (!strstr(way.err.text, why))
        fail_msg("'%s' is not in: %s", why, way.err.text);
}

static void test_nothing(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, NULL);
    refuses(&meters, "no RAPL zones in /sys/class/powercap");
    meters_put(&meters, CLASS "intel-rapl/enabled", "1"); /* the module, and no zone */
    meters_put(&meters, CLASS "dtpm/enabled", "0");
    meters_put(&meters, CLASS "intel-rapl-mmio:0/name", "package-0"); /* the same meter again */
    meters_put(&meters, CLASS "intel-rapl-mmio:0/energy_uj", "5");
    refuses(&meters, "no RAPL zones");
    meters_put(&meters, CLASS "intel-rapl:0/name", "package-2"); /* no such package */
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "5");
    meters_put(&meters, CLASS "intel-rapl:0:0/name", "dram");
    meters_put(&meters, CLASS "intel-rapl:0:0/energy_uj", "5");
    meters_put(&meters, CLASS "intel-rapl:1/name", "package-x");
    meters_put(&meters, CLASS "intel-rapl:1/energy_uj", "5");
    meters_put(&meters, CLASS "intel-rapl:2/name", "dram"); /* of what? */
    meters_put(&meters, CLASS "intel-rapl:2/energy_uj", "5");
    refuses(&meters, "2 RAPL zones in /sys/class/powercap, of no package that the topology knows "
                     "(package-2)");
    meters_put(&meters, CLASS "intel-rapl:3/name", "package-1");
    refuses(&meters, "1 RAPL zones in /sys/class/powercap, none readable: No such file");
    meters_put(&meters, CLASS "intel-rapl:4/name", "package-0");
    meters_put(&meters, CLASS "intel-rapl:4/energy_uj", "5");
    assert_int_equal(way_open(&way, &energy_powercap, &meters), 0);
    assert_string_equal(way.say, "RAPL: package 1; 1 not readable: No such file or directory");
    way_close(&way);
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xeon),         cmocka_unit_test(test_epyc),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_dies),
        cmocka_unit_test(test_failed_reads), cmocka_unit_test(test_vanishes),
        cmocka_unit_test(test_set_back),     cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests_name("energy_powercap", tests, NULL, NULL);
}
