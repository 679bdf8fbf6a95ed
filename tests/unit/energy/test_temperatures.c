/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_temperatures - sensors of cores on made machines: which is which core's, what is none, and
 * that a package's own figure is nobody's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/energy/temperatures.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/hwmon_tree.h"

struct box {
    char dir[64];
    struct rootfs root;
    struct topo *topo;
    struct temperatures *temperatures;
};

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    folder_new(box->dir, sizeof(box->dir), "test_temperatures");
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    assert_int_equal(topo_read(&box->topo, "package:2 core:4 pu:1", NULL), 0);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    temperatures_close(box->temperatures);
    topo_free(box->topo);
    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static const char *open_it(struct box *box)
{
    static struct berth_error err;

    err.text[0] = '\0';
    temperatures_open(&box->temperatures, &box->root, box->topo, &err);
    return err.text;
}

static struct temperature of(const struct box *box, size_t core)
{
    struct temperature is;

    temperatures_read(box->temperatures, core, &is);
    return is;
}

/* Both packages have a Core 3, which is the third of each. */
static void test_cores(void **state)
{
    struct box *box = *state;

    hwmon_tree_make(box->dir, 2, 4);
    assert_string_equal(open_it(box), "");
    assert_int_equal(temperatures_count(box->temperatures), 8);
    hwmon_tree_set(box->dir, 4, 2, 83.5);
    hwmon_tree_set(box->dir, 4, 6, 101);
    for (size_t core = 0; core < 8; core++)
        assert_true(of(box, core).celsius == (core == 2 ? 83.5 : core == 6 ? 101 : 40));
    assert_true(of(box, 2).t1 == HWMON_TREE_T1 && of(box, 2).t2 == HWMON_TREE_T2);
}

/* What cannot be read is not known. */
static void test_unreadable(void **state)
{
    struct box *box = *state;
    char path[128];

    hwmon_tree_make(box->dir, 1, 4);
    assert_string_equal(open_it(box), "");
    assert_int_equal(temperatures_count(box->temperatures), 4);
    assert_true(isnan(of(box, 7).celsius));
    snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon1/temp2_max", box->dir);
    assert_int_equal(unlink(path), 0);
    folder_put(box->dir, "sys/class/hwmon/hwmon1/temp3_input", "warm\n");
    assert_true(isnan(of(box, 0).t1) && of(box, 0).celsius == 40);
    assert_true(isnan(of(box, 1).celsius) && of(box, 1).t1 == HWMON_TREE_T1);
}

static void test_none(void **state)
{
    struct box *box = *state;

    assert_non_null(strstr(open_it(box), "no sensor of a core in /sys/class/hwmon"));
    folder_put(box->dir, "sys/class/hwmon/hwmon0/name", "k10temp\n");
    folder_put(box->dir, "sys/class/hwmon/hwmon0/temp1_label", "Tctl\n");
    folder_put(box->dir, "sys/class/hwmon/hwmon0/temp1_input", "40000\n");
    assert_non_null(strstr(open_it(box), "k10temp"));
    assert_null(box->temperatures);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_cores), TEST(test_unreadable), TEST(test_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
