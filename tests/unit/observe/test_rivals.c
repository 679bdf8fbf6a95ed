/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rivals - who else ran on a step's CPUs, and on the other hardware threads of its cores. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdlib.h>

#include "packer/observe/rivals.h"
#include "packer/steps/step_counts.h"

static int open_smt(void **state)
{
    *state = fixture_open(TWO_BY_TWO_SMT);
    return 0;
}

/* A step of one task on those CPUs, whose window was of 10 seconds and used so many cores. */
static struct step *put(struct fixture *f, uint32_t job, uint32_t number, const char *cpus,
                        double cores)
{
    struct step *step = fixture_put(f, job, number, cpus, NAN, (const char *const[]){cpus, NULL});

    step->counts = calloc(1, sizeof(*step->counts));
    assert_non_null(step->counts);
    step->counts->window.seconds = 10;
    step->counts->window.cpu = cores;
    return step;
}

/* CPU 0 and CPU 1 have worked so long since the reading before. */
static void pass(struct fixture *f, struct step *step, double s0, double s1, bool same)
{
    static struct cpu_busy busy;
    struct cpus cpus;

    busy.s[0] += s0;
    busy.s[1] += s1;
    cpus_parse(&busy.known, "0-15");
    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    rivals_read(&f->packer, step, &cpus, &busy, same);
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 1e-6))
        fail_msg("%g, not %g", got, wanted);
}

static void drop(struct step *step)
{
    free(step->counts);
    step->counts = NULL;
}

/* Nothing is known before a window has ended where it began. */
static void test_first(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1, 0, "0", 0.25);

    pass(f, step, 10, 0, false);
    assert_true(isnan(step_counts_taken(step, STEP_RIVALS)));
    assert_true(isnan(step_counts_siblings(step)));
    step->counts->window.cpu = NAN;
    pass(f, step, 10, 0, true);
    assert_true(isnan(step_counts_taken(step, STEP_RIVALS)));
    drop(step);
}

/* What its CPU worked beyond itself nobody of Slurm did. */
static void test_outside(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1, 0, "0", 0.25);

    pass(f, step, 0, 0, false);
    pass(f, step, 10, 0, true);
    near(step_counts_taken(step, STEP_RIVALS), 0.75);
    near(step_counts_taken(step, RIVAL_OUTSIDE), 0.75);
    near(step_counts_siblings(step), 0);
    pass(f, step, 2.5, 0, true); /* and in the next window nobody was there */
    near(step_counts_taken(step, STEP_RIVALS), 0.375);
    drop(step);
}

/* Another job has the same CPU, and works; one that waits takes nothing. */
static void test_jobs(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1, 0, "0", 0.5), *other = put(f, 2, 0, "0", 0.01);

    pass(f, step, 0, 0, false);
    pass(f, step, 10, 0, true);
    near(step_counts_taken(step, RIVAL_OUTSIDE), 0.5);
    other->counts->window.cpu = 0.5;
    pass(f, step, 10, 0, true);
    near(step_counts_taken(step, RIVAL_JOBS), 0.25);
    drop(step);
    drop(other);
}

/* Another step of its own job has the same CPU. */
static void test_own_job(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1, 0, "0", 0.5), *other = put(f, 1, 1, "0", 0.5);

    pass(f, step, 0, 0, false);
    pass(f, step, 10, 0, true);
    near(step_counts_taken(step, RIVAL_OWN_JOB), 0.5);
    near(step_counts_taken(step, RIVAL_JOBS), 0);
    drop(step);
    drop(other);
}

/* The other hardware thread of its core is CPU 1: others' unless it is the step's own, too. */
static void test_siblings(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f, 1, 0, "0", 1), *both = put(f, 2, 0, "0-1", 2);

    pass(f, step, 0, 0, false);
    pass(f, both, 0, 0, false);
    pass(f, step, 10, 8, true);
    pass(f, both, 0, 0, true);
    near(step_counts_siblings(step), 0.8);
    near(step_counts_taken(step, STEP_RIVALS), 0);
    near(step_counts_siblings(both), 0);
    drop(step);
    drop(both);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_smt, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_first),   CASE(test_outside),  CASE(test_jobs),
        CASE(test_own_job), CASE(test_siblings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
