/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_perf - RAPL by perf: which events are asked for on which CPUs, their units, events
 * that the kernel refuses. The kernel is played by files of eight bytes. */
#include "tests/unit/common/meters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POWER "/sys/bus/event_source/devices/power"
#define PMU POWER "/"

/* What was opened, and the other end of it. */
struct kernel {
    size_t n;
    struct {
        uint64_t config;
        int cpu, fd;
    } event[16];
    int refuse_cpu, why; /* why 0: none */
};

static int play(const struct perf_event_attr *attr, int cpu, void *arg)
{
    struct kernel *kernel = arg;
    uint64_t zero = 0;
    int fd;

    if (kernel->why && (kernel->refuse_cpu < 0 || kernel->refuse_cpu == cpu)) {
        errno = kernel->why;
        return -1;
    }
    assert_in_range(kernel->n, 0, 15);
    assert_int_equal(attr->type, 15);
    assert_int_equal(attr->size, sizeof(*attr));
    assert_int_equal(attr->read_format, 0);
    fd = memfd_create("event", MFD_CLOEXEC);
    assert_int_equal(pwrite(fd, &zero, sizeof(zero), 0), sizeof(zero));
    kernel->event[kernel->n].config = attr->config;
    kernel->event[kernel->n].cpu = cpu;
    kernel->event[kernel->n].fd = dup(fd); /* both have one offset */
    kernel->n++;
    return fd;
}

/* The event counts that much; the next read gets it. */
static void count(struct kernel *kernel, size_t i, uint64_t value)
{
    assert_int_equal(pwrite(kernel->event[i].fd, &value, sizeof(value), 0), sizeof(value));
    assert_int_equal(lseek(kernel->event[i].fd, 0, SEEK_SET), 0);
}

static void rewind_all(struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->n; i++)
        assert_int_equal(lseek(kernel->event[i].fd, 0, SEEK_SET), 0);
}

static void close_all(struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->n; i++)
        close(kernel->event[i].fd);
}

static void start(struct meters *meters, struct kernel *kernel, const char *tree)
{
    memset(kernel, 0, sizeof(*kernel));
    meters_open(meters, tree);
    meters->node.perf_open = play;
    meters->node.perf_arg = kernel;
}

static void test_xeon(void **state)
{
    static const struct {
        uint64_t config;
        int cpu;
    } expected[] = {{2, 0}, {2, 4}, {3, 0}, {3, 4}, {5, 0}};
    struct kernel kernel;
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, &kernel, "xeon");
    assert_int_equal(way_open(&way, &energy_perf, &meters), 0);
    assert_int_equal(way.zones, 5);
    assert_string_equal(way.say, "RAPL by perf: 5 zones");
    assert_int_equal(kernel.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(kernel.event[i].config, expected[i].config);
        assert_int_equal(kernel.event[i].cpu, expected[i].cpu);
        assert_string_equal(way.zone[i].source, "rapl-perf");
    }
    count(&kernel, 1, 1000); /* it may have been counting before */
    way_says(&way, way_zone(&way, ENERGY_PACKAGE, 1), 1, 0, 0);
    count(&kernel, 1, 1000 + (1ul << 32)); /* 2^-32 J each */
    way_says(&way, way_zone(&way, ENERGY_PACKAGE, 1), 2, 1000000, 0);
    count(&kernel, 1, 1000 + (1ul << 32) * 86400 * 400); /* 400 W for a day */
    way_says(&way, way_zone(&way, ENERGY_PACKAGE, 1), 86400, 34560000000000, 0);
    way_close(&way);
    close_all(&kernel);
    meters_close(&meters);
}

/* Another unit of counts, an event that has none, one that is not joules. */
static void test_units(void **state)
{
    struct kernel kernel;
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, &kernel, "xeon");
    meters_put(&meters, PMU "events/energy-pkg.scale", "0.5");
    meters_put(&meters, PMU "events/energy-ram.unit", "Watts");
    meters_remove(&meters, PMU "events/energy-psys.scale");
    assert_int_equal(way_open(&way, &energy_perf, &meters), 0);
    assert_int_equal(way.zones, 2);
    way_says(&way, 0, 1, 0, 0);
    count(&kernel, 0, 3);
    way_says(&way, 0, 2, 1500000, 0);
    way_close(&way);
    close_all(&kernel);
    meters_close(&meters);
}

static void test_texts(void **state)
{
    static const struct {
        const char *path, *text;
    } wrong[] = {{PMU "events/energy-pkg", "event=0x"},
                 {PMU "events/energy-pkg", "event=2,umask=1"},
                 {PMU "events/energy-pkg", "config=2"},
                 {PMU "events/energy-pkg.scale", "0"},
                 {PMU "events/energy-pkg.scale", "-1"},
                 {PMU "events/energy-pkg.scale", "nan"},
                 {PMU "events/energy-pkg.scale", "1e-10x"},
                 {PMU "events/energy-pkg.unit", "uJ"},
                 {PMU "type", "many"},
                 {PMU "type", "4294967296"},
                 {PMU "cpumask", "0-"},
                 {PMU "cpumask", ""}};
    struct kernel kernel;
    struct meters meters;
    struct way way;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        start(&meters, &kernel, "epyc"); /* which has this event only */
        meters_put(&meters, PMU "type", "15");
        meters_put(&meters, wrong[i].path, "%s", wrong[i].text);
        if (way_open(&way, &energy_perf, &meters) == 0)
            fail_msg("'%s' is taken", wrong[i].text);
        assert_int_equal(kernel.n, 0);
        meters_close(&meters);
    }
}

/* Several CPUs of a package are its dies; the platform is counted once. */
static void test_dies(void **state)
{
    struct kernel kernel;
    struct meters meters;
    struct way way;
    size_t zone;

    (void)state;
    start(&meters, &kernel, "xeon");
    meters_put(&meters, PMU "cpumask", "0,2,4,6");
    meters_put(&meters, PMU "events/energy-pkg.scale", "1e-6");
    assert_int_equal(way_open(&way, &energy_perf, &meters), 0);
    assert_int_equal(way.zones, 5);
    assert_int_equal(kernel.n, 9);
    zone = way_zone(&way, ENERGY_PACKAGE, 1);
    way_says(&way, zone, 1, 0, 0);
    count(&kernel, 2, 100);
    count(&kernel, 3, 11);
    way_says(&way, zone, 2, 111, 0);
    way_fails(&way, zone, 3); /* at their end the files give nothing */
    rewind_all(&kernel);
    way_says(&way, zone, 4, 111, 0);
    way_close(&way);
    close_all(&kernel);
    meters_close(&meters);
}

/* Zones that powercap has are not opened. */
static void test_had(void **state)
{
    static const struct energy_zone have[] = {{ENERGY_PACKAGE, 0, "rapl-powercap", false},
                                              {ENERGY_NODE, 0, "rapl-powercap", false},
                                              {ENERGY_DRAM, 1, "rapl-powercap", false},
                                              {ENERGY_PACKAGE, 1, "rapl-powercap", false},
                                              {ENERGY_DRAM, 0, "rapl-powercap", false}};
    struct kernel kernel;
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, &kernel, "xeon");
    meters.node.have = have;
    meters.node.had = 3;
    assert_int_equal(way_open(&way, &energy_perf, &meters), 0);
    assert_int_equal(way.zones, 2);
    way_zone(&way, ENERGY_PACKAGE, 1);
    way_zone(&way, ENERGY_DRAM, 0);
    way_close(&way);
    close_all(&kernel);
    kernel.n = 0;
    meters.node.had = 5;
    assert_int_equal(way_open(&way, &energy_perf, &meters), -1);
    assert_string_equal(way.err.text, "it has no zone that is not read already");
    assert_int_equal(kernel.n, 0);
    meters_close(&meters);
}

static void test_refused(void **state)
{
    struct kernel kernel;
    struct meters meters;
    struct way way;

    (void)state;
    start(&meters, &kernel, "xeon");
    kernel.why = EACCES;
    kernel.refuse_cpu = -1;
    assert_int_equal(way_open(&way, &energy_perf, &meters), -1);
    assert_string_equal(way.err.text, "perf_event_open: Permission denied");
    kernel.why = ENODEV;
    kernel.refuse_cpu = 0; /* the first package's cannot be had */
    assert_int_equal(way_open(&way, &energy_perf, &meters), 0);
    assert_int_equal(way.zones, 3);
    way_zone(&way, ENERGY_PACKAGE, 1);
    way_zone(&way, ENERGY_NODE, 0);
    way_close(&way);
    close_all(&kernel);
    meters_put(&meters, PMU "cpumask", "9"); /* a CPU that the topology does not know */
    kernel.n = kernel.why = 0;
    assert_int_equal(way_open(&way, &energy_perf, &meters), -1);
    assert_int_equal(kernel.n, 0);
    meters_remove(&meters, POWER);
    assert_int_equal(way_open(&way, &energy_perf, &meters), -1);
    assert_non_null(strstr(way.err.text, "no PMU"));
    meters_close(&meters);
}

/* A recorded tree's numbers are not this kernel's. */
static void test_recorded(void **state)
{
    struct meters meters;
    struct way way;

    (void)state;
    meters_open(&meters, "xeon");
    assert_int_equal(way_open(&way, &energy_perf, &meters), -1);
    assert_non_null(strstr(way.err.text, "recorded tree"));
    meters_close(&meters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xeon),     cmocka_unit_test(test_units),
        cmocka_unit_test(test_texts),    cmocka_unit_test(test_dies),
        cmocka_unit_test(test_had),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_recorded),
    };

    return cmocka_run_group_tests_name("energy_perf", tests, NULL, NULL);
}
