/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_openmp - which environments have an OpenMP library bind threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packer/wire/wire.h"

static bool says(const char *one, const char *two)
{
    char *env[] = {(char *)"HOME=/", (char *)one, (char *)two, NULL};

    return wire_openmp_binds(env);
}

static void test_binds(void **state)
{
    (void)state;
    assert_true(says("OMP_PROC_BIND=true", NULL));
    assert_true(says("OMP_PROC_BIND=close,spread", NULL));
    assert_true(says("A=b", "OMP_PROC_BIND=primary"));
    assert_true(says("OMP_PLACES=sockets", NULL));
    assert_true(says("GOMP_CPU_AFFINITY=0-3", NULL));
    assert_true(says("KMP_AFFINITY=compact", NULL));
    assert_true(says("OMP_PROC_BIND=", "OMP_PLACES=cores"));
}

static void test_does_not(void **state)
{
    (void)state;
    assert_false(says("OMP_PROC_BIND=FALSE", "OMP_PLACES=cores"));
    assert_false(says("KMP_AFFINITY=disabled", NULL));
    assert_false(says("KMP_AFFINITY=none", "OMP_PLACES="));
    assert_false(says("OMP_PROC_BINDING=true", "MY_OMP_PROC_BIND=true"));
    assert_false(says("OMP_PROC_BIND", "="));
    assert_false(says(NULL, NULL));
    assert_false(wire_openmp_binds(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binds),
        cmocka_unit_test(test_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
