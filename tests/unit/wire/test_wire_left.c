/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_left - each reason to leave a step alone has a name, a sentence and a remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "packer/wire/wire_left.h"

#define NAME_MAX_KEPT 15 /* the ledger's column has 16 bytes */

static void test_each_has_all(void **state)
{
    char text[256], with[256];

    (void)state;
    for (enum wire_left left = WIRE_NOT_LEFT + 1; left < WIRE_LEFTS; left++) {
        const char *name = wire_left_name[left], *remedy = wire_left_remedy[left];

        assert_in_range(strlen(name), 1, NAME_MAX_KEPT);
        assert_int_equal(wire_left_of(name), left);
        assert_true(strlen(remedy) > 20);
        assert_null(strchr(remedy, '%'));
        wire_left_text(left, "WHO", text, sizeof(text));
        assert_true(strlen(text) > 2);
        assert_null(strchr(text, '%'));
        wire_left_text(left, NULL, with, sizeof(with));
        assert_true(strstr(text, "WHO") ? strchr(with, '?') != NULL : strcmp(text, with) == 0);
    }
}

static void test_texts(void **state)
{
    char text[64];

    (void)state;
    assert_string_equal(wire_left_text(WIRE_LEFT_ENVIRONMENT, "OMP_PLACES", text, sizeof(text)),
                        "its threads bind themselves (OMP_PLACES is set)");
    assert_string_equal(wire_left_text(WIRE_LEFT_OFF, NULL, text, sizeof(text)),
                        "it did not opt in");
    assert_string_equal(wire_left_text(WIRE_NOT_LEFT, NULL, text, sizeof(text)), "");
    assert_string_equal(wire_left_text(WIRE_LEFT_KERNEL, "100 % of it", text, 5), "100 ");
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(wire_left_of("off"), WIRE_LEFT_OFF);
    assert_int_equal(wire_left_of("other"), WIRE_LEFT_OTHER);
    assert_int_equal(wire_left_of(""), WIRE_NOT_LEFT);
    assert_int_equal(wire_left_of(NULL), WIRE_NOT_LEFT);
    assert_int_equal(wire_left_of("of a later berth"), WIRE_NOT_LEFT);
}

static void test_pinned(void **state)
{
    (void)state;
    assert_true(wire_left_is_pinned(WIRE_LEFT_ENVIRONMENT));
    assert_true(wire_left_is_pinned(WIRE_LEFT_EARLIER));
    assert_false(wire_left_is_pinned(WIRE_LEFT_OFF));
    assert_false(wire_left_is_pinned(WIRE_NOT_LEFT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_has_all),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pinned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
