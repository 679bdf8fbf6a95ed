/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill - see bill.h; its parts: bill/parts.h */
#include "packer/bill/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/bill/node_power.h"
#include "packer/steps/adopt.h"
#include "packer/steps/rest.h"
#include "packer/steps/stage.h"
#include "packer/steps/together.h"

#define SHORTEST_S 0.001    /* of an interval */
#define SAVE_S 1.0          /* between two writings of the state file */
#define SAVE_REST 5000.0    /* and so many times what the last one took of a CPU, */
#define SAVE_MOST_S 10.0    /* but not more */
#define SAVE_END_S 0.1      /* and when a step has ended in between */
#define RESTING_FACTOR 10.0 /* intervals are so much longer where no step runs */
#define RESTING_MOST_S 20.0 /* but not that long: RAPL wraps around once a minute */

/* ---- opening ---- */

static void number_packages(struct bill *bill, const struct topo *topo)
{
    bill->packages = topo->packages;
    for (size_t i = 0; i < topo->cores; i++)
        cpus_foreach(cpu, &topo->core[i].cpus) bill->package_of[cpu] =
            (uint16_t)topo->core[i].package;
}

static int open_meters(struct bill *bill, const struct packer *packer, struct berth_error *err)
{
    struct energy_zone zone[ENERGY_ZONES];
    struct energy_about about;

    if (rootfs_open(&bill->root, packer->world.conf.energy_root, err) < 0) {
        log_warn("energy: %s; nothing is metered", err->text);
        return 0;
    }
    bill->node = (struct energy_node){
        .root = &bill->root, .topo = packer->world.topo, .conf = &packer->world.conf};
    if (energy_open(&bill->energy, &bill->node, err) < 0)
        return -1;
    for (size_t i = 0; energy_about(bill->energy, i, &about); i++)
        log_line(about.used ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "energy: %s: %s", about.name,
                 about.say);
    for (size_t i = 0; i < energy_zones(bill->energy); i++)
        zone[i] = *energy_zone(bill->energy, i);
    bill_zones_init(bill, zone, energy_zones(bill->energy));
    if (packer->world.conf.energy_model[0]) /* it has been read well, else there is no such zone */
        energy_watts_parse(&bill->watts, packer->world.conf.energy_model, NULL);
    return 0;
}

/* Now, into busy; NULL where nobody knows. */
static const struct cpu_busy *read_busy(const struct packer *packer, struct cpu_busy *busy)
{
    return cpu_busy_read(&packer->world.root, busy, NULL) < 0 ? NULL : busy;
}

int bill_open_at(struct bill **out, const struct packer *packer, double now_s,
                 struct berth_error *err)
{
    struct bill *bill = calloc(1, sizeof(*bill));

    if (bill) {
        bill->root.fd = -1;
        bill->busy = calloc(1, sizeof(*bill->busy));
        bill->busy_now = calloc(1, sizeof(*bill->busy_now));
    }
    if (!bill || !bill->busy || !bill->busy_now) {
        bill_close(bill);
        return berth_no_memory(err);
    }
    number_packages(bill, packer->world.topo);
    if (open_meters(bill, packer, err) < 0) {
        bill_close(bill);
        return -1;
    }
    *out = bill;
    if (bill->zones == 0) {
        bill_state_pass(packer);
        return 0;
    }
    bill_load(packer, bill, now_s);
    packer->state->bill = bill;
    energy_read(bill->energy, now_s, &bill->reading);
    if (bill->bridging) { /* the interval ends when its steps are known: bill_adopted */
        bill->bridge_busy = read_busy(packer, bill->busy_now) != NULL;
        return 0;
    }
    bill->at_s = bill->saved_s = bill->reading.at_s;
    return bill_interval(packer, &bill->reading, read_busy(packer, bill->busy_now)) < 0
               ? berth_no_memory(err)
               : 0;
}

/* The meters, and what a berthd before this one left in the state folder. */
static int bill_open(struct bill **out, const struct packer *packer, struct berth_error *err)
{
    return bill_open_at(out, packer, clock_s(), err);
}

void bill_close(struct bill *bill)
{
    if (!bill)
        return;
    if (bill->energy)
        energy_close(bill->energy);
    if (bill->root.fd >= 0)
        rootfs_close(&bill->root);
    free(bill->busy);
    free(bill->busy_now);
    free(bill->saved);
    free(bill->step);
    free(bill->part);
    free(bill->shares);
    free(bill);
}

/* ---- turns ---- */

/* Says once that a meter stands still, and once that it does no more. */
static void tell_dead(struct bill *bill)
{
    for (size_t i = 0; i < bill->zones; i++) {
        struct bill_zone *zone = &bill->zone[i];
        bool dead = bill->reading.still[i] && bill->reading.still_s[i] >= ENERGY_STILL_S;

        if (dead == zone->dead || (!dead && !bill->reading.known[i]))
            continue;
        zone->dead = dead;
        log_line(dead ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "energy: %s %u by %s %s",
                 energy_domain_name[zone->zone.domain], zone->zone.package, zone->zone.source,
                 dead ? "stands still: it is not counted" : "counts again");
    }
}

void bill_turn_at(const struct packer *packer, double now_s)
{
    struct bill *bill = packer->state->bill;

    if (!bill || bill->zones == 0 || bill->bridging || now_s - bill->at_s < SHORTEST_S)
        return;
    energy_read(bill->energy, now_s, &bill->reading);
    if (bill_interval(packer, &bill->reading, read_busy(packer, bill->busy_now)) < 0)
        return; /* out of memory: the interval goes on */
    tell_dead(bill);
    if (bill->at_s - bill->saved_s >=
        fmin(fmax(SAVE_S, SAVE_REST * bill->save_took_s), SAVE_MOST_S))
        bill_save(packer, bill);
}

void bill_turn(const struct packer *packer)
{
    bill_turn_at(packer, clock_s());
}

/* On common instants, as windows are: the counters have just been read then. */
static double next_due(const struct packer *packer, double now_s)
{
    double every_s = (double)packer->world.conf.energy_interval_ms / 1000;

    if (packer->steps->nlive == 0)
        every_s = fmax(every_s, fmin(RESTING_FACTOR * every_s, RESTING_MOST_S));
    return together_next(packer, now_s, every_s);
}

void bill_tick(const struct packer *packer)
{
    struct bill *bill = packer->state->bill;
    double now_s = clock_s();

    if (!bill || bill->zones == 0 || bill->due_s > now_s + SHORTEST_S)
        return;
    bill_turn(packer);
    energy_rest(bill->energy, rest_may(packer));
    bill->due_s = next_due(packer, now_s);
}

double bill_due(const struct packer *packer)
{
    const struct bill *bill = packer->state->bill;

    return bill && bill->zones ? fmax(bill->due_s - clock_s(), 0) : -1;
}

/* ---- steps ---- */

/* The same step, and not another one under its id? */
static bool is_of(const struct bill_saved *saved, const struct step *step)
{
    return saved->id.job == step->request.id.job && saved->id.step == step->request.id.step &&
           saved->started_at == step->started_at;
}

/* One that has ended since, or is another one, has no part of the time without berthd. */
static void take_saved(const struct packer *packer, struct step *step)
{
    struct bill *bill = packer->state->bill;
    struct bill_step *way = step->bill.running;

    way->missed = true;

    for (size_t i = 0; i < bill->saved_n; i++) {
        if (!is_of(&bill->saved[i], step))
            continue;
        step->bill = bill->saved[i].bill;
        step->bill.running = way;
        way->by = bill->saved[i].by;
        bill_by_text(way->by, step->bill.by);
        way->missed = adopt_of(packer, step) != ADOPT_SAME;
        break;
    }
    if (bill->bridging && !way->missed)
        way->since_s = bill->at_s;
    step->bill.gaps += way->missed || bill_stop_lost(bill, &step->bill);
}

void bill_begin(const struct packer *packer, struct step *step, bool adopted)
{
    struct bill *bill = packer->state->bill;
    struct bill_step *way;

    if (!bill || bill->zones == 0 || step->bill.running)
        return;
    way = calloc(1, sizeof(*way) + bill->zones * sizeof(way->claim[0]));
    if (!way)
        return; /* it is not billed: what it uses is unmanaged */
    way->since_s = clock_s();
    way->per_s[0] = way->per_s[1] = NAN;
    step->bill.running = way;
    step->bill.idle = packer->world.conf.idle_energy;
    if (adopted)
        take_saved(packer, step);
    bill->due_s = fmin(bill->due_s, next_due(packer, way->since_s));
    packer_wake(packer, fmax(bill->due_s - way->since_s, 0));
}

void bill_end(const struct packer *packer, struct step *step)
{
    struct bill *bill = packer->state->bill;

    if (!bill || !step->bill.running)
        return;
    bill_leave(bill, step);
    if (bill->at_s - bill->saved_s >= SAVE_END_S)
        bill_save(packer, bill);
}

void bill_keep(const struct packer *packer)
{
    struct bill *bill = packer->state->bill;

    bill_turn(packer);
    if (!bill || bill->zones == 0)
        return;
    bill->stopping = true;
    bill_save(packer, bill);
}

/* The interval in which there was no berthd ends. It is written down at once, so that nobody else
 * goes on from where it began. */
static void end_bridge(const struct packer *packer, struct bill *bill)
{
    double away_s = bill->reading.at_s - bill->at_s;

    if (bill_interval(packer, &bill->reading, bill->bridge_busy ? bill->busy_now : NULL) == 0)
        log_info("bill: it goes on from where berthd was stopped, %.1f s ago", away_s);
    bill->bridging = false;
    bill_save(packer, bill);
}

void bill_adopted(const struct packer *packer)
{
    struct bill *bill = packer->state->bill;

    if (!bill)
        return;
    free(bill->saved);
    bill->saved = NULL;
    bill->saved_n = 0;
    if (bill->bridging)
        end_bridge(packer, bill);
}

/* ---- what others may ask ---- */

bool bill_meter(const struct packer *packer, size_t i, struct energy_about *about)
{
    return packer->state->bill && packer->state->bill->energy &&
           energy_about(packer->state->bill->energy, i, about);
}

bool bill_zone(const struct packer *packer, size_t i, struct energy_zone *zone,
               struct bill_account *account)
{
    const struct bill *bill = packer->state->bill;

    if (!bill || i >= bill->zones)
        return false;
    *zone = bill->zone[i].zone;
    *account = bill->zone[i].account;
    return true;
}

static bool total_of(const struct step_bill *bill, const uint64_t *part, uint64_t *uj)
{
    uint64_t sum = 0;
    size_t n = 0;

    for (enum energy_domain d = 0; d < ENERGY_DOMAINS; d++)
        if (energy_counts(bill->known, d))
            sum += part[d], n++;
    if (n)
        *uj = sum;
    return n > 0;
}

bool bill_total(const struct step *step, uint64_t *uj)
{
    return total_of(&step->bill, step->bill.uj, uj);
}

bool bill_idle(const struct step *step, uint64_t *uj)
{
    return total_of(&step->bill, step->bill.idle_uj, uj);
}

/* ---- the stage ---- */

static int open_bill(const struct packer *packer, struct berth_error *err)
{
    packer->state->power = node_power_open(packer->world.topo);
    return bill_open(&packer->state->bill, packer, err);
}

static void close_bill(const struct packer *packer)
{
    node_power_close(packer->state->power);
    bill_close(packer->state->bill);
}

static void begin_bill(const struct packer *packer, struct step *step)
{
    bill_turn(packer);
    bill_begin(packer, step, false);
}

static void adopt_bill(const struct packer *packer, struct step *step)
{
    bill_begin(packer, step, true);
}

static void end_bill(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    bill_turn(packer);
    bill_end(packer, step);
}

static void tick(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    bill_tick(packer);
}

const struct stage bill_stage = {
    .name = "bill",
    .open = open_bill,
    .close = close_bill,
    .begin = begin_bill,
    .adopt = adopt_bill,
    .end = end_bill,
    .turn = tick,
    .due = bill_due,
    .rests = true,
};
