/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_say - sentences about an object of JSON, with each form that a field may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "packer/cli/common/ctl.h"

static const char object_text[] =
    "{\"name\":\"solver\",\"empty\":\"\",\"dash\":\"-\",\"one\":1,\"two\":2.5,\"zero\":0,"
    "\"bytes\":3145728,\"yes\":true,\"no\":false,\"nothing\":null,\"at\":86400,\"age\":3723,"
    "\"deep\":{\"er\":{\"est\":7}}}";

static const struct {
    const char *sentence, *said;
} cases[] = {
    {"", ""},
    {"plain words, no field", "plain words, no field"},
    {"{name} is {one}", "solver is 1"},
    {"{deep.er.est}, {deep.er.none}, {deep.none.est}", "7, -, -"},
    {"{nothing} {absent} {nothing:2}", "- - -"},
    {"{two} {two:1} {two:3}", "2 2.5 2.500"},
    {"{bytes:1/1048576} MiB", "3.0 MiB"},
    {"{two%1} {bytes%3}", "2 3.15e+06"},
    {"core{one*}, core{two*}, core{zero*}", "core, cores, cores"},
    {"{at@};{nothing@};{zero@}", "1970-01-02 00:00:00;;"},
    {"{age~}", "1:02:03"},
    /* brackets: all that stands in them is known, or nothing of them is said */
    {"a[ b {one}] c[ d {absent}] e", "a b 1 c e"},
    {"[{absent}|{nothing}|{name}|{one}]", "solver"},
    {"[{absent}|{nothing}]", ""},
    {"[{empty}|{dash}|none]", "none"},
    {"[{zero>0} more than none|none]", "none"},
    {"[{two>0:1} more than none|none]", "2.5 more than none"},
    {"[{yes?}yes|no] [{no?}yes|no] [{name?}named|not]", "yes no named"},
    {"[{name=solver}it is|it is not] [{name=solve}it is|it is not]", "it is it is not"},
    {"[x {one}[ y {absent}][ z {two:1}]]", "x 1 z 2.5"},
    {"[x {absent}[ y {one}]]", ""},
};

static void test_sentences(void **state)
{
    struct json_object *object = json_tokener_parse(object_text);

    (void)state;
    assert_non_null(object);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *said = NULL;
        size_t size;
        FILE *out = open_memstream(&said, &size);

        assert_non_null(out);
        ctl_say(out, object, cases[i].sentence);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(said, cases[i].said);
        free(said);
    }
    json_object_put(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
