/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_divide - a zone's energy of an interval among steps, idle and unmanaged.
 *
 * Power = w[0] + w[1] * busy cores + w[2] * instructions/s + w[3] * bytes/s, the weights fitted on
 * line (models/energy/nnls.h), as many of them as are well determined. w[0] is the idle power: its
 * energy goes by the site's rule (interval.c), the rest by what each did times the weights. Without
 * weights all of it goes by busy time (a memory's by its traffic), and where nobody did anything
 * all of it is idle energy.
 */
#include "packer/bill/parts.h"
#include "enum_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WITHIN 0.05        /* of the power: how well a weight's part of it must be known */
#define LEARN_S 0.2        /* shorter intervals teach nothing: busy time comes in ticks */
#define LEARN_COUNTED 0.95 /* of the busy time, that must be counted to learn from */
#define USE_COUNTED 0.5    /* and to divide by it */
#define RESTING 0.02       /* busy CPUs of a package at rest, in all */

/* ---- the weights ---- */

/* Features that are counted for so great a part of the busy time. */
static unsigned columns_of(const struct bill_zone *zone, double part)
{
    unsigned columns = 1u << BILL_TIME | 1u << BILL_BUSY;

    for (unsigned i = 0; i < 2; i++)
        if (zone->sum.busy_s > 0 && zone->counted_s[i] >= part * zone->sum.busy_s)
            columns |= 1u << (BILL_INSTRUCTIONS + i);
    return columns;
}

/* What an interval in which no energy was lost says about the zone. */
static void learn(struct bill_zone *zone, double uj)
{
    double s = zone->seconds, watts = uj / s * 1e-6;
    double TABLE(x, BILL_FEATURES) = {
        ROW(BILL_TIME) = 1,
        ROW(BILL_BUSY) = zone->sum.busy_s / s,
        ROW(BILL_INSTRUCTIONS) = zone->sum.instructions / s * 1e-9,
        ROW(BILL_BYTES) = zone->sum.bytes / s * 1e-9,
    };
    TABLE_COMPLETE(x);
    unsigned columns = columns_of(zone, LEARN_COUNTED);

    if (s < LEARN_S || !zone->busy_known)
        return;
    nnls_fit_add(&zone->fit_busy, x, watts);
    if (x[BILL_BUSY] <= RESTING) /* nobody did anything: that is known of all */
        columns = zone->columns;
    if (columns != zone->columns) {
        nnls_fit_init(&zone->fit, BILL_FEATURES, BILL_MEMORY);
        zone->columns = columns;
    }
    for (unsigned i = 0; i < BILL_FEATURES; i++)
        if (!(columns & 1u << i))
            x[i] = 0;
    nnls_fit_add(&zone->fit, x, watts);
}

/* A model's weights are no secret. */
static bool given(const struct bill *bill, const struct bill_zone *zone, double *w)
{
    bool memory = zone->zone.domain == ENERGY_DRAM;

    if (!zone->zone.modelled)
        return false;
    memset(w, 0, BILL_FEATURES * sizeof(*w));
    w[BILL_TIME] = memory ? bill->watts.dram : bill->watts.idle;
    w[BILL_BUSY] = memory ? 0 : bill->watts.core;
    return true;
}

/* Those of the most features that are well determined. False: not even the idle power is. */
static bool fitted(const struct bill_zone *zone, double *w)
{
    const unsigned idle = 1u << BILL_TIME, busy = 1u << BILL_BUSY, bytes = 1u << BILL_BYTES;
    unsigned counted = columns_of(zone, USE_COUNTED) & zone->columns;

    if (counted & ~(idle | busy)) {
        if (nnls_fit_weights(&zone->fit, counted, WITHIN, w))
            return true;
        if (counted & bytes && nnls_fit_weights(&zone->fit, idle | busy | bytes, WITHIN, w))
            return true;
    }
    if (nnls_fit_weights(&zone->fit_busy, idle | busy, WITHIN, w))
        return true;
    return nnls_fit_size(&zone->fit_busy, BILL_BUSY) <= RESTING &&
           nnls_fit_weights(&zone->fit_busy, idle, WITHIN, w);
}

/* ---- what a claim weighs ---- */

static double weigh(const struct bill_claim *claim, const double *w)
{
    return w[BILL_BUSY] * claim->busy_s +
           (w[BILL_INSTRUCTIONS] * claim->instructions + w[BILL_BYTES] * claim->bytes) * 1e-9;
}

/* The dynamic part's weights, and what that is. */
static unsigned choose(const struct bill_zone *zone, bool known, double *w)
{
    bool memory = zone->zone.domain == ENERGY_DRAM && zone->sum.bytes > 0;
    unsigned busy = zone->busy_known ? BILL_BY_BUSY : BILL_BY_CORES;

    if (known && weigh(&zone->sum, w) > 0)
        return w[BILL_INSTRUCTIONS] > 0 || w[BILL_BYTES] > 0 ? BILL_BY_COUNTERS : busy;
    memset(w, 0, BILL_FEATURES * sizeof(*w));
    if (memory && columns_of(zone, USE_COUNTED) & 1u << BILL_BYTES) {
        w[BILL_BYTES] = 1;
        return BILL_BY_COUNTERS;
    }
    w[BILL_BUSY] = 1;
    return zone->sum.busy_s > 0 ? busy : BILL_BY_CORES;
}

/* ---- dividing ---- */

/* The shares of steps, idle and unmanaged go to their accounts; idle: of idle energy. */
static void pay(struct bill *bill, size_t z, bool idle, struct step *const *step, size_t n)
{
    struct bill_zone *zone = &bill->zone[z];

    for (size_t i = 0; i < n; i++) {
        step[i]->bill.uj[zone->zone.domain] += bill->shares[i].share;
        step[i]->bill.idle_uj[zone->zone.domain] += idle ? bill->shares[i].share : 0;
        zone->account.steps_uj += bill->shares[i].share;
    }
    zone->account.idle_uj += bill->shares[n].share;
    zone->account.unmanaged_uj += bill->shares[n + 1].share;
}

/* By the idle parts. What was left over where there are none of any kind is unmanaged. */
static void divide_idle(struct bill *bill, size_t z, uint64_t uj, struct step *const *step,
                        size_t n)
{
    struct bill_zone *zone = &bill->zone[z];

    for (size_t i = 0; i < n; i++)
        bill->shares[i].weight = step[i]->bill.running->claim[z].idle_s;
    bill->shares[n].weight = zone->idle_s;
    bill->shares[n + 1].weight = zone->unmanaged.idle_s;
    zone->account.unmanaged_uj += attribute_divide(uj, bill->shares, n + 2);
    pay(bill, z, true, step, n);
}

/* By what was done. Returns what is left: all of it where nobody did anything. */
static uint64_t divide_done(struct bill *bill, size_t z, uint64_t uj, const double *w,
                            struct step *const *step, size_t n)
{
    uint64_t left;

    for (size_t i = 0; i < n; i++)
        bill->shares[i].weight = weigh(&step[i]->bill.running->claim[z], w);
    bill->shares[n].weight = 0;
    bill->shares[n + 1].weight = weigh(&bill->zone[z].unmanaged, w);
    left = attribute_divide(uj, bill->shares, n + 2);
    pay(bill, z, false, step, n);
    return left;
}

static uint64_t idle_energy(const struct bill_zone *zone, bool known, const double *w, uint64_t uj)
{
    double idle = known ? w[BILL_TIME] * zone->seconds * 1e6 : 0;

    return idle >= (double)uj ? uj : (uint64_t)idle;
}

void bill_by_text(unsigned by, char text[32])
{
    static const char *const name[] = {"counters", "busy time", "cores"};
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < 3; i++)
        if (by & 1u << i)
            used += (size_t)snprintf(text + used, 32 - used, "%s%s", used ? ", " : "", name[i]);
}

/* Is this the meter that bill_total goes by? */
static bool is_main(const struct bill *bill, const struct bill_zone *zone)
{
    if (zone->zone.domain == ENERGY_PACKAGE)
        return true;
    if (zone->zone.domain == ENERGY_DRAM)
        return false;
    for (size_t i = 0; i < bill->zones; i++)
        if (bill->zone[i].zone.domain == ENERGY_PACKAGE && bill->zone[i].known_once)
            return false;
    return true;
}

/* The steps that were there are metered, and say by what. */
static void note(struct bill *bill, size_t z, unsigned by, bool gap, struct step *const *step,
                 size_t n)
{
    const struct bill_zone *zone = &bill->zone[z];

    for (size_t i = 0; i < n; i++) {
        struct step_bill *own = &step[i]->bill;

        if (!own->running->claim[z].there)
            continue;
        own->known[zone->zone.domain] = true;
        own->running->gap |= gap;
        if (!is_main(bill, zone))
            continue;
        own->running->by |= by;
        bill_by_text(own->running->by, own->by);
        snprintf(own->source, sizeof(own->source), "%s", zone->zone.source);
        own->modelled |= zone->zone.modelled;
    }
}

void bill_clear(struct bill *bill, size_t z, struct step *const *step, size_t n)
{
    struct bill_zone *zone = &bill->zone[z];

    for (size_t i = 0; i < n; i++)
        step[i]->bill.running->claim[z] = (struct bill_claim){0};
    zone->sum = zone->unmanaged = (struct bill_claim){0};
    zone->seconds = zone->idle_s = zone->counted_s[0] = zone->counted_s[1] = 0;
    zone->busy_known = true;
}

void bill_divide(struct bill *bill, size_t z, const struct energy_reading *reading,
                 struct step *const *step, size_t n)
{
    struct bill_zone *zone = &bill->zone[z];
    uint64_t uj = reading->uj[z] - zone->uj, lost = reading->gaps[z] - zone->gaps, idle;
    double w[NNLS_MAX];
    bool known;
    unsigned by;

    if (lost == 0)
        learn(zone, (double)uj);
    known = given(bill, zone, w) || fitted(zone, w);
    idle = idle_energy(zone, known, w, uj);
    by = choose(zone, known, w);
    zone->account.metered_uj += uj;
    zone->account.gaps += lost;
    note(bill, z, by, lost > 0, step, n);
    idle += divide_done(bill, z, uj - idle, w, step, n);
    divide_idle(bill, z, idle, step, n);
}
