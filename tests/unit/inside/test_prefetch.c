/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_prefetch - a step that asked for prefetch=auto|on|off on a made machine: the registers are
 * files (msr_tree.h), and a program is played that does more, or less, with the prefetchers on. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/msr_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"
#include "packer/steps/registers.h"
#include "packer/steps/step_counts.h"

#define CPUS 16
#define ALL_OFF 0xfu
#define RESERVED 0x40u /* a bit that is not berth's */

/* ---- the program ---- */

static struct played {
    double on_ips, off_ips; /* instructions per CPU second */
    double misses;          /* per million instructions */
    double at, instructions, cpu_s, missed;
} played;

static char devices[128];

static unsigned long long at(size_t cpu)
{
    return msr_tree_get(devices, cpu);
}

/* So many seconds pass, with the prefetchers of CPU 0: its newest sample is written. */
static void play(struct fixture *f, double seconds)
{
    double instructions = seconds * (at(0) & ALL_OFF ? played.off_ips : played.on_ips);
    char text[256], path[128];

    played.at += seconds;
    played.cpu_s += seconds;
    played.instructions += instructions;
    played.missed += instructions / 1e6 * played.misses;
    snprintf(text, sizeof(text),
             "{\"step\":\"1.0\",\"at\":%.3f,\"instructions\":%.0f,\"cpu_ns\":%.0f,"
             "\"llc_misses\":%.0f,\"threads\":4}\n",
             played.at, played.instructions, played.cpu_s * 1e9, played.missed);
    snprintf(path, sizeof(path), "%s/samples", f->dir);
    folder_put(path, "1.0", text);
}

/* ---- a node ---- */

static int begin_on(void **state, const char *topology, const char *cpuinfo)
{
    struct fixture *f = fixture_open(topology);

    snprintf(devices, sizeof(devices), "%s/devices", f->dir);
    folder_make(f->dir, "devices");
    msr_tree_make(devices, CPUS, cpuinfo);
    snprintf(f->conf.device_root, sizeof(f->conf.device_root), "%s", devices);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples", f->dir);
    folder_make(f->dir, "samples");
    strcat(f->conf.allow, ",prefetch");
    f->conf.replace = CONF_OFF;
    fixture_paper(f);
    fixture_restart(f);
    fixture_busy(f, NULL);
    played = (struct played){.on_ips = 2e9, .off_ips = 1e9, .misses = 100};
    *state = f;
    return 0;
}

static int begin(void **state)
{
    return begin_on(state, TWO_BY_TWO, MSR_TREE_HASWELL);
}

static int begin_smt(void **state)
{
    return begin_on(state, TWO_BY_TWO_SMT, MSR_TREE_HASWELL);
}

static int begin_amd(void **state)
{
    return begin_on(state, TWO_BY_TWO, MSR_TREE_CPUINFO("AuthenticAMD", "25", "1"));
}

static void window(struct fixture *f, struct step *step)
{
    play(f, 1);
    if (step->counts)
        step->counts->due_s = 0;
    pipeline_observe(&f->packer);
}

static struct step *start_on(struct fixture *f, enum wire_prefetch word, const char *cpus)
{
    struct wire_register request = fixture_request(1, 0, "0-3", cpus, 1, "p");
    struct step *step;

    play(f, 1);
    request.options.prefetch = word;
    step = fixture_start(f, request);
    step->started_mono_s = clock_s() - 2;
    window(f, step);
    window(f, step);
    return step;
}

static struct step *start(struct fixture *f, enum wire_prefetch word)
{
    return start_on(f, word, "0-3");
}

/* The half that is to begin, or goes on, is over. */
static void half(struct fixture *f, struct step *step)
{
    pipeline_bursts(&f->packer);
    play(f, 0.5);
    step->inside.run->prefetch.burst.next_s = 0;
    pipeline_bursts(&f->packer);
}

static void test_of(struct fixture *f, struct step *step)
{
    half(f, step);
    half(f, step);
}

static struct json_object *explained(struct fixture *f, const struct step *step)
{
    struct json_object *explain = json_object_new_object(), *its;

    figures_inside(&f->packer, step, explain);
    its = json_object_get(json_object_object_get(explain, "prefetch"));
    json_object_put(explain);
    assert_non_null(its);
    return its;
}

static void says(struct fixture *f, const struct step *step, const char *key, const char *value)
{
    struct json_object *its = explained(f, step);
    const char *is = json_object_get_string(json_object_object_get(its, key));

    assert_string_equal(is ? is : "null", value);
    json_object_put(its);
}

static void assert_registers(size_t from, size_t to, unsigned value)
{
    for (size_t cpu = from; cpu <= to; cpu++)
        assert_int_equal(at(cpu), value);
}

/* ---- auto ---- */

/* Both halves are seen by the registers, and on is kept. */
static void test_on_is_kept(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    says(f, step, "state", "waiting");
    half(f, step);
    says(f, step, "state", "testing-off");
    assert_registers(0, 3, ALL_OFF);
    assert_registers(4, 7, 0);
    half(f, step);
    says(f, step, "state", "on");
    says(f, step, "ratio", "2.0");
    says(f, step, "by", "instructions per CPU second");
    assert_registers(0, 7, 0);
    says(f, step, "switched_cores", "0");
}

/* Its cores are switched off, and no others, until it ends. */
static void test_off_is_kept_until_its_end(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    played.on_ips = 0.9e9;
    msr_tree_put(devices, 2, RESERVED | 1);
    step = start(f, WIRE_PREFETCH_AUTO);
    test_of(f, step);
    says(f, step, "state", "off");
    assert_registers(0, 1, ALL_OFF);
    assert_int_equal(at(2), RESERVED | ALL_OFF);
    assert_registers(4, 7, 0);
    says(f, step, "switched_cores", "4");
    fixture_end(f, 1, 0);
    assert_registers(0, 1, 0);
    assert_int_equal(at(2), RESERVED | 1);
    assert_int_equal(f->packer.state->registers->n, 0);
}

/* 2 % more is not enough: it has to be more than that. */
static void test_edge(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    played.on_ips = 1.02e9;
    step = start(f, WIRE_PREFETCH_AUTO);
    test_of(f, step);
    says(f, step, "ratio", "1.02");
    says(f, step, "state", "off");
}

static void test_beyond_the_edge(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    played.on_ips = 1.02e9 + 2;
    step = start(f, WIRE_PREFETCH_AUTO);
    test_of(f, step);
    says(f, step, "state", "on");
}

/* A new phase is asked about, a minute after the last test at the earliest. */
static void test_phases(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);
    struct inside_prefetch *prefetch = &step->inside.run->prefetch;

    test_of(f, step);
    assert_true(pipeline_bursts(&f->packer) < 0);
    played.misses = 5000;
    for (int i = 0; i < 3; i++)
        window(f, step);
    assert_true(step->counts->phase.number > prefetch->model.phase);
    assert_true(pipeline_bursts(&f->packer) > 50);
    prefetch->model.began_s -= 60;
    played.off_ips = 3e9;
    test_of(f, step);
    says(f, step, "state", "off");
    assert_registers(0, 3, ALL_OFF);
}

/* What a half is billed makes it instructions per joule: the meters are played. */
static void test_energy(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);
    struct burst *burst = &step->inside.run->prefetch.burst;

    strcpy(step->bill.source, "a meter of model 7"); /* what it is called does not matter */
    step->bill.known[ENERGY_PACKAGE] = true;
    pipeline_bursts(&f->packer);
    step->bill.uj[ENERGY_PACKAGE] += 30000000;
    half(f, step);
    assert_true(burst->before_j == 30);
    step->bill.uj[ENERGY_PACKAGE] += 10000000;
    half(f, step);
    says(f, step, "by", "instructions per joule");
    says(f, step, "on_ipj", "33333333.333333332");
    says(f, step, "off_ipj", "50000000.0");
    says(f, step, "state", "off");
}

/* Energy that a model says, or with a gap, is no measurement. */
static void test_energy_that_is_none(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    step->bill.modelled = true;
    step->bill.known[ENERGY_PACKAGE] = true;
    test_of(f, step);
    says(f, step, "by", "instructions per CPU second");
    step->bill.modelled = false;
    step->inside.run->prefetch.model.state = PREFETCH_TEST_ON;
    pipeline_bursts(&f->packer);
    step->bill.uj[ENERGY_PACKAGE] += 30000000;
    step->bill.gaps++;
    half(f, step);
    assert_true(isnan(step->inside.run->prefetch.model.on.ipj));
}

/* Where a half says nothing, nothing is decided, and all is as it was. */
static void test_not_counted(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    played.on_ips = played.off_ips = NAN;
    half(f, step);
    played.instructions = 0;
    test_of(f, step);
    says(f, step, "state", "waiting");
    says(f, step, "ratio", "null");
    assert_registers(0, 7, 0);
    assert_true(pipeline_bursts(&f->packer) > 50);
}

/* ---- undo ---- */

static void test_ends_in_the_test(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    half(f, step);
    pipeline_bursts(&f->packer);
    assert_registers(0, 3, ALL_OFF);
    assert_true(step->inside.run->prefetch.burst.running);
    fixture_end(f, 1, 0);
    assert_registers(0, 7, 0);
}

/* berthd is killed: the next one has the journal. */
static void test_killed(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    start(f, WIRE_PREFETCH_OFF);
    assert_registers(0, 3, ALL_OFF);
    msr_tree_put(devices, 1, 5); /* somebody else's */
    f->conf.allow[0] = '\0';
    fixture_restart(f);
    assert_registers(2, 3, ALL_OFF);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(at(0), 0);
    pipeline_observe(&f->packer);
    assert_int_equal(at(0), ALL_OFF); /* adopted: its user wants it so */
    pipeline_undo(&f->packer);
    assert_int_equal(at(0), 0);
    assert_int_equal(at(1), 5);
    assert_registers(2, 3, 0);
}

static void test_killed_and_gone(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    start(f, WIRE_PREFETCH_OFF);
    f->dead = 1;
    fixture_restart(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_registers(0, 7, 0);
    fixture_restart(f); /* and the journal has nothing of it any more */
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(f->packer.state->registers->n, 0);
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    start(f, WIRE_PREFETCH_OFF);
    assert_int_equal(pipeline_release(&f->packer, (struct wire_step_id){1, 0}, &err), 0);
    assert_registers(0, 7, 0);
}

/* What somebody else writes is his: berth lets go of it, and of the step's other cores. */
static void test_foreign_hand(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    half(f, step);
    msr_tree_put(devices, 3, 2);
    half(f, step);
    says(f, step, "refused", "CPU 3: somebody else has changed its prefetchers");
    assert_registers(0, 2, 0);
    assert_int_equal(at(3), 2);
    assert_int_equal(f->packer.state->registers->n, 0);
}

/* A register that cannot be given back is tried again, also when its step has ended. */
static void test_tried_again(void **state)
{
    struct fixture *f = *state;
    char path[192], aside[192];

    start(f, WIRE_PREFETCH_OFF);
    snprintf(path, sizeof(path), "%s/dev/cpu/2/msr", devices);
    snprintf(aside, sizeof(aside), "%s/aside", devices);
    assert_int_equal(rename(path, aside), 0);
    log_open(LOG_TARGET_SYSLOG, LOG_LEVEL_ERROR);
    fixture_end(f, 1, 0);
    assert_registers(0, 1, 0);
    assert_int_equal(f->packer.state->registers->n, 1);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(at(2), ALL_OFF);
    pipeline_observe(&f->packer);
    assert_int_equal(at(2), 0);
    assert_int_equal(f->packer.state->registers->n, 0);
}

/* ---- whose cores ---- */

/* The registers follow the step, and a test begins anew. */
static void test_follows(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_AUTO);

    fixture_run(f, 2, "4-7", "q");
    half(f, step);
    assert_registers(0, 3, ALL_OFF);
    pipeline_bursts(&f->packer);
    fixture_exchange(f, 3, 4);
    inside_turn(&f->packer);
    assert_registers(0, 2, ALL_OFF);
    assert_int_equal(at(3), 0);
    assert_int_equal(at(4), ALL_OFF);
    half(f, step);
    says(f, step, "state", "testing-on");
    assert_registers(0, 7, 0);
}

/* Half a core is not switched: whose thread runs beside? */
static void test_half_a_core(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_on(f, WIRE_PREFETCH_OFF, "0-2");

    says(f, step, "refused", "null");
    assert_int_equal(at(0), ALL_OFF);
    assert_registers(1, 15, 0); /* CPU 0 stands for its core */
    says(f, step, "own_cores", "1");
}

/* A step of its job on the same cores. */
static void test_shared(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_OFF);

    assert_registers(0, 3, ALL_OFF);
    fixture_start(f, fixture_request(1, 1, "0-3", "2-3", 1, "q"));
    assert_registers(2, 3, 0);
    inside_turn(&f->packer);
    assert_registers(0, 1, ALL_OFF);
    assert_registers(2, 3, 0);
    fixture_end(f, 1, 1);
    inside_turn(&f->packer);
    assert_registers(0, 3, ALL_OFF);
    says(f, step, "own_cores", "4");
}

/* ---- words ---- */

static void test_words(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    for (size_t cpu = 0; cpu < 4; cpu++)
        msr_tree_put(devices, cpu, ALL_OFF);
    step = start(f, WIRE_PREFETCH_ON);
    says(f, step, "state", "on");
    assert_registers(0, 3, 0);
    assert_true(pipeline_bursts(&f->packer) < 0);
    fixture_end(f, 1, 0);
    assert_registers(0, 3, ALL_OFF);
}

static void test_not_allowed(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    f->packer.world.conf.allow[strlen(f->packer.world.conf.allow) - strlen(",prefetch")] = '\0';
    step = start(f, WIRE_PREFETCH_OFF);
    says(f, step, "refused", "berth.conf does not allow it");
    assert_registers(0, 7, 0);
}

static void test_other_vendor(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_PREFETCH_OFF);

    says(f, step, "refused",
         "only Intel's processors have a switch for their prefetchers: this one is AuthenticAMD");
    assert_registers(0, 7, 0);
}

static void test_no_device(void **state)
{
    struct fixture *f = *state;
    char path[192];

    snprintf(path, sizeof(path), "%s/dev/cpu/1/msr", devices);
    assert_int_equal(unlink(path), 0);
    says(f, start(f, WIRE_PREFETCH_OFF), "refused",
         "/dev/cpu/1/msr: register 0x1a4: open: No such file or directory (modprobe msr)");
    assert_int_equal(at(0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_on_is_kept),
        TEST(test_off_is_kept_until_its_end),
        TEST(test_edge),
        TEST(test_beyond_the_edge),
        TEST(test_phases),
        TEST(test_energy),
        TEST(test_energy_that_is_none),
        TEST(test_not_counted),
        TEST(test_ends_in_the_test),
        TEST(test_killed),
        TEST(test_killed_and_gone),
        TEST(test_release),
        TEST(test_foreign_hand),
        TEST(test_tried_again),
        TEST(test_follows),
        cmocka_unit_test_setup_teardown(test_half_a_core, begin_smt, fixture_teardown),
        TEST(test_shared),
        TEST(test_words),
        TEST(test_not_allowed),
        cmocka_unit_test_setup_teardown(test_other_vendor, begin_amd, fixture_teardown),
        TEST(test_no_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
