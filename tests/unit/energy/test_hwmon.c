/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_hwmon - which sensors are taken for which zone, and which are not; counters of energy
 * that are set back; powers by the thread. */
#include "tests/unit/common/meters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/base/clock.h"

#define CLASS "/sys/class/hwmon/"

/* Wait until the zone of a power says at least that much. */
static uint64_t wait_for(struct way *way, size_t zone, uint64_t at_least)
{
    uint64_t uj, gaps;

    for (unsigned tries = 0; tries < 3000; tries++) {
        if (way->way->read(way->state, zone, clock_s(), NAN, &uj, &gaps) == 0 && uj >= at_least)
            return uj;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("it does not come");
    return 0;
}

static void put_device(const struct meters *meters, const char *folder, const char *name,
                       const char *file, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), CLASS "%s/name", folder);
    meters_put(meters, path, "%s", name);
    snprintf(path, sizeof(path), CLASS "%s/%s", folder, file);
    meters_put(meters, path, "%s", text);
}

static void refuses(struct meters *meters, const char *why)
{
    struct way way;

    assert_int_equal(way_open(&way, &energy_hwmon, meters), -1);
    if (!strstr(way.err.text, why))
        fail_msg("'%s' is not in: %s", why, way.err.text);
}

/* Of eight meters two are packages; the others are parts of them, or have more in them. */
static void test_grace(void **state)
{
    struct meters meters;
    struct way way;
    double began_s;
    uint64_t uj;

    (void)state;
    meters_open(&meters, "grace");
    began_s = clock_s();
    assert_int_equal(way_open(&way, &energy_hwmon, &meters), 0);
    assert_int_equal(way.zones, 2);
    assert_string_equal(way.say, "packages 2, whole node: no");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(way.zone[i].domain, ENERGY_PACKAGE);
        assert_string_equal(way.zone[i].source, "hwmon");
    }
    uj = wait_for(&way, way_zone(&way, ENERGY_PACKAGE, 1), 1);
    assert_true((double)uj <= 185.000001e6 * (clock_s() - began_s));
    way_close(&way);
    meters_close(&meters);
}

/* A server whose ACPI power meter is the only one. */
static void test_power_meter(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, NULL);
    put_device(&meters, "hwmon0", "nvme", "temp1_input", "38850");
    put_device(&meters, "hwmon1", "amdgpu", "power1_average", "90000000");
    put_device(&meters, "hwmon2", "power_meter", "power1_average", "412000000");
    assert_int_equal(way_open(&way, &energy_hwmon, &meters), 0);
    assert_int_equal(way.zones, 1);
    assert_int_equal(way.zone[0].domain, ENERGY_NODE);
    assert_int_equal(way.zone[0].package, 0);
    assert_string_equal(way.say, "packages 0, whole node: yes");
    wait_for(&way, 0, 1);
    way_close(&way);
    meters_remove(&meters, CLASS "hwmon2/power1_average"); /* another kind of meter */
    put_device(&meters, "hwmon2", "power_meter", "power1_input", "412000000");
    assert_int_equal(way_open(&way, &energy_hwmon, &meters), 0);
    way_close(&way);
    put_device(&meters, "hwmon2", "power_meter", "power1_is_battery", "1");
    refuses(&meters, "no meter that is known");
    put_device(&meters, "hwmon2", "power_meter", "power1_is_battery", "0");
    put_device(&meters, "hwmon2", "power_meter", "power1_input", "");
    refuses(&meters, "a meter in /sys/class/hwmon is not readable");
    meters_close(&meters);
}

/* What each of several measures is not known. */
static void test_several(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, NULL);
    put_device(&meters, "hwmon2", "power_meter", "power1_average", "412000000");
    put_device(&meters, "hwmon10", "power_meter", "power1_average", "400000000");
    refuses(&meters, "2 meters that may be the whole node's: none is used");
    put_device(&meters, "hwmon11", "apm_xgene", "power1_label", "CPU power");
    put_device(&meters, "hwmon11", "apm_xgene", "power1_input", "60000000");
    put_device(&meters, "hwmon11", "apm_xgene", "power2_label", "IO power");
    put_device(&meters, "hwmon11", "apm_xgene", "power2_input", "20000000");
    assert_int_equal(way_open(&way, &energy_hwmon, &meters), 0);
    assert_int_equal(way.zones, 1);
    assert_int_equal(way.zone[0].domain, ENERGY_PACKAGE);
    assert_string_equal(way.say, "packages 1, whole node: several meters, none is used");
    wait_for(&way, 0, 1);
    way_close(&way);
    meters_close(&meters);
}

/* amd_energy: first the cores' counters, then the sockets'. */
static void test_counters(void **state)
{
    struct meters meters;
    struct way way;
    char file[64], text[32];
    size_t zone;

    (void)state;
    meters_open(&meters, NULL);
    for (unsigned i = 1; i <= 130; i++) {
        snprintf(file, sizeof(file), "energy%u_input", i);
        snprintf(text, sizeof(text), "%u", 1000 * i);
        put_device(&meters, "hwmon3", "amd_energy", file, text);
        snprintf(file, sizeof(file), "energy%u_label", i);
        snprintf(text, sizeof(text), i <= 128 ? "Ecore%03u" : "Esocket%u", (i - 1) % 128);
        put_device(&meters, "hwmon3", "amd_energy", file, text);
    }
    assert_int_equal(way_open(&way, &energy_hwmon, &meters), 0);
    assert_int_equal(way.zones, 2);
    zone = way_zone(&way, ENERGY_PACKAGE, 1);
    way_says(&way, zone, 1, 0, 0);
    meters_put(&meters, CLASS "hwmon3/energy130_input", "250130000");
    way_says(&way, zone, 2, 250000000, 0);
    meters_put(&meters, CLASS "hwmon3/energy130_input", "%s", "");
    way_fails(&way, zone, 3);
    meters_put(&meters, CLASS "hwmon3/energy130_input", "400130000");
    way_says(&way, zone, 4, 400000000, 0);
    meters_put(&meters, CLASS "hwmon3/energy130_input", "5"); /* it does not wrap around */
    way_says(&way, zone, 5, 400000000, 1);
    meters_put(&meters, CLASS "hwmon3/energy130_input", "7");
    way_says(&way, zone, 6, 400000002, 1);
    way_close(&way);
    meters_close(&meters);
}

/* A socket that the topology does not have; zones that others have; no hwmon at all. */
static void test_nothing(void **state)
{
    static const struct energy_zone have[] = {{ENERGY_PACKAGE, 0, "rapl-powercap", false},
                                              {ENERGY_PACKAGE, 1, "rapl-powercap", false},
                                              {ENERGY_NODE, 0, "rapl-powercap", false}};
    struct meters meters;

    (void)state;
    meters_open(&meters, NULL);
    refuses(&meters, "no meter that is known and not read already in /sys/class/hwmon");
    put_device(&meters, "hwmon0", "amd_energy", "energy1_input", "5");
    put_device(&meters, "hwmon0", "amd_energy", "energy1_label", "Esocket2");
    refuses(&meters, "no meter that is known");
    meters_close(&meters);
    meters_open(&meters, "grace");
    meters.node.have = have;
    meters.node.had = 3;
    refuses(&meters, "not read already");
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grace),   cmocka_unit_test(test_power_meter),
        cmocka_unit_test(test_several), cmocka_unit_test(test_counters),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests_name("energy_hwmon", tests, NULL, NULL);
}
