/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_figures - what a program is: its run, not its phase; its runs, not its input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/observe/figures.h"
#include "packer/observe/learn.h"
#include "packer/steps/step_counts.h"

static struct program program[1];
static struct states state_of;
static struct registry steps;
static struct packer packer = {.state = &state_of, .steps = &steps};
static struct step_counts counts;
static struct step step;
static char learner; /* there is one */

static int setup(void **state)
{
    (void)state;
    memset(program, 0, sizeof(program));
    memset(&counts, 0, sizeof(counts));
    step = (struct step){.counts = &counts};
    steps.programs = (struct programs){.n = 1, .program = program};
    state_of.learner = (void *)&learner;
    packer.world.conf.learn = CONF_ON;
    return 0;
}

/* Windows of so many misses per million instructions; the last `phase` of them are the present
 * phase, with misses of its own. */
static void count(size_t windows, double misses, size_t phase, double phase_misses)
{
    memset(&counts, 0, sizeof(counts));
    for (size_t i = 0; i < windows; i++) {
        double now = i < windows - phase ? misses : phase_misses;

        rate_add(&counts.beside[RATE_MISS_PMI], 1, now);
        if (i >= windows - phase)
            rate_add(&counts.phase.rate[RATE_MISS_PMI], 1, now);
    }
    counts.windows = windows;
}

static double misses(void)
{
    figures_take(&packer, &step);
    return step.figures[FIGURE_MISSES];
}

static void test_phase(void **state)
{
    (void)state;
    count(20, 1000, 10, 1300);
    assert_float_equal(misses(), 1150, 1e-6); /* its run */
    count(20, 1000, 10, 8000);
    assert_float_equal(misses(), 4500, 4500); /* another thing than its run: */
    count(100, 1000, 10, 8000);
    assert_float_equal(misses(), 8000, 1e-6); /* the phase itself */
    assert_true(isnan(step.figures[FIGURE_IPC]));
}

static void test_runs(void **state)
{
    (void)state;
    for (int run = 0; run < 3; run++) {
        count(FIGURES_WINDOWS, 1000, 1, 1000);
        figures_end(&packer, &step);
    }
    count(FIGURES_WINDOWS, 1600, 1, 1600); /* a fourth of another input */
    assert_float_equal(misses(), exp((3 * log(1000) + log(1600)) / 4), 1e-6);
    count(1, 1600, 1, 1600); /* that has hardly begun */
    assert_true(misses() < 1010);
    count(FIGURES_WINDOWS, 5000, 1, 5000); /* another thing than before */
    assert_float_equal(misses(), 5000, 1e-6);
    packer.world.conf.learn = CONF_OFF;
    count(FIGURES_WINDOWS, 1600, 1, 1600);
    assert_float_equal(misses(), 1600, 1e-6);
    figures_end(&packer, &step);
    assert_float_equal(program[0].figure[FIGURE_MISSES].weight, 3, 1e-9);
}

/* A program without a key, and a run that counted nothing, leave nothing behind. */
static void test_nothing(void **state)
{
    (void)state;
    step.program = PROGRAM_NONE;
    count(5, 1000, 1, 1000);
    assert_float_equal(misses(), 1000, 1e-6);
    figures_end(&packer, &step);
    step.program = 0;
    memset(&counts, 0, sizeof(counts));
    assert_true(isnan(misses()));
    figures_end(&packer, &step);
    step.counts = NULL;
    figures_end(&packer, &step);
    assert_true(program[0].figure[FIGURE_MISSES].weight == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_phase, setup),
        cmocka_unit_test_setup(test_runs, setup),
        cmocka_unit_test_setup(test_nothing, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
