/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_share_adapt - ADAPT about steps that have the same cores: what the profile store knows of
 * their programs alone decides, played counters change it, and without them it is by need. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "models/inside/adapt.h"
#include "packer/base/clock.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/step_counts.h"

#define CORES 8
#define SECONDS 32

/* ---- programs ---- */

/* What a program does alone; of its threads' time. */
struct alone {
    const char *tag;
    double threads, user, system, waiting, lock, mpa;
};

/* Two that hardly leave user space use all cores; the kernel's time is what PAAP punishes. */
static const struct alone light = {"light", 8, 0.95, 0.00, 0.01, 0.00, 0.1};
static const struct alone heavy = {"heavy", 8, 0.80, 0.06, 0.05, 0.03, 0.5};
static const struct alone small = {"small", 2, 0.80, 0.06, 0.05, 0.03, 0.5};
static const struct alone unlocked = {"unlocked", 8, 0.80, 0.06, 0.05, NAN, 0.5};

static struct adapt_program program_of(const struct alone *is)
{
    return (struct adapt_program){.threads = (unsigned)is->threads,
                                  .usr = 100 * is->user,
                                  .sys = 100 * is->system,
                                  .lat = 100 * is->waiting,
                                  .lock = 100 * is->lock,
                                  .mpa = is->mpa};
}

static void set(struct profile_sample *sample, enum profile_rate rate, double mean)
{
    sample->rate[rate] = (struct profile_estimate){mean, 0};
}

static void counted(struct fixture *f, const struct alone *is, bool co_run)
{
    struct profile_sample sample;
    struct profiles *store;
    struct berth_error err;

    profile_sample_init(&sample);
    profile_key_tag(sample.key, is->tag);
    snprintf(sample.machine, sizeof(sample.machine), "%s", f->packer.world.machine_type);
    snprintf(sample.source, sizeof(sample.source), "replay");
    sample.co_run = co_run;
    sample.windows = sample.seconds = 100;
    sample.measured_at = time(NULL);
    set(&sample, PROFILE_THREADS, is->threads);
    set(&sample, PROFILE_SYSTEM, is->threads * is->system);
    set(&sample, PROFILE_CPUS, is->threads * (is->user + is->system));
    set(&sample, PROFILE_RUN_DELAY, is->threads * is->waiting);
    set(&sample, PROFILE_LOCK_WAIT, is->threads * is->lock);
    set(&sample, PROFILE_MISSES, 1000 * is->mpa);
    set(&sample, PROFILE_ACCESSES, 1000);
    assert_int_equal(profiles_open(&store, f->conf.profile_db, true, &err), 0);
    assert_int_equal(profiles_put_samples(store, &sample, 1, &err), 0);
    profiles_close(store);
}

/* ---- a node ---- */

/* Each thread of both is in user space for 60 % of the time, then for so much. */
static void write_recording(const char *path, double later)
{
    static const char *const name[] = {"light", "heavy", "small", "wide", "narrow"};
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "step,at,cpu_ns,user_ns,lock_wait_ns,threads\n");
    for (size_t i = 0; i < 5; i++) {
        double threads = i == 2 || i == 4 ? 2 : 8, ns = 0;

        for (int at = 1; at <= SECONDS; at++) {
            ns += threads * (at <= SECONDS / 4 ? 0.6 : later) * 1e9;
            fprintf(file, "%s,%d,%.0f,%.0f,%.0f,%.0f\n", name[i], at, ns, ns,
                    threads * at * 0.1 * 1e9, threads);
        }
    }
    fclose(file);
}

static struct fixture *open_with(enum conf_share share, double later)
{
    struct fixture *f = fixture_open("package:1 l3:1 core:8 pu:1");

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay, later);
    f->conf.startup_ms = f->conf.first_window_ms = 0; /* nobody waits for his part */
    f->conf.share = share;
    strcat(f->conf.allow, ",adapt,faithful");
    fixture_paper(f);
    fixture_restart(f);
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, NULL);
    counted(f, &light, false);
    counted(f, &heavy, false);
    counted(f, &small, false);
    counted(f, &unlocked, false);
    return f;
}

static int begin(void **state)
{
    *state = open_with(CONF_SHARE_ADAPT, 0.6);
    return 0;
}

static int begin_by_need(void **state)
{
    *state = open_with(CONF_SHARE_NEED, 0.6);
    return 0;
}

static int begin_falling(void **state)
{
    *state = open_with(CONF_SHARE_ADAPT, 0.2);
    return 0;
}

static struct step *run(struct fixture *f, uint32_t job, uint32_t step, const char *tag, bool word)
{
    struct wire_register request = fixture_request(job, step, "0-7", "0-7", 1, tag);

    struct step *it;

    request.options.adapt = word;
    it = fixture_start(f, request);
    pipeline_observe(&f->packer);
    return it;
}

static void end(struct fixture *f, uint32_t job, uint32_t step)
{
    fixture_end(f, job, step);
    pipeline_observe(&f->packer);
}

static size_t cores_of(const struct step *step)
{
    return cpus_count(&step->body.task[0].use);
}

/* ---- what is decided ---- */

/* A field of its object in explain. */
static const char *field(struct fixture *f, const struct step *step, const char *key)
{
    static char text[64];
    struct json_object *explain = json_object_new_object(), *adapt, *value = NULL;

    figures_inside(&f->packer, step, explain);
    adapt = json_object_object_get(explain, "adapt");
    assert_non_null(adapt);
    assert_true(json_object_object_get_ex(adapt, key, &value));
    snprintf(text, sizeof(text), "%s", value ? json_object_get_string(value) : "null");
    json_object_put(explain);
    return text;
}

/* What the model says of these two by itself. */
static void assert_as_model(const struct step *a, const struct alone *is_a, const struct step *b,
                            const struct alone *is_b)
{
    struct adapt_program program[] = {program_of(is_a), program_of(is_b)};
    unsigned configuration[ADAPT_CANDIDATES_MAX * 2];
    struct adapt_question question = {.coefficients = &adapt_pusukuri,
                                      .cores = CORES,
                                      .n = 2,
                                      .program = program,
                                      .configuration = configuration};
    size_t best;

    question.configurations =
        adapt_candidates(&adapt_pusukuri, CORES, 2, program, NULL, configuration);
    best = adapt_best(&question);
    assert_int_equal(cores_of(a), configuration[2 * best]);
    assert_int_equal(cores_of(b), configuration[2 * best + 1]);
    assert_int_equal(a->share.adapt.parts, !adapt_is_all(&question, best));
}

static void test_light_ones_use_all_cores(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "light", false), *b = run(f, 2, 0, "light", false);

    assert_as_model(a, &light, b, &light);
    assert_int_equal(cores_of(a), CORES);
    assert_int_equal(cores_of(b), CORES);
    assert_true(a->share.adapt.on && !a->share.adapt.parts);
    assert_int_equal(a->share.cores, 0);
    assert_int_equal(a->share.others, 1);
    assert_non_null(a->inside.run); /* its slices begin with the turn that has dealt */
    assert_string_equal(field(f, a, "configuration"), "all");
}

static void test_heavy_ones_have_parts(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, "small", false);

    assert_as_model(a, &heavy, b, &small);
    assert_true(a->share.adapt.parts && b->share.adapt.parts);
    assert_true(cores_of(a) > cores_of(b));
    assert_int_equal(cores_of(a) + cores_of(b), CORES);
    assert_false(cpus_intersect(&a->body.task[0].use, &b->body.task[0].use));
    end(f, 1, 0); /* alone again */
    assert_int_equal(cores_of(b), CORES);
    assert_false(b->share.adapt.on);
}

/* Who computes and hardly waits for locks gets all cores as it comes, whatever is predicted. Nobody
 * keeps the default class beside one that gets slices, and memory is dealt of that one only. */
static void test_light_newcomer(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, "heavy", false);

    assert_true(a->share.adapt.parts);
    assert_true(a->share.adapt.interleave && a->share.adapt.faithful);
    end(f, 2, 0);
    b = run(f, 3, 0, "light", false);
    assert_false(a->share.adapt.parts || b->share.adapt.parts);
    assert_int_equal(cores_of(a) + cores_of(b), 2 * CORES);
    assert_true(a->share.adapt.faithful && b->share.adapt.faithful);
    assert_true(a->share.adapt.interleave && !b->share.adapt.interleave);
    end(f, 1, 0);
    a = run(f, 4, 0, "light", false);
    assert_false(a->share.adapt.faithful || b->share.adapt.faithful);
    assert_string_equal(field(f, b, "interleave"), "false");
}

/* The limits are the site's. */
static void test_limits(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    f->packer.world.conf.adapt_light_mpa = 0.09;
    a = run(f, 1, 0, "light", false);
    b = run(f, 2, 0, "light", false);
    assert_true(a->share.adapt.faithful && b->share.adapt.faithful && b->share.adapt.interleave);
}

/* On all cores one that has asked for slices itself is not left alone with them. */
static void test_one_class(void **state)
{
    struct wire_register request = fixture_request(1, 0, "0-7", "0-7", 1, "light");
    struct fixture *f = *state;
    struct step *a, *b;

    request.options.faithful = true;
    a = fixture_start(f, request);
    assert_true(a->request.options.faithful);
    b = run(f, 2, 0, "light", false);
    assert_false(b->share.adapt.parts);
    assert_true(a->share.adapt.faithful && b->share.adapt.faithful);
}

/* Of three one goes: the others have its cores in equal parts. */
static void test_one_leaves(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, "small", false);
    struct step *c = run(f, 3, 0, "small", false);
    size_t had_a = cores_of(a), had_c = cores_of(c), freed = cores_of(b);

    assert_true(a->share.adapt.parts);
    assert_int_equal(had_a + had_c + freed, CORES);
    end(f, 2, 0);
    assert_int_equal(cores_of(a), had_a + (freed + 1) / 2);
    assert_int_equal(cores_of(c), had_c + freed / 2);
}

/* What is not known is not predicted: by need. */
static void test_unknown(void **state)
{
    static const struct alone beside = {"beside", 8, 0.80, 0.06, 0.05, 0.03, 0.5};
    static const char *const tag[] = {"stranger", "unlocked", "beside"};
    static const char *const why[] = {"alone was not counted", "waits for locks",
                                      "alone was not counted"};
    struct fixture *f = *state;

    counted(f, &beside, true);
    for (size_t i = 0; i < 3; i++) {
        struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, tag[i], false);

        assert_true(a->share.adapt.on);
        assert_non_null(a->share.adapt.why);
        if (!strstr(a->share.adapt.why, why[i]))
            fail_msg("%s: %s", tag[i], a->share.adapt.why);
        assert_int_equal(cores_of(a), CORES / 2);
        assert_int_equal(cores_of(b), CORES / 2);
        end(f, 1, 0);
        end(f, 2, 0);
    }
}

/* Nobody has counted them alone: by need at first, and then by what they do now: parts only, and
 * the one with two threads has no use for more than two cores. */
static void test_counted(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "wide", false), *b = run(f, 2, 0, "narrow", false);

    assert_int_equal(cores_of(a), CORES / 2);
    assert_string_equal(field(f, a, "programs"), "null");
    for (double age_s = 0; age_s < SECONDS / 4; age_s++)
        fixture_age(f, age_s);
    assert_string_equal(field(f, a, "configuration"), "sets");
    assert_string_equal(field(f, a, "programs"), "now");
    assert_string_equal(field(f, a, "user_all"), "null");
    assert_int_equal(cores_of(a), 6);
    assert_int_equal(cores_of(b), 2);
    assert_int_equal(a->share.adapt.changes, 0);
    assert_true(a->share.adapt.faithful);
}

static void test_by_need(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "light", false), *b = run(f, 2, 0, "light", false);

    assert_false(a->share.adapt.on);
    assert_int_equal(cores_of(a), CORES / 2);
    assert_int_equal(cores_of(b), CORES / 2);
}

/* Steps of one job that overlap share all their cores, as Slurm meant it, unless both ask. */
static void test_word(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", true), *b = run(f, 1, 1, "small", false);

    assert_int_equal(cores_of(a), CORES);
    assert_int_equal(cores_of(b), CORES);
    assert_false(a->share.adapt.on);
    end(f, 1, 1);
    b = run(f, 1, 2, "small", true);
    assert_as_model(a, &heavy, b, &small);
    assert_true(a->share.adapt.parts);
    assert_int_equal(a->share.others, 1);
}

/* ---- what is measured ---- */

static void play(struct fixture *f)
{
    for (double age_s = 0; age_s < SECONDS; age_s++)
        fixture_age(f, age_s);
}

static void test_steady(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, "heavy", false);

    play(f);
    assert_true(a->counts->windows > 10);
    assert_int_equal(a->share.adapt.changes, 0);
    assert_int_equal(cores_of(a), CORES / 2); /* equal ones have equal parts */
    assert_int_equal(cores_of(b), CORES / 2);
    assert_string_equal(field(f, a, "configuration"), "sets");
    assert_string_equal(field(f, a, "rule"), "null");
    assert_string_equal(field(f, a, "why"), "null");
}

/* Both do far less than other parts promise, interval after interval: they get others. */
static void test_change(void **state)
{
    struct fixture *f = *state;
    struct step *a = run(f, 1, 0, "heavy", false), *b = run(f, 2, 0, "heavy", false);
    uint64_t before = a->share.changes;
    size_t had = cores_of(a);

    for (double age_s = 0; age_s < SECONDS && a->share.adapt.changes == 0; age_s++)
        fixture_age(f, age_s);
    assert_int_equal(a->share.adapt.changes, 1);
    assert_string_equal(field(f, a, "rule"), "promised");
    assert_string_equal(field(f, b, "rule"), "promised");
    assert_true(cores_of(a) != had);
    assert_int_equal(a->share.changes, before + 1);
    assert_true(a->share.adapt.parts);
    assert_int_equal(cores_of(a) + cores_of(b), CORES);
    assert_non_null(strstr(f->calls, "apply 1.0"));
}

#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_light_ones_use_all_cores, begin),
        TEST(test_heavy_ones_have_parts, begin),
        TEST(test_light_newcomer, begin),
        TEST(test_limits, begin),
        TEST(test_one_class, begin),
        TEST(test_one_leaves, begin),
        TEST(test_unknown, begin),
        TEST(test_counted, begin),
        TEST(test_by_need, begin_by_need),
        TEST(test_word, begin_by_need),
        TEST(test_steady, begin),
        TEST(test_change, begin_falling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
