/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_adapt - equations 6.1 and 6.3, Table 6.6, apsi beside fma3d, each rule of change, the
 * policies, and the fit of coefficients that are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "models/inside/adapt.h"
#include "tests/unit/common/noise.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_equations(void **state)
{
    struct adapt_program a = {.threads = 32, .sys = 1.5, .lat = 99, .lock = 10, .mpa = 0.25};
    struct adapt_program b = {.threads = 16, .sys = 99, .lat = 5, .lock = 99, .mpa = 99};

    (void)state;
    assert_true(near(adapt_paap(&adapt_pusukuri, &a, &b, 64),
                     65.2 - 0.6 * 10 - 0.8 * 5 - 9.6 * 0.25 - 10.2 * 1.5 + 7.8 * 4));
    assert_true(near(adapt_pacc(&adapt_pusukuri, &a, 24), 18.6 - 0.3 * 10 + 32.5 * 0.75));
}

/* ---- Table 6.6 ---- */

/* fluidanimate and swim: what eq. 6.3 makes of the predictions for 40 and 24 cores is their lock
 * time; what eq. 6.1 then makes of those for all cores is 0.8 lat_b + 9.6 mpa_a + 10.2 sys_a, which
 * is put into the partner's latency and the system time here, in any parts. */
static const struct adapt_program fa_sm[] = {
    {.threads = 49, .lock = 2.1, .lat = 27.4 / 2 / .8, .sys = 23.1 / 2 / 10.2},
    {.threads = 32, .lock = 4.6, .lat = 23.1 / 2 / .8, .sys = 27.4 / 2 / 10.2},
};

static void test_table(void **state)
{
    static const unsigned configuration[] = {64, 64, 40, 24};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, fa_sm, 2, configuration};
    double usr[2];

    (void)state;
    adapt_predict(&question, 0, usr);
    assert_true(fabs(usr[0] - 56.4) < .05 && fabs(usr[1] - 45.2) < .05 + .1);
    adapt_predict(&question, 1, usr);
    assert_true(fabs(usr[0] - 44.5) < .05 && fabs(usr[1] - 41.6) < .05);
    assert_int_equal(adapt_best(&question), 0);
    assert_true(adapt_is_all(&question, 0) && !adapt_is_all(&question, 1));
}

/* ---- apsi and fma3d ---- */

static const struct adapt_program apsi = {
    .threads = 16, .lock = 40, .lat = 5, .sys = .5, .mpa = .2};
static const struct adapt_program fma3d[] = {
    {.threads = 56, .lock = 70, .lat = 25, .sys = 1, .mpa = .2}, /* the first 11 s */
    {.threads = 56, .lock = 5, .lat = 2, .sys = 1, .mpa = .2},
};

/* A series that is made up: what is measured is what the present configuration's model says of the
 * phase, and noise. The phase ends amid the sixth interval. */
static void test_apsi(void **state)
{
    struct adapt_program program[] = {apsi, fma3d[0]};
    unsigned configuration[2 * ADAPT_CANDIDATES_MAX], *own;
    size_t n = adapt_candidates(&adapt_pusukuri, 64, 2, program, NULL, configuration);
    struct adapt_question question = {&adapt_pusukuri, 64, 2, program, n, configuration};
    struct adapt adapt = {.present = adapt_best(&question)};
    struct noise noise = {6};

    (void)state;
    own = &configuration[2 * adapt.present];
    assert_true(own[0] == 16 && own[1] == 48);
    for (unsigned second = 0; second < 120; second += 2) {
        double usr[2], used[2] = {60 + noise_uniform(&noise), 58 + noise_uniform(&noise)};
        bool changed;

        program[1] = fma3d[second >= 12];
        adapt_predict(&question, adapt.present, usr);
        usr[0] += noise_normal(&noise);
        usr[1] += noise_normal(&noise);
        changed = adapt_interval(&adapt, &question, &(struct adapt_measured){usr, used});
        assert_int_equal(changed, second == 14); /* the second interval of the other phase */
    }
    assert_int_equal(adapt.changes, 1);
    assert_true(adapt_is_all(&question, adapt.present));
}

/* ---- the rules, one by one ---- */

static bool interval(struct adapt *adapt, const struct adapt_question *question, double a, double b,
                     double used_a, double used_b)
{
    double usr[] = {a, b}, used[] = {used_a, used_b};

    return adapt_interval(adapt, question, &(struct adapt_measured){usr, used});
}

static void test_rules(void **state)
{
    static const unsigned configuration[] = {64, 64, 40, 24};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, fa_sm, 2, configuration};
    struct adapt adapt = {.present = 1};

    (void)state;
    /* alpha: by more than 6 points, in sets only */
    assert_false(interval(&adapt, &question, 50, 50, 80, 74));
    assert_true(interval(&adapt, &question, 50, 50, 80, 73.9));
    assert_int_equal(adapt.why, ADAPT_UNEVEN);
    assert_int_equal(adapt.present, 0);
    assert_false(interval(&adapt, &question, 50, 50, 80, 10));
    assert_int_equal(adapt.why, ADAPT_NO_REASON);

    /* beta: for two intervals; all cores are the best there is, and stay */
    adapt = (struct adapt){.present = 1};
    assert_false(interval(&adapt, &question, 60, 50, NAN, NAN));
    assert_false(interval(&adapt, &question, 55, 50, NAN, NAN));
    assert_false(interval(&adapt, &question, 59, 50, NAN, NAN)); /* back */
    assert_int_equal(adapt.why, ADAPT_NO_REASON);
    assert_false(interval(&adapt, &question, 54.9, 50, NAN, NAN));
    assert_true(interval(&adapt, &question, 54.9, 50, NAN, NAN));
    assert_int_equal(adapt.why, ADAPT_FELL);
    for (double usr = 90; usr > 50; usr -= 5) {
        assert_false(interval(&adapt, &question, usr, usr, NAN, NAN));
        assert_int_equal(adapt.why, usr <= 80 ? ADAPT_FELL : ADAPT_NO_REASON);
    }

    /* gamma: all cores promise 50.8 */
    adapt = (struct adapt){.present = 1};
    assert_false(interval(&adapt, &question, 43, 43, NAN, NAN)); /* no more than 8 */
    assert_false(interval(&adapt, &question, 42, 42, NAN, NAN));
    assert_false(interval(&adapt, &question, 43, 43, NAN, NAN)); /* not twice in a row */
    assert_false(interval(&adapt, &question, 42, 42, NAN, NAN));
    assert_true(interval(&adapt, &question, 42, 42, NAN, NAN));
    assert_int_equal(adapt.why, ADAPT_PROMISED);

    /* what is not known is no reason */
    adapt = (struct adapt){.present = 1};
    for (int i = 0; i < 5; i++)
        assert_false(interval(&adapt, &question, NAN, 10, NAN, 10));
}

/* Where none of them brings what is promised, each is tried once, and there is an end. */
static void test_no_end_of_promises(void **state)
{
    struct adapt_program program[] = {{.threads = 8, .sys = 6}, {.threads = 8, .sys = 6}};
    unsigned configuration[ADAPT_CANDIDATES_MAX * 2];
    size_t n = adapt_candidates(&adapt_pusukuri, 8, 2, program, NULL, configuration);
    struct adapt_question question = {&adapt_pusukuri, 8, 2, program, n, configuration};
    struct adapt adapt = {.present = adapt_best(&question)};

    (void)state;
    assert_true(configuration[2 * adapt.present] == 4); /* of equal ones the most even */
    for (int i = 0; i < 100; i++)
        interval(&adapt, &question, 5, 5, 50, 50);
    assert_true(adapt.changes > 0 && adapt.changes < n);
}

/* ---- entering, leaving, policies ---- */

static void test_enter_and_leave(void **state)
{
    static const unsigned configuration[] = {16, 48, 64, 64};
    struct adapt_program program[] = {apsi, fma3d[0]};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, program, 2, configuration};
    struct adapt_limits limits = {.mpa = .3, .lock = 5};
    unsigned cores[] = {10, 23, 31};

    (void)state;
    assert_int_equal(adapt_enter(&question, &limits, 1), 0);
    program[1] = (struct adapt_program){.threads = 56, .lock = 5, .mpa = .3, .lat = 100};
    assert_int_equal(adapt_enter(&question, &limits, 1), 1); /* whatever is predicted */
    adapt_leave(3, cores, 1, true);
    assert_true(cores[0] == 10 && cores[1] == 0 && cores[2] == 31);
    cores[1] = 23;
    adapt_leave(3, cores, 1, false);
    assert_true(cores[0] == 22 && cores[1] == 0 && cores[2] == 42);
}

static void test_policies(void **state)
{
    static const unsigned configuration[] = {64, 64, 32, 32};
    struct adapt_program program[] = {{.threads = 8, .lock = 1}, {.threads = 8, .lock = 1}};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, program, 2, configuration};
    struct adapt_limits limits = {.mpa = .3, .lock = 5};
    struct adapt_policy policy[2];

    (void)state;
    adapt_policies(&question, &limits, 0, policy);
    assert_true(!policy[0].interleave && !policy[0].faithful && !policy[1].faithful);
    program[1].lock = 50;
    adapt_policies(&question, &limits, 0, policy);
    assert_true(!policy[0].interleave && policy[1].interleave);
    assert_true(policy[0].faithful && policy[1].faithful); /* one class on all cores */
    adapt_policies(&question, &limits, 1, policy);         /* each by itself in sets */
    assert_true(!policy[0].interleave && !policy[0].faithful);
    assert_true(policy[1].interleave && policy[1].faithful);
}

/* ---- equal ones ---- */

/* Programs with as many threads as each other are predicted the same mean in any sets: whatever
 * their other figures round to, they have as many cores, too. */
static void test_ties(void **state)
{
    static const double figures[][4] = {{2, 25, 44.4, .5}, {.3, 7.7, 12.1, .37}, {1.1, 3, 60, .9}};
    unsigned configuration[4 * ADAPT_CANDIDATES_MAX];

    (void)state;
    for (unsigned threads = 17; threads < 200; threads++)
        for (size_t k = 0; k < 3; k++)
            for (size_t n = 2; n <= 4; n++) {
                struct adapt_program one = {.threads = threads,
                                            .sys = figures[k][0],
                                            .lat = figures[k][1],
                                            .lock = figures[k][2],
                                            .mpa = figures[k][3]};
                struct adapt_program program[] = {one, one, one, one};
                struct adapt_question question = {&adapt_pusukuri, 64, n,
                                                  program,         0,  configuration};
                const unsigned *own = configuration;

                question.configurations =
                    adapt_candidates(&adapt_pusukuri, 64, n, program, NULL, configuration);
                own += n * adapt_best(&question);
                for (size_t i = 1; i < n; i++)
                    assert_in_range(own[i], own[0], own[0] + 1);
            }
}

/* The order of the list does not matter; what promises more does. */
static void test_most_even(void **state)
{
    static const unsigned configuration[] = {16, 48, 40, 24, 32, 32};
    struct adapt_program program[] = {{.threads = 73, .lock = 44.4}, {.threads = 73, .lock = 44.4}};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, program, 3, configuration};

    (void)state;
    assert_int_equal(adapt_best(&question), 2);
    program[1].threads = 72;
    assert_int_equal(adapt_best(&question), 0);
}

/* ---- candidates ---- */

static void test_candidates(void **state)
{
    static const unsigned wanted[] = {64, 64, 32, 32, 24, 40, 40, 24, 16, 48, 48, 16};
    static const unsigned two[] = {2, 2, 1, 1}, least[] = {20, 30};
    struct adapt_program program[4] = {apsi, fma3d[0], fma3d[1], apsi};
    unsigned out[ADAPT_CANDIDATES_MAX * 4];

    (void)state;
    assert_int_equal(adapt_candidates(&adapt_pusukuri, 64, 2, program, NULL, out), 6);
    assert_memory_equal(out, wanted, sizeof(wanted));
    assert_int_equal(adapt_candidates(&adapt_pusukuri, 2, 2, program, NULL, out), 2);
    assert_memory_equal(out, two, sizeof(two));
    assert_int_equal(adapt_candidates(&adapt_pusukuri, 64, 2, program, least, out), 3);
    assert_true(out[2] == 32 && out[3] == 32 && out[4] == 24);
    assert_int_equal(adapt_candidates(&adapt_pusukuri, 8, 1, program, NULL, out), 1);
    assert_int_equal(adapt_candidates(&adapt_pusukuri, 3, 4, program, NULL, out), 1); /* no room */
    for (unsigned cores = 4; cores < 200; cores++) {
        unsigned sum = 0;

        assert_int_equal(adapt_candidates(&adapt_pusukuri, cores, 4, program, NULL, out), 2);
        for (size_t i = 0; i < 4; i++) {
            assert_true(out[4 + i] >= 1);
            sum += out[4 + i];
        }
        assert_int_equal(sum, cores);
    }
}

/* ---- the fit ---- */

static void test_fit(void **state)
{
    double x[200][ADAPT_PAAP - 1], y[200], made[200][3];
    struct noise noise = {61};
    struct adapt_fit fit = {.r2 = 7};

    (void)state;
    for (size_t i = 0; i < 200; i++) {
        struct adapt_program a = {.threads = 1 + (unsigned)(noise_uniform(&noise) * 64),
                                  .sys = noise_uniform(&noise),
                                  .lat = 20 * noise_uniform(&noise),
                                  .lock = 40 * noise_uniform(&noise),
                                  .mpa = noise_uniform(&noise)};
        struct adapt_program b = a;

        b.threads = 8 + (unsigned)(noise_uniform(&noise) * 64);
        b.lat = 20 * noise_uniform(&noise);
        adapt_paap_row(&a, &b, 64, x[i]);
        y[i] = adapt_paap(&adapt_pusukuri, &a, &b, 64);
        made[i][0] = x[i][0];
        made[i][1] = x[i][1];
        made[i][2] = x[i][0] + 2 * x[i][1];
    }
    assert_int_equal(adapt_fit(29, 5, x[0], y, &fit), ADAPT_TOO_FEW);
    assert_int_equal(adapt_fit(200, 3, made[0], y, &fit), ADAPT_DEPENDENT);
    assert_true(fit.r2 == 7);
    assert_int_equal(adapt_fit(30, 5, x[0], y, &fit), ADAPT_FITTED);
    for (size_t j = 0; j < ADAPT_PAAP; j++)
        assert_true(fabs(fit.coefficient[j] - adapt_pusukuri.paap[j]) < 1e-6);
    assert_true(near(fit.r2, 1) && near(fit.smape, 0) && near(fit.unseen_smape, 0));
    for (size_t i = 0; i < 200; i++)
        y[i] += 5 * noise_normal(&noise);
    assert_int_equal(adapt_fit(200, 5, x[0], y, &fit), ADAPT_FITTED);
    assert_true(fabs(fit.coefficient[1] + 0.6) < .1 && fabs(fit.coefficient[2] + 0.8) < .2);
    assert_true(fit.r2 > .7 && fit.r2 < .95 && fit.smape > 3 && fit.smape < 15);
    assert_true(fit.unseen_smape > fit.smape && fit.unseen_smape < 1.2 * fit.smape);
    assert_int_equal(adapt_fit(30, 5, x[0], y, &fit), ADAPT_FITTED);
    assert_true(fit.unseen_smape > 1.2 * fit.smape); /* six coefficients of thirty runs */
    for (size_t i = 0; i < 200; i++)
        x[i][3] = 4;
    assert_int_equal(adapt_fit(200, 5, x[0], y, &fit), ADAPT_DEPENDENT);
}

/* What only one run shows cannot be fitted without it. */
static void test_fit_of_one(void **state)
{
    double x[30] = {0}, y[30];
    struct adapt_fit fit;

    (void)state;
    x[7] = 1;
    for (int i = 0; i < 30; i++)
        y[i] = 10 + i % 3 + x[i];
    assert_int_equal(adapt_fit(30, 1, x, y, &fit), ADAPT_FITTED);
    assert_true(isnan(fit.unseen_smape) && fit.smape > 0);
}

/* Of one predictor by hand: y = 1, 3, 2 at x = 0, 1, 2, ten times. */
static void test_fit_by_hand(void **state)
{
    double x[30], y[30];
    struct adapt_fit fit;

    (void)state;
    for (int i = 0; i < 30; i++) {
        x[i] = i % 3;
        y[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 2;
    }
    assert_int_equal(adapt_fit(30, 1, x, y, &fit), ADAPT_FITTED);
    assert_true(near(fit.coefficient[0], 1.5) && near(fit.coefficient[1], .5));
    assert_true(near(fit.r2, 1 - 15. / 28 / (20. / 29)));
    assert_true(near(fit.smape, 100 / 3. * (.5 / 1.25 + 1 / 2.5 + .5 / 2.25)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_apsi),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_most_even),
        cmocka_unit_test(test_enter_and_leave),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_no_end_of_promises),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_fit_by_hand),
        cmocka_unit_test(test_fit_of_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
