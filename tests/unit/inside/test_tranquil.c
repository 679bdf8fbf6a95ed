/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tranquil - a step that asked for `tranquil`: a program is played that runs otherwise under
 * SCHED_BATCH, which a process of this machine has or has not. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture_child.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/noise.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"

/* ---- the program ---- */

/* Per second: under the default class, and under SCHED_BATCH. */
struct kind {
    double misses[2], switches[2]; /* per million instructions; involuntary */
};

static const struct kind preempted = {{100, 100}, {2000, 300}};
static const struct kind thrashing = {{9000, 5000}, {500, 500}};
static const struct kind stubborn = {{100, 100}, {2000, 2000}};

static struct played {
    const struct kind *kind;
    struct noise noise;
    double at, instructions, misses, switches;
} played;

static bool is_batch(void)
{
    return sched_getscheduler(fixture_child) == SCHED_BATCH;
}

/* So many seconds pass: its newest sample is written. */
static void play(struct fixture *f, double seconds)
{
    bool batch = is_batch();
    double spread = batch && played.kind != &stubborn ? 0.02 : 0.2;
    double jitter = 1 + spread * noise_normal(&played.noise);
    char text[256], path[128];

    played.at += seconds;
    played.instructions += 1e9 * seconds;
    played.misses += 1e3 * seconds * played.kind->misses[batch] * fmax(jitter, 0);
    played.switches += seconds * played.kind->switches[batch] * fmax(jitter, 0);
    snprintf(text, sizeof(text),
             "{\"step\":\"1.0\",\"at\":%.3f,\"instructions\":%.0f,\"llc_misses\":%.0f,"
             "\"llc_accesses\":%.0f,\"involuntary\":%.0f,\"threads\":4}\n",
             played.at, played.instructions, played.misses, 2 * played.misses, played.switches);
    snprintf(path, sizeof(path), "%s/samples", f->dir);
    folder_put(path, "1.0", text);
}

/* ---- a node with a process ---- */

static int begin(void **state)
{
    struct fixture *f;

    fixture_child_start();
    f = fixture_open(TWO_BY_TWO);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples", f->dir);
    folder_make(f->dir, "samples");
    strcat(f->conf.allow, ",tranquil");
    fixture_paper(f);
    fixture_restart(f);
    fixture_child_add(f);
    fixture_busy(f, NULL);
    played = (struct played){.noise = {7}};
    *state = f;
    return 0;
}

static struct step *start(struct fixture *f, const struct kind *kind, bool word)
{
    struct wire_register request = fixture_request(1, 0, "0-7", "0-7", 1, "p");
    struct step *step;

    played.kind = kind;
    play(f, 1);
    request.options.tranquil = word;
    step = fixture_start(f, request);
    step->started_mono_s = clock_s() - 2;
    for (int window = 0; window < 2; window++) {
        play(f, 1);
        step->counts->due_s = 0;
        pipeline_observe(&f->packer);
    }
    return step;
}

/* What was begun is done: on a busy machine that takes more than one turn. */
static void finish(struct fixture *f, const struct step *step)
{
    while (step->inside.slicing)
        inside_turn(&f->packer);
}

/* The burst that has begun, or is to begin now, is read to its end. */
static void burst(struct fixture *f, struct step *step)
{
    struct inside_tranquil *tranquil = &step->inside.run->tranquil;

    for (int reading = 0; reading <= BURST_READINGS; reading++) {
        play(f, 0.1);
        tranquil->burst.next_s = tranquil->settled_s = 0;
        pipeline_bursts(&f->packer);
    }
    finish(f, step);
}

static void pass(struct fixture *f, struct step *step)
{
    struct inside_tranquil *tranquil = &step->inside.run->tranquil;

    tranquil->pass_s = clock_s() - 100;
    burst(f, step);
    if (tranquil->model.state == TRANQUIL_TRIAL)
        burst(f, step);
}

static double number(struct fixture *f, const struct step *step, const char *key, size_t i)
{
    struct json_object *explain = json_object_new_object(), *tranquil, *value;
    double is;

    figures_inside(&f->packer, step, explain);
    tranquil = json_object_object_get(explain, "tranquil");
    assert_non_null(tranquil);
    value = json_object_object_get(tranquil, key);
    if (json_object_is_type(value, json_type_array))
        value = json_object_array_get_idx(value, i);
    is = value ? json_object_get_double(value) : NAN;
    json_object_put(explain);
    return is;
}

/* ---- tests ---- */

/* Fewer and more even switches: kept, and not tried again. */
static void test_kept(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &preempted, true);

    assert_false(is_batch());
    pass(f, step);
    assert_true(is_batch());
    assert_int_equal(number(f, step, "kept", 0), 1);
    assert_int_equal(number(f, step, "asked_ms", 0), TRANQUIL_CPU_SLICE_MS);
    assert_true(fabs(number(f, step, "icx", 0) - 2000) < 400);
    assert_true(fabs(number(f, step, "icx", 2) - 300) < 30);
    assert_true(number(f, step, "icx", 3) < number(f, step, "icx", 1));
    for (int i = 0; i < 10; i++)
        pass(f, step);
    assert_int_equal(number(f, step, "pass", 0), 11);
    assert_int_equal(step->inside.changes, 1);
    assert_true(is_batch());
}

/* A program that misses its cache is judged by its misses, and gets long slices. */
static void test_memory(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &thrashing, true);

    pass(f, step);
    assert_true(is_batch());
    assert_int_equal(number(f, step, "kept", 0), 1);
    assert_int_equal(number(f, step, "asked_ms", 0), TRANQUIL_MEMORY_SLICE_MS);
    assert_true(fabs(number(f, step, "miss", 2) - 5000) < 300);
}

/* What helps nothing is taken back, and tried again ever more seldom. */
static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &stubborn, true);

    pass(f, step);
    assert_false(is_batch());
    assert_int_equal(number(f, step, "kept", 0), 0);
    assert_int_equal(step->inside.changes, 1);
    for (int i = 0; i < 30; i++) {
        pass(f, step);
        assert_false(is_batch());
    }
    assert_true(step->inside.changes > 1 && step->inside.changes <= 5); /* 2, 4, 8, 16 later */
}

/* By the paper's rule there is a trial in each pass. */
static void test_printed(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    f->packer.world.conf.tranquil_rule = CONF_TRANQUIL_PRINTED;
    step = start(f, &stubborn, true);
    for (int i = 0; i < 31; i++)
        pass(f, step);
    assert_true(step->inside.changes > 5); /* which is the most of ours */
}

/* A burst begins when the pass does, reads every 100 ms, and nothing is read between. */
static void test_bursts_are_armed(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &preempted, true);
    struct inside_tranquil *tranquil = &step->inside.run->tranquil;
    double in_s = pipeline_bursts(&f->packer);

    assert_true(in_s > 1 && in_s <= 5); /* 5 s after the start */
    assert_false(tranquil->burst.running);
    tranquil->pass_s = clock_s() - 4.5;
    in_s = pipeline_bursts(&f->packer);
    assert_true(in_s > 0.3 && in_s <= 0.5);
    tranquil->pass_s = clock_s() - 5;
    in_s = pipeline_bursts(&f->packer);
    assert_true(in_s > 0.05 && in_s <= 0.1);
    assert_true(tranquil->burst.running);
    assert_int_equal(tranquil->burst.n, 0);
}

static void test_without_the_word(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &preempted, false);

    assert_null(step->inside.run);
    assert_true(pipeline_bursts(&f->packer) < 0);
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &preempted, true);
    struct berth_error err;

    pass(f, step);
    assert_true(is_batch());
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    finish(f, step);
    assert_false(is_batch());
    assert_true(pipeline_bursts(&f->packer) < 0);
}

/* A step that is gone ends its burst without a decision. */
static void test_unreadable(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &preempted, true);
    struct inside_tranquil *tranquil = &step->inside.run->tranquil;
    char path[128];

    tranquil->pass_s = clock_s() - 100;
    pipeline_bursts(&f->packer);
    assert_true(tranquil->burst.running);
    snprintf(path, sizeof(path), "%s/samples/1.0", f->dir);
    assert_int_equal(unlink(path), 0);
    tranquil->burst.next_s = 0;
    pipeline_bursts(&f->packer);
    assert_false(is_batch());
    assert_int_equal(tranquil->model.pass, 0);
}

/* A berthd before this one has dealt its memory, and nobody can put that back: it is not taken for
 * the program's own layout. */
static void test_dealt_before(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, &thrashing, true);
    struct json_object *explain = json_object_new_object(), *tranquil;

    step->inside.deal = (struct step_deal){.dealt = true, .returning = true, .why = "it is lost"};
    pass(f, step);
    assert_int_equal(step->inside.run->tranquil.model.pass, 0);
    assert_false(is_batch());
    figures_inside(&f->packer, step, explain);
    tranquil = json_object_object_get(explain, "tranquil");
    assert_string_equal(json_object_get_string(json_object_object_get(tranquil, "refused")),
                        "it is lost");
    json_object_put(explain);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_child_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kept),    TEST(test_memory),           TEST(test_refused),
        TEST(test_printed), TEST(test_bursts_are_armed), TEST(test_without_the_word),
        TEST(test_release), TEST(test_unreadable),       TEST(test_dealt_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
