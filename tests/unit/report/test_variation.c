/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_variation - how often the interval of 95 % has the truth, over many made ledgers whose
 * programs' runs are normal, have heavy tails, or are skewed; and what is told of records. */
#include "tests/unit/common/report_box.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/benefit.h"
#include "packer/report/variation.h"
#include "tests/unit/common/noise.h"

#define LEDGERS 2000
#define RUNS_MOST 60

/* ---- coverage ---- */

static double normal(struct noise *noise)
{
    return noise_normal(noise);
}

/* Student's distribution with 5 degrees of freedom. */
static double heavy(struct noise *noise)
{
    double squares = 0, x = noise_normal(noise);

    for (int i = 0; i < 5; i++) {
        double y = noise_normal(noise);

        squares += y * y;
    }
    return x / sqrt(squares / 5);
}

/* Some runs are slower by much. */
static double skewed(struct noise *noise)
{
    double x = noise_normal(noise);

    return x + (noise_uniform(noise) < 0.1 ? 3 : 0);
}

/* In how many ledgers of so many programs the interval has the truth: berth's runs deviate by
 * `truth` of what the others do. */
static double coverage(double (*draw)(struct noise *), size_t programs, size_t runs, double truth,
                       double *told)
{
    struct noise noise = {17 + programs + 100 * runs};
    unsigned covered = 0, less = 0;

    for (unsigned k = 0; k < LEDGERS; k++) {
        struct variation_sum sum = {0};
        struct variation_less of;

        for (size_t p = 0; p < programs; p++) {
            double sd = 0.02 * (double)(1 + p), a[RUNS_MOST], b[RUNS_MOST];
            struct variation_spread from, to;

            for (size_t i = 0; i < runs; i++) {
                a[i] = 5 + sd * draw(&noise);
                b[i] = 4 + truth * sd * draw(&noise);
            }
            assert_true(variation_spread(runs, a, &from) && variation_spread(runs, b, &to));
            variation_add(&sum, &from, &to);
        }
        of = variation_less(&sum);
        covered += of.low <= 1 - truth && of.high >= 1 - truth;
        less += of.low > 0;
    }
    *told = (double)less / LEDGERS;
    return (double)covered / LEDGERS;
}

static void test_coverage(void **state)
{
    static const struct {
        const char *what;
        double (*draw)(struct noise *);
        size_t programs, runs;
        double truth;
    } rows[] = {{"normal", normal, 1, 8, 1},   {"normal", normal, 1, 20, .5},
                {"normal", normal, 5, 20, .7}, {"normal", normal, 20, 8, 1},
                {"heavy", heavy, 1, 20, 1},    {"heavy", heavy, 5, 40, .5},
                {"skewed", skewed, 1, 40, 1},  {"skewed", skewed, 5, 40, .7}};

    (void)state;
    printf("%-8s %8s %5s %6s %9s %12s\n", "runs are", "programs", "runs", "truth", "coverage",
           "told as less");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double told,
            is = coverage(rows[i].draw, rows[i].programs, rows[i].runs, rows[i].truth, &told);

        printf("%-8s %8zu %5zu %6.2f %9.4f %12.4f\n", rows[i].what, rows[i].programs, rows[i].runs,
               rows[i].truth, is, told);
        assert_true(is >= 0.92 && is <= 0.98);
        assert_true(rows[i].truth < 1 ? told > 0.3 : told < 0.05);
    }
}

static void test_by_hand(void **state)
{
    static const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, same[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct variation_spread of;

    (void)state;
    assert_true(variation_spread(8, x, &of));
    assert_float_equal(of.cv, sqrt(expm1(6)), 1e-9);
    assert_false(variation_spread(7, x, &of)); /* too few */
    assert_true(of.cv > 0 && isnan(of.log_sd));
    assert_false(variation_spread(8, same, &of)); /* no deviation has a log */
    assert_true(of.cv == 0);
    assert_false(variation_spread(1, x, &of));
    assert_true(isnan(of.cv));
    assert_true(isnan(variation_less(&(struct variation_sum){0}).mean));
}

/* ---- records ---- */

/* So many runs of a program each way; `sd` of the logs. */
static void add_runs(struct benefit *benefit, const char *trial[2], unsigned runs, double slurm,
                     double berth)
{
    struct noise noise = {3};
    uint32_t job = 1;

    for (unsigned i = 0; i < 2 * runs; i++) {
        struct ledger_record record = report_box_record(job++, 0);
        bool placed = i % 2;

        strcpy(record.program, "solver");
        strcpy(record.state, placed ? "placed" : "observed");
        strcpy(record.trial, trial[placed]);
        record.slowdown_observed = NAN;
        record.core_speed = exp((placed ? berth : slurm) * noise_normal(&noise));
        assert_int_equal(benefit_add(benefit, &record), 0);
    }
}

static const char *text_of(struct benefit *benefit)
{
    static const struct benefit_about about = {1795219200, 1795305600};
    static char *text;
    size_t size;
    FILE *out;

    free(text);
    out = open_memstream(&text, &size);
    variation_print(out, benefit_conclude(benefit), &about);
    fclose(out);
    return text;
}

static void test_told(void **state)
{
    static const char *none[] = {"", ""}, *drawn[] = {"control", "placed"};
    struct benefit *benefit = benefit_new();
    const struct benefit_variation *of;
    const char *text;

    (void)state;
    text = text_of(benefit);
    assert_non_null(strstr(text, "It cannot be told yet"));
    add_runs(benefit, none, 7, .2, .05);
    text = text_of(benefit);
    assert_non_null(strstr(text, "It cannot be told yet"));
    assert_non_null(strstr(text, "8 runs either way"));
    benefit_free(benefit);

    benefit = benefit_new();
    add_runs(benefit, none, 40, .2, .05);
    of = &benefit_conclude(benefit)->variation;
    assert_int_equal(of->programs, 1);
    assert_int_equal(of->listed, 1);
    assert_true(of->jobs[0] == 40 && of->jobs[1] == 40 && !of->trial);
    assert_true(of->less.low > .5 && of->less.low < .75 && of->less.high > .75);
    text = text_of(benefit);
    assert_non_null(strstr(text, "vary less"));
    assert_non_null(strstr(text, "solver"));
    add_runs(benefit, drawn, 20, .1, .1); /* the trial alone counts then */
    of = &benefit_conclude(benefit)->variation;
    assert_true(of->trial && of->jobs[0] == 20 && of->less.low < 0 && of->less.high > 0);
    assert_non_null(strstr(text_of(benefit), "It cannot be told yet"));
    benefit_free(benefit);
}

static void test_json(void **state)
{
    static const struct benefit_about about = {1795219200, 1795305600};
    static const char *none[] = {"", ""};
    struct benefit *benefit = benefit_new();
    struct json_object *object, *list, *less;

    (void)state;
    add_runs(benefit, none, 40, .05, .2);
    object = variation_json(benefit_conclude(benefit), &about);
    assert_string_equal(json_object_get_string(json_object_object_get(object, "word")), "more");
    assert_true(json_object_object_get_ex(object, "list", &list));
    assert_int_equal(json_object_array_length(list), 1);
    less = json_object_object_get(json_object_array_get_idx(list, 0), "less");
    assert_true(json_object_get_double(json_object_object_get(less, "high")) < 0);
    json_object_put(object);
    benefit_free(benefit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
