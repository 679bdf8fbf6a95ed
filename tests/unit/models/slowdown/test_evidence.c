/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_evidence - what measurements make of predictions: of the same neighbours, of others with the
 * same program, of groups; errors; programs that changed; and figures that make no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/evidence.h"

#define assert_near(value, expected, error) assert_true(fabs((value) - (expected)) <= (error))

static struct evidence *begin(void)
{
    struct evidence *evidence = evidence_new(NULL);

    assert_non_null(evidence);
    return evidence;
}

static void solve(struct evidence *evidence)
{
    for (int i = 0; i < 1000; i++)
        if (evidence_solve(evidence) == 0)
            return;
    fail_msg("evidence_solve does not come to an end");
}

/* Program beside one other, predicted to lose 20 %. */
static void see(struct evidence *evidence, size_t program, size_t beside, double slowdown,
                double error)
{
    const struct evidence_seen seen = {.program = program,
                                       .n = 1,
                                       .beside = &beside,
                                       .predicted = 0.2,
                                       .slowdown = slowdown,
                                       .error = error,
                                       .weight = 1};

    assert_int_equal(evidence_observe(evidence, &seen), 0);
}

static double pair(const struct evidence *evidence, size_t program, size_t beside, double *error)
{
    return evidence_correct(evidence, program, 1, &beside, NULL, 0.2, error);
}

static void nothing_seen_nothing_corrected(void **state)
{
    struct evidence *evidence = begin();
    const size_t beside[3] = {1, 2, 900};
    double error, sure;

    (void)state;
    assert_int_equal(evidence_solve(evidence), 0);
    assert_near(evidence_correct(evidence, 0, 3, beside, NULL, 0.3, &error), 0.3, 1e-12);
    assert_true(error > 0.1);
    assert_int_equal(evidence_program(evidence, 1, 0.1), 0);
    assert_int_equal(evidence_program(evidence, 7, 0.1), 0);
    solve(evidence);
    assert_near(pair(evidence, 7, 1, &sure), 0.2, 1e-12);
    assert_true(sure < pair(evidence, 7, 2, &error) && sure < error);
    assert_true(evidence_correct(evidence, 0, 0, NULL, NULL, 0, &error) == 0 && error == 0);
    assert_true(evidence_known(evidence, 7) == 0);
    evidence_free(evidence);
    evidence_free(NULL);
}

static void moves_from_prediction_to_measured(void **state)
{
    struct evidence *evidence = begin();
    double before = 0.2, error, last = INFINITY;

    (void)state;
    for (int i = 0; i < 10; i++) {
        double now;

        see(evidence, 0, 1, 0.6, 0.2);
        solve(evidence);
        now = pair(evidence, 0, 1, &error);
        assert_true(now > before && error < last);
        before = now;
        last = error;
    }
    assert_near(before, 0.6, 0.03);
    assert_true(evidence_known(evidence, 0) > 0.1);
    evidence_free(evidence);
}

/* Six programs whose slowdowns are a product; of half of the pairs nothing was measured. */
static void two_numbers_a_program(void **state)
{
    static const double sensitivity[6] = {0.5, 0.2, 0.1, 0.4, 0.25, 0.05},
                        pressure[6] = {1, 0.3, 1.5, 0.1, 0.8, 0.5};
    struct evidence *evidence = begin();
    double off = 0, before = 0;

    (void)state;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            if ((i + j) % 4 < 2)
                see(evidence, i, j, sensitivity[i] * pressure[j], 0.01);
    solve(evidence);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            double truth = sensitivity[i] * pressure[j], error;
            double corrected = pair(evidence, i, j, &error);

            assert_near(corrected, truth, 2 * error);
            if ((i + j) % 4 < 2) {
                assert_near(corrected, truth, 0.01);
            } else {
                off += fabs(corrected - truth);
                before += fabs(0.2 - truth);
            }
        }
    assert_true(off < before / 3);
    evidence_free(evidence);
}

/* Of programs that differ in all respects, predictions differ far more than what is measured: those
 * for others, of which nothing was measured, come nearer to each other. */
static void stretch_is_learnt(void **state)
{
    struct evidence *evidence = begin();
    const size_t known = 20, other = 21;
    double low, high;

    (void)state;
    for (size_t i = 0; i < 20; i++) {
        const size_t beside = (7 * i + 3) % 20;
        const double predicted = 0.01 * pow(1.3, (double)(i * i % 20));

        assert_int_equal(evidence_observe(evidence, &(struct evidence_seen){.program = i,
                                                                            .n = 1,
                                                                            .beside = &beside,
                                                                            .predicted = predicted,
                                                                            .slowdown = 0.15,
                                                                            .error = 0.02,
                                                                            .weight = 1}),
                         0);
    }
    solve(evidence);
    low = evidence_correct(evidence, known, 1, &other, NULL, 0.02, NULL);
    high = evidence_correct(evidence, known, 1, &other, NULL, 1, NULL);
    assert_true(low > 0.04 && low < 0.15 && high < 0.6 && high > 0.15);
    evidence_free(evidence);
}

static void group_corrects_by_parts(void **state)
{
    struct evidence *evidence = begin();
    const size_t beside[2] = {1, 2}, other[2] = {2, 1};
    const double part[2] = {0.18, 0.02}, otherwise[2] = {0.02, 0.18};
    const struct evidence_seen seen = {.program = 0,
                                       .n = 2,
                                       .beside = beside,
                                       .part = part,
                                       .predicted = 0.2,
                                       .slowdown = 0.5,
                                       .error = 0.01,
                                       .weight = 1};
    double heavy, light;

    (void)state;
    assert_int_equal(evidence_observe(evidence, &seen), 0);
    solve(evidence);
    assert_near(evidence_correct(evidence, 0, 2, beside, part, 0.2, NULL), 0.5, 0.02);
    assert_near(evidence_correct(evidence, 0, 2, other, otherwise, 0.2, NULL), 0.5, 0.02);
    heavy = pair(evidence, 5, 1, NULL);
    light = pair(evidence, 5, 2, NULL);
    assert_true(heavy > light && light > 0.2);
    assert_true(pair(evidence, 0, 5, NULL) > heavy);
    assert_true(evidence_correct(evidence, 0, 1, beside, NULL, 0.2, NULL) < 0.5);
    evidence_free(evidence);
}

/* Program 0 suffers from 1 what nobody does from it, and 1 makes nobody else suffer like that. */
static void pairs_tell_of_groups(void **state)
{
    struct evidence *evidence = begin();
    const size_t with[2] = {1, 2}, without[2] = {2, 3};

    (void)state;
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j++)
            see(evidence, i, j, i == 0 && j == 1 ? 0.9 : 0.2, 0.01);
    solve(evidence);
    assert_true(evidence_correct(evidence, 0, 2, with, NULL, 0.2, NULL) >
                1.5 * evidence_correct(evidence, 0, 2, without, NULL, 0.2, NULL));
    evidence_free(evidence);
}

static void same_neighbour_twice_is_another_set(void **state)
{
    struct evidence *evidence = begin();
    const size_t twice[2] = {1, 1};

    (void)state;
    see(evidence, 0, 1, 0.2, 0.01);
    assert_int_equal(evidence_observe(evidence, &(struct evidence_seen){.program = 0,
                                                                        .n = 2,
                                                                        .beside = twice,
                                                                        .predicted = 0.2,
                                                                        .slowdown = 0.8,
                                                                        .error = 0.01,
                                                                        .weight = 1}),
                     0);
    solve(evidence);
    assert_near(pair(evidence, 0, 1, NULL), 0.2, 0.02);
    assert_near(evidence_correct(evidence, 0, 2, twice, NULL, 0.2, NULL), 0.8, 0.03);
    evidence_free(evidence);
}

/* The same sequence on every run and every machine (xorshift). */
static size_t next_random(uint64_t *state, size_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)(*state % below);
}

/* One of a few hundred observations of 12 programs in groups of up to four. */
static void see_group(struct evidence *evidence, size_t which)
{
    uint64_t state = 88172645463325252ULL + 1000003 * which;
    size_t beside[3], n, program;
    double part[3], predicted = 0;

    next_random(&state, 2);
    n = 1 + next_random(&state, 3);
    program = next_random(&state, 12);
    for (size_t i = 0; i < n; i++) {
        beside[i] = next_random(&state, 12);
        part[i] = 0.01 * (double)(1 + beside[i] % 5);
        predicted += part[i];
    }
    assert_int_equal(
        evidence_observe(
            evidence,
            &(struct evidence_seen){.program = program,
                                    .n = n,
                                    .beside = beside,
                                    .part = part,
                                    .predicted = predicted,
                                    .slowdown = predicted * (0.5 + 0.1 * (double)(program % 7)) +
                                                0.01 * (double)next_random(&state, 10),
                                    .error = 0.05,
                                    .weight = 1}),
        0);
}

/* Solved after each observation, or once after all in another order: the same follows. */
static void order_does_not_matter(void **state)
{
    enum { SEEN = 300 };
    struct evidence *each = begin(), *once = begin();

    (void)state;
    for (size_t k = 0; k < SEEN; k++) {
        see_group(each, k);
        evidence_solve(each);
        see_group(once, SEEN - 1 - k);
    }
    solve(each);
    solve(once);
    for (size_t i = 0; i < 13; i++)
        for (size_t j = 0; j < 13; j++) {
            double error, now = pair(each, i, j, &error);

            assert_near(pair(once, i, j, NULL), now, 0.1 * error);
        }
    evidence_free(each);
    evidence_free(once);
}

static void newer_contradiction_counts_more(void **state)
{
    struct evidence *evidence = begin(), *agrees = begin();

    (void)state;
    for (int i = 0; i < 100; i++)
        see(evidence, 0, 1, 0.1, 0.03);
    see(evidence, 0, 1, 0.9, 0.03);
    solve(evidence);
    assert_true(pair(evidence, 0, 1, NULL) > 0.4);

    for (int i = 0; i < 100; i++)
        see(agrees, 0, 1, 0.1, 0.03);
    see(agrees, 0, 1, 0.15, 0.03);
    solve(agrees);
    assert_near(pair(agrees, 0, 1, NULL), 0.1, 0.01);
    evidence_free(evidence);
    evidence_free(agrees);
}

/* A program that was seen with many and has changed beside two of them. */
static void changed_program_is_forgotten(void **state)
{
    struct evidence *evidence = begin();

    (void)state;
    for (size_t j = 1; j < 8; j++) {
        see(evidence, 0, j, 0.05, 0.01);
        see(evidence, 9, j, 0.05, 0.01);
    }
    see(evidence, 0, 1, 0.8, 0.01);
    see(evidence, 0, 2, 0.8, 0.01);
    solve(evidence);
    assert_true(pair(evidence, 0, 5, NULL) > 0.15);
    assert_near(pair(evidence, 9, 5, NULL), 0.05, 0.02);
    evidence_free(evidence);
}

static void forgets_on_demand(void **state)
{
    struct evidence *evidence = begin();

    (void)state;
    see(evidence, 0, 1, 0.6, 0.01);
    see(evidence, 1, 0, 0.6, 0.01);
    see(evidence, 0, 0, 0.6, 0.01);
    see(evidence, 2, 3, 0.2, 0.01);
    solve(evidence);
    assert_int_equal(evidence_forget(evidence, 0, 0), 3);
    assert_int_equal(evidence_forget(evidence, 77, 0), 0);
    solve(evidence);
    assert_near(pair(evidence, 0, 1, NULL), 0.2, 0.005);
    assert_near(pair(evidence, 2, 3, NULL), 0.2, 0.005);
    evidence_free(evidence);
}

static void predict_half(void *context, size_t program, size_t n, const size_t *beside,
                         double *predicted, double *part)
{
    (void)program;
    (void)beside;
    *predicted = 0.5;
    for (size_t i = 0; i < n; i++)
        part[i] = 1;
    ++*(int *)context;
}

/* What was measured was as predicted, says the better prediction. */
static void review_asks_for_predictions(void **state)
{
    struct evidence *evidence = begin();
    int asked = 0;

    (void)state;
    for (size_t j = 0; j < 5; j++) {
        see(evidence, 0, j, 0.5, 0.01);
        see(evidence, j, 0, 0.5, 0.01);
    }
    see(evidence, 3, 4, 0.2, 0.01);
    evidence_review(evidence, 0, predict_half, &asked);
    assert_int_equal(asked, 9);
    solve(evidence);
    assert_near(evidence_correct(evidence, 0, 1, &(size_t){8}, NULL, 0.5, NULL), 0.5, 0.02);
    evidence_free(evidence);
}

/* More sets of neighbours than are asked about: those that were seen last are. */
static void review_is_bounded(void **state)
{
    struct evidence *evidence = begin();
    int asked = 0;

    (void)state;
    for (size_t j = 0; j < 200; j++)
        see(evidence, 300, j, 0.6, 0.01);
    evidence_review(evidence, 300, predict_half, &asked);
    assert_int_equal(asked, EVIDENCE_REVIEWED_MAX);
    asked = 0;
    evidence_review(evidence, 199, predict_half, &asked);
    assert_int_equal(asked, 1);
    evidence_review(evidence, 0, predict_half, &asked);
    assert_int_equal(asked, 1);
    evidence_free(evidence);
}

/* More sets of neighbours than are kept: the newest are there. */
static void keeps_the_newest(void **state)
{
    struct evidence *evidence = begin();

    (void)state;
    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < 100; j++)
            see(evidence, i, j, 0.2, 0.01);
    see(evidence, 7, 7, 0.9, 0.01);
    for (int i = 0; i < 10000 && evidence_solve(evidence); i++)
        ;
    assert_true(pair(evidence, 7, 7, NULL) > 0.7);
    assert_near(pair(evidence, 199, 99, NULL), 0.2, 0.01);
    evidence_free(evidence);
}

static void figures_out_of_range(void **state)
{
    struct evidence *evidence = begin();
    const size_t one = 1, far = EVIDENCE_PROGRAMS_MAX;
    const double bad = -1;
    const struct evidence_seen good = {
        .program = 0, .n = 1, .beside = &one, .predicted = 0.1, .slowdown = 0.1, .weight = 1};
    struct evidence_seen seen[8] = {good, good, good, good, good, good, good, good};

    (void)state;
    seen[0].n = 0;
    seen[1].n = EVIDENCE_BESIDE_MAX + 1;
    seen[2].beside = &far;
    seen[3].predicted = NAN;
    seen[4].slowdown = INFINITY;
    seen[5].error = -1;
    seen[6].weight = -1;
    seen[7].part = &bad;
    for (size_t i = 0; i < 8; i++) {
        errno = 0;
        assert_int_equal(evidence_observe(evidence, &seen[i]), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(evidence_program(evidence, far, 1), -1);
    assert_int_equal(evidence_program(evidence, 0, 0), -1);
    assert_int_equal(evidence_program(evidence, 0, NAN), -1);
    assert_int_equal(evidence_observe(evidence, &good), 0);
    evidence_free(evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_seen_nothing_corrected),
        cmocka_unit_test(moves_from_prediction_to_measured),
        cmocka_unit_test(two_numbers_a_program),
        cmocka_unit_test(stretch_is_learnt),
        cmocka_unit_test(group_corrects_by_parts),
        cmocka_unit_test(pairs_tell_of_groups),
        cmocka_unit_test(same_neighbour_twice_is_another_set),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(newer_contradiction_counts_more),
        cmocka_unit_test(changed_program_is_forgotten),
        cmocka_unit_test(forgets_on_demand),
        cmocka_unit_test(review_asks_for_predictions),
        cmocka_unit_test(review_is_bounded),
        cmocka_unit_test(keeps_the_newest),
        cmocka_unit_test(figures_out_of_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
