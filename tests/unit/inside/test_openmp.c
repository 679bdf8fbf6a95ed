/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_openmp - which environments have an OpenMP library bind threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/inside/openmp.h"
#include "tests/unit/common/folder.h"

#define SAYS(text) openmp_binds_by(text, sizeof(text))

static void test_variables(void **state)
{
    (void)state;
    assert_true(SAYS("HOME=/\0OMP_PROC_BIND=true"));
    assert_true(SAYS("OMP_PROC_BIND=close,spread"));
    assert_true(SAYS("OMP_PROC_BIND=primary\0A=b"));
    assert_true(SAYS("OMP_PLACES=sockets"));
    assert_true(SAYS("GOMP_CPU_AFFINITY=0-3"));
    assert_true(SAYS("KMP_AFFINITY=compact"));
    assert_true(SAYS("OMP_PROC_BIND=\0OMP_PLACES=cores"));
    assert_false(SAYS("OMP_PROC_BIND=FALSE\0OMP_PLACES=cores"));
    assert_false(SAYS("KMP_AFFINITY=disabled"));
    assert_false(SAYS("KMP_AFFINITY=none\0OMP_PLACES="));
    assert_false(SAYS("OMP_PROC_BINDING=true\0MY_OMP_PROC_BIND=true\0OMP_NUM_THREADS=4"));
    assert_false(SAYS(""));
}

/* Whatever a program has written over its environment is read within its bounds. */
static void test_garbled(void **state)
{
    (void)state;
    assert_false(openmp_binds_by("OMP_PROC_BIND=true", 18)); /* no end */
    assert_false(openmp_binds_by("", 0));
    assert_false(SAYS("\0\0=\0OMP_PROC_BIND"));
    assert_true(SAYS("\0\0=\0OMP_PROC_BIND=x"));
}

static void put(const char *folder, const char *environment, size_t length)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/7/environ", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(environment, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The variable lies behind what is looked at, or across its end. */
static void put_long(const char *folder)
{
    static char text[66 << 10];

    memset(text, 'a', sizeof(text));
    memcpy(text + (64 << 10) - 9, "\0OMP_PLACES=threads", 20);
    put(folder, text, sizeof(text));
}

static void test_process(void **state)
{
    char folder[] = "/tmp/berth-openmp-XXXXXX";
    struct berth_error err;
    struct rootfs root;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(rootfs_open(&root, folder, &err), 0);
    assert_false(openmp_binds(&root, 7)); /* it is gone, or not to be read */
    folder_make(folder, "proc/7");
    put(folder, "A=b\0OMP_PLACES=threads", 23);
    assert_true(openmp_binds(&root, 7));
    put(folder, "OMP_PLACES=threads", 18); /* cut off: who knows what it would be */
    assert_false(openmp_binds(&root, 7));
    put_long(folder);
    assert_false(openmp_binds(&root, 7));
    put(folder, "", 0);
    assert_false(openmp_binds(&root, 7));
    rootfs_close(&root);
    assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_garbled),
        cmocka_unit_test(test_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
