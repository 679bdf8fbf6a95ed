/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_requests - which steps an explanation is of: those of a job, and of an array all its tasks.
 */
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <string.h>

#include "packer/daemon/requests.h"
#include "packer/serve/reply.h"

/* Writes the ids of the steps that are explained, in one line; static. */
static const char *explained(struct fixture *f, const char *question)
{
    static char ids[256];
    struct evbuffer *out = evbuffer_new();
    struct reply *reply = reply_open(&f->packer, request_ops, 0, question, strlen(question));
    char *line;

    ids[0] = '\0';
    while (reply_next(reply, out))
        ;
    reply_end(reply);
    while ((line = evbuffer_readln(out, NULL, EVBUFFER_EOL_LF))) {
        const char *id = strstr(line, "\"step\":{\"id\":\"");
        size_t used = strlen(ids);

        if (id)
            snprintf(ids + used, sizeof(ids) - used, "%.*s ", (int)strcspn(id + 14, "\""), id + 14);
        free(line);
    }
    evbuffer_free(out);
    return ids;
}

static void is_task(struct step *step, uint32_t array, uint32_t task)
{
    step->identity.is.source = WIRE_SOURCE_SLURMCTLD;
    step->identity.is.array_job = array;
    step->identity.is.array_task = task;
}

#define EXPLAIN(of) "{\"version\":1,\"op\":\"explain\"," of "}\n"

static void test_tasks_of_an_array(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    (void)state;
    is_task(fixture_run(f, 7, "0", "prog"), 6, 1);
    is_task(fixture_run(f, 6, "1", "prog"), 6, 2);
    fixture_run(f, 8, "2", "prog")->request.array_job = 6; /* as its environment says */
    assert_string_equal(explained(f, EXPLAIN("\"job\":6")), "7.0 6.0 ");
    assert_string_equal(explained(f, EXPLAIN("\"job\":6,\"step\":0")), "7.0 6.0 ");
    assert_string_equal(explained(f, EXPLAIN("\"job\":6,\"step\":1")), "");
    assert_string_equal(explained(f, EXPLAIN("\"job\":7")), "7.0 ");
    assert_string_equal(explained(f, EXPLAIN("\"job\":8")), "8.0 ");
    assert_string_equal(explained(f, EXPLAIN("\"job\":0")), "");
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks_of_an_array)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
