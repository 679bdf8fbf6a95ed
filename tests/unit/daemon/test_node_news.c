/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_node_news - how often a node tells how it fares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/daemon/node_news.h"

static void test_due(void **state)
{
    static const struct {
        struct ledger_node now, last;
        bool due;
    } cases[] = {
        {{.at = 1000}, {.at = 0}, true},                                 /* the first */
        {{.at = 1299}, {.at = 1000}, false},                             /* nothing has changed */
        {{.at = 1300}, {.at = 1000}, true},                              /* that it still runs */
        {{.at = 1009, .released = true}, {.at = 1000}, false},           /* too soon */
        {{.at = 1010, .released = true}, {.at = 1000}, true},            /* trouble came, */
        {{.at = 1010}, {.at = 1000, .denied = true}, true},              /* or went */
        {{.at = 1010, .refused = 1}, {.at = 1000}, true},
        {{.at = 1010, .missed = 1}, {.at = 1000}, true},
        {{.at = 1010, .steps = 2}, {.at = 1000, .steps = 1}, true},
        {{.at = 1010, .steps = 2}, {.at = 1000, .steps = 2}, false},
        {{.at = 900}, {.at = 1000}, true}, /* the clock was put back */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(node_news_is_due(&cases[i].now, &cases[i].last), cases[i].due);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_due)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
