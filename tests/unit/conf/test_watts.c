/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_energy_watts - the text of energy_model: what is read, what is refused. */
#include "packer/conf/watts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void test_good(void **state)
{
    static const struct {
        const char *text;
        struct energy_watts watts;
    } cases[] = {
        {"idle=40W,core=6W", {40, 6, 0, 40, false, false}},
        {"idle=40W,core=6W,dram=3W", {40, 6, 3, 40, true, false}},
        {"dram=0W,core=0.25W,idle=10000W", {10000, 0.25, 0, 10000, true, false}},
        {"sleep=10W,idle=40W,core=6W", {40, 6, 0, 10, false, true}},
        {"idle=40W,core=6W,dram=3W,sleep=40W", {40, 6, 3, 40, true, true}},
    };
    struct energy_watts watts;
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(energy_watts_parse(&watts, cases[i].text, &err), 0);
        assert_true(watts.idle == cases[i].watts.idle && watts.core == cases[i].watts.core);
        assert_true(watts.dram == cases[i].watts.dram && watts.sleep == cases[i].watts.sleep);
        assert_int_equal(watts.dram_known, cases[i].watts.dram_known);
        assert_int_equal(watts.sleep_known, cases[i].watts.sleep_known);
    }
}

static void test_wrong(void **state)
{
    static const char *const wrong[] = {
        "40W",
        "idle",
        "idle=",
        "idle=W,core=6W",
        "idle=40,core=6W",
        "idle=40kW,core=6W",
        "idle=40W;core=6W",
        "idle=40W, core=6W",
        "idle=40W,core=6W,",
        "idle=40W,,core=6W",
        "idle=40W,core=6W,idle=40W",
        "idle=40W,core=6W,gpu=6W",
        "idl=40W,core=6W",
        "idle=-1W,core=6W",
        "idle=nanW,core=6W",
        "idle=infW,core=6W",
        "idle=10001W,core=6W",
        "idle=40W,core=6W x",
    };
    struct energy_watts watts;
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (energy_watts_parse(&watts, wrong[i], &err) == 0)
            fail_msg("'%s' is taken", wrong[i]);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_non_null(strstr(err.text, "idle=40W,core=6W"));
        assert_null(strchr(err.text, '\n'));
    }
}

static void test_sleep(void **state)
{
    struct energy_watts watts;
    struct berth_error err;

    (void)state;
    assert_int_equal(energy_watts_parse(&watts, "idle=40W,core=6W,sleep=41W", &err), -1);
    assert_non_null(strstr(err.text, "sleep is more than idle"));
}

static void test_lacks(void **state)
{
    static const char *const wrong[] = {"", "idle=40W", "core=6W,dram=2W"};
    struct energy_watts watts;
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(energy_watts_parse(&watts, wrong[i], &err), -1);
        assert_non_null(strstr(err.text, "lacks idle or core"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_lacks),
    };

    return cmocka_run_group_tests_name("energy_watts", tests, NULL, NULL);
}
