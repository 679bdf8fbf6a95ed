/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_answer - what the plugin is told in each state of its step. */
#include "tests/unit/common/fixture.h"

#include <string.h>

#include "packer/daemon/answer.h"
#include "packer/place/place.h"

static int open_numa(void **state)
{
    *state = fixture_open("package:2 numa:1 l3:2 core:2 pu:1");
    return 0;
}

static struct step *put(struct fixture *f)
{
    struct step *step = fixture_put(f, 1, 0, "2-5", 1, (const char *const[]){"2", "3", NULL});

    step->body.mems_home = cpus_of("0-1");
    step->request.task[1].id = 9;
    step->place.adopted = true;
    place_describe(&f->packer, f->packer.state->pool, step);
    return step;
}

static void test_refuse(void **state)
{
    struct wire_answer answer;
    char why[600];

    (void)state;
    memset(&answer, 0xff, sizeof(answer));
    memset(why, 'w', sizeof(why) - 1);
    why[sizeof(why) - 1] = '\0';
    answer_refuse(&answer, why);
    assert_false(answer.ok);
    assert_int_equal(strlen(answer.error), sizeof(answer.error) - 1);
    assert_int_equal(answer.ntasks + answer.nenv, 0);
    wire_answer_clear(&answer);
}

/* With PrivateData a user is told whole what is about his own step, whatever its words are. */
static void test_private_data(void **state)
{
    static const char reason[] =
        "left alone: what it starts is not known (./number 9 of 9 by miss rate)";
    struct fixture *f = *state;
    struct step *step = put(f);
    struct wire_answer answer;

    f->packer.world.private_data = true;
    strcpy(step->enacted.reason, reason);
    answer_fill(&f->packer, step, &answer);
    assert_string_equal(answer.note, reason);
    wire_answer_clear(&answer);
}

static void test_placed(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);
    struct wire_answer answer;

    step->class.id = STEP_TURTLE;
    answer_fill(&f->packer, step, &answer);
    assert_true(answer.ok && answer.managed);
    assert_non_null(strstr(answer.note, "adopted after a restart"));
    assert_int_equal(answer.ntasks, 2);
    assert_int_equal(answer.task[1].id, 9);
    assert_cpus(&answer.task[1].cpus, "3");
    assert_int_equal(answer.mem, WIRE_MEM_AUTO);
    assert_int_equal(answer.nenv, 2);
    assert_string_equal(answer.env[0].name, "BERTH_CPUS");
    assert_string_equal(answer.env[0].value, "2-3");
    assert_string_equal(answer.env[1].name, "BERTH_CLASS");
    assert_string_equal(answer.env[1].value, "turtle");
    wire_answer_clear(&answer);
}

static void test_not_managed(void **state)
{
    static const enum step_state states[] = {STEP_OBSERVED, STEP_LEFT, STEP_FAILED};
    struct fixture *f = *state;
    struct step *step = put(f);

    strcpy(step->enacted.reason, "left alone: so");
    for (size_t i = 0; i < 3; i++) {
        struct wire_answer answer;

        step->state = states[i];
        answer_fill(&f->packer, step, &answer);
        assert_true(answer.ok);
        assert_false(answer.managed);
        assert_string_equal(answer.note, "left alone: so");
        assert_int_equal(answer.ntasks + answer.nenv, 0);
        assert_true(cpus_empty(&answer.mems));
        wire_answer_clear(&answer);
    }
}

/* The nodes of its cores; for interleave all that it may use. */
static void test_memory(void **state)
{
    static const struct {
        enum wire_mem mem;
        const char *mems_home, *mems;
    } cases[] = {
        {WIRE_MEM_LOCAL, "0-1", "0"},        {WIRE_MEM_BIND, "0-1", "0"},
        {WIRE_MEM_INTERLEAVE, "0-1", "0-1"}, {WIRE_MEM_INTERLEAVE, "1", "1"},
        {WIRE_MEM_INTERLEAVE, "0-7", "0-1"},
    };
    struct fixture *f = *state;
    struct step *step = put(f);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_answer answer;

        step->request.options.mem = cases[i].mem;
        step->body.mems_home = cpus_of(cases[i].mems_home);
        answer_fill(&f->packer, step, &answer);
        assert_int_equal(answer.mem, cases[i].mem);
        assert_cpus(&answer.mems, cases[i].mems);
        wire_answer_clear(&answer);
    }
}

/* A list that does not fit is left out: half of it would be a lie. */
static void test_long_list(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);
    struct wire_answer answer;

    for (size_t cpu = 0; cpu < 400; cpu += 2)
        cpus_add(&step->place.cpus, cpu);
    answer_fill(&f->packer, step, &answer);
    assert_int_equal(answer.nenv, 1);
    assert_string_equal(answer.env[0].name, "BERTH_CLASS");
    wire_answer_clear(&answer);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_numa, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse), test(test_placed), test(test_private_data),
        test(test_not_managed),        test(test_memory), test(test_long_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
