/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_steered - what berth-steer has brought, by made ledgers: where there is no difference none
 * is told more often than once in twenty, also where the jobs of an hour are alike, and where there
 * is one it is told as what it is. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/benefit.h"

#define HOURS_MAX 1000
#define FROM_S 1795219200

static double normal(void)
{
    double u = (rand() + 1.0) / (RAND_MAX + 2.0), v = rand() / (RAND_MAX + 1.0);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* A made ledger: so many hours with so many jobs each; gain: part of the time that steering saves;
 * of_hour, of_job: standard deviations of the logs of times. */
struct scene {
    size_t hours, jobs, left_of_100;
    double gain, of_hour, of_job;
};

static void make_hours(const struct scene *scene, struct ledger_hours *hours,
                       struct ledger_hour hour[HOURS_MAX])
{
    *hours = (struct ledger_hours){.n = scene->hours, .hour = hour};
    for (size_t i = 0; i < scene->hours; i++)
        hour[i] = (struct ledger_hour){FROM_S + (int64_t)i * 3600, FROM_S + (int64_t)(i + 1) * 3600,
                                       (size_t)(rand() % 100) >= scene->left_of_100};
}

static void add_job(struct benefit *benefit, uint32_t job, int64_t start, double log)
{
    struct ledger_record record = report_box_record(job, 0);
    uint32_t program = job % 5;

    snprintf(record.program, sizeof(record.program), "p%u", program);
    record.start = start;
    record.end = start + 1000;
    record.slowdown_observed = NAN;
    record.core_speed = 1e9 * (1 + program) * exp(-log);
    assert_int_equal(benefit_add(benefit, &record), 0);
}

static struct benefit_steering conclude(const struct scene *scene)
{
    static struct ledger_hour hour[HOURS_MAX];
    struct benefit *benefit = benefit_new();
    struct benefit_steering steering;
    struct ledger_hours hours;
    uint32_t job = 0;

    make_hours(scene, &hours, hour);
    assert_int_equal(benefit_hours_are(benefit, &hours), 0);
    for (size_t i = 0; i < scene->hours; i++) {
        double of_hour = scene->of_hour * normal();

        for (size_t k = 0; k < scene->jobs; k++)
            add_job(benefit, ++job, hour[i].begins + rand() % 3600,
                    of_hour + scene->of_job * normal() +
                        (hour[i].steered ? log1p(-scene->gain) : 0));
    }
    steering = benefit_conclude(benefit)->steering;
    benefit_free(benefit);
    return steering;
}

static size_t count_words(const struct scene *scene, size_t ledgers, enum benefit_word word)
{
    size_t n = 0;

    for (size_t i = 0; i < ledgers; i++)
        n += conclude(scene).verdict.word == word;
    return n;
}

/* Counts ledgers whose interval misses the truth. */
static size_t count_misses(const struct scene *scene, size_t ledgers)
{
    size_t n = 0;

    for (size_t i = 0; i < ledgers; i++) {
        struct benefit_steering steering = conclude(scene);

        n += !(steering.verdict.low <= scene->gain && scene->gain <= steering.verdict.high);
    }
    return n;
}

static void test_coverage(void **state)
{
    static const struct scene scenes[] = {
        {300, 5, 10, 0, 0, 0.1},    {300, 5, 10, 0, 0.1, 0.1}, {300, 5, 10, 0, 0.2, 0.05},
        {120, 20, 10, 0, 0.1, 0.1}, {300, 5, 50, 0, 0.1, 0.1}, {300, 5, 10, 0.1, 0.1, 0.1},
    };

    (void)state;
    srand(3);
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        size_t misses = count_misses(&scenes[i], 200);

        if (getenv("BERTH_SHOWN"))
            print_message("scene %zu: %zu of 200 intervals miss the truth\n", i, misses);
        if (misses > 20) /* 10 are to be expected; more than 20 once in 1000 times */
            fail_msg("scene %zu: %zu of 200 intervals miss the truth", i, misses);
    }
}

static void test_power(void **state)
{
    static const struct scene helps = {600, 10, 10, 0.1, 0.05, 0.1},
                              hurts = {600, 10, 10, -0.1, 0.05, 0.1},
                              nothing = {900, 30, 40, 0, 0.01, 0.02};
    size_t told;

    (void)state;
    srand(4);
    told = count_words(&helps, 50, BENEFIT_HELPS);
    assert_in_range(told, 48, 50);
    assert_in_range(count_words(&hurts, 50, BENEFIT_HURTS), 48, 50);
    assert_in_range(count_words(&nothing, 20, BENEFIT_NO_GAIN), 19, 20);
}

static void assert_sentence(const struct benefit_steering *steering, const char *begin)
{
    char text[BENEFIT_SENTENCE_MAX];

    benefit_steering_sentence(steering, text);
    if (getenv("BERTH_SHOWN"))
        print_message("%s\n", text);
    if (strncmp(text, begin, strlen(begin)) != 0)
        fail_msg("it does not begin '%s': %s", begin, text);
}

/* Fewer than ten hours that were left tell nothing, whatever they show. */
static void test_few(void **state)
{
    struct benefit_steering steering;

    (void)state;
    srand(5);
    steering = conclude(&(struct scene){60, 10, 10, 0.5, 0, 0.01});
    assert_in_range(steering.hours[0], 2, BENEFIT_LOT - 1);
    assert_int_equal(steering.verdict.word, BENEFIT_UNTOLD);
    assert_int_equal(steering.verdict.needed, BENEFIT_LOT);
    assert_sentence(&steering, "Of steering it cannot be told yet, about 10 hours have to be left "
                               "to Slurm alone; until now jobs took ");
    steering = conclude(&(struct scene){60, 10, 0, 0.5, 0, 0.01});
    assert_int_equal(steering.verdict.word, BENEFIT_UNTOLD);
    assert_sentence(&steering, "Of steering it cannot be told yet: no program began in two hours");
    steering = conclude(&(struct scene){600, 10, 10, 0.1, 0.05, 0.1});
    assert_sentence(&steering, "Steering helps: jobs took ");
}

/* A job is of the hour in which its first step began; one that began in none is of none. */
static void test_which_hour(void **state)
{
    struct ledger_hour hour[] = {{FROM_S, FROM_S + 3600, true},
                                 {FROM_S + 3600, FROM_S + 7200, false},
                                 {FROM_S + 9000, FROM_S + 10800, true}};
    const struct ledger_hours hours = {.n = 3, .hour = hour};
    struct benefit *benefit = benefit_new();
    struct benefit_steering steering;

    (void)state;
    assert_int_equal(benefit_hours_are(benefit, &hours), 0);
    add_job(benefit, 5, FROM_S, 0);
    add_job(benefit, 5, FROM_S + 3700, 0); /* a later step */
    add_job(benefit, 10, FROM_S + 3600, 0.1);
    add_job(benefit, 15, FROM_S + 8000, 5);
    add_job(benefit, 20, FROM_S + 10800, 5);
    add_job(benefit, 25, FROM_S - 1, 5);
    add_job(benefit, 30, FROM_S + 9000, 0);
    steering = benefit_conclude(benefit)->steering;
    assert_int_equal(steering.verdict.slurm_n, 1);
    assert_int_equal(steering.verdict.berth_n, 2);
    assert_int_equal(steering.hours[0], 1);
    assert_int_equal(steering.hours[1], 2);
    assert_true(fabs(steering.verdict.gain - -expm1(-0.1)) < 1e-9);
    steering = benefit_conclude(benefit)->steering; /* once more is the same */
    assert_int_equal(steering.verdict.berth_n, 2);
    benefit_free(benefit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_which_hour),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
