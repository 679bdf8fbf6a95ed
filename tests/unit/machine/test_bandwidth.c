/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bandwidth - what a memory node gives: by made machines of which more and more is known. */
#include "packer/machine/bandwidth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/machine/processor.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/recorded.h"

#define X86(vendor, family, model, name)                                                           \
    "processor\t: 0\nvendor_id\t: " vendor "\ncpu family\t: " family "\nmodel\t\t: " model         \
    "\nmodel name\t: " name "\nstepping\t: 1\n\n"
#define ARM(implementer, part)                                                                     \
    "processor\t: 0\nCPU implementer\t: " implementer "\nCPU architecture: 8\nCPU part\t: " part   \
    "\n\n"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-3 * fabs(want) || (isnan(got) && isnan(want))))
        fail_msg("%g is not %g", got, want);
}

/* ---- the processor ---- */

static void test_kinds(void **state)
{
    static const struct {
        const char *cpuinfo;
        double package_gbps, port_gbps; /* 0: there is no row */
    } cases[] = {
        {X86("GenuineIntel", "6", "79", "Intel(R) Xeon(R) CPU E5-2695 v4 @ 2.10GHz"), 76.8, NAN},
        {X86("GenuineIntel", "6", "106", "Intel(R) Xeon(R) Platinum 8360Y"), 204.8, NAN},
        {X86("AuthenticAMD", "25", "1", "AMD EPYC 7763 64-Core Processor"), 204.8, 51.2},
        {X86("AuthenticAMD", "25", "17", "AMD EPYC 9654 96-Core Processor"), 460.8, 57.6},
        {X86("AuthenticAMD", "23", "49", "AMD EPYC 7452 32-Core Processor"), 204.8, 36},
        {X86("AuthenticAMD", "23", "1", "AMD Ryzen 7 1700X"), 0, 0}, /* the model of Naples */
        {X86("GenuineIntel", "6", "9999", "tomorrow's"), 0, 0},
        {X86("GenuineIntel", "x", "79", "no number"), 0, 0},
        {ARM("0x41", "0xd40"), 307.2, NAN},
        {ARM("0x46", "0x001"), 1024, NAN},
        {ARM("0x99", "0x001"), 0, 0},
        {"cpu\t\t: POWER9\n\n", 0, 0},
        {"", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct processor_memory memory = {0};
        struct processor processor;
        struct rootfs root;
        char dir[64];

        folder_new(dir, sizeof(dir), "bandwidth");
        folder_put(dir, "proc/cpuinfo", cases[i].cpuinfo);
        assert_int_equal(rootfs_open(&root, dir, NULL), 0);
        processor_read(&root, "", &processor);
        rootfs_close(&root);
        folder_remove(dir);
        if (processor_memory(&processor, &memory) != (cases[i].package_gbps > 0))
            fail_msg("%s: %g", cases[i].cpuinfo, memory.package_gbps);
        assert_near(memory.package_gbps, cases[i].package_gbps);
        assert_near(memory.port_gbps, cases[i].port_gbps);
    }
}

/* An hwloc XML file says whose machine it is, whatever this one is. */
static void test_recorded_kinds(void **state)
{
    static const struct {
        const char *file;
        double package_gbps; /* 0: it does not say it */
    } cases[] = {
        {"topologies/cts1-pascal.xml", 76.8},
        {"topologies/AMD-19h-Zen3-2xEpyc-7763.xml", 204.8},
        {"topologies/AMD-19h-Zen4-2xEpyc-9654.xml", 460.8},
        {"topologies/64amd64-4s2n4ca2co.xml", 51.2},
        {"topologies/knl-snc4-flat-hwloc1.xml", 115.2},
        {"topologies/48amd64-4pa2n6c-sparse.xml", 0},
        {"examples/cases/01-uncalibrated/two-sockets.xml", 0},
    };
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct processor_memory memory = {0};
        struct processor processor;
        char path[512];

        if (!recorded_path(cases[i].file, path))
            continue;
        found++;
        processor_read(NULL, path, &processor);
        processor_memory(&processor, &memory);
        assert_near(memory.package_gbps, cases[i].package_gbps);
    }
    if (found == 0)
        skip();
}

/* ---- a memory node ---- */

/* Slots of DDR4-3200 in EDAC and SMBIOS are in test_dram; here is a machine without. */
struct known {
    const char *topology, *cpuinfo;
    double calibrated, seen; /* 0: not */
    enum bandwidth_source source;
    double gbps;
    size_t nodes, caches;
    const char *text;
};

static void find(const struct known *it, const struct topo *topo, struct bandwidth *bandwidth)
{
    struct machine_profile *profile = NULL;
    struct rootfs root;
    char dir[64];

    if (it->calibrated > 0) { /* and a cache was measured to draw half of it, a core a quarter */
        profile = machine_profile_new(1, (size_t[]){2});
        assert_non_null(profile);
        profile->node[0].local[2].value = it->calibrated;
        profile->node[0].cache.value = it->calibrated / 2;
        profile->node[0].local[1].value = it->calibrated / 4;
    }
    folder_new(dir, sizeof(dir), "bandwidth");
    folder_put(dir, "proc/cpuinfo", it->cpuinfo);
    assert_int_equal(rootfs_open(&root, dir, NULL), 0);
    bandwidth_find(topo, NULL, profile, &root, bandwidth);
    bandwidth_seen(bandwidth, it->seen);
    rootfs_close(&root);
    folder_remove(dir);
    machine_profile_free(profile);
}

static void test_sources(void **state)
{
    static const char broadwell[] = X86("GenuineIntel", "6", "79", "Intel(R) Xeon(R) E5-2695 v4");
    static const struct known cases[] = {
        {"package:2 [numa] l3:1 core:18 pu:2", "", 0, 0, BANDWIDTH_CORES, 90, 2, 1,
         "not calibrated: assumed 2 x 90 GB/s by its number of cores; `berthctl calibrate` takes a "
         "minute"},
        {"package:1 [numa] l3:8 core:8 pu:1", "", 0, 0, BANDWIDTH_CORES, 320, 1, 8, NULL},
        {"package:1 [numa] l3:1 core:2 pu:1", "", 0, 0, BANDWIDTH_CORES, 19.2, 1, 1, NULL},
        {"package:1 [numa] l3:1 core:2 pu:1", "", 0, 30, BANDWIDTH_SEEN, 30, 1, 1,
         "not calibrated: assumed 1 x 30 GB/s by the most that was seen drawn; `berthctl "
         "calibrate` "
         "takes a minute"},
        {"package:1 [numa] l3:1 core:2 pu:1", "", 0, 10, BANDWIDTH_CORES, 19.2, 1, 1, NULL},
        {"package:2 [numa] l3:1 core:18 pu:2", broadwell, 0, 0, BANDWIDTH_PROCESSOR, 76.8, 2, 1,
         "not calibrated: assumed 2 x 77 GB/s by the processor's kind; `berthctl calibrate` takes "
         "a "
         "minute"},
        {"package:2 group:2 [numa] l3:1 core:9 pu:2", broadwell, 0, 0, BANDWIDTH_PROCESSOR, 38.4, 4,
         1, NULL},
        {"package:2 [numa] l3:1 core:18 pu:2", broadwell, 66, 90, BANDWIDTH_CALIBRATED, 66, 2, 1,
         "calibrated: 2 x 66 GB/s"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bandwidth bandwidth;
        struct topo *topo;
        char text[BANDWIDTH_TEXT];

        assert_int_equal(topo_read(&topo, cases[i].topology, NULL), 0);
        find(&cases[i], topo, &bandwidth);
        assert_string_equal(bandwidth_source_name[bandwidth.source],
                            bandwidth_source_name[cases[i].source]);
        assert_near(bandwidth.gbps, cases[i].gbps);
        assert_near(bandwidth.port_gbps, cases[i].calibrated > 0 ? cases[i].calibrated / 2 : NAN);
        assert_near(bandwidth.core_gbps, cases[i].calibrated > 0 ? cases[i].calibrated / 4 : NAN);
        assert_int_equal(bandwidth.nodes, cases[i].nodes);
        assert_int_equal(topo_sharing(topo), cases[i].caches);
        assert_int_equal(bandwidth_assumed(&bandwidth), cases[i].source != BANDWIDTH_CALIBRATED);
        if (cases[i].text)
            assert_string_equal(bandwidth_text(&bandwidth, text), cases[i].text);
        topo_free(topo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_recorded_kinds),
        cmocka_unit_test(test_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
