/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_prefetchers - whose processors have the switch, and its register on a made machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/prefetchers.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/msr_tree.h"

static const char *refusal(const char *cpuinfo)
{
    static struct berth_error err;
    uint64_t mask = 77;

    err.text[0] = '\0';
    if (prefetchers_by_cpuinfo(cpuinfo, &mask, &err) == 0)
        assert_int_equal(mask, 0xf);
    else
        assert_int_equal(mask, 77);
    return err.text;
}

static void test_processors(void **state)
{
    (void)state;
    assert_string_equal(refusal(MSR_TREE_HASWELL), "");
    assert_string_equal(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "26")), "");
    assert_string_equal(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "143")), "");
    assert_string_equal(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "207")),
                        ""); /* Emerald Rapids */
    assert_non_null(strstr(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "23")), /* the Q9550 */
                           "nobody has told of Intel's family 6, model 23"));
    assert_non_null(strstr(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "151")), "model 151"));
    assert_non_null(strstr(refusal(MSR_TREE_CPUINFO("GenuineIntel", "15", "63")), "family 15"));
    assert_non_null(strstr(refusal(MSR_TREE_CPUINFO("GenuineIntel", "6", "63x")), "model -1"));
    assert_non_null(strstr(refusal(MSR_TREE_CPUINFO("AuthenticAMD", "6", "63")), "AuthenticAMD"));
    assert_non_null(strstr(refusal("processor\t: 0\n\nvendor_id\t: GenuineIntel\n"), "does not"));
    assert_non_null(strstr(refusal(""), "does not say whose"));
}

/* ---- the register ---- */

struct box {
    char dir[64];
    struct rootfs root;
};

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    folder_new(box->dir, sizeof(box->dir), "test_prefetchers");
    msr_tree_make(box->dir, 2, MSR_TREE_HASWELL);
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

static void test_register(void **state)
{
    struct box *box = *state;
    uint64_t value = 0, mask;

    assert_int_equal(prefetchers_find(&box->root, &mask, NULL), 0);
    assert_int_equal(prefetchers_put(&box->root, 1, 0x8000000000000005u, NULL), 0);
    assert_int_equal(prefetchers_get(&box->root, 1, &value, NULL), 0);
    assert_true(value == 0x8000000000000005u);
    assert_int_equal(msr_tree_get(box->dir, 0), 0);
    assert_true(msr_tree_get(box->dir, 1) == value);
}

static void test_none(void **state)
{
    struct box *box = *state;
    struct berth_error err;
    char path[128];
    uint64_t value;

    assert_int_equal(prefetchers_get(&box->root, 7, &value, &err), -1);
    assert_non_null(strstr(err.text, "/dev/cpu/7/msr: register 0x1a4: open: No such file"));
    assert_non_null(strstr(err.text, "(modprobe msr)"));
    snprintf(path, sizeof(path), "%s/dev/cpu/0/msr", box->dir);
    assert_int_equal(truncate(path, 0x1a4 + 7), 0);
    assert_int_equal(prefetchers_get(&box->root, 0, &value, &err), -1);
    assert_non_null(strstr(err.text, "read: Input/output error"));
}

/* A register that does not keep what is written, as a hypervisor's. */
static void test_deaf(void **state)
{
    struct box *box = *state;
    struct berth_error err;
    char path[128];

    snprintf(path, sizeof(path), "%s/dev/cpu/0/msr", box->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("../../zero", path), 0);
    snprintf(path, sizeof(path), "%s/dev/zero", box->dir);
    if (mknod(path, S_IFCHR | 0666, makedev(1, 5)) < 0)
        skip(); /* not root */
    assert_int_equal(prefetchers_put(&box->root, 0, 15, &err), -1);
    assert_non_null(strstr(err.text, "0xf was written, and it holds 0x0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors),
        cmocka_unit_test_setup_teardown(test_register, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deaf, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
