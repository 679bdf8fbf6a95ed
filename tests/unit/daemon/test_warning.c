/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_warning - which words a user is told to be in vain. */
#include "tests/unit/common/fixture.h"

#include <string.h>

#include "packer/daemon/warning.h"

#define ONE_CACHE "package:1 l3:1 core:4 pu:1"

static int open_it(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    fixture_profile(f, "high", 9000);
    *state = f;
    return 0;
}

static struct wire_register request_of(void)
{
    return fixture_request(1, 0, "0", "0", 1, "high");
}

/* Starts it, and compares what its user is told. */
static void assert_told(struct fixture *f, struct wire_register request, const char *wanted)
{
    struct wire_answer answer;

    pipeline_start(&f->packer, &request, &answer);
    assert_true(answer.ok);
    assert_string_equal(answer.warning, wanted);
    wire_answer_clear(&answer);
    fixture_end(f, 1, 0);
}

static void test_nothing_asked(void **state)
{
    struct wire_register request = request_of();

    request.options.cores_max = 0;
    assert_told(*state, request, "");
}

static void test_size(void **state)
{
    struct wire_register request = request_of();

    request.options.cores_min = request.options.cores_max = 1;
    assert_told(*state, request, "cores has no effect: it bounds size, which was not asked for");
}

/* Words about a task's cores say nothing to one that has one core, or where there is one cache. */
static void test_threads(void **state)
{
    struct wire_register request = request_of();
    struct fixture *f;

    request.options.spread = true;
    assert_told(*state, request, "spread has no effect: its tasks have one core each");
    request = fixture_request(1, 0, "0-1", "0-1", 1, "high");
    request.options.spread = true;
    assert_told(*state, request, "");
    fixture_teardown(state);
    *state = f = fixture_open(ONE_CACHE);
    fixture_profile(f, "high", 9000);
    request = fixture_request(1, 0, "0-1", "0-1", 1, "high");
    request.options.pack = true;
    assert_told(f, request, "pack has no effect: the node has one cache of the last level");
}

static void test_memory(void **state)
{
    struct wire_register request = request_of();

    request.options.mem = WIRE_MEM_INTERLEAVE;
    assert_told(*state, request, "mem=interleave has no effect: the node has one memory node");
}

static void test_one_cache(void **state)
{
    struct fixture *f;
    struct wire_register request;

    fixture_teardown(state);
    *state = f = fixture_open(ONE_CACHE);
    fixture_profile(f, "high", 9000);
    request = request_of();
    request.options.policy_given = true;
    request.options.policy = WIRE_POLICY_PAIN;
    assert_told(f, request, "policy=pain has no effect: the node has one cache of the last level");
    request = request_of();
    request.options.edp = true;
    assert_told(f, request, "edp has no effect: the node has one cache of the last level");
}

static void test_priority(void **state)
{
    struct wire_register request = request_of();

    request.options.isolate = true;
    request.options.max_slowdown_pct = 5;
    assert_told(*state, request,
                "isolate has no effect: berth.conf names neither its user nor a group, account or "
                "QOS of it (its key grant); max-slowdown has no effect: berth.conf names "
                "neither its user nor a group, account or QOS of it (its key grant)");
}

/* There is nothing to leave to the user where nobody uses hardware counters. */
static void test_nocount(void **state)
{
    struct wire_register request = request_of();

    request.options.nocount = true;
    assert_told(*state, request, "nocount has no effect: nothing here uses hardware counters");
}

/* Each word that the site does not allow is told, however many there are. */
static void test_not_allowed(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of();

    strcpy(f->packer.world.conf.allow, "auto,cores,tag");
    request.options.size = request.options.edp = request.options.spread = true;
    request.options.faithful = request.options.shuffle = true;
    request.options.cores_min = request.options.cores_max = 1;
    assert_told(f, request,
                "cores has no effect: it bounds size, which berth.conf does not allow; "
                "faithful has no effect: berth.conf does not allow it; "
                "shuffle has no effect: berth.conf does not allow it; "
                "edp has no effect: berth.conf does not allow it; "
                "size has no effect: berth.conf does not allow it; "
                "spread has no effect: berth.conf does not allow it");
}

/* Where there is one cache no thread is nearer to a mutex than another. */
static void test_cohorts(void **state)
{
    struct wire_register request = request_of();
    struct fixture *f = *state;

    request.options.locks_cohort = true;
    strcat(f->packer.world.conf.allow, ",locks");
    fixture_paper(f);
    assert_told(f, request, "");
    fixture_teardown(state);
    *state = f = fixture_open(ONE_CACHE);
    fixture_profile(f, "high", 9000);
    strcat(f->packer.world.conf.allow, ",locks");
    request = request_of();
    request.options.locks_cohort = true;
    fixture_paper(f);
    assert_told(f, request,
                "locks=cohort has no effect: the node has one memory node, with one cache");
}

/* Nobody is told of what berth keeps off from: explain and the note say that. */
static void test_observed(void **state)
{
    struct wire_register request = request_of();

    request.options.mode = WIRE_MODE_OBSERVE;
    request.options.mem = WIRE_MEM_BIND;
    assert_told(*state, request, "");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_it, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_nothing_asked), test(test_size),     test(test_threads),  test(test_memory),
        test(test_one_cache),     test(test_priority), test(test_observed), test(test_not_allowed),
        test(test_cohorts),       test(test_nocount),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
