/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy - the ways together: who reads which zone, what the configuration leaves out, what
 * is known when, and how many calls a reading costs. */
#include "tests/unit/common/meters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CLASS "/sys/class/powercap/"

static struct energy *start(struct meters *meters, const char *tree)
{
    struct energy *energy = NULL;
    struct berth_error err;

    meters_open(meters, tree);
    assert_int_equal(energy_open(&energy, &meters->node, &err), 0);
    return energy;
}

static struct energy *again(struct meters *meters, struct energy *energy)
{
    struct berth_error err;

    energy_close(energy);
    assert_int_equal(energy_open(&energy, &meters->node, &err), 0);
    return energy;
}

static size_t zone_of(const struct energy *energy, enum energy_domain domain, unsigned package)
{
    for (size_t i = 0; i < energy_zones(energy); i++)
        if (energy_zone(energy, i)->domain == domain && energy_zone(energy, i)->package == package)
            return i;
    fail_msg("no zone %s %u", energy_domain_name[domain], package);
    return 0;
}

static void about_is(const struct energy *energy, size_t i, const char *name, bool used,
                     const char *say)
{
    struct energy_about about;

    assert_true(energy_about(energy, i, &about));
    assert_string_equal(about.name, name);
    assert_int_equal(about.used, used);
    if (!strstr(about.say, say))
        fail_msg("'%s' is not in: %s", say, about.say);
}

static void test_about(void **state)
{
    struct energy_about about;
    struct meters meters;
    struct energy *energy = start(&meters, "xeon");

    (void)state;
    about_is(energy, 0, "powercap", true, "RAPL: package 2 dram 2 node 1");
    about_is(energy, 1, "perf", false, "recorded tree");
    about_is(energy, 2, "hwmon", false, "no meter that is known");
    about_is(energy, 3, "model", false, "energy_model is not set in berth.conf");
    assert_false(energy_about(energy, 4, &about));
    strcpy(meters.conf.energy, "perf,hwmon");
    strcpy(meters.conf.energy_model, "idle=40W,core=6W");
    energy = again(&meters, energy);
    about_is(energy, 0, "powercap", false, "not in berth.conf's energy");
    about_is(energy, 3, "model", true, "not measured: idle=40W,core=6W, 2 zones");
    energy_close(energy);
    meters_close(&meters);
}

/* No meter at all is fine. */
static void test_nothing(void **state)
{
    struct energy_reading reading;
    struct meters meters;
    struct energy *energy = start(&meters, NULL);

    (void)state;
    assert_int_equal(energy_zones(energy), 0);
    assert_null(energy_zone(energy, 0));
    energy_read(energy, 5, &reading);
    assert_int_equal(reading.zones, 0);
    assert_true(reading.at_s == 5);
    energy_close(energy);
    energy_close(NULL);
    meters_close(&meters);
}

static int one_file(const struct perf_event_attr *attr, int cpu, void *arg)
{
    (void)attr;
    (void)cpu;
    ++*(unsigned *)arg;
    return memfd_create("event", MFD_CLOEXEC);
}

/* A zone is of the first way that has it. */
static void test_order(void **state)
{
    struct meters meters;
    struct energy *energy;
    struct berth_error err;
    unsigned opened = 0;

    (void)state;
    meters_open(&meters, "xeon");
    meters.node.perf_open = one_file;
    meters.node.perf_arg = &opened;
    strcpy(meters.conf.energy_model, "idle=40W,core=6W,dram=3W");
    meters_remove(&meters, CLASS "intel-rapl:0:0"); /* the link */
    meters_remove(&meters, CLASS "intel-rapl:2:0/energy_uj");
    meters_remove(&meters, "/sys/bus/event_source/devices/power/events/energy-psys");
    meters_put(&meters, "/sys/bus/event_source/devices/power/cpumask", "4");
    meters_put(&meters, "/sys/class/hwmon/hwmon0/name", "power_meter");
    meters_put(&meters, "/sys/class/hwmon/hwmon0/power1_average", "400000000");
    meters_put(&meters, CLASS "intel-rapl:1/energy_uj", "0");
    assert_int_equal(energy_open(&energy, &meters.node, &err), 0);
    assert_int_equal(energy_zones(energy), 5);
    assert_string_equal(energy_zone(energy, zone_of(energy, ENERGY_PACKAGE, 0))->source,
                        "rapl-powercap");
    assert_string_equal(energy_zone(energy, zone_of(energy, ENERGY_PACKAGE, 1))->source,
                        "rapl-powercap");
    assert_string_equal(energy_zone(energy, zone_of(energy, ENERGY_DRAM, 0))->source, "model");
    assert_string_equal(energy_zone(energy, zone_of(energy, ENERGY_DRAM, 1))->source, "rapl-perf");
    assert_string_equal(energy_zone(energy, zone_of(energy, ENERGY_NODE, 0))->source, "hwmon");
    assert_int_equal(opened, 1);
    about_is(energy, 0, "powercap", true, "RAPL: package 2; 1 not readable");
    energy_close(energy);
    meters_close(&meters);
}

/* What is not known now keeps its last figure, and is made up for later. */
static void test_reading(void **state)
{
    struct energy_reading reading;
    struct meters meters;
    struct energy *energy = start(&meters, "epyc");

    (void)state;
    energy_read(energy, 1, &reading);
    assert_int_equal(reading.zones, 2);
    assert_true(reading.still[0] && reading.still[1]);
    assert_int_equal(reading.uj[0], 0);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "40719284312");
    energy_read(energy, 2, &reading);
    assert_true(reading.known[0]);
    assert_int_equal(reading.uj[0], 10);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "%s", "");
    energy_read(energy, 3, &reading);
    assert_false(reading.known[0] || reading.still[0]);
    assert_true(reading.still[1]);
    assert_int_equal(reading.uj[0], 10);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "40719284402");
    energy_read(energy, 4, &reading);
    assert_true(reading.known[0]);
    assert_int_equal(reading.uj[0], 100);
    assert_int_equal(reading.gaps[0], 0);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "40719284502");
    energy_read(energy, 4000, &reading); /* it may have wrapped around */
    assert_int_equal(reading.uj[0], 200);
    assert_int_equal(reading.gaps[0], 1);
    assert_int_equal(reading.uj[1], 0);
    energy_close(energy);
    meters_close(&meters);
}

/* A meter that is there and always says the same is none: it counts once it has moved, and no more
 * when it stands still. */
static void test_stands_still(void **state)
{
    struct energy_reading reading;
    struct meters meters;
    struct energy *energy = start(&meters, "epyc");

    (void)state;
    for (int at_s = 1; at_s <= 100; at_s++) {
        energy_read(energy, at_s, &reading);
        assert_true(reading.still[0] && !reading.known[0]);
    }
    assert_true(reading.still_s[0] == 99);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "40719284312");
    energy_read(energy, 101, &reading);
    assert_true(reading.known[0] && !reading.still[0]);
    energy_read(energy, 101 + ENERGY_STILL_S / 2, &reading);
    assert_true(reading.known[0]);
    energy_read(energy, 101 + ENERGY_STILL_S, &reading);
    assert_true(reading.still[0] && !reading.known[0]);
    meters_put(&meters, CLASS "intel-rapl:0/energy_uj", "40719284322");
    energy_read(energy, 130, &reading);
    assert_true(reading.known[0]);
    assert_int_equal(reading.uj[0], 20);
    energy_close(energy);
    meters_close(&meters);
}

/* A zone that cannot be read at first begins later, at 0. */
static void test_begins_later(void **state)
{
    struct energy_reading reading;
    struct meters meters;
    struct energy *energy = start(&meters, "epyc");

    (void)state;
    meters_put(&meters, CLASS "intel-rapl:1/energy_uj", "%s", "");
    energy_read(energy, 1, &reading);
    assert_false(reading.known[1] || reading.still[1]);
    assert_int_equal(reading.uj[1], 0);
    meters_put(&meters, CLASS "intel-rapl:1/energy_uj", "61550329491");
    energy_read(energy, 2, &reading);
    assert_true(reading.still[1]);
    assert_int_equal(reading.uj[1], 0);
    meters_put(&meters, CLASS "intel-rapl:1/energy_uj", "61550329501");
    energy_read(energy, 3, &reading);
    assert_true(reading.known[1]);
    assert_int_equal(reading.uj[1], 10);
    energy_close(energy);
    meters_close(&meters);
}

/* cpu4 to cpu7 are the second package; idle time and waiting for I/O are no work. */
static void put_stat(const struct meters *meters, unsigned ticks)
{
    meters_put(meters, "/proc/stat",
               "cpu  1 0 0 0 0 0 0 0 0 0\ncpu0 5 0 0 7 9 0 0 0 0 0\ncpu4 %u 0 0 0 0 0 0 0 0 0\n"
               "cpu5 %u 0 0 0 0 0 0 0 0 0",
               ticks, ticks);
}

static void test_model(void **state)
{
    struct energy_reading reading;
    long tick = sysconf(_SC_CLK_TCK);
    struct meters meters;
    struct energy *energy = start(&meters, NULL);

    (void)state;
    strcpy(meters.conf.energy_model, "idle=40W,core=6W");
    energy = again(&meters, energy);
    energy_read(energy, 1, &reading); /* there is no /proc/stat */
    assert_false(reading.known[0] || reading.known[1]);
    put_stat(&meters, 1000);
    energy_read(energy, 2, &reading);
    assert_true(reading.known[0] && reading.known[1]);
    assert_true(energy_zone(energy, 0)->modelled);
    assert_int_equal(reading.uj[1], 0);
    put_stat(&meters, 1000 + (unsigned)tick);
    energy_read(energy, 4, &reading);
    assert_int_equal(reading.uj[zone_of(energy, ENERGY_PACKAGE, 0)], 80000000);
    assert_int_equal(reading.uj[zone_of(energy, ENERGY_PACKAGE, 1)], 80000000 + 12000000);
    energy_close(energy);
    meters_close(&meters);
}

static unsigned open_files(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Nothing stays open but a file for each zone; a reading opens none. Its time is printed only. */
static void test_cost(void **state)
{
    enum { READINGS = 2000 };
    struct energy_reading reading;
    struct timespec began, ended;
    struct meters meters;
    struct energy *energy;
    struct berth_error err;
    unsigned before;

    (void)state;
    meters_open(&meters, "xeon");
    before = open_files();
    assert_int_equal(energy_open(&energy, &meters.node, &err), 0);
    assert_int_equal(open_files(), before + 5);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (unsigned i = 0; i < READINGS; i++)
        energy_read(energy, i, &reading);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    print_message("a reading of 5 zones: %.1f us\n", ((double)(ended.tv_sec - began.tv_sec) * 1e9 +
                                                      (double)(ended.tv_nsec - began.tv_nsec)) /
                                                         (1e3 * READINGS));
    assert_int_equal(open_files(), before + 5);
    energy_close(energy);
    assert_int_equal(open_files(), before);
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_about),        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_stands_still), cmocka_unit_test(test_begins_later),
        cmocka_unit_test(test_model),        cmocka_unit_test(test_cost),
    };

    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
