/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_machine_type - the type of a machine, from recorded /proc/cpuinfo. */
#include "packer/machine/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

static struct topo_llc llc = {.size_bytes = 33554432, .ways = 16};
static const struct topo topo = {.llcs = 1, .llc = &llc};

/* The type by this /proc/cpuinfo; NULL: there is none. */
static void type_of(const char *cpuinfo, char *text, size_t size)
{
    char folder[] = "/tmp/test_machine_type.XXXXXX";
    struct berth_error err = {""};
    struct rootfs root;

    assert_non_null(mkdtemp(folder));
    if (cpuinfo)
        folder_put(folder, "proc/cpuinfo", cpuinfo);
    if (rootfs_open(&root, folder, &err) < 0)
        fail_msg("%s", err.text);
    machine_type(&topo, &root, text, size);
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

static void test_types(void **state)
{
    static const struct {
        const char *cpuinfo, *type;
    } cases[] = {
        {"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n"
         "model name\t: Intel(R) Xeon(R)  Gold 6148 CPU @ 2.40GHz \n\nprocessor\t: 1\n"
         "model name\t: Other\n",
         "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz; LLC 33554432:16"},
        {"processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
         "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
         "Arm 0x41/0xd0c/0x3; LLC 33554432:16"},
        {"processor\t: 0\ncpu family\t: 6\ncpu\t\t: POWER9, altivec supported\nclock\t\t: "
         "3800MHz\n",
         "POWER9, altivec supported; LLC 33554432:16"},
        {"model name\t: A\tB\001\033[2J C", "A B [2J C; LLC 33554432:16"},
        {"model name\t:\n", ""},
        {"CPU implementer\t: 0x41\n", ""},
        {"x\n", ""},
        {"", ""},
        {NULL, ""},
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        type_of(cases[i].cpuinfo, text, sizeof(text));
        assert_string_equal(text, cases[i].type);
    }
}

/* A long name does not push the cache out, and any size will do. */
static void test_long(void **state)
{
    char cpuinfo[512] = "model name\t: ", text[128], little[8];

    (void)state;
    memset(cpuinfo + strlen(cpuinfo), 'x', 300);
    type_of(cpuinfo, text, sizeof(text));
    assert_non_null(strstr(text, "x; LLC 33554432:16"));
    type_of(cpuinfo, little, sizeof(little));
    assert_string_equal(little, "xxxxxxx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
