/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally - see tally.h; the arithmetic is that of `berthctl report --benefit`. */
#include "packer/daemon/tally.h"

#include <math.h>
#include <string.h>

#include "packer/report/benefit.h"

static void add_amount(double amount[2], double value)
{
    if (isfinite(value))
        amount[value < 0] += fabs(value);
}

static void add_slowdown(struct tally_slowdown *slowdown, double value, double core_s)
{
    if (!isfinite(value) || !(value > -1) || !(core_s > 0))
        return;
    slowdown->sum += (1 + value) * core_s;
    slowdown->core_s += core_s;
}

void tally_step(const struct packer *packer, const struct ledger_record *record)
{
    struct tally *tally = packer->state->tally;
    double core_s = record->elapsed_s * (double)record->cores_given, gain_s, gain_j;
    enum benefit_kind kind;
    bool known;

    if (record->id.step == WIRE_STEP_BATCH || record->id.step == WIRE_STEP_INTERACTIVE)
        return;
    known = benefit_of(record, &kind, &gain_s, &gain_j);
    tally->steps[known]++;
    if (record->size_freed_core_s > 0)
        tally->freed_core_s += record->size_freed_core_s;
    if (strcmp(record->state, "placed") != 0 && strcmp(record->state, "observed") != 0)
        return;
    add_slowdown(&tally->slowdown[kind][PACKER_MEASURED], record->slowdown_observed, core_s);
    if (!known)
        return;
    add_amount(tally->core_s[kind], gain_s);
    add_amount(tally->energy_j[kind], gain_j);
    add_slowdown(&tally->slowdown[kind][PACKER_SLURM], record->slowdown_home, core_s);
    add_slowdown(&tally->slowdown[kind][PACKER_BERTH],
                 kind == BENEFIT_PLACED ? record->slowdown_predicted : record->slowdown_proposed,
                 core_s);
}

void tally_failed_open(const struct packer *packer, const struct step *step, enum packer_missed how)
{
    const struct wire_options *options = &step->request.options;

    if (options->mode != WIRE_MODE_OFF && !options->require) /* that one was not started */
        packer->state->tally->failed_open[how]++;
}
