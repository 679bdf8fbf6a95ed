/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bill - 10 000 random intervals: steps begin, end and move, CPUs work for them or for others,
 * counters are read or not, meters wrap around, cannot be read, are set back, and berthd dies, with
 * and without having written its totals, or is stopped, which loses nothing. After each one nothing
 * is lost and nothing made: for each zone, what is metered is what was used, and what steps, idle
 * and unmanaged got, to the microjoule.
 *
 *   BERTH_SEED=N    another seed (it is printed)
 *   BERTH_EVENTS=N  so many intervals */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/bill_box.h"
#include "tests/unit/common/noise.h"

#include "packer/observe/window.h"

#define INTERVALS 10000
#define CPUS 16
#define STEPS 12 /* live at a time */

struct run {
    struct bill_box *box;
    struct noise noise;
    uint32_t next_job;
    size_t live;
    uint64_t used[BOX_ZONES];   /* of the box, when the zone was read last */
    uint64_t expect[BOX_ZONES]; /* what must be metered */
    bool set_back[BOX_ZONES];   /* the meter was, since then: only it can say what it made of it */
    /* in the life of this berthd */
    uint64_t ended_uj, account_uj, live_uj; /* of its ended steps; of both when it began */
    unsigned wraps, lost, gaps, deaths, stops, resumed, ends, moves, orphans;
};

static size_t below(struct run *run, size_t n)
{
    return (size_t)(noise_uniform(&run->noise) * (double)n);
}

static bool chance(struct run *run, double p)
{
    return noise_uniform(&run->noise) < p;
}

static struct packer *packer_of(struct run *run)
{
    return &run->box->f->packer;
}

static struct step *pick(struct run *run)
{
    size_t skip = run->live ? below(run, run->live) : 0;
    struct step *step = TAILQ_FIRST(&packer_of(run)->steps->live);

    while (step && skip--)
        step = TAILQ_NEXT(step, link);
    return step;
}

static uint64_t sum_of(const struct step *step)
{
    uint64_t sum = 0;

    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        assert_true(step->bill.known[d] || step->bill.uj[d] == 0);
        sum += step->bill.uj[d];
    }
    return sum;
}

/* Of all live steps; of all zones' accounts. */
static void sums(struct run *run, uint64_t *live_uj, uint64_t *account_uj)
{
    const struct step *step;

    *live_uj = *account_uj = 0;
    TAILQ_FOREACH(step, &packer_of(run)->steps->live, link) *live_uj += sum_of(step);
    for (size_t z = 0; z < BOX_ZONES; z++)
        *account_uj += bill_box_account(run->box, z).steps_uj;
}

/* ---- events ---- */

static struct cpus random_cpus(struct run *run)
{
    size_t first = below(run, CPUS), n = 1 + below(run, chance(run, 0.2) ? CPUS : 4);
    struct cpus cpus = {0};

    for (size_t i = 0; i < n; i++)
        cpus_add(&cpus, (first + i) % CPUS); /* others' too, now and then */
    return cpus;
}

static void begin(struct run *run)
{
    const char *homes[2] = {"0", NULL};
    struct step *step;

    if (run->live == STEPS)
        return;
    step = fixture_put(run->box->f, run->next_job++, chance(run, 0.2) ? WIRE_STEP_BATCH : 0, "0-15",
                       NAN, homes);
    step->body.task[0].cpus = random_cpus(run);
    if (chance(run, 0.9)) /* without memory for it: what it does is unmanaged */
        bill_begin(packer_of(run), step, false);
    if (step->bill.running && chance(run, 0.5))
        step->bill.running->since_s = run->box->now_s + noise_uniform(&run->noise);
    run->live++;
}

static void end(struct run *run)
{
    struct step *step = pick(run);

    if (!step)
        return;
    for (size_t z = 0; step->bill.running && z < BOX_ZONES; z++)
        run->orphans += step->bill.running->claim[z].there;
    bill_end(packer_of(run), step);
    assert_null(step->bill.running);
    run->ended_uj += sum_of(step);
    free(step->counts);
    step->counts = NULL;
    registry_end(packer_of(run)->steps, step);
    run->live--;
    run->ends++;
}

static void move(struct run *run)
{
    struct step *step = pick(run);

    if (step)
        step->body.task[0].cpus = random_cpus(run);
    run->moves += step != NULL;
}

/* A reading of a step's counters: more or less likely, or nonsense. */
static void count(struct run *run)
{
    struct step *step = pick(run);
    struct counters_sample *last;

    if (!step)
        return;
    if (!step->counts)
        step->counts = calloc(1, sizeof(*step->counts));
    assert_non_null(step->counts);
    last = &step->counts->last;
    last->at_s = run->box->now_s;
    last->known = (uint32_t)below(run, UINT32_MAX);
    last->value[COUNTER_CPU_NS] += 4e9 * noise_uniform(&run->noise);
    last->value[COUNTER_INSTRUCTIONS] += 1e10 * noise_uniform(&run->noise);
    last->value[COUNTER_BYTES] += 1e10 * noise_uniform(&run->noise);
    if (chance(run, 0.02))
        last->value[below(run, COUNTERS)] = 0;
}

/* The bill reads them while somebody counts, and nobody does here. */
static void show_counts(struct run *run, bool show)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer_of(run)->steps->live, link)
    if (step->counts)
        step->counts->counters = show ? (struct counters_step *)step : NULL;
}

static void check_known_again(struct run *run, bool kept, uint64_t live_uj, uint64_t account_uj)
{
    uint64_t live_now, account_now;

    sums(run, &live_now, &account_now);
    bill_box_adds_up(run->box);
    if (kept) {
        assert_true(live_now == live_uj);
        assert_true(account_now == account_uj);
    }
    assert_true(account_now <= account_uj && live_now <= live_uj);
    run->live_uj = live_now;
    run->account_uj = account_now;
    run->ended_uj = 0;
    for (size_t z = 0; z < BOX_ZONES; z++) {
        run->expect[z] = bill_box_account(run->box, z).metered_uj;
        run->used[z] = run->box->used[z];
        run->set_back[z] = false;
    }
}

/* Another berthd finds what this one has left. What a meter that cannot be read at its start has
 * used until it can be read is nobody's. */
static void die(struct run *run)
{
    struct packer *packer = packer_of(run);
    bool kept = chance(run, 0.5);
    uint64_t live_uj, account_uj;
    struct step *step;

    sums(run, &live_uj, &account_uj);
    if (kept)
        bill_save(packer, packer->state->bill);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        free(step->bill.running);
        step->bill = (struct step_bill){0};
    }
    for (size_t z = 0; z < BOX_ZONES; z++) {
        run->box->lost[z] = false;
        bill_box_use(run->box, z, below(run, 1000000000));
    }
    run->box->now_s += 10 * noise_uniform(&run->noise);
    bill_box_reopen(run->box);
    TAILQ_FOREACH(step, &packer->steps->live, link) bill_begin(packer, step, true);
    bill_adopted(packer);
    check_known_again(run, kept, live_uj, account_uj);
    run->deaths++;
}

/* Another berthd goes on from where this one was stopped: in a zone that is resumed all that was
 * used is metered. Nobody is dead, so that no step has a gap but by a zone that is not. */
static void stop_berthd(struct run *run)
{
    struct packer *packer = packer_of(run);
    double away_s = 0.1 + 10 * noise_uniform(&run->noise);
    uint64_t metered[BOX_ZONES];
    struct step *step;

    for (size_t z = 0; z < BOX_ZONES; z++)
        metered[z] = bill_box_account(run->box, z).metered_uj;
    bill_keep(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        free(step->bill.running);
        step->bill = (struct step_bill){0};
    }
    for (size_t z = 0; z < BOX_ZONES; z++) {
        run->box->lost[z] = false;
        bill_box_use(run->box, z, below(run, (size_t)(away_s * 400e6)));
    }
    run->box->now_s += away_s;
    bill_box_reopen(run->box);
    TAILQ_FOREACH(step, &packer->steps->live, link) bill_begin(packer, step, true);
    bill_adopted(packer);
    for (size_t z = 0; z < BOX_ZONES; z++) {
        uint64_t used = run->box->used[z] - run->used[z];

        run->resumed += packer->state->bill->zone[z].resumed;
        if (!packer->state->bill->zone[z].resumed)
            used = 0;
        if (!run->set_back[z] && packer->state->bill->reading.gaps[z] == 0)
            assert_true(bill_box_account(run->box, z).metered_uj == metered[z] + used);
    }
    sums(run, &run->live_uj, &run->account_uj);
    check_known_again(run, true, run->live_uj, run->account_uj);
    run->stops++;
}

static void event(struct run *run)
{
    double what = noise_uniform(&run->noise);

    if (what < 0.25)
        begin(run);
    else if (what < 0.45)
        end(run);
    else if (what < 0.65)
        move(run);
    else if (what < 0.67)
        die(run);
    else if (what < 0.69)
        stop_berthd(run);
    else
        count(run);
}

/* ---- an interval ---- */

static double random_length(struct run *run)
{
    if (chance(run, 0.01))
        return 100 * noise_uniform(&run->noise);
    return chance(run, 0.2) ? 0.002 : 0.002 + 2 * noise_uniform(&run->noise);
}

static void use(struct run *run, double s)
{
    struct bill_box *box = run->box;

    for (size_t z = 0; z < BOX_ZONES; z++) {
        uint64_t raw = box->raw[z];

        bill_box_use(box, z, (uint64_t)(s * 400e6 * noise_uniform(&run->noise)));
        run->wraps += box->raw[z] < raw;
        box->lost[z] = chance(run, box->lost[z] ? 0.5 : 0.05);
        run->lost += box->lost[z];
        if (chance(run, 0.001)) {
            box->raw[z] = below(run, 1000000);
            run->set_back[z] = true;
        }
    }
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        if (chance(run, 0.6))
            bill_box_work(box, cpu, s * noise_uniform(&run->noise));
}

/* What must be metered now: all that was used until the reading; where some was lost or a meter was
 * set back, as much as it says. */
static void expect(struct run *run, const struct energy_reading *before)
{
    const struct energy_reading *now = &packer_of(run)->state->bill->reading;

    for (size_t z = 0; z < BOX_ZONES; z++) {
        uint64_t uj = run->box->used[z] - run->used[z];

        if (!now->known[z])
            continue;
        if (now->gaps[z] != before->gaps[z] || run->set_back[z]) {
            uj = now->uj[z] - before->uj[z];
            run->gaps++;
        }
        run->expect[z] += uj;
        run->set_back[z] = false;
        run->used[z] = run->box->used[z];
    }
}

static void check(struct run *run)
{
    uint64_t live_uj, account_uj;

    for (size_t z = 0; z < BOX_ZONES; z++) {
        struct bill_account account = bill_box_account(run->box, z);

        if (account.metered_uj != run->expect[z])
            fail_msg("zone %zu: metered %" PRIu64 ", used %" PRIu64, z, account.metered_uj,
                     run->expect[z]);
    }
    bill_box_adds_up(run->box);
    sums(run, &live_uj, &account_uj);
    if (account_uj - run->account_uj != live_uj + run->ended_uj - run->live_uj)
        fail_msg("steps have %" PRIu64 ", their accounts %" PRIu64,
                 live_uj + run->ended_uj - run->live_uj, account_uj - run->account_uj);
}

static void interval(struct run *run)
{
    struct energy_reading before = packer_of(run)->state->bill->reading;
    double s = random_length(run);

    use(run, s);
    show_counts(run, true);
    bill_box_turn(run->box, s);
    show_counts(run, false);
    expect(run, &before);
    check(run);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    uint64_t number;

    errno = 0;
    number = text ? strtoull(text, &end, 10) : 0;
    return text && !errno && end != text && !*end ? number : otherwise;
}

static void test_conservation(void **state)
{
    uint64_t seed = number_of("BERTH_SEED", 1), n = number_of("BERTH_EVENTS", INTERVALS);
    struct run run = {.noise = {seed}, .next_job = 1};

    (void)state;
    print_message("BERTH_SEED=%" PRIu64 "\n", seed);
    run.box = bill_box_open("package:2 l3:2 core:4 pu:1", BOX_ZONES);
    bill_box_boot(run.box, "boot-1\n");
    for (uint64_t i = 0; i < n; i++) {
        for (size_t events = below(&run, 3); events > 0; events--)
            event(&run);
        interval(&run);
    }
    while (run.live)
        end(&run);
    check(&run);
    print_message("%u ends, %u moves, %u deaths, %u stops with %u zones gone on from, %u wraps, %u "
                  "lost samples, %u gaps, %u claims of "
                  "the ended that nobody could pay\n",
                  run.ends, run.moves, run.deaths, run.stops, run.resumed, run.wraps, run.lost,
                  run.gaps, run.orphans);
    if (n >= INTERVALS)
        assert_true(run.ends > 500 && run.moves > 500 && run.deaths > 50 && run.resumed > 50 &&
                    run.wraps > 20 && run.lost > 1000 && run.gaps > 20 && run.orphans > 100);
    bill_box_close(run.box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conservation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
