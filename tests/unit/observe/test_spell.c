/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_spell - what a neighbour costs, out of speeds that wobble by themselves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packer/observe/spell.h"
#include "packer/steps/programs.h"
#include "tests/bench/day_random.h"

#define PHASE 30 /* windows */

/* A program whose speed wobbles from phase to phase and from window to window. */
struct program_on_paper {
    double phase, window; /* sigmas */
    double now;
    size_t windows;
    uint64_t seed;
    struct program_scatter scatter;
};

static double speed(struct program_on_paper *program)
{
    if (program->windows++ % PHASE == 0)
        program->now = program->phase * day_random_normal(&program->seed);
    return program->now + program->window * day_random_normal(&program->seed);
}

static void take_windows(struct program_on_paper *program, struct spell *spell, size_t n,
                         double slowdown)
{
    for (size_t i = 0; i < n; i++)
        spell_add(spell, speed(program) - log(1 + slowdown), NAN, NAN, &program->scatter);
}

/* Alone, and then beside one who costs a quarter, a thousand times, at any moment of a phase. */
static void try(struct program_on_paper program, double *bias, double *rms, double *told)
{
    const size_t times = 1000;
    double error, off;

    *bias = *rms = *told = 0;
    for (size_t i = 0; i < times; i++) {
        struct spell alone = {0}, beside = {0};

        take_windows(&program, &alone, 5 + i % PHASE, 0);
        take_windows(&program, &beside, SPELL_AFTER, 0.25);
        off = spell_step(&alone, &beside, &program.scatter, &error) - log(1.25);
        *bias += off / (double)times;
        *rms += off * off / (double)times;
        *told += error * error / (double)times;
    }
    *rms = sqrt(*rms);
    *told = sqrt(*told);
}

/* The error that is told is the one that is made, whatever wobbles; nothing is out on the mean. */
static void test_error(void **state)
{
    const double sigma[][2] = {{0, 0.03}, {0, 0.1}, {0.15, 0.05}, {0.3, 0.02}};
    double bias, rms, told;

    (void)state;
    for (size_t i = 0; i < sizeof(sigma) / sizeof(*sigma); i++) {
        try((struct program_on_paper){.phase = sigma[i][0], .window = sigma[i][1], .seed = i + 1},
            &bias, &rms, &told);
        assert_true(fabs(bias) < 4 * rms / sqrt(1000));
        assert_true(told > 0.7 * rms && told < 1.4 * rms);
    }
}

/* Nothing wobbles: a change is clear after a while, but never more than clocks are. */
static void test_still(void **state)
{
    struct program_on_paper program = {.seed = 1};
    double bias, rms, told;

    (void)state;
    try(program, &bias, &rms, &told);
    assert_true(rms < 1e-9 && told > 0.003 && told < 0.015);
}

/* Nothing is known of the program: the error is that of an ordinary one. */
static void test_first(void **state)
{
    struct program_scatter scatter = {0};
    struct spell alone = {0}, beside = {0};
    double error;

    (void)state;
    spell_add(&alone, 1, NAN, NAN, &scatter);
    spell_add(&beside, 0.5, 0.3, 0.3, &scatter);
    assert_true(spell_step(&alone, &beside, &scatter, &error) == 0.5);
    assert_true(error > 0.03 && error < 0.06);
    assert_true(alone.predictions == 0 && beside.predicted == 0.3 && beside.predictions == 1);
    spell_end(&alone);
    assert_true(alone.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_still),
        cmocka_unit_test(test_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
