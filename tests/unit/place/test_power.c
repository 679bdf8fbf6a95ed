/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_place_power - DIO-POWER on a node: who asks for it, what is clustered beside whom, and the
 * energy-delay products that decide, worked by hand.
 *
 * The machine has two packages of four cores. Each job has more cores than its step uses, so there
 * is room to cluster in. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/bill/node_power.h"
#include "packer/place/forecast.h"
#include "packer/place/place.h"
#include "packer/place/reason.h"

#define TWO_BY_FOUR "package:2 l3:1 core:4 pu:1"
#define FOUR_BY_TWO "package:4 l3:1 core:2 pu:1"

/* A profile without misses whose hits are all in the upper half of a cache of 16 ways: alone it
 * keeps them, beside its like it loses many. */
static void put_sensitive(struct fixture *f, const char *tag, double hits)
{
    struct profile profile = {.misses = 10, .accesses = 10 + hits, .source = "valgrind"};
    struct profiles *store = NULL;
    struct berth_error err = {""};

    profile_key_tag(profile.key, tag);
    profile.llc_ways = 16;
    profile.line_bytes = 64;
    profile.llc_bytes = f->packer.world.topo->llc[0].size_bytes;
    profile.instructions = 1000000;
    for (size_t i = 8; i < 16; i++)
        profile.hits[i] = hits / 8;
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put(store, &profile, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

static struct fixture *open_on(const char *topology)
{
    struct fixture *f = fixture_open(topology);

    fixture_profile(f, "none", 0);
    fixture_profile(f, "low", 10);
    fixture_profile(f, "high", 9000);
    put_sensitive(f, "sensitive", 12000);
    return f;
}

static int open_two(void **state)
{
    *state = open_on(TWO_BY_FOUR);
    return 0;
}

static int open_four(void **state)
{
    *state = open_on(FOUR_BY_TWO);
    return 0;
}

static void watts(struct fixture *f, const char *text)
{
    strcpy(f->packer.world.conf.energy_model, text);
}

/* A step that asks for edp, and has these of its job's CPUs. */
static struct step *run_edp(struct fixture *f, uint32_t job, const char *job_cpus, const char *cpus,
                            size_t tasks, const char *tag)
{
    struct wire_register request = fixture_request(job, 0, job_cpus, cpus, tasks, tag);

    request.options.edp = true;
    return fixture_start(f, request);
}

static size_t package_of(const struct fixture *f, const struct step *step)
{
    return f->packer.world.topo->core[cpus_next(&step->place.cpus, 0)].package;
}

static void assert_near(double got, double want, double off)
{
    if (!(fabs(got - want) <= off))
        fail_msg("%.9g, not %.9g", got, want);
}

static void assert_reason(const struct step *step, const char *part)
{
    char reason[256];

    place_reason(step, true, reason, sizeof(reason));
    if (!strstr(reason, part))
        fail_msg("'%s' is not in '%s'", part, reason);
}

/* ---- by devils alone: power is not known ---- */

static void test_turtles_cluster(void **state)
{
    struct fixture *f = *state;
    struct step *one = run_edp(f, 1, "0-3", "0", 1, "low");
    struct step *two = run_edp(f, 2, "4-7", "4", 1, "low");

    assert_int_equal(package_of(f, one), package_of(f, two));
    assert_int_equal(one->place.policy, WIRE_POLICY_DIO_POWER);
    assert_int_equal(one->place.edp.choice, PLACE_CLUSTERED);
    assert_true(isnan(one->place.edp.cluster) && isnan(one->place.edp.spread));
    assert_null(one->place.edp.source);
    assert_reason(one, "DIO-POWER: number 1 of 2 by cache misses, clustered on as few caches as keep");
}

static void test_devils_do_not(void **state)
{
    struct fixture *f = *state;
    struct step *one = run_edp(f, 1, "0-3", "0", 1, "high");
    struct step *two = run_edp(f, 2, "4-7", "4", 1, "high");

    assert_cpus(&one->place.cpus, "0");
    assert_cpus(&two->place.cpus, "4");
}

/* Two devils and two turtles on four packages of two cores: two packages, a devil in each. */
static void test_four_packages(void **state)
{
    struct fixture *f = *state;
    struct step *step[] = {
        run_edp(f, 1, "0-1", "0", 1, "high"), run_edp(f, 2, "2-3", "2", 1, "low"),
        run_edp(f, 3, "4-5", "4", 1, "high"), run_edp(f, 4, "6-7", "6", 1, "low")};

    assert_int_equal(package_of(f, step[0]) + package_of(f, step[2]), 1);
    assert_int_equal(package_of(f, step[1]) + package_of(f, step[3]), 1);
}

/* A step that asks for nothing keeps its place, and DI spreads its tasks; who asks for edp is put
 * beside it. */
static void test_beside_others(void **state)
{
    struct fixture *f = *state;
    struct step *other, *packed;

    fixture_paper(f); /* each task has a CPU of its own */
    other = fixture_start(f, fixture_request(1, 0, "0-3", "0-1", 2, "low"));
    packed = run_edp(f, 2, "4-7", "4-6", 3, "low");
    assert_int_equal(other->place.policy, WIRE_POLICY_DI);
    assert_int_equal(other->place.edp.choice, PLACE_NO_CHOICE);
    assert_cpus(&other->place.cpus, "0,4");
    assert_cpus(&packed->place.cpus, "1-3");
    assert_reason(other, "DI: number");
}

/* Package 1 is awake for a step that berth leaves alone. */
static void test_awake_anyway(void **state)
{
    struct fixture *f = *state;
    struct wire_register left = fixture_request(3, 0, "7", "7", 1, "low");
    struct step *one, *two;

    left.bound_by_hand = true;
    fixture_start(f, left);
    one = run_edp(f, 1, "0-3", "0", 1, "low");
    two = run_edp(f, 2, "4-6", "4", 1, "low");
    assert_int_equal(package_of(f, one), 1);
    assert_int_equal(package_of(f, two), 1);
}

/* One who may be isolated takes precedence: all are placed by DI. */
static void test_isolation_first(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0", 1, "high");
    struct step *packed;

    strcpy(f->packer.world.conf.isolate_users, "*");
    request.options.isolate = true;
    fixture_start(f, request);
    packed = run_edp(f, 2, "4-7", "4-5", 2, "low");
    assert_int_equal(packed->place.edp.choice, PLACE_SPREAD);
    assert_reason(packed, "spread, for a step is to be isolated");
    assert_cpus(&packed->place.cpus, "4-5");
}

/* ---- energy times time ---- */

/* Nobody slows anybody down. Clustered: 40 + 2 * 5 and 10 W; spread: 2 * (40 + 5). A second's work
 * takes a second. */
static void test_sleep_pays(void **state)
{
    struct fixture *f = *state;
    struct step *one, *two;

    watts(f, "idle=40W,core=5W,sleep=10W");
    one = run_edp(f, 1, "0-3", "0", 1, "none");
    two = run_edp(f, 2, "4-7", "4", 1, "none");
    assert_int_equal(package_of(f, one), package_of(f, two));
    assert_near(two->place.edp.cluster, 60, 1e-9);
    assert_near(two->place.edp.spread, 90, 1e-9);
    assert_near(one->place.edp.cluster, 60, 1e-9); /* all are told anew */
    assert_string_equal(two->place.edp.source, "model");
    assert_reason(two, "clustered on few caches, which costs less energy times time");
}

/* What a core does per second beside its like, by the forecast itself. */
static double work_together(struct fixture *f)
{
    struct pool together;
    double work;

    forecast_update(&f->packer);
    assert_int_equal(pool_copy(&together, f->packer.state->pool), 0);
    assert_int_equal(pool_assign(&together, 2, (size_t[]){0, 4}, (size_t[]){0, 1}), 0);
    work = forecast_work(&(struct scene){&f->packer, &together, false}, NULL);
    pool_free(&together);
    return work;
}

/* The same two steps, of which each has to lose by the other: where sleep saves a third of the
 * power they stay apart, where it saves nearly half they go together. */
static void test_slowdown_decides(void **state)
{
    static const struct {
        const char *watts;
        double cluster_w, spread_w;
        enum step_choice choice;
    } cases[] = {
        {"idle=40W,core=5W,sleep=10W", 60, 90, PLACE_SPREAD},
        {"idle=400W,core=5W,sleep=0W", 410, 810, PLACE_CLUSTERED},
        {"idle=40W,core=5W,sleep=40W", 90, 90, PLACE_SPREAD}, /* sleep saves nothing */
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step *one, *two;
        double work, time;

        watts(f, cases[i].watts);
        one = run_edp(f, 1, "0-3", "0", 1, "sensitive");
        two = run_edp(f, 2, "4-7", "4", 1, "sensitive");
        work = work_together(f);
        time = 2 / work;
        assert_in_range((unsigned)(100 * time), 123, 140); /* 1.225^2 = 1.5, 1.405^2 = 1.975 */
        assert_near(two->place.edp.spread, cases[i].spread_w, 1e-2); /* one memory node */
        assert_near(two->place.edp.cluster, cases[i].cluster_w * time * time, 1e-6);
        assert_int_equal(two->place.edp.choice, cases[i].choice);
        assert_int_equal(package_of(f, one) == package_of(f, two),
                         cases[i].choice == PLACE_CLUSTERED);
        fixture_end(f, 1, 0);
        fixture_end(f, 2, 0);
    }
}

/* The same two steps where sleep saves a seventh of all power, but half of what is above idle. */
static void test_above_idle(void **state)
{
    static const struct {
        enum conf_edp_power counts;
        double cluster_w, spread_w;
        enum step_choice choice;
    } cases[] = {
        {CONF_EDP_TOTAL, 7010, 8010, PLACE_SPREAD},
        {CONF_EDP_ABOVE_IDLE, 1010, 2010, PLACE_CLUSTERED},
    };
    struct fixture *f = *state;

    watts(f, "idle=4000W,core=5W,sleep=3000W");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step *two;
        double time;

        f->packer.world.conf.edp_power = cases[i].counts;
        run_edp(f, 1, "0-3", "0", 1, "sensitive");
        two = run_edp(f, 2, "4-7", "4", 1, "sensitive");
        time = 2 / work_together(f);
        assert_near(two->place.edp.spread, cases[i].spread_w, 1);
        assert_near(two->place.edp.cluster, cases[i].cluster_w * time * time, 1e-6);
        assert_int_equal(two->place.edp.choice, cases[i].choice);
        fixture_end(f, 1, 0);
        fixture_end(f, 2, 0);
    }
}

/* Two devils and two turtles on one package of the two: who shares a cache with whom. */
static void test_order(void **state)
{
    static const char *const tags[] = {"high", "higher", "low", "lower"};
    struct fixture *f = *state;
    struct step *step[4];

    fixture_profile(f, "higher", 9500);
    fixture_profile(f, "lower", 5);
    for (int printed = 0; printed < 2; printed++) {
        f->packer.world.conf.dio_power_order = printed ? CONF_AS_PRINTED : CONF_BALANCED;
        for (uint32_t i = 0; i < 4; i++) {
            char cpus[16], first[16];

            snprintf(cpus, sizeof(cpus), "%u-%u", 2 * i, 2 * i + 1);
            snprintf(first, sizeof(first), "%u", 2 * i);
            step[i] = run_edp(f, i + 1, cpus, first, 1, tags[i]);
        }
        assert_int_equal(package_of(f, step[1]), package_of(f, step[printed ? 2 : 3]));
        assert_int_equal(package_of(f, step[0]), package_of(f, step[printed ? 3 : 2]));
        for (uint32_t i = 0; i < 4; i++)
            fixture_end(f, i + 1, 0);
    }
}

/* A site that says nothing of sleep says nothing that could decide. */
static void test_no_sleep_figure(void **state)
{
    struct fixture *f = *state;
    struct step *one, *two;

    watts(f, "idle=40W,core=5W");
    one = run_edp(f, 1, "0-3", "0", 1, "sensitive");
    two = run_edp(f, 2, "4-7", "4", 1, "sensitive");
    assert_int_equal(package_of(f, one), package_of(f, two));
    assert_true(isnan(two->place.edp.cluster));
    assert_null(two->place.edp.source);
}

static void feed(struct fixture *f, size_t package)
{
    for (int i = 0; i < 30; i++) {
        node_power_observe(&f->packer, package, 1, 10, 0);
        node_power_observe(&f->packer, package, 1, 45, 1);
        node_power_observe(&f->packer, package, 2, 55, 6); /* three cores for two seconds */
    }
}

/* Metered intervals, of packages as above; one of them alone does not do. */
static void test_measured(void **state)
{
    struct power_package figures;
    struct fixture *f = *state;
    struct step *two;

    assert_null(node_power_source(&f->packer));
    feed(f, 0);
    feed(f, 2); /* there is none such */
    assert_string_equal(node_power_of(&f->packer, 0, &figures), "measured");
    assert_near(figures.asleep_w, 10, 1e-6);
    assert_near(figures.awake_w, 40, 1e-6);
    assert_near(figures.core_w, 5, 1e-6);
    assert_null(node_power_source(&f->packer));
    watts(f, "idle=40W,core=5W,sleep=10W");
    assert_string_equal(node_power_source(&f->packer), "model");
    feed(f, 1);
    assert_string_equal(node_power_source(&f->packer), "measured");
    run_edp(f, 1, "0-3", "0", 1, "none");
    two = run_edp(f, 2, "4-7", "4", 1, "none");
    assert_near(two->place.edp.cluster, 60, 1e-6);
    assert_near(two->place.edp.spread, 90, 1e-6);
    assert_string_equal(two->place.edp.source, "measured");
}

/* One that is only observed is told, and stays. */
static void test_observed(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "4-7", "4", 1, "none");
    struct step *observed;

    watts(f, "idle=40W,core=5W,sleep=10W");
    run_edp(f, 1, "0-3", "0", 1, "none");
    request.options.edp = true;
    request.options.mode = WIRE_MODE_OBSERVE;
    observed = fixture_start(f, request);
    assert_int_equal(package_of(f, observed), 0);
    assert_cpus(&observed->body.task[0].cpus, "4");
    assert_near(observed->place.edp.cluster, 60, 1e-9);
    assert_near(observed->place.edp.spread, 90, 1e-9);
}

/* ---- who asks for it ---- */

static void test_who_asks(void **state)
{
    static const struct {
        enum wire_policy site;
        bool edp, given;
        enum wire_policy asked, policy, told;
    } cases[] = {
        {WIRE_POLICY_DI, false, false, 0, WIRE_POLICY_DI, WIRE_POLICY_DI},
        {WIRE_POLICY_DI, true, false, 0, WIRE_POLICY_DIO_POWER, WIRE_POLICY_DIO_POWER},
        {WIRE_POLICY_DI, false, true, WIRE_POLICY_DIO_POWER, WIRE_POLICY_DIO_POWER,
         WIRE_POLICY_DIO_POWER},
        {WIRE_POLICY_DI, true, true, WIRE_POLICY_DI, WIRE_POLICY_DI, WIRE_POLICY_DI},
        {WIRE_POLICY_DIO_POWER, false, false, 0, WIRE_POLICY_DIO_POWER, WIRE_POLICY_DIO_POWER},
        {WIRE_POLICY_DIO_POWER, false, true, WIRE_POLICY_DI, WIRE_POLICY_DI, WIRE_POLICY_DI},
        {WIRE_POLICY_DIO_POWER, false, true, WIRE_POLICY_PAIN, WIRE_POLICY_PAIN, WIRE_POLICY_PAIN},
        {WIRE_POLICY_DI, true, true, WIRE_POLICY_PAIN, WIRE_POLICY_PAIN, WIRE_POLICY_PAIN},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_register request = fixture_request(1, 0, "0-3", "0", 1, "low");
        struct step *step;

        f->packer.world.conf.policy = cases[i].site;
        request.options.edp = cases[i].edp;
        request.options.policy_given = cases[i].given;
        request.options.policy = cases[i].asked;
        step = fixture_start(f, request);
        assert_int_equal(step->place.policy, cases[i].policy);
        assert_int_equal(step->place.policy_asked, cases[i].told);
        fixture_end(f, 1, 0);
    }
}

/* A berthd that takes over goes on by the same policy. */
static void test_adopted(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;
    struct step *step;

    fixture_paper(f);
    run_edp(f, 1, "0-3", "0", 1, "low");
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    step = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_non_null(step);
    assert_int_equal(step->place.policy, WIRE_POLICY_DIO_POWER);
    assert_int_equal(step->place.edp.choice, PLACE_NO_CHOICE); /* nothing was decided yet */
}

#define two(test) cmocka_unit_test_setup_teardown(test, open_two, fixture_teardown)
#define four(test) cmocka_unit_test_setup_teardown(test, open_four, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        two(test_turtles_cluster), two(test_devils_do_not),    four(test_four_packages),
        two(test_beside_others),   two(test_awake_anyway),     two(test_isolation_first),
        two(test_sleep_pays),      two(test_slowdown_decides), two(test_no_sleep_figure),
        two(test_measured),        two(test_observed),         two(test_who_asks),
        two(test_adopted),         two(test_above_idle),       four(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
