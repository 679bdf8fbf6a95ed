/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_threads - a task with several cores: divided over caches, or on one. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "models/slowdown/app.h"
#include "packer/place/forecast.h"
#include "packer/place/gain.h"
#include "packer/place/place.h"
#include "packer/place/threads.h"
#include "packer/steps/stand.h"

#define TWO_FOURS "package:2 l3:1 core:4 pu:1"
#define ONE(home) ((const char *const[]){home, NULL})

static int open_it(void **state)
{
    *state = fixture_open(TWO_FOURS);
    return 0;
}

/* A task with all cores of a cache, and a job on each core of the other. */
static struct step *put_one_and_four(struct fixture *f, double miss_pmi)
{
    struct step *step = fixture_put(f, 1, 0, "0-3", miss_pmi, ONE("0-3"));
    static const char *const home[] = {"4", "5", "6", "7"};

    for (uint32_t i = 0; i < 4; i++)
        fixture_put(f, 2 + i, 0, home[i], 100, ONE(home[i]));
    return step;
}

/* What its threads share was counted, which has said no more than what is assumed: they may be on
 * several caches. */
static void count_sharing(struct fixture *f, struct step *step)
{
    if (step->program == PROGRAM_NONE)
        step->program = programs_number(&f->packer.steps->programs, 1000, "tag:wide");
    f->packer.steps->programs.program[step->program].threads =
        (struct program_threads){.shared = 1, .precision = 25};
}

/* Cores of the step's task that stand on the first cache. */
static size_t on_first(const struct fixture *f, const struct step *step)
{
    struct cpus image, first = cpus_of("0-3");

    stand_image(&f->packer, f->packer.state->pool, &step->body.task[0].use, &image);
    cpus_and(&image, &first);
    return cpus_count(&image);
}

/* The misses of the busiest cache. */
static double busiest(const struct fixture *f)
{
    double on[2] = {0};
    const struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    {
        size_t cores = cpus_count(&step->body.task[0].use), here = on_first(f, step);

        on[0] += step->profile.miss_pmi * (double)here;
        on[1] += step->profile.miss_pmi * (double)(cores - here);
    }
    return fmax(on[0], on[1]);
}

/* ---- by rule: the paper's unit is a thread ---- */

static void test_devil_is_spread(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 30000);

    fixture_decide(f);
    assert_int_equal(on_first(f, step) % 4, 0); /* they may share what they hit, and fit */
    count_sharing(f, step);
    fixture_decide(f);
    assert_true(busiest(f) == 60200);
}

/* Tasks that fit into a cache, of many sizes, and more of them than DI has room for in one piece:
 * none is put on more caches than it stands on. */
static void test_nobody_is_scattered(void **state)
{
    static const char *const home[] = {"0-2", "3", "4-5", "6-7", "8-9", "10-11", "12-14", "15"};
    static const enum wire_policy policy[] = {WIRE_POLICY_DI, WIRE_POLICY_DIO_POWER,
                                              WIRE_POLICY_PAIN, WIRE_POLICY_MISSRATE,
                                              WIRE_POLICY_CONTEND};
    struct fixture *f;

    fixture_close(*state);
    *state = f = fixture_open("package:1 [numa] l3:4 core:4 pu:1");
    for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++)
        for (size_t round = 0; round < 40; round++) {
            struct step *step;

            f->packer.world.conf.policy = policy[i];
            pool_reset(f->packer.state->pool);
            for (uint32_t job = 0; job < 8; job++) {
                step = fixture_put(f, job + 1, 0, home[job],
                                   (double)((7 * job + round * 5) % 9) * 4000, ONE(home[job]));
                step->place.policy_asked = policy[i];
                step->profile.accesses = step->profile.miss_pmi;
            }
            fixture_decide(f);
            TAILQ_FOREACH(step, &f->packer.steps->live, link)
            {
                struct cpus image;
                size_t caches = 0;

                stand_image(&f->packer, f->packer.state->pool, &step->body.task[0].use, &image);
                for (size_t c = 0; c < 4; c++)
                    caches += cpus_intersect(&f->packer.world.topo->llc[c].cpus, &image);
                if (caches != 1)
                    fail_msg("%s, round %zu: job %u on %zu caches", wire_policy_name[policy[i]],
                             round, step->request.id.job, caches);
            }
            while ((step = TAILQ_FIRST(&f->packer.steps->live)))
                registry_drop(f->packer.steps, step);
        }
}

static void test_turtle_stays_whole(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 1500);

    fixture_decide(f);
    assert_int_equal(on_first(f, step) % 4, 0);
}

static void test_words(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 30000);

    step->request.options.pack = true;
    fixture_decide(f);
    assert_int_equal(on_first(f, step) % 4, 0);
    step->request.options.pack = false;
    step->request.options.spread = true;
    step->profile.miss_pmi = 100;
    fixture_decide(f);
    assert_int_equal(on_first(f, step), 2);
}

/* NuCore has said how many of its cores stand on each memory node. */
static void test_sized_is_not_divided(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 30000);

    step->profile.accesses = 30000;
    assert_false(threads_divisible(&f->packer, step, 4, true)); /* it fits into a cache */
    count_sharing(f, step);
    step->size.cores = 4;
    step->size.given = 2;
    assert_false(threads_divisible(&f->packer, step, 2, true));
    step->size.given = 4;
    assert_true(threads_divisible(&f->packer, step, 4, true));
    assert_false(threads_divisible(&f->packer, step, 4, false));
    assert_false(threads_divisible(&f->packer, step, 1, true));
}

/* ---- by contend, from the launch on ---- */

static void test_launch(void **state)
{
    static const char *const home[] = {"4", "5", "6", "7"};
    struct fixture *f;

    fixture_close(*state);
    *state = f = fixture_open(FOURS_ON_TWO_NODES);
    f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_restart(f);
    fixture_profile(f, "high", 30000);
    fixture_profile(f, "low", 100);
    for (uint32_t i = 0; i < 4; i++)
        fixture_run(f, 2 + i, home[i], "low");
    count_sharing(f, fixture_run(f, 9, "0", "high")); /* an earlier run */
    fixture_end(f, 9, 0);
    fixture_run(f, 1, "0-3", "high");
    pipeline_observe(&f->packer);
    assert_int_equal(on_first(f, fixture_step(f, 1, 0)), 2);
    assert_true(busiest(f) == 60200);
}

/* ---- what is lost ---- */

static void test_far(void **state)
{
    (void)state;
    assert_true(app_far(1, 1) == 0);
    assert_true(app_far(4, 4) == 0);
    assert_true(app_far(4, 1) == 1);
    assert_true(fabs(app_far(4, 2) - 2. / 3) < 1e-12);
}

static struct step *put_program(struct fixture *f)
{
    struct step *step = put_one_and_four(f, 30000);

    step->program = programs_number(&f->packer.steps->programs, 1000, "tag:omp");
    return step;
}

static double lost(const struct fixture *f, const struct step *step, size_t here, double far_now)
{
    return threads_lose(&f->packer, step, 4, here, far_now).lost;
}

static double prints(const struct fixture *f, const struct step *step, size_t here)
{
    return (double)here * (1 + threads_lose(&f->packer, step, 4, here, 0).crowd);
}

/* As long as nothing is known, all hits are lost by which a core is more apart than any is now. */
static void test_lost_unknown(void **state)
{
    struct step *step = put_program(*state);

    assert_true(lost(*state, step, 2, 0) == 2. / 3);
    assert_true(lost(*state, step, 4, 0) == 0);
    assert_true(lost(*state, step, 2, 2. / 3) == 0);
    assert_true(lost(*state, step, 4, 2. / 3) == 0);
    assert_true(prints(*state, step, 2) == 1);
    assert_true(prints(*state, step, 4) == 1);
}

/* Of 100000 hits so many were lost where the task was so far apart, as many times as said. */
static void learn(struct fixture *f, const struct step *step, double far, double more, int times)
{
    const struct threads_seen seen = {0, far, 3000, 3000 + more, 300, 100000};

    for (int i = 0; i < times; i++)
        threads_learn(&f->packer, step, &seen);
}

/* Of 100000 hits 20000 were lost where the task was two thirds apart: 0.3 of them are shared, and
 * rather more than less. */
static void test_learnt(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_program(f);

    learn(f, step, 2. / 3, 20000, 100);
    assert_true(lost(f, step, 1, 1) > 0.3 && lost(f, step, 1, 1) < 0.34);
    assert_true(fabs(prints(f, step, 4) - (1 + 3 * (1 - lost(f, step, 1, 0)))) < 1e-12);
    assert_true(prints(f, step, 1) == 1);
}

static void test_learns_nothing(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_program(f);

    learn(f, step, 0.01, 20000, 1); /* no more apart */
    learn(f, step, 1, NAN, 1);
    threads_learn(&f->packer, step, &(struct threads_seen){0, 1, 30000, 40000, 300, 0});
    threads_learn(&f->packer, step, &(struct threads_seen){0, 1, 30000, 40000, NAN, 10000});
    assert_true(lost(f, step, 4, 0) == 0 && prints(f, step, 4) == 1);
}

/* What is counted wobbles: one look at it leaves in doubt that the threads share nothing. */
static void test_learns_in_proportion(void **state)
{
    const struct threads_seen wobbly = {0, 0.5, 30000, 30000, 4000, 10000};
    struct fixture *f = *state;
    struct step *step = put_program(f);
    double before;

    threads_learn(&f->packer, step, &wobbly);
    before = lost(f, step, 1, 0);
    assert_true(before > 0.9);
    for (int i = 0; i < 1000; i++)
        threads_learn(&f->packer, step, &wobbly);
    assert_true(lost(f, step, 1, 0) < 0.1);
}

/* Threads that share what they hit miss more on two caches than they do on one. */
static void test_sharing_stays_whole(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_program(f);

    step->profile.accesses = 130000;
    learn(f, step, 1, 90000, 1);
    fixture_decide(f);
    assert_int_equal(on_first(f, step) % 4, 0);
    learn(f, step, 1, 0, 10);
    fixture_decide(f);
    assert_int_equal(on_first(f, step), 2);
}

/* It was slower: not again for a while, but where its user insists. */
static void test_regret(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_program(f);

    f->packer.world.conf.regret_ms = 600000;
    threads_regret(&f->packer, step);
    fixture_decide(f);
    assert_int_equal(on_first(f, step) % 4, 0);
    step->request.options.spread = true;
    fixture_decide(f);
    assert_int_equal(on_first(f, step), 2);
}

static void test_missing(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 30000);
    struct scene scene = {&f->packer, f->packer.state->pool, false};

    stand_sync(&scene);
    assert_int_equal(threads_missing(&scene), 0);
    step->request.options.spread = true;
    assert_int_equal(threads_missing(&scene), 1);
    fixture_decide(f);
    assert_int_equal(threads_missing(&scene), 0);
    step->request.options.spread = false;
    step->request.options.pack = true;
    assert_int_equal(threads_missing(&scene), 1);
}

static void test_state(void **state)
{
    struct fixture *f = *state;
    struct step *step = put_one_and_four(f, 30000);
    struct threads_state said;

    step->body.task[0].cpus = cpus_of("0-1,4-5");
    threads_state(&f->packer, step, &said);
    assert_int_equal(said.asked, THREADS_MODEL);
    assert_int_equal(said.caches, 2);
    assert_true(isnan(said.shared));
    assert_string_equal(said.reason, "kept whole: its threads may share what they hit");
    count_sharing(f, step);
    threads_state(&f->packer, step, &said);
    assert_string_equal(said.reason, "bound by memory: each of its threads counts as one");
    assert_null(said.vain);
}

/* ---- hardware threads with numbers far from each other ---- */

#define STEPS 3

/* What is thought of the same steps. */
struct judged {
    double work, gain[2], apart, far;
    size_t cores, caches;
    struct cpus stands[STEPS]; /* on which cores each is at last */
};

static void judge_gain(struct fixture *f, enum wire_policy policy, double *gain)
{
    struct scene now = {&f->packer, f->packer.state->pool, false}, next = now;
    struct pool pool;

    assert_int_equal(pool_copy(&pool, f->packer.state->pool), 0);
    assert_int_equal(pool_assign(&pool, 2, (size_t[]){0, 6}, (size_t[]){6, 0}), 0);
    next.pool = &pool;
    *gain = gain_of(&now, &next, policy);
    pool_free(&pool);
}

/* The second step is on both caches and only watched, so that the search has it as it stands. */
static void judge(const char *topology, const char *const home[STEPS], struct judged *judged)
{
    struct fixture *f = fixture_open(topology);
    struct scene now;
    struct threads_state state;
    struct step *step[STEPS];

    for (uint32_t i = 0; i < STEPS; i++) {
        step[i] = fixture_put(f, i + 1, 0, home[i], i == 2 ? 10 : 30000, ONE(home[i]));
        step[i]->profile.accesses = step[i]->profile.miss_pmi * 2;
        step[i]->profile.ipc = 1;
    }
    step[1]->state = STEP_OBSERVED;
    now = (struct scene){&f->packer, f->packer.state->pool, false};
    stand_sync(&now);
    assert_true(forecast_update(&f->packer));
    judged->work = forecast_work(&now, &judged->cores);
    judge_gain(f, WIRE_POLICY_DI, &judged->gain[0]);
    judge_gain(f, WIRE_POLICY_CONTEND, &judged->gain[1]);
    judged->apart = threads_apart_now(&now, step[1]);
    judged->far = threads_far_now(&f->packer, step[1], 0);
    threads_state(&f->packer, step[1], &state);
    judged->caches = state.caches;
    fixture_decide(f);
    for (size_t i = 0; i < STEPS; i++) {
        struct cpus image;

        stand_image(&f->packer, f->packer.state->pool, &step[i]->body.task[0].use, &image);
        topo_cores_of(f->packer.world.topo, &image, &judged->stands[i]);
    }
    fixture_close(f);
}

/* A core counts once, whatever numbers its threads have. */
static void test_numbers(void **state)
{
    static const char *const near_home[] = {"0-5", "6-9", "12-13"}, *const far_home[] = {
                                                                        "0-2,8-10", "3-4,11-12",
                                                                        "6,14"};
    struct judged near, far;

    (void)state;
    judge("package:1 [numa] l3:2(size=8388608) core:4 pu:2", near_home, &near);
    judge("package:1 [numa] l3:2(size=8388608) core:4 "
          "pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)",
          far_home, &far);
    assert_int_equal(near.cores, 6);
    assert_int_equal(far.cores, near.cores);
    assert_int_equal(far.caches, near.caches);
    assert_float_equal(far.work, near.work, 1e-9);
    assert_float_equal(far.gain[0], near.gain[0], 1e-9);
    assert_float_equal(far.gain[1], near.gain[1], 1e-9);
    assert_float_equal(far.apart, near.apart, 1e-9);
    assert_float_equal(far.far, near.far, 1e-9);
    for (size_t i = 0; i < STEPS; i++)
        assert_true(cpus_equal(&far.stands[i], &near.stands[i]));
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_it, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_devil_is_spread),
        test(test_nobody_is_scattered),
        test(test_turtle_stays_whole),
        test(test_words),
        test(test_sized_is_not_divided),
        test(test_launch),
        cmocka_unit_test(test_far),
        test(test_lost_unknown),
        test(test_learnt),
        test(test_learns_nothing),
        test(test_learns_in_proportion),
        test(test_sharing_stays_whole),
        test(test_regret),
        test(test_missing),
        test(test_state),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
