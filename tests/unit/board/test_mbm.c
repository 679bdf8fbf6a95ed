/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_mbm - the traffic of each cache on trees of plain files that look like resctrl's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/board/mbm.h"
#include "tests/unit/common/folder.h"

#define R "sys/fs/resctrl/"
#define CACHES 2

struct scene {
    char dir[64];
    struct rootfs root;
    struct topo *topo;
    struct mbm *mbm;
    double total[CACHES], local[CACHES];
};

static void put_group(struct scene *scene, const char *group, size_t cache, const char *total,
                      const char *local)
{
    char path[128];

    snprintf(path, sizeof(path), R "%smon_data/mon_L3_0%zu/mbm_total_bytes", group, cache);
    folder_put(scene->dir, path, total);
    snprintf(path, sizeof(path), R "%smon_data/mon_L3_0%zu/mbm_local_bytes", group, cache);
    folder_put(scene->dir, path, local);
}

/* Two caches of two CPUs each, which have counted nothing. */
static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct berth_error err;

    folder_new(scene->dir, sizeof(scene->dir), "berth-mbm");
    folder_put(scene->dir, R "info/L3_MON/mon_features",
               "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n");
    for (size_t i = 0; i < CACHES; i++)
        put_group(scene, "", i, "0\n", "0\n");
    folder_put(scene->dir, "sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    folder_put(scene->dir, "sys/devices/system/cpu/cpu0/cache/index3/id", "0\n");
    folder_put(scene->dir, "sys/devices/system/cpu/cpu2/cache/index3/level", "3\n");
    folder_put(scene->dir, "sys/devices/system/cpu/cpu2/cache/index3/id", "1\n");
    assert_int_equal(rootfs_open(&scene->root, scene->dir, &err), 0);
    assert_int_equal(topo_read(&scene->topo, "package:1 l3:2 core:2 pu:1", &err), 0);
    assert_int_equal(mbm_open(&scene->mbm, &scene->root, scene->topo, &err), 0);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    mbm_close(scene->mbm);
    topo_free(scene->topo);
    rootfs_close(&scene->root);
    folder_remove(scene->dir);
    free(scene);
    return 0;
}

static void read_at(struct scene *scene, double at_s)
{
    mbm_read(scene->mbm, at_s, scene->total, scene->local);
}

static void test_traffic(void **state)
{
    struct scene *scene = *state;

    read_at(scene, 100);
    assert_true(isnan(scene->total[0])); /* the first reading is a beginning */
    put_group(scene, "", 0, "5000000\n", "4000000\n");
    read_at(scene, 100.5);
    assert_float_equal(scene->total[0], 1e7, 1e-3);
    assert_float_equal(scene->local[0], 8e6, 1e-3);
    assert_true(scene->total[1] == 0); /* measured */
}

/* Somebody's control group is a part of the machine. */
static void test_groups(void **state)
{
    struct scene *scene = *state;

    for (size_t i = 0; i < CACHES; i++)
        put_group(scene, "else/", i, "7\n", "7\n");
    read_at(scene, 10);
    read_at(scene, 10.1);
    put_group(scene, "", 1, "1000\n", "0\n");
    put_group(scene, "else/", 1, "2007\n", "7\n");
    read_at(scene, 10.2);
    assert_float_equal(scene->total[1], 30000, 1e-3);
}

/* One that comes is counted from the first second's end on, and one reading is not known. */
static void test_group_comes(void **state)
{
    struct scene *scene = *state;

    read_at(scene, 10);
    for (size_t i = 0; i < CACHES; i++)
        put_group(scene, "else/", i, "500\n", "0\n");
    read_at(scene, 10.5);
    assert_true(scene->total[0] == 0);
    read_at(scene, 11);
    assert_true(isnan(scene->total[0]));
    put_group(scene, "else/", 0, "1500\n", "0\n");
    read_at(scene, 11.5);
    assert_float_equal(scene->total[0], 2000, 1e-3);
}

static void test_silent(void **state)
{
    static const char *const said[] = {"Unavailable\n", "Error\n", "", "-5\n", "0\n"};
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        put_group(scene, "", 0, "1000\n", "0\n");
        read_at(scene, 10 + (double)i / 10);
        put_group(scene, "", 0, said[i], "0\n"); /* the last one has fallen */
        read_at(scene, 10.05 + (double)i / 10);
        assert_true(isnan(scene->total[0]));
        assert_true(scene->total[1] == 0);
    }
}

static void test_absent(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;
    struct mbm *mbm;

    folder_put(scene->dir, R "info/L3_MON/mon_features", "llc_occupancy\n");
    assert_int_equal(mbm_open(&mbm, &scene->root, scene->topo, &err), -1);
    assert_string_equal(err.text, "resctrl counts no memory traffic here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_traffic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_group_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_silent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
