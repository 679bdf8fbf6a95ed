/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_locality - the example of the paper's section 5.4.1, and tasks whose objects lie apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/tasks/locality.h"

static void test_example(void **state)
{
    static const size_t first[] = {0, 1, 2, 3, 4, 5, 6}, use[] = {0, 0, 1, 0, 1, 0},
                        node[] = {0, 1};
    const struct locality example = {6, first, use, 2, node, 2};
    double row[2];

    (void)state;
    for (size_t t = 0; t < 6; t++) {
        locality_similarity(&example, t, row);
        assert_true(row[use[t]] == 0.5);
        assert_true(row[1 - use[t]] == 0);
        assert_int_equal(locality_node(2, row), use[t]);
    }
}

/* Two of three objects on node 1; a new object alone; nothing at all; one on each node. */
static void test_apart(void **state)
{
    static const size_t first[] = {0, 3, 4, 4, 6}, use[] = {0, 1, 2, 3, 0, 1},
                        node[] = {0, 1, 1, LOCALITY_NOWHERE};
    static const size_t wanted[] = {1, LOCALITY_NOWHERE, LOCALITY_NOWHERE, 0};
    const struct locality apart = {4, first, use, 4, node, 2};
    double row[2];

    (void)state;
    for (size_t t = 0; t < 4; t++) {
        locality_similarity(&apart, t, row);
        assert_int_equal(locality_node(2, row), wanted[t]);
    }
    locality_similarity(&apart, 0, row);
    assert_true(row[0] == 0.25 && row[1] == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
