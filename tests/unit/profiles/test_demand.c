/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_demand - what a program asks of memory, from JSON and to it; nonsense is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/profiles/profiles.h"

static struct profile_demand *parse(const char *text, struct berth_error *err)
{
    struct json_object *object = json_parse(text, strlen(text), err);
    struct profile_demand *demand;

    assert_non_null(object);
    demand = profile_demand_parse(object, err);
    json_object_put(object);
    return demand;
}

static void test_round_trip(void **state)
{
    static const char *const whole[] = {
        "{\"curve_gbps\":[0.0,2.5,4.0],\"read_solo_gbps\":null,\"write_solo_gbps\":null}",
        ("{\"curve_gbps\":null,\"read_solo_gbps\":[[0.0,1.5],[2.0,0.0]],"
         "\"write_solo_gbps\":[[0.0,0.5],[0.25,0.0]]}"),
        ("{\"curve_gbps\":null,\"read_solo_gbps\":null,\"write_solo_gbps\":null,\"dram\":{\"hit\":"
         "0.75,"
         "\"miss\":0.125,\"conflict\":0.125,\"read_ratio\":1.0,\"issue_rate_single\":null,\"wtr\":"
         "0.0,"
         "\"rtr\":0.5,\"ranks\":2}}"),
        "{\"curve_gbps\":[0.0,1.0],\"read_solo_gbps\":[[0.0]],\"write_solo_gbps\":[[0.0]]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        struct berth_error err = {""};
        struct profile_demand *demand = parse(whole[i], &err);
        struct json_object *object;

        if (!demand)
            fail_msg("%s", err.text);
        object = profile_demand_json(demand);
        assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
                            whole[i]);
        json_object_put(object);
        profile_demand_free(demand);
    }
}

static void test_rows_are_by_source(void **state)
{
    struct berth_error err = {""};
    struct profile_demand *demand =
        parse("{\"read_solo_gbps\":[[0,1],[2,0]],\"write_solo_gbps\":[[0,3],[4,0]],\"x\":1}", &err);

    (void)state;
    assert_non_null(demand);
    assert_int_equal(demand->cores, 0);
    assert_int_equal(demand->nodes, 2);
    assert_true(demand->read_solo[0 * 2 + 1] == 1 && demand->write_solo[1 * 2 + 0] == 4);
    profile_demand_free(demand);
}

static void test_wrong(void **state)
{
    static const char *const wrong[][2] = {
        {"[]", "object"},
        {"{}", "curve_gbps, dram, or both"},
        {"{\"curve_gbps\":null}", "curve_gbps, dram, or both"},
        {"{\"dram\":{\"hit\":1}}", "dram.miss: missing"},
        {"{\"dram\":{\"hit\":0.5,\"miss\":0.5,\"conflict\":0.5,\"read_ratio\":1}}", "sum to 1"},
        {"{\"dram\":{\"hit\":2,\"miss\":0,\"conflict\":-1,\"read_ratio\":1}}", "dram.hit: 2"},
        {"{\"dram\":[]}", "dram: object expected"},
        {"{\"curve_gbps\":3}", "curve_gbps"},
        {"{\"curve_gbps\":[]}", "curve_gbps"},
        {"{\"curve_gbps\":[0]}", "curve_gbps"},
        {"{\"curve_gbps\":[1,2]}", "curve_gbps[0]"},
        {"{\"curve_gbps\":[0,-2]}", "curve_gbps[1]"},
        {"{\"curve_gbps\":[0,NaN]}", "curve_gbps[1]"},
        {"{\"curve_gbps\":[0,Infinity]}", "curve_gbps[1]"},
        {"{\"curve_gbps\":[0,2e12]}", "curve_gbps[1]"},
        {"{\"curve_gbps\":[0,\"2\"]}", "curve_gbps[1]"},
        {"{\"curve_gbps\":[0,null]}", "curve_gbps[1]"},
        {"{\"read_solo_gbps\":[[0]]}", "both"},
        {"{\"write_solo_gbps\":[[0]]}", "both"},
        {"{\"read_solo_gbps\":[[0]],\"write_solo_gbps\":[[0,1],[1,0]]}", "write_solo_gbps"},
        {"{\"read_solo_gbps\":[],\"write_solo_gbps\":[]}", "read_solo_gbps"},
        {"{\"read_solo_gbps\":[[0,1],[1]],\"write_solo_gbps\":[[0,1],[1,0]]}", "read_solo_gbps[1]"},
        {"{\"read_solo_gbps\":[0],\"write_solo_gbps\":[[0]]}", "read_solo_gbps[0]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct berth_error err = {""};

        assert_null(parse(wrong[i][0], &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("'%s', not '%s'", err.text, wrong[i][1]);
    }
    profile_demand_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_rows_are_by_source),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
