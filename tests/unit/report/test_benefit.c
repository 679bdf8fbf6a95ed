/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_benefit - does berth help: the arithmetic over made records. Nothing is known of nothing, a
 * loser counts as much as a winner, and what was not measured is not claimed. */
#include "tests/unit/common/report_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/ledger/schema.h"
#include "packer/report/benefit.h"
#include "packer/report/benefit_mean.h"

static struct benefit *benefit;

static int setup(void **state)
{
    (void)state;
    benefit = benefit_new();
    return benefit ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    benefit_free(benefit);
    return 0;
}

/* Four cores for 1000 s, 4 kJ; 0.4375 where Slurm put it and 0.25 where berth did. */
static struct ledger_record placed(uint32_t job)
{
    struct ledger_record record = report_box_record(job, 0);

    strcpy(record.program, "solver");
    strcpy(record.knowledge, "counters");
    record.slowdown_observed = NAN;
    return record;
}

static struct ledger_record observed(uint32_t job)
{
    struct ledger_record record = placed(job);

    strcpy(record.state, "observed");
    record.slowdown_predicted = record.slowdown_home;
    record.slowdown_proposed = 0.15;
    return record;
}

static void add(struct ledger_record record)
{
    assert_int_equal(benefit_add(benefit, &record), 0);
}

static void near(double value, double want)
{
    if (!(fabs(value - want) <= 1e-9 * fmax(1, fabs(want))))
        fail_msg("%.17g, not %.17g", value, want);
}

static void assert_mean(const struct benefit_mean *mean, size_t n, double value)
{
    assert_int_equal(mean->n, n);
    if (n)
        near(mean->mean, value);
    else
        assert_true(isnan(mean->mean));
}

/* The whole text; lines of more than 80 characters fail. */
static const char *text_of(void)
{
    static const struct benefit_about about = {1795219200, 1795305600};
    static char *text;
    size_t size, column = 0;
    FILE *out;

    free(text);
    out = open_memstream(&text, &size);
    benefit_print(out, benefit_conclude(benefit), &about);
    fclose(out);
    for (const char *at = text; *at; at++) {
        column = *at == '\n' ? 0 : column + 1;
        if (column > 80)
            fail_msg("a line of more than 80 characters: %s", text);
    }
    return text;
}

static void assert_says(const char *what)
{
    const char *text = text_of();

    if (!strstr(text, what))
        fail_msg("not said: '%s' in\n%s", what, text);
}

static void assert_begins(const char *what)
{
    const char *text = text_of();

    if (strncmp(text, what, strlen(what)) != 0)
        fail_msg("it does not begin '%s' but '%.400s'", what, text);
}

static const char *json_of(void)
{
    static const struct benefit_about about = {1, 2};
    static char text[65536];
    struct json_object *object = benefit_json(benefit_conclude(benefit), &about);

    snprintf(text, sizeof(text), "%s", json_object_to_json_string_ext(object, 0));
    json_object_put(object);
    return text;
}

static void assert_json(const char *what)
{
    if (!strstr(json_of(), what))
        fail_msg("not there: %s in %s", what, json_of());
}

static void test_nothing(void **state)
{
    (void)state;
    assert_int_equal(benefit_conclude(benefit)->steps, 0);
    assert_says("Cannot be told yet: no step that berth knew of has ended in this time.");
    assert_json("\"slurm_predicted\":{\"n\":0,\"mean\":null,\"low\":null,\"high\":null}");
    assert_json("\"gained\":[],\"lost\":[],\"gained_predicted\":[],\"lost_predicted\":[],"
                "\"not_known\":[],\"profile_first\":[]");
}

/* 4000 core-seconds at a slowdown of 0.25 would have been 4600 at 0.4375. */
static void test_one_placed(void **state)
{
    const struct benefit_result *result;

    (void)state;
    add(placed(1));
    result = benefit_conclude(benefit);
    assert_int_equal(result->group[BENEFIT_PLACED].steps, 1);
    assert_mean(&result->group[BENEFIT_PLACED].slurm, 1, 0.4375);
    assert_mean(&result->group[BENEFIT_PLACED].berth, 1, 0.25);
    assert_true(isnan(result->group[BENEFIT_PLACED].slurm.half)); /* one has no spread */
    assert_mean(&result->group[BENEFIT_PLACED].measured, 0, NAN);
    near(result->group[BENEFIT_PLACED].core_time.sum, 600);
    near(result->group[BENEFIT_PLACED].energy.sum, 600);
    assert_int_equal(result->winners, 1);
    assert_int_equal(result->losers, 0);
    assert_null(strstr(text_of(), "Predicted to lose"));
    assert_says("Predicted to gain (program not measured both ways), by core-hours");
    assert_says("berthctl explain 1.0");
    assert_begins(
        "Cannot be told yet: no program was measured twice both where Slurm put it and\n"
        "where berth did; at least 4 more jobs of one, 2 where Slurm puts it and 2 where\n"
        "berth does; only predicted: 0.167 core-hours saved.\n");
    assert_says("No slowdown was both predicted and measured");
    assert_json("\"explain\":\"berthctl explain 1.0\"");
}

/* It stood at 0.4375, and would have had 0.15: a fifth less time. */
static void test_one_observed(void **state)
{
    const struct benefit_result *result;

    (void)state;
    add(observed(1));
    result = benefit_conclude(benefit);
    assert_int_equal(result->group[BENEFIT_PLACED].steps, 0);
    assert_mean(&result->group[BENEFIT_OBSERVED].slurm, 1, 0.4375);
    assert_mean(&result->group[BENEFIT_OBSERVED].berth, 1, 0.15);
    near(result->group[BENEFIT_OBSERVED].core_time.sum, 800);
    near(result->group[BENEFIT_OBSERVED].energy.sum, 800);
    assert_says("predicted savable           sum   winners    losers   steps\n"
                "  core-hours               +0.222    +0.222    +0.000       1\n");
    assert_null(strstr(text_of(), "saved"));
}

/* A loser is told as plainly as a winner, and both are in the sum. */
static void test_loser(void **state)
{
    struct ledger_record loser = placed(2);
    const struct benefit_result *result;

    (void)state;
    loser.slowdown_home = 0;
    add(placed(1));
    add(loser);
    result = benefit_conclude(benefit);
    near(result->group[BENEFIT_PLACED].core_time.gained, 600);
    near(result->group[BENEFIT_PLACED].core_time.lost, -800);
    near(result->group[BENEFIT_PLACED].core_time.sum, -200);
    assert_int_equal(result->losers, 1);
    near(result->loser[0].core_s, -800);
    assert_says("berthctl explain 2.0");
    assert_says("core-hours               -0.056    +0.167    -0.222       2\n");
    assert_says("energy                  -200.0J   +600.0J   -800.0J       2\n");
}

/* The greatest ones first, and no more than are listed. */
static void test_ranks(void **state)
{
    const struct benefit_result *result;

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        struct ledger_record record = placed(i + 1);

        record.elapsed_s = 100 + (i * 17) % 40;
        add(record);
    }
    result = benefit_conclude(benefit);
    assert_int_equal(result->winners, BENEFIT_LIST);
    assert_int_equal(result->all_winners, 40);
    assert_says("Predicted to gain (program not measured both ways), 5 of 40, by core-hours");
    for (size_t i = 0; i < BENEFIT_LIST; i++)
        near(result->winner[i].core_s, (139 - (double)i) * 4 * 0.15);
}

static void test_all_unknown(void **state)
{
    static const struct {
        const char *state, *knowledge, *reason, *left_for;
        enum benefit_why why;
    } list[] = {
        {"placed", "nothing", "", "", BENEFIT_UNPROFILED},
        {"observed", "counters", "", "", BENEFIT_SHORT},
        {"placed", "", "", "", BENEFIT_OLD},
        {"late", "nothing", "left alone: it was over", "other", BENEFIT_LATE},
        {"failed", "counters", "could not be placed", "", BENEFIT_FAILED},
        {"left", "counters", "left alone: it asked for nothing", "off", BENEFIT_NOT_OPTED},
        {"left", "counters", "left alone: its user bound it", "bound", BENEFIT_BOUND},
        {"left", "counters", "left alone: bound by hand: another", "other", BENEFIT_LEFT},
        {"left", "counters", "left alone: did not opt in", "", BENEFIT_OLD},
        {"left", "counters", "", "of a newer berth", BENEFIT_OLD},
    };
    const struct benefit_result *result;
    size_t told = 0;

    (void)state;
    for (uint32_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct ledger_record record = placed(i + 1);

        strcpy(record.state, list[i].state);
        strcpy(record.knowledge, list[i].knowledge);
        strcpy(record.reason, list[i].reason);
        strcpy(record.left_for, list[i].left_for);
        record.slowdown_home = record.slowdown_predicted = NAN;
        add(record);
        if (benefit_conclude(benefit)->why[list[i].why].n == 0)
            fail_msg("%s, %s: not %s", list[i].state, list[i].reason,
                     benefit_why_text[list[i].why]);
    }
    result = benefit_conclude(benefit);
    for (int i = 0; i < BENEFIT_WHYS; i++)
        told += result->why[i].n;
    assert_int_equal(told, result->steps); /* none is lost */
    assert_int_equal(result->winners + result->losers, 0);
    assert_true(isnan(result->group[BENEFIT_PLACED].core_time.sum));
    assert_says("Not known of 10 of 10 steps:");
    assert_json("\"core_s_predicted\":{\"n\":0,\"sum\":null,\"gained\":null,\"lost\":null}");
}

/* Batch scripts that wait for steps do no work of their own, nor do those of which only the shell
 * or the launcher is known; what they start without srun is a step's work. */
static void test_shells(void **state)
{
    struct ledger_record batch = placed(1);

    (void)state;
    batch.id.step = WIRE_STEP_BATCH;
    batch.user_s = batch.elapsed_s / 10 - 2;
    batch.system_s = 1;
    add(batch);
    batch.user_s = NAN;
    add(batch);
    batch.user_s = 4 * batch.elapsed_s;
    strcpy(batch.program, "slurm_script");
    add(batch);
    strcpy(batch.program, "orterun");
    add(batch);
    assert_int_equal(benefit_conclude(benefit)->steps, 0);
    assert_int_equal(benefit_conclude(benefit)->shells, 4);
    strcpy(batch.program, "solver");
    add(batch);
    assert_int_equal(benefit_conclude(benefit)->steps, 1);
    assert_string_equal(benefit_conclude(benefit)->program[0].program, "solver");
}

/* Weighted by core time; the interval is Student's. */
static void test_means(void **state)
{
    struct benefit_sum sum = {0};
    struct benefit_mean mean;

    (void)state;
    for (int i = 1; i <= 4; i++)
        benefit_sum_add(&sum, i, 1);
    benefit_sum_add(&sum, NAN, 1);
    benefit_sum_add(&sum, 1e9, 0);
    mean = benefit_sum_mean(&sum);
    assert_int_equal(mean.n, 4);
    near(mean.mean, 2.5);
    near(mean.half, 3.182 * sqrt(5.0 / 3) / 2); /* t(3) * s / sqrt(n) */
    sum = (struct benefit_sum){0};
    benefit_sum_add(&sum, 1e8 + 1, 1);
    benefit_sum_add(&sum, 1e8 + 2, 3);
    mean = benefit_sum_mean(&sum);
    near(mean.mean, 1e8 + 1.75);
    assert_true(mean.half > 0);
    sum = (struct benefit_sum){0};
    benefit_sum_add(&sum, 1, 1000); /* it says nearly all: that is one value, and no spread */
    for (int i = 0; i < 20; i++)
        benefit_sum_add(&sum, 2, 0.001);
    assert_true(benefit_sum_mean(&sum).half > 1);
    near(benefit_student(3), 3.182);
    near(benefit_student(1e12), 1.96);
    assert_true(benefit_student(2.5) < benefit_student(2) && benefit_student(2.5) > 3.182);
    assert_true(benefit_student(0.5) > 100);
}

/* Measured is a column of its own, and stands where the step stood. */
static void test_measured(void **state)
{
    struct ledger_record a = placed(1), b = observed(2);
    const struct benefit_result *result;

    (void)state;
    a.slowdown_observed = 0.5; /* slower than predicted where Slurm put it */
    b.slowdown_observed = 0.4;
    add(a);
    add(b);
    result = benefit_conclude(benefit);
    assert_mean(&result->group[BENEFIT_PLACED].measured, 1, 0.5);
    assert_mean(&result->group[BENEFIT_OBSERVED].measured, 1, 0.4);
    assert_int_equal(result->group[BENEFIT_PLACED].judged, 1);
    assert_int_equal(result->group[BENEFIT_PLACED].slower, 1);
    assert_mean(&result->bias, 2, (-0.25 + 0.0375) / 2);
    assert_mean(&result->error, 2, (0.25 + 0.0375) / 2);
    assert_says("1 of 1 measured were slower than predicted where Slurm put them");
    assert_int_equal(result->pairs.programs, 0); /* one run is no comparison */
}

static void add_runs(const char *program, uint32_t cores, double slurm, double berth)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct ledger_record a = placed(10 + i), b = observed(20 + i);

        strcpy(a.program, program);
        strcpy(b.program, program);
        a.cores_given = b.cores_given = cores;
        a.slowdown_observed = berth + 0.01 * i;
        b.slowdown_observed = slurm + 0.01 * i;
        add(a);
        add(b);
    }
}

/* Returns the mean log of the times of three such runs. */
static double log_of_runs(double slowdown)
{
    return (log(1 + slowdown) + log(1.01 + slowdown) + log(1.02 + slowdown)) / 3;
}

/* A gain is measured where the same program ran both ways, and may be a loss. */
static void test_pairs(void **state)
{
    const double better = log_of_runs(0.4) - log_of_runs(0.2);
    const double worse = log_of_runs(0.1) - log_of_runs(0.2);
    const struct benefit_result *result;
    struct ledger_record alone = placed(30);

    (void)state;
    add_runs("solver", 4, 0.4, 0.2);
    add_runs("worse", 4, 0.1, 0.2);
    alone.slowdown_observed = 0; /* of more cores: not the same */
    alone.cores_given = 8;
    add(alone);
    result = benefit_conclude(benefit);
    assert_int_equal(result->pairs.programs, 2);
    assert_mean(&result->pairs.slurm, 6, 0.26);
    assert_mean(&result->pairs.berth, 6, 0.21);
    assert_int_equal(result->pairs.less.n, 2);
    near(result->pairs.less.mean, 1 - exp(-(better + worse) / 2));
    assert_true(result->pairs.less.high > result->pairs.less.low);
    near(result->pairs.core_s, 12000 * (exp(better) - 1) + 12000 * (exp(worse) - 1));
    assert_says("Measured: 2 programs that ran both ways (beside other neighbours)");
    assert_int_equal(result->gained, 1);
    assert_string_equal(result->gain[0].program, "solver");
    near(result->gain[0].core_s, 12000 * (exp(better) - 1));
    assert_int_equal(result->lost, 1);
    assert_string_equal(result->loss[0].program, "worse");
    near(result->loss[0].less.mean, 1 - exp(-worse));
    assert_int_equal(result->loss[0].less.n, 3);
    assert_int_equal(result->winners, 1); /* of the one that is not measured both ways */
    assert_int_equal(result->winner[0].id.job, 30);
}

/* ---- the verdict ---- */

/* A number from 0 to 1, by chance. */
static double chance(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* Normally distributed (Box and Muller 1958). */
static double noise(double sigma)
{
    return sigma * sqrt(-2 * log(1 - chance())) * cos(2 * acos(-1) * chance());
}

/* Adds n steps either way of three programs, of very different lengths, whose speeds scatter. */
static void add_ledger(uint32_t n, double slurm, double berth, double sigma)
{
    static const char *const name[] = {"solver", "mesh", "render"};

    for (uint32_t i = 0; i < n; i++) {
        struct ledger_record a = placed(1000 + i), b = observed(500000 + i);

        strcpy(a.program, name[i % 3]);
        strcpy(b.program, name[i % 3]);
        a.elapsed_s = 100 - 900 * log(1 - chance());
        b.elapsed_s = 100 - 900 * log(1 - chance());
        a.slowdown_observed = berth + 0.1 * (i % 3) + noise(sigma);
        b.slowdown_observed = slurm + 0.1 * (i % 3) + noise(sigma);
        add(a);
        add(b);
    }
}

static void assert_word(enum benefit_word word)
{
    char sentence[BENEFIT_SENTENCE_MAX];
    const struct benefit_result *result = benefit_conclude(benefit);

    benefit_sentence(result, sentence);
    if (result->verdict.word != word)
        fail_msg("%s", sentence);
}

/* Four ledgers: one where berth helps, ... */
static void test_helps(void **state)
{
    const struct benefit_verdict *verdict;

    (void)state;
    srand(21);
    add_ledger(300, 0.30, 0.15, 0.1);
    assert_word(BENEFIT_HELPS);
    verdict = &benefit_conclude(benefit)->verdict;
    assert_true(verdict->low < 0.15 / 1.4 && verdict->high > 0.15 / 1.4);
    assert_true(verdict->high - verdict->low < 0.04);
    assert_int_equal(verdict->more, 0);
    assert_begins("berth helps: the same programs took 1");
    assert_json("\"verdict\":{\"word\":\"helps\",\"sentence\":\"berth helps: ");
    assert_json("\"by\":\"measured\",\"gain\":0.1");
}

/* ... one where it hurts, whatever the model predicts, ... */
static void test_hurts(void **state)
{
    (void)state;
    srand(2);
    add_ledger(300, 0.06, 0.16, 0.05);
    assert_word(BENEFIT_HURTS);
    assert_begins("berth HURTS: the same programs took ");
    assert_says("core-hours lost: ");
    assert_says("Programs that gained, measured: none");
    assert_int_equal(benefit_conclude(benefit)->all_lost, 3);
    assert_true(benefit_conclude(benefit)->group[BENEFIT_PLACED].core_time.sum > 0); /* it says */
    assert_int_equal(benefit_conclude(benefit)->winners, 0); /* and that does not count */
}

/* ... one where it makes no difference, ... */
static void test_no_gain(void **state)
{
    (void)state;
    srand(3);
    add_ledger(3000, 0.1, 0.1, 0.1);
    assert_word(BENEFIT_NO_GAIN);
    assert_begins("No gain here: the same programs took 0.");
}

/* ... and one with too few steps, which says how many it takes. */
static void test_too_few(void **state)
{
    size_t more;

    (void)state;
    srand(5);
    add_ledger(9, 0.15, 0.12, 0.1);
    assert_word(BENEFIT_UNTOLD);
    more = benefit_conclude(benefit)->verdict.more;
    if (more < 10 || more > 5000)
        fail_msg("%zu more", more);
    assert_begins("Cannot be told yet: about ");
    assert_json("\"word\":\"cannot be told yet\"");
}

/* Steps of a program that only ran one way tell nothing, however many. */
static void test_one_way(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        struct ledger_record record = placed(1 + i);

        record.slowdown_observed = 0.5;
        add(record);
    }
    assert_word(BENEFIT_UNTOLD);
    assert_begins("Cannot be told yet: no program was measured twice both where Slurm put it and\n"
                  "where berth did; at least 2 more jobs of one where Slurm puts it; only\n"
                  "predicted: ");
}

/* Where there is no difference it is rarely told that there is one, few steps or many, although
 * some weigh far more than others. */
static void test_null(void **state)
{
    unsigned wrong = 0;

    (void)state;
    srand(4);
    for (int ledger = 0; ledger < 400; ledger++) {
        enum benefit_word word;

        teardown(NULL);
        setup(NULL);
        add_ledger(6 + ledger % 40, 0.1, 0.1, 0.1);
        word = benefit_conclude(benefit)->verdict.word;
        wrong += word == BENEFIT_HELPS || word == BENEFIT_HURTS;
    }
    if (wrong > 28) /* of 400; 20 are to be expected, and more than 28 once in 25 times */
        fail_msg("%u of 400 ledgers without a difference are said to have one", wrong);
}

/* ---- the trial ---- */

/* By what a made cluster's speeds scatter: within a program, normal or with tails (Student's t of
 * 3, which an outlier in a hundred is like); and how many percent are left where Slurm puts them.
 */
struct scene {
    double gain, slurm_sigma, berth_sigma, pct;
    bool tails;
};

static double scatter(const struct scene *scene, double sigma)
{
    double squares = 0;

    if (!scene->tails)
        return noise(sigma);
    for (int i = 0; i < 3; i++)
        squares += pow(noise(1), 2);
    return noise(sigma) / sqrt(squares);
}

/* Adds a job: of six programs, which run for very different times and are seldom alone, so that
 * their slowdowns are not measured; only the lot is by chance. */
static void add_drawn(const struct scene *scene, uint32_t job)
{
    unsigned program = (unsigned)(6 * chance());
    bool control = 100 * chance() < scene->pct;
    struct ledger_record record = control ? observed(job) : placed(job);
    double log_speed = 21 + program / 5.0;

    snprintf(record.program, sizeof(record.program), "p%u", program);
    strcpy(record.trial, control ? "control" : "placed");
    record.elapsed_s = -1000.0 * (1 + program) * log(1 - chance());
    log_speed += scatter(scene, control ? scene->slurm_sigma : scene->berth_sigma);
    record.core_speed = exp(log_speed + (control ? log(1 - scene->gain) : 0));
    add(record);
}

/* Returns how many of so many ledgers of so many jobs each have the word. */
static unsigned count_words(const struct scene *scene, unsigned ledgers, uint32_t jobs,
                            enum benefit_word word)
{
    unsigned n = 0;

    for (unsigned ledger = 0; ledger < ledgers; ledger++) {
        teardown(NULL);
        setup(NULL);
        for (uint32_t job = 0; job < jobs; job++)
            add_drawn(scene, job + 1);
        n += benefit_conclude(benefit)->verdict.word == word;
    }
    return n;
}

/* Where berth changes nothing, in 5 % of the ledgers at most is it told that it does: whatever the
 * speeds scatter by, few jobs or many, and also where Slurm's places scatter more. */
static void test_trial_null(void **state)
{
    static const struct scene scene[] = {{0, 0.03, 0.03, 5, false}, {0, 0.3, 0.3, 5, false},
                                         {0, 0.3, 0.3, 50, false},  {0, 0.1, 0.1, 5, true},
                                         {0, 0.12, 0.04, 5, false}, {0, 0.12, 0.04, 20, true}};
    static const uint32_t jobs[] = {120, 500, 1500};

    (void)state;
    srand(11);
    for (size_t i = 0; i < sizeof(scene) / sizeof(scene[0]); i++)
        for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++) {
            unsigned seed = (unsigned)rand();
            unsigned wrong;

            srand(seed);
            wrong = count_words(&scene[i], 200, jobs[k], BENEFIT_HELPS);
            srand(seed);
            wrong += count_words(&scene[i], 200, jobs[k], BENEFIT_HURTS);
            if (getenv("BERTH_SHOWN"))
                print_message("scene %zu, %u jobs: %u of 200\n", i, jobs[k], wrong);
            if (wrong > 20) /* 10 are to be expected; more than 20 once in 1000 times */
                fail_msg("scene %zu, %u jobs: %u of 200 ledgers without a difference have one", i,
                         jobs[k], wrong);
        }
}

/* ... however often it is looked at: after each twentieth job, of 120 trials of 1000 jobs, at most
 * 6 say so once, but for chance. */
static void test_trial_looks(void **state)
{
    static const struct scene scene = {0, 0.1, 0.1, 5, false};
    unsigned wrong = 0;

    (void)state;
    srand(14);
    for (unsigned trial = 0; trial < 120; trial++) {
        bool misled = false;

        teardown(NULL);
        setup(NULL);
        for (uint32_t job = 0; job < 1000; job++) {
            enum benefit_word word;

            add_drawn(&scene, job + 1);
            word = job % 20 ? BENEFIT_UNTOLD : benefit_conclude(benefit)->verdict.word;
            misled = misled || word == BENEFIT_HELPS || word == BENEFIT_HURTS;
        }
        wrong += misled;
    }
    if (getenv("BERTH_SHOWN"))
        print_message("%u of 120 trials misled once\n", wrong);
    if (wrong > 12) /* of 6 that are to be expected more than 12 come once in 100 times */
        fail_msg("%u of 120 trials without a difference are once said to have one", wrong);
}

/* Ten points are soon told, as what they are. */
static void test_trial_power(void **state)
{
    static const struct scene helps = {0.1, 0.1, 0.1, 5, false}, hurts = {-0.1, 0.1, 0.1, 5, false};

    (void)state;
    srand(12);
    assert_in_range(count_words(&helps, 100, 1000, BENEFIT_HELPS), 90, 100);
    assert_in_range(count_words(&hurts, 100, 1000, BENEFIT_HURTS), 90, 100);
    assert_in_range(count_words(&helps, 100, 1000, BENEFIT_HURTS), 0, 0);
    assert_begins("berth helps: the same programs took ");
    assert_says("(control).");
    assert_says("in the trial: the lot left ");
    assert_json("\"trial\":true");
}

/* Adds so many jobs of one program, half as fast where the lot left them. */
static void add_lot(uint32_t jobs, bool control)
{
    for (uint32_t i = 0; i < jobs; i++) {
        struct ledger_record record = control ? observed(i + 1) : placed(1000 + i);

        strcpy(record.program, "p");
        strcpy(record.trial, control ? "control" : "placed");
        record.elapsed_s = 1000;
        record.core_speed = 1e9 * (control ? 1 : 2) * (1 + 0.001 * i);
        add(record);
    }
}

/* A trial is looked at again and again: few jobs of the lot, which now and then differ by chance,
 * say nothing, however much they differ. */
static void test_trial_few(void **state)
{
    const struct benefit_verdict *verdict;

    (void)state;
    add_lot(100, false);
    add_lot(BENEFIT_LOT - 1, true);
    assert_word(BENEFIT_UNTOLD);
    verdict = &benefit_conclude(benefit)->verdict;
    assert_true(verdict->needed >= BENEFIT_LOT && verdict->needed < 2 * BENEFIT_LOT);
    teardown(NULL);
    setup(NULL);
    add_lot(100, false);
    add_lot(BENEFIT_LOT, true);
    assert_word(BENEFIT_HELPS);
}

/* What users chose does not count beside it; and it says how many steps of the lot it takes. */
static void test_trial_alone(void **state)
{
    static const struct scene scene = {0.05, 0.1, 0.1, 5, false};
    const struct benefit_verdict *verdict;

    (void)state;
    srand(13);
    add_ledger(300, 0.30, 0.15, 0.1);
    assert_false(benefit_conclude(benefit)->verdict.trial);
    for (uint32_t job = 0; job < 300; job++)
        add_drawn(&scene, 900000 + job);
    assert_word(BENEFIT_UNTOLD);
    verdict = &benefit_conclude(benefit)->verdict;
    assert_true(verdict->trial);
    assert_int_equal(verdict->slurm_n + verdict->berth_n < 301, true);
    assert_in_range(verdict->needed, verdict->slurm_n, 10000);
}

/* A job is one measurement, whatever steps it has: its input, and its lot, are the same. */
static void test_job_steps(void **state)
{
    (void)state;
    for (uint32_t job = 0; job < 6; job++)
        for (uint32_t step = 0; step < 100; step++) {
            struct ledger_record record = job % 2 ? placed(job + 1) : observed(job + 1);

            record.id.step = step;
            record.core_speed = 1e9 * (1 + 0.2 * job);
            add(record);
        }
    assert_int_equal(benefit_conclude(benefit)->pairs.slurm.n, 3);
    assert_int_equal(benefit_conclude(benefit)->pairs.berth.n, 3);
    assert_word(BENEFIT_UNTOLD);
}

/* The nodes of a step are one measurement, not as many as they are. */
static void test_nodes(void **state)
{
    const struct benefit_result *result;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        for (int node = 0; node < 16; node++) {
            struct ledger_record a = placed(1 + i), b = observed(100 + i);

            snprintf(a.node, sizeof(a.node), "n%d", node);
            snprintf(b.node, sizeof(b.node), "n%d", node);
            a.slowdown_observed = 0.1 + 0.1 * i;
            b.slowdown_observed = 0.25 + 0.1 * i;
            add(a);
            add(b);
        }
    }
    result = benefit_conclude(benefit);
    assert_int_equal(result->pairs.slurm.n, 3);
    assert_int_equal(result->pairs.berth.n, 3);
    assert_true(result->pairs.less.mean > 0.1 && result->pairs.less.mean < 0.12);
    assert_true(result->pairs.less.high - result->pairs.less.low > 0.2);
    assert_word(BENEFIT_UNTOLD);
}

/* What freed cores counts, and what that cost. */
static void test_sizes(void **state)
{
    struct ledger_record a = placed(1);

    (void)state;
    a.size_freed_core_s = 7200;
    a.size_loss_measured = 0.015;
    add(a);
    add(placed(2));
    near(benefit_conclude(benefit)->freed.sum, 7200);
    assert_int_equal(benefit_conclude(benefit)->freed.n, 1);
    assert_says("Sizes freed 2.000 core-hours of 1 step.");
    assert_says("their speed fell by 1.5%, as measured of 1");
}

/* What stood on cores of nobody, and what that brought. */
static void test_idle(void **state)
{
    struct ledger_record a = placed(1), b = placed(2);
    enum benefit_kind kind;
    double core_s, energy_j;

    (void)state;
    a.idle_core_s = 7200;
    b.idle_core_s = NAN;
    add(a);
    add(b);
    assert_true(benefit_of(&a, &kind, &core_s, &energy_j));
    near(benefit_conclude(benefit)->on_idle.sum, 7200);
    near(benefit_conclude(benefit)->idle_core_time.sum, core_s);
    assert_int_equal(benefit_conclude(benefit)->idle_core_time.n, 1);
    assert_says("1 step stood on idle cores for 2.000 core-hours.");
}

/* The programs of which least is known and that take most; what is known last counts. What only
 * starts others is none. */
static void test_programs(void **state)
{
    static const char *const starters[] = {"slurm_script", "bash", "mpirun", "orterun", "orted"};
    struct ledger_record a = placed(1), b = placed(2), c = placed(3), d = placed(4), e = placed(5);
    const struct benefit_result *result;

    (void)state;
    strcpy(a.program, "small");
    strcpy(a.knowledge, "nothing");
    a.slowdown_predicted = NAN;
    strcpy(b.program, "great");
    b.elapsed_s = 5000;
    strcpy(c.program, "profiled");
    c.elapsed_s = 9000;
    strcpy(d.program, "profiled");
    d.end += 100;
    strcpy(d.knowledge, "stack distances");
    add(a);
    add(b);
    add(c);
    add(d);
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++) {
        e.elapsed_s = 7000;
        strcpy(e.program, starters[i]);
        strcpy(e.tag, i == 0 ? "mine" : "");
        add(e);
    }
    result = benefit_conclude(benefit);
    assert_int_equal(result->programs, 2);
    assert_string_equal(result->program[0].program, "great");
    assert_string_equal(result->program[1].program, "small");
    assert_int_equal(result->program[1].unknown, 1);
    assert_says("Worth profiling first (berthctl profile -- PROGRAM), by core-hours");
}

/* Names of people are cut to their columns, and drive no terminal. */
static void test_names(void **state)
{
    struct ledger_record a = placed(4294967), b;

    (void)state;
    memset(a.program, 'x', sizeof(a.program) - 1);
    strcpy(a.user, "\x1b[31mred");
    a.cores_given = 4096;
    a.slowdown_home = 90;
    a.slowdown_observed = 123;
    b = a;
    b.slowdown_home = 0;
    add(a);
    add(b);
    assert_null(strchr(text_of(), '\x1b'));
}

/* A year of a cluster. No time is judged: it only has to end. */
static void test_many(void **state)
{
    struct ledger_record record = placed(1);

    (void)state;
    for (uint32_t i = 0; i < 1000000; i++) {
        snprintf(record.node, sizeof(record.node), "n%u", i % 1000);
        snprintf(record.program, sizeof(record.program), "p%u", i % 501);
        record.id.job = i + 1;
        record.slowdown_observed = 0.25 + 1e-7 * (i % 11);
        record.state[0] = i % 2 ? 'p' : 'x';
        strcpy(record.state, i % 2 ? "placed" : "observed");
        record.slowdown_proposed = 0.2;
        if (benefit_add(benefit, &record) < 0)
            fail_msg("record %u", i);
    }
    assert_int_equal(benefit_conclude(benefit)->steps, 1000000);
    assert_int_equal(benefit_conclude(benefit)->nodes, 1000);
    assert_int_equal(benefit_conclude(benefit)->pairs.programs, 501);
    near(benefit_conclude(benefit)->group[BENEFIT_PLACED].core_time.sum, 600.0 * 500000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),     TEST(test_one_placed),  TEST(test_one_observed),
        TEST(test_loser),       TEST(test_ranks),       TEST(test_all_unknown),
        TEST(test_shells),      TEST(test_means),       TEST(test_measured),
        TEST(test_pairs),       TEST(test_sizes),       TEST(test_idle),
        TEST(test_programs),    TEST(test_names),       TEST(test_many),
        TEST(test_helps),       TEST(test_hurts),       TEST(test_no_gain),
        TEST(test_too_few),     TEST(test_one_way),     TEST(test_null),
        TEST(test_nodes),       TEST(test_trial_null),  TEST(test_trial_power),
        TEST(test_trial_looks), TEST(test_trial_alone), TEST(test_trial_few),
        TEST(test_job_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
