/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ranks_care - ranks that were found in a step: when they become its tasks, where they stand
 * then, and how the step goes home. */
#include "tests/unit/common/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/enact/ranks_care.h"
#include "packer/observe/ranks.h"
#include "packer/observe/ranks_look.h"
#include "packer/steps/rank_tasks.h"

#define RANKS_MAX 8

/* A batch script that is left, for nobody knows what it starts. */
static struct wire_register script_of(uint32_t job, const char *cpus, const char *tag)
{
    struct wire_register request = fixture_request(job, WIRE_STEP_BATCH, cpus, cpus, 1, tag);

    request.by_cpu = true;
    request.pin = WIRE_PIN_STARTS;
    strcpy(request.pin_by, "a batch script");
    return request;
}

static struct step *start(struct fixture *f, struct wire_register request)
{
    struct step *step = fixture_start(f, request);

    strcpy(step->body.leaf, "somewhere");
    return step;
}

/* A look has found ranks on these CPUs, whose numbers begin with `first`; so the others had used,
 * and such is their executable. */
static void ranks_are_found(struct fixture *f, struct step *step, pid_t first,
                            const char *const *cpus, double others_s, enum wire_pin pin)
{
    struct ranks_found *found = calloc(1, sizeof(*found) + RANKS_MAX * sizeof(found->rank[0]));

    assert_non_null(found);
    strcpy(found->launcher, "orterun");
    for (; cpus && cpus[found->n]; found->n++)
        found->rank[found->n] = (struct step_rank){.pid = first + (pid_t)found->n,
                                                   .started = (uint64_t)first,
                                                   .cpus = cpus_of(cpus[found->n])};
    found->calls.pin = pin;
    found->others_ns = others_s * 1e9;
    found->at_s = clock_s();
    ranks_hear(step, found);
    free(found);
    ranks_care_turn(&f->packer);
}

#define ON(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The same at two looks. */
static void find_twice(struct fixture *f, struct step *step, const char *const *cpus)
{
    ranks_are_found(f, step, 5000000, cpus, 0, WIRE_PIN_NONE);
    assert_false(step->body.ranks);
    ranks_are_found(f, step, 5000000, cpus, 0, WIRE_PIN_NONE);
}

static void assert_task(const struct step *step, size_t i, const char *home, const char *cpus)
{
    assert_true(i < step->body.ntasks);
    assert_cpus(&step->body.task[i].home, home);
    assert_cpus(&step->body.task[i].cpus, cpus);
}

/* How many of the step's ranks stand on the first package. */
static size_t on_first(const struct step *step)
{
    const struct cpus first = cpus_of("0-3");
    size_t n = 0;

    for (size_t i = 0; i < step->body.ntasks; i++)
        n += cpus_subset(&step->body.task[i].cpus, &first);
    return n;
}

/* Two programs of four ranks, which Slurm has put on a package each: DI spreads those that miss. */
static void test_placed(void **state)
{
    struct fixture *f = *state;
    struct step *memory, *compute;

    fixture_profile(f, "memory", 20000);
    fixture_profile(f, "compute", 10);
    memory = start(f, script_of(1, "0-3", "memory"));
    compute = start(f, script_of(2, "4-7", "compute"));
    find_twice(f, memory, ON("0", "1", "2", "3"));
    assert_int_equal(memory->state, STEP_PLACED);
    assert_int_equal(compute->state, STEP_LEFT);
    assert_int_equal(on_first(memory), 4); /* nobody may leave a core of the other job */
    find_twice(f, compute, ON("4", "5", "6", "7"));
    assert_int_equal(compute->state, STEP_PLACED);
    assert_string_equal(compute->enacted.ranks_why, "");
    assert_int_equal(on_first(memory), 2);
    assert_int_equal(on_first(compute), 2);
    assert_cpus(&memory->body.task[3].home, "3");
    ranks_are_found(f, memory, 0, NULL, 0, WIRE_PIN_NONE);
    assert_int_equal(on_first(compute), 0); /* its cores are nobody's to be exchanged any more */
    assert_task(compute, 2, "6", "6");
}

/* Others come while the first ones stand elsewhere: they are tasks at once, at home where their
 * launcher put them, as far as it has put them on the step's own cores. */
static void test_second_mpirun(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, script_of(1, "0-3", "mpi"));

    find_twice(f, step, ON("0", "1"));
    fixture_exchange(f, 1, 2);
    ranks_are_found(f, step, 6000000, ON("2", "3", "4"), 0, WIRE_PIN_NONE);
    assert_int_equal(step->state, STEP_PLACED);
    assert_int_equal(step->body.ntasks, 3);
    assert_cpus(&step->body.task[0].home, "2");
    assert_cpus(&step->body.task[1].home, "3");
    assert_cpus(&step->body.task[2].home, "0");
}

static void test_over(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, script_of(1, "0-3", "mpi"));

    find_twice(f, step, ON("0", "1"));
    assert_int_equal(step->state, STEP_PLACED);
    ranks_are_found(f, step, 0, NULL, 0, WIRE_PIN_NONE);
    assert_int_equal(step->state, STEP_LEFT);
    assert_string_equal(step->enacted.reason,
                        "left alone: what it starts is not known (a batch script)");
    ranks_care_turn(&f->packer); /* it is at home */
    assert_false(step->body.ranks);
    assert_task(step, 0, "0-3", "0-3");
    find_twice(f, step, ON("2", "3"));
    assert_int_equal(step->state, STEP_PLACED);
}

/* What speaks against it, at first and while it is placed. */
static void test_reasons(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, script_of(1, "0-3", "mpi"));

    find_twice(f, step, ON("0-3", "0-3"));
    assert_string_equal(step->enacted.ranks_why, "their launcher has not bound them to cores");
    ranks_are_found(f, step, 7000000, ON("0", "1"), 0, WIRE_PIN_CALLS);
    ranks_are_found(f, step, 7000000, ON("0", "1"), 0, WIRE_PIN_CALLS);
    assert_int_equal(step->state, STEP_LEFT);
    assert_non_null(strstr(step->enacted.ranks_why, "it may bind its threads"));
    find_twice(f, step, ON("0", "1"));
    assert_int_equal(step->state, STEP_PLACED);
    ranks_are_found(f, step, 5000000, ON("0", "1"), 3, WIRE_PIN_NONE); /* something else works */
    assert_int_equal(step->state, STEP_LEFT);
    assert_string_equal(step->enacted.ranks_why, "something beside the ranks works in the step");
    ranks_care_turn(&f->packer);
    ranks_are_found(f, step, 5000000, ON("0", "1"), 3, WIRE_PIN_NONE);
    assert_int_equal(step->state, STEP_LEFT); /* as long as these ranks run */
    step->body.leaf[0] = '\0';
    find_twice(f, step, ON("2", "3"));
    assert_int_equal(step->state, STEP_LEFT);
}

/* What stays for another reason stays. */
static void test_stays(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = script_of(1, "0-3", "mpi");
    struct step *step;

    request.pin = WIRE_PIN_ENVIRONMENT;
    strcpy(request.pin_by, "OMP_PROC_BIND");
    step = start(f, request);
    find_twice(f, step, ON("0", "1"));
    assert_int_equal(step->state, STEP_LEFT);
    assert_string_equal(step->enacted.ranks_why, "the step is left alone");
}

/* Nobody answers any more: the ranks may be over. */
static void test_lost(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, script_of(1, "0-3", "mpi"));

    find_twice(f, step, ON("0", "1"));
    step->ranks.asked = true;
    step->ranks.asked_s = clock_s() - RANKS_LOST_S / 2;
    ranks_care_turn(&f->packer);
    assert_int_equal(step->state, STEP_PLACED);
    step->ranks.asked_s = clock_s() - RANKS_LOST_S - 1;
    ranks_care_turn(&f->packer);
    assert_int_equal(step->state, STEP_LEFT);
}

/* Whoever asks to be sized: each rank by itself, and none without a core; the launcher is not. */
static void test_size(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = script_of(1, "0-3", "mpi");
    struct step *step;

    request.id.step = 0;
    strcpy(request.pin_by, "orted");
    request.options.size = request.asked = true;
    request.options.cores_min = request.options.cores_max = 2;
    step = start(f, request);
    assert_int_equal(step->state, STEP_PLACED);
    assert_cpus(&step->body.task[0].use, "0-3");
    find_twice(f, step, ON("0-1", "2-3"));
    assert_true(step->body.ranks);
    assert_cpus(&step->body.task[0].use, "0");
    assert_cpus(&step->body.task[1].use, "2");
    ranks_are_found(f, step, 6000000, ON("0", "1", "2", "3"), 0, WIRE_PIN_NONE);
    assert_int_equal(step->body.ntasks, 4);
    assert_cpus(&step->body.task[3].use, "3");
    ranks_are_found(f, step, 0, NULL, 0, WIRE_PIN_NONE);
    assert_int_equal(step->state, STEP_PLACED);
    assert_false(step->body.ranks);
    assert_cpus(&step->body.task[0].use, "0-3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_placed, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_second_mpirun, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_over, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_reasons, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stays, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lost, fixture_on_paper, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_size, fixture_on_paper, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
