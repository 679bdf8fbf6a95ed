/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit - see benefit.h */
#include "packer/report/benefit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/report/benefit_mean.h"
#include "packer/report/benefit_programs.h"
#include "packer/report/benefit_verdict.h"
#include "packer/report/intern.h"
#include "packer/report/steered.h"
#include "enum_table.h"

const char *const TABLE(benefit_why_text, BENEFIT_WHYS) = {
    ROW(BENEFIT_NOT_OPTED) = "did not opt in",
    ROW(BENEFIT_BOUND) = "bound by hand (--cpu-bind)",
    ROW(BENEFIT_LATE) = "launch failed open: berthd was not heard in time",
    ROW(BENEFIT_FAILED) = "could not be placed, and was put back",
    ROW(BENEFIT_LEFT) = "left alone for another reason (-o JobID,Reason)",
    ROW(BENEFIT_UNPROFILED) = "nothing was known of the program",
    ROW(BENEFIT_SHORT) = "ended before anything was predicted",
    ROW(BENEFIT_OLD) = "recorded by an older berth, which did not say why",
};
TABLE_COMPLETE(benefit_why_text);

struct sums {
    struct benefit_sum slurm, berth, measured;
};

struct benefit {
    struct benefit_result result;
    struct sums sums[BENEFIT_KINDS];
    struct benefit_sum bias, error, size_loss;
    struct benefit_programs programs;
    struct steered *steered;             /* NULL: nothing of it is told */
    struct report_intern *words, *nodes; /* nodes: their names alone, to be counted */
};

struct benefit *benefit_new(void)
{
    struct benefit *benefit = calloc(1, sizeof(*benefit));
    struct benefit_result *result;

    if (!benefit)
        return NULL;
    benefit->words = report_intern_new();
    benefit->nodes = report_intern_new();
    if (!benefit->words || !benefit->nodes) {
        benefit_free(benefit);
        return NULL;
    }
    result = &benefit->result;
    for (int i = 0; i < BENEFIT_KINDS; i++)
        result->group[i].core_time.sum = result->group[i].energy.sum = NAN;
    result->freed.sum = NAN;
    return benefit;
}

void benefit_free(struct benefit *benefit)
{
    if (!benefit)
        return;
    benefit_programs_clear(&benefit->programs);
    steered_free(benefit->steered);
    report_intern_free(benefit->words);
    report_intern_free(benefit->nodes);
    free(benefit);
}

int benefit_hours_are(struct benefit *benefit, const struct ledger_hours *hours)
{
    if (hours->n == 0)
        return 0;
    benefit->steered = steered_new(hours);
    return benefit->steered ? 0 : -1;
}

/* ---- one record ---- */

static double core_time(const struct ledger_record *record)
{
    return record->cores_given && record->elapsed_s > 0
               ? record->elapsed_s * (double)record->cores_given
               : 0;
}

static bool kind_of(const struct ledger_record *record, enum benefit_kind *kind)
{
    *kind = strcmp(record->state, "observed") == 0 ? BENEFIT_OBSERVED : BENEFIT_PLACED;
    return *kind == BENEFIT_OBSERVED || strcmp(record->state, "placed") == 0;
}

/* Returns the slowdown predicted where berth put it, or would have. */
static double by_berth(const struct ledger_record *record, enum benefit_kind kind)
{
    return kind == BENEFIT_PLACED ? record->slowdown_predicted : record->slowdown_proposed;
}

bool benefit_of(const struct ledger_record *record, enum benefit_kind *kind, double *core_s,
                double *energy_j)
{
    double slurm = record->slowdown_home, berth, part;

    *core_s = *energy_j = NAN;
    if (!kind_of(record, kind))
        return false;
    berth = by_berth(record, *kind);
    if (!(slurm > -1) || !(berth > -1) || !isfinite(slurm) || !isfinite(berth))
        return false;
    part = *kind == BENEFIT_PLACED ? (1 + slurm) / (1 + berth) - 1 : 1 - (1 + berth) / (1 + slurm);
    *core_s = core_time(record) * part;
    *energy_j = ledger_energy_j(record) * part;
    return true;
}

static enum benefit_why why_of(const struct ledger_record *record)
{
    enum benefit_kind kind;

    if (kind_of(record, &kind)) {
        if (!record->knowledge[0])
            return BENEFIT_OLD;
        return strcmp(record->knowledge, "nothing") == 0 ? BENEFIT_UNPROFILED : BENEFIT_SHORT;
    }
    if (strcmp(record->state, "late") == 0)
        return BENEFIT_LATE;
    if (strcmp(record->state, "failed") == 0)
        return BENEFIT_FAILED;
    switch (ledger_left_for(record)) {
    case WIRE_NOT_LEFT:
        return BENEFIT_OLD;
    case WIRE_LEFT_OFF:
        return BENEFIT_NOT_OPTED;
    case WIRE_LEFT_BOUND:
        return BENEFIT_BOUND;
    default:
        return BENEFIT_LEFT;
    }
}

/* ---- winners and losers ---- */

/* Notes what is predicted of a step: that counts where its program was not measured both ways. */
static int note(struct benefit *benefit, struct benefit_alike *alike,
                const struct ledger_record *record, enum benefit_kind kind, double core_s,
                double energy_j)
{
    struct benefit_rank *rank = core_s > 0 ? &alike->winner : &alike->loser;
    struct benefit_step step = {.kind = kind,
                                .id = record->id,
                                .user = alike->user,
                                .program = alike->program,
                                .uid = record->uid,
                                .cores = record->cores_given,
                                .slurm = record->slowdown_home,
                                .berth = by_berth(record, kind),
                                .measured = record->slowdown_observed,
                                .core_s = core_s,
                                .energy_j = energy_j};

    if (core_s == 0)
        return 0;
    rank->all++;
    if (!benefit_rank_takes(rank, core_s))
        return 0;
    step.node = report_intern_keep(benefit->words, record->node);
    return step.node ? benefit_rank_put(rank, &step) : -1;
}

/* ---- adding up ---- */

static void compare(struct benefit *benefit, const struct ledger_record *record,
                    enum benefit_kind kind, double weight)
{
    struct benefit_group *group = &benefit->result.group[kind];
    double measured = record->slowdown_observed, predicted = record->slowdown_predicted;

    benefit_sum_add(&benefit->sums[kind].measured, measured, weight);
    if (!isfinite(measured))
        return;
    benefit_sum_add(&benefit->bias, predicted - measured, weight);
    benefit_sum_add(&benefit->error, fabs(predicted - measured), weight);
    if (kind == BENEFIT_PLACED && isfinite(record->slowdown_home)) {
        group->judged++;
        group->slower += measured > record->slowdown_home;
    }
}

/* Of a step that berth placed or observed. */
static int add_step(struct benefit *benefit, struct benefit_alike *alike,
                    const struct ledger_record *record, enum benefit_kind kind, double weight)
{
    struct benefit_group *group = &benefit->result.group[kind];
    double core_s, energy_j;

    group->steps++;
    group->core_s += weight;
    compare(benefit, record, kind, weight);
    if (!benefit_of(record, &kind, &core_s, &energy_j)) {
        benefit_amount_add(&benefit->result.why[why_of(record)], weight);
        return 0;
    }
    benefit_sum_add(&benefit->sums[kind].slurm, record->slowdown_home, weight);
    benefit_sum_add(&benefit->sums[kind].berth, by_berth(record, kind), weight);
    benefit_amount_add(&group->core_time, core_s);
    benefit_amount_add(&group->energy, energy_j);
    if (record->idle_core_s > 0)
        benefit_amount_add(&benefit->result.idle_core_time, core_s);
    return note(benefit, alike, record, kind, core_s, energy_j);
}

#define WORKED 0.1 /* of the time: beside others who use the same CPUs half of one is much */

/* Has it worked? Else it has waited for steps, which have records. */
static bool has_worked(const struct ledger_record *record)
{
    return record->user_s + record->system_s >= WORKED * record->elapsed_s;
}

/* A batch script or a shell that only starts others; one whose own processes worked, by mpirun or
 * by themselves, and are known, is a step as any other. */
static bool is_shell(const struct ledger_record *record)
{
    return (record->id.step == WIRE_STEP_BATCH || record->id.step == WIRE_STEP_INTERACTIVE) &&
           !(benefit_is_program(record->program) && has_worked(record));
}

/* Whoever was steered has been placed or left inside the node as if not. 0, or -1 with errno. */
static int add_steered(struct benefit *benefit, const struct benefit_alike *alike,
                       const struct ledger_record *record, double weight)
{
    double value[BENEFIT_SCALES];

    if (!benefit->steered || (!alike->is_program && !*alike->tag))
        return 0;
    benefit_values(record, value);
    return steered_add(benefit->steered, alike, value, weight);
}

int benefit_add(struct benefit *benefit, const struct ledger_record *record)
{
    struct benefit_result *result = &benefit->result;
    double weight = core_time(record);
    struct benefit_alike *alike;
    enum benefit_kind kind;

    result->records++;
    if (benefit->steered)
        steered_note(benefit->steered, record);
    if (is_shell(record)) {
        result->shells++;
        return 0;
    }
    result->steps++;
    result->core_s += weight;
    benefit_amount_add(&result->freed, record->size_freed_core_s);
    if (record->idle_core_s > 0)
        benefit_amount_add(&result->on_idle, record->idle_core_s);
    if (record->size_freed_core_s > 0)
        benefit_sum_add(&benefit->size_loss, record->size_loss_measured, weight);
    alike = benefit_programs_add(&benefit->programs, benefit->words, record, weight);
    if (!alike || !report_intern_keep(benefit->nodes, record->node) ||
        add_steered(benefit, alike, record, weight) < 0)
        return -1;
    if (kind_of(record, &kind))
        return add_step(benefit, alike, record, kind, weight);
    benefit_amount_add(&result->why[why_of(record)], weight);
    return 0;
}

const struct benefit_result *benefit_conclude(struct benefit *benefit)
{
    struct benefit_result *result = &benefit->result;

    for (int i = 0; i < BENEFIT_KINDS; i++) {
        result->group[i].slurm = benefit_sum_mean(&benefit->sums[i].slurm);
        result->group[i].berth = benefit_sum_mean(&benefit->sums[i].berth);
        result->group[i].measured = benefit_sum_mean(&benefit->sums[i].measured);
    }
    result->nodes = report_intern_count(benefit->nodes);
    result->bias = benefit_sum_mean(&benefit->bias);
    result->error = benefit_sum_mean(&benefit->error);
    result->size_loss = benefit_sum_mean(&benefit->size_loss);
    benefit_programs_conclude(&benefit->programs, result);
    benefit_judge(result);
    if (benefit->steered)
        steered_conclude(benefit->steered, &result->steering);
    return result;
}
