/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bill - who pays for what, to the microjoule: idle cores, work that berth does not know,
 * steps beside each other and on each other's CPUs, moved, ended, not metered for a while, and
 * after berthd was stopped or killed. */
#include "packer/base/file.h"
#include "packer/bill/node_power.h"
#include "tests/unit/common/bill_box.h"
#include "tests/unit/common/clock_stands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/enact/rearrange.h"
#include "packer/observe/window.h"
#include "enum_table.h"

#define J 1000000u

static int open_box(void **state)
{
    *state = bill_box_open(TWO_BY_TWO, BOX_ZONES);
    return 0;
}

static int open_packages(void **state) /* no platform */
{
    *state = bill_box_open(TWO_BY_TWO, BOX_NODE);
    return 0;
}

static int close_box(void **state)
{
    bill_box_close(*state);
    return 0;
}

static void assert_account(const struct bill_box *box, size_t zone, uint64_t steps, uint64_t idle,
                           uint64_t unmanaged)
{
    struct bill_account account = bill_box_account(box, zone);

    if (account.steps_uj != steps || account.idle_uj != idle || account.unmanaged_uj != unmanaged)
        fail_msg("zone %zu: steps %llu idle %llu unmanaged %llu", zone,
                 (unsigned long long)account.steps_uj, (unsigned long long)account.idle_uj,
                 (unsigned long long)account.unmanaged_uj);
    bill_box_adds_up(box);
}

static void assert_uj(const struct step *step, enum energy_domain domain, uint64_t uj)
{
    assert_true(step->bill.known[domain]);
    if (step->bill.uj[domain] != uj)
        fail_msg("%s: %llu", energy_domain_name[domain], (unsigned long long)step->bill.uj[domain]);
}

static struct step *run(struct bill_box *box, uint32_t job, const char *cpus)
{
    struct step *step = fixture_run(box->f, job, cpus, NULL);

    assert_non_null(step->bill.running);
    return step;
}

static void test_idle_and_unmanaged(void **state)
{
    struct bill_box *box = *state;

    bill_box_use(box, BOX_PACKAGE_0, 20 * J);
    bill_box_use(box, BOX_PACKAGE_1, 30 * J);
    bill_box_use(box, BOX_NODE, 70 * J);
    bill_box_work(box, 5, 0.5); /* of the second package, by whom nobody knows */
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 0, 20 * J, 0);
    assert_account(box, BOX_PACKAGE_1, 0, 0, 30 * J);
    assert_account(box, BOX_NODE, 0, 0, 70 * J);
    assert_account(box, BOX_DRAM_0, 0, 0, 0);
}

/* Nothing is known of the idle power yet: all goes by busy time. */
static void test_by_busy_time(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0-1"), *b = run(box, 2, "2"), *c = run(box, 3, "4");
    uint64_t uj;

    for (size_t cpu = 0; cpu < 3; cpu++)
        bill_box_work(box, cpu, 1);
    bill_box_use(box, BOX_PACKAGE_0, 30 * J + 1);
    bill_box_use(box, BOX_DRAM_0, 3 * J);
    bill_box_use(box, BOX_PACKAGE_1, 8 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 20 * J + 1); /* the remainder of 2/3 is the larger one */
    assert_uj(b, ENERGY_PACKAGE, 10 * J);
    assert_uj(a, ENERGY_DRAM, 2 * J);
    assert_uj(c, ENERGY_PACKAGE, 2 * J); /* nobody works: by CPUs */
    assert_account(box, BOX_PACKAGE_1, 2 * J, 6 * J, 0);
    assert_string_equal(a->bill.by, "busy time");
    assert_string_equal(c->bill.by, "cores");
    assert_string_equal(a->bill.source, "rapl-powercap");
    assert_false(a->bill.modelled);
    assert_true(bill_total(a, &uj) && uj == 22 * J + 1); /* not the platform's, too */
    bill_box_work(box, 0, 0.5);
    bill_box_work(box, 3, 0.5); /* nobody's */
    bill_box_use(box, BOX_PACKAGE_0, 10 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 25 * J + 1);
    assert_account(box, BOX_PACKAGE_0, 35 * J + 1, 0, 5 * J);
}

/* 10 W idle and 5 W a busy CPU on the first package: once rest and load have shown it, the idle
 * power goes by the CPUs held, whether somebody works on them or not. */
static void test_idle_share(void **state)
{
    struct bill_box *box = *state;
    struct step *a, *b;

    for (int i = 0; i < 20; i++) {
        unsigned busy = (unsigned)i % 4;

        for (size_t cpu = 0; cpu < busy; cpu++)
            bill_box_work(box, cpu, 1);
        bill_box_use(box, BOX_PACKAGE_0, (10 + 5 * busy) * J);
        bill_box_turn(box, 1);
    }
    a = run(box, 1, "0");
    b = run(box, 2, "1");
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 15 * J);
    bill_box_turn(box, 1);
    assert_true(labs((long)a->bill.uj[ENERGY_PACKAGE] - (long)(7.5 * J)) < 100);
    assert_true(labs((long)b->bill.uj[ENERGY_PACKAGE] - (long)(2.5 * J)) < 100);
    bill_box_adds_up(box);
}

/* Both packages' power is a model's: 10 W idle, 5 W a busy CPU. */
static void model(struct bill_box *box)
{
    struct bill *bill = box->f->packer.state->bill;

    bill->zone[BOX_PACKAGE_0].zone.modelled = bill->zone[BOX_PACKAGE_1].zone.modelled = true;
    bill->watts = (struct energy_watts){.idle = 10, .core = 5};
}

static void assert_idle(const struct step *step, uint64_t wanted)
{
    uint64_t uj = 0;

    assert_true(bill_idle(step, &uj));
    if (uj != wanted)
        fail_msg("%u: idle %llu", step->request.id.job, (unsigned long long)uj);
}

/* A second in which CPU 0 works. */
static void work_and_turn(struct bill_box *box)
{
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 15 * J);
    bill_box_use(box, BOX_PACKAGE_1, 10 * J);
    bill_box_turn(box, 1);
}

/* One step on one core of four, one on two of them, one on all of the other package. */
static void test_idle_rules(void **state)
{
    static const struct {
        uint64_t a, b, c, idle_0, idle_1; /* of the idle parts, which are 10 J a package */
    } TABLE(want, CONF_IDLES) = {ROW(CONF_IDLE_CORES) = {5 * J / 2, 5 * J, 10 * J, 5 * J / 2, 0},
                                 ROW(CONF_IDLE_EVENLY) = {5 * J, 5 * J, 10 * J, 0, 0},
                                 ROW(CONF_IDLE_NOBODY) = {0, 0, 0, 10 * J, 10 * J}};
    TABLE_COMPLETE(want);

    (void)state;
    for (size_t i = 0; i < CONF_IDLES; i++) {
        struct bill_box *box = bill_box_open(TWO_BY_TWO, BOX_NODE);
        struct step *a, *b, *c;

        model(box);
        box->f->packer.world.conf.idle_energy = (enum conf_idle_energy)i;
        a = run(box, 1, "0"), b = run(box, 2, "1-2"), c = run(box, 3, "4-7");
        work_and_turn(box);
        assert_uj(a, ENERGY_PACKAGE, want[i].a + 5 * J);
        assert_uj(b, ENERGY_PACKAGE, want[i].b); /* metered, if it is 0 */
        assert_uj(c, ENERGY_PACKAGE, want[i].c);
        assert_true(a->bill.modelled);
        assert_idle(a, want[i].a);
        assert_idle(b, want[i].b);
        assert_idle(c, want[i].c);
        assert_account(box, BOX_PACKAGE_0, want[i].a + want[i].b + 5 * J, want[i].idle_0, 0);
        assert_account(box, BOX_PACKAGE_1, want[i].c, want[i].idle_1, 0);
        bill_box_close(box);
    }
}

/* Where nobody is on a package, nobody pays, and one that comes in between pays from then on. */
static void test_idle_evenly_in_time(void **state)
{
    struct bill_box *box = *state;
    struct step *a, *b;

    model(box);
    box->f->packer.world.conf.idle_energy = CONF_IDLE_EVENLY;
    work_and_turn(box);
    assert_account(box, BOX_PACKAGE_0, 0, 10 * J, 5 * J);
    a = run(box, 1, "0-2"), b = run(box, 2, "3");
    b->bill.running->since_s = box->now_s + 0.5;
    work_and_turn(box);
    assert_idle(a, 2 * 10 * J / 3 + 1);
    assert_idle(b, 10 * J / 3);
    assert_account(box, BOX_PACKAGE_1, 0, 20 * J, 0);
}

/* A rule that changes is that of the steps that begin from then on. */
static void test_idle_rule_changes(void **state)
{
    struct bill_box *box = *state;
    struct conf *conf = &box->f->packer.world.conf;
    struct step *a, *b, *c;

    model(box);
    a = run(box, 1, "0");
    conf->idle_energy = CONF_IDLE_NOBODY;
    b = run(box, 2, "1");
    conf->idle_energy = CONF_IDLE_EVENLY;
    c = run(box, 3, "2"); /* it pays for the free core as well */
    work_and_turn(box);
    assert_idle(a, 5 * J / 2);
    assert_idle(b, 0);
    assert_idle(c, 5 * J);
    assert_account(box, BOX_PACKAGE_0, 25 * J / 2, 5 * J / 2, 0);
}

/* What a model's idle power is need not be learned. */
static void test_model(void **state)
{
    struct bill_box *box = *state;
    struct bill *bill = box->f->packer.state->bill;
    struct step *a;

    bill->zone[BOX_PACKAGE_0].zone.source = "model";
    bill->zone[BOX_PACKAGE_0].zone.modelled = true;
    bill->watts = (struct energy_watts){.idle = 10, .core = 5};
    a = run(box, 1, "0");
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 15 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 15 * J / 2);
    assert_account(box, BOX_PACKAGE_0, 15 * J / 2, 15 * J / 2, 0);
}

/* 10 W asleep, 40 W awake and 5 W a busy CPU on the first package: DIO-POWER is told. Nobody knows
 * of the second one, which has always been asleep. */
static void test_tells_power(void **state)
{
    struct bill_box *box = *state;
    struct power_package power;

    for (int i = 0; i < 60; i++) {
        unsigned busy = (unsigned)i % 4;

        for (size_t cpu = 0; cpu < busy; cpu++)
            bill_box_work(box, cpu, 1);
        bill_box_use(box, BOX_PACKAGE_0, (busy ? 40 + 5 * busy : 10) * J);
        bill_box_use(box, BOX_PACKAGE_1, 10 * J);
        bill_box_turn(box, 1);
    }
    assert_string_equal(node_power_of(&box->f->packer, 0, &power), "measured");
    assert_true(fabs(power.asleep_w - 10) < 1e-3);
    assert_true(fabs(power.awake_w - 40) < 1e-3);
    assert_true(fabs(power.core_w - 5) < 1e-3);
    assert_null(node_power_of(&box->f->packer, 1, &power));
}

/* What begins after a reading has held its CPUs only since. */
static void test_begin_within(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0"), *b = run(box, 2, "1");

    b->bill.running->since_s = box->now_s + 1.5;
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_turn(box, 2);
    assert_uj(a, ENERGY_PACKAGE, 2 * J);
    assert_uj(b, ENERGY_PACKAGE, J / 2);
    assert_account(box, BOX_PACKAGE_0, 5 * J / 2, 11 * J / 2, 0);
}

/* To the other package, in the middle. */
static void test_move(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 5 * J);
    bill_box_use(box, BOX_PACKAGE_1, 3 * J);
    bill_box_turn(box, 1);
    a->body.task[0].cpus = cpus_of("6");
    bill_box_work(box, 6, 1);
    bill_box_use(box, BOX_PACKAGE_0, 2 * J);
    bill_box_use(box, BOX_PACKAGE_1, 7 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 12 * J);
    assert_account(box, BOX_PACKAGE_0, 5 * J, 2 * J, 0);
    assert_account(box, BOX_PACKAGE_1, 7 * J, 3 * J, 0);
}

/* A step over two packages, another one of its job on half of its CPUs, and then the batch script.
 */
static void test_shared(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0-7"), *b, *batch;

    b = fixture_start(box->f, fixture_request(1, 1, "0-7", "0-3", 1, NULL));
    for (size_t cpu = 0; cpu < 8; cpu++)
        bill_box_work(box, cpu, 1);
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_use(box, BOX_PACKAGE_1, 6 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 10 * J);
    assert_uj(b, ENERGY_PACKAGE, 4 * J);
    batch = fixture_start(box->f, fixture_request(1, WIRE_STEP_BATCH, "0-7", "0-7", 1, NULL));
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_turn(box, 1);
    assert_uj(b, ENERGY_PACKAGE, 8 * J);
    assert_uj(batch, ENERGY_PACKAGE, 0); /* what its job's steps hold it does not hold */
}

/* ---- not metered ---- */

/* Readings fail: it carries over. Who ends meanwhile is not billed by a guess. */
static void test_carries_over(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0"), *b = run(box, 2, "1");

    box->lost[BOX_PACKAGE_0] = true;
    for (int i = 0; i < 3; i++) {
        bill_box_work(box, 0, 1);
        bill_box_use(box, BOX_PACKAGE_0, 4 * J);
        bill_box_turn(box, 1);
    }
    assert_false(a->bill.known[ENERGY_PACKAGE]);
    bill_box_work(box, 1, 1);
    bill_box_turn(box, 1);
    fixture_end(box->f, 2, 0);
    b = TAILQ_FIRST(&box->f->packer.steps->ended);
    assert_false(b->bill.known[ENERGY_PACKAGE]);
    assert_int_equal(b->bill.gaps, 1);
    assert_null(b->bill.running);
    box->lost[BOX_PACKAGE_0] = false;
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 9 * J);
    assert_account(box, BOX_PACKAGE_0, 9 * J, 0, 3 * J);
    assert_int_equal(a->bill.gaps, 0);
}

/* No /proc/stat: by the CPUs held, and the next interval has no beginning either. */
static void test_busy_not_known(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");
    struct rootfs root = box->f->packer.world.root;

    box->f->packer.world.root.fd = -1;
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_turn(box, 1);
    box->f->packer.world.root = root;
    assert_uj(a, ENERGY_PACKAGE, 8 * J); /* as if it worked all the time, alone */
    assert_string_equal(a->bill.by, "cores");
    bill_box_work(box, 1, 1);
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 16 * J, 0, 0);
    bill_box_work(box, 1, 1);
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 16 * J, 0, 8 * J);
}

/* Two and a half ranges at once: nobody knows how much it was. */
static void test_gap(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0"), *b = run(box, 2, "4");

    bill_box_use(box, BOX_PACKAGE_0, BOX_RANGE * 5ull / 2);
    bill_box_use(box, BOX_PACKAGE_1, J);
    bill_box_turn(box, 3600);
    assert_true(bill_box_account(box, BOX_PACKAGE_0).gaps > 0);
    assert_int_equal(a->bill.gaps, 1); /* however many zones it was */
    assert_int_equal(b->bill.gaps, 1);
    bill_box_adds_up(box);
}

/* A meter that never moves bills nobody, and its domain is not known; the node's meter is the main
 * one then. It is no gap: there is nothing to be missed. */
static void test_dead_meter(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");
    uint64_t uj = 0;

    for (int i = 0; i < 30; i++) {
        bill_box_work(box, 0, 1);
        bill_box_use(box, BOX_NODE, 9 * J);
        bill_box_turn(box, 1);
    }
    assert_false(a->bill.known[ENERGY_PACKAGE]);
    assert_true(bill_total(a, &uj) && uj == 270 * J);
    assert_false(bill_box_account(box, BOX_PACKAGE_0).counts);
    assert_true(bill_box_account(box, BOX_NODE).counts);
    fixture_end(box->f, 1, 0);
    assert_int_equal(TAILQ_FIRST(&box->f->packer.steps->ended)->bill.gaps, 0);
}

/* One that stands still later is not believed either; when it moves again, nothing is lost. */
static void test_meter_stands_still(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 5 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 5 * J);
    for (int i = 0; i < 15; i++) {
        bill_box_work(box, 0, 1);
        bill_box_turn(box, 1);
    }
    assert_false(bill_box_account(box, BOX_PACKAGE_0).counts);
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 80 * J);
    bill_box_turn(box, 1);
    assert_true(bill_box_account(box, BOX_PACKAGE_0).counts);
    assert_uj(a, ENERGY_PACKAGE, 85 * J);
}

/* ---- restarts ---- */

static struct step *resume(struct bill_box *box, uint32_t job)
{
    struct berth_error err;

    if (pipeline_resume(&box->f->packer, &err) < 0)
        fail_msg("%s", err.text);
    return registry_find(box->f->packer.steps, (struct wire_step_id){job, 0});
}

static void use_and_turn(struct bill_box *box, size_t cpu)
{
    bill_box_work(box, cpu, 1);
    bill_box_use(box, BOX_PACKAGE_0, 4 * J);
    bill_box_turn(box, 1);
}

/* What a model has said stays no measurement, also where the next berthd has meters. */
static void test_restart_modelled(void **state)
{
    struct bill_box *box = *state;

    run(box, 1, "0");
    model(box);
    use_and_turn(box, 0);
    bill_box_die(box, 1);
    assert_true(resume(box, 1)->bill.modelled);
}

static void test_restart(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    run(box, 2, "1");
    use_and_turn(box, 0);
    fixture_end(box->f, 2, 0);
    use_and_turn(box, 0);
    bill_box_use(box, BOX_PACKAGE_0, 50 * J);
    bill_box_die(box, 100);
    a = resume(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 8 * J);
    assert_int_equal(a->bill.gaps, 1);
    assert_string_equal(a->bill.by, "busy time");
    assert_false(a->bill.modelled);
    assert_string_equal(a->bill.source, "rapl-powercap");
    assert_account(box, BOX_PACKAGE_0, 8 * J, 0, 0); /* 50 J are nobody's, and not metered */
    assert_int_equal(bill_box_account(box, BOX_PACKAGE_0).gaps, 1);
    use_and_turn(box, 0);
    assert_uj(a, ENERGY_PACKAGE, 12 * J);
    assert_account(box, BOX_PACKAGE_0, 12 * J, 0, 0);
}

/* What is used between a stop and the next start is billed as if berthd had run on: in each zone,
 * also where a counter has wrapped around meanwhile, and whatever others do. */
static void test_stopped(void **state)
{
    struct bill_box *box = *state;
    struct step *a;

    run(box, 1, "0");
    run(box, 2, "4");
    for (size_t z = 0; z < BOX_ZONES; z++)
        bill_box_use(box, z, J);
    use_and_turn(box, 0);
    bill_box_stop(box, "boot-1\n");
    bill_box_work(box, 0, 1);
    bill_box_work(box, 1, 1);
    for (size_t z = 0; z < BOX_ZONES; z++)
        bill_box_use(box, z, 40 * J); /* over the end of the range */
    bill_box_die(box, 1);
    a = resume(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 25 * J);
    assert_int_equal(a->bill.gaps, 0);
    assert_int_equal(registry_find(box->f->packer.steps, (struct wire_step_id){2, 0})->bill.gaps,
                     0);
    assert_account(box, BOX_PACKAGE_0, 25 * J, 0, 20 * J);
    for (size_t z = 0; z < BOX_ZONES; z++) {
        assert_int_equal(bill_box_account(box, z).metered_uj, box->used[z]);
        assert_int_equal(bill_box_account(box, z).gaps, 0);
    }
    use_and_turn(box, 0);
    assert_uj(a, ENERGY_PACKAGE, 29 * J);
    assert_int_equal(bill_box_account(box, BOX_PACKAGE_0).metered_uj, box->used[BOX_PACKAGE_0]);
    bill_box_die(box, 1); /* killed: its mark was the other one's */
    assert_int_equal(resume(box, 1)->bill.gaps, 1);
}

/* Meanwhile it was where Slurm had put it. */
static void test_stopped_away(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    cpus_parse(&a->body.task[0].cpus, "4");
    a->place.cpus = a->body.task[0].cpus;
    bill_box_use(box, BOX_PACKAGE_0, J);
    bill_box_use(box, BOX_PACKAGE_1, J);
    use_and_turn(box, 4);
    bill_box_stop(box, "boot-1\n");
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 6 * J);
    bill_box_die(box, 1);
    a = resume(box, 1);
    assert_int_equal(a->bill.gaps, 0);
    assert_uj(a, ENERGY_PACKAGE, 7 * J); /* 1 J of package 1, and what it did at home */
}

/* Where it is not certain it is a gap, as after a kill, and nobody's. */
static void test_stopped_uncertain(void **state)
{
    static const struct {
        const char *then, *now;
        double away_s;
        uint64_t metered;
    } cases[] = {{"boot-1\n", "boot-2\n", 1, 4 * J},
                 {"", "", 1, 4 * J},
                 {"boot-1\n", "boot-1\n", ENERGY_BRIDGE_S + 1, 4 * J}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bill_box *box = bill_box_open(TWO_BY_TWO, BOX_NODE);
        struct step *a;

        run(box, 1, "0");
        use_and_turn(box, 0);
        bill_box_stop(box, cases[i].then);
        bill_box_boot(box, cases[i].now);
        bill_box_use(box, BOX_PACKAGE_0, 4 * J);
        bill_box_die(box, cases[i].away_s);
        a = resume(box, 1);
        assert_uj(a, ENERGY_PACKAGE, cases[i].metered);
        assert_int_equal(a->bill.gaps, 1);
        assert_int_equal(bill_box_account(box, BOX_PACKAGE_0).gaps, 1);
        use_and_turn(box, 0);
        assert_uj(a, ENERGY_PACKAGE, cases[i].metered + 4 * J);
        bill_box_close(box);
    }
}

/* A meter that says less than before, though it cannot have wrapped around in so short a time. */
static void test_stopped_set_back(void **state)
{
    struct bill_box *box = *state;
    struct step *a;

    run(box, 1, "0");
    use_and_turn(box, 0);
    bill_box_stop(box, "boot-1\n");
    box->raw[BOX_PACKAGE_0] = BOX_RANGE / 2;
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_DRAM_0, J); /* it had never moved before */
    bill_box_die(box, 1);
    a = resume(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 4 * J);
    assert_int_equal(a->bill.gaps, 1);
    assert_int_equal(bill_box_account(box, BOX_PACKAGE_0).gaps, 1);
    assert_uj(a, ENERGY_DRAM, J);
    assert_int_equal(bill_box_account(box, BOX_DRAM_0).gaps, 0);
}

/* Has the state file say that the first zone had CPUs 0 to 9. */
static void put_other_cpus(const struct bill_box *box)
{
    char path[128], *text, *at;
    size_t length;
    FILE *file;

    snprintf(path, sizeof(path), "%s/bill", box->f->dir);
    text = file_read(path, 1 << 20, &length, NULL);
    at = text ? strstr(text, "\"cpus\":\"0-") : NULL;
    assert_non_null(at);
    at[strlen("\"cpus\":\"0-")] = '9';
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    free(text);
}

/* A package that has other CPUs than before is another one: what these did since the boot is not
 * taken for what they did meanwhile. */
static void test_stopped_other_cpus(void **state)
{
    struct bill_box *box = *state;
    struct step *a;

    run(box, 1, "0");
    use_and_turn(box, 0);
    bill_box_stop(box, "boot-1\n");
    put_other_cpus(box);
    bill_box_use(box, BOX_PACKAGE_0, 40 * J);
    bill_box_die(box, 1);
    a = resume(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 4 * J);
    assert_int_equal(a->bill.gaps, 1);
    assert_account(box, BOX_PACKAGE_0, 4 * J, 0, 0);
    use_and_turn(box, 0);
    assert_account(box, BOX_PACKAGE_0, 8 * J, 0, 0);
}

/* One without meters was there in between: what the first one has said is of too long ago. */
static void test_stopped_twice(void **state)
{
    struct bill_box *box = *state;
    struct step *a;

    run(box, 1, "0");
    use_and_turn(box, 0);
    bill_box_stop(box, "boot-1\n");
    strcpy(box->f->conf.energy, "perf");
    bill_box_die(box, 1);
    assert_int_equal(box->f->packer.state->bill->zones, 0);
    strcpy(box->f->conf.energy, "powercap");
    bill_box_use(box, BOX_PACKAGE_0, 4 * J);
    bill_box_die(box, 1);
    a = resume(box, 1);
    assert_uj(a, ENERGY_PACKAGE, 4 * J);
    assert_int_equal(a->bill.gaps, 1);
    assert_account(box, BOX_PACKAGE_0, 4 * J, 0, 0);
}

/* Nobody knows when it ended: its part is unmanaged, and its own record says that. */
static void test_stopped_and_ended(void **state)
{
    struct bill_box *box = *state;
    const struct step *a;

    run(box, 1, "0");
    run(box, 2, "1");
    use_and_turn(box, 0);
    bill_box_stop(box, "boot-1\n");
    box->f->dead = 1;
    bill_box_work(box, 0, 1);
    bill_box_work(box, 1, 1);
    bill_box_use(box, BOX_PACKAGE_0, 8 * J);
    bill_box_die(box, 1);
    assert_int_equal(resume(box, 2)->bill.gaps, 0);
    assert_account(box, BOX_PACKAGE_0, 8 * J, 0, 4 * J);
    a = TAILQ_FIRST(&box->f->packer.steps->ended);
    assert_int_equal(a->request.id.job, 1);
    assert_uj(a, ENERGY_PACKAGE, 4 * J);
    assert_int_equal(a->bill.gaps, 1);
}

/* It goes on by the rule that it began with, whatever the next berthd has for others. */
static void test_restart_keeps_rule(void **state)
{
    struct bill_box *box = *state;
    struct step *a;

    box->f->packer.world.conf.idle_energy = CONF_IDLE_NOBODY;
    model(box);
    run(box, 1, "0");
    box->f->packer.world.conf.idle_energy = CONF_IDLE_EVENLY;
    run(box, 2, "1-2");
    work_and_turn(box);
    bill_box_die(box, 1);
    model(box);
    a = resume(box, 1);
    assert_int_equal(a->bill.idle, CONF_IDLE_NOBODY);
    assert_int_equal(run(box, 3, "3")->bill.idle, CONF_IDLE_CORES);
    work_and_turn(box);
    assert_uj(a, ENERGY_PACKAGE, 10 * J);
    assert_idle(a, 0);
    a = registry_find(box->f->packer.steps, (struct wire_step_id){2, 0});
    assert_idle(a, 75 * J / 10 + 5 * J);
}

/* Killed right after a reading that was not written down: account and step agree all the same. */
static void test_killed(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    use_and_turn(box, 0);
    bill_box_work(box, 0, 0.5);
    bill_box_use(box, BOX_PACKAGE_0, 2 * J);
    bill_box_turn(box, 0.5); /* within a second of the last writing */
    assert_uj(a, ENERGY_PACKAGE, 6 * J);
    bill_box_die(box, 1);
    assert_uj(resume(box, 1), ENERGY_PACKAGE, 4 * J);
    assert_account(box, BOX_PACKAGE_0, 4 * J, 0, 0);
    bill_keep(&box->f->packer);
}

/* Requeued under the same id, or started another time: another step. */
static void test_another_step(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    use_and_turn(box, 0);
    bill_box_die(box, 1);
    fixture_paper(box->f);
    a = run(box, 1, "0");
    a->started_at++;
    free(a->bill.running);
    a->bill = (struct step_bill){0};
    bill_begin(&box->f->packer, a, true);
    assert_false(a->bill.known[ENERGY_PACKAGE]);
    assert_int_equal(a->bill.gaps, 1);
}

/* A state file that is none is kept, and everything begins anew. */
static void test_bad_state(void **state)
{
    static const char *const bad[] = {
        "",
        "?",
        "[]",
        "{}",
        "{\"version\":2,\"zones\":[],\"steps\":[]}",
        "{\"version\":1,\"zones\":[{}],\"steps\":[]}",
        "{\"version\":1,\"zones\":[],\"steps\":[{\"job\":1}]}",
        ("{\"version\":1,\"zones\":[],\"steps\":[{\"job\":1,\"step\":0,\"started_at\":1,\"gaps\":0,"
         "\"by\":1,\"source\":\"model\",\"idle\":\"all\"}]}"),
        ("{\"version\":1,\"zones\":[],\"steps\":[{\"job\":1,\"step\":0,\"started_at\":1,\"gaps\":0,"
         "\"by\":1,\"source\":\"model\",\"package_uj\":1,\"package_idle_uj\":2}]}"),
        "{\"version\":1,\"stopped\":{\"at_s\":1},\"zones\":[],\"steps\":[]}",
        ("{\"version\":1,\"zones\":[{\"domain\":\"package\",\"package\":0,\"metered_uj\":5,"
         "\"steps_uj\":1,\"idle_uj\":1,\"unmanaged_uj\":1,\"gaps\":0}],\"steps\":[]}"),
    };
    struct bill_box *box = *state;
    char path[128], kept[128];

    snprintf(path, sizeof(path), "%s/bill", box->f->dir);
    snprintf(kept, sizeof(kept), "%s/bill.bad", box->f->dir);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        fputs(bad[i], file);
        fclose(file);
        remove(kept);
        bill_box_die(box, 1);
        assert_account(box, BOX_PACKAGE_0, 0, 0, 0);
        assert_int_equal(access(kept, F_OK), 0);
        assert_int_equal(bill_box_account(box, BOX_PACKAGE_0).gaps, 0);
    }
    assert_int_equal(truncate(kept, 1L << 25), 0); /* more than any bill is */
    assert_int_equal(rename(kept, path), 0);
    bill_box_die(box, 1);
    assert_int_equal(access(kept, F_OK), 0);
    bill_box_die(box, 1); /* none at all: as after a boot */
    assert_account(box, BOX_PACKAGE_0, 0, 0, 0);
}

/* The folder is full, or gone: a line in the log, and no more. */
static void test_state_not_written(void **state)
{
    struct bill_box *box = *state;
    char path[128];

    snprintf(path, sizeof(path), "%s/bill.new", box->f->dir);
    assert_int_equal(mkdir(path, 0755), 0);
    use_and_turn(box, 0);
    assert_true(box->f->packer.state->bill->save_failed);
    rmdir(path);
    use_and_turn(box, 0);
    assert_false(box->f->packer.state->bill->save_failed);
}

/* ---- what is asked ---- */

/* A step that no reading has met is not metered, not 0. */
static void test_never_metered(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");
    uint64_t uj = 77;

    assert_false(bill_total(a, &uj));
    assert_true(uj == 77);
    fixture_end(box->f, 1, 0);
    a = TAILQ_FIRST(&box->f->packer.steps->ended);
    assert_false(bill_total(a, &uj));
    assert_int_equal(a->bill.gaps, 0);
    assert_string_equal(a->bill.source, "");
}

static void test_total(void **state)
{
    struct step step = {.bill.known = {[ENERGY_DRAM] = true}, .bill.uj = {5, 7, 100}};
    uint64_t uj;

    (void)state;
    assert_false(bill_total(&step, &uj)); /* memory alone is not the step's */
    step.bill.known[ENERGY_NODE] = true;
    assert_true(bill_total(&step, &uj) && uj == 100);
    step.bill.known[ENERGY_PACKAGE] = true;
    assert_true(bill_total(&step, &uj) && uj == 12);
}

/* Steps that berth keeps off have their bill, too. */
static void test_left_alone(void **state)
{
    struct bill_box *box = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, NULL);
    struct step *a;

    request.bound_by_hand = true;
    a = fixture_start(box->f, request);
    assert_int_equal(a->state, STEP_LEFT);
    use_and_turn(box, 0);
    assert_uj(a, ENERGY_PACKAGE, 4 * J);
}

/* Nothing runs: seldom. A step begins: soon. */
static void test_due(void **state)
{
    struct bill_box *box = *state;
    struct packer *packer = &box->f->packer;
    double in_s;

    packer->state->bill->due_s = 0;
    assert_true(bill_due(packer) == 0); /* asking reads no meter */
    assert_true(packer->state->bill->due_s == 0);
    bill_tick(packer);
    in_s = bill_due(packer);
    assert_true(in_s > 4 && in_s <= 15);
    run(box, 1, "0");
    in_s = bill_due(packer);
    assert_true(in_s >= 0 && in_s <= 1.5);
    packer->state->bill->due_s = 0;
    in_s = pipeline_observe(packer);
    assert_true(in_s > 0.4 && in_s <= 1.5);
}

/* The last reading was a while ago; has there been one now? */
static bool was_read(struct packer *packer)
{
    static double then_s;
    bool read = packer->state->bill->at_s > then_s;

    then_s = packer->state->bill->at_s = clock_s() - 0.5;
    return read;
}

/* The meters are read where the pipeline begins, moves and ends a step. */
static void test_hooks(void **state)
{
    struct bill_box *box = *state;
    struct packer *packer = &box->f->packer;
    struct berth_error err;
    struct step *step;

    bill_box_use(box, BOX_PACKAGE_0, J);
    bill_box_turn(box, 1);
    was_read(packer);
    step = run(box, 1, "0");
    assert_true(was_read(packer));
    assert_true(step->bill.running->since_s > packer->state->bill->at_s);
    rearrange_again(packer, 1);
    assert_true(was_read(packer));
    packer->state->bill->due_s = 0;
    pipeline_observe(packer);
    assert_true(was_read(packer));
    assert_int_equal(pipeline_release(packer, (struct wire_step_id){1, 0}, &err), 0);
    assert_true(was_read(packer));
    assert_non_null(step->bill.running); /* it is still billed */
    fixture_end(box->f, 1, 0);
    assert_true(was_read(packer));
    step = TAILQ_FIRST(&packer->steps->ended);
    assert_null(step->bill.running);
    assert_true(step->bill.known[ENERGY_PACKAGE]);
    run(box, 2, "0");
    pipeline_job_end(packer, 2, &(struct wire_identity){0});
    assert_null(TAILQ_FIRST(&packer->steps->ended)->bill.running);
    was_read(packer);
    pipeline_undo(packer);
    assert_true(was_read(packer));
}

static void test_no_meters(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct bill_account account;
    struct energy_zone zone;
    struct step *step = fixture_run(f, 1, "0", NULL);

    (void)state;
    assert_true(bill_due(&f->packer) < 0);
    bill_turn(&f->packer);
    bill_keep(&f->packer);
    assert_false(bill_zone(&f->packer, 0, &zone, &account));
    assert_null(step->bill.running);
    fixture_end(f, 1, 0);
    fixture_close(f);
}

/* ---- counters ---- */

/* A step whose counters said so, for the interval that ends next. */
static void count(struct bill_box *box, struct step *step, double cpu_s, double instructions,
                  double bytes)
{
    struct counters_sample *last;

    if (!step->counts)
        step->counts = calloc(1, sizeof(*step->counts));
    assert_non_null(step->counts);
    step->counts->counters = (struct counters_step *)step; /* anything: nobody reads */
    last = &step->counts->last;
    last->at_s = box->now_s;
    last->known = 0;
    if (!isnan(cpu_s))
        counters_set(last, COUNTER_CPU_NS, cpu_s * 1e9);
    counters_set(last, COUNTER_INSTRUCTIONS, instructions);
    counters_set(last, COUNTER_BYTES, bytes);
}

static void uncount(struct step *step)
{
    step->counts->counters = NULL;
}

/* Half of the time that its CPUs were busy was not the step's. */
static void test_cpu_time(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0");

    count(box, a, 10, 0, 0);
    bill_box_turn(box, 1);
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 10 * J);
    count(box, a, 10.5, 1e9, 0);
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 5 * J, 0, 5 * J);
    bill_box_work(box, 0, 1); /* no reading yet: its CPU's, and that is counted against it */
    bill_box_use(box, BOX_PACKAGE_0, 10 * J);
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 15 * J, 0, 5 * J);
    bill_box_work(box, 0, 1);
    bill_box_use(box, BOX_PACKAGE_0, 10 * J);
    count(box, a, 11.75, 2e9, 0);
    bill_box_turn(box, 1);
    assert_account(box, BOX_PACKAGE_0, 17500000, 0, 12500000);
    uncount(a);
}

/* The memory's energy goes by traffic; what is not counted has as much of it as usual. */
static void test_traffic(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0"), *b = run(box, 2, "1"), *c = run(box, 3, "2");

    count(box, a, 0, 0, 0);
    count(box, b, 0, 0, 0);
    bill_box_turn(box, 1);
    for (size_t cpu = 0; cpu < 3; cpu++)
        bill_box_work(box, cpu, 1);
    count(box, a, 1, 1e9, 3e9);
    count(box, b, 1, 1e9, 1e9);
    bill_box_use(box, BOX_DRAM_0, 6 * J);
    bill_box_use(box, BOX_PACKAGE_0, 6 * J);
    bill_box_turn(box, 1);
    assert_uj(a, ENERGY_DRAM, 3 * J);
    assert_uj(b, ENERGY_DRAM, J);
    assert_uj(c, ENERGY_DRAM, 2 * J);
    assert_uj(a, ENERGY_PACKAGE, 2 * J); /* no weights yet */
    uncount(a);
    uncount(b);
}

/* 10 W, 2 W a busy CPU, 4 W for 1e9 instructions/s, 1 W for 1e9 bytes/s: found on line, and then
 * two steps that are as busy as each other pay differently. */
static void test_fitted(void **state)
{
    struct bill_box *box = *state;
    struct step *a = run(box, 1, "0"), *b = run(box, 2, "1");
    double cpu[2] = {0}, instructions[2] = {0}, bytes[2] = {0};
    uint64_t before[2];

    count(box, a, 0, 0, 0);
    count(box, b, 0, 0, 0);
    bill_box_use(box, BOX_PACKAGE_0, 10 * J);
    bill_box_turn(box, 1);
    for (unsigned i = 0; i < 60; i++) {
        double busy[2] = {0.2 * (i % 5), 0.25 * (i % 4 + 1)}, watts = 10;
        double ips[2] = {1e9 * (1 + i % 3), 5e8 * (1 + i % 7)};
        double bps[2] = {1e9 * (i % 6), 1e9 * (3 - i % 3)};

        if (i == 59)
            busy[0] = busy[1] = 1, ips[0] = 1e9, ips[1] = 3e9, bps[0] = 6e9, bps[1] = 0;
        for (unsigned s = 0; s < 2; s++) {
            bill_box_work(box, s, busy[s]);
            cpu[s] += busy[s];
            instructions[s] += busy[s] * ips[s];
            bytes[s] += busy[s] * bps[s];
            watts += busy[s] * (2 + 4e-9 * ips[s] + 1e-9 * bps[s]);
        }
        count(box, a, cpu[0], instructions[0], bytes[0]);
        count(box, b, cpu[1], instructions[1], bytes[1]);
        before[0] = a->bill.uj[ENERGY_PACKAGE], before[1] = b->bill.uj[ENERGY_PACKAGE];
        bill_box_use(box, BOX_PACKAGE_0, (uint64_t)(watts * J + 0.5));
        bill_box_turn(box, 1);
    }
    assert_true(fabs((double)(a->bill.uj[ENERGY_PACKAGE] - before[0]) - 14.5 * J) < 0.01 * J);
    assert_true(fabs((double)(b->bill.uj[ENERGY_PACKAGE] - before[1]) - 16.5 * J) < 0.01 * J);
    assert_non_null(strstr(a->bill.by, "counters"));
    bill_box_adds_up(box);
    uncount(a);
    uncount(b);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_box, close_box)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_idle_and_unmanaged),
        CASE(test_by_busy_time),
        CASE(test_idle_share),
        CASE(test_model),
        cmocka_unit_test(test_idle_rules),
        cmocka_unit_test_setup_teardown(test_idle_evenly_in_time, open_packages, close_box),
        cmocka_unit_test_setup_teardown(test_idle_rule_changes, open_packages, close_box),
        CASE(test_tells_power),
        CASE(test_begin_within),
        CASE(test_move),
        CASE(test_shared),
        CASE(test_carries_over),
        CASE(test_busy_not_known),
        cmocka_unit_test_setup_teardown(test_gap, open_packages, close_box),
        cmocka_unit_test_setup_teardown(test_dead_meter, open_box, close_box),
        cmocka_unit_test_setup_teardown(test_meter_stands_still, open_packages, close_box),
        CASE(test_restart),
        CASE(test_restart_modelled),
        cmocka_unit_test_setup_teardown(test_restart_keeps_rule, open_packages, close_box),
        CASE(test_stopped),
        cmocka_unit_test_setup_teardown(test_stopped_away, open_packages, close_box),
        cmocka_unit_test(test_stopped_uncertain),
        cmocka_unit_test_setup_teardown(test_stopped_other_cpus, open_packages, close_box),
        cmocka_unit_test_setup_teardown(test_stopped_twice, open_packages, close_box),
        cmocka_unit_test_setup_teardown(test_stopped_set_back, open_packages, close_box),
        cmocka_unit_test_setup_teardown(test_stopped_and_ended, open_packages, close_box),
        CASE(test_killed),
        CASE(test_another_step),
        CASE(test_bad_state),
        CASE(test_state_not_written),
        CASE(test_never_metered),
        cmocka_unit_test(test_total),
        CASE(test_left_alone),
        CASE(test_due),
        CASE(test_hooks),
        cmocka_unit_test(test_no_meters),
        CASE(test_cpu_time),
        CASE(test_traffic),
        CASE(test_fitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
