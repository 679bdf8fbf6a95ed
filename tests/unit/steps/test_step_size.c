/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_step_size - what sizing found out, to JSON and back from the journal. */
#include <json-c/json.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/steps/step_size.h"

static void assert_text(const struct step_size *size, const char *wanted)
{
    struct json_object *object = step_size_to_json(size);

    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), wanted);
    json_object_put(object);
}

static void test_known(void **state)
{
    (void)state;
    assert_text(&(struct step_size){.cores = 4,
                                    .given = 2,
                                    .threads = 2,
                                    .modelled = true,
                                    .constraint = NUMEM_LOCAL_BANDWIDTH,
                                    .gbps = 10.5,
                                    .gbps_all = 11,
                                    .reason = "NuCore"},
                "{\"cores\":4,\"given\":2,\"threads\":2,\"constraint\":\"local bandwidth\","
                "\"gbps\":10.5,\"gbps_all\":11.0,\"source\":\"model\",\"reason\":\"NuCore\"}");
}

/* What is not known is null. */
static void test_unknown(void **state)
{
    (void)state;
    assert_text(
        &(struct step_size){
            .cores = 4, .given = 4, .gbps = NAN, .gbps_all = NAN, .reason = "no profile of it"},
        "{\"cores\":4,\"given\":4,\"threads\":null,\"constraint\":null,\"gbps\":null,"
        "\"gbps_all\":null,\"source\":null,\"reason\":\"no profile of it\"}");
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int c = NUMEM_NONE; c <= NUMEM_CONTENTION + 1; c++) {
        struct step_size in = {.cores = 4,
                               .given = 2,
                               .threads = 3,
                               .modelled = c <= NUMEM_CONTENTION,
                               .constraint =
                                   c <= NUMEM_CONTENTION ? (enum numem_constraint)c : NUMEM_NONE,
                               .gbps = 1.25,
                               .gbps_all = NAN,
                               .reason = "because"},
                         out;
        struct json_object *object = step_size_to_json(&in);
        struct berth_error err;

        assert_int_equal(step_size_from_json(object, &out, &err), 0);
        assert_int_equal(out.cores, 4);
        assert_int_equal(out.given, 2);
        assert_int_equal(out.threads, 3);
        assert_int_equal(out.modelled, in.modelled);
        assert_int_equal(out.constraint, in.constraint);
        assert_true(out.gbps == 1.25 && isnan(out.gbps_all));
        assert_string_equal(out.reason, "because");
        json_object_put(object);
    }
}

static void test_wrong(void **state)
{
    static const char *const wrong[][2] = {
        {"{}", "cores"},
        {"{\"cores\":1}", "given"},
        {"{\"cores\":-1,\"given\":1,\"reason\":\"\"}", "cores"},
        {"{\"cores\":1,\"given\":1,\"constraint\":\"weather\",\"reason\":\"\"}", "constraint"},
        {"{\"cores\":1,\"given\":1,\"gbps\":\"x\",\"reason\":\"\"}", "gbps"},
        {"{\"cores\":1,\"given\":1}", "reason"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct json_object *object = json_parse(wrong[i][0], strlen(wrong[i][0]), NULL);
        struct berth_error err = {""};
        struct step_size size;

        assert_int_equal(step_size_from_json(object, &size, &err), -1);
        assert_non_null(strstr(err.text, wrong[i][1]));
        json_object_put(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
