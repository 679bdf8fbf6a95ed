/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_dramon - the AMD Opteron 6174 of Table 4.1 by hand, and the closed sum against all 2^n cases
 * of eq. 4.13. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "models/numa/dramon.h"

/* Table 4.1; a cycle of its DDR3-1333 is 1.5 ns. */
static const struct dramon_hardware amd = {
    .channels = 2,
    .banks = 8,
    .trcd_ns = 13.5,
    .tcas_ns = 13.5,
    .trp_ns = 13.5,
    .tburst_ns = 6,
    .twr_ns = 15,
    .trtrs_ns = 4.5,
    .twtr_ns = 7.5,
    .tck_ns = 1.5,
    .request_bytes = 64,
    .auto_close = 4,
};

static struct dramon_software reader(void)
{
    return (struct dramon_software){
        .issue_rate_single = 30e6,
        .hit = 0.8,
        .miss = 0.1,
        .conflict = 0.1,
        .brd = dramon_brd_runtime,
        .brds = DRAMON_BRDS_RUNTIME,
        .read_ratio = 1,
        .ranks = 1,
        .same_row = NAN,
        .same_bank = NAN,
        .other_channel = NAN,
    };
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
        fail_msg("%.15g, not %.15g", got, wanted);
}

static struct dramon_point at(const struct dramon_software *sw, size_t cores)
{
    struct dramon_point point[128];

    assert_true(cores <= 128);
    assert_int_equal(dramon_curve(&amd, sw, cores, point), 0);
    assert_int_equal(point[cores - 1].cores, cores);
    return point[cores - 1];
}

/* One thread: its own ratios. A miss takes 13.5 + 13.5 + 6 ns, of which three hits' transfers
 * overlap (of 8 that there are; four banks at once), a conflict 13.5 more. */
static void test_one_core(void **state)
{
    struct dramon_software sw = reader();
    struct dramon_point point = at(&sw, 1);

    (void)state;
    assert_near(point.hit, 0.8);
    assert_near(point.miss, 0.1);
    assert_near(point.conflict, 0.1);
    assert_near(point.latency_ns, 0.8 * 6 + 0.1 * (33 - 3 * 6) + 0.1 * (46.5 - 3 * 6));
    assert_near(point.gbps, 2 * 30e6 * 64 / 1e9); /* the thread limits it, not the memory */
    sw.issue_rate_single = 1e9;
    assert_near(at(&sw, 1).gbps, 2 * 64 / point.latency_ns);
}

/* Two threads: the other one is on the channel with probability 1/2. At distance 1 that is one
 * request, fewer than four; at distance 8 it is eight, and the row is closed. */
static void test_two_cores(void **state)
{
    struct dramon_software sw = reader();
    struct dramon_point point = at(&sw, 2);
    double open = 7.0 / 8 + 1.0 / 8 / 2;

    (void)state;
    assert_near(point.hit, 0.8 * open);
    assert_near(point.miss, 0.1 * open + 1.0 / 16);
    assert_near(point.conflict, 0.1 * open);
}

/* Writes: tWR for tCAS and a cycle more for each transfer; the switches of direction and rank. */
static void test_writes(void **state)
{
    struct dramon_software sw = reader();
    double read, write;

    (void)state;
    sw.read_ratio = 0.75;
    sw.wtr = 0.1;
    sw.rtr = 0.2;
    read = 0.8 * 6 + 0.1 * 15 + 0.1 * 28.5;
    write =
        0.8 * 7.5 + 0.1 * (13.5 + 15 + 7.5 - 3 * 7.5) + 0.1 * (13.5 + 13.5 + 15 + 7.5 - 3 * 7.5);
    assert_near(at(&sw, 1).latency_ns, 0.75 * read + 0.25 * write + 0.1 * 7.5 + 0.2 * 4.5);
}

/* Very many threads: a row is never open, a miss overlaps with three others and no hit. */
static void test_many_cores(void **state)
{
    static struct dramon_point point[5000];
    struct dramon_software sw = reader();

    (void)state;
    assert_int_equal(dramon_curve(&amd, &sw, 5000, point), 0);
    assert_true(point[4999].hit < 1e-300 && point[4999].conflict < 1e-300);
    assert_near(point[4999].miss, 1);
    assert_near(point[4999].latency_ns, 15);
    assert_near(point[4999].gbps, 2 * 64 / 15.0);
    for (size_t i = 0; i < 5000; i++) {
        assert_near(point[i].hit + point[i].miss + point[i].conflict, 1);
        assert_true(point[i].latency_ns >= 6 && point[i].gbps <= 2 * 64 / 6.0);
        if (i > 0) /* with no row in common, more co-runners close more rows */
            assert_true(point[i].hit <= point[i - 1].hit + 1e-15);
    }
}

/* One channel: all co-runners are on it, and the fourth of them closes the row. */
static void test_one_channel(void **state)
{
    struct dramon_hardware one = amd;
    struct dramon_software sw = reader();
    struct dramon_brd each = {1, 1};
    struct dramon_point point[6];

    (void)state;
    one.channels = 1;
    sw.brd = &each;
    sw.brds = 1;
    assert_int_equal(dramon_curve(&one, &sw, 6, point), 0);
    assert_near(point[3].hit, 0.8);
    assert_near(point[4].hit, 0);
    assert_near(point[4].miss, 1);
    assert_near(point[0].gbps, 30e6 * 64 / 1e9);
}

/* ---- the sums as the paper has them ---- */

static void enumerate(const struct dramon_software *sw, const double p[4], size_t n,
                      double ratio[3])
{
    const double *single[] = {&sw->hit, &sw->miss, &sw->conflict};
    double row = p[0], bank = p[1], channel = p[2], other = p[3];

    memset(ratio, 0, 3 * sizeof(*ratio));
    for (size_t d = 0; d < sw->brds; d++) {
        double a = pow(1 - bank, (double)n - 1) - pow(channel + other, (double)n - 1);
        double b = 1 - pow(1 - row, (double)n - 1) - a, weight = sw->brd[d].probability;

        ratio[0] += weight * (a + b / 2);
        ratio[2] += weight * b / 2;
        for (unsigned l = 0; l < 1u << (n - 1); l++) {
            double probability = weight, requests = 0;

            for (size_t j = 0; j + 1 < n; j++) {
                probability *= l >> j & 1 ? bank + channel : other;
                requests += l >> j & 1 ? sw->brd[d].distance : 0;
            }
            for (size_t i = 0; requests < amd.auto_close && i < 3; i++)
                ratio[i] += probability * *single[i];
            if (requests >= amd.auto_close)
                ratio[1] += probability;
        }
    }
}

static void check_enumerated(struct dramon_software *sw, const double p[4])
{
    for (size_t n = 1; n <= 14; n++) {
        struct dramon_point point = at(sw, n);
        double ratio[3];

        enumerate(sw, p, n, ratio);
        assert_near(point.hit, ratio[0]);
        assert_near(point.miss, ratio[1]);
        assert_near(point.conflict, ratio[2]);
    }
}

static void test_enumerated(void **state)
{
    static const struct dramon_brd uneven[] = {{0.5, 0.2}, {1.3, 0.3}, {2, 0.4}, {5, 0.1}};
    const double runtime[] = {0, 1.0 / 16, 0.5 - 1.0 / 16, 0.5}, traced[] = {0.1, 0.2, 0.3, 0.4};
    struct dramon_software sw = reader();

    (void)state;
    check_enumerated(&sw, runtime);
    sw.brd = uneven;
    sw.brds = 4;
    check_enumerated(&sw, runtime);
    sw.same_row = traced[0];
    sw.same_bank = traced[1];
    sw.other_channel = traced[3];
    check_enumerated(&sw, traced);
}

/* Against long double, term by term, and where nothing is left to sum. */
static void test_binomial(void **state)
{
    static const size_t most[] = {0, 1, 3, 50, 499, 500, 501, 700, 998, 999};

    (void)state;
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        long double term = powl(0.5L, 1000), sum = term;

        for (size_t k = 0; k < most[i]; k++)
            sum += term *= (long double)(1000 - k) / (long double)(k + 1);
        assert_true(fabs(dramon_binomial(1000, most[i], 0.5, 0.5) / (double)sum - 1) < 1e-10);
    }
    assert_near(dramon_binomial(1000, 1000, 0.5, 0.5), 1);
    assert_near(dramon_binomial(60000, 59999, 0.5, 0.5), 1);
    assert_near(dramon_binomial(60000, 30000, 0.5, 0.5), 0.5 + 0.5 * 0.003257336507);
    assert_true(dramon_binomial(60000, 3, 0.5, 0.5) == 0);
    assert_true(dramon_binomial(4, 3, 1, 0) == 0);
    assert_near(dramon_binomial(4, 4, 1, 0), 1);
    assert_true(dramon_binomial(4, 3, 1, 1e-300) == 0);
    assert_near(dramon_binomial(4, 0, 0, 1), 1);
    assert_near(dramon_binomial(0, 0, 0.3, 0.7), 1);
}

/* Rounded ratios are scaled; others, and every figure that makes no sense, are refused. */
static void test_refused(void **state)
{
    struct dramon_software sw = reader();
    struct dramon_point point, untouched;

    (void)state;
    sw.hit = 0.805;
    assert_near(at(&sw, 1).hit, 0.805 / 1.005);
    memset(&point, 0x5a, sizeof(point));
    untouched = point;
#define REFUSED(field, x)                                                                          \
    do {                                                                                           \
        struct dramon_hardware hw = amd;                                                           \
        sw = reader();                                                                             \
        field = x;                                                                                 \
        errno = 0;                                                                                 \
        assert_int_equal(dramon_curve(&hw, &sw, 1, &point), -1);                                   \
        assert_int_equal(errno, EINVAL);                                                           \
    } while (0)
    REFUSED(sw.hit, 0.9);
    REFUSED(sw.hit, NAN);
    REFUSED(sw.miss, -0.1);
    REFUSED(sw.read_ratio, 1.1);
    REFUSED(sw.issue_rate_single, INFINITY);
    REFUSED(sw.ranks, 0.5);
    REFUSED(sw.brds, 0);
    REFUSED(sw.brds, 1); /* the probabilities of the others are missing */
    REFUSED(sw.same_row, 0.6);
    REFUSED(sw.same_bank, -0.1);
    REFUSED(hw.channels, 0);
    REFUSED(hw.channels, 1.5);
    REFUSED(hw.tburst_ns, 0);
    REFUSED(hw.trcd_ns, -1);
    REFUSED(hw.tck_ns, NAN);
    REFUSED(hw.request_bytes, 0);
    REFUSED(hw.auto_close, -1);
    sw = reader();
    assert_int_equal(dramon_curve(&amd, &sw, 0, &point), -1);
    assert_int_equal(dramon_curve(&amd, &sw, DRAMON_CORES_MAX + 1, &point), -1);
    assert_memory_equal(&point, &untouched, sizeof(point));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_core),    cmocka_unit_test(test_two_cores),
        cmocka_unit_test(test_writes),      cmocka_unit_test(test_many_cores),
        cmocka_unit_test(test_one_channel), cmocka_unit_test(test_enumerated),
        cmocka_unit_test(test_binomial),    cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
