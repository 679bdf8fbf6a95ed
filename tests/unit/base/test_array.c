/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_array - an array that grows keeps what is in it, also where there is no more memory. */
#include "packer/base/array.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Has AddressSanitizer answer a want of memory with NULL, as malloc(3) does, and not end the test. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_grows(void **state)
{
    size_t *list = NULL, room = 0, grown = 0;

    (void)state;
    for (size_t n = 0; n < 10000; n++) {
        size_t before = room;

        assert_int_equal(array_grow(&list, &room, n + 1, sizeof(*list)), 0);
        assert_true(room > n);
        grown += room != before;
        list[n] = n;
    }
    assert_true(grown < 20); /* by doubling */
    for (size_t n = 0; n < 10000; n++)
        assert_int_equal(list[n], n);
    assert_int_equal(array_grow(&list, &room, 100000, sizeof(*list)), 0);
    assert_true(room >= 100000);
    assert_int_equal(list[9999], 9999);
    free(list);
}

static void test_no_memory(void **state)
{
    char(*list)[1000] = malloc(sizeof(*list)), (*before)[1000] = list;
    size_t room = 1;

    (void)state;
    assert_int_equal(array_grow(&list, &room, SIZE_MAX / 10, sizeof(*list)), -1);
    assert_int_equal(errno, ENOMEM);
    assert_ptr_equal(list, before);
    assert_int_equal(room, 1);
    free(list);
}

static void test_median(void **state)
{
    double value[] = {5, 1, 4, 2, 3};

    (void)state;
    assert_true(isnan(array_median(value, 0)));
    assert_true(array_median(value, 1) == 5);
    assert_true(array_median(value, 2) == 3);
    assert_true(array_median(value, 5) == 3);
    for (size_t i = 0; i < 5; i++)
        assert_true(value[i] == (double)(i + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_median),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
