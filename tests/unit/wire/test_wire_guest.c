/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_guest - the lines of the mark of idle cores: what is written is read again, and what is
 * no line is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "packer/wire/wire_guest.h"

static struct wire_guest guest_of(const char *on, const char *home, const char *dir)
{
    struct wire_guest guest;

    assert_int_equal(cpus_parse(&guest.on, on), 0);
    assert_int_equal(cpus_parse(&guest.home, home), 0);
    snprintf(guest.dir, sizeof(guest.dir), "%s", dir);
    return guest;
}

static void test_round(void **state)
{
    struct wire_guest guest = guest_of("4-5,7", "0-2", "/sys/fs/cgroup/cpuset/berth/1.0"), read;
    char line[WIRE_GUEST_LINE_MAX];

    (void)state;
    wire_guest_write(&guest, line);
    assert_string_equal(line, "4-5,7 0-2 /sys/fs/cgroup/cpuset/berth/1.0\n");
    strcat(line, "8 9 /another\n");
    assert_true(wire_guest_read(line, &read));
    assert_true(cpus_equal(&read.on, &guest.on) && cpus_equal(&read.home, &guest.home));
    assert_string_equal(read.dir, guest.dir);
}

static void test_what_cannot_be_said(void **state)
{
    struct wire_guest guest[] = {guest_of("", "0", "/x"), guest_of("1", "", "/x"),
                                 guest_of("1", "0", "x"), guest_of("1", "0", "/x y"),
                                 guest_of("1", "0", "/x\n2 3 /etc")};
    char line[WIRE_GUEST_LINE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(guest) / sizeof(guest[0]); i++) {
        wire_guest_write(&guest[i], line);
        assert_string_equal(line, "");
    }
}

static void test_what_is_no_line(void **state)
{
    static const char *const lines[] = {"",        "\n",        "1",       "1 0",    "1 0 ",
                                        "1 0 x",   "1  /x",     "a 0 /x",  "1 b /x", " 1 0 /x",
                                        "1\n0 /x", "1 0\n/x/y", "1-  0 /x"};
    char endless[2 * WIRE_GUEST_LINE_MAX];
    struct wire_guest read;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (wire_guest_read(lines[i], &read))
            fail_msg("'%s' is read", lines[i]);
    memset(endless, '1', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    assert_false(wire_guest_read(endless, &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_what_cannot_be_said),
        cmocka_unit_test(test_what_is_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
