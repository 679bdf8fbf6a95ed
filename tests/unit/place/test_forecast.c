/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_forecast - what the node's steps are known by, and what that says of a placement. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/place/forecast.h"
#include "packer/place/place.h"
#include "packer/steps/program.h"

#define ONE(home) ((const char *const[]){home, NULL})

static int open_plain(void **state)
{
    *state = fixture_open("package:2 numa:1 l3:2 core:2 pu:1");
    return 0;
}

/* A step on one core that misses so much, one instruction per cycle, a quarter of its accesses
 * hits.
 */
static struct step *put(struct fixture *f, uint32_t job, const char *core, double miss_pmi)
{
    struct step *step = fixture_put(f, job, 0, core, miss_pmi, ONE(core));

    step->profile.accesses = miss_pmi * 4 / 3;
    step->profile.ipc = 1;
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    return step;
}

static double work_with(struct fixture *f, size_t a, size_t b)
{
    struct pool pool;
    double work;

    assert_int_equal(pool_copy(&pool, f->packer.state->pool), 0);
    assert_int_equal(pool_assign(&pool, 2, (size_t[]){a, b}, (size_t[]){b, a}), 0);
    work = forecast_work(&(struct scene){&f->packer, &pool, false}, NULL);
    pool_free(&pool);
    return work;
}

static double work_now(struct fixture *f)
{
    return forecast_work(&(struct scene){&f->packer, f->packer.state->pool, false}, NULL);
}

/* Steps of which the same is known share a slot, and who comes after them has theirs. */
static void test_slots(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", 5000), *b = put(f, 2, "1", 5000), *c = put(f, 3, "2", 10);
    size_t slot;

    assert_true(forecast_update(&f->packer));
    assert_true(a->slot > FORECAST_AVERAGE);
    assert_int_equal(a->slot, b->slot);
    assert_true(c->slot != a->slot && c->slot > FORECAST_AVERAGE);
    slot = c->slot;
    registry_drop(f->packer.steps, c);
    c = put(f, 4, "3", 900);
    assert_true(forecast_update(&f->packer));
    assert_int_equal(c->slot, slot);
}

/* A slot stays what it is while its figures change by less than FORECAST_CHANGE. */
static void test_small_changes(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", 5000), *b = put(f, 2, "1", 10);
    size_t slot;

    assert_true(forecast_update(&f->packer));
    slot = a->slot;
    a->profile.miss_pmi = 5100;
    forecast_update(&f->packer);
    assert_int_equal(a->slot, slot);
    assert_true(forecast_app(f->packer.state->forecast, slot)->llc_mpki == 5);
    a->profile.miss_pmi = 6000;
    a->profile.accesses = 8000;
    forecast_update(&f->packer);
    assert_true(forecast_app(f->packer.state->forecast, a->slot)->llc_mpki == 6);
    assert_true(b->slot != a->slot);
}

/* Nobody is known: nothing can be told, and nobody slows anybody down. One is: the other is taken
 * for the average. */
static void test_unknown(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", NAN), *b = put(f, 2, "1", NAN);

    assert_false(forecast_update(&f->packer));
    assert_true(work_now(f) == 2);
    b->profile.known = true;
    b->profile.miss_pmi = 20000;
    b->profile.accesses = 40000;
    assert_true(forecast_update(&f->packer));
    assert_true(forecast_app(f->packer.state->forecast, a->slot)->llc_mpki == 20);
    assert_true(work_now(f) < 2);
}

/* FIDELITY A2.2: two streams on the two caches of one memory node, of known bandwidth, do less than
 * on two nodes. */
static void test_memory_nodes(void **state)
{
    static const double local[] = {0, 6, 9, 10.5, 11};
    struct fixture *f = *state;

    fixture_machine(f, 2, 4, local);
    for (uint32_t job = 1; job <= 2; job++) {
        char core[] = {(char)('0' + 2 * (job - 1)), '\0'};

        put(f, job, core, 30000)->profile.accesses = 30000;
    }
    put(f, 3, "4", 10);
    put(f, 4, "6", 10);
    assert_true(forecast_update(&f->packer));
    assert_true(work_with(f, 2, 4) > work_now(f) + 0.05);
}

/* What was measured of two programs beside each other is believed more than the model; and who was
 * never measured beside them is not touched. */
static void test_evidence(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", 100), *b = put(f, 2, "1", 120);
    struct pair pair = {.slowdown = 0.5, .error = 0.01, .windows = 50};
    double before, after;

    snprintf(a->request.options.tag, sizeof(a->request.options.tag), "a");
    snprintf(b->request.options.tag, sizeof(b->request.options.tag), "b");
    program_begin(&f->packer, a);
    program_begin(&f->packer, b);
    assert_true(forecast_update(&f->packer));
    before = work_now(f);
    assert_true(before > 1.9);
    pair.self = (struct pair_part){(uint16_t)a->program, 1};
    assert_int_equal(pair_add(&pair, (uint16_t)b->program, 1), 0);
    pairs_put(&f->packer.steps->pairs, &pair);
    assert_true(forecast_learn(&f->packer));
    assert_false(forecast_learn(&f->packer));
    after = work_now(f);
    assert_true(after < before - 0.15);
}

/* Takes in that one of two programs, of which a lot of slowdown is predicted, was measured to be
 * slower by so much beside the other, so long ago. Returns the odds that nobody disturbs anybody.
 */
static double odds_after(struct fixture *f, double slowdown, double age_s)
{
    struct step *a = put(f, 1, "0", 9000), *b = put(f, 2, "1", 9000);
    struct pair pair = {.slowdown = slowdown, .error = 0.03, .windows = 50, .age_s = age_s};

    snprintf(a->request.options.tag, sizeof(a->request.options.tag), "a");
    snprintf(b->request.options.tag, sizeof(b->request.options.tag), "b");
    program_begin(&f->packer, a);
    program_begin(&f->packer, b);
    assert_true(forecast_update(&f->packer));
    pair.self = (struct pair_part){(uint16_t)a->program, 1};
    assert_int_equal(pair_add(&pair, (uint16_t)b->program, 1), 0);
    pairs_put(&f->packer.steps->pairs, &pair);
    assert_true(forecast_learn(&f->packer));
    fixture_end(f, 1, 0);
    fixture_end(f, 2, 0);
    return null_test_against(&f->packer.steps->null_test);
}

/* What the store knows of neighbours says whether they matter on this machine, before anything has
 * changed; what was measured just now has said so by itself. */
static void test_store_says(void **state)
{
    struct fixture *f = *state;
    double at_first = null_test_against(&f->packer.steps->null_test), some;

    assert_true(odds_after(f, 0.4, 0) == at_first);
    some = odds_after(f, 0.4, 3600);
    assert_true(some < at_first / 2);
    assert_true(odds_after(f, 0, 3600) > 1.5 * some);
}

/* Two steps of one program that have counted different things of themselves suffer the same beside
 * the same: what was measured of the program holds for both. */
static void test_evidence_of_program(void **state)
{
    struct fixture *f;
    struct step *step[4];
    struct pair pair = {.slowdown = 0.5, .error = 0.005, .windows = 500};

    fixture_close(*state);
    *state = f = fixture_open("numa:2 l3:1 core:2 pu:1"); /* caches do not share a memory node */
    for (uint32_t i = 0; i < 4; i++)
        step[i] = put(f, i + 1, (const char *[]){"0", "1", "2", "3"}[i], i % 2 ? 5000 : 3000);
    step[2]->profile.ipc = 0.1;
    for (size_t i = 0; i < 4; i++) {
        snprintf(step[i]->request.options.tag, sizeof(step[i]->request.options.tag), "p%zu", i % 2);
        program_begin(&f->packer, step[i]);
    }
    assert_true(forecast_update(&f->packer));
    assert_true(step[0]->slot != step[2]->slot && step[0]->program == step[2]->program);
    pair.self = (struct pair_part){(uint16_t)step[0]->program, 1};
    assert_int_equal(pair_add(&pair, (uint16_t)step[1]->program, 1), 0);
    pairs_put(&f->packer.steps->pairs, &pair);
    assert_true(forecast_learn(&f->packer));
    forecast_slowdowns(&f->packer);
    assert_true(fabs(step[0]->slowdown.now - 0.5) < 0.1);
    assert_true(fabs(step[2]->slowdown.now - step[0]->slowdown.now) < 1e-6);
}

/* Once anything was measured, a decision takes more than the most probable slowdown. */
static void assert_pair(struct fixture *f, const struct step *a, const struct step *b,
                        bool measured)
{
    const struct forecast *forecast = f->packer.state->forecast;
    const struct forecast_core core[2] = {{.slot = a->slot, .owner = 0},
                                          {.slot = b->slot, .owner = 1}};
    double slowdown[2], cautious[2], gbps, lost;

    assert_int_equal(forecast_cache(forecast, 0, 0, 2, core, slowdown, &gbps), 0);
    assert_int_equal(forecast_cache(forecast, FORECAST_CAUTION, 0, 2, core, cautious, &gbps), 0);
    assert_true((cautious[0] > slowdown[0]) == measured && (cautious[1] > slowdown[1]) == measured);
    lost = slowdown[0] / (1 + slowdown[0]) + slowdown[1] / (1 + slowdown[1]);
    for (int turn = 0; turn < 2; turn++) { /* reckoned, and out of the table */
        assert_true(fabs(forecast_pair(forecast, a->slot, b->slot) - lost) < 1e-6);
        assert_true(fabs(forecast_pair(forecast, b->slot, a->slot) - lost) < 1e-6);
    }
}

/* The table says of two what one cache of them says: at first, when something was measured, and
 * when another program has the slot. */
static void test_pair(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", 9000), *b = put(f, 2, "1", 120);
    struct pair pair = {.slowdown = 0.5, .error = 0.01, .windows = 50};

    snprintf(a->request.options.tag, sizeof(a->request.options.tag), "a");
    snprintf(b->request.options.tag, sizeof(b->request.options.tag), "b");
    program_begin(&f->packer, a);
    program_begin(&f->packer, b);
    forecast_update(&f->packer);
    assert_pair(f, a, b, false);
    assert_pair(f, a, a, false);
    assert_true(forecast_pair(f->packer.state->forecast, a->slot, FORECAST_IDLE) == 0);
    pair.self = (struct pair_part){(uint16_t)b->program, 1};
    assert_int_equal(pair_add(&pair, (uint16_t)a->program, 1), 0);
    pairs_put(&f->packer.steps->pairs, &pair);
    assert_true(forecast_learn(&f->packer));
    assert_pair(f, a, b, true);
    assert_true(forecast_pair(f->packer.state->forecast, a->slot, b->slot) > 0.25);
    a->profile.miss_pmi = a->profile.accesses = 30;
    forecast_update(&f->packer);
    assert_pair(f, a, b, true);
}

/* Where neighbours do not matter, nothing is expected of them: of two, of a cache, of the node. */
static void test_null(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, "0", 9000), *b = put(f, 2, "1", 5000);
    double lost, pair;

    forecast_slowdowns(&f->packer);
    assert_true(a->slowdown.now > 0.05);
    lost = 2 - work_now(f);
    pair = forecast_pair(f->packer.state->forecast, a->slot, b->slot);
    for (int i = 0; i < 100; i++)
        null_test_add(&f->packer.steps->null_test, 0.2, 0, 0.05);
    forecast_slowdowns(&f->packer);
    assert_true(a->slowdown.now < 0.001);
    assert_true(2 - work_now(f) < 0.01 * lost);
    assert_true(forecast_pair(f->packer.state->forecast, a->slot, b->slot) < 0.01 * pair);
    for (int i = 0; i < 100; i++)
        null_test_add(&f->packer.steps->null_test, 0.2, 0.2, 0.05);
    forecast_slowdowns(&f->packer);
    assert_true(fabs(2 - work_now(f) - lost) < 0.05 * lost);
}

/* A step that does nothing slows nobody down: a shell. */
static void test_idle(void **state)
{
    struct fixture *f = *state;
    struct step *shell = fixture_put(f, 1, WIRE_STEP_BATCH, "0", 30000, ONE("0"));

    put(f, 2, "1", 30000);
    forecast_update(&f->packer);
    assert_int_equal(shell->slot, FORECAST_IDLE);
    assert_true(work_now(f) == 1);
}

/* What is told of a step as it stands now, after all have been predicted. */
static double told(struct fixture *f, const struct step *step)
{
    place_predict(&f->packer);
    forecast_slowdowns(&f->packer);
    return step->place.predicted;
}

/* A devil on all cores of a memory node; who uses the other one, or this one; whether the bandwidth
 * was measured. */
static void test_lonely(void **state)
{
    static const struct {
        enum bandwidth_source source;
        const char *other; /* core; NULL: nobody */
        bool figure;
    } cases[] = {
        {BANDWIDTH_PROCESSOR, NULL, false}, {BANDWIDTH_CORES, NULL, false},
        {BANDWIDTH_SEEN, "4", false},       {BANDWIDTH_MODULES, "3", true},
        {BANDWIDTH_CALIBRATED, NULL, true}, {BANDWIDTH_CALIBRATED, "4", true},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step *wide, *other = NULL;

        f->packer.world.bandwidth.source = cases[i].source;
        wide = put(f, 1, "0-2", 30000);
        if (cases[i].other)
            other = put(f, 2, cases[i].other, 30000);
        wide->place.max_slowdown = 0.01;
        if (isnan(told(f, wide)) == cases[i].figure)
            fail_msg("%zu: %g", i, wide->place.predicted);
        assert_true(wide->place.met == !cases[i].figure);
        assert_true(cases[i].figure ? wide->slowdown.now > 0 : wide->slowdown.now == 0);
        if (other)
            registry_drop(f->packer.steps, other);
        registry_drop(f->packer.steps, wide);
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_slots),      CASE(test_small_changes),
        CASE(test_unknown),    CASE(test_memory_nodes),
        CASE(test_evidence),   CASE(test_idle),
        CASE(test_null),       CASE(test_evidence_of_program),
        CASE(test_pair),       CASE(test_lonely),
        CASE(test_store_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
