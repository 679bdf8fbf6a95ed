/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory_nodes - texts as kernels write them: memory.numa_stat of both versions, numa_maps. */
#include "packer/system/memory_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define KIB 1024.0
#define MIB (1024 * KIB)

static void test_stat(void **state)
{
    static const struct {
        const char *text;
        size_t n; /* 0: refused */
        double bytes[3];
    } cases[] = {
        /* v1, Linux 5.10, two nodes */
        {"total=152613 N0=100000 N1=52613\nfile=140000 N0=95000 N1=45000\nanon=12603 N0=5000 "
         "N1=7603\nunevictable=10 N0=0 N1=10\nhierarchical_total=160000 N0=105000 N1=55000\n"
         "hierarchical_file=140000 N0=95000 N1=45000\nhierarchical_anon=19990 N0=10000 N1=9990\n"
         "hierarchical_unevictable=10 N0=0 N1=10\n",
         2,
         {10000 * 4 * KIB, 10000 * 4 * KIB}},
        /* v2, Linux 6.1 */
        {"anon N0=1048576 N1=0\nfile N0=99999744 N1=4096\nkernel_stack N0=16384 N1=0\n"
         "pagetables N0=4096 N1=0\nshmem N0=0 N1=8192\nfile_mapped N0=4096 N1=8192\n"
         "anon_thp N0=0 N1=0\nunevictable N0=0 N1=0\n",
         2,
         {1048576 + 4096, 8192}},
        /* nodes that are not numbered without gaps */
        {"anon N0=1 N2=3\n", 3, {1, 0, 3}},
        {"anon=5 N0=5\n", 0, {0}}, /* v1 before hierarchical_*, Linux 3.12 */
        {"anon \n", 0, {0}},
        {"anon N=5 Nx=3 N99=7\n", 0, {0}},
        {"", 0, {0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct memory_nodes nodes = {0};
        int rc = memory_nodes_add_stat(&nodes, cases[i].text, 4 * KIB);

        assert_int_equal(rc, cases[i].n ? 0 : -1);
        assert_int_equal(nodes.n, cases[i].n);
        for (size_t node = 0; node < 3; node++)
            assert_true(nodes.bytes[node] == cases[i].bytes[node]);
    }
}

static void test_maps(void **state)
{
    static const char text[] =
        "00400000 default file=/usr/bin/solver mapped=100 mapmax=2 N0=100 kernelpagesize_kB=4\n"
        "00600000 interleave:0-1 anon=10 dirty=10 N0=5 N1=5 kernelpagesize_kB=4\n"
        "7f0000000000 default anon=1 dirty=1 N1=1 kernelpagesize_kB=2048\n"
        "7f0040000000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 N1=3 "
        "kernelpagesize_kB=2048\n"
        "7f0080000000 default huge dirty=1 N0=1 kernelpagesize_kB=1048576\n"
        "7f00c0000000 default file=/home/x/\\040N7=9\\012 mapped=1 N0=1\n"
        "7ffd00000000 default stack anon=2 dirty=2 N0=2 kernelpagesize_kB=4\n"
        "7ffe00000000 default\n";
    struct memory_nodes nodes = {0};

    (void)state;
    assert_int_equal(memory_nodes_add_maps(&nodes, text, 4 * KIB), 0);
    assert_int_equal(nodes.n, 2);
    assert_true(nodes.bytes[0] == 108 * 4 * KIB + 1024 * MIB);
    assert_true(nodes.bytes[1] == 5 * 4 * KIB + 4 * 2 * MIB);
    assert_int_equal(memory_nodes_add_maps(&nodes, text, 4 * KIB), 0); /* adds */
    assert_true(nodes.bytes[1] == 2 * (5 * 4 * KIB + 4 * 2 * MIB));
    nodes = (struct memory_nodes){0};
    assert_int_equal(memory_nodes_add_maps(&nodes, "7ffe00000000 default\n", 4096), -1);
    assert_int_equal(memory_nodes_add_maps(&nodes, "", 4096), -1);
    assert_int_equal(nodes.n, 0);
}

static void test_files(void **state)
{
    char folder[] = "/tmp/test_memory_nodes.XXXXXX";
    struct memory_nodes nodes = {0};
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(folder));
    folder_put(folder, "memory.numa_stat", "anon N0=4096 N1=12288\n");
    assert_int_equal(rootfs_open(&root, folder, NULL), 0);
    assert_int_equal(memory_nodes_of_cgroup(&nodes, &root, "/"), 0);
    assert_true(nodes.bytes[0] == 4096 && nodes.bytes[1] == 12288);
    assert_int_equal(memory_nodes_of_cgroup(&nodes, &root, "/gone"), -1);
    assert_int_equal(memory_nodes_of_process(&nodes, &root, 1), -1);
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

/* What this process has touched is on some node. */
static void test_self(void **state)
{
    size_t size = 16 << 20;
    char *memory = malloc(size);
    struct memory_nodes nodes = {0};
    struct rootfs root;
    double sum = 0;

    (void)state;
    assert_non_null(memory);
    memset(memory, 1, size);
    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    if (memory_nodes_of_process(&nodes, &root, getpid()) < 0) {
        print_message("this kernel has no numa_maps\n");
        rootfs_close(&root);
        free(memory);
        skip();
    }
    for (size_t i = 0; i < nodes.n; i++)
        sum += nodes.bytes[i];
    assert_true(sum >= (double)size);
    assert_true(memory[size / 2] == 1);
    rootfs_close(&root);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_self),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
