/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slowdown - how much slower than alone steps are, from a recording: who was beside whom,
 * which windows count, what they are measured against, and what the store learns of it.
 *
 * The recording's clock is the step's age, which the test sets for all steps at once. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "packer/observe/classify.h"
#include "packer/observe/slowdown.h"
#include "packer/observe/window.h"
#include "packer/steps/program.h"
#include "packer/steps/step_counts.h"

/* "slow" and "dim" do 2e9 instructions a second for 10 s, then 1.6e9; "steady" and "other" do 1e9,
 * "idle" nothing. All but idle work on one core. Of two the cycles are known: the clock falls from
 * 4 to 3.2 GHz, and with it the speed of "turbo"; "pressed" is a quarter slower besides. */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "step,at,instructions,llc_misses,cpu_ns,threads,cycles\n");
    for (int at = 1; at <= 60; at++) {
        double slow = at <= 10 ? at * 2e9 : 20e9 + (at - 10) * 1.6e9;

        double pressed = at <= 10 ? at * 2e9 : 20e9 + (at - 10) * 1.28e9;

        fprintf(file, "slow,%d,%.0f,%.0f,%.0f,1,\n", at, slow, slow / 1e3, at * 1e9);
        fprintf(file, "dim,%d,%.0f,%.0f,%.0f,1,\n", at, slow, slow / 1e3, at * 1e9);
        fprintf(file, "turbo,%d,%.0f,%.0f,%.0f,1,%.0f\n", at, slow, slow / 1e3, at * 1e9, 2 * slow);
        fprintf(file, "pressed,%d,%.0f,%.0f,%.0f,1,%.0f\n", at, pressed, slow / 1e3, at * 1e9,
                2 * slow);
        fprintf(file, "steady,%d,%.0f,%.0f,%.0f,1,\n", at, at * 1e9, at * 1e3, at * 1e9);
        fprintf(file, "other,%d,%.0f,%.0f,%.0f,1,\n", at, at * 1e9, at * 1e3, at * 1e9);
        fprintf(file, "idle,%d,0,0,0,1,\n", at);
    }
    fclose(file);
}

static unsigned busy[8];
static bool is_far; /* the memory of all is on another node than they are */

static void use_tree(struct fixture *f)
{
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    fixture_busy(f, busy);
}

/* Opens a node with the recording; split: its hardware threads are places. Closes the one before it
 * (NULL: none). */
static struct fixture *open_recording(struct fixture *before, const char *topology, bool split)
{
    struct fixture *f;

    if (before)
        fixture_close(before);
    f = fixture_open(topology);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.learn = CONF_ON;
    f->conf.replace = CONF_OFF;
    split ? fixture_split(f) : fixture_restart(f);
    fixture_paper(f);
    memset(busy, 0, sizeof(busy));
    is_far = false;
    use_tree(f);
    return f;
}

static int open_replay(void **state)
{
    *state = open_recording(NULL, TWO_BY_TWO, false);
    return 0;
}

static void place_memory(struct fixture *f)
{
    struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    {
        struct counters_sample *last = step->counts ? &step->counts->last : NULL;

        for (size_t i = 0; last && i < 2; i++)
            last->rss_node[i] = cpus_has(&step->place.mems, i) == !is_far ? 1e9 : 0;
        if (last)
            last->nodes = 2;
    }
}

/* A second has gone by, in which these CPUs worked: all steps are so old now. */
static void second(struct fixture *f, double age_s, const char *cpus)
{
    struct cpus at_work = cpus_of(cpus);
    struct windows windows;
    struct step *step;

    cpus_foreach(cpu, &at_work) busy[cpu] += 100;
    fixture_busy(f, busy);
    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    {
        step->started_mono_s = clock_s() - age_s;
        if (step->counts)
            step->counts->due_s = 0;
    }
    windows = window_turn(&f->packer);
    place_memory(f);
    slowdown_windows(&f->packer, &windows);
    classify_windows(&f->packer, &windows);
}

static struct step *run(struct fixture *f, uint32_t job, const char *cpu, const char *tag)
{
    struct step *step = fixture_run(f, job, cpu, tag);

    step->body.task[0].cpus = cpus_of(cpu); /* wherever berth would put it */
    return step;
}

static size_t taken(struct fixture *f, struct pair *last)
{
    size_t n = 0;
    struct pair pair = {0};

    while (pairs_take(&f->packer.steps->pairs, &pair)) {
        *last = pair;
        n++;
    }
    return n;
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-3)

/* Alone for 9 s at 2e9, then beside another at 1.6e9: a quarter slower. It is told after three
 * windows, once. */
static void test_against_its_own_windows(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow"), *steady;
    struct pair pair = {0};

    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    assert_int_equal(taken(f, &pair), 0);
    steady = run(f, 2, "1", "steady");
    for (double age = 10; age <= 12; age++) { /* in the first of these somebody came */
        second(f, age, "0-1");
        assert_int_equal(taken(f, &pair), 0);
    }
    second(f, 13, "0-1");
    assert_int_equal(taken(f, &pair), 1); /* the other's speed alone is not known */
    assert_int_equal(pair.self.program, slow->program);
    assert_int_equal(pair.self.cores, 1);
    assert_int_equal(pair.n, 1);
    assert_int_equal(pair.beside[0].program, steady->program);
    assert_int_equal(pair.beside[0].cores, 1);
    NEAR(pair.slowdown, 0.25);
    assert_true(pair.error > 0 && pair.error < 0.1);
    assert_true(pair.windows == 3 && pair.age_s == 0);
    for (double age = 14; age <= 20; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 0);
    assert_int_equal(slow->knowledge.rung, RUNG_PAIRS);
    assert_int_equal(slow->knowledge.model, RUNG_MISSES);
    assert_true(slow->knowledge.windows == 3);
    assert_true(steady->knowledge.windows == 0);
    assert_int_equal(steady->knowledge.rung, RUNG_MISSES);
}

/* What the clock makes is told apart, and no neighbour is blamed for it. */
static void test_clock(void **state)
{
    static const struct {
        const char *tag;
        double neighbour;
    } row[] = {{"turbo", 0}, {"pressed", 0.25}};
    struct fixture *f = *state;

    for (uint32_t i = 0; i < 2; i++) {
        struct pair pair = {0};
        struct step *step = run(f, 10 * i + 1, "0", row[i].tag);

        assert_true(isnan(step_counts_clock_slowdown(step)));
        for (double age = 1; age <= 9; age++)
            second(f, age, "0");
        NEAR(step_counts_clock_slowdown(step), 0);
        run(f, 10 * i + 2, "1", "steady");
        for (double age = 10; age <= 13; age++)
            second(f, age, "0-1");
        assert_int_equal(taken(f, &pair), 1);
        NEAR(pair.slowdown, row[i].neighbour);
        assert_true(step_counts_clock_slowdown(step) > 0.02);
        NEAR(step->figures[FIGURE_CLOCK], 4);
        fixture_end(f, 10 * i + 1, 0);
        fixture_end(f, 10 * i + 2, 0);
    }
}

/* While memory is on its way nothing is a neighbour's doing, and when it has come all is compared
 * with what was before it left. */
static void test_memory_on_its_way(void **state)
{
    struct fixture *f = *state;
    struct pair pair = {0};

    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    run(f, 2, "1", "steady");
    is_far = true;
    for (double age = 10; age <= 20; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 0);
    is_far = false;
    for (double age = 21; age <= 25; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 1);
    NEAR(pair.slowdown, 0.25);
}

/* Where it stays far for good, what it costs is no neighbour's doing who comes later. */
static void test_memory_stays_far(void **state)
{
    struct fixture *f = *state;
    struct pair pair = {0};

    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    is_far = true;
    for (double age = 10; age <= 45; age++)
        second(f, age, "0");
    run(f, 2, "1", "steady");
    for (double age = 46; age <= 52; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 1);
    NEAR(pair.slowdown, 0);
}

/* When a neighbour comes all get slower at once, also those beside whom nobody came: the machine
 * did most of that, its clock for one. */
static void test_all_at_once(void **state)
{
    struct fixture *f = *state;
    struct pair pair = {0};

    run(f, 1, "0", "slow");
    for (uint32_t job = 2; job <= 3; job++)
        run(f, job, job == 2 ? "4" : "6", "dim");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0,4,6");
    run(f, 4, "1", "steady");
    for (double age = 10; age <= 13; age++)
        second(f, age, "0-1,4,6");
    assert_int_equal(taken(f, &pair), 1);
    assert_true(fabs(pair.slowdown) < 0.1);
}

/* A neighbour comes of whom the model expects a lot, whatever was measured meanwhile, and nothing
 * happens. */
static void test_null(void **state)
{
    struct fixture *f = *state;
    struct step *steady = run(f, 1, "1", "steady");

    for (double age = 1; age <= 9; age++)
        second(f, age, "1");
    assert_true(f->packer.steps->null_test.as_predicted == 0);
    run(f, 2, "0", "slow");
    steady->slowdown.now = 0.001;
    steady->slowdown.model = 0.3;
    for (double age = 10; age <= 14; age++)
        second(f, age, "0-1");
    assert_true(f->packer.steps->null_test.as_predicted < -1);
}

static int see(const struct profile_pair *pair, void *arg)
{
    struct profile_pair *seen = arg;

    *seen = *pair;
    return 0;
}

/* The step's end puts it into the store; the next berthd has it from there, for the same program
 * alone and in its neighbour's role. */
static void test_learned(void **state)
{
    struct fixture *f = *state;
    struct profile_pairs_query query = {.key = "tag:slow"};
    struct profile_pair seen = {0};
    struct berth_error err;
    struct pair pair = {0};
    struct step *step;

    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    run(f, 2, "1", "steady");
    for (double age = 10; age <= 20; age++)
        second(f, age, "0-1");
    fixture_end(f, 1, 0);
    fixture_end(f, 2, 0);
    fixture_restart(f);
    use_tree(f);
    query.machine = f->packer.world.machine_type;
    assert_int_equal(profiles_each_pair(f->packer.state->profiles, &query, see, &seen, &err), 0);
    NEAR(seen.slowdown, 0.25);
    assert_true(seen.windows == 3 && seen.runs == 1);
    assert_int_equal(f->packer.steps->pairs.n, 1);
    step = run(f, 3, "0", "slow");
    assert_int_equal(f->packer.steps->programs.program[step->program].steps, 1);
    assert_int_equal(step->knowledge.rung, RUNG_PAIRS);
    assert_int_equal(taken(f, &pair), 1); /* not twice */
    assert_int_equal(pair.self.program, step->program);
    NEAR(pair.slowdown, 0.25);
}

/* Never alone in this run, and nobody came or left: what the store has of another run alone says
 * nothing of the neighbours. */
static void test_not_against_the_store(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow");
    struct profiles *store = NULL;
    struct profile_sample sample;
    struct berth_error err;
    struct pair pair = {0};

    program_sample_init(&f->packer, slow, "replay", &sample);
    sample.windows = 10;
    sample.seconds = 10;
    sample.rate[PROFILE_INSTRUCTIONS_PER_S] = (struct profile_estimate){3e9, 0.1e9};
    assert_int_equal(profiles_open(&store, f->conf.profile_db, true, &err), 0);
    assert_int_equal(profiles_put_samples(store, &sample, 1, &err), 0);
    profiles_close(store);
    run(f, 2, "1", "steady");
    for (double age = 1; age <= 4; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 0);
}

/* Never alone: from one neighbour to another, each is measured against what is predicted of the
 * other. */
static void test_against_predictions(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow"), *other;
    double expected = 0.10 * null_test_factor(&f->packer.steps->null_test); /* if they disturb */
    struct pair pair = {0};

    run(f, 2, "1", "steady");
    slow->slowdown.now = expected;
    for (double age = 1; age <= 9; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 0); /* one neighbour tells nothing */
    fixture_end(f, 2, 0);
    other = run(f, 3, "1", "other");
    for (double age = 10; age <= 13; age++) {
        slow->slowdown.now = expected;
        second(f, age, "0-1");
    }
    assert_true(pairs_take(&f->packer.steps->pairs, &pair)); /* from 2e9 to 1.6e9 */
    assert_int_equal(pair.beside[0].program, other->program);
    NEAR(pair.slowdown, 1.1 * 2 / 1.6 - 1);
    assert_true(pair.error > 0.5 * 0.1);
    assert_int_equal(taken(f, &pair), 1);
    assert_int_not_equal(pair.beside[0].program, other->program);
    NEAR(pair.slowdown, 1.1 * 1.6 / 2 - 1);
}

/* Windows that tell nothing: only the third clear one is told of. */
static void test_unclear_windows(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow"), *steady;
    struct pair pair = {0};
    double age = 1;

    for (; age <= 3; age++)
        second(f, age, "0");
    steady = run(f, 2, "1", "steady");
    second(f, age++, "0-1");
    second(f, age++, "0-1");           /* the first */
    window_follow(&f->packer, steady); /* the neighbour has moved */
    second(f, age++, "0-1");
    window_follow(&f->packer, slow);
    second(f, age++, "0-1");
    busy[1] += 100; /* somebody else works there, too */
    second(f, age++, "0-1");
    second(f, age++, "0-1"); /* the second */
    assert_int_equal(taken(f, &pair), 0);
    second(f, age++, "0-1");
    assert_int_equal(taken(f, &pair), 1);
    steady->program = PROGRAM_NONE;
    for (size_t i = 0; i < 5; i++)
        second(f, age++, "0-1");
    assert_int_equal(taken(f, &pair), 0);
}

/* Who stands there and does nothing is nobody. */
static void test_idle_neighbour(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow");
    struct pair pair = {0};

    run(f, 2, "1", "idle");
    for (double age = 1; age <= 6; age++)
        second(f, age, "0");
    assert_int_equal(taken(f, &pair), 0);
    assert_true(slow->counts->solo[SOLO_SPEED].n == 5);
}

/* A phase that begins while nobody came or left: what was alone before is no reference any more. */
static void test_changed_by_itself(void **state)
{
    struct fixture *f = *state;
    struct step *slow = run(f, 1, "0", "slow");

    f->packer.world.conf.phase_change = 0.1;
    slow->counts->phase.change = 0.1;
    run(f, 2, "2", "steady"); /* on another cache */
    for (double age = 1; age <= 10; age++)
        second(f, age, "0,2");
    assert_true(slow->counts->solo[SOLO_SPEED].n == 9);
    assert_int_equal(slow->counts->behaviours, 0);
    slow->counts->phase.watched |= 1u << RATE_CORE_SPEED;
    for (double age = 11; age <= 14; age++)
        second(f, age, "0,2");
    assert_int_equal(slow->counts->behaviours, 1);
    NEAR(rate_mean(&slow->counts->solo[SOLO_SPEED]) / 1.6e9, 1);
}

/* On one hardware thread, with another program on the other one of its core: that is told apart. */
static void test_sibling(void **state)
{
    struct fixture *f;
    struct step *slow, *steady;
    struct pair pair = {0};

    *state = f = open_recording(*state, TWO_BY_TWO_SMT, true);
    slow = run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    steady = run(f, 2, "1", "steady");
    for (double age = 10; age <= 13; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 1);
    assert_int_equal(pair.self.program, slow->program);
    assert_int_equal(pair.sibling, steady->program + 1);
    assert_int_equal(pair.n, 1);
    NEAR(pair.slowdown, 0.25);
    assert_int_equal(f->packer.steps->programs.program[slow->program].windows, 0); /* of caches */
}

/* Who is on another core of the cache is no sibling. */
static void test_no_sibling(void **state)
{
    struct fixture *f;
    struct pair pair = {0};

    *state = f = open_recording(*state, TWO_BY_TWO_SMT, true);
    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    run(f, 2, "2", "steady");
    for (double age = 10; age <= 13; age++)
        second(f, age, "0,2");
    assert_int_equal(taken(f, &pair), 1);
    assert_int_equal(pair.sibling, 0);
    assert_int_equal(pair.n, 1);
    NEAR(pair.slowdown, 0.25);
}

/* What two on one core cost each other is not told where one rests, or is there twice as often. */
static void test_sibling_untold(void **state)
{
    struct fixture *f;
    struct pair pair = {0};

    *state = f = open_recording(*state, TWO_BY_TWO_SMT, true);
    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    run(f, 2, "1", "idle");
    run(f, 3, "2", "steady");
    for (double age = 10; age <= 16; age++)
        second(f, age, "0,2");
    assert_int_equal(taken(f, &pair), 0);
}

/* Cores are whole: who has the second thread of one alone is beside the others on its cache. */
static void test_second_thread(void **state)
{
    struct fixture *f;
    struct step *slow, *steady;
    struct pair pair = {0};

    *state = f = open_recording(*state, TWO_BY_TWO_SMT, false);
    slow = run(f, 1, "1", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "1");
    steady = run(f, 2, "3", "steady");
    for (double age = 10; age <= 13; age++)
        second(f, age, "1,3");
    assert_int_equal(taken(f, &pair), 1);
    assert_int_equal(pair.self.program, slow->program);
    assert_true(pair.n == 1 && pair.beside[0].program == steady->program);
    NEAR(pair.slowdown, 0.25);
}

/* Cores are whole, and two steps of a job share one: what that costs is not the cache's. */
static void test_shared_whole_core(void **state)
{
    struct fixture *f;
    struct pair pair = {0};

    *state = f = open_recording(*state, TWO_BY_TWO_SMT, false);
    run(f, 1, "0", "slow");
    for (double age = 1; age <= 9; age++)
        second(f, age, "0");
    run(f, 2, "1", "steady");
    for (double age = 10; age <= 16; age++)
        second(f, age, "0-1");
    assert_int_equal(taken(f, &pair), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_replay, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_sibling),
        CASE(test_no_sibling),
        CASE(test_sibling_untold),
        CASE(test_second_thread),
        CASE(test_shared_whole_core),
        CASE(test_against_its_own_windows),
        CASE(test_learned),
        CASE(test_not_against_the_store),
        CASE(test_against_predictions),
        CASE(test_unclear_windows),
        CASE(test_idle_neighbour),
        CASE(test_null),
        CASE(test_clock),
        CASE(test_memory_on_its_way),
        CASE(test_memory_stays_far),
        CASE(test_all_at_once),
        CASE(test_changed_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
