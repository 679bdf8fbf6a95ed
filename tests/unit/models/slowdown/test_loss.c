/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_loss - what a step lost, in parts that add up: five scenes, and what is not known. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/loss.h"

/* cpu, wait, room, taken; caches, siblings, measured, clock */
static const struct row {
    struct loss_of of;
    double sum, part[LOSS_PARTS]; /* caches, siblings, clock, waiting, threads, rest */
} rows[] = {
    /* a neighbour in the cache, predicted alone: a quarter more time, a fifth of it is lost */
    {{100, 0, 100, 0, .25, 0, NAN, NAN}, .2, {.2, 0, NAN, 0, 0, NAN}},
    /* the same, measured: as much as was predicted of what the clock leaves */
    {{100, 0, 100, 0, .25, 0, .6, .1}, .375, {.15625, 0, .0625, 0, 0, .15625}},
    /* less was measured than predicted */
    {{100, 0, 100, 0, .25, .1, .2, .1}, 1. / 6, {0, 1. / 12, 1. / 12, 0, 0, 0}},
    /* and it was faster than alone */
    {{100, 0, 100, 0, .25, .1, -.2, -.1}, 0, {0, 0, 0, 0, 0, 0}},
    /* processes outside Slurm: two threads on two CPUs, of which others had three quarters */
    {{50, 150, 200, 150, 0, 0, NAN, NAN}, .75, {0, 0, NAN, .75, 0, NAN}},
    /* nobody was seen there: its own threads are bound to one CPU */
    {{100, 100, 200, 1, 0, 0, NAN, NAN}, .5, {0, 0, NAN, .005, .495, NAN}},
    /* where nobody looked who had the CPUs, others had them */
    {{50, 150, 200, NAN, 0, 0, NAN, NAN}, .75, {0, 0, NAN, .75, 0, NAN}},
    /* hyper-threads: half as much time again */
    {{100, 0, 100, 0, 0, .5, NAN, NAN}, 1. / 3, {0, 1. / 3, NAN, 0, 0, NAN}},
    /* the clock */
    {{100, 0, 100, 0, 0, 0, .25, .25}, .2, {0, 0, .2, 0, 0, 0}},
    /* its own fault: eight threads on two CPUs */
    {{200, 600, 200, 0, 0, 0, NAN, NAN}, .75, {0, 0, NAN, 0, .75, NAN}},
    /* both: half of the room is taken, and each second of that four threads waited for */
    {{100, 700, 200, 50, 0, 0, NAN, NAN}, .875, {0, 0, NAN, .125, .75, NAN}},
    /* what is not known */
    {{100, NAN, 100, NAN, NAN, NAN, NAN, NAN}, NAN, {NAN, NAN, NAN, NAN, NAN, NAN}},
    {{100, NAN, 100, NAN, .25, NAN, NAN, .1}, .2, {.2, NAN, NAN, NAN, NAN, NAN}},
    {{100, NAN, 100, NAN, NAN, NAN, .25, NAN}, .2, {NAN, NAN, NAN, NAN, NAN, .2}},
    {{0, NAN, 100, NAN, .25, .1, NAN, NAN}, NAN, {NAN, NAN, NAN, NAN, NAN, NAN}},
    {{NAN, 10, 100, NAN, .25, .1, NAN, NAN}, NAN, {NAN, NAN, NAN, NAN, NAN, NAN}},
};

static void same(size_t row, double got, double wanted)
{
    if (isnan(got) != isnan(wanted) || fabs(got - wanted) > 1e-9)
        fail_msg("row %zu: %g, not %g", row, got, wanted);
}

static void parts_are_as_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double part[LOSS_PARTS];

        same(i, loss_divide(&rows[i].of, part), rows[i].sum);
        for (size_t p = 0; p < LOSS_PARTS; p++)
            same(i, part[p], rows[i].part[p]);
    }
}

/* With a measured slowdown the sum is what was measured and waited, whatever is predicted. */
static void parts_add_up(void **state)
{
    (void)state;
    for (double caches = 0; caches < 1; caches += .13)
        for (double measured = 0; measured < 1; measured += .17)
            for (double wait = 0; wait < 300; wait += 37) {
                struct loss_of of = {100, wait, 200, wait / 3, caches, .1, measured, .05};
                double part[LOSS_PARTS], work = 100 / (100 + wait);

                same(0, loss_divide(&of, part), 1 - work / (1 + measured));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_as_told),
                                       cmocka_unit_test(parts_add_up)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
