/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_matching - the perfect policy against exhaustive search on small cases of all kinds, and
 * against what another solver (LEMON 1.3.1) found on large ones. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/partition/blossom.h"
#include "models/partition/matching.h"

#define SMALL_MAX 9

/* The same sequence on every run and every machine (xorshift). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double next_fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* The least sum when the programs in `done` are settled and that many cores may stay idle. */
static double search(size_t n, const double *degradation, unsigned done, size_t idle)
{
    double best = INFINITY;
    size_t i = 0;

    while (i < n && (done >> i & 1))
        i++;
    if (i == n)
        return 0;
    done |= 1u << i;
    if (idle > 0)
        best = search(n, degradation, done, idle - 1);
    for (size_t j = i + 1; j < n; j++)
        if (!(done >> j & 1))
            best = fmin(best, degradation[i * n + j] + degradation[j * n + i] +
                                  search(n, degradation, done | 1u << j, idle));
    return best;
}

/* mate is a matching that leaves at most that many cores idle, and costs that much. */
static void check_matching(size_t n, const double *degradation, size_t idle, const size_t *mate,
                           double total)
{
    size_t alone = 0;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        assert_true(mate[i] < n);
        assert_int_equal(mate[mate[i]], i);
        alone += mate[i] == i;
        if (mate[i] != i)
            sum += degradation[i * n + mate[i]];
    }
    assert_true(alone <= idle);
    assert_true(fabs(total - sum) <= 1e-12 * fabs(sum));
}

enum kind { FRACTIONS, TIES, SIGNED, ZERO, FORBIDDEN, GAINS, CLASSES, TINY, KINDS };

static double element(enum kind kind, size_t i, size_t j, uint64_t *random)
{
    switch (kind) {
    case FRACTIONS:
        return next_fraction(random);
    case TIES:
        return (double)(next_random(random) % 3);
    case SIGNED:
        return (double)(next_random(random) % 5) - 2;
    case FORBIDDEN:
        return next_random(random) % 3 ? next_fraction(random) : 1e12;
    case GAINS:
        return -(double)(next_random(random) % 100);
    case CLASSES:
        return (double)((i % 3) * (j % 3));
    case TINY:
        return next_fraction(random) * 1e-300;
    default:
        return 0;
    }
}

static void test_exhaustive(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        size_t n = next_random(&random) % (SMALL_MAX + 1);
        size_t spare = next_random(&random) % 3 ? 0 : next_random(&random) % (n + 2);
        size_t pairs = (n + 1) / 2 + spare, mate[SMALL_MAX];
        double degradation[SMALL_MAX * SMALL_MAX], total, least;

        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                degradation[i * n + j] = element((enum kind)(round % KINDS), i, j, &random);
        for (size_t i = 0; i < n; i++) /* nobody runs beside itself */
            degradation[i * n + i] = -1e6;
        assert_int_equal(matching_pairs(n, degradation, pairs, mate, &total), 0);
        check_matching(n, degradation, 2 * pairs - n, mate, total);
        least = search(n, degradation, 0, 2 * pairs - n);
        assert_true(fabs(total - least) <= 1e-12 * fabs(least));
    }
}

/* ---- large ones: whole numbers, so that two solvers agree to the last digit ---- */

static void uniform(size_t n, double *degradation, uint64_t *random)
{
    for (size_t i = 0; i < n * n; i++)
        degradation[i] = (double)(next_random(random) % 1000000);
}

static void ties(size_t n, double *degradation, uint64_t *random)
{
    for (size_t i = 0; i < n * n; i++)
        degradation[i] = (double)(next_random(random) % 10);
}

/* What one is sensitive to is what the other brings: like Pain, and hard for a matching. */
static void products(size_t n, double *degradation, uint64_t *random)
{
    uint64_t sensitive[512], intense[512];

    for (size_t i = 0; i < n; i++) {
        sensitive[i] = next_random(random) % 1000;
        intense[i] = next_random(random) % 1000;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            degradation[i * n + j] = (double)(sensitive[i] * intense[j]);
}

/* Clusters of three: one of each has to go elsewhere. */
static void triples(size_t n, double *degradation, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            degradation[i * n + j] =
                i / 3 == j / 3 ? 0 : (double)(1000000 + next_random(random) % 1000);
}

static void plane(size_t n, double *degradation, uint64_t *random)
{
    int64_t x[512], y[512];

    for (size_t i = 0; i < n; i++) {
        x[i] = (int64_t)(next_random(random) % 100000);
        y[i] = (int64_t)(next_random(random) % 100000);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            degradation[i * n + j] = (double)(llabs(x[i] - x[j]) + llabs(y[i] - y[j]));
}

static void signs(size_t n, double *degradation, uint64_t *random)
{
    for (size_t i = 0; i < n * n; i++)
        degradation[i] = (double)(next_random(random) % 2000001) - 1000000;
}

static const struct {
    void (*make)(size_t n, double *degradation, uint64_t *random);
    size_t n;
    double total; /* as LEMON's MaxWeightedPerfectMatching found it */
} large[] = {
    {uniform, 60, 7130755},
    {uniform, 151, 8923096},
    {uniform, 200, 11400412},
    {uniform, 301, 13198193},
    {ties, 60, 36},
    {ties, 151, 38},
    {ties, 200, 33},
    {products, 60, 9231568},
    {products, 151, 23422123},
    {products, 200, 34209970},
    {products, 301, 54167993},
    {triples, 60, 20001146},
    {triples, 151, 50001753},
    {triples, 200, 66002141},
    {triples, 301, 100002641},
    {plane, 60, 654372},
    {plane, 151, 967456},
    {plane, 200, 1174602},
    {signs, 60, -46343397},
    {signs, 151, -131370173},
    {signs, 200, -177307736},
};

static void test_large(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        size_t n = large[i].n;
        double *degradation = calloc(n * n, sizeof(*degradation)), total;
        size_t *mate = calloc(n, sizeof(*mate));
        uint64_t random = 88172645463325252u + n;

        assert_non_null(degradation);
        assert_non_null(mate);
        large[i].make(n, degradation, &random);
        assert_int_equal(matching_pairs(n, degradation, (n + 1) / 2, mate, &total), 0);
        check_matching(n, degradation, n % 2, mate, total);
        assert_true(total == large[i].total);
        free(degradation);
        free(mate);
    }
}

/* ---- what is said at once ---- */

static void test_by_hand(void **state)
{
    /* a suffers beside b only, b beside nobody: a and c, b and d; or a and d, b and c */
    const double four[] = {0, 9, 1, 2, 0, 0, 3, 1, 0, 0, 0, 9, 0, 0, 9, 0};
    const double two[] = {5, 1, 2, 7}, one[] = {9};
    size_t mate[4];
    double total = 7;

    (void)state;
    assert_int_equal(matching_pairs(4, four, 2, mate, &total), 0);
    assert_int_equal(mate[0], 2);
    assert_int_equal(mate[1], 3);
    assert_true(total == 2);
    assert_int_equal(matching_pairs(2, two, 1, mate, &total), 0);
    assert_int_equal(mate[0], 1);
    assert_true(total == 3);
    /* a cache more, and they need not meet */
    assert_int_equal(matching_pairs(2, two, 2, mate, &total), 0);
    assert_int_equal(mate[0], 0);
    assert_true(total == 0);
    assert_int_equal(matching_pairs(2, two, 1000000, mate, &total), 0);
    assert_int_equal(matching_pairs(1, one, 1, mate, &total), 0);
    assert_int_equal(mate[0], 0);
    assert_true(total == 0);
    assert_int_equal(matching_pairs(0, one, 0, mate, &total), 0);
}

static void test_refusals(void **state)
{
    double degradation[9] = {0};
    size_t mate[3] = {7, 7, 7};
    double total = 7;

    (void)state;
    errno = 0;
    assert_int_equal(matching_pairs(3, degradation, 1, mate, &total), -1);
    assert_int_equal(errno, EINVAL);
    degradation[1] = NAN;
    errno = 0;
    assert_int_equal(matching_pairs(3, degradation, 2, mate, &total), -1);
    assert_int_equal(errno, EINVAL);
    degradation[1] = -INFINITY;
    assert_int_equal(matching_pairs(3, degradation, 2, mate, &total), -1);
    degradation[1] = degradation[3] = 1e308;
    assert_int_equal(matching_pairs(3, degradation, 2, mate, &total), -1);
    assert_int_equal(
        matching_pairs(BLOSSOM_VERTICES_MAX, degradation, BLOSSOM_VERTICES_MAX, mate, &total), -1);
    assert_int_equal(mate[0], 7);
    assert_true(total == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
