/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_busy - /proc/stat as kernels write it, cut ones, and this machine's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/system/cpu_busy.h"
#include "tests/unit/common/folder.h"

struct tree {
    char path[64];
    struct rootfs root;
};

static int setup(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    folder_new(tree->path, sizeof(tree->path), "berth-busy");
    assert_int_equal(rootfs_open(&tree->root, tree->path, NULL), 0);
    *state = tree;
    return 0;
}

static int teardown(void **state)
{
    struct tree *tree = *state;

    rootfs_close(&tree->root);
    folder_remove(tree->path);
    free(tree);
    return 0;
}

/* user 1 + nice 2 + system 3 + irq 6 + softirq 7: not idle 4, iowait 5 and steal 8. */
static void test_read(void **state)
{
    struct tree *tree = *state;
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    struct cpu_busy busy;
    struct cpus all;

    folder_put(tree->path, "proc/stat",
               "cpu  9 9 9 9 9 9 9 9 9 9\n"
               "cpu0 1 2 3 4 5 6 7 8 9 0\n"
               "cpu7 100 0 0 9999 0 0 0 0 0 0\n"
               "intr 1 2 3\ncpu8 1 1 1 1 1 1 1 1 1 1\n");
    assert_int_equal(cpu_busy_read(&tree->root, &busy, NULL), 0);
    assert_true(busy.s[0] == 19 * tick_s);
    assert_true(busy.s[7] == 100 * tick_s);
    assert_int_equal(cpus_count(&busy.known), 2);
    cpus_parse(&all, "0-15");
    assert_true(cpu_busy_sum(&busy, &all) == busy.s[0] + busy.s[7]);
    cpus_zero(&all);
    assert_true(cpu_busy_sum(&busy, &all) == 0);
}

static void test_bad(void **state)
{
    static const char *const bad[] = {"", "cpu  1 2 3 4 5 6 7 8\n", "cpu0 1 2 3\n", "cpux 1\n",
                                      "cpu99999 1 2 3 4 5 6 7 8\n"};
    struct tree *tree = *state;
    struct cpu_busy busy;
    struct berth_error err;

    assert_int_equal(cpu_busy_read(&tree->root, &busy, &err), -1);
    assert_string_equal(err.text, "/proc/stat: No such file or directory");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        folder_put(tree->path, "proc/stat", bad[i]);
        assert_int_equal(cpu_busy_read(&tree->root, &busy, &err), -1);
        assert_string_equal(err.text, "/proc/stat: no CPU in it");
    }
}

/* A loop of 100 ms of CPU time shows. */
static void test_this_machine(void **state)
{
    struct rootfs root;
    struct cpu_busy before, after;

    (void)state;
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    if (cpu_busy_read(&root, &before, NULL) < 0)
        skip();
    for (clock_t until = clock() + CLOCKS_PER_SEC / 10; clock() < until;)
        ;
    assert_int_equal(cpu_busy_read(&root, &after, NULL), 0);
    assert_true(cpu_busy_sum(&after, &after.known) - cpu_busy_sum(&before, &before.known) > 0.05);
    rootfs_close(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
        cmocka_unit_test(test_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
