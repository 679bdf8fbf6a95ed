/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nnls - least squares without negative weights: problems whose solution is known, random ones
 * by the conditions of Karush, Kuhn and Tucker and by trying all sets of columns; and on line: what
 * is found, when it is said to be known, and what is forgotten. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "models/energy/nnls.h"
#include "tests/unit/common/noise.h"

static void assert_near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within))
        fail_msg("%.12g, not %.12g", got, wanted);
}

/* Solves A x = b, a[m][n] row by row, by its normal equations. Returns what nnls_gram does. */
static int solve(size_t m, size_t n, const double *a, const double *b, double *x)
{
    double g[NNLS_MAX][NNLS_MAX] = {{0}}, h[NNLS_MAX] = {0};

    for (size_t row = 0; row < m && n <= NNLS_MAX; row++)
        for (size_t i = 0; i < n; i++) {
            h[i] += a[row * n + i] * b[row];
            for (size_t k = 0; k < n; k++)
                g[i][k] += a[row * n + i] * a[row * n + k];
        }
    return nnls_gram(n, (const double(*)[NNLS_MAX])g, h, x);
}

static void test_known(void **state)
{
    static const struct {
        size_t m, n;
        double a[12], b[6], x[3];
    } cases[] = {
        {3, 2, {1, 0, 1, 0, 0, 1}, {2, 1, 1}, {1.5, 1}},
        {3, 2, {1, 0, 1, 0, 0, 1}, {-1, -1, -1}, {0, 0}},
        {2, 2, {1, 0, 0, 1}, {3, -4}, {3, 0}},
        {4,
         2,
         {0.0372, 0.2869, 0.6861, 0.7071, 0.6233, 0.6245, 0.6344, 0.6170},
         {0.8587, 0.1781, 0.0747, 0.8405},
         {0, 0.6929}}, /* the unconstrained one: -2.5, 3.1 */
        {3, 3, {1, 1, 0, 0, 1, 1, 1, 0, 1}, {3, 5, 4}, {1, 2, 3}},
        {2, 2, {1, 1, 1, 1}, {2, 2}, {2, 0}}, /* twice the same column */
        {2, 2, {0, 1, 0, 2}, {1, 2}, {0, 1}}, /* a column of zeros */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double x[3];

        assert_int_equal(solve(cases[i].m, cases[i].n, cases[i].a, cases[i].b, x), 0);
        for (size_t k = 0; k < cases[i].n; k++)
            assert_near(x[k], cases[i].x[k], 1e-4);
    }
}

static void test_nonsense(void **state)
{
    const double a[] = {1, NAN}, b[] = {1, 1}, infinite[] = {1, INFINITY};
    double x[NNLS_MAX] = {7};

    (void)state;
    assert_int_equal(solve(2, 1, a, b, x), -1);
    assert_int_equal(solve(2, 1, b, infinite, x), -1);
    assert_int_equal(solve(2, 0, b, b, x), -1);
    assert_int_equal(solve(1, NNLS_MAX + 1, b, b, x), -1);
    assert_true(x[0] == 7);
    assert_int_equal(solve(0, 2, a, b, x), 0); /* no equations: any x is best, 0 too */
    assert_true(x[0] == 0 && x[1] == 0);
}

static double residual(size_t m, size_t n, const double *a, const double *b, const double *x)
{
    double sum = 0;

    for (size_t row = 0; row < m; row++) {
        double r = b[row];

        for (size_t i = 0; i < n; i++)
            r -= a[row * n + i] * x[i];
        sum += r * r;
    }
    return sum;
}

/* x >= 0, gradient <= 0 where x is 0, and 0 where it is not. */
static void assert_kkt(size_t m, size_t n, const double *a, const double *b, const double *x)
{
    for (size_t i = 0; i < n; i++) {
        double slope = 0, size = 0;

        for (size_t row = 0; row < m; row++) {
            double r = b[row];

            for (size_t k = 0; k < n; k++)
                r -= a[row * n + k] * x[k];
            slope += a[row * n + i] * r;
            size += fabs(a[row * n + i]) * (1 + fabs(b[row]));
        }
        assert_true(x[i] >= 0);
        assert_true(slope <= 1e-8 * size);
        assert_true(x[i] == 0 || slope >= -1e-8 * size);
    }
}

/* With n columns one of the 2^n sets is the right one: none of them does better. */
static void assert_no_set_is_better(size_t m, size_t n, const double *a, const double *b,
                                    double best)
{
    for (unsigned set = 0; set < 1u << n; set++) {
        double part[64], x[4], wide[4] = {0};
        size_t columns = 0;

        for (size_t i = 0; i < n; i++)
            if (set & 1u << i)
                columns++;
        for (size_t row = 0; row < m; row++)
            for (size_t i = 0, k = 0; i < n; i++)
                if (set & 1u << i)
                    part[row * columns + k++] = a[row * n + i];
        if (columns == 0 || solve(m, columns, part, b, x) < 0)
            continue;
        for (size_t i = 0, k = 0; i < n; i++)
            if (set & 1u << i)
                wide[i] = x[k++];
        assert_true(residual(m, n, a, b, wide) >= best * (1 - 1e-9) - 1e-12);
    }
}

static void test_random(void **state)
{
    struct noise noise = {3};
    unsigned bound = 0;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        size_t n = 1 + (size_t)(noise_uniform(&noise) * 4);
        size_t m = n + (size_t)(noise_uniform(&noise) * 8);
        double a[64], b[16], x[4];

        for (size_t i = 0; i < m * n; i++)
            a[i] = noise_normal(&noise);
        for (size_t i = 0; i < m; i++)
            b[i] = noise_normal(&noise);
        assert_int_equal(solve(m, n, a, b, x), 0);
        assert_kkt(m, n, a, b, x);
        assert_no_set_is_better(m, n, a, b, residual(m, n, a, b, x));
        for (size_t i = 0; i < n; i++)
            bound += x[i] == 0;
    }
    assert_true(bound > 2000); /* the constraint was worth its name */
}

/* ---- on line ---- */

#define COLUMNS 4
static const double truth[COLUMNS] = {40, 3, 1.5, 0.8}; /* W; W a busy core, a G/s, a GB/s */

static double power(const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < COLUMNS; i++)
        sum += truth[i] * x[i];
    return sum;
}

static void draw(struct noise *noise, double *x)
{
    x[0] = 1;
    x[1] = 16 * noise_uniform(noise);
    x[2] = x[1] * (0.5 + 3 * noise_uniform(noise));
    x[3] = x[1] * 4 * noise_uniform(noise);
}

static void test_fit(void **state)
{
    struct noise noise = {5};
    struct nnls_fit fit;
    double x[COLUMNS], w[NNLS_MAX];

    (void)state;
    nnls_fit_init(&fit, COLUMNS, 300);
    assert_false(nnls_fit_weights(&fit, 15, 0.05, w));
    for (int i = 0; i < 6; i++) {
        draw(&noise, x);
        nnls_fit_add(&fit, x, power(x) + 0.5 * noise_normal(&noise));
    }
    assert_false(nnls_fit_weights(&fit, 15, 0.05, w)); /* too few */
    for (int i = 0; i < 300; i++) {
        draw(&noise, x);
        nnls_fit_add(&fit, x, power(x) + 0.5 * noise_normal(&noise));
    }
    assert_true(nnls_fit_weights(&fit, 15, 0.05, w));
    for (size_t i = 0; i < COLUMNS; i++)
        assert_near(w[i], truth[i], 0.1 * truth[i]);
    x[1] = NAN;
    nnls_fit_add(&fit, x, 1); /* no sample */
    assert_true(nnls_fit_weights(&fit, 15, 0.05, w));
    nnls_fit_weights(&fit, 3, 0.05, w);
    assert_true(w[2] == 0 && w[3] == 0);
}

/* A load that never changes tells nothing of the idle power, nor one whose instructions always go
 * with its busy time of these. */
static void test_not_determined(void **state)
{
    struct noise noise = {6};
    struct nnls_fit fit;
    double w[NNLS_MAX];

    (void)state;
    nnls_fit_init(&fit, COLUMNS, 300);
    for (int i = 0; i < 200; i++) {
        double x[COLUMNS] = {1, 8, 16, 4};

        nnls_fit_add(&fit, x, power(x) + 0.5 * noise_normal(&noise));
    }
    assert_false(nnls_fit_weights(&fit, 3, 0.05, w));
    assert_true(nnls_fit_weights(&fit, 1, 0.05, w)); /* the mean power is known, of course */
    assert_near(w[0], 40 + 24 + 24 + 3.2, 0.5);
    nnls_fit_init(&fit, COLUMNS, 300);
    for (int i = 0; i < 200; i++) {
        double busy = 16 * noise_uniform(&noise), x[COLUMNS] = {1, busy, 2 * busy, 0};

        nnls_fit_add(&fit, x, power(x) + 0.5 * noise_normal(&noise));
    }
    assert_false(nnls_fit_weights(&fit, 15, 0.05, w));
    assert_false(nnls_fit_weights(&fit, 7, 0.05, w));
    assert_true(nnls_fit_weights(&fit, 3, 0.05, w));
    assert_near(w[0], 40, 2);
    assert_near(w[1], 6, 0.3);
}

/* Much noise and few samples: not known well enough. */
static void test_noise(void **state)
{
    struct noise noise = {8};
    struct nnls_fit fit;
    double x[COLUMNS], w[NNLS_MAX];

    (void)state;
    nnls_fit_init(&fit, COLUMNS, 300);
    for (int i = 0; i < 12; i++) {
        draw(&noise, x);
        nnls_fit_add(&fit, x, power(x) + 60 * noise_normal(&noise));
    }
    assert_false(nnls_fit_weights(&fit, 15, 0.05, w));
}

/* What idleness has shown outlives a day of one load; what a load has shown follows the load. */
static void test_forgetting(void **state)
{
    struct noise noise = {9};
    struct nnls_fit fit;
    double w[NNLS_MAX];

    (void)state;
    nnls_fit_init(&fit, COLUMNS, 300);
    for (int i = 0; i < 500; i++) {
        double x[COLUMNS] = {1, i % 2 ? 8 : 0, 0, 0};

        nnls_fit_add(&fit, x, power(x) + 0.2 * noise_normal(&noise));
    }
    for (int i = 0; i < 86400; i++) {
        double x[COLUMNS] = {1, 8, 0, 0};

        nnls_fit_add(&fit, x, power(x) + 0.2 * noise_normal(&noise));
    }
    assert_true(nnls_fit_weights(&fit, 3, 0.05, w));
    assert_near(w[0], 40, 0.5);
    assert_near(w[1], 3, 0.1);
    for (int i = 0; i < 3000; i++) { /* the cores get slower */
        double x[COLUMNS] = {1, i % 2 ? 8 : 0, 0, 0};

        nnls_fit_add(&fit, x, 40 + 2 * x[1] + 0.2 * noise_normal(&noise));
    }
    assert_true(nnls_fit_weights(&fit, 3, 0.05, w));
    assert_near(w[1], 2, 0.05);
    assert_near(nnls_fit_size(&fit, 1), sqrt(32), 0.6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),          cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_fit),
        cmocka_unit_test(test_not_determined), cmocka_unit_test(test_noise),
        cmocka_unit_test(test_forgetting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
