/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_admit - which words of a request the site's `allow` takes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "packer/admit.h"

/* Everything asked for. */
static struct wire_options all(void)
{
    struct wire_options options;

    wire_options_init(&options);
    options.mode = WIRE_MODE_AUTO;
    options.isolate = options.edp = options.size = options.require = options.verbose = true;
    options.policy_given = true;
    options.cores_min = options.cores_max = 2;
    options.max_slowdown_pct = 5;
    options.mem = WIRE_MEM_BIND;
    strcpy(options.tag, "t");
    return options;
}

static void test_admit(void **state)
{
    static const struct {
        const char *allow, *refused, *left;
    } cases[] = {
        {"off,auto,observe,isolate,edp,size,policy,cores,max-slowdown,mem,tag", "",
         "auto,isolate,edp,size,policy=di,mem=bind,tag=t,require,verbose,cores=2-2,max-slowdown=5"},
        {"auto, isolate, tag", "edp,size,policy,cores,max-slowdown,mem",
         "auto,isolate,tag=t,require,verbose"},
        {"", "auto,isolate,edp,size,policy,cores,max-slowdown,mem,tag", "off,require,verbose"},
        {"autobahn,xauto,isolated", "auto,isolate,edp,size,policy,cores,max-slowdown,mem,tag",
         "off,require,verbose"}, /* whole words only */
        {"xauto,auto", "isolate,edp,size,policy,cores,max-slowdown,mem,tag",
         "auto,require,verbose"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_options options = all();
        char refused[96], left[256];

        admit_options(cases[i].allow, &options, refused, sizeof(refused));
        assert_string_equal(refused, cases[i].refused);
        wire_options_format(&options, left, sizeof(left));
        assert_string_equal(left, cases[i].left);
    }
}

static void test_nothing_asked(void **state)
{
    struct wire_options options;
    char refused[96] = "x";

    (void)state;
    wire_options_init(&options);
    admit_options("", &options, refused, sizeof(refused));
    assert_string_equal(refused, "");
    assert_int_equal(options.mode, WIRE_MODE_OFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_admit),
        cmocka_unit_test(test_nothing_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
