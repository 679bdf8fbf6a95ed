/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_address_source - what is said of machines with PEBS, with IBS and with neither (made-up
 * sysfs trees), and which records count as accesses to the last-level cache. That such an event
 * samples cannot be tested without such a processor. */
#include "packer/reuse/address_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define STORES "sys/bus/event_source/devices/cpu/events/mem-stores"
#define IBS "sys/bus/event_source/devices/ibs_op/type"

struct tree {
    char path[64];
    struct rootfs root;
};

static int set_up(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    folder_new(tree->path, sizeof(tree->path), "berth-source");
    assert_int_equal(rootfs_open(&tree->root, tree->path, NULL), 0);
    *state = tree;
    return 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;

    rootfs_close(&tree->root);
    folder_remove(tree->path);
    free(tree);
    return 0;
}

static void test_none(void **state)
{
    static const char none[] = "no PEBS (Intel, Haswell or later) and no IBS (AMD) here";
    struct tree *tree = *state;
    struct address_source source;
    struct berth_error err;

    assert_int_equal(address_source_find(&source, &tree->root, &err), -1);
    assert_string_equal(err.text, none);
    folder_put(tree->path, STORES, "event=0xcd,umask=0x2\n"); /* Ivy Bridge */
    folder_put(tree->path, IBS, "what?\n");
    assert_int_equal(address_source_find(&source, &tree->root, &err), -1);
    assert_string_equal(err.text, none);
}

/* The tree may promise what the test's own machine cannot open: then that is said. */
static void find(struct tree *tree, struct address_source *source, const char *name)
{
    char wanted[64];
    struct berth_error err;

    if (address_source_find(source, &tree->root, &err) < 0) {
        snprintf(wanted, sizeof(wanted), "%s is there, but cannot be opened: ", name);
        assert_memory_equal(err.text, wanted, strlen(wanted));
    }
    assert_string_equal(source->name, name);
}

static void test_pebs(void **state)
{
    struct tree *tree = *state;
    struct address_source source;

    folder_put(tree->path, STORES, "event=0xd0,umask=0x82\n");
    find(tree, &source, "PEBS");
    assert_int_equal(source.sample.type, PERF_TYPE_RAW);
    assert_int_equal(source.sample.config, 0x10d1);
    assert_true(source.sample.precise_ip >= 1); /* else the address is that of another access */
    assert_true(source.sample.exclude_kernel);
    assert_int_equal(source.clock.config, source.sample.config);
    assert_false(source.filter);
}

static void test_ibs(void **state)
{
    struct tree *tree = *state;
    struct address_source source;

    folder_put(tree->path, IBS, "11\n");
    find(tree, &source, "IBS");
    assert_int_equal(source.sample.type, 11);
    assert_int_equal(source.sample.config, 1u << 19);
    assert_false(source.sample.exclude_kernel); /* IBS cannot */
    assert_int_equal(source.clock.type, PERF_TYPE_RAW);
    assert_true(source.filter);
}

/* ---- records ---- */

struct record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time_ns, address;
    union perf_mem_data_src from;
};

static const struct record good = {
    .header = {.type = PERF_RECORD_SAMPLE,
               .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
               .size = sizeof(struct record)},
    .pid = 40,
    .tid = 41,
    .time_ns = 42,
    .address = 0x7f0000001238,
    .from = {.mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT},
};

static bool reads(const struct record *record, bool filter)
{
    const struct address_source source = {.filter = filter};
    struct address_sample sample;

    return address_sample_read(&sample, &source, record, sizeof(*record));
}

static void test_record(void **state)
{
    static const struct address_source source = {.filter = true};
    struct address_sample sample;

    (void)state;
    assert_true(address_sample_read(&sample, &source, &good, sizeof(good)));
    assert_int_equal(sample.tid, 41);
    assert_int_equal(sample.time_ns, 42);
    assert_int_equal(sample.address, 0x7f0000001238);
    assert_false(address_sample_read(&sample, &source, &good, sizeof(good) - 8));
}

static void test_refused(void **state)
{
    struct record record[5] = {good, good, good, good, good};

    (void)state;
    record[0].header.type = PERF_RECORD_THROTTLE;
    record[1].header.misc = PERF_RECORD_MISC_KERNEL;
    record[2].address = 0; /* an operation without one, by IBS */
    record[3].address = 0xffff888000001238;
    record[4].tid = 0;
    for (size_t i = 0; i < 5; i++)
        assert_false(reads(&record[i], false));
}

static void test_filter(void **state)
{
    static const struct {
        union perf_mem_data_src from;
        bool passes;
    } cases[] = {
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT}, false},
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT}, false},
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT}, true},
        {{.mem_op = PERF_MEM_OP_STORE, .mem_lvl = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT}, true},
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_HIT}, true},
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl_num = PERF_MEM_LVLNUM_L2}, false},
        {{.mem_op = PERF_MEM_OP_LOAD, .mem_lvl_num = PERF_MEM_LVLNUM_RAM}, true},
        {{.mem_op = PERF_MEM_OP_NA, .mem_lvl = PERF_MEM_LVL_NA}, false},
        {{.mem_op = PERF_MEM_OP_EXEC, .mem_lvl = PERF_MEM_LVL_L3}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct record record = good;

        record.from = cases[i].from;
        assert_int_equal(reads(&record, true), cases[i].passes);
        assert_true(reads(&record, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pebs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ibs, set_up, tear_down),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_filter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
