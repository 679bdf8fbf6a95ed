/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_apps - programs and machines as JSON: what is read, what is unknown, and each thing that
 * can be wrong, with the field's name. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/base/json.h"
#include "lab/plan/apps.h"

static struct json_object *parse(const char *text)
{
    struct json_object *object = json_parse(text, strlen(text), NULL);

    assert_non_null(object);
    return object;
}

static void test_all_fields(void **state)
{
    struct json_object *input = parse(
        "{\"apps\":[{\"name\":\"a\"},{\"name\":\"b/"
        "\\u00e9\",\"ipc\":1.5,\"clock_ghz\":2,\"llc_apki\":26,"
        "\"llc_mpki\":0,\"llc_demand_mpki\":1e12,\"llc_wb_apki\":3,\"mem_gbps\":4.5,"
        "\"mem_read_gbps\":5,\"mem_write_gbps\":6,\"cores\":7,\"colour\":\"red\",\"x\":-1,"
        "\"sdp\":{\"hits\":[1,2.5,0],\"misses\":9},\"sdp_demand\":{\"hits\":[8],\"misses\":0},"
        "\"sdp_prefetch\":{\"hits\":[0,0],\"misses\":1},\"sdp_writeback\":{\"hits\":[4,3],"
        "\"misses\":2}}],\"machine\":{\"llc_bytes\":1048576,\"llc_ways\":16,\"line_bytes\":64,"
        "\"dram_gbps\":19.2,\"clock_ghz\":4,\"own_prefetchers\":true,"
        "\"port_gbps\":17,\"core_gbps\":9,"
        "\"clock\":{\"one_ghz\":5,\"half_ghz\":4.5,\"all_ghz\":4,\"cores\":8}}}");
    struct ctl_apps apps;
    const struct app *b;

    (void)state;
    assert_int_equal(ctl_apps_read(&apps, input, NULL), 0);
    b = &apps.app[1];
    assert_int_equal(apps.n, 2);
    assert_string_equal(apps.name[0], "a");
    assert_string_equal(apps.name[1], "b/\303\251");
    assert_true(b->ipc == 1.5 && b->llc_apki == 26 && b->llc_mpki == 0 && b->clock_ghz == 2);
    assert_true(b->llc_demand_mpki == 1e12 && b->llc_wb_apki == 3 && b->mem_gbps == 4.5);
    assert_true(b->mem_read_gbps == 5 && b->mem_write_gbps == 6 && b->cores == 7);
    assert_true(b->sdp.ways == 3 && b->sdp.misses == 9 && b->sdp.hits[0] == 1);
    assert_true(b->sdp.hits[1] == 2.5 && b->sdp.hits[2] == 0);
    assert_true(b->sdp_demand.ways == 1 && b->sdp_demand.hits[0] == 8);
    assert_true(b->sdp_prefetch.ways == 2 && b->sdp_prefetch.misses == 1);
    assert_true(b->sdp_writeback.ways == 2 && b->sdp_writeback.hits[1] == 3);
    assert_true(apps.machine.llc_bytes == 1048576 && apps.machine.llc_ways == 16);
    assert_true(apps.machine.line_bytes == 64 && apps.machine.dram_gbps == 19.2);
    assert_true(apps.machine.clock_ghz == 4 && apps.machine.own_prefetchers);
    assert_true(apps.machine.port_gbps == 17 && apps.machine.core_gbps == 9);
    assert_true(apps.machine.clock.one_ghz == 5 && apps.machine.clock.half_ghz == 4.5);
    assert_true(apps.machine.clock.all_ghz == 4 && apps.machine.clock.cores == 8);
    assert_int_equal(ctl_apps_index(&apps, "a"), 0);
    assert_int_equal(ctl_apps_index(&apps, "b/\303\251"), 1);
    assert_int_equal(ctl_apps_index(&apps, "c"), -1);
    ctl_apps_free(&apps);
    json_object_put(input);
}

/* Absent or null: unknown; nothing of it is zero. */
static void test_unknown(void **state)
{
    static const char *const texts[] = {
        "{\"apps\":[{\"name\":\"a\"}]}",
        "{\"apps\":[{\"name\":\"a\",\"ipc\":null,\"cores\":null,\"sdp\":null}],\"machine\":null}",
        "{\"apps\":[{\"name\":\"a\"}],\"machine\":{\"llc_ways\":null,\"clock_ghz\":null}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct json_object *input = parse(texts[i]);
        struct ctl_apps apps;
        const struct app *a;

        assert_int_equal(ctl_apps_read(&apps, input, NULL), 0);
        a = &apps.app[0];
        assert_true(isnan(a->ipc) && isnan(a->llc_apki) && isnan(a->llc_mpki));
        assert_true(isnan(a->llc_demand_mpki) && isnan(a->llc_wb_apki) && isnan(a->mem_gbps));
        assert_true(isnan(a->mem_read_gbps) && isnan(a->mem_write_gbps) && a->cores == 1);
        assert_true(a->sdp.ways == 0 && a->sdp_demand.ways == 0);
        assert_true(a->sdp_prefetch.ways == 0 && a->sdp_writeback.ways == 0);
        assert_true(isnan(apps.machine.llc_bytes) && isnan(apps.machine.dram_gbps));
        assert_true(isnan(apps.machine.clock_ghz));
        assert_true(apps.machine.llc_ways == 0 && apps.machine.line_bytes == 0);
        ctl_apps_free(&apps);
        json_object_put(input);
    }
}

static void test_most(void **state)
{
    char text[8192];
    size_t used = (size_t)sprintf(text, "{\"apps\":[{\"name\":\"%0255d\",\"sdp\":{\"hits\":[", 1);
    struct json_object *input;
    struct ctl_apps apps;

    (void)state;
    for (int i = 0; i < 64; i++)
        used += (size_t)sprintf(text + used, "%s%d", i ? "," : "", i);
    sprintf(text + used, "],\"misses\":1}}],\"machine\":{\"llc_ways\":64}}");
    input = parse(text);
    assert_int_equal(ctl_apps_read(&apps, input, NULL), 0);
    assert_int_equal(apps.app[0].sdp.ways, 64);
    assert_true(apps.app[0].sdp.hits[63] == 63);
    ctl_apps_free(&apps);
    json_object_put(input);
}

/* Only a workload may repeat itself. */
static void test_workload(void **state)
{
    struct json_object *input = parse("{\"apps\":[{\"name\":\"a\",\"ipc\":1},{\"name\":\"a\"}]}");
    struct ctl_apps apps;

    (void)state;
    assert_int_equal(ctl_apps_read(&apps, input, NULL), -1);
    assert_int_equal(ctl_apps_read_workload(&apps, input, NULL), 0);
    assert_true(apps.n == 2 && apps.app[0].ipc == 1 && isnan(apps.app[1].ipc));
    assert_string_equal(apps.name[1], "a");
    assert_int_equal(ctl_apps_index(&apps, "a"), 0);
    ctl_apps_free(&apps);
    json_object_put(input);
}

/* ---- what is wrong ---- */

static void refuse(const char *input, const char *why)
{
    struct json_object *object = parse(input);
    struct berth_error err = {""};
    struct ctl_apps apps;

    assert_int_equal(ctl_apps_read(&apps, object, &err), -1);
    assert_string_equal(err.text, why);
    assert_null(apps.app);
    json_object_put(object);
}

static void test_wrong_input(void **state)
{
    (void)state;
    refuse("{}", "apps: missing");
    refuse("{\"apps\":7}", "apps: array expected, not int");
    refuse("{\"apps\":[]}", "apps: empty");
    refuse("{\"apps\":[\"a\"]}", "apps[0]: object expected, not string");
    refuse("{\"apps\":[{\"name\":\"a\"}],\"machine\":[]}", "machine: object expected, not array");
}

/* Each is the second app, whose name is b where it does not say otherwise. */
static const struct {
    const char *fields, *why;
} wrong_apps[] = {
    {"\"ipc\":1", "name: missing"},
    {"\"name\":null", "name: missing"},
    {"\"name\":7", "name: string expected, not int"},
    {"\"name\":\"\"", "name: 1 to 255 bytes expected, none of them NUL"},
    {"\"name\":\"b\\u0000\"", "name: 1 to 255 bytes expected, none of them NUL"},
    {"\"name\":\"a\"", "name: \"a\" is there twice"},
    {"\"name\":\"b\",\"ipc\":\"1\"", "ipc: number expected, not string"},
    {"\"name\":\"b\",\"ipc\":NaN", "ipc: not a finite number"},
    {"\"name\":\"b\",\"llc_mpki\":Infinity", "llc_mpki: not a finite number"},
    {"\"name\":\"b\",\"llc_apki\":-0.1", "llc_apki: -0.1: between 0 and 1e+12 expected"},
    {"\"name\":\"b\",\"mem_gbps\":1.1e12", "mem_gbps: 1.1e+12: between 0 and 1e+12 expected"},
    {"\"name\":\"b\",\"cores\":0", "cores: 0: between 1 and 4294967295 expected"},
    {"\"name\":\"b\",\"cores\":-1", "cores: -1: between 1 and 4294967295 expected"},
    {"\"name\":\"b\",\"cores\":1.5", "cores: int expected, not double"},
    {"\"name\":\"b\",\"sdp\":[]", "sdp: object expected, not array"},
    {"\"name\":\"b\",\"sdp\":{}", "sdp.hits: missing"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":7}", "sdp.hits: array expected, not int"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[],\"misses\":1}", "sdp.hits: 1 to 64 ways expected, not 0"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[1]}", "sdp.misses: missing"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[1],\"misses\":-1}",
     "sdp.misses: -1: between 0 and 1e+12 expected"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[1,-2],\"misses\":1}",
     "sdp.hits[1]: -2: between 0 and 1e+12 expected"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[NaN],\"misses\":1}", "sdp.hits[0]: not a finite number"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[2e12],\"misses\":1}",
     "sdp.hits[0]: 2e+12: between 0 and 1e+12 expected"},
    {"\"name\":\"b\",\"sdp\":{\"hits\":[1,null],\"misses\":1}", "sdp.hits[1]: missing"},
    {"\"name\":\"b\",\"sdp_demand\":{\"hits\":[1],\"misses\":1e13}",
     "sdp_demand.misses: 1e+13: between 0 and 1e+12 expected"},
};

static void test_wrong_app(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong_apps) / sizeof(wrong_apps[0]); i++) {
        char input[512], why[256];

        snprintf(input, sizeof(input), "{\"apps\":[{\"name\":\"a\"},{%s}]}", wrong_apps[i].fields);
        snprintf(why, sizeof(why), "apps[1].%s", wrong_apps[i].why);
        refuse(input, why);
    }
}

static void test_wrong_machine(void **state)
{
    (void)state;
#define MACHINE(fields) "{\"apps\":[{\"name\":\"a\"}],\"machine\":{" fields "}}"
    refuse(MACHINE("\"llc_bytes\":-1"), "machine.llc_bytes: -1: between 0 and 1e+12 expected");
    refuse(MACHINE("\"dram_gbps\":\"x\""), "machine.dram_gbps: number expected, not string");
    refuse(MACHINE("\"clock_ghz\":1e13"), "machine.clock_ghz: 1e+13: between 0 and 1e+12 expected");
    refuse(MACHINE("\"llc_ways\":0"), "machine.llc_ways: 0: between 1 and 64 expected");
    refuse(MACHINE("\"llc_ways\":65"), "machine.llc_ways: 65: between 1 and 64 expected");
    refuse(MACHINE("\"line_bytes\":0"), "machine.line_bytes: 0: between 1 and 65536 expected");
    refuse(MACHINE("\"line_bytes\":65537"),
           "machine.line_bytes: 65537: between 1 and 65536 expected");
    refuse(MACHINE("\"own_prefetchers\":1"), "machine.own_prefetchers: boolean expected, not int");
#undef MACHINE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_fields),    cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_most),          cmocka_unit_test(test_workload),
        cmocka_unit_test(test_wrong_input),   cmocka_unit_test(test_wrong_app),
        cmocka_unit_test(test_wrong_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
