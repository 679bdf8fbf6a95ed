/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_margins - traffic between pairs of nodes from its sums. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/numa/margins.h"

#define N 5

static double sum(const double *number, size_t stride)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++)
        sum += number[i * stride];
    return sum;
}

static void believe(double *matrix)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            matrix[i * N + j] = i == j ? 0 : 1;
}

/* Of random matrices with an empty diagonal: both sums are met, and the diagonal stays empty. */
static void test_sums(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 200; round++) {
        double real[N * N], fitted[N * N], rows[N], columns[N];

        for (size_t k = 0; k < N * N; k++)
            real[k] = k / N == k % N ? 0 : 1 + rand_r(&seed) % 1000;
        for (size_t i = 0; i < N; i++) {
            rows[i] = sum(real + i * N, 1);
            columns[i] = sum(real + i, N);
        }
        believe(fitted);
        margins_fit(N, rows, columns, fitted);
        for (size_t i = 0; i < N; i++) {
            assert_true(fabs(sum(fitted + i * N, 1) - rows[i]) < 1e-6 * rows[i]);
            assert_true(fabs(sum(fitted + i, N) - columns[i]) < 1e-9 * columns[i]);
            assert_true(fitted[i * N + i] == 0);
        }
    }
}

/* All at one memory leaves no choice; nothing at all is nothing. */
static void test_one_memory(void **state)
{
    const double rows[N] = {0, 3, 4, 0, 5}, columns[N] = {12, 0, 0, 0, 0}, none[N] = {0};
    double fitted[N * N];

    (void)state;
    believe(fitted);
    margins_fit(N, rows, columns, fitted);
    for (size_t k = 0; k < N * N; k++)
        assert_true(fabs(fitted[k] - (k % N == 0 ? rows[k / N] : 0)) < 1e-12);
    believe(fitted);
    margins_fit(N, none, none, fitted);
    assert_true(sum(fitted, 1) == 0);
}

/* Without rows what is believed is scaled: a ring stays one. */
static void test_columns(void **state)
{
    const double columns[N] = {5, 4, 3, 2, 1};
    double ring[N * N] = {0};

    (void)state;
    for (size_t i = 0; i < N; i++)
        ring[i * N + (i + 1) % N] = 7;
    margins_fit(N, NULL, columns, ring);
    for (size_t i = 0; i < N; i++)
        assert_true(ring[i * N + (i + 1) % N] == columns[(i + 1) % N]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_one_memory),
                                       cmocka_unit_test(test_columns)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
