/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_library - functions of a library that is loaded are there; what is missing is named. */
#include "packer/base/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define ZLIB "libz.so.1" /* of glpk's dependencies: it is there */

struct zlib {
    const char *(*version)(void);
    unsigned long (*crc)(unsigned long before, const unsigned char *text, unsigned length);
};

static const struct library_function functions[] = {
    {"zlibVersion", offsetof(struct zlib, version)},
    {"crc32", offsetof(struct zlib, crc)},
    {"no_such_function", offsetof(struct zlib, crc)},
};

static void test_loaded(void **state)
{
    struct berth_error err = {""};
    struct zlib zlib;
    void *library = library_open(ZLIB, functions, 2, &zlib, &err);

    (void)state;
    if (!library)
        fail_msg("%s", err.text);
    assert_int_equal(zlib.version()[0], '1');
    assert_int_equal(zlib.crc(0, (const unsigned char *)"123456789", 9), 0xcbf43926);
    library_close(library);
}

static void test_missing(void **state)
{
    struct berth_error err = {""};
    struct zlib zlib;

    (void)state;
    assert_null(library_open(ZLIB, functions, 3, &zlib, &err));
    assert_string_equal(err.text, ZLIB " has no no_such_function");
    assert_null(library_open("libnosuch.so.9", functions, 2, &zlib, &err));
    assert_non_null(strstr(err.text, "libnosuch.so.9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaded),
        cmocka_unit_test(test_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
