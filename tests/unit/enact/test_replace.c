/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_replace - running steps are moved when the recording says so, twice in a row, if it pays;
 * put back when they become slower; only told what would be done when observed. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/enact/replace.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/place.h"
#include "packer/place/isolation.h"

static void write_sample(FILE *file, const char *step, int at, double work, double instructions,
                         double accesses, double misses)
{
    fprintf(file,
            "{\"version\":1,\"step\":\"%s\",\"at\":%d,\"instructions\":%.0f,\"cycles\":%.0f,"
            "\"llc_accesses\":%.0f,\"llc_misses\":%.0f,\"cpu_ns\":%.0f,\"rss_node\":[4096,0]}\n",
            step, at, work * instructions, strncmp(step, "clocked", 7) ? at * 3e9 : work * 3e9,
            work * accesses, work * misses, at * 1e9);
}

/* Instructions, accesses and misses of a second: a stream misses with all its accesses; devils miss
 * 30000 times per million instructions, turtles 10; "tired" is a devil that does half as much from
 * the 12th second on, "slower" and "slow" are turtles that do 0.85 and 0.6 of it from then on,
 * "sharing" a devil that misses 2000 times more from the 11th second on, "lesser" one that does
 * 0.94, "clocked" one whose clock falls to a half from the 11th second on (and "clocked-turtle" a
 * turtle), and "relieved" a turtle that does 1.2 of it. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (int at = 1; at <= 60; at++) {
        write_sample(file, "devil", at, at, 1e9, 40e6, 30e6);
        write_sample(file, "stream", at, at, 1e9, 30e6, 30e6);
        write_sample(file, "turtle", at, at, 4e9, 400e3, 40e3);
        write_sample(file, "tired", at, at <= 12 ? at : 12 + (at - 12) * 0.5, 1e9, 40e6, 30e6);
        write_sample(file, "slower", at, at <= 12 ? at : 12 + (at - 12) * 0.85, 4e9, 400e3, 40e3);
        write_sample(file, "lesser", at, at <= 12 ? at : 12 + (at - 12) * 0.94, 1e9, 40e6, 30e6);
        write_sample(file, "relieved", at, at <= 12 ? at : 12 + (at - 12) * 1.2, 4e9, 400e3, 40e3);
        write_sample(file, "clocked", at, at <= 11 ? at : 11 + (at - 11) * 0.5, 1e9, 40e6, 30e6);
        write_sample(file, "clocked-turtle", at, at <= 11 ? at : 11 + (at - 11) * 0.5, 4e9, 400e3,
                     40e3);
        write_sample(file, "sharing", at, at, 1e9, 40e6,
                     at <= 11 ? 30e6 : (11 * 30e6 + (at - 11) * 32e6) / at);
        write_sample(file, "slow", at, at <= 12 ? at : 12 + (at - 12) * 0.6, 4e9, 400e3, 40e3);
    }
    fclose(file);
}

/* Nobody but the steps works on its CPUs: what this machine does otherwise is not looked at. */
static void use_tree(struct fixture *f)
{
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, NULL);
}

static struct fixture *open_on(const char *topology)
{
    struct fixture *f = fixture_open(topology);

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_restart(f);
    use_tree(f);
    fixture_paper(f);
    return f;
}

static int open_replay(void **state)
{
    *state = open_on(TWO_BY_TWO);
    return 0;
}

static struct step *step_of(struct fixture *f, uint32_t job)
{
    return registry_find(f->packer.steps, (struct wire_step_id){job, 0});
}

/* Two devils on one cache, two turtles on the other, as Slurm packed them. */
static void packed(struct fixture *f, const char *devil)
{
    fixture_run(f, 1, "0", devil);
    fixture_run(f, 2, "1", devil);
    fixture_run(f, 3, "2", "turtle");
    fixture_run(f, 4, "3", "turtle");
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
}

static size_t llc_of(struct fixture *f, uint32_t job)
{
    struct step *step = step_of(f, job);

    return f->packer.world.topo->core[cpus_next(&step->place.cpus, 0)].llc;
}

static void assert_spread(struct fixture *f)
{
    assert_true(llc_of(f, 1) != llc_of(f, 2));
    assert_true(llc_of(f, 3) != llc_of(f, 4));
}

static void test_spread(void **state)
{
    struct fixture *f = *state;
    struct step *one;

    packed(f, "devil");
    fixture_age(f, 1);
    fixture_age(f, 2); /* the first window: it pays */
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    one = step_of(f, 1)->replace.decisions ? step_of(f, 1) : step_of(f, 2);
    assert_non_null(strstr(one->replace.verdict, "next decision"));
    assert_true(one->replace.gain > 0.05);
    fixture_age(f, 3); /* and again */
    assert_spread(f);
    one = step_of(f, 1)->replace.decisions ? step_of(f, 1) : step_of(f, 2);
    assert_string_equal(one->replace.verdict, "moved");
    for (double age = 4; age < 20; age++)
        fixture_age(f, age);
    assert_spread(f);
    assert_true(f->packer.state->tally->moves >= 2 && f->packer.state->tally->moves <= 4);
    forecast_slowdowns(&f->packer);
    assert_true(step_of(f, 1)->slowdown.home > step_of(f, 1)->slowdown.now + 0.01);
}

static bool no_search;

int __real_place_decide(const struct scene *scene, const struct place_terms *terms,
                        struct berth_error *err);
int __wrap_place_decide(const struct scene *scene, const struct place_terms *terms,
                        struct berth_error *err);
int __wrap_place_decide(const struct scene *scene, const struct place_terms *terms,
                        struct berth_error *err)
{
    return no_search ? berth_error_set(err, "another one") : __real_place_decide(scene, terms, err);
}

/* Counts have noise: the next search would find a proposal that is as good and not the same. What
 * the decision before has said pays still, and is not sought again. */
static void test_noise(void **state)
{
    struct fixture *f = *state;

    packed(f, "devil");
    fixture_age(f, 1);
    fixture_age(f, 2);
    no_search = true;
    fixture_age(f, 3);
    no_search = false;
    assert_spread(f);
}

/* The papers' policies move, too, where their own score says so. */
static void test_schemes(void **state)
{
    static const enum wire_policy policy[] = {WIRE_POLICY_DI, WIRE_POLICY_PAIN, WIRE_POLICY_SDC,
                                              WIRE_POLICY_ANIMAL, WIRE_POLICY_MISSRATE};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
        f->packer.world.conf.policy = policy[i];
        packed(f, "devil");
        for (double age = 1; age < 8; age++)
            fixture_age(f, age);
        assert_spread(f);
        assert_int_equal(step_of(f, 1)->place.policy, policy[i]);
        for (uint32_t job = 1; job <= 4; job++)
            fixture_end(f, job, 0);
    }
}

static void test_off(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.replace = CONF_OFF;
    packed(f, "devil");
    for (double age = 1; age < 10; age++)
        fixture_age(f, age);
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
}

static void test_limit(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.replace_limit = 1;
    packed(f, "devil");
    for (double age = 1; age < 10; age++)
        fixture_age(f, age);
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    assert_non_null(strstr(step_of(f, 1)->replace.decisions ? step_of(f, 1)->replace.verdict
                                                            : step_of(f, 2)->replace.verdict,
                           "too many"));
}

/* The move costs more than it can bring within a horizon of no time. */
static void test_does_not_pay(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.replace_horizon_ms = 0;
    packed(f, "devil");
    for (double age = 1; age < 10; age++)
        fixture_age(f, age);
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
}

/* What was promised to who is isolated is kept, also where it does not pay. */
static void test_isolated(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.replace_horizon_ms = 0;
    packed(f, "devil");
    step_of(f, 1)->request.options.isolate = true;
    fixture_age(f, 1);
    assert_int_equal(isolation_missing(&f->packer, f->packer.state->pool),
                     0); /* nothing is known yet */
    fixture_age(f, 2);
    assert_int_equal(isolation_missing(&f->packer, f->packer.state->pool), 1);
    for (double age = 3; age < 10; age++)
        fixture_age(f, age);
    assert_int_equal(isolation_missing(&f->packer, f->packer.state->pool), 0);
    assert_spread(f);
}

/* Half as fast after the move: put back, and not tried again. */
static void test_regret(void **state)
{
    struct fixture *f = *state;

    packed(f, "tired");
    for (double age = 9; age <= 12; age++)
        fixture_age(f, age);
    assert_spread(f);
    for (double age = 13; age < 30; age++)
        fixture_age(f, age);
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    assert_true(f->packer.state->tally->moves <= 4);
}

/* Half as fast after the move, because the clock of the package fell: no move mends that, it
 * stays. Where the move has changed the package, its clock is the move's doing. */
static void test_clock_is_not_regretted(void **state)
{
    static const char *const topology[] = {TWO_BY_TWO, "package:4 l3:1 core:2 pu:1"};

    for (size_t i = 0; i < 2; i++) {
        struct fixture *f;

        fixture_close(*state);
        *state = f = open_on(topology[i]);
        fixture_run(f, 1, "0", "clocked");
        fixture_run(f, 2, "1", "clocked");
        fixture_run(f, 3, "2", "clocked-turtle");
        fixture_run(f, 4, "3", "clocked-turtle");
        for (double age = 9; age <= 12; age++)
            fixture_age(f, age);
        assert_spread(f);
        for (double age = 13; age < 30; age++)
            fixture_age(f, age);
        if (i == 0)
            assert_spread(f);
        else
            assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    }
}

/* FIDELITY DIO-4: the devils lose 6 % after the move, their neighbours, of whom one was not moved,
 * gain more: it stays. */
static void test_no_regret(void **state)
{
    struct fixture *f = *state;
    uint64_t moves;

    fixture_run(f, 1, "0", "lesser");
    fixture_run(f, 2, "1", "lesser");
    fixture_run(f, 3, "2", "relieved");
    fixture_run(f, 4, "3", "relieved");
    for (double age = 9; age <= 12; age++)
        fixture_age(f, age);
    assert_spread(f);
    moves = f->packer.state->tally->moves;
    for (double age = 13; age < 30; age++)
        fixture_age(f, age);
    assert_spread(f);
    assert_int_equal(f->packer.state->tally->moves, moves);
}

static void test_observed_are_told(void **state)
{
    struct fixture *f = *state;

    for (uint32_t job = 1; job <= 4; job++) {
        char cpu[] = {(char)('0' + job - 1), '\0'};
        struct wire_register request =
            fixture_request(job, 0, cpu, cpu, 1, job <= 2 ? "devil" : "turtle");

        request.options.mode = WIRE_MODE_OBSERVE;
        fixture_start(f, request);
    }
    for (double age = 1; age < 8; age++)
        fixture_age(f, age);
    assert_int_equal(f->packer.state->tally->moves, 0);
    assert_true(step_of(f, 1)->replace.decisions + step_of(f, 2)->replace.decisions > 0);
    assert_non_null(strstr(step_of(f, 1)->replace.decisions ? step_of(f, 1)->replace.verdict
                                                            : step_of(f, 2)->replace.verdict,
                           "would be moved"));
}

/* A step that ends while a move is watched, and one that comes: nothing is put back that is not
 * there any more. */
static void test_others_come_and_go(void **state)
{
    struct fixture *f = *state;

    packed(f, "tired");
    for (double age = 9; age <= 12; age++)
        fixture_age(f, age);
    assert_spread(f);
    fixture_end(f, 1, 0);
    fixture_run(f, 5, "4", "turtle");
    for (double age = 13; age < 30; age++)
        fixture_age(f, age);
    assert_null(step_of(f, 1));
    fixture_end(f, 2, 0);
    fixture_end(f, 3, 0);
    fixture_end(f, 4, 0);
    fixture_end(f, 5, 0);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

/* A step that is bound to its memory node stays on it: its equal goes. */
static void test_bound(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    f = *state = fixture_open("numa:2 l3:1 core:2 pu:1");
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_restart(f);
    use_tree(f);
    fixture_paper(f);
    for (uint32_t job = 1; job <= 4; job++) {
        char cpu[] = {(char)('0' + job - 1), '\0'};
        struct wire_register request =
            fixture_request(job, 0, cpu, cpu, 1, job <= 2 ? "devil" : "turtle");

        if (job == 2)
            request.options.mem = WIRE_MEM_BIND;
        fixture_start(f, request);
    }
    for (double age = 1; age < 8; age++)
        fixture_age(f, age);
    assert_spread(f);
    assert_int_equal(llc_of(f, 2), 0);
    assert_int_equal(llc_of(f, 1), 1);
}

/* FIDELITY DIO-1: two streams on the two caches of one memory node, which has so much bandwidth,
 * and two turtles on those of another: a stream goes to the other node. */
static void test_memory_nodes(void **state)
{
    static const double local[] = {0, 6, 9, 10.5, 11};
    struct fixture *f;

    fixture_close(*state);
    f = *state = fixture_open("package:2 numa:1 l3:2 core:2 pu:1");
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_machine(f, 2, 4, local);
    use_tree(f);
    fixture_paper(f);
    fixture_run(f, 1, "0", "stream");
    fixture_run(f, 2, "2", "stream");
    fixture_run(f, 3, "4", "turtle");
    fixture_run(f, 4, "6", "turtle");
    for (double age = 1; age < 8; age++)
        fixture_age(f, age);
    assert_true(llc_of(f, 1) / 2 != llc_of(f, 2) / 2);
    assert_true(llc_of(f, 3) / 2 != llc_of(f, 4) / 2);
}

/* FIDELITY DIO-2: two streams on one cache, which hit nothing there, and two turtles on the next;
 * what memory can do was never measured: they are parted all the same, where each cache has a
 * memory node. */
static void test_streams(void **state)
{
    struct fixture *f;

    fixture_close(*state);
    f = *state = fixture_open("numa:2 l3:1 core:2 pu:1");
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_restart(f);
    use_tree(f);
    fixture_paper(f);
    fixture_run(f, 1, "0", "stream");
    fixture_run(f, 2, "1", "stream");
    fixture_run(f, 3, "2", "turtle");
    fixture_run(f, 4, "3", "turtle");
    for (double age = 1; age < 8; age++)
        fixture_age(f, age);
    assert_spread(f);
}

/* A task with all cores of a memory node, and four turtles on the other's. To the scores of the
 * papers each of its threads is one. */
static struct fixture *open_wide(void **state, const char *tag)
{
    static const char *const core[] = {"4", "5", "6", "7"};
    struct fixture *f;

    fixture_close(*state);
    f = *state = fixture_open(FOURS_ON_TWO_NODES);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.jsonl", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.policy = WIRE_POLICY_PAIN;
    fixture_restart(f);
    use_tree(f);
    fixture_paper(f);
    fixture_run(f, 1, "0-3", tag);
    f->packer.steps->programs.program[step_of(f, 1)->program].threads =
        (struct program_threads){.shared = 1, .precision = 25}; /* it has said nothing new */
    for (uint32_t i = 0; i < 4; i++)
        fixture_run(f, 2 + i, core[i], "turtle");
    assert_stand(f->packer.state->pool, "0 1 2 3 4 5 6 7");
    for (double age = 9; age <= 12; age++)
        fixture_age(f, age);
    return f;
}

/* Cores of the wide task on its own node. */
static size_t at_home(struct fixture *f)
{
    struct cpus cpus = step_of(f, 1)->place.cpus, home = cpus_of("0-3");

    cpus_and(&cpus, &home);
    return cpus_count(&cpus);
}

/* A task that runs is spread when it is seen to be bound by memory. That it misses 2000 times more
 * then, of 10000 hits, where two thirds of its other cores are away, says how much its threads
 * share. */
static void test_threads_are_spread(void **state)
{
    struct fixture *f = open_wide(state, "sharing");
    const struct program_threads *threads;

    assert_int_equal(at_home(f), 2);
    for (double age = 13; age < 30; age++)
        fixture_age(f, age);
    assert_int_equal(at_home(f), 2);
    threads = &f->packer.steps->programs.program[step_of(f, 1)->program].threads;
    assert_true(threads->precision > 28 && threads->precision < 31); /* 25 of what is assumed */
    assert_true(threads->shared > 0.87 && threads->shared < 0.91);   /* 0.3 was seen */
    assert_int_equal(threads->regrets, 0);
}

/* It was slower: its threads are brought together, and stay so. */
static void test_threads_regret(void **state)
{
    struct fixture *f = open_wide(state, "tired");
    uint64_t moves;

    assert_int_equal(at_home(f), 2);
    for (double age = 13; age < 20; age++)
        fixture_age(f, age);
    assert_int_equal(at_home(f), 4);
    assert_int_equal(f->packer.steps->programs.program[step_of(f, 1)->program].threads.regrets, 1);
    moves = f->packer.state->tally->moves;
    for (double age = 20; age < 30; age++)
        fixture_age(f, age);
    assert_int_equal(f->packer.state->tally->moves, moves);
}

/* Two steps that DI has put on two packages are for DIO-POWER to place from now on. Packages take
 * 40 W and 5 W for each core, and 10 W where they sleep. */
static void start_apart(struct fixture *f, const char *tag)
{
    fixture_start(f, fixture_request(1, 0, "0-3", "0", 1, tag));
    fixture_start(f, fixture_request(2, 0, "4-7", "4", 1, tag));
    assert_cpus(&step_of(f, 2)->place.cpus, "4");
    pipeline_observe(&f->packer); /* that they have come is no news any more */
    step_of(f, 1)->place.policy_asked = step_of(f, 2)->place.policy_asked = WIRE_POLICY_DIO_POWER;
}

static bool same_package(struct fixture *f)
{
    return llc_of(f, 1) / 2 == llc_of(f, 2) / 2;
}

/* The one that goes: 90 W become 60. The present power would give that for sqrt(90 / 60) times the
 * work of two cores. */
static void test_cluster(void **state)
{
    struct fixture *f = *state;
    const struct step_replace *replace;

    strcpy(f->packer.world.conf.energy_model, "idle=40W,core=5W,sleep=10W");
    start_apart(f, "turtle");
    fixture_age(f, 1);
    fixture_age(f, 2);
    replace = &step_of(f, step_of(f, 1)->replace.decisions ? 1 : 2)->replace;
    assert_true(replace->energy);
    assert_true(fabs(replace->gain - (2 * sqrt(1.5) - 2)) < 0.01);
    fixture_age(f, 3);
    assert_string_equal(replace->verdict, "moved");
    assert_true(same_package(f));
}

/* Where power is not known, nobody can tell whether to do less work pays. */
static void test_cluster_unknown(void **state)
{
    struct fixture *f = *state;

    start_apart(f, "turtle");
    for (double age = 1; age < 8; age++)
        fixture_age(f, age);
    assert_false(same_package(f));
    assert_non_null(
        strstr(step_of(f, step_of(f, 1)->replace.decisions ? 1 : 2)->replace.verdict, "not known"));
}

/* It may cost up to 1 - sqrt(60 / 90) = 0.18 of the speed: 0.15 does, 0.4 is put back. */
static void test_cluster_regret(void **state)
{
    static const char *const tag[] = {"slower", "slow"};
    struct fixture *f = *state;

    strcpy(f->packer.world.conf.energy_model, "idle=40W,core=5W,sleep=10W");
    for (int i = 0; i < 2; i++) {
        start_apart(f, tag[i]);
        for (double age = 9; age <= 12; age++)
            fixture_age(f, age);
        assert_true(same_package(f));
        for (double age = 13; age < 30; age++)
            fixture_age(f, age);
        assert_int_equal(same_package(f), i == 0);
        fixture_end(f, 1, 0);
        fixture_end(f, 2, 0);
    }
}

/* Devils apart do more work than devils together; an idle one disturbs nobody. */
static void test_forecast(void **state)
{
    struct fixture *f = *state;
    struct pool apart;
    struct scene scene = {&f->packer, &apart, false};
    double together;

    packed(f, "devil");
    for (double age = 1; age <= 2; age++)
        fixture_age(f, age);
    assert_true(forecast_update(&f->packer));
    assert_int_equal(pool_copy(&apart, f->packer.state->pool), 0);
    together = forecast_work(&scene, NULL);
    assert_true(together > 0 && together < 4);
    assert_int_equal(pool_assign(&apart, 2, (size_t[]){1, 2}, (size_t[]){2, 1}), 0);
    assert_true(forecast_work(&scene, NULL) > together);
    pool_free(&apart);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_replay, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_spread),
        CASE(test_noise),
        CASE(test_schemes),
        CASE(test_off),
        CASE(test_limit),
        CASE(test_does_not_pay),
        CASE(test_isolated),
        CASE(test_regret),
        CASE(test_clock_is_not_regretted),
        CASE(test_no_regret),
        CASE(test_observed_are_told),
        CASE(test_others_come_and_go),
        CASE(test_forecast),
        CASE(test_bound),
        CASE(test_memory_nodes),
        CASE(test_streams),
        CASE(test_threads_are_spread),
        CASE(test_threads_regret),
        CASE(test_cluster),
        CASE(test_cluster_unknown),
        CASE(test_cluster_regret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
