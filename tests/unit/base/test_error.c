/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_error - the reason of a failure: written whole or cut, and errno kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "packer/base/error.h"

static void test_set(void **state)
{
    struct berth_error err;

    (void)state;
    errno = ENOSPC;
    assert_int_equal(berth_error_set(&err, "%s:%d: %s", "file", 3, "why"), -1);
    assert_string_equal(err.text, "file:3: why");
    assert_int_equal(errno, ENOSPC);
}

static void test_no_memory(void **state)
{
    struct berth_error err;

    (void)state;
    errno = ENOMEM;
    assert_int_equal(berth_no_memory(&err), -1);
    assert_string_equal(err.text, "out of memory");
    assert_int_equal(berth_no_memory(NULL), -1);
    assert_int_equal(errno, ENOMEM);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    errno = EPERM;
    assert_int_equal(berth_error_set(NULL, "%d", 1), -1);
    assert_int_equal(errno, EPERM);
}

static void test_cut(void **state)
{
    struct berth_error err;
    char longer[2 * sizeof(err.text)];

    (void)state;
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(berth_error_set(&err, "%s", longer), -1);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void test_before(void **state)
{
    struct berth_error err = {"why"};
    char longer[2 * sizeof(err.text)];

    (void)state;
    errno = ENOSPC;
    assert_int_equal(berth_error_before(&err, "[%d]: ", 3), -1);
    assert_int_equal(berth_error_before(&err, "%s", "list"), -1);
    assert_string_equal(err.text, "list[3]: why");
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(berth_error_before(NULL, "list"), -1);
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(berth_error_before(&err, "%s", longer), -1);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
