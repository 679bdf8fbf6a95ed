/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nearest - which word is meant, and when none is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/nearest.h"

static const char *const words[] = {"status", "top", "explain", "report", "release", "json"};

static const char *meant(const char *typed)
{
    struct nearest nearest = nearest_begin(typed);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        nearest_try(&nearest, words[i]);
    return nearest.best ? nearest.best : "none";
}

static void test_meant(void **state)
{
    (void)state;
    assert_string_equal(meant("statsu"), "status"); /* exchanged */
    assert_string_equal(meant("stauts"), "status");
    assert_string_equal(meant("statuss"), "status");  /* too many */
    assert_string_equal(meant("explan"), "explain");  /* left out */
    assert_string_equal(meant("rleaese"), "release"); /* two exchanges */
    assert_string_equal(meant("tpo"), "top");
    assert_string_equal(meant("jsn"), "json");
    assert_string_equal(meant("reprot"), "report");
}

/* A word that is like no other, and what is no word. */
static void test_none(void **state)
{
    char lengthy[200];

    (void)state;
    assert_string_equal(meant("xyzzy"), "none");
    assert_string_equal(meant("t"), "none");
    assert_string_equal(meant(""), "none");
    assert_string_equal(meant("pot!"), "none");
    memset(lengthy, 's', sizeof(lengthy) - 1);
    lengthy[sizeof(lengthy) - 1] = '\0';
    assert_string_equal(meant(lengthy), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meant),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
