/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_policies - four steps with stored profiles on two caches of two cores: the pairs that each
 * policy makes of them are those that its model finds, and policies differ.
 *
 * deep needs most of its cache, mid uses what it gets, light does next to nothing, stream takes all
 * and needs nothing. tests/vm/suite/t25-policies.sh compares the same with berthctl plan. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/place/place.h"
#include "packer/profiles/profiles.h"
#include "enum_table.h"

#define PAIRS "package:1 l3:2 core:2 pu:1"

enum { DEEP, MID, LIGHT, STREAM, PROGRAMS };

static const struct {
    const char *tag;
    double misses, first, near, far; /* hits at place 0, at 1 to 5, at the rest */
} TABLE(programs, PROGRAMS) = {
    ROW(DEEP) = {"deep", 100, 60, 60, 3900},
    ROW(MID) = {"mid", 1500, 1250, 1250, 1250},
    ROW(LIGHT) = {"light", 900, 200, 5, 5},
    ROW(STREAM) = {"stream", 25000, 3000, 20, 20},
};
TABLE_COMPLETE(programs);

/* Stores one program's profile. */
static void store(struct fixture *f, size_t program)
{
    struct profile profile = {.misses = programs[program].misses,
                              .accesses = programs[program].misses,
                              .source = "valgrind",
                              .llc_ways = 16,
                              .line_bytes = 64,
                              .llc_bytes = f->packer.world.topo->llc[0].size_bytes,
                              .instructions = 1000000};
    struct profiles *profiles = NULL;
    struct berth_error err = {""};

    profile_key_tag(profile.key, programs[program].tag);
    for (size_t i = 0; i < 16; i++) {
        profile.hits[i] = i == 0  ? programs[program].first
                          : i < 6 ? programs[program].near
                                  : programs[program].far;
        profile.accesses += profile.hits[i];
    }
    if (profiles_open(&profiles, f->conf.profile_db, true, &err) < 0 ||
        profiles_put(profiles, &profile, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(profiles);
}

static int open_it(void **state)
{
    static const double local[] = {0, 30, 60, 90, 120}; /* GB/s: memory is in nobody's way */
    struct fixture *f = fixture_open(PAIRS);

    fixture_machine(f, 1, 4, local);
    for (size_t i = 0; i < PROGRAMS; i++)
        store(f, i);
    strcpy(f->packer.world.conf.isolate_users, "1000");
    f->packer.world.conf.replace_horizon_ms = 3600000;
    *state = f;
    return 0;
}

/* Starts a program as Slurm puts it: job i on core i - 1. */
static struct step *start(struct fixture *f, uint32_t job, size_t program)
{
    char cpus[16];
    struct step *step;

    snprintf(cpus, sizeof(cpus), "%u", job - 1);
    step = fixture_run(f, job, cpus, programs[program].tag);
    pipeline_observe(&f->packer);
    return step;
}

static size_t cache_of(const struct fixture *f, const struct step *step)
{
    return f->packer.world.topo
        ->core[topo_core_of_cpu(f->packer.world.topo, cpus_next(&step->place.cpus, 0))]
        .llc;
}

/* Starts all four and tells who stands beside deep. */
static size_t beside_deep(struct fixture *f, enum wire_policy policy)
{
    struct step *step[PROGRAMS];
    size_t beside = DEEP;

    f->packer.world.conf.policy = policy;
    for (size_t i = 0; i < PROGRAMS; i++)
        step[i] = start(f, (uint32_t)i + 1, i);
    for (size_t i = 0; i < PROGRAMS; i++) {
        assert_int_equal(step[i]->place.policy, policy);
        assert_int_equal(step[i]->knowledge.rung, RUNG_DISTANCES);
        assert_false(isnan(step[i]->place.predicted));
        assert_true(step[i]->place.confidence > 0.5 && step[i]->place.confidence < 1);
        if (i != DEEP && cache_of(f, step[i]) == cache_of(f, step[DEEP]))
            beside = i;
    }
    return beside;
}

static void test_pairs(void **state)
{
    static const struct {
        enum wire_policy policy;
        size_t beside;
    } cases[] = {
        {WIRE_POLICY_CONTEND, LIGHT},    {WIRE_POLICY_PAIN, LIGHT},      {WIRE_POLICY_SDC, STREAM},
        {WIRE_POLICY_ANIMAL, MID},       {WIRE_POLICY_MISSRATE, STREAM}, {WIRE_POLICY_DI, STREAM},
        {WIRE_POLICY_DIO_POWER, STREAM},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t beside = beside_deep(f, cases[i].policy);

        if (beside != cases[i].beside)
            fail_msg("%s: %s beside deep, not %s", wire_policy_name[cases[i].policy],
                     programs[beside].tag, programs[cases[i].beside].tag);
        for (uint32_t job = 1; job <= PROGRAMS; job++)
            fixture_end(f, job, 0);
    }
}

/* Where nothing is known of anybody there is nothing to predict. */
static void test_nothing_known(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    step = fixture_run(f, 1, "0", NULL);
    assert_int_equal(step->place.policy, WIRE_POLICY_DI);
    assert_int_equal(step->place.policy_asked, WIRE_POLICY_CONTEND);
    assert_true(isnan(step->place.predicted));
    start(f, 2, STREAM); /* something is known now: all are placed by that */
    assert_int_equal(step->place.policy, WIRE_POLICY_CONTEND);
    assert_int_equal(step->knowledge.rung, RUNG_AVERAGE);
    assert_true(step->place.confidence < 0.5); /* but not much is known of this one */
}

/* What a step may lose at most is kept, though the policy would have it otherwise. */
static void test_bound(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, "deep");
    struct step *deep, *other[3];

    f->packer.world.conf.policy = WIRE_POLICY_MISSRATE; /* which wants stream beside deep */
    request.options.max_slowdown_pct = 8;
    deep = fixture_start(f, request);
    for (size_t i = MID; i < PROGRAMS; i++)
        other[i - MID] = start(f, (uint32_t)i + 1, i);
    assert_true(deep->place.met);
    assert_true(deep->place.predicted <= 0.08);
    assert_int_equal(cache_of(f, other[LIGHT - MID]), cache_of(f, deep));
}

static void test_bound_not_met(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(3, 0, "1", "1", 1, "deep");
    struct step *deep;

    f->packer.world.conf.policy = WIRE_POLICY_CONTEND;
    start(f, 1, STREAM);
    request.options.max_slowdown_pct = 1;
    deep = fixture_start(f, request); /* its launch tells that it is not met */
    assert_false(deep->place.met);
    assert_true(deep->place.predicted > 0.01);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_it, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_pairs),
        test(test_nothing_known),
        test(test_bound),
        test(test_bound_not_met),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
