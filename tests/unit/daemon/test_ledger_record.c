/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_ledger_record - what is kept of a step: each figure from its place, and nothing where
 * nothing was measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/daemon/ledger_record.h"
#include "packer/ledger/schema.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/ledger_box.h"

static const char *const two_homes[] = {"0", "1", NULL};

/* A step of two tasks that is over: it ran from 1000 to 1020. */
static struct step *ended_step(struct fixture *f)
{
    struct step *step = fixture_put(f, 7, WIRE_STEP_BATCH, "0-1", NAN, two_homes);

    step->place.home = step->place.cpus = cpus_of("0-1");
    step->started_at = 1000;
    step->ended_at = 1020;
    step->started_mono_s = 5;
    step->ended_mono_s = 25.5;
    return step;
}

static struct step_counts *count(struct step *step)
{
    step->counts = calloc(1, sizeof(*step->counts));
    assert_non_null(step->counts);
    return step->counts;
}

static void assert_near(double value, double want)
{
    if (!(fabs(value - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g, not %.17g", value, want);
}

static void test_who(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    step->identity.is = (struct wire_identity){.source = WIRE_SOURCE_SLURMCTLD,
                                               .restart = 1,
                                               .nodes = 3,
                                               .array_job = 5,
                                               .array_task = 2,
                                               .cluster = "north",
                                               .account = "phys",
                                               .qos = "high",
                                               .partition = "long",
                                               .job_name = "fit"};
    strcpy(step->request.options.tag, "t");
    step->place.cpus = cpus_of("2-3");
    step->place.policy = WIRE_POLICY_DIO_POWER;
    step->size.cores = 2;
    step->size.given = 1;
    step->enacted.moves = 4;
    step->exit_status = 256;
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.identity, "slurmctld");
    assert_string_equal(record.cluster, "north");
    assert_string_equal(record.node, "here");
    assert_int_equal(record.id.job, 7);
    assert_int_equal(record.id.step, WIRE_STEP_BATCH);
    assert_int_equal(record.array_job, 5);
    assert_int_equal(record.array_task, 2);
    assert_int_equal(record.restart, 1);
    assert_int_equal(record.nodes, 3);
    assert_int_equal(record.uid, 1000);
    assert_int_equal(record.gid, 1000);
    assert_string_equal(record.user, ""); /* not on the event loop */
    assert_string_equal(record.account, "phys");
    assert_string_equal(record.qos, "high");
    assert_string_equal(record.partition, "long");
    assert_string_equal(record.job_name, "fit");
    assert_string_equal(record.program, "prog");
    assert_string_equal(record.tag, "t");
    assert_int_equal(record.start, 1000);
    assert_int_equal(record.end, 1020);
    assert_near(record.elapsed_s, 20.5);
    assert_int_equal(record.exit_status, 256);
    assert_string_equal(record.state, "placed");
    assert_int_equal(record.tasks, 2);
    assert_int_equal(record.cores_given, 2);
    assert_int_equal(record.cores_used, 1);
    assert_string_equal(record.home, "0-1");
    assert_string_equal(record.cpus, "2-3");
    assert_string_equal(record.policy, "dio-power");
    assert_int_equal(record.moves, 4);
}

/* Nothing was measured: nothing is said. */
static void test_nothing(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    assert_int_equal(step_go(step, STEP_LEFT), 0);
    step->request.exe = "";
    ledger_record_fill(&f->packer, step, &record);
    for (const struct json_field *field = ledger_fields; field->name; field++)
        if (field->kind == JSON_NUMBER && strcmp(field->name, "elapsed_s") != 0 &&
            !isnan(*(const double *)((const char *)&record + field->offset)))
            fail_msg("%s is known", field->name);
    assert_int_equal(record.exit_status, -1);
    assert_string_equal(record.identity, "none");
    assert_string_equal(record.account, "");
    assert_string_equal(record.program, "");
    assert_string_equal(record.policy, ""); /* nobody decided */
    assert_string_equal(record.state, "left");
    assert_string_equal(record.left_for, "");
    step->enacted.left_for = WIRE_LEFT_BOUND;
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.left_for, "bound");
    assert_string_equal(record.counters_source, "");
    assert_string_equal(record.energy_source, "");
    assert_string_equal(record.idle_energy, "");
    assert_true(isnan(record.uj_idle));
    assert_string_equal(record.slowdown_source, "");
}

static void test_counts(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct step_counts *counts = count(step);
    struct ledger_record record;

    step->use = (struct step_use){.user_s = 0, .system_s = 1.5, .maxrss_kib = 4096};
    counters_set(&counts->last, COUNTER_INSTRUCTIONS, 4e10);
    counters_set(&counts->last, COUNTER_BYTES, 5e9);
    ledger_record_fill(&f->packer, step, &record);
    assert_true(record.user_s == 0);
    assert_near(record.system_s, 1.5);
    assert_near(record.maxrss_kib, 4096);
    assert_near(record.instructions, 4e10);
    assert_true(isnan(record.llc_misses));
    assert_near(record.memory_bytes, 5e9);
    assert_true(isnan(record.slowdown_observed));
}

/* Windows of one second: alone at 2e9, beside others at 1e9 instructions per CPU second. */
static void test_slowdown(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct step_counts *counts = count(step);
    struct ledger_record record;

    for (int i = 0; i < 2; i++)
        rate_add(&counts->alone[RATE_CORE_SPEED], 1, 2e9);
    for (int i = 0; i < 2; i++)
        rate_add(&counts->beside[RATE_CORE_SPEED], 1, 1e9);
    ledger_record_fill(&f->packer, step, &record);
    assert_true(isnan(record.slowdown_observed)); /* too few windows alone, and no profile */
    rate_add(&counts->alone[RATE_CORE_SPEED], 1, 2e9);
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.slowdown_observed, 2e9 / (8e9 / 5) - 1);
    assert_string_equal(record.slowdown_source, "own windows alone");
    step->profile.instructions_per_s = 2.4e9;
    ledger_record_fill(&f->packer, step, &record); /* counted beside others: no reference */
    assert_string_equal(record.slowdown_source, "own windows alone");
    step->profile.reference = true;
    step->slowdown = (struct step_slowdown){.now = 0.5,
                                            .home = 1,
                                            .since_s = step->ended_mono_s - 1,
                                            .sum = 3 * 0.1,
                                            .home_sum = 3 * 0.2,
                                            .seconds = 3};
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.slowdown_observed, 2.4e9 / (8e9 / 5) - 1);
    assert_near(record.slowdown_predicted, (3 * 0.1 + 0.5) / 4);
    assert_near(record.slowdown_home, (3 * 0.2 + 1) / 4);
    assert_string_equal(record.slowdown_source, "contend, profile");
    free(step->counts);
    step->counts = NULL;
    ledger_record_fill(&f->packer, step, &record);
    assert_true(isnan(record.slowdown_observed));
    assert_string_equal(record.slowdown_source, "contend");
}

/* One that was only observed stood where Slurm put it; where it would have stood, and how slow, is
 * kept beside that. */
static void test_observed(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    step->state = STEP_OBSERVED;
    step->place.cpus = cpus_of("2-3");
    step->knowledge.rung = RUNG_MISSES;
    strcpy(step->enacted.reason, "observed only, nothing was moved");
    step->slowdown = (struct step_slowdown){.now = 0.2,
                                            .home = 0.2,
                                            .as_if = 0.1,
                                            .since_s = step->ended_mono_s - 1,
                                            .sum = 0.2,
                                            .home_sum = 0.2,
                                            .seconds = 1,
                                            .as_if_sum = 0.05,
                                            .as_if_s = 1};
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.state, "observed");
    assert_string_equal(record.cpus, "0-1");
    assert_string_equal(record.proposed, "2-3");
    assert_near(record.slowdown_proposed, (0.05 + 0.1) / 2);
    assert_near(record.slowdown_predicted, 0.2);
    assert_string_equal(record.knowledge, "miss rate");
    assert_string_equal(record.reason, "observed only, nothing was moved");
}

/* Moments are kept to the millisecond, unless they are of a journal that has none. */
static void test_moments(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    ledger_record_fill(&f->packer, step, &record);
    assert_int_equal(record.start_ms, 0);
    step->started_ms = 1000250;
    step->ended_ms = 1020750;
    ledger_record_fill(&f->packer, step, &record);
    assert_int_equal(record.start_ms, 1000250);
    assert_int_equal(record.end_ms, 1020750);
}

/* What a size might cost and has cost; of a step that did not ask for one nothing. */
static void test_size(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    step->size.gbps = 9;
    step->size.gbps_all = 10;
    ledger_record_fill(&f->packer, step, &record);
    assert_true(isnan(record.size_loss_asked) && isnan(record.size_loss_predicted));
    step->request.options.size = true;
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.size_loss_asked, 0.02);
    assert_near(record.size_loss_predicted, 0.1);
    assert_true(isnan(record.size_loss_measured) && isnan(record.size_freed_core_s));
    step->size.verdict.measured = 0.05;
    step->size.verdict.counted_s = 1;
    step->size.verdict.freed_core_s = 40;
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.size_loss_measured, 0.05);
    assert_near(record.size_freed_core_s, 40);
}

/* What was in effect inside it, and for no longer than it ran. */
static void test_inside(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;

    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.inside, "");
    assert_int_equal(record.inside_changes, 0);
    assert_true(isnan(record.inside_s));
    step->inside.effect[STEP_TRANQUIL].changes = 2;
    step->inside.effect[STEP_SHUFFLE].changes = 1;
    step->inside.any = (struct step_effect){.changes = 3, .seconds = 12.25};
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.inside, "tranquil,shuffle");
    assert_int_equal(record.inside_changes, 3);
    assert_near(record.inside_s, 12.25);
    assert_true(isnan(record.throttled_s) && isnan(record.idle_thread_s));
    step->inside.any.seconds = 100;
    step->inside.effect[STEP_THROTTLE].changes = 1;
    step->inside.throttled = (struct step_throttled){2, 3.5, 7};
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.inside_s, 20.5);
    assert_int_equal(record.throttled, 2);
    assert_near(record.throttled_s, 3.5);
    assert_near(record.idle_thread_s, 7);
}

static void test_energy(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct step_counts *counts = count(step);
    struct ledger_record record;

    step->bill.known[ENERGY_PACKAGE] = step->bill.known[ENERGY_DRAM] = true;
    step->bill.uj[ENERGY_PACKAGE] = 9007199254740991;
    step->bill.uj[ENERGY_DRAM] = 0;
    strcpy(step->bill.source, "rapl-powercap");
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.idle_energy, "cores");
    assert_true(record.uj_idle == 0);
    assert_true(record.uj[ENERGY_PACKAGE] == 9007199254740991);
    assert_true(record.uj[ENERGY_DRAM] == 0);
    assert_true(isnan(record.uj[ENERGY_NODE]));

    step->bill.uj[ENERGY_PACKAGE] = 400 * 1000000;
    step->bill.uj[ENERGY_DRAM] = 10 * 1000000;
    step->bill.idle = CONF_IDLE_EVENLY;
    step->bill.idle_uj[ENERGY_PACKAGE] = 7;
    step->bill.idle_uj[ENERGY_DRAM] = 2;
    ledger_record_fill(&f->packer, step, &record);
    assert_string_equal(record.energy_source, "rapl-powercap");
    assert_near(record.power_w, 20);
    assert_string_equal(record.idle_energy, "evenly");
    assert_true(record.uj_idle == 9);
    assert_near(record.edp, 410 * 20.5);
    assert_true(isnan(record.edp_per_instruction));

    rate_add(&counts->alone[RATE_INSTRUCTIONS], 1, 1e9); /* 2 s of its 20.5 were counted */
    rate_add(&counts->beside[RATE_INSTRUCTIONS], 1, 3e9);
    ledger_record_fill(&f->packer, step, &record);
    assert_near(record.edp_per_instruction, 410 / 2e9); /* eq. 9: energy / (instructions / s) */
}

/* A list that is longer than the field is cut between two entries, and says so. */
static void test_long_list(void **state)
{
    struct fixture *f = *state;
    struct step *step = ended_step(f);
    struct ledger_record record;
    struct cpus set = {0};

    for (unsigned i = 0; i < 512; i += 2)
        cpus_add(&set, i);
    step->place.cpus = set;
    ledger_record_fill(&f->packer, step, &record);
    assert_true(strlen(record.cpus) < sizeof(record.cpus));
    assert_true(strlen(record.cpus) > sizeof(record.cpus) - 10);
    assert_string_equal(record.cpus + strlen(record.cpus) - 6, "152,..");
}

/* ---- the whole way ---- */

static void test_no_ledger(void **state)
{
    struct fixture *f = *state;

    assert_null(f->packer.state->ledger);
    fixture_run(f, 1, "0-1", "x");
    fixture_end(f, 1, 0);
}

struct seen {
    size_t n;
    struct ledger_record record[4];
};

static int take(const struct ledger_record *record, void *arg)
{
    struct seen *seen = arg;

    assert_true(seen->n < 4);
    seen->record[seen->n++] = *record;
    return 0;
}

static void open_ledger(struct fixture *f)
{
    struct conf *conf = &f->packer.world.conf;
    struct berth_error err;

    snprintf(conf->ledger, sizeof(conf->ledger), "sqlite:%s/ledger.db", f->dir);
    if (ledger_open(&f->packer.state->ledger, conf, &err) < 0)
        fail_msg("%s", err.text);
}

/* Ended, vanished, and registered anew under the same id: each run is a record. */
static void test_pipeline(void **state)
{
    struct fixture *f = *state;
    struct conf *conf = &f->packer.world.conf;
    struct ledger_filter filter = {.njobs = 0};
    struct seen seen = {0};
    struct berth_error err;

    open_ledger(f);
    fixture_run(f, 1, "0-1", "x");
    fixture_run(f, 2, "2-3", "x");
    fixture_end(f, 1, 0);
    f->dead = 2;
    pipeline_sweep(&f->packer);
    fixture_run(f, 3, "4-5", "x")->started_at -= 10;
    fixture_run(f, 3, "4-5", "x");
    assert_true(ledger_box_arrived(f->packer.state->ledger));
    if (ledger_read(conf->ledger, "", &filter, take, &seen, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.record[0].id.job, 3);
    assert_int_equal(seen.record[1].id.job, 1);
    assert_int_equal(seen.record[1].exit_status, 0);
    assert_near(seen.record[1].user_s, 1);
    assert_string_equal(seen.record[1].state, "placed");
    assert_string_equal(seen.record[1].home, "0-1");
    assert_int_equal(seen.record[2].id.job, 2);
    assert_int_equal(seen.record[2].exit_status, -1);
}

/* ---- what is predicted ---- */

static void test_predicted(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b, *c;

    open_ledger(f);
    fixture_profile(f, "devil", 20000);
    a = fixture_run(f, 1, "0", "devil");
    b = fixture_run(f, 2, "1", "devil");
    c = fixture_run(f, 3, "4", "devil");
    assert_true(isnan(a->slowdown.now)); /* not on the way of a launch */
    assert_true(f->packer.steps->changed);
    pipeline_observe(&f->packer);
    assert_false(f->packer.steps->changed);
    if (cpus_equal(&a->place.cpus, &c->place.cpus))
        fail_msg("two on one core");
    assert_true(a->slowdown.now >= 0 && b->slowdown.now >= 0 && c->slowdown.now >= 0);
    assert_true(a->slowdown.home >= 0);
    fixture_end(f, 1, 0);
    fixture_end(f, 2, 0);
    pipeline_observe(&f->packer);
    assert_true(c->slowdown.now == 0); /* nobody is beside it */
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_on_paper, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_who),       TEST(test_nothing),  TEST(test_counts),    TEST(test_slowdown),
        TEST(test_observed),  TEST(test_moments),  TEST(test_size),      TEST(test_observed),
        TEST(test_moments),   TEST(test_inside),   TEST(test_energy),    TEST(test_long_list),
        TEST(test_no_ledger), TEST(test_pipeline), TEST(test_predicted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
