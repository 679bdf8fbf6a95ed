/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_loop - OptiCore's loop through the pipeline, with counters from a recording: what is
 * profiled, which cores the step has meanwhile and after, and what becomes of both when things go
 * otherwise.
 *
 * The recording's clock is the step's age, which the test sets. The clock stands while a step is
 * that old: how long the machine takes does not count. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/observe/window.h"
#include "packer/size/judge.h"
#include "packer/size/loop.h"
#include "packer/size/phases.h"
#include "packer/size/size.h"
#include "packer/size/size_impl.h"

static double stands_at_s; /* 0: the clock goes */
double __real_clock_s(void);
double __wrap_clock_s(void);

double __wrap_clock_s(void)
{
    return stands_at_s > 0 ? stands_at_s : __real_clock_s();
}

/* Two cores of a node have all that its memory gives. */
static const double saturates[] = {0, 6, 10, 10, 10};

#define PHASE_S 60
#define WIDE_GBPS 6.4   /* of one core: two of a node are enough */
#define NARROW_GBPS 2.5 /* it takes all */

/* What a program does in a second: bytes moved, and misses per million of its 4e9 instructions. */
struct doing {
    double bytes, misses, cpus;
};
static const struct doing wide = {2 * WIDE_GBPS * 1e9, 50000, 8},
                          narrow = {2 * NARROW_GBPS * 1e9, 19500, 8}, quiet = {1e8, 390, 8},
                          stopped = {0, 0, 0};

struct recorder {
    FILE *file;
    const char *name;
    double at_s, instructions, bytes, misses, cpu_ns;
};

static void write_row(struct recorder *r)
{
    fprintf(r->file, "%s,%.0f,%.0f,%.0f,%.0f,%.0f,8\n", r->name, r->at_s, r->instructions,
            r->misses, r->bytes, r->cpu_ns);
}

static void record(struct recorder *r, unsigned seconds, const struct doing *doing)
{
    for (unsigned i = 0; i < seconds; i++) {
        r->at_s++;
        r->instructions += doing->cpus > 0 ? 4e9 : 0;
        r->bytes += doing->bytes;
        r->misses += doing->misses * 4e3;
        r->cpu_ns += doing->cpus * 1e9;
        write_row(r);
    }
}

/* So many seconds as it is, and as many as it is with so much less speed. */
static void record_slower(struct recorder *r, unsigned seconds, unsigned slower, double loss)
{
    record(r, seconds, &wide);
    for (unsigned i = 0; i < slower; i++) {
        r->at_s++;
        r->instructions += (1 - loss) * 4e9;
        r->bytes += (1 - loss) * wide.bytes;
        r->misses += (1 - loss) * wide.misses * 4e3;
        r->cpu_ns += wide.cpus * 1e9;
        write_row(r);
    }
}

static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");
    struct recorder phases = {.file = file, .name = "phases"},
                    steady = {.file = file, .name = "steady"},
                    loses = {.file = file, .name = "loses"},
                    bears = {.file = file, .name = "bears"}, calm = {.file = file, .name = "calm"},
                    pause = {.file = file, .name = "pause"},
                    rests = {.file = file, .name = "rests"};

    assert_non_null(file);
    fprintf(file, "step,at,instructions,llc_misses,bytes,cpu_ns,threads\n");
    for (int i = 0; i < 2; i++) {
        record(&phases, PHASE_S, &wide);
        record(&phases, PHASE_S, &narrow);
    }
    record(&steady, 100, &wide);
    record_slower(&loses, 200, 100, 0.25);
    record_slower(&bears, 200, 100, 0.1);
    record(&calm, 100, &quiet);
    record(&pause, 4, &wide); /* it is stopped just when it would be profiled */
    record(&pause, 10, &stopped);
    record(&pause, 200, &wide);
    for (int i = 0; i < 50; i++) { /* single seconds of something else */
        record(&rests, 1 + i % 5, &wide);
        record(&rests, 1, &narrow);
    }
    fclose(file);
}

static int open_loop(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay);
    fixture_machine(f, 2, 4, saturates);
    fixture_timed(f, "as wide", WIDE_GBPS * 1e9 / 64 / 2e9 * 1e6, 2e9);
    fixture_timed(f, "as narrow", NARROW_GBPS * 1e9 / 64 / 2e9 * 1e6, 2e9);
    fixture_paper(f);
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, NULL);
    *state = f;
    return 0;
}

static struct step *start_as(struct fixture *f, const char *tag, enum wire_mode mode, size_t tasks)
{
    struct wire_register request = fixture_request(1, 0, "0-7", "0-7", tasks, tag);

    request.options.size = true;
    request.options.mode = mode;
    request.options.size_loss_pct = 20; /* a second run is worth it after 20 s */
    return fixture_start(f, request);
}

static struct step *start(struct fixture *f, const char *tag)
{
    return start_as(f, tag, WIRE_MODE_AUTO, 1);
}

/* The step is so old. */
static void at(struct fixture *f, struct step *step, double age_s, bool window)
{
    stands_at_s = __real_clock_s();
    step->started_mono_s = stands_at_s - age_s;
    if (step->counts && window)
        step->counts->due_s = 0;
    pipeline_observe(&f->packer);
    pipeline_observe(&f->packer); /* who asks to be called again at once is */
    stands_at_s = 0;
}

/* A second of its life. */
static void second(struct fixture *f, struct step *step, double age_s)
{
    at(f, step, age_s, true);
    at(f, step, age_s + 0.7, false);
}

static void run(struct fixture *f, struct step *step, double from_s, double to_s)
{
    for (double age_s = from_s; age_s < to_s; age_s++)
        second(f, step, age_s);
}

static void cores_of(struct fixture *f, const struct step *step, size_t *used)
{
    for (size_t i = 0; i < 2; i++) {
        size_t cores;

        size_on_node(&f->packer, step, i, &cores, &used[i]);
    }
}

/* What NuCore says of a program that is stored with such traffic. */
static size_t cores_for(struct fixture *f, const char *tag)
{
    struct step *step = start(f, tag);
    size_t given = step->size.given;

    fixture_end(f, 1, 0);
    return given;
}

static void test_two_phases(void **state)
{
    struct fixture *f = *state;
    size_t for_wide = cores_for(f, "as wide"), for_narrow = cores_for(f, "as narrow"), used[2];
    struct step *step = start(f, "phases");
    unsigned changes = 0;
    size_t before = 8;

    assert_true(for_wide < for_narrow);
    assert_int_equal(step->size.given, 8);
    for (unsigned i = 0; i < 12; i++) {
        size_t wanted = i % 2 ? for_narrow : for_wide;

        for (unsigned s = 0; s < PHASE_S; s++) {
            second(f, step, i * PHASE_S + s + 1);
            changes += step->size.given != before;
            before = step->size.given;
            if (s < 5) /* it takes two windows to see a phase */
                continue;
            if (i >= 2)
                assert_int_equal(step->size.given, wanted);
        }
        assert_int_equal(step->size.given, wanted);
        cores_of(f, step, used);
        assert_int_equal(used[0], used[1]);
        assert_int_equal(step->size.loop.state, OPTICORE_WATCHING);
        assert_true(step->size.loop.known);
        assert_int_equal(step->size.loop.phase, 1 + i % 2);
    }
    assert_int_equal(step->size.loop.profiles, 2);
    assert_true(step->size.loop.profiled_s >= 1 && step->size.loop.profiled_s < 2.1);
    assert_in_range(changes, 12, 14); /* one a phase, and the second one unknown at first */
    assert_int_equal(step->enacted.moves, 0);
}

/* For half a second one core of each node, and then what comes of it. */
static void test_cores_of_a_run(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "steady");
    double age_s = 1;

    f->packer.state->size->patience_s = 1e-7; /* of a launch: nobody waits here */
    step->request.options.size_loss_pct = 2;  /* the usual */
    for (; step->size.loop.state != OPTICORE_PROFILING; age_s++) {
        assert_true(age_s < 20);
        at(f, step, age_s, true);
    }
    assert_in_range((unsigned)age_s, 5, 8); /* early in its life */
    step->request.options.size_loss_pct = 20;
    assert_cpus(&step->body.task[0].cpus, "0,4");
    assert_non_null(strstr(f->calls, "apply 1.0 0,4;"));
    assert_cpus(&step->body.task[0].sized, "0-7"); /* what the journal has */
    assert_true(step->counts->held);
    at(f, step, age_s - 0.7, false); /* not yet half a second */
    assert_int_equal(step->size.loop.state, OPTICORE_PROFILING);
    at(f, step, age_s - 0.3, false);
    assert_int_equal(step->size.loop.state, OPTICORE_SIZED);
    assert_false(step->counts->held);
    assert_true(cpus_equal(&step->body.task[0].cpus, &step->body.task[0].sized));
    assert_true(step->size.given < 8);
    assert_false(step->size.loop.traffic->disturbed);
    assert_true(fabs(step->size.loop.traffic->core_gbps - WIDE_GBPS) < 0.1);
    run(f, step, age_s + 1, 99);
    assert_int_equal(step->size.loop.profiles, 1);
}

/* Another step of the program is sized as soon as its phase has been seen. */
static void test_next_run(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "steady");
    size_t given;

    run(f, step, 1, 20);
    given = step->size.given;
    assert_int_equal(size_judge_speed(step).cores, 8); /* which the store gets, too */
    assert_true(fabs(size_judge_speed(step).instructions_per_s / 4e9 - 1) < 0.01);
    fixture_end(f, 1, 0);
    step = start(f, "steady");
    run(f, step, 1, 15);
    assert_int_equal(step->size.loop.profiles, 0);
    assert_true(step->size.loop.known);
    assert_int_equal(step->size.given, given);
}

static void test_disturbed(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "steady");
    double age_s = 1;

    for (; step->size.loop.state != OPTICORE_PROFILING; age_s++)
        at(f, step, age_s, true);
    fixture_busy(f, (const unsigned[8]){[3] = 10});
    at(f, step, age_s - 0.3, false);
    assert_true(step->size.loop.traffic->disturbed);
}

/* Where the memories keep nobody waiting there is nothing to be found out. */
static void test_quiet(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "calm");

    run(f, step, 1, 60);
    assert_int_equal(step->size.loop.profiles, 0);
    assert_true(step->size.loop.known);
    assert_int_equal(step->size.given, 8);
    assert_non_null(strstr(step->size.loop.why, "less than half"));
}

static void test_no_oscillation(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "rests");
    uint64_t changes = step->share.changes;

    run(f, step, 1, 200);
    assert_true(step->size.loop.profiles <= 1);
    assert_true(step->share.changes - changes <= 2);
}

/* A step that is stopped tells nothing, and is measured when it goes on. */
static void test_stopped(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "pause");

    run(f, step, 1, 15);
    assert_false(step->size.loop.known);
    assert_int_equal(step->size.given, 8);
    run(f, step, 15, 90);
    assert_true(step->size.loop.known);
    assert_true(step->size.given < 8);
}

static struct step *begin_profiling(struct fixture *f, const char *tag)
{
    struct step *step = start(f, tag);

    for (double age_s = 1; step->size.loop.state != OPTICORE_PROFILING; age_s++)
        at(f, step, age_s, true);
    return step;
}

static void test_ends_meanwhile(void **state)
{
    struct fixture *f = *state;

    begin_profiling(f, "steady");
    fixture_end(f, 1, 0);
    assert_int_equal(f->packer.steps->nlive, 0);
}

static void test_released_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct step *step = begin_profiling(f, "steady");
    struct berth_error err;

    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    assert_cpus(&step->body.task[0].cpus, "0-7");
    at(f, step, 30, true);
    assert_null(step->size.loop.run);
    assert_false(step->counts->held);
    assert_true(cpus_empty(&step->size.loop.only));
}

/* The berthd after the one that was killed gives the cores back, and knows what was spent. */
static void test_killed_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;
    struct step *step;

    begin_profiling(f, "steady");
    fixture_restart(f);
    fixture_paper(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    step = fixture_step(f, 1, 0);
    assert_cpus(&step->body.task[0].cpus, "0-7");
    assert_non_null(strstr(f->calls, "apply 1.0 0-7;"));
    at(f, step, 12, true);
    assert_int_equal(step->size.loop.profiles, 1);
    assert_int_equal(step->size.loop.state, OPTICORE_STORED);
}

/* Who has one core for each task keeps it. */
static void test_a_core_a_task(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_as(f, "steady", WIRE_MODE_AUTO, 8);

    run(f, step, 1, 40);
    assert_int_equal(step->size.loop.profiles, 0);
    assert_non_null(strstr(step->size.loop.why, "no core to spare"));
    fixture_end(f, 1, 0);
    step = start_as(f, "steady", WIRE_MODE_AUTO, 4);
    for (double age_s = 1; step->size.loop.state != OPTICORE_PROFILING; age_s++)
        at(f, step, age_s, true);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cpus_count(&step->body.task[i].use), 1);
}

static void test_observed(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_as(f, "steady", WIRE_MODE_OBSERVE, 1);

    run(f, step, 1, 40);
    assert_int_equal(step->size.loop.profiles, 0);
    assert_null(strstr(f->calls, "apply"));
    assert_non_null(strstr(step->size.loop.why, "only observed"));
}

/* Who did not ask is not followed; who may lose nothing is never profiled. */
static void test_not_asked(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 2, "0-7", "steady");

    run(f, step, 1, 20);
    assert_null(step->size.loop.run);
    fixture_end(f, 2, 0);
    step = start(f, "steady");
    step->request.options.size_loss_pct = 0;
    run(f, step, 1, 200);
    assert_int_equal(step->size.loop.profiles, 0);
}

/* Without counters it stays as the store says, and says why. */
static void test_uncounted(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, "nobody's");

    run(f, step, 1, 20);
    assert_int_equal(step->size.loop.profiles, 0);
    assert_int_equal(step->size.given, 8);
    assert_non_null(strstr(step->size.loop.why, "nobody counts"));
}

/* ---- what it has cost ---- */

/* Runs until fewer cores than all are its, and then where these are slower. */
static struct step *size_and_slow_down(struct fixture *f, const char *tag)
{
    struct step *step = start(f, tag);
    double age_s = 1;

    for (; step->size.given == 8; age_s++) {
        assert_true(age_s < 100);
        second(f, step, age_s);
    }
    assert_true(isnan(step->size.verdict.measured));
    run(f, step, 210, 230);
    return step;
}

/* 25 % slower, where 20 are allowed: all cores are back, and stay so, and the next one has them. */
static void test_too_much_lost(void **state)
{
    struct fixture *f = *state;
    struct step *step = size_and_slow_down(f, "loses");

    assert_int_equal(step->size.given, 8);
    assert_cpus(&step->body.task[0].cpus, "0-7");
    assert_int_equal(step->size.verdict.undone, 1);
    assert_non_null(strstr(step->size.reason, "all cores back: on "));
    assert_non_null(strstr(step->size.reason, "more than 20 %"));
    assert_true(fabs(step->size.verdict.measured - 0.25) < 0.02);
    assert_true(step->size.verdict.error < 0.02);
    assert_true(step->size.verdict.freed_core_s >= 0);
    size_node(&f->packer, NULL);
    run(f, step, 230, 290);
    assert_int_equal(step->size.given, 8);
    assert_int_equal(step->size.verdict.undone, 1);
    fixture_end(f, 1, 0);
    step = start(f, "loses");
    assert_int_equal(step->size.given, 8);
    assert_non_null(strstr(step->size.reason, "within the last hour"));
}

/* The store has what an earlier run of the program asked for on all cores, and how fast it was. */
static void learn_before(struct fixture *f, const char *key, double instructions_per_s)
{
    double own[] = {WIDE_GBPS, 0, 0, WIDE_GBPS}, none[] = {0, 0, 0, 0};
    struct profile_demand demand = {.nodes = 2,
                                    .read_solo = own,
                                    .write_solo = none,
                                    .matrix = PROFILE_MATRIX_PAGES,
                                    .measured_at = time(NULL),
                                    .seconds = 0.5,
                                    .speed = {.cores = 8,
                                              .instructions_per_s = instructions_per_s,
                                              .error = 0.001,
                                              .windows = 10,
                                              .misses = wide.misses,
                                              .bytes = wide.bytes / 4e3}};
    struct profiles *store;
    struct berth_error err;

    snprintf(demand.machine, sizeof(demand.machine), "%s", f->packer.world.machine_type);
    assert_int_equal(profiles_open(&store, f->conf.profile_db, true, &err), 0);
    assert_int_equal(profiles_put_demand(store, PROFILE_EVERYBODY, key, &demand, &err), 0);
    profiles_close(store);
}

/* Who had fewer cores from the start is compared with that run. */
static void test_lost_from_the_start(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    learn_before(f, "tag:loses", 4e9);
    step = start(f, "loses");
    assert_true(step->size.given < 8);
    run(f, step, 201, 230);
    assert_int_equal(step->size.given, 8);
    assert_int_equal(step->size.verdict.undone, 1);
    assert_true(fabs(step->size.verdict.measured - 0.25) < 0.02);
    fixture_end(f, 1, 0);
    learn_before(f, "tag:bears", 4e9);
    step = start(f, "bears");
    run(f, step, 201, 230);
    assert_true(step->size.given < 8);
    assert_true(fabs(step->size.verdict.measured - 0.1) < 0.02);
}

static void test_lost_as_allowed(void **state)
{
    struct fixture *f = *state;
    struct step *step = size_and_slow_down(f, "bears");

    run(f, step, 230, 290);
    assert_true(step->size.given < 8);
    assert_int_equal(step->size.verdict.undone, 0);
    assert_true(fabs(step->size.verdict.measured - 0.1) < 0.02);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_loop, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_two_phases),
        test(test_cores_of_a_run),
        test(test_next_run),
        test(test_disturbed),
        test(test_quiet),
        test(test_no_oscillation),
        test(test_stopped),
        test(test_ends_meanwhile),
        test(test_released_meanwhile),
        test(test_killed_meanwhile),
        test(test_a_core_a_task),
        test(test_observed),
        test(test_too_much_lost),
        test(test_lost_as_allowed),
        test(test_not_asked),
        test(test_lost_from_the_start),
        test(test_uncounted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
