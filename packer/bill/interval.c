/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_interval - what each step, and everybody else, did between two readings of the meters.
 *
 * How long a package's CPUs were busy is what the kernel says of each CPU (system/cpu_busy.h). A
 * step has the busy time of its CPUs, or its part of it where steps share them; where its counters
 * know its CPU time, so much of it as makes the sum right. What no step explains is unmanaged.
 * Instructions and memory traffic follow the busy time: so many of them per second as in the step's
 * last window. So windows and intervals need not fall together, nothing has to be counted when a
 * step begins or moves, and each package has its part. */
#include "packer/bill/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/bill/node_power.h"
#include "packer/steps/step_counts.h"

#define POWER_SECONDS 0.2 /* an interval that tells power: busy time comes in ticks */
#define COUNTED_S 0.005   /* of busy time, to tell a rate by */

static const enum counter counted[2] = {COUNTER_INSTRUCTIONS, COUNTER_BYTES};

static double positive(double value)
{
    return value > 0 ? value : 0;
}

/* ---- who holds which CPU ---- */

static int make_room(struct bill *bill, size_t steps)
{
    size_t room = steps + steps / 2 + 16;
    struct attribute_claim *shares;
    struct bill_part *part;
    struct step **step;

    if (steps <= bill->room && bill->shares)
        return 0;
    if ((step = reallocarray(bill->step, room, sizeof(struct step *))))
        bill->step = step;
    if ((part = reallocarray(bill->part, room * bill->packages, sizeof(*part))))
        bill->part = part;
    if ((shares = reallocarray(bill->shares, room + 2, sizeof(*shares))))
        bill->shares = shares;
    if (!step || !part || !shares)
        return -1;
    bill->room = room;
    return 0;
}

/* While there was no berthd, steps were where Slurm had put them: it has sent them home. */
static void cpus_held(const struct bill *bill, const struct step *step, struct cpus *cpus)
{
    enforce_union(&step->body, bill->bridging ? ENFORCE_HOME : ENFORCE_PLACE, cpus);
}

/* The live steps that take part, and how many of them hold each CPU. */
static size_t list_steps(const struct packer *packer, struct bill *bill)
{
    struct step *step;
    struct cpus cpus;
    size_t n = 0;

    memset(bill->inner, 0, sizeof(bill->inner));
    memset(bill->shells, 0, sizeof(bill->shells));
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        uint16_t *holders = step_is_shell(step) ? bill->shells : bill->inner;

        if (!step->bill.running || (bill->bridging && step->bill.running->missed))
            continue;
        bill->step[n++] = step;
        cpus_held(bill, step, &cpus);
        cpus_foreach(cpu, &cpus) holders[cpu]++;
    }
    return n;
}

/* The step's part of a CPU. A batch script does not hold what a step of its job holds. */
static double part_of(const struct bill *bill, const struct step *step, size_t cpu)
{
    if (!step_is_shell(step))
        return 1.0 / bill->inner[cpu];
    return bill->inner[cpu] ? 0 : 1.0 / bill->shells[cpu];
}

/* ---- how long was what busy ---- */

struct interval {
    double begin_s, end_s;
    struct cpus online;
    const struct cpu_busy *busy; /* at its end; NULL: not known for this interval */
};

static double busy_in(const struct bill *bill, const struct interval *in, size_t cpu)
{
    if (!in->busy || !cpus_has(&in->busy->known, cpu) || !cpus_has(&bill->busy->known, cpu))
        return 0;
    return positive(in->busy->s[cpu] - bill->busy->s[cpu]);
}

/* Fills in, for each package, for how long the step held CPUs there and how much of their busy time
 * is its share. Returns the sum of these shares, in seconds; *most_s is the whole busy time of its
 * CPUs: more cannot be the step's. */
static double take_parts(const struct bill *bill, const struct interval *in,
                         const struct step *step, struct bill_part *part, double *most_s)
{
    double from_s = fmax(in->begin_s, step->bill.running->since_s), busy_s = 0;
    struct cpus cpus;

    memset(part, 0, bill->packages * sizeof(*part));
    cpus_held(bill, step, &cpus);
    cpus_and(&cpus, &in->online);
    *most_s = 0;
    cpus_foreach(cpu, &cpus)
    {
        struct bill_part *here = &part[bill->package_of[cpu]];
        double share = part_of(bill, step, cpu), busy = busy_in(bill, in, cpu);

        here->cpus++;
        here->held_s += share * positive(in->end_s - from_s);
        here->busy_s += share * busy;
        here->there_s = here->held_s > 0 ? positive(in->end_s - from_s) : 0;
        busy_s += share * busy;
        *most_s += busy;
    }
    return busy_s;
}

/* The CPU time since it was last read, of the step's reading, less what it has got meanwhile; NAN:
 * no reading since. */
static double cpu_time(struct bill_step *own, const struct counters_sample *sample)
{
    double cpu_s, since;

    if (!sample || !counters_know(sample, COUNTER_CPU_NS))
        return NAN;
    cpu_s = sample->value[COUNTER_CPU_NS] * 1e-9;
    since = own->cpu_known ? positive(cpu_s - own->cpu_s - own->taken_s) : NAN;
    own->cpu_known = true;
    own->cpu_s = cpu_s;
    own->taken_s = 0;
    return since;
}

/* Spread a step's busy time over its packages, as busy as its CPUs there were, else by their
 * number. */
static void spread(const struct bill *bill, struct bill_part *part, double known_s, double own_s)
{
    double cpus = 0;

    for (size_t p = 0; p < bill->packages; p++)
        cpus += (double)part[p].cpus;
    for (size_t p = 0; p < bill->packages && cpus > 0; p++)
        part[p].busy_s =
            own_s * (known_s > 0 ? part[p].busy_s / known_s : (double)part[p].cpus / cpus);
}

/* Instructions and bytes per busy second, when a reading has come. */
static void take_rates(struct bill_step *own, const struct counters_sample *sample, double busy_s)
{
    for (size_t i = 0; i < 2; i++) {
        double value, more;

        own->counted_s[i] += busy_s;
        if (!sample || !counters_know(sample, counted[i]))
            continue;
        value = sample->value[counted[i]];
        more = value - own->counter[i];
        if (own->counter_known[i] && more >= 0 && own->counted_s[i] >= COUNTED_S)
            own->per_s[i] = more / own->counted_s[i];
        own->counter_known[i] = true;
        own->counter[i] = value;
        own->counted_s[i] = 0;
    }
}

/* A reading of the step's counters that has not been seen yet, or NULL. */
static const struct counters_sample *fresh_sample(const struct step *step)
{
    const struct step_counts *counts = step->counts;

    if (!counts || !counts->counters || !(counts->last.at_s > step->bill.running->read_s))
        return NULL;
    step->bill.running->read_s = counts->last.at_s;
    return &counts->last;
}

/* Of one step: its parts of the interval. */
static void take_step(const struct bill *bill, const struct interval *in, const struct step *step,
                      struct bill_part *part)
{
    struct bill_step *own = step->bill.running;
    const struct counters_sample *sample = fresh_sample(step);
    double most_s, busy_s = take_parts(bill, in, step, part, &most_s);
    double cpu_s = cpu_time(own, sample), own_s = busy_s;
    bool read = sample && counters_know(sample, COUNTER_CPU_NS);

    if (!in->busy && isnan(cpu_s))
        for (size_t p = 0; p < bill->packages; p++)
            own_s += part[p].held_s; /* nobody knows: as if it were busy all the time */
    else if (!isnan(cpu_s))
        own_s = in->busy ? fmin(cpu_s, most_s) : cpu_s;
    spread(bill, part, busy_s, own_s);
    own->taken_s += read ? 0 : own_s;
    take_rates(own, sample, own_s);
}

/* ---- packages ---- */

/* Of one package in the interval. */
struct package {
    double cpu_s, held_s, busy_s; /* of its CPUs; by steps; of its CPUs */
    double own_s;                 /* busy time of steps */
    double free_s;                /* whose idle part nobody is billed */
    double even_s, there_s;       /* whose idle part some pay evenly; time of these there */
    double counted_s[2], count[2];
};

/* Per busy second, of those that are counted; 0 where nobody is. */
static double usual(const struct package *package, size_t i)
{
    return package->counted_s[i] > 0 ? package->count[i] / package->counted_s[i] : 0;
}

static void take_package(const struct bill *bill, const struct interval *in, size_t p, size_t n,
                         struct package *package)
{
    *package = (struct package){0};
    cpus_foreach(cpu, &in->online) if (bill->package_of[cpu] == p)
    {
        package->cpu_s += in->end_s - in->begin_s;
        package->busy_s += busy_in(bill, in, cpu);
    }
    for (size_t s = 0; s < n; s++) {
        const struct bill_part *part = &bill->part[s * bill->packages + p];

        package->held_s += part->held_s;
        package->own_s += part->busy_s;
        for (size_t i = 0; i < 2; i++) {
            double per_s = bill->step[s]->bill.running->per_s[i];

            package->counted_s[i] += isnan(per_s) ? 0 : part->busy_s;
            package->count[i] += isnan(per_s) ? 0 : part->busy_s * per_s;
        }
    }
}

/* Who is billed the package's idle part, in CPUs times seconds. What cores a step holds is billed
 * to it by the rule `cores`, nobody by `nobody`. Who pays evenly pays together for the cores that
 * they hold and those that nobody holds: all of it, where the package's steps all do. */
static void take_idle(const struct bill *bill, size_t p, size_t n, struct package *package)
{
    double free_s = positive(package->cpu_s - package->held_s);

    for (size_t s = 0; s < n; s++) {
        const struct bill_part *part = &bill->part[s * bill->packages + p];
        enum conf_idle_energy rule = bill->step[s]->bill.idle;

        package->free_s += rule == CONF_IDLE_NOBODY ? part->held_s : 0;
        package->even_s += rule == CONF_IDLE_EVENLY ? part->held_s : 0;
        package->there_s += rule == CONF_IDLE_EVENLY ? part->there_s : 0;
    }
    *(package->there_s > 0 ? &package->even_s : &package->free_s) += free_s;
}

static double idle_part(const struct package *package, enum conf_idle_energy rule,
                        const struct bill_part *part)
{
    if (rule == CONF_IDLE_EVENLY && package->there_s > 0)
        return package->even_s * part->there_s / package->there_s;
    return rule == CONF_IDLE_CORES ? part->held_s : 0;
}

static void claim_add(struct bill_claim *to, const struct bill_claim *more)
{
    to->idle_s += more->idle_s;
    to->busy_s += more->busy_s;
    to->instructions += more->instructions;
    to->bytes += more->bytes;
    to->there |= more->there;
}

/* What busy time there makes, at so many instructions and bytes per second; NAN: as many as usual.
 */
static struct bill_claim claim_of(const struct package *package, double busy_s, const double *per_s)
{
    return (struct bill_claim){.busy_s = busy_s,
                               .instructions =
                                   busy_s * (isnan(per_s[0]) ? usual(package, 0) : per_s[0]),
                               .bytes = busy_s * (isnan(per_s[1]) ? usual(package, 1) : per_s[1])};
}

/* A package's part of the interval is added to a zone's. */
static void add_to_zone(struct bill *bill, size_t z, size_t p, size_t n,
                        const struct package *package)
{
    static const double nobody_knows[2] = {NAN, NAN};
    struct bill_zone *zone = &bill->zone[z];
    struct bill_claim claim =
        claim_of(package, positive(package->busy_s - package->own_s), nobody_knows);

    claim_add(&zone->unmanaged, &claim);
    claim_add(&zone->sum, &claim);
    for (size_t s = 0; s < n; s++) {
        const struct bill_part *part = &bill->part[s * bill->packages + p];
        struct bill_step *own = bill->step[s]->bill.running;

        claim = claim_of(package, part->busy_s, own->per_s);
        claim.idle_s = idle_part(package, bill->step[s]->bill.idle, part);
        claim.there = part->cpus > 0;
        claim_add(&own->claim[z], &claim);
        claim_add(&zone->sum, &claim);
    }
    zone->idle_s += package->free_s;
    for (size_t i = 0; i < 2; i++)
        zone->counted_s[i] += package->counted_s[i];
}

static void add_package(struct bill *bill, const struct interval *in, size_t p, size_t n)
{
    struct package package;

    take_package(bill, in, p, n, &package);
    take_idle(bill, p, n, &package);
    for (size_t z = 0; z < bill->zones; z++) {
        const struct energy_zone *zone = &bill->zone[z].zone;

        if (zone->domain == ENERGY_NODE || zone->package == p)
            add_to_zone(bill, z, p, n, &package);
    }
}

/* ---- the interval ---- */

/* What a metered package has drawn, and how busy it was: what its power is predicted by. */
static void tell_power(const struct packer *packer, const struct bill_zone *zone, uint64_t uj,
                       uint64_t gaps)
{
    if (zone->zone.domain == ENERGY_PACKAGE && !zone->zone.modelled && zone->busy_known &&
        zone->seconds >= POWER_SECONDS && gaps == zone->gaps)
        node_power_observe(packer, zone->zone.package, zone->seconds,
                           (double)(uj - zone->uj) * 1e-6 / zone->seconds, zone->sum.busy_s);
}

/* What a zone's reading makes of it: its base, nothing yet, or shares. A meter that has not moved
 * yet is a base to go on from. */
static void end_zone(const struct packer *packer, size_t z, const struct energy_reading *reading,
                     size_t n)
{
    struct bill *bill = packer->state->bill;
    struct bill_zone *zone = &bill->zone[z];

    zone->account.counts = reading->known[z];
    zone->known_once |= reading->known[z];
    zone->waits = reading->still[z] && !zone->known_once;
    if (!reading->known[z] && (zone->based || !zone->waits))
        return;
    if (zone->based) {
        tell_power(packer, zone, reading->uj[z], reading->gaps[z]);
        bill_divide(bill, z, reading, bill->step, n);
    } else if (!bill->bridging) { /* else the step has been told already */
        for (size_t i = 0; i < n; i++)
            bill->step[i]->bill.running->gap |= bill->step[i]->bill.running->claim[z].there;
    }
    bill_clear(bill, z, bill->step, n);
    zone->based = true;
    zone->uj = reading->uj[z];
    zone->gaps = reading->gaps[z];
}

int bill_interval(const struct packer *packer, const struct energy_reading *reading,
                  const struct cpu_busy *busy)
{
    struct bill *bill = packer->state->bill;
    struct interval in = {.begin_s = bill->at_s,
                          .end_s = reading->at_s,
                          .online = packer->world.topo->cpus,
                          .busy = bill->busy_known ? busy : NULL};
    size_t n;

    if (make_room(bill, packer->steps->nlive) < 0)
        return -1;
    cpus_andnot(&in.online, &packer->world.enforce->offline);
    n = list_steps(packer, bill);
    for (size_t s = 0; s < n; s++)
        take_step(bill, &in, bill->step[s], &bill->part[s * bill->packages]);
    for (size_t p = 0; p < bill->packages; p++)
        add_package(bill, &in, p, n);
    for (size_t z = 0; z < bill->zones; z++) {
        bill->zone[z].seconds += in.end_s - in.begin_s;
        bill->zone[z].busy_known &= in.busy != NULL;
        end_zone(packer, z, reading, n);
    }
    for (size_t s = 0; s < n; s++) {
        bill->step[s]->bill.gaps += bill->step[s]->bill.running->gap;
        bill->step[s]->bill.running->gap = false;
    }
    bill->at_s = reading->at_s;
    if (busy)
        *bill->busy = *busy;
    bill->busy_known = busy != NULL;
    return 0;
}

void bill_leave(struct bill *bill, struct step *step)
{
    bool lost = false;

    for (size_t z = 0; z < bill->zones; z++) {
        const struct bill_claim *claim = &step->bill.running->claim[z];

        lost |= claim->there && !bill->zone[z].waits;
        claim_add(&bill->zone[z].unmanaged, claim);
    }
    step->bill.gaps += lost;
    free(step->bill.running);
    step->bill.running = NULL;
}
