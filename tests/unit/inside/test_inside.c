/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_inside - a step that asked for `faithful`, with counters from a recording and a process of
 * this machine: which class and slice that process has, when it gets another one, and when it has
 * again what it had. */
#include "tests/unit/common/fixture_child.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"
#include "packer/observe/window.h"
#include "packer/steps/effect.h"
#include "tests/unit/common/attributes.h"

#define PHASE_S 20
#define THREADS 24
#define SLICED_S                                                                                   \
    6 /* by then a step that waits has been given slices, be the clock a little late               \
       */

/* ---- ammp on 24 cores, as Pusukuri 2012 (chapter 5) saw it ---- */

struct doing {
    double lock, running, waiting; /* parts of the threads' time */
};
static const struct doing ammp[] = {{0.84, 0.10, 0.06}, {0.12, 0.60, 0.28}},
                          unhurried[] = {{0.84, 0.16, 0.0001}, {0.12, 0.88, 0.0001}};

static void record(FILE *file, const char *name, const struct doing *doing)
{
    double cpu = 0, delay = 0, lock = 0;

    for (int at = 1; at <= 4 * PHASE_S; at++) {
        const struct doing *now = &doing[(at - 1) / PHASE_S % 2];

        cpu += THREADS * now->running * 1e9;
        delay += THREADS * now->waiting * 1e9;
        lock += THREADS * now->lock * 1e9;
        fprintf(file, "%s,%d,%.0f,%.0f,%.0f,%d\n", name, at, cpu, delay, lock, THREADS);
    }
}

static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "step,at,cpu_ns,run_delay_ns,lock_wait_ns,threads\n");
    record(file, "ammp", ammp);
    record(file, "unhurried", unhurried);
    for (int at = 1; at <= PHASE_S; at++) /* how many threads there are is not known */
        fprintf(file, "uncounted,%d,%.0f,%.0f,%.0f,\n", at, at * 1e9, at * 1e9, at * 1e9);
    fclose(file);
}

/* ---- a node with a process ---- */

static int begin(void **state)
{
    struct fixture *f;

    fixture_child_start();
    f = fixture_open(TWO_BY_TWO);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay);
    strcat(f->conf.allow, ",faithful");
    fixture_paper(f);
    fixture_restart(f);
    fixture_child_add(f);
    fixture_busy(f, NULL);
    *state = f;
    return 0;
}

static struct wire_register request_of(const char *tag)
{
    struct wire_register request = fixture_request(1, 0, "0-7", "0-7", 1, tag);

    request.options.faithful = true;
    return request;
}

/* What was begun is done: on a busy machine that takes more than one turn. */
static void finish(struct fixture *f, const struct step *step)
{
    while (step->inside.slicing)
        inside_turn(&f->packer);
}

/* The window of that second of the step's life is over, and what it leads to is done. */
static void second(struct fixture *f, struct step *step, double age_s)
{
    step->started_mono_s = clock_s() - age_s;
    step->counts->due_s = 0;
    pipeline_observe(&f->packer);
    finish(f, step);
}

static void run(struct fixture *f, struct step *step, double from_s, double to_s)
{
    for (double age_s = from_s; age_s < to_s; age_s++)
        second(f, step, age_s);
}

/* What explain says of it; the caller releases it. */
static struct json_object *told(struct fixture *f, const struct step *step)
{
    struct json_object *explain = json_object_new_object();

    figures_inside(&f->packer, step, explain);
    return explain;
}

static double number(struct json_object *explain, const char *key)
{
    struct json_object *faithful = json_object_object_get(explain, "faithful"), *value;

    assert_non_null(faithful);
    value = json_object_object_get(faithful, key);
    return value ? json_object_get_double(value) : NAN;
}

static void assert_refused(struct fixture *f, const struct step *step, const char *part)
{
    struct json_object *explain = told(f, step), *faithful;
    const char *why;

    faithful = json_object_object_get(explain, "faithful");
    assert_non_null(faithful);
    why = json_object_get_string(json_object_object_get(faithful, "refused"));
    if (!why || !strstr(why, part))
        fail_msg("refused: '%s', not '%s'", why ? why : "", part);
    json_object_put(explain);
}

/* ---- tests ---- */

/* 84 % lock: 200 ms, of which the kernel gives 100; 12 %: 20 ms. One change a phase. */
static void test_ammp(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, request_of("ammp"));
    char words[EFFECT_WORDS_MAX];

    for (unsigned phase = 0; phase < 4; phase++) {
        struct json_object *explain;

        run(f, step, phase * PHASE_S + 1, (phase + 1) * PHASE_S + 1);
        explain = told(f, step);
        assert_true(fabs(number(explain, "scaling") - (phase % 2 ? 0.88 : 0.16)) < 0.001);
        assert_int_equal(number(explain, "asked_ms"), phase % 2 ? 20 : 200);
        if (!isnan(number(explain, "slice_ms"))) /* the kernel has slices */
            assert_int_equal(number(explain, "slice_ms"), phase % 2 ? 20 : 100);
        assert_int_equal(number(explain, "threads"), 1);
        assert_int_equal(number(explain, "changes"), phase + 1);
        assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
        json_object_put(explain);
    }
    effect_words(step, words);
    assert_string_equal(words, "faithful");
    assert_int_equal(step->inside.effect[STEP_FAITHFUL].changes, 4);
    assert_int_equal(step->inside.any.changes, 4);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)fixture_child), getpriority(PRIO_PROCESS, 0));
}

/* What counts is measured a second after worker threads were seen: they are at the end of the
 * window that ends in the second second, so the one from then on does not count, the next one does.
 */
static void test_settles(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, request_of("ammp"));

    run(f, step, 1, 3);
    second(f, step, 3.5);
    assert_false(step->inside.sliced);
    second(f, step, 4.5);
    assert_true(step->inside.sliced);
}

/* Where nobody waits for a CPU nothing is changed. */
static void test_enough_cpus(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, request_of("unhurried"));

    run(f, step, 1, 2 * PHASE_S);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    assert_false(step->inside.sliced);
}

/* ADAPT has it among programs with slices on the same cores, or gives it a part of its own: there
 * it has no use for them. */
static void test_among_sliced(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of("unhurried");
    struct step *step;

    request.options.faithful = false;
    step = fixture_start(f, request);
    pipeline_observe(&f->packer); /* cores are dealt, and not again while nobody comes or goes */
    step->share.adapt = (struct step_adapt){.on = true, .parts = true, .faithful = true};
    run(f, step, 1, 5);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    step->share.adapt.parts = false;
    run(f, step, 5, 9);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
    step->share.adapt = (struct step_adapt){.on = false};
    run(f, step, 9, 10);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
}

/* Where nobody knows how many threads there are, there is no share of their time. */
static void test_unknown_threads(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, request_of("uncounted"));

    run(f, step, 1, 10);
    assert_false(step->inside.sliced);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
}

/* Without the word there is nothing, not even a place where something is kept. */
static void test_without_the_word(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of("ammp");
    struct step *step;
    struct json_object *explain;

    request.options.faithful = false;
    step = fixture_start(f, request);
    run(f, step, 1, PHASE_S);
    assert_null(step->inside.run);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    explain = told(f, step);
    assert_null(json_object_object_get(explain, "faithful"));
    json_object_put(explain);
}

static struct step *start_sliced(struct fixture *f)
{
    struct step *step = fixture_start(f, request_of("ammp"));

    run(f, step, 1, SLICED_S);
    assert_true(step->inside.sliced);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
    return step;
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_sliced(f);
    struct berth_error err;

    if (pipeline_release(&f->packer, step->request.id, &err) < 0)
        fail_msg("%s", err.text);
    finish(f, step);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    run(f, step, SLICED_S, SLICED_S + 5);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
}

/* It is in effect from its first change until it is taken back, also over a kill of berthd. */
static void test_how_long(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_start(f, request_of("ammp"));
    double began_s = clock_s(), seconds;
    struct berth_error err;

    run(f, step, 1, 2);
    assert_true(step->inside.any.since_s == 0);
    run(f, step, 2, SLICED_S);
    assert_true(step->inside.any.since_s >= began_s);
    fixture_restart(f);
    fixture_child_add(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    step = fixture_step(f, 1, 0);
    finish(f, step);
    seconds = effect_s(&step->inside.any, clock_s());
    assert_true(step->inside.any.since_s == 0);
    assert_true(seconds > 0 && seconds <= clock_s() - began_s);
    assert_int_equal(step->inside.effect[STEP_FAITHFUL].changes, 1);
    assert_true(effect_s(&step->inside.effect[STEP_FAITHFUL], clock_s()) == seconds);
    run(f, step, SLICED_S, SLICED_S + 5);
    assert_int_equal(step->inside.any.changes, 2);
    assert_true(effect_s(&step->inside.any, clock_s()) > seconds);
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    finish(f, step);
    assert_true(step->inside.any.since_s == 0);
}

/* What was undone and could not be written down is written down later: else a berthd to come would
 * take from threads what their program has given them since. */
static void test_unwritten_undo(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_sliced(f);

    strcpy(step->inside.run->why, "a test wants it so"); /* it is given up */
    /* In this turn, however slow the machine is. */
    enforce_pace(f->packer.world.enforce, ENFORCE_ALL, 0);
    fixture_limit_files(0);
    inside_undo(&f->packer, step);
    fixture_limit_files(RLIM_INFINITY);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    assert_true(step->inside.undo_failed & 1u << STEP_FAITHFUL);
    assert_true(fixture_journal_has(f, "sliced"));
    second(f, step, SLICED_S);
    assert_false(fixture_journal_has(f, "sliced"));
    assert_false(step->inside.sliced);
    assert_int_equal(step->inside.undo_failed, 0);
}

/* Sets the child to SCHED_OTHER, as its program may: it keeps the slice that berth has given. */
static void choose_other(void)
{
    struct sched_param none = {0};

    assert_int_equal(sched_setscheduler(fixture_child, SCHED_OTHER, &none), 0);
}

static uint64_t slice_of(pid_t tid)
{
    struct attributes now;

    assert_int_equal(attributes_get(tid, &now), 0);
    assert_int_equal(now.policy, SCHED_OTHER);
    return now.runtime_ns;
}

/* The slice is taken back from a thread that is not of berth's class any more; also one that was
 * given before the last one, and by a berthd that was killed. */
static void test_other_by_the_program(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};
    uint64_t usual = slice_of(fixture_child);
    struct step *step = start_sliced(f);

    choose_other();
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    finish(f, step);
    assert_int_equal(slice_of(fixture_child), usual);
    fixture_end(f, 1, 0);

    step = start_sliced(f); /* 100 ms */
    enforce_pace(f->packer.world.enforce, ENFORCE_ALL, 0);
    choose_other();
    assert_int_equal(inside_slice(&f->packer, step, 20, &err), 0);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
    choose_other();
    fixture_restart(f);
    fixture_child_add(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    finish(f, fixture_step(f, 1, 0));
    assert_int_equal(slice_of(fixture_child), usual);
    assert_false(fixture_journal_has(f, "\"slices_ms\":\"20"));
}

/* A slice that its program had before berth gave the same is the program's. */
static void test_own_slice(void **state)
{
    struct attributes mine = {.nice = getpriority(PRIO_PROCESS, 0), .runtime_ns = 100000000};
    struct fixture *f = *state;
    struct berth_error err = {""};
    struct step *step;

    if (slice_of(fixture_child) == 0)
        skip(); /* this kernel has no slices */
    assert_int_equal(attributes_set(fixture_child, &mine), 0);
    step = fixture_start(f, request_of("ammp"));
    run(f, step, 1, SLICED_S);
    assert_true(step->inside.sliced);
    assert_int_equal(slice_of(fixture_child), 100000000);
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    finish(f, step);
    assert_int_equal(slice_of(fixture_child), 100000000);
}

static void test_stop(void **state)
{
    struct fixture *f = *state;

    start_sliced(f);
    pipeline_undo(&f->packer);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
}

/* Its end was told, and its threads run on. */
static void test_end(void **state)
{
    struct fixture *f = *state;

    start_sliced(f);
    fixture_end(f, 1, 0);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
}

static int list_other(struct enforce *enforce, const struct enforce_step *step,
                      struct enforce_pids *list)
{
    (void)enforce, (void)step;
    return enforce_pids_add(list, fixture_child);
}

/* What runs under its name is another step, whose class is its own. */
static void test_another_step(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    start_sliced(f);
    fixture_restart(f);
    fixture_child_add(f);
    f->way.pids = list_other;
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(registry_find(f->packer.steps, (struct wire_step_id){1, 0}));
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
}

/* The journal says what is to be undone; then it begins anew. */
static void test_kill(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};
    struct step *step;

    start_sliced(f);
    fixture_restart(f);
    fixture_child_add(f);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    step = fixture_step(f, 1, 0);
    finish(f, step);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_OTHER);
    assert_false(step->inside.sliced);
    run(f, step, SLICED_S, SLICED_S + 5);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
}

/* Nothing is changed that the journal does not have. */
static void test_journal_first(void **state)
{
    struct fixture *f = *state;

    start_sliced(f);
    assert_true(fixture_journal_has(f, "sliced"));
}

/* A program with such a class of its own is left alone, and explain says why. */
static void test_own_class(void **state)
{
    struct fixture *f = *state;
    struct sched_param none = {0};
    struct step *step;

    assert_int_equal(sched_setscheduler(fixture_child, SCHED_BATCH, &none), 0);
    step = fixture_start(f, request_of("ammp"));
    run(f, step, 1, SLICED_S);
    assert_refused(f, step, "SCHED_BATCH of its own");
    assert_false(step->inside.sliced);
    pipeline_undo(&f->packer);
    assert_int_equal(sched_getscheduler(fixture_child), SCHED_BATCH);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = request_of("ammp");
    struct wire_answer answer;

    f->way.touches = false;
    pipeline_start(&f->packer, &request, &answer);
    assert_string_equal(answer.warning, "faithful has no effect: nothing is changed on this node "
                                        "(enforcement=dryrun)");
    wire_answer_clear(&answer);
    fixture_end(f, 1, 0);
    f->way.touches = true;
    request = request_of("ammp");
    request.bound_by_hand = true;
    assert_refused(f, fixture_start(f, request), "berth does not place the step");
    fixture_end(f, 1, 0);
    strcpy(f->packer.world.conf.allow, "auto");
    assert_refused(f, fixture_start(f, request_of("ammp")), "berth.conf does not allow it");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_child_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_ammp),
        TEST(test_settles),
        TEST(test_enough_cpus),
        TEST(test_among_sliced),
        TEST(test_unknown_threads),
        TEST(test_without_the_word),
        TEST(test_release),
        TEST(test_how_long),
        TEST(test_unwritten_undo),
        TEST(test_other_by_the_program),
        TEST(test_own_slice),
        TEST(test_stop),
        TEST(test_end),
        TEST(test_another_step),
        TEST(test_kill),
        TEST(test_journal_first),
        TEST(test_own_class),
        TEST(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
