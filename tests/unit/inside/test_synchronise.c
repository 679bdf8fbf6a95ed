/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_synchronise - steps that asked for flex or locks=cohort: the bits of their page, alone and
 * beside others', and the domains in it, which are of where the step stands. */
#include "tests/unit/common/step_files.h"

#include <string.h>

#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"

static int begin_on(void **state, const char *topology)
{
    struct fixture *f = fixture_open(topology);

    strcat(f->conf.allow, ",follow,flex,locks");
    fixture_paper(f);
    fixture_restart(f);
    *state = f;
    return 0;
}

static int begin(void **state)
{
    return begin_on(state, TWO_BY_TWO);
}

static int begin_nodes(void **state)
{
    return begin_on(state, "package:2 numa:1 l3:2 core:2 pu:1");
}

static int end(void **state)
{
    fixture_close(*state);
    return 0;
}

static struct step *start(struct fixture *f, bool flex, bool locks, bool follow)
{
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");

    request.options.flex = flex;
    request.options.locks_cohort = locks;
    request.options.threads_follow = follow;
    return fixture_start(f, request);
}

static void test_bits(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, true, true, false);

    assert_int_equal(step_files_page(f).features, RT_FLEX | RT_COHORT);
    assert_true(step->inside.effect[STEP_FLEX].since_s > 0);
    assert_true(step->inside.effect[STEP_LOCKS].since_s > 0);
    assert_true(step->inside.effect[STEP_FOLLOW].since_s == 0);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.effect[STEP_LOCKS].changes, 1);
}

/* What the processes say that they have distributed is told, of flex. */
static void test_said(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, true, true, false);
    struct rt_said said = {.version = RT_SAID_VERSION, .pid = 7, .first = 1, .objects = 5};
    struct json_object *explain = json_object_new_object(), *flex, *locks;

    memcpy(said.magic, RT_SAID_MAGIC, sizeof(said.magic));
    step_files_say(f, &said, sizeof(said));
    step_files_say(f, &said, sizeof(said));
    inside_turn(&f->packer);
    figures_inside(&f->packer, step, explain);
    flex = json_object_object_get(explain, "flex");
    locks = json_object_object_get(explain, "locks");
    assert_int_equal(json_object_get_int(json_object_object_get(flex, "objects")), 10);
    assert_int_equal(json_object_get_int(json_object_object_get(flex, "processes")), 2);
    assert_false(json_object_object_get_ex(locks, "objects", NULL));
    json_object_put(explain);
}

static void test_beside(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, false, true, true);

    assert_int_equal(step_files_page(f).features, RT_THREADS | RT_COHORT);
    assert_int_equal(cpus_parse(&step->body.task[0].use, "0-1"), 0);
    inside_turn(&f->packer);
    assert_int_equal(step_files_page(f).features, RT_THREADS | RT_COHORT);
    assert_int_equal(step_files_page(f).threads, 2);
}

static void test_not_allowed(void **state)
{
    struct fixture *f = *state;

    strcpy(f->packer.world.conf.allow, "auto,follow");
    start(f, true, true, true);
    assert_int_equal(step_files_page(f).features, RT_THREADS);
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, true, true, false);
    struct berth_error err;

    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    assert_int_equal(step_files_page(f).features, 0);
    assert_true(step->inside.effect[STEP_FLEX].since_s == 0);
}

/* A berthd that was killed has left its bits, and the next one takes them back first: the site may
 * have changed its mind. */
static void test_kill(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;

    start(f, true, true, false);
    fixture_restart(f);
    assert_int_equal(step_files_page(f).features, RT_FLEX | RT_COHORT);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    assert_int_equal(step_files_page(f).features, RT_FLEX | RT_COHORT);
    fixture_end(f, 1, 0);
    assert_int_equal(step_files_inode(f, "1.0"), 0);
}

/* Where the step stands is told anew when it has moved, and not else. */
static void test_moved(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, true, false, false);
    struct rt_page before = step_files_page(f), after;

    assert_int_equal(before.cache[0], 0);
    assert_int_equal(before.cache[2], 1);
    assert_int_equal(before.cache[4], RT_NO_DOMAIN);
    assert_int_equal(step_page_domains(step->inside.run->page), 2);
    inside_turn(&f->packer);
    assert_int_equal(step_files_page(f).generation, before.generation);
    assert_int_equal(cpus_parse(&step->body.task[0].cpus, "4-5"), 0);
    inside_turn(&f->packer);
    after = step_files_page(f);
    assert_int_not_equal(after.generation, before.generation);
    assert_int_equal(after.cache[0], RT_NO_DOMAIN);
    assert_int_equal(after.node[0], RT_NO_DOMAIN);
    assert_int_equal(after.cache[4], 2);
    assert_int_equal(after.node[4], 0);
    assert_int_equal(step_page_domains(step->inside.run->page), 1);
    assert_int_equal(after.features, RT_FLEX);
}

/* The library divides by memory nodes where there are two, and else by caches: so does what is
 * told.
 */
static void test_nodes(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-7", "0-7", 1, "t");
    struct step *step;

    request.options.flex = true;
    step = fixture_start(f, request);
    assert_int_equal(step_files_page(f).node[4], 1);
    assert_int_equal(step_files_page(f).cache[4], 2);
    assert_int_equal(step_page_domains(step->inside.run->page), 2);
    assert_int_equal(cpus_parse(&step->body.task[0].cpus, "4-7"), 0);
    inside_turn(&f->packer);
    assert_int_equal(step_page_domains(step->inside.run->page), 2);
    assert_int_equal(cpus_parse(&step->body.task[0].cpus, "4-5"), 0);
    inside_turn(&f->packer);
    assert_int_equal(step_page_domains(step->inside.run->page), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_bits),    CASE(test_said),
        CASE(test_beside),  CASE(test_not_allowed),
        CASE(test_release), CASE(test_kill),
        CASE(test_moved),   cmocka_unit_test_setup_teardown(test_nodes, begin_nodes, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
