/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_explain - `berthctl explain` where memory ends: it says so, and does not crash. What it says
 * else is test_berthctl.sh's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/common/verbs.h"

static int streams_left;

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
    if (streams_left-- > 0)
        return __real_open_memstream(text, size);
    errno = ENOMEM;
    return NULL;
}

struct json_object *__wrap_ctl_ask(const char *socket, const struct wire_request *request,
                                   struct berth_error *err);
struct json_object *__wrap_ctl_ask(const char *socket, const struct wire_request *request,
                                   struct berth_error *err)
{
    (void)socket, (void)err;
    assert_int_equal(request->op, WIRE_OP_EXPLAIN);
    return json_tokener_parse("{\"node\":{},\"steps\":[{\"id\":\"7.0\",\"size\":{},\"bill\":{}}]}");
}

static int explain_with(int streams)
{
    char verb[] = "explain", option[] = "-v", step[] = "7.0", *argv[] = {verb, option, step, NULL};

    streams_left = streams;
    optind = 0;
    return ctl_explain(3, argv);
}

static void test_memory(void **state)
{
    (void)state;
    /* what, why, lost, gain, inside, head, request, profile, class, size, bill */
    for (int streams = 0; streams < 11; streams++)
        assert_int_equal(explain_with(streams), 1);
    assert_int_equal(explain_with(11), 0);
    assert_int_equal(streams_left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
