/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_reinforce - ferret's Table 2.2, each way to end, the steps, the bound of the runs, and the
 * knees that thresholds are learnt from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/inside/reinforce.h"
#include "tests/unit/common/noise.h"

#define RUNS_MAX 4096

/* Runs the search over a program. Returns how many runs there were; tried: of how many threads. */
static unsigned search(struct reinforce *reinforce, const struct reinforce_rules *rules,
                       struct reinforce_profile (*of)(unsigned threads, void *arg), void *arg,
                       unsigned *tried)
{
    reinforce_init(reinforce, rules);
    while (reinforce->next) {
        struct reinforce_profile profile = of(reinforce->next, arg);

        assert_true(reinforce->tried < RUNS_MAX);
        if (tried)
            tried[reinforce->tried] = reinforce->next;
        reinforce_run(reinforce, rules, &profile);
    }
    return reinforce->tried;
}

/* ---- ferret ---- */

/* Table 2.2: user and system time of Load, user time of Segment, Extract, Vector, Rank (and what
 * that waits for locks) and Out, in percent. */
static const struct {
    unsigned threads, n;
    double load, load_sys, segment, extract, vector, rank, lock, out;
} ferret[] = {
    {15, 3, 22, 4, 8, 1, 44, 100, 0, 0.5},       {31, 7, 44, 7.8, 6.7, 1, 43, 100, 0, 0.6},
    {47, 11, 56, 11.3, 5.4, 1, 40, 100, 0, 0.7}, {55, 13, 64, 14, 5, 1, 44, 98, 0, 0.7},
    {63, 15, 79, 20, 5, 1, 43, 96, 0, 0.7},      {71, 17, 77, 20, 5, 1, 37, 80, 16, 0.7},
    {87, 21, 78, 17, 4, 1, 28, 65, 33, 0.4},     {103, 25, 75, 17, 3, 1, 24, 53.5, 45, 0.4},
    {119, 29, 74, 17, 3, 1, 20, 46, 52.5, 0.4},  {127, 31, 70, 20, 3, 1, 19, 40, 59, 0.4},
};
#define FERRETS (sizeof(ferret) / sizeof(ferret[0]))

/* What the table's threads use of 24 cores, in percent; and what the Rank stage waits for locks. */
static struct reinforce_profile ferret_row(size_t i)
{
    double used =
        ferret[i].load + ferret[i].load_sys + ferret[i].out +
        ferret[i].n * (ferret[i].segment + ferret[i].extract + ferret[i].vector + ferret[i].rank);

    return (struct reinforce_profile){used / 24, ferret[i].lock, NAN, NAN};
}

/* Between two rows of the table (23 and 39 threads): on the line. */
static struct reinforce_profile ferret_of(unsigned threads, void *arg)
{
    size_t i = 0;
    struct reinforce_profile a, b;
    double part;

    (void)arg;
    while (i + 2 < FERRETS && ferret[i + 1].threads < threads)
        i++;
    a = ferret_row(i);
    b = ferret_row(i + 1);
    part = ((double)threads - ferret[i].threads) / (ferret[i + 1].threads - ferret[i].threads);
    return (struct reinforce_profile){a.cpu_util + part * (b.cpu_util - a.cpu_util),
                                      a.lock + part * (b.lock - a.lock), NAN, NAN};
}

static void test_ferret(void **state)
{
    static const unsigned wanted[] = {15, 23, 31, 39, 47, 55, 63, 71};
    struct reinforce_rules rules = {24, 15, 127, 8, {0, 10, 5, NAN, NAN}};
    struct reinforce reinforce;
    unsigned tried[RUNS_MAX];

    (void)state;
    assert_int_equal(search(&reinforce, &rules, ferret_of, NULL, tried), 8);
    assert_memory_equal(tried, wanted, sizeof(wanted));
    assert_int_equal(reinforce.best, 63);
    assert_int_equal(reinforce.end, REINFORCE_UTIL); /* 94.8 % of the cores, then 91.2 % */
    rules.thresholds.cpu_util_delta = -5;            /* without that the locks end it, there, too */
    assert_int_equal(search(&reinforce, &rules, ferret_of, NULL, tried), 8);
    assert_int_equal(reinforce.best, 63);
    assert_int_equal(reinforce.end, REINFORCE_LOCK);
}

/* ---- each end, each step ---- */

/* Straight lines: value = at * threads up to a knee, then steeper. */
struct lines {
    double util, lock, vcx, migr; /* per thread */
    unsigned knee;
    double lock_behind, vcx_behind, migr_behind; /* per thread behind the knee */
    double util_behind;
};

static double line(unsigned threads, unsigned knee, double before, double behind)
{
    return threads <= knee ? before * threads : before * knee + behind * (threads - knee);
}

static struct reinforce_profile lines_of(unsigned threads, void *arg)
{
    const struct lines *l = arg;

    return (struct reinforce_profile){line(threads, l->knee, l->util, l->util_behind),
                                      line(threads, l->knee, l->lock, l->lock_behind),
                                      line(threads, l->knee, l->vcx, l->vcx_behind),
                                      line(threads, l->knee, l->migr, l->migr_behind)};
}

/* Delta thresholds for a step of 8: 8 of use, locks 10 high, 4 fast; 80 switches, 40 migrations. */
static const struct reinforce_rules plain = {24, 8, 64, 8, {7, 10, 4, 80, 40}};

static void ends(struct lines lines, enum reinforce_end end, unsigned best, unsigned runs)
{
    struct reinforce reinforce;

    assert_int_equal(search(&reinforce, &plain, lines_of, &lines, NULL), runs);
    assert_int_equal(reinforce.end, end);
    assert_int_equal(reinforce.best, best);
}

static void test_ends(void **state)
{
    (void)state;
    ends((struct lines){.util = 1, .knee = 64}, REINFORCE_MAX, 64, 8);
    ends((struct lines){.util = 1, .knee = 32}, REINFORCE_UTIL, 32, 5);
    ends((struct lines){.util = 1, .knee = 8}, REINFORCE_UTIL, 8, 2);
    /* locks are high and rise */
    ends((struct lines){.util = 1, .util_behind = 1, .lock = .1, .lock_behind = 2, .knee = 16},
         REINFORCE_LOCK, 16, 3);
    /* locks are high, do not rise by more than 4, but switches do, up to 24 threads */
    ends((struct lines){1, .5, 1, 1, 16, .5, 20, 1, 1}, REINFORCE_LOCK, 16, 3);
    /* the same switches beyond 24 threads are nothing, migrations are */
    ends((struct lines){1, .5, 1, 1, 24, .5, 20, 1, 1}, REINFORCE_MAX, 64, 8);
    ends((struct lines){1, .5, 1, 1, 32, .5, 1, 20, 1}, REINFORCE_LOCK, 32, 5);
    /* and migrations up to 24 threads are nothing */
    ends((struct lines){1, .5, 1, 9, 64, .5, 1, 1, 1}, REINFORCE_LOCK, 24, 4);
    /* locks low: whatever rises */
    ends((struct lines){1, .1, 99, 99, 64, 1, 99, 99, 1}, REINFORCE_MAX, 64, 8);
}

/* Half steps: locks are high and rise fast, and so do switches; but not so fast as to end it, which
 * has the same thresholds, so only what is not known makes the step small. */
static void test_half_steps(void **state)
{
    struct reinforce_rules rules = {24, 8, 32, 8, {0, 10, NAN, NAN, NAN}};
    struct lines lines = {.util = 1, .lock = 2, .knee = 64};
    static const unsigned wanted[] = {8, 16, 20, 24, 28, 32};
    struct reinforce reinforce;
    unsigned tried[RUNS_MAX];

    (void)state;
    assert_int_equal(search(&reinforce, &rules, lines_of, &lines, tried), 6);
    assert_memory_equal(tried, wanted, sizeof(wanted));
    assert_int_equal(reinforce.end, REINFORCE_MAX);
}

static void test_small(void **state)
{
    struct reinforce_rules rules = {2, 1, 1, 2, {0, 1, 1, 1, 1}};
    struct lines lines = {.util = 1, .knee = 64};
    struct reinforce reinforce;

    (void)state;
    assert_int_equal(search(&reinforce, &rules, lines_of, &lines, NULL), 1);
    assert_int_equal(reinforce.best, 1);
    assert_int_equal(reinforce.end, REINFORCE_MAX);
    assert_int_equal(reinforce_run(&reinforce, &rules, &(struct reinforce_profile){0}), 0);
    rules.t_max = 4; /* 1, 3, 4 */
    assert_int_equal(search(&reinforce, &rules, lines_of, &lines, NULL), 3);
    assert_int_equal(reinforce.best, 4);
    lines.util = NAN;
    assert_int_equal(search(&reinforce, &rules, lines_of, &lines, NULL), 2);
    assert_int_equal(reinforce.end, REINFORCE_UTIL);
    assert_int_equal(reinforce.best, 1);
}

/* ---- any profile ---- */

/* A program whose figures each go one way only, by more or less from run to run, or stay. */
struct monotone {
    struct noise noise;
    double value[4], slope[4]; /* cpu_util, lock, vcx, migr */
};

static struct reinforce_profile monotone_of(unsigned threads, void *arg)
{
    struct monotone *program = arg;

    (void)threads;
    for (size_t i = 0; i < 4; i++)
        program->value[i] += program->slope[i] * noise_uniform(&program->noise);
    return (struct reinforce_profile){program->value[0], program->value[1], program->value[2],
                                      program->value[3]};
}

/* Draws one: most use more of the CPUs with each run, else each search would be short. */
static struct monotone monotone_draw(struct noise *noise)
{
    struct monotone program = {.noise.state = (uint64_t)(noise_uniform(noise) * 1e15)};

    for (size_t i = 0; i < 4; i++)
        program.slope[i] = noise_uniform(noise) < .2 ? 0 : 4 * noise_uniform(noise) - (i > 0);
    if (noise_uniform(noise) < .1)
        program.slope[0] *= -1;
    return program;
}

static unsigned whole(struct noise *noise, unsigned most)
{
    return (unsigned)(noise_uniform(noise) * most);
}

static struct reinforce_rules rules_draw(struct noise *noise)
{
    unsigned t_min = 1 + whole(noise, 16);
    struct reinforce_rules rules = {.cores = 1 + whole(noise, 64),
                                    .t_min = t_min,
                                    .t_max = t_min + whole(noise, 128),
                                    .t_step = 1 + whole(noise, 16)};
    double *threshold = (double *)&rules.thresholds;

    for (size_t i = 0; i < sizeof(rules.thresholds) / sizeof(*threshold); i++)
        threshold[i] = i > 0 && noise_uniform(noise) < .4 ? NAN : noise_uniform(noise);
    if (noise_uniform(noise) < .7)
        rules.thresholds.cpu_util_delta = -10; /* the use of the CPUs ends nothing */
    return rules;
}

/* The number of threads goes up and not beyond the most; the best is the last run but one, or the
 * most. Returns how many steps were not whole ones. */
static unsigned check_search(const struct reinforce_rules *rules, const struct reinforce *reinforce,
                             const unsigned *tried)
{
    unsigned runs = reinforce->tried, halves = 0;

    assert_true(runs <= (rules->t_max - rules->t_min) / (rules->t_step / 2.) + 2);
    assert_true(runs <= reinforce_most(rules));
    assert_true(reinforce->end != REINFORCE_RUNNING);
    assert_int_equal(tried[0], rules->t_min);
    for (unsigned r = 1; r < runs; r++) {
        assert_true(tried[r] > tried[r - 1] && tried[r] <= rules->t_max);
        assert_true(tried[r] - tried[r - 1] <= rules->t_step);
        halves += tried[r] - tried[r - 1] < rules->t_step && tried[r] < rules->t_max;
    }
    assert_int_equal(reinforce->best,
                     reinforce->end == REINFORCE_MAX ? tried[runs - 1] : tried[runs - 2]);
    return halves;
}

/* Whatever the profile, the search ends, after no more than (t_max - t_min) / (t_step / 2) + 2
 * runs. Among these searches there are those of each end, of half steps, and of all the runs that
 * there can be. */
static void test_bound(void **state)
{
    unsigned ended[REINFORCE_ENDS] = {0}, halves = 0, longest = 0;
    struct noise noise = {2012};

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        struct reinforce_rules rules = rules_draw(&noise);
        struct monotone program = monotone_draw(&noise);
        struct reinforce reinforce;
        unsigned tried[RUNS_MAX];

        search(&reinforce, &rules, monotone_of, &program, tried);
        halves += check_search(&rules, &reinforce, tried) > 0;
        longest += reinforce.tried > 10 && reinforce.tried + 2 >= reinforce_most(&rules);
        ended[reinforce.end]++;
    }
    assert_true(halves > 1000 && longest > 100);
    for (enum reinforce_end end = REINFORCE_UTIL; end < REINFORCE_ENDS; end++)
        assert_true(ended[end] > 1000);
}

/* Half of 3 is 2: by ones there would be 29 runs from 1 to 31, and there may be 22. */
static void test_odd_step(void **state)
{
    struct reinforce_rules rules = {64, 1, 31, 3, {-1, 0, NAN, NAN, NAN}};
    struct lines lines = {.util = 1, .lock = 2, .knee = 64};
    struct reinforce reinforce;

    (void)state;
    assert_int_equal(search(&reinforce, &rules, lines_of, &lines, NULL), 16);
    assert_int_equal(reinforce.best, 31);
}

/* ---- thresholds ---- */

static struct reinforce_sweep sweep_of(struct lines lines, struct reinforce_point *point, size_t n)
{
    for (size_t i = 0; i < n; i++)
        point[i] = (struct reinforce_point){8 * (unsigned)(i + 1),
                                            lines_of(8 * (unsigned)(i + 1), &lines)};
    return (struct reinforce_sweep){n, point};
}

static void test_learn(void **state)
{
    struct reinforce_point point[3][8];
    struct reinforce_sweep sweep[3] = {
        /* the paper's three: locks and migrations; switches; use of the CPUs */
        sweep_of((struct lines){1, .1, 1, 1, 32, 2, 1, 20, 1}, point[0], 8),
        sweep_of((struct lines){1, 0, 1, 1, 32, 0, 20, 1, 1}, point[1], 8),
        sweep_of((struct lines){1, 0, 1, 1, 16, 0, 1, 1, .2}, point[2], 8),
    };
    struct reinforce_thresholds from, found = reinforce_learn(3, sweep, 8, &from);

    (void)state;
    assert_true(fabs(found.lock - 3.2) < 1e-9); /* .1 of 32 threads */
    assert_true(fabs(found.lock_delta - 8 * (.1 + 2) / 2) < 1e-9);
    assert_true(fabs(found.vcx_delta - 8 * (1 + 20) / 2.) < 1e-9);
    assert_true(fabs(found.migr_delta - 8 * (1 + 20) / 2.) < 1e-9);
    assert_true(fabs(found.cpu_util_delta - 8 * (1 + .2) / 2) < 1e-9);
    assert_true(from.lock == 1 && from.vcx_delta == 1 && from.cpu_util_delta == 1);

    /* behind the knee at 32 threads a rise that ends: the first one counts */
    for (unsigned i = 0; i < 8; i++)
        point[0][i].profile.lock = i < 4 ? 0 : 100 - 100 * 4. / (i + 1);
    assert_true(fabs(reinforce_learn(1, sweep, 8, NULL).lock_delta - 20 / 2.) < 1e-9);

    /* straight lines have no knee, nor has what is not known */
    sweep[0] = sweep_of((struct lines){1, 1, 1, NAN, 99, 1, 1, 1, 1}, point[0], 8);
    found = reinforce_learn(1, sweep, 8, &from);
    assert_true(isnan(found.lock) && isnan(found.migr_delta) && isnan(found.cpu_util_delta));
    assert_true(from.lock == 0);

    /* of three knees the one in the middle; of two the mean */
    for (unsigned i = 0; i < 3; i++)
        sweep[i] = sweep_of((struct lines){1, .1 + .1 * i, 1, 1, 32, 2, 1, 1, 1}, point[i], 8);
    assert_true(fabs(reinforce_learn(3, sweep, 8, NULL).lock - 6.4) < 1e-9);
    assert_true(fabs(reinforce_learn(2, sweep, 8, NULL).lock - 4.8) < 1e-9);
    assert_true(fabs(reinforce_learn(3, sweep, 4, &from).lock_delta - 4 * 1.1) < 1e-9);
    assert_true(from.lock == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ferret),     cmocka_unit_test(test_ends),
        cmocka_unit_test(test_half_steps), cmocka_unit_test(test_small),
        cmocka_unit_test(test_bound),      cmocka_unit_test(test_odd_step),
        cmocka_unit_test(test_learn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
