/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_window - windows of counting from a recording, on a machine whose /proc/stat the test
 * writes: start-up, first window, phases, alone and beside others, and what the store learns of it.
 *
 * The recording's clock is the step's age, which the test sets. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>

#include "packer/observe/classify.h"
#include "packer/observe/learn.h"
#include "packer/observe/window.h"

/* "devil" misses 20000 times per million instructions, "turtle" 10; "phases" is a turtle for 10 s,
 * then a devil for 10 s. 2e9 instructions a second each. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "step,at,instructions,llc_misses,cpu_ns,threads\n");
    for (int at = 1; at <= 20; at++) {
        fprintf(file, "devil,%d,%.0f,%.0f,%.0f,1\n", at, at * 2e9, at * 40e6, at * 1e9);
        fprintf(file, "turtle,%d,%.0f,%.0f,%.0f,2\n", at, at * 2e9, at * 20e3, at * 1e9);
        fprintf(file, "phases,%d,%.0f,%.0f,%.0f,1\n", at, at * 2e9,
                at <= 10 ? at * 20e3 : 200e3 + (at - 10) * 40e6, at * 1e9);
    }
    fclose(file);
}

static void use_tree(struct fixture *f)
{
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, NULL);
}

static int open_replay(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.learn = CONF_ON;
    fixture_restart(f);
    fixture_paper(f);
    use_tree(f);
    *state = f;
    return 0;
}

/* The step is so old, and its window over. Returns what window_due does. */
static double at_age(struct fixture *f, struct step *step, double age_s)
{
    step->started_mono_s = clock_s() - age_s;
    step->counts->due_s = 0;
    return pipeline_observe(&f->packer);
}

static void assert_rate(const struct step *step, enum rate_id id, double wanted)
{
    double mean, error;

    assert_true(step_counts_rate(step, id, &mean, &error));
    if (!(fabs(mean - wanted) <= 1e-3 * wanted))
        fail_msg("%s: %g, not %g", rate_info[id].name, mean, wanted);
}

static double woken_s;

static void wake(void *arg, double in_s)
{
    (void)arg;
    woken_s = in_s;
}

/* Nothing before the start-up is over; then a reading, and with the first window its class. */
static void test_first_window(void **state)
{
    struct fixture *f = *state;
    struct counters_sample sample;
    struct step *step;
    double next, mean, error;

    f->packer.wake.call = wake;
    step = fixture_run(f, 1, "0", "devil");
    assert_true(woken_s == 1);
    assert_non_null(step->counts);
    assert_int_equal(step->class.id, STEP_UNPROFILED);
    next = pipeline_observe(&f->packer);
    assert_true(next > 0.5 && next <= 1);
    assert_int_equal(window_read(&f->packer, step, &sample), -1);
    next = at_age(f, step, 1);
    assert_true(next > 0.3 && next <= 0.5);
    assert_int_equal(window_read(&f->packer, step, &sample), 0);
    assert_false(step_counts_rate(step, RATE_MISS_PMI, &mean, &error));
    next = at_age(f, step, 1.5);
    assert_true(next > 0.3 && next <= 1.5);
    assert_rate(step, RATE_MISS_PMI, 20000);
    assert_rate(step, RATE_INSTRUCTIONS, 2e9);
    assert_rate(step, RATE_CPU, 1);
    assert_int_equal(step->counts->windows, 1);
    assert_int_equal(step->class.id, STEP_DEVIL);
    assert_string_equal(step->profile.source, "replay, this run");
    assert_true(fabs(classify_rate(&f->packer, step) - 20000) < 20);
}

/* Of a step that leaves the hardware counters to its user nothing is counted by them, and nothing
 * is said of it. */
static void test_nocount(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, "devil");
    struct step *step;

    request.options.nocount = true;
    step = fixture_start(f, request);
    assert_int_equal(step->state, STEP_PLACED);
    at_age(f, step, 1);
    at_age(f, step, 2);
    at_age(f, step, 3);
    assert_false(counters_know(&step->counts->last, COUNTER_INSTRUCTIONS));
    assert_false(counters_know(&step->counts->last, COUNTER_LLC_MISSES));
    assert_int_equal(step->class.id, STEP_UNPROFILED);
    step = fixture_run(f, 2, "1", "devil");
    at_age(f, step, 1);
    at_age(f, step, 2);
    assert_true(counters_know(&step->counts->last, COUNTER_INSTRUCTIONS));
}

static void test_no_steps(void **state)
{
    struct fixture *f = *state;

    assert_true(window_due(&f->packer) < 0);
    fixture_run(f, 1, "0", "stranger"); /* no recording: attached, nothing known */
    at_age(f, registry_find(f->packer.steps, (struct wire_step_id){1, 0}), 1);
    at_age(f, registry_find(f->packer.steps, (struct wire_step_id){1, 0}), 2);
    fixture_end(f, 1, 0);
    assert_true(window_due(&f->packer) < 0);
}

/* Asking when a window is over reads nothing; the turn that reads it says whose it was. */
static void test_whose_window(void **state)
{
    struct fixture *f = *state;
    struct step *one = fixture_run(f, 1, "0", "devil"), *two = fixture_run(f, 2, "1", "devil");
    struct windows windows;

    at_age(f, one, 1); /* its start-up is over */
    at_age(f, two, 1);
    one->counts->due_s = 0;
    assert_true(window_due(&f->packer) == 0);
    assert_true(one->counts->due_s == 0);
    assert_int_equal(one->counts->windows, 0);
    one->started_mono_s -= 1;
    windows = window_turn(&f->packer);
    assert_int_equal(windows.n, 1);
    assert_true(windows_have(&windows, one));
    assert_false(windows_have(&windows, two));
    windows = window_turn(&f->packer);
    assert_int_equal(windows.n, 0);
    assert_false(windows_have(&windows, one));
}

static void count_solo(struct fixture *f, const char *tag, double misses)
{
    struct profiles *store = NULL;
    struct profile_sample sample;
    struct berth_error err = {""};

    profile_sample_init(&sample);
    profile_key_tag(sample.key, tag);
    snprintf(sample.machine, sizeof(sample.machine), "%s", f->packer.world.machine_type);
    strcpy(sample.source, "replay");
    sample.windows = 10;
    sample.seconds = 10;
    sample.measured_at = time(NULL);
    sample.rate[PROFILE_MISSES] = (struct profile_estimate){misses, 1};
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_samples(store, &sample, 1, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

/* Works a window of a second with CPU 0, and with CPU 1 beside it for so many hundredths. */
static void work(struct fixture *f, struct step *step, unsigned busy[8], double age_s,
                 unsigned beside)
{
    busy[0] += 100;
    busy[1] += beside;
    fixture_busy(f, busy);
    at_age(f, step, age_s);
}

/* A simulated rate gives way to what is counted, with the first window: alone, or beside others,
 * which cannot make that much of it (FIDELITY's DIO-3: the store says 10, counters say more). */
static void test_simulated_gives_way(void **state)
{
    struct fixture *f = *state;

    fixture_profile(f, "devil", 10);
    for (uint32_t beside = 0; beside <= 1; beside++) {
        struct step *step = fixture_run(f, 1 + beside, "0", "devil");
        unsigned busy[8] = {0};

        assert_int_equal(step->class.id, STEP_TURTLE);
        assert_int_equal(step->knowledge.rung, RUNG_DISTANCES);
        fixture_busy(f, busy);
        at_age(f, step, 1);
        work(f, step, busy, 2, 100 * beside);
        assert_int_equal(step->class.id, STEP_DEVIL);
        assert_string_equal(step->profile.source, "replay, this run");
        assert_int_equal(step->profile.ways, 0); /* nor are its stack distances right */
        assert_int_equal(step->knowledge.rung, RUNG_MISSES);
        assert_true(step->profile.reference == !beside);
        fixture_end(f, 1 + beside, 0);
    }
}

/* Beside others a program may miss what it hits alone: its stack distances stay, and what it is
 * alone. */
static void test_neighbours_take_hits(void **state)
{
    struct fixture *f = *state;
    struct profile profile = {.misses = 10,
                              .accesses = 30010,
                              .llc_ways = 4,
                              .hits = {[3] = 30000},
                              .llc_bytes = f->packer.world.topo->llc[0].size_bytes,
                              .source = "valgrind"};
    struct profiles *store = NULL;
    unsigned busy[8] = {0};
    struct berth_error err;
    struct step *step;

    profile_key_tag(profile.key, "devil");
    assert_int_equal(profiles_open(&store, f->conf.profile_db, true, &err), 0);
    assert_int_equal(profiles_put(store, &profile, &err), 0);
    profiles_close(store);
    step = fixture_run(f, 1, "0", "devil");
    at_age(f, step, 1);
    work(f, step, busy, 2, 100);
    assert_int_equal(step->class.id, STEP_DEVIL); /* as it is ranked, it is what it does now */
    assert_int_equal(step->profile.ways, 4);
    assert_true(step->profile.solo_pmi == 10);
    work(f, step, busy, 3, 0); /* alone it misses as much: it is another program */
    assert_int_equal(step->profile.ways, 0);
    assert_true(fabs(step->profile.solo_pmi - 20000) < 20);
}

/* What was counted of a run alone is not replaced by what is counted beside others; a window alone
 * replaces it at once. */
static void test_reference_stays(void **state)
{
    struct fixture *f = *state;
    unsigned busy[8] = {0};
    struct step *step;

    count_solo(f, "devil", 50);
    step = fixture_run(f, 1, "0", "devil");
    assert_true(step->profile.reference && step->profile.counted);
    at_age(f, step, 1);
    for (double age = 2; age < 9; age++)
        work(f, step, busy, age, 100);
    assert_rate(step, RATE_MISS_PMI, 20000);
    assert_int_equal(step->class.id, STEP_TURTLE);
    assert_true(step->profile.miss_pmi == 50);
    work(f, step, busy, 9, 0);
    assert_int_equal(step->class.id, STEP_DEVIL);
    for (double age = 10; age < 14; age++)
        work(f, step, busy, age, 100);
    assert_true(fabs(step->profile.solo_pmi - 20000) < 20);
}

static void test_phases(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "phases");

    for (double age = 1; age <= 9; age++)
        at_age(f, step, age);
    assert_int_equal(step->class.id, STEP_TURTLE);
    assert_int_equal(step->counts->phase.number, 1);
    for (double age = 10; age <= 14; age++)
        at_age(f, step, age);
    assert_int_equal(step->counts->phase.number, 2);
    assert_rate(step, RATE_MISS_PMI, 20000);
    assert_int_equal(step->class.id, STEP_DEVIL);
}

/* CPU 1 shares the cache with CPU 0, CPU 2 does not. */
static void test_alone_and_beside(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "devil");
    unsigned busy[8] = {0};

    at_age(f, step, 1);
    busy[0] += 100; /* itself */
    busy[2] += 100;
    fixture_busy(f, busy);
    at_age(f, step, 2);
    assert_int_equal(step->counts->ended[0], 1);
    assert_int_equal(step->counts->ended[1], 0);
    busy[1] += 4; /* a twentieth is nothing */
    fixture_busy(f, busy);
    at_age(f, step, 3);
    assert_int_equal(step->counts->ended[0], 2);
    busy[1] += 20;
    fixture_busy(f, busy);
    at_age(f, step, 4);
    assert_int_equal(step->counts->ended[1], 1);
    window_follow(&f->packer, step); /* a window in two places is neither */
    at_age(f, step, 5);
    assert_int_equal(step->counts->windows, 4);
    assert_int_equal(step->counts->ended[0] + step->counts->ended[1], 3);
}

/* No /proc/stat: windows count, but nobody can say who was alone. */
static void test_unknown_neighbours(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "devil");
    char path[128];

    snprintf(path, sizeof(path), "%s/proc/stat", f->dir);
    remove(path);
    at_age(f, step, 1);
    at_age(f, step, 2);
    assert_int_equal(step->counts->windows, 1);
    assert_int_equal(step->counts->ended[0] + step->counts->ended[1], 0);
    fixture_end(f, 1, 0);
}

/* One run, and the next of the same program is a devil at its launch. The daemon's end waits until
 * it is written. */
static void test_learned(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "devil");

    for (double age = 1; age <= 5; age++)
        at_age(f, step, age);
    fixture_end(f, 1, 0);
    fixture_restart(f);
    use_tree(f);
    step = fixture_run(f, 2, "0", "devil");
    assert_int_equal(step->class.id, STEP_DEVIL);
    assert_string_equal(step->profile.source, "replay");
    assert_true(step->profile.reference);
    assert_true(fabs(step->profile.miss_pmi - 20000) < 20);
}

static void test_beside_is_no_reference(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "devil");
    unsigned busy[8] = {0};

    for (double age = 1; age <= 5; age++) {
        busy[1] += 100;
        fixture_busy(f, busy);
        at_age(f, step, age);
    }
    fixture_end(f, 1, 0);
    fixture_restart(f);
    use_tree(f);
    step = fixture_run(f, 2, "0", "devil");
    assert_true(step->profile.known);
    assert_false(step->profile.reference);
    assert_string_equal(step->profile.source, "replay, co-run");
}

/* Not opted in: not counted. Ended: the averages stay for explain, nothing is read; there are none
 * where the first reading was not waited for. */
static void test_who_is_counted(void **state)
{
    struct fixture *f = *state;
    struct wire_register off = fixture_request(1, 0, "0", "0", 1, "devil");
    struct step *step;

    off.options.mode = WIRE_MODE_OFF;
    assert_null(fixture_start(f, off)->counts);
    step = fixture_run(f, 2, "1", "devil");
    at_age(f, step, 1);
    at_age(f, step, 2);
    fixture_end(f, 2, 0);
    step = TAILQ_FIRST(&f->packer.steps->ended);
    assert_null(step->counts->counters);
    assert_rate(step, RATE_MISS_PMI, 20000);
    assert_true(window_due(&f->packer) < 0);
    assert_non_null(fixture_run(f, 3, "1", "devil")->counts);
    fixture_end(f, 3, 0);
    assert_null(TAILQ_FIRST(&f->packer.steps->ended)->counts);
}

static bool no_memory;

struct counters_step *__real_counters_attach(struct counters *counters,
                                             const struct counters_target *target);
struct counters_step *__wrap_counters_attach(struct counters *counters,
                                             const struct counters_target *target);
struct counters_step *__wrap_counters_attach(struct counters *counters,
                                             const struct counters_target *target)
{
    return no_memory ? NULL : __real_counters_attach(counters, target);
}

/* A step that cannot be counted for want of memory is tried again, but not at once: the event loop
 * would spin. */
static void test_no_memory(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 2, "1", "devil");

    no_memory = true;
    step->counts->due_s = 0;
    assert_int_equal(window_turn(&f->packer).n, 0);
    assert_true(window_due(&f->packer) > 0.001);
    no_memory = false;
    assert_null(step->counts->counters);
    step->counts->due_s = 0;
    window_turn(&f->packer);
    assert_non_null(step->counts->counters);
}

static size_t listings;

static int count_listing(struct enforce *enforce, const struct enforce_step *step,
                         struct enforce_pids *list)
{
    (void)enforce, (void)step;
    listings++;
    return enforce_pids_add(list, getpid());
}

/* Whoever counts a step wants to know its processes: they are listed once when its start-up is
 * over, and not before. */
static void test_listed_once(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct enforce_way way;
    struct step *step;

    (void)state;
    strcpy(f->conf.counters, "software");
    fixture_restart(f);
    fixture_paper(f);
    way = *f->packer.world.enforce->way;
    way.pids = count_listing;
    f->packer.world.enforce->way = &way;
    step = fixture_run(f, 2, "1", "devil");
    listings = 0;
    window_turn(&f->packer);
    assert_int_equal(listings, 0);
    step->counts->due_s = 0;
    window_turn(&f->packer);
    assert_non_null(step->counts->counters);
    assert_int_equal(listings, 1);
    fixture_end(f, 2, 0);
    f->packer.world.enforce->way = &f->way;
    fixture_close(f);
}

/* A restart of the daemon: the adopted step is counted anew. */
static void test_adopted(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 1, "0", "devil");
    struct berth_error err;

    at_age(f, step, 1);
    at_age(f, step, 2);
    fixture_restart(f);
    use_tree(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    step = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_non_null(step->counts);
    at_age(f, step, 10);
    at_age(f, step, 11);
    assert_rate(step, RATE_MISS_PMI, 20000);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_replay, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_first_window),
        CASE(test_nocount),
        CASE(test_no_steps),
        CASE(test_whose_window),
        CASE(test_reference_stays),
        CASE(test_simulated_gives_way),
        CASE(test_neighbours_take_hits),
        CASE(test_phases),
        CASE(test_alone_and_beside),
        CASE(test_unknown_neighbours),
        CASE(test_learned),
        CASE(test_beside_is_no_reference),
        CASE(test_who_is_counted),
        CASE(test_no_memory),
        cmocka_unit_test(test_listed_once),
        CASE(test_adopted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
