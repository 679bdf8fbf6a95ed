/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_search - where policies that have an opinion of neighbours put the units of the pool: the
 * best of all standings, as far as it pays; bounds and isolation first; nobody where he may not. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enact/weigh.h"
#include "packer/observe/classify.h"
#include "packer/place/forecast.h"
#include "packer/place/gain.h"
#include "packer/place/place.h"
#include "packer/place/price.h"
#include "packer/place/threads.h"
#include "tests/unit/common/noise.h"

#define ONE(home) ((const char *const[]){home, NULL})

static struct noise noise;

static int open_plain(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    strcpy(f->packer.world.conf.isolate_users, "1000");
    *state = f;
    return 0;
}

/* A step with a profile: of its hits, so many (per million instructions) are lost with half of the
 * cache. */
static struct step *put_at(struct fixture *f, uint32_t job, const char *cores, const char *home,
                           double misses, double hits)
{
    struct step *step = fixture_put(f, job, 0, cores, misses, ONE(home));

    step->profile.ways = 16;
    for (size_t i = 0; i < 16; i++)
        step->profile.hits[i] = hits / 16;
    step->profile.misses = misses;
    step->profile.accesses = misses + hits;
    step->profile.ipc = 1;
    step->place.policy_asked = f->packer.world.conf.policy;
    classify_step(&f->packer, step);
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
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

static struct step *put(struct fixture *f, uint32_t job, const char *cores, double misses,
                        double hits)
{
    return put_at(f, job, cores, cores, misses, hits);
}

/* Changes that were predicted, of which such a part came true. */
static void see_changes(struct fixture *f, double part)
{
    for (int i = 0; i < 100; i++)
        null_test_add(&f->packer.steps->null_test, 0.2, part * 0.2, 0.05);
}

static void decide(struct fixture *f, const struct place_terms *terms)
{
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct berth_error err = {""};

    if (place_decide(&scene, terms, &err) < 0)
        fail_msg("%s", err.text);
}

static size_t llc_of(struct fixture *f, const struct step *step)
{
    return f->packer.world.topo->core[f->packer.pool->stand[cpus_next(&step->body.task[0].home, 0)]]
        .llc;
}

/* ---- all standings, one by one ---- */

struct tried {
    struct fixture *f;
    enum wire_policy policy;
    struct pool before, pool;
    double best; /* gain */
};

static void try_standing(struct tried *tried)
{
    struct scene now = {&tried->f->packer, &tried->before, false};
    struct scene next = {&tried->f->packer, &tried->pool, false};

    tried->best = fmax(tried->best, gain_of(&now, &next, tried->policy));
}

/* Exchanges what stands from the n-th core on in every way. */
static void try_all(struct tried *tried, size_t n, size_t cores)
{
    size_t *stand = tried->pool.stand, kept;

    if (n + 1 >= cores) {
        try_standing(tried);
        return;
    }
    for (size_t i = n; i < cores; i++) {
        kept = stand[n], stand[n] = stand[i], stand[i] = kept;
        try_all(tried, n + 1, cores);
        kept = stand[n], stand[n] = stand[i], stand[i] = kept;
    }
}

static double best_gain(struct fixture *f, enum wire_policy policy, size_t cores)
{
    struct tried tried = {.f = f, .policy = policy};

    assert_int_equal(pool_copy(&tried.before, f->packer.state->pool), 0);
    assert_int_equal(pool_copy(&tried.pool, f->packer.state->pool), 0);
    try_all(&tried, 0, cores);
    pool_free(&tried.before);
    pool_free(&tried.pool);
    return tried.best;
}

/* Four programs on two caches of two: each policy finds its best standing, by its own score. */
static void test_best_of_four(void **state)
{
    static const enum wire_policy policy[] = {WIRE_POLICY_CONTEND, WIRE_POLICY_PAIN,
                                              WIRE_POLICY_SDC, WIRE_POLICY_ANIMAL,
                                              WIRE_POLICY_MISSRATE};
    struct fixture *f = *state;

    f->packer.world.bandwidth.source = BANDWIDTH_CALIBRATED; /* else not all standings are taken */
    for (int round = 0; round < 40; round++) {
        enum wire_policy by = policy[round % 5];
        struct step *step;
        struct pool before;
        double best;

        f->packer.world.conf.policy = by;
        for (uint32_t job = 0; job < 4; job++) {
            char core[] = {(char)('0' + job), '\0'};

            put(f, job + 1, core, exp(10 * noise_uniform(&noise)), exp(10 * noise_uniform(&noise)));
        }
        assert_true(forecast_update(&f->packer));
        assert_int_equal(place_policy(&(struct scene){&f->packer, f->packer.state->pool, false}),
                         by);
        best = best_gain(f, by, 4);
        assert_int_equal(pool_copy(&before, f->packer.state->pool), 0);
        decide(f, NULL);
        assert_true(gain_of(&(struct scene){&f->packer, &before, false},
                            &(struct scene){&f->packer, f->packer.state->pool, false},
                            by) >= best - 1e-9);
        pool_free(&before);
        while ((step = TAILQ_FIRST(&f->packer.steps->live)))
            registry_drop(f->packer.steps, step);
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    }
}

/* ---- where the bandwidth is only assumed ---- */

/* DI's measure of the devils: the sum of squares of their miss rates over caches, each of which has
 * a package here (and the memory node is one). */
static double uneven(struct fixture *f)
{
    double sum[2] = {0};
    struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    if (step->profile.misses >= f->packer.world.conf.devil_miss_pmi)
        sum[llc_of(f, step)] += step->profile.misses;
    return sum[0] * sum[0] + sum[1] * sum[1];
}

/* Decides about four programs at random, who stand at home. Returns whether they stand less evenly
 * then; *moved counts where any moved. */
static bool gets_uneven(struct fixture *f, enum bandwidth_source source, size_t *moved)
{
    struct pool before;
    double home;

    f->packer.world.bandwidth.source = source;
    pool_reset(f->packer.state->pool);
    assert_int_equal(pool_copy(&before, f->packer.state->pool), 0);
    home = uneven(f);
    decide(f, NULL);
    *moved += !pool_same(&before, f->packer.pool);
    pool_free(&before);
    return uneven(f) > home * (1 + 1e-9);
}

static void test_no_less_even(void **state)
{
    struct fixture *f = *state;
    size_t measured = 0, assumed = 0, moved = 0, any = 0;
    struct step *step;

    for (int draw = 0; draw < 60; draw++) {
        for (uint32_t job = 0; job < 4; job++) {
            char core[] = {(char)('0' + job), '\0'};

            put(f, job + 1, core, exp(4 + 7 * noise_uniform(&noise)),
                exp(10 * noise_uniform(&noise)));
        }
        measured += gets_uneven(f, BANDWIDTH_CALIBRATED, &any);
        assumed += gets_uneven(f, BANDWIDTH_PROCESSOR, &moved);
        while ((step = TAILQ_FIRST(&f->packer.steps->live)))
            registry_drop(f->packer.steps, step);
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    }
    assert_true(measured > 2);
    assert_int_equal(assumed, 0);
    assert_true(moved > 20);
}

/* ---- what moves cost ---- */

/* Two streams together, two turtles together. */
static void put_packed(struct fixture *f, struct step *step[4])
{
    step[0] = put(f, 1, "0", 20000, 20000);
    step[1] = put(f, 2, "1", 20000, 20000);
    step[2] = put(f, 3, "2", 10, 10);
    step[3] = put(f, 4, "3", 10, 10);
}

static void test_must_pay(void **state)
{
    struct fixture *f = *state;
    struct step *step[4];
    struct place_terms terms;

    put_packed(f, step);
    terms = weigh_terms(&f->packer, NULL);
    terms.horizon_s = 0;
    decide(f, &terms);
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    terms.horizon_s = 60;
    decide(f, &terms);
    assert_true(llc_of(f, step[0]) != llc_of(f, step[1]));
}

/* The newcomer moves for nothing, and one makes room for it; two others that could do better stay:
 * nobody has come there. */
static void test_newcomer(void **state)
{
    struct fixture *f = *state;
    struct step *step[4], *rival[2];
    struct place_terms terms;

    put_packed(f, step);
    rival[0] = put(f, 5, "4", 20000, 20000);
    rival[1] = put(f, 6, "5", 20000, 20000);
    terms = weigh_terms(&f->packer, step[0]);
    terms.others_stay = true;
    decide(f, &terms);
    assert_stand(f->packer.state->pool, "0 1 2 3 4 5 - -"); /* there is no free core */
    terms.others_stay = false;
    decide(f, &terms);
    assert_true(llc_of(f, step[0]) != llc_of(f, step[1]));
    assert_int_equal(llc_of(f, rival[0]), llc_of(f, rival[1]));
}

static void look(struct fixture *f, struct step *fresh)
{
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct berth_error err = {""};

    assert_true(place_looks(&scene));
    if (place_look(&scene, fresh, 60, &err) < 0)
        fail_msg("%s", err.text);
}

/* The first look: of two caches, one of which is half free, the newcomer goes to the better one;
 * nobody moves for it, and whose core another one uses stays there. */
static void test_first_look(void **state)
{
    struct fixture *f = *state;
    struct step *fresh, *calm;

    put(f, 1, "0", 20000, 20000);
    calm = put(f, 3, "2", 10, 10);
    fresh = put(f, 2, "1", 20000, 20000);
    look(f, fresh);
    assert_stand(f->packer.state->pool, "0 1 2 - - - - -");
    calm->body.job_home = cpus_of("2-3"); /* Slurm gave its job a core that it does not use */
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    look(f, put(f, 4, "1", 20000, 20000));
    assert_stand(f->packer.state->pool, "0 1 2 3 - - - -");
    registry_end(f->packer.steps, fixture_step(f, 4, 0));
    look(f, fresh);
    assert_stand(f->packer.state->pool, "0 3 2 1 - - - -");
    assert_int_equal(fresh->place.policy, WIRE_POLICY_CONTEND);
}

/* It is not enough where a promise could be broken, or nobody would decide about others later. */
static void test_first_look_is_not_enough(void **state)
{
    struct fixture *f = *state;
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct step *step = put(f, 1, "0", 20000, 20000), *fresh = put(f, 2, "1", 20000, 20000);

    assert_true(place_looks(&scene));
    f->packer.world.conf.replace = CONF_OFF;
    assert_false(place_looks(&scene));
    f->packer.world.conf.replace = CONF_ON;
    step->place.max_slowdown = 0.1;
    assert_false(place_looks(&scene));
    step->place.max_slowdown = NAN;
    step->request.options.isolate = true;
    assert_false(place_looks(&scene));
    step->request.options.isolate = false;
    step->place.policy_asked = fresh->place.policy_asked = WIRE_POLICY_DI;
    assert_false(place_looks(&scene));
}

/* ---- who pays ---- */

static void put_eight(struct fixture *f)
{
    static const char *const core[] = {"0", "1", "2", "3", "4", "5", "6", "7"};

    for (uint32_t job = 0; job < 8; job++)
        put(f, job + 1, core[job], exp(3 + 8 * noise_uniform(&noise)),
            exp(3 + 8 * noise_uniform(&noise)));
}

static void end_eight(struct fixture *f)
{
    for (uint32_t job = 0; job < 8; job++)
        registry_end(f->packer.steps, fixture_step(f, job + 1, 0));
}

/* Decides about all, who stand at home. Returns by how much one is made slower, the worst of all;
 * *moved counts where any moved. */
static double worst_paid(struct fixture *f, double sacrifice, size_t *moved)
{
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct place_terms terms = weigh_terms(&f->packer, NULL);
    double *home, *then, worst = 0;
    struct pool before;

    f->packer.world.conf.sacrifice = sacrifice;
    pool_reset(f->packer.state->pool);
    assert_int_equal(pool_copy(&before, f->packer.pool), 0);
    assert_true(forecast_update(&f->packer));
    home = forecast_steps(&scene);
    decide(f, &terms);
    then = forecast_steps(&scene);
    for (size_t i = 0; i < f->packer.steps->nlive; i++)
        worst = fmax(worst, then[i] - home[i]);
    *moved += !pool_same(&before, f->packer.pool);
    pool_free(&before);
    free(home);
    free(then);
    return worst;
}

/* Eight programs at random: what all gain costs one a fifth of its time and more, now and then;
 * with a bound nobody, and still many move. That programs disturb each other is known. */
static void test_nobody_is_sacrificed(void **state)
{
    struct fixture *f = *state;
    size_t unbounded = 0, bounded = 0, moved = 0, any = 0;

    see_changes(f, 1);
    for (int draw = 0; draw < 100; draw++) {
        put_eight(f);
        unbounded += worst_paid(f, 100, &any) > 0.2;
        bounded += worst_paid(f, 0.2, &moved) > 0.2 + 1e-6;
        end_eight(f);
    }
    assert_true(unbounded > 5);
    assert_int_equal(bounded, 0);
    assert_true(moved > 20);
}

/* Returns what two devils on one cache have to gain at least, cores, by being parted. */
static double least_gain(struct fixture *f)
{
    return 2 * price_core_s(fixture_step(f, 1, 0), WIRE_POLICY_CONTEND, 1, price_null(&f->packer));
}

/* Until it is seen whether programs disturb each other, a move has to gain several times as much as
 * afterwards; and no gain is enough where they do not. */
static void test_doubt(void **state)
{
    struct fixture *f = fixture_open("numa:2 l3:1 core:2 pu:1");
    double at_first, seen;

    (void)state;
    put(f, 1, "0", 20000, 100);
    at_first = least_gain(f);
    see_changes(f, 1);
    seen = least_gain(f);
    assert_true(at_first > 3 * seen && at_first < 8 * seen);
    assert_true(seen < 2 * (PRICE_COLD_S + 1.3 * PRICE_DOUBT));
    see_changes(f, 0);
    assert_true(least_gain(f) > 2);
    fixture_close(f);
}

/* The same of a step that has been put, and stands there. */
static void stand(struct fixture *f, uint32_t job, const char *core, double misses, double hits)
{
    place_describe(&f->packer, f->packer.state->pool, put(f, job, core, misses, hits));
}

/* Where several caches have one memory node, streams on one of them are sure to be in each other's
 * way at its port, whatever was seen. Not one alone, nor beside one that hits, nor devils of which
 * half is hits: what they lose is lines, as anywhere. */
static void test_ports_are_not_doubted(void **state)
{
    static const struct {
        const char *core;
        double misses, hits;
        bool sure;
    } second[] = {
        {"1", 20000, 100, true},  {"1", 20000, 20000, false},
        {"1", 100, 20000, false}, {"1", 1000, 10, false}, /* no devil */
        {"2", 20000, 100, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++) {
        struct fixture *f = fixture_open("package:1 [numa] l3:2 core:2 pu:1");

        stand(f, 1, "0", 20000, 100);
        see_changes(f, 0);
        assert_true(least_gain(f) > 2);
        stand(f, 2, second[i].core, second[i].misses, second[i].hits);
        if (second[i].sure)
            assert_true(fabs(least_gain(f) - 2 * (PRICE_COLD_S + PRICE_DOUBT)) < 1e-9);
        else
            assert_true(least_gain(f) > 2);
        fixture_close(f);
    }
}

/* ---- promises ---- */

/* One that has much to lose may not be slowed down: it gets the quietest neighbour, though all
 * together lose more. Whether that was enough is said. */
static void test_bound(void **state)
{
    struct fixture *f = *state;
    struct step *delicate = put(f, 1, "0", 10, 3000), *quiet, *step;
    struct pool before;

    put(f, 2, "1", 5000, 30000);
    put(f, 3, "2", 5000, 30000);
    quiet = put(f, 4, "3", 10, 10);
    decide(f, NULL);
    assert_true(llc_of(f, delicate) != llc_of(f, quiet)); /* two that have more to lose are apart */
    delicate->place.max_slowdown = 0.02;
    assert_int_equal(pool_copy(&before, f->packer.state->pool), 0);
    decide(f, &(struct place_terms){.horizon_s = 0});
    assert_int_equal(llc_of(f, delicate), llc_of(f, quiet));
    assert_true(gain_of(&(struct scene){&f->packer, &before, false},
                        &(struct scene){&f->packer, f->packer.state->pool, false},
                        WIRE_POLICY_CONTEND) < 0);
    pool_free(&before);
    place_predict(&f->packer);
    assert_true(delicate->place.met && delicate->place.predicted <= 0.02);
    delicate->place.max_slowdown = 0;
    place_predict(&f->packer);
    assert_false(delicate->place.met);
    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    assert_true(step->place.predicted > 0);
}

/* Who is isolated has no devil on its cache, whatever that costs. */
static void test_isolated(void **state)
{
    struct fixture *f = *state;
    struct step *asker = put(f, 1, "0", 3000, 3000), *devil = put(f, 2, "1", 20000, 20000);

    put(f, 3, "2", 20000, 20000);
    put(f, 4, "3", 10, 10);
    asker->request.options.isolate = true;
    decide(f, &(struct place_terms){.horizon_s = 0});
    assert_true(llc_of(f, asker) != llc_of(f, devil));
    assert_int_equal(llc_of(f, asker),
                     llc_of(f, registry_find(f->packer.steps, (struct wire_step_id){4, 0})));
}

/* ---- units ---- */

/* A memory-bound task of two cores that is new may be divided over two memory nodes; while another
 * one finds its place it is not. */
static void test_divided(void **state)
{
    static const double local[] = {0, 6, 6.5};
    struct place_terms terms;
    struct fixture *f;

    fixture_close(*state);
    *state = f = fixture_open("numa:2 l3:1 core:2 pu:1");
    f->packer.world.conf.policy = f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_machine(f, 2, 2, local);
    for (int fresh = 0; fresh < 2; fresh++) {
        struct step *wide = put(f, 1, "0-1", 30000, 100), *turtle = put(f, 2, "2-3", 10, 10);
        size_t here;

        count_sharing(f, wide);
        turtle->body.task[0].home = turtle->body.task[0].use = cpus_of("2");
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
        terms = weigh_terms(&f->packer, fresh ? wide : turtle);
        decide(f, &terms);
        here = (f->packer.pool->stand[0] < 2) + (size_t)(f->packer.pool->stand[1] < 2);
        assert_int_equal(here == 1, fresh);
        registry_drop(f->packer.steps, wide);
        registry_drop(f->packer.steps, turtle);
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    }
}

/* Two memory nodes of four cores, where two take nearly all that memory gives. */
static struct fixture *open_fours(void **state)
{
    static const double local[] = {0, 6, 9, 10, 10};
    struct fixture *f;

    fixture_close(*state);
    *state = f = fixture_open(FOURS_ON_TWO_NODES);
    f->packer.world.conf.policy = f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_machine(f, 2, 4, local);
    return f;
}

/* Decides, as that step starts (NULL: about steps that run), and returns the cores of a task of
 * four on the first cache. */
static size_t decide_with(struct fixture *f, const struct step *fresh)
{
    struct place_terms terms = weigh_terms(&f->packer, fresh);
    size_t here = 0;

    decide(f, &terms);
    for (size_t core = 0; core < 4; core++)
        here += f->packer.pool->stand[core] < 4;
    return here;
}

static size_t decide_running(struct fixture *f)
{
    return decide_with(f, NULL);
}

static struct step *put_wide(struct fixture *f, double misses, double hits)
{
    static const char *const core[] = {"4", "5", "6", "7"};
    struct step *step = put(f, 1, "0-3", misses, hits);

    step->program = programs_number(&f->packer.steps->programs, 1000, "tag:wide");
    for (uint32_t i = 0; i < 4; i++)
        put(f, 2 + i, core[i], 10, 10);
    return step;
}

/* A stream that starts is divided: its threads have nothing in the cache to share, and touch their
 * memory where they stand. One that runs stays whole. */
static void test_stream_is_divided(void **state)
{
    struct fixture *f = open_fours(state);
    struct step *step = put_wide(f, 30000, 100);

    assert_int_equal(decide_with(f, step) % 4, 0); /* it fits into a cache */
    count_sharing(f, step);
    assert_int_equal(decide_running(f) % 4, 0);
    assert_int_equal(decide_with(f, step), 2);
}

/* As much of a devil, but what it hits may be what its threads share; until that is known not to
 * be so. */
static void test_sharing_is_not_divided(void **state)
{
    struct threads_seen none = {.far = 1, .near_misses = 8000, .near_hits = 20000}, all = none;
    struct fixture *f = open_fours(state);
    struct step *step = put_wide(f, 8000, 20000);

    none.far_misses = none.near_misses;
    all.far_misses = all.near_misses + all.near_hits;
    assert_int_equal(decide_with(f, step) % 4, 0);
    for (int i = 0; i < 8; i++)
        threads_learn(&f->packer, step, &none);
    assert_int_equal(decide_with(f, step), 2);
    for (int i = 0; i < 100; i++)
        threads_learn(&f->packer, step, &all); /* it was not so */
    assert_int_equal(decide_with(f, step) % 4, 0);
}

/* Threads that Slurm has scattered stay, as long as nothing is known of what they share. */
static void test_scattered_stays(void **state)
{
    struct fixture *f = open_fours(state);

    put(f, 1, "0-1,4-5", 100, 60000);
    put(f, 2, "2", 10, 10), put(f, 3, "3", 10, 10);
    put(f, 4, "6", 10, 10), put(f, 5, "7", 10, 10);
    decide(f, &(struct place_terms){.horizon_s = 30});
    assert_stand(f->packer.state->pool, "0 1 2 3 4 5 6 7");
}

/* What its user insists on comes before what is predicted, by each policy, and is worth moves. */
static void test_words(void **state)
{
    static const enum wire_policy policy[] = {WIRE_POLICY_CONTEND, WIRE_POLICY_PAIN,
                                              WIRE_POLICY_MISSRATE, WIRE_POLICY_SDC};

    for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
        struct fixture *f = open_fours(state);
        struct step *step = put_wide(f, 100, 60000);

        f->packer.world.conf.policy = policy[i];
        step->request.options.spread = true;
        assert_int_equal(decide_running(f), 2);
        step->request.options.spread = false;
        step->request.options.pack = true;
        assert_int_equal(decide_running(f) % 4, 0);
        classify_step(&f->packer, step);
        step->profile.miss_pmi = step->profile.misses = 30000;
        assert_int_equal(decide_running(f) % 4, 0);
    }
}

/* To the scores of the papers each thread of a devil is one. */
static void test_scores_know_threads(void **state)
{
    static const enum wire_policy policy[] = {WIRE_POLICY_PAIN, WIRE_POLICY_MISSRATE};

    for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
        struct fixture *f = open_fours(state);
        struct scene now, next;
        struct step *step;
        struct pool before;

        f->packer.world.conf.policy = policy[i];
        step = put_wide(f, 30000, 3000);
        step->place.policy_asked = policy[i];
        count_sharing(f, step);
        assert_int_equal(pool_copy(&before, f->packer.state->pool), 0);
        assert_int_equal(decide_running(f), 2);
        now = (struct scene){&f->packer, &before, false};
        next = (struct scene){&f->packer, f->packer.state->pool, false};
        assert_true(gain_of(&now, &next, policy[i]) > 0);
        pool_free(&before);
    }
}

/* mem=bind: the stream that is bound stays, and the other one goes. */
static void test_bound_memory(void **state)
{
    static const double local[] = {0, 6, 6.5};
    struct step *step[4];
    struct fixture *f;

    fixture_close(*state);
    *state = f = fixture_open("numa:2 l3:1 core:2 pu:1");
    f->packer.world.conf.policy = f->conf.policy = WIRE_POLICY_CONTEND;
    fixture_machine(f, 2, 2, local);
    put_packed(f, step);
    step[1]->request.options.mem = WIRE_MEM_BIND;
    step[1]->place.mems = cpus_of("0");
    decide(f, NULL);
    assert_int_equal(llc_of(f, step[1]), 0);
    assert_int_equal(llc_of(f, step[0]), 1);
}

/* Several policies on one node: the one that all ask for, else the site's. */
static void test_who_decides(void **state)
{
    struct fixture *f = *state;
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct step *a = put(f, 1, "0", 10, 10), *b = put(f, 2, "1", 100, 10);

    a->place.policy_asked = b->place.policy_asked = WIRE_POLICY_PAIN;
    forecast_update(&f->packer);
    assert_int_equal(place_policy(&scene), WIRE_POLICY_PAIN);
    b->place.policy_asked = WIRE_POLICY_SDC;
    assert_int_equal(place_policy(&scene), WIRE_POLICY_CONTEND);
    a->profile.known = b->profile.known = false;
    forecast_update(&f->packer);
    assert_int_equal(place_policy(&scene), WIRE_POLICY_DI);
}

/* All would do more work at home than where they stand: they go home. */
static void test_home(void **state)
{
    struct fixture *f = *state;
    struct step *step[4];
    struct place_terms terms = weigh_terms(&f->packer, NULL);
    struct berth_error err;
    struct weighed weighed;
    struct pool next;

    step[0] = put(f, 1, "0", 20000, 20000);
    step[1] = put(f, 2, "2", 20000, 20000);
    step[2] = put(f, 3, "4", 20000, 20000);
    step[3] = put(f, 4, "6", 20000, 20000);
    put(f, 5, "1", 10, 10), put(f, 6, "3", 10, 10), put(f, 7, "5", 10, 10);
    put(f, 8, "7", 10, 10);
    assert_int_equal(
        pool_assign(f->packer.state->pool, 4, (size_t[]){1, 2, 5, 6}, (size_t[]){2, 1, 6, 5}), 0);
    assert_int_equal(llc_of(f, step[0]), llc_of(f, step[1]));
    terms.moves_max = 1; /* no exchange */
    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    assert_int_equal(weigh_decide(&(struct scene){&f->packer, f->packer.state->pool, false},
                                  &(struct scene){&f->packer, &next, false}, &terms, &weighed,
                                  &err),
                     0);
    assert_stand(&next, "0 1 2 3 4 5 6 7");
    assert_true(weigh_pays(&weighed, terms.horizon_s));
    assert_int_equal(weighed.moves, 4);
    pool_free(&next);
}

/* Two caches of two small cores and two large ones each: devils on both large ones of the first,
 * turtles elsewhere. One devil goes to a large core of the second cache, where he finds one. */
static void test_kinds(void **state)
{
    struct fixture *f = fixture_open("package:1 l3:2 core:4 pu:1");
    struct topo *topo = f->packer.world.topo;
    struct step *devil[2];

    (void)state;
    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    for (size_t i = 0; i < topo->cores; i++)
        topo->core[i].cpukind = i % 4 >= 2;
    topo_index(topo);
    devil[0] = put(f, 1, "2", 20000, 20000);
    devil[1] = put(f, 2, "3", 20000, 20000);
    put(f, 3, "0", 10, 10);
    put(f, 4, "4", 10, 10);
    put(f, 5, "5", 10, 10);
    decide(f, NULL);
    assert_int_equal(llc_of(f, devil[0]), llc_of(f, devil[1]));
    put(f, 6, "6", 10, 10);
    decide(f, NULL);
    assert_true(llc_of(f, devil[0]) != llc_of(f, devil[1]));
    for (size_t i = 0; i < topo->cores; i++)
        if (pool_has(f->packer.pool, i))
            assert_int_equal(topo->core[f->packer.pool->stand[i]].kind, topo->core[i].kind);
    fixture_close(f);
}

/* Two caches, the second half as large. A step that hits in all of the larger one, and whose job
 * has given it a core of the smaller one, goes where a turtle has no use for it. */
static void test_unequal_caches(void **state)
{
    struct fixture *f = fixture_open("package:1 l3:2(size=16777216) core:2 pu:1");
    struct topo *topo = f->packer.world.topo;
    struct step *hungry;

    (void)state;
    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    topo->llc[1].size_bytes /= 2;
    put(f, 1, "0", 10, 10);
    hungry = put(f, 2, "2", 100, 20000);
    decide(f, NULL);
    assert_int_equal(llc_of(f, hungry), 0);
    fixture_close(f);
}

/* ---- the clock ---- */

/* Two that only compute, in one package, and nothing that they fight for: one goes to its other
 * core, in the other package, where the clock of these is known to fall, as long as that pays. */
static void test_clock_of_packages(void **state)
{
    static const struct {
        double all_ghz;
        bool parts;
    } row[] = {{NAN, false}, {4, false}, {3, true}};
    struct fixture *f = *state;
    const size_t cores[2] = {4, 4};

    for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct machine_profile *machine = machine_profile_new(2, cores);
        struct machine_profile *before = f->packer.world.machine;
        struct step *a, *b;

        assert_non_null(machine);
        machine->clock = (struct clock_curve){4, NAN, row[i].all_ghz, 4};
        f->packer.world.machine = machine;
        a = put_at(f, 2 * i + 1, "0,4", "0", 10, 0);
        b = put(f, 2 * i + 2, "2", 10, 0);
        decide(f, NULL);
        assert_int_equal(llc_of(f, a) / 2 != llc_of(f, b) / 2, row[i].parts);
        fixture_end(f, 2 * i + 1, 0);
        fixture_end(f, 2 * i + 2, 0);
        forecast_close(f->packer.state->forecast);
        assert_non_null(f->packer.state->forecast = forecast_open());
        f->packer.world.machine = before;
        machine_profile_free(machine);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_best_of_four),
        CASE(test_no_less_even),
        CASE(test_clock_of_packages),
        CASE(test_must_pay),
        CASE(test_newcomer),
        CASE(test_first_look),
        CASE(test_first_look_is_not_enough),
        CASE(test_nobody_is_sacrificed),
        CASE(test_bound),
        CASE(test_isolated),
        CASE(test_divided),
        CASE(test_stream_is_divided),
        CASE(test_sharing_is_not_divided),
        CASE(test_scattered_stays),
        CASE(test_words),
        CASE(test_scores_know_threads),
        CASE(test_bound_memory),
        CASE(test_who_decides),
        CASE(test_home),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_ports_are_not_doubted),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_unequal_caches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
