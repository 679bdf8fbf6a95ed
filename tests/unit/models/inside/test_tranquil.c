/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tranquil - the ways of Fig. 3.7, and how often either rule keeps what changed nothing, or
 * loses what did. The rates are printed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "models/inside/tranquil.h"
#include "tests/unit/common/noise.h"

#define TRIALS 20000

static const struct tranquil_rules ours = {TRANQUIL_SIGNIFICANT, 2000};
static const struct tranquil_rules printed = {TRANQUIL_PRINTED, 2000};

/* A burst around these means, with these deviations. */
static struct tranquil_burst burst(struct noise *noise, double miss, double miss_sd, double icx,
                                   double icx_sd)
{
    struct tranquil_burst made = {.n = TRANQUIL_READINGS};

    for (size_t i = 0; i < made.n; i++) {
        made.miss[i] = miss + miss_sd * noise_normal(noise);
        made.icx[i] = icx + icx_sd * noise_normal(noise);
    }
    return made;
}

/* A burst without chance: half of the readings above, half below the mean. */
static struct tranquil_burst even(double miss, double miss_off, double icx, double icx_off)
{
    struct tranquil_burst made = {.n = TRANQUIL_READINGS};

    for (size_t i = 0; i < made.n; i++) {
        made.miss[i] = miss + (i % 2 ? miss_off : -miss_off);
        made.icx[i] = icx + (i % 2 ? icx_off : -icx_off);
    }
    return made;
}

static bool take(struct tranquil *tranquil, const struct tranquil_rules *rules,
                 struct tranquil_burst of)
{
    return tranquil_burst(tranquil, rules, &of);
}

static void is(const struct tranquil *tranquil, enum tranquil_state state,
               enum tranquil_memory memory, unsigned slice_ms)
{
    assert_int_equal(tranquil->state, state);
    assert_int_equal(tranquil->policy.memory, memory);
    assert_int_equal(tranquil->policy.slice_ms, slice_ms);
}

static void test_memory_kept(void **state)
{
    struct tranquil tranquil = {0};

    (void)state;
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 0);
    assert_true(take(&tranquil, &ours, even(9000, 1000, 50, 5)));
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_INTERLEAVE, 100);
    assert_false(take(&tranquil, &ours, even(5000, 100, 500, 50))); /* its switches do not count */
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_INTERLEAVE, 100);
    assert_true(tranquil.tried && tranquil.kept);
    assert_true(tranquil.before.miss == 9000 && tranquil.after.miss == 5000);
    for (int i = 0; i < 100; i++) { /* what is in effect is not tried */
        assert_false(take(&tranquil, &ours, even(5000, 100, 500, 50)));
        is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_INTERLEAVE, 100);
    }
    assert_int_equal(tranquil.pass, 101);
    assert_true(tranquil.kept && tranquil.after.miss == 5000);
}

/* The mean falls, the deviation does not; and the reverse. */
static void test_both_must_fall(void **state)
{
    static const double after[][2] = {{5000, 1000}, {9000, 100}, {9000, 1000}, {12000, 3000}};

    (void)state;
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        struct tranquil tranquil = {0};

        take(&tranquil, &ours, even(9000, 1000, 50, 5));
        assert_true(take(&tranquil, &ours, even(after[i][0], after[i][1], 5, 0)));
        is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 100);
        assert_false(tranquil.kept);
    }
}

static void test_cpu(void **state)
{
    struct tranquil tranquil = {0};

    (void)state;
    assert_true(take(&tranquil, &ours, even(2000, 0, 500, 50))); /* not above the threshold */
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_LOCAL, 20);
    assert_false(take(&tranquil, &ours, even(2000, 0, 100, 5)));
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 20);

    tranquil = (struct tranquil){0};
    take(&tranquil, &ours, even(NAN, 0, 500, 50)); /* no counter of misses */
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_LOCAL, 20);
    assert_true(take(&tranquil, &ours, even(NAN, 0, 500, 50)));
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 0);
}

/* A program that changes its kind has the memory that its first kind was left with. */
static void test_phases(void **state)
{
    struct tranquil tranquil = {0};

    (void)state;
    take(&tranquil, &ours, even(9000, 1000, 50, 5));
    take(&tranquil, &ours, even(5000, 100, 50, 5));
    assert_true(take(&tranquil, &ours, even(100, 10, 500, 50)));
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_INTERLEAVE, 20);
    assert_true(take(&tranquil, &ours, even(100, 10, 500, 50)));
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_INTERLEAVE, 0);
    assert_true(take(&tranquil, &ours, even(9000, 1000, 50, 5))); /* at once: the other kind */
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_INTERLEAVE, 100);
    assert_false(take(&tranquil, &ours, even(9000, 1000, 50, 5)));
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_INTERLEAVE, 100);
}

/* What is not kept is tried ever more seldom; by the printed rule in each pass. */
static void test_rest(void **state)
{
    struct tranquil tranquil = {0}, literal = {0};
    unsigned tries = 0, literal_tries = 0;

    (void)state;
    for (unsigned pass = 1; pass <= 127; pass++) {
        take(&tranquil, &ours, even(100, 10, 500, 50));
        if (tranquil.state == TRANQUIL_TRIAL) {
            tries++;
            assert_true(pass == 1 || pass == 3 || pass == 7 || pass == 15 || pass == 31 ||
                        pass == 63 || pass == 127);
            take(&tranquil, &ours, even(100, 10, 500, 50));
        }
        take(&literal, &printed, even(100, 10, 500, 50));
        literal_tries += literal.state == TRANQUIL_TRIAL;
        take(&literal, &printed, even(100, 10, 500, 50));
    }
    assert_int_equal(tries, 7);
    assert_int_equal(literal_tries, 127);
    assert_int_equal(tranquil.pass, 127);
}

static void test_nothing_known(void **state)
{
    struct tranquil tranquil = {0};

    (void)state;
    assert_false(take(&tranquil, &ours, even(NAN, 0, NAN, 0)));
    assert_false(take(&tranquil, &ours, (struct tranquil_burst){.n = 0}));
    assert_false(take(&tranquil, &ours, even(100, 1, NAN, 0)));
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 0);
    assert_int_equal(tranquil.pass, 3);
    take(&tranquil, &ours, even(9000, 1000, 50, 5));
    assert_true(take(&tranquil, &ours, even(NAN, 0, 50, 5))); /* the trial has shown nothing */
    is(&tranquil, TRANQUIL_PROFILE, TRANQUIL_LOCAL, 100);
    assert_false(tranquil.kept);
}

/* How often that change of mean and deviation is kept. */
static double kept(struct noise *noise, enum tranquil_rule rule, double mean, double sd)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < TRIALS; i++) {
        struct tranquil_burst a = burst(noise, 0, 0, 100, 10);
        struct tranquil_burst b = burst(noise, 0, 0, 100 * mean, 10 * sd);

        kept += tranquil_fell(rule, a.n, a.icx, b.n, b.icx);
    }
    return (double)kept / TRIALS;
}

/* Chance: the paper's rule keeps a quarter of the trials that changed nothing, ours a fortieth. Of
 * those that lower one of the two beyond chance both keep the half in which the other one happens
 * to be lower. Truth: both keep nearly all that lowers both. */
static void test_rates(void **state)
{
    static const struct {
        const char *what;
        double mean, sd;
        double printed[2], ours[2]; /* bounds */
    } rows[] = {
        {"nothing changes", 1, 1, {.23, .27}, {0, .03}},
        {"only the mean falls by half", .5, 1, {.48, .52}, {.48, .52}},
        {"only the deviation falls by ten", 1, .1, {.45, .55}, {.45, .55}},
        {"mean by 10 %, deviation by half", .9, .5, {.95, 1}, {.7, 1}},
        {"mean by 30 %, deviation by half", .7, .5, {.96, 1}, {.96, 1}},
        {"mean by 30 %, deviation by 30 %", .7, .7, {.8, .9}, {.8, .9}},
        {"both rise", 1.2, 1.5, {0, .01}, {0, .001}},
        {"mean by half, deviation by three", .5, .33, {.98, 1}, {.98, 1}},
        {"mean by half, deviation by ten", .5, .1, {.99, 1}, {.99, 1}},
    };
    struct noise noise = {18};

    (void)state;
    printf("%-36s %8s %12s\n", "kept, of two bursts of 10", "printed", "significant");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double by_paper = kept(&noise, TRANQUIL_PRINTED, rows[i].mean, rows[i].sd);
        double by_ours = kept(&noise, TRANQUIL_SIGNIFICANT, rows[i].mean, rows[i].sd);

        printf("%-36s %8.4f %12.4f\n", rows[i].what, by_paper, by_ours);
        assert_true(by_paper >= rows[i].printed[0] && by_paper <= rows[i].printed[1]);
        assert_true(by_ours >= rows[i].ours[0] && by_ours <= rows[i].ours[1]);
    }
}

/* How many of so many trials are kept by ours. */
static unsigned kept_of(unsigned trials, uint64_t seed, double mean, double sd)
{
    struct noise noise = {seed};
    unsigned n = 0;

    for (unsigned i = 0; i < trials; i++) {
        struct tranquil_burst a = burst(&noise, 0, 0, 100, 10);
        struct tranquil_burst b = burst(&noise, 0, 0, 100 * mean, 10 * sd);

        n += tranquil_fell(TRANQUIL_SIGNIFICANT, a.n, a.icx, b.n, b.icx);
    }
    return n;
}

#define SEEDS 100

/* Misses less 30 %, deviation halved: at least 36 of 40 are kept. Mere noise: at most 12 of 240. In
 * one of a hundred seeds chance may have it otherwise. */
static void test_power(void **state)
{
    unsigned missed = 0, fooled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        missed += kept_of(40, seed, .7, .5) < 36;
        fooled += kept_of(240, seed, 1, 1) > 12;
    }
    printf("of %d seeds: fewer than 36 of 40 kept in %u, more than 12 of 240 in %u\n", SEEDS,
           missed, fooled);
    assert_true(missed <= 1);
    assert_true(fooled <= 1);
}

/* Memory that was dealt in vain is not dealt again while the program misses as it did: its pages go
 * there and back once. */
static void test_pages_stay(void **state)
{
    struct tranquil tranquil = {0};
    struct noise noise = {4};
    unsigned journeys = 0;

    (void)state;
    for (unsigned pass = 0; pass < 500; pass++) {
        journeys += take(&tranquil, &ours, even(9000 * (1 + .1 * noise_normal(&noise)), 900, 5, 1));
        if (tranquil.state == TRANQUIL_TRIAL)
            assert_true(take(&tranquil, &ours, even(9500, 1000, 5, 1)));
    }
    assert_int_equal(journeys, 1);
    assert_true(take(&tranquil, &ours, even(25000, 900, 5, 1))); /* another phase */
    is(&tranquil, TRANQUIL_TRIAL, TRANQUIL_INTERLEAVE, 100);
}

/* What does not vary at all differs by no chance. */
static void test_no_deviation(void **state)
{
    struct tranquil_burst a = even(0, 0, 100, 0), b = even(0, 0, 90, 0), c = even(0, 0, 120, 9);

    (void)state;
    assert_false(tranquil_fell(TRANQUIL_SIGNIFICANT, a.n, a.icx, b.n, b.icx));
    assert_true(tranquil_fell(TRANQUIL_SIGNIFICANT, c.n, c.icx, b.n, b.icx));
    assert_false(tranquil_fell(TRANQUIL_SIGNIFICANT, a.n, a.icx, a.n, a.icx));
    assert_false(tranquil_fell(TRANQUIL_PRINTED, 4, c.icx, 4, b.icx)); /* too few of them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_kept), cmocka_unit_test(test_both_must_fall),
        cmocka_unit_test(test_cpu),         cmocka_unit_test(test_phases),
        cmocka_unit_test(test_rest),        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_rates),       cmocka_unit_test(test_no_deviation),
        cmocka_unit_test(test_power),       cmocka_unit_test(test_pages_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
