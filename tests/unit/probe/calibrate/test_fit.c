/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fit - medians, the line of Figure 5.4, and the ways between the nodes of recorded
 * machines. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/calibrate/fit.h"

static void assert_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.12g, not %.12g", got, wanted);
}

static void test_figure(void **state)
{
    double odd[] = {11, 8, 10}, even[] = {4, 1, 2, 3}, one[] = {7}, none[] = {0, 0},
           lost[] = {INFINITY, 2, NAN, 1, 3}, gone[] = {INFINITY};
    struct machine_figure figure = calibrate_figure(odd, 3);

    (void)state;
    assert_near(figure.value, 10, 0);
    assert_near(figure.spread, 0.3, 1e-12);
    figure = calibrate_figure(even, 4);
    assert_near(figure.value, 2.5, 0);
    assert_near(figure.spread, 3 / 2.5, 1e-12);
    assert_true(calibrate_figure(one, 1).value == 7 && isnan(calibrate_figure(one, 1).spread));
    assert_true(isnan(calibrate_figure(none, 2).spread));
    assert_near(calibrate_figure(lost, 5).value, 2, 0);
    assert_true(isnan(calibrate_figure(gone, 1).value));
}

static void test_line(void **state)
{
    const double x[] = {0, 1, 2, 3}, down[] = {8, 6, 4, 2}, flat[] = {5, 5, 5, 5},
                 scattered[] = {1, 3, 2, 4};
    struct calibrate_line line;

    (void)state;
    assert_int_equal(calibrate_line(4, x, down, &line), 0);
    assert_near(line.intercept, 8, 1e-12);
    assert_near(line.slope, -2, 1e-12);
    assert_near(line.correlation, -1, 1e-12);
    assert_int_equal(calibrate_line(4, x, flat, &line), 0);
    assert_near(line.slope, 0, 0);
    assert_near(line.correlation, 0, 0);
    assert_int_equal(calibrate_line(4, x, scattered, &line), 0);
    assert_near(line.slope, 0.8, 1e-12);
    assert_near(line.intercept, 1.3, 1e-12);
    assert_near(line.correlation, 0.8, 1e-12);
    assert_int_equal(calibrate_line(1, x, down, &line), -1);
    assert_int_equal(calibrate_line(4, flat, x, &line), -1);
}

/* Points as in Figure 5.4 of the Intel X7550, 20.26 - 0.24 * demand, with noise; one run went wrong
 * and does not matter. */
static void test_contention(void **state)
{
    const double demand[] = {0, 2.5, 5, 7.5, 10, 12, 13.5, 14.5, 15};
    double out[5 * 9];
    struct machine_node node = {.cores = 8};

    (void)state;
    for (size_t r = 0; r < 5; r++)
        for (size_t k = 0; k < 9; k++)
            out[r * 9 + k] = (r == 4 ? 5 : 20.26) - 0.24 * demand[k] +
                             0.2 * ((double)((r * 7 + k * 5) % 9) / 4 - 1);
    assert_int_equal(calibrate_contention(&node, 9, 5, demand, out), 0);
    assert_near(node.alpha.value, 20.26, 0.3);
    assert_near(node.beta.value, 0.24, 0.03);
    assert_true(node.alpha.spread > 0.5);
    assert_int_equal(calibrate_contention(&node, 9, 4, demand, out), 0);
    assert_near(node.alpha.spread, 0, 0.03);
    assert_true(node.correlation > 0.95 && node.correlation <= 1);
}

/* More demand did not hurt the others: nothing is kept from them. No line: the node stays. */
static void test_no_contention(void **state)
{
    const double demand[] = {0, 5, 10}, out[] = {20, 20.1, 20.2}, same[] = {5, 5, 5};
    struct machine_node node = {.alpha = {7, NAN}};

    (void)state;
    assert_int_equal(calibrate_contention(&node, 3, 1, same, out), -1);
    assert_true(node.alpha.value == 7);
    assert_int_equal(calibrate_contention(&node, 3, 1, demand, out), 0);
    assert_near(node.beta.value, 0, 0);
    assert_near(node.alpha.value, 20, 1e-9);
}

/* ---- routes ---- */

static struct machine_profile *machine(size_t nodes)
{
    size_t cores[MACHINE_NODES_MAX] = {0};
    struct machine_profile *profile;

    for (size_t i = 0; i < nodes; i++)
        cores[i] = 1;
    profile = machine_profile_new(nodes, cores);
    assert_non_null(profile);
    for (size_t i = 0; i < nodes * nodes; i++)
        profile->uni[i].value = 1;
    return profile;
}

/* "0-2-6" */
static void assert_way(const struct machine_profile *profile, const char *wanted)
{
    size_t from = (size_t)(wanted[0] - '0'), to = (size_t)(wanted[strlen(wanted) - 1] - '0');
    const struct machine_route *route = machine_profile_route(profile, from, to);

    assert_int_equal(route->hops, strlen(wanted) / 2);
    for (size_t i = 0; i <= route->hops; i++)
        assert_int_equal(route->node[i], wanted[2 * i] - '0');
}

/* The distances of four Opterons of two nodes each, as their firmware tells them. */
/* clang-format off */
static const unsigned opteron[] = {
    10, 16, 16, 22, 16, 22, 16, 22,
    16, 10, 22, 16, 16, 22, 22, 16,
    16, 22, 10, 16, 16, 16, 16, 16,
    22, 16, 16, 10, 16, 16, 22, 22,
    16, 16, 16, 16, 10, 16, 16, 22,
    22, 22, 16, 16, 16, 10, 22, 16,
    16, 22, 16, 22, 16, 22, 10, 16,
    22, 16, 16, 22, 22, 16, 16, 10,
};
/* clang-format on */

static void test_two_hops(void **state)
{
    struct machine_profile *profile = machine(8);

    (void)state;
    for (size_t i = 0; i < 8; i++) /* within a package the link is wider */
        profile->uni[i * 8 + (i ^ 1)].value = 4.9;
    profile->uni[0 * 8 + 2].value = 2.1;
    assert_int_equal(calibrate_routes(profile, opteron), 0);
    assert_way(profile, "0-1");
    assert_way(profile, "0-2");
    assert_way(profile, "0-2-3"); /* 2.1, 4.9: wider than over 1 */
    assert_way(profile, "3-1-0"); /* both ways 1: the lower node */
    assert_way(profile, "5-2-0"); /* not over 4: its second link is as narrow */
    assert_way(profile, "7-1-0");
    assert_way(profile, "5-4");
    assert_int_equal(machine_profile_route(profile, 0, 0)->hops, 0);
    machine_profile_free(profile);
}

/* Each to each alike, as in Figure 3.2: a link of its own for every pair. */
static void test_full(void **state)
{
    const unsigned distance[] = {10, 21, 21, 21, 21, 10, 21, 21, 21, 21, 10, 21, 21, 21, 21, 10};
    struct machine_profile *profile = machine(4);

    (void)state;
    assert_int_equal(calibrate_routes(profile, distance), 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(machine_profile_route(profile, i, j)->hops, i != j);
    machine_profile_free(profile);
}

/* A chain of five, in distances that grow with each link; bandwidths that are not known. */
static void test_chain(void **state)
{
    unsigned distance[25];
    struct machine_profile *profile = machine(5);

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            distance[i * 5 + j] = 10 + 5 * (unsigned)abs(i - j);
            profile->uni[i * 5 + j].value = NAN;
        }
    assert_int_equal(calibrate_routes(profile, distance), 0);
    assert_way(profile, "0-1-2-3-4");
    assert_way(profile, "4-3-2-1-0");
    assert_way(profile, "1-2-3");
    machine_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure),     cmocka_unit_test(test_line),
        cmocka_unit_test(test_contention), cmocka_unit_test(test_no_contention),
        cmocka_unit_test(test_two_hops),   cmocka_unit_test(test_full),
        cmocka_unit_test(test_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
