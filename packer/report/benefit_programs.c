/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_programs - see benefit_programs.h: a program has its sums, and no record is kept. */
#include "packer/report/benefit_programs.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/wire/wire_program.h"

#define RUNS_LEAST 2 /* of each kind: one alone has no spread */

bool benefit_is_program(const char *name)
{
    return name[0] && (!wire_program_starts_others(name) || wire_program_interprets(name));
}

static void free_alike(void *at)
{
    struct benefit_alike *alike = at;

    free(alike->winner.step);
    free(alike->loser.step);
    free(alike);
}

void benefit_programs_clear(struct benefit_programs *programs)
{
    tdestroy(programs->found, free_alike);
    free(programs->alike);
    *programs = (struct benefit_programs){0};
}

/* ---- reading ---- */

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Equal texts are equal pointers. */
static int by_pointer(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int compare_keys(const void *a, const void *b)
{
    const struct benefit_alike *left = a, *right = b;
    int order = by_number(left->uid, right->uid);

    if (order == 0)
        order = by_number(left->cores, right->cores);
    if (order == 0)
        order = by_pointer(left->program, right->program);
    return order ? order : by_pointer(left->tag, right->tag);
}

static struct benefit_alike *add_alike(struct benefit_programs *programs,
                                       const struct benefit_alike *key)
{
    struct benefit_alike *alike = malloc(sizeof(*alike));

    if (!alike || array_grow(&programs->alike, &programs->room, programs->n + 1,
                             sizeof(struct benefit_alike *)) < 0) {
        free(alike);
        return NULL;
    }
    *alike = *key;
    alike->is_program = benefit_is_program(alike->program);
    if (!tsearch(alike, &programs->found, compare_keys)) {
        free(alike);
        return NULL;
    }
    return programs->alike[programs->n++] = alike;
}

static struct benefit_alike *alike_of(struct benefit_programs *programs,
                                      struct report_intern *words,
                                      const struct ledger_record *record)
{
    struct benefit_alike key = {.user = report_intern_keep(words, record->user),
                                .program = report_intern_keep(words, record->program),
                                .tag = report_intern_keep(words, record->tag),
                                .knowledge = "",
                                .uid = record->uid,
                                .cores = record->cores_given};
    struct benefit_alike *const *found;

    if (!key.user || !key.program || !key.tag)
        return NULL;
    found = tfind(&key, &programs->found, compare_keys);
    return found ? *found : add_alike(programs, &key);
}

/* Puts the step that came last into the sum. */
static void end_step(struct benefit_arm *arm)
{
    if (arm->w > 0)
        benefit_sum_add(&arm->sum, arm->wx / arm->w, arm->w);
    arm->w = arm->wx = 0;
}

static void add_measured(struct benefit_arm *arm, const struct ledger_record *record, double core_s)
{
    if (!isfinite(record->slowdown_observed) || !(record->slowdown_observed > -1))
        return;
    if (record->id.job != arm->step.job || record->id.step != arm->step.step)
        end_step(arm);
    arm->step = record->id;
    arm->w += core_s;
    arm->wx += core_s * record->slowdown_observed;
}

/* Returns what a record is a measurement of; NULL: of nothing that is compared. */
static struct benefit_arm *arm_of(struct benefit_alike *alike, const struct ledger_record *record)
{
    if (!alike->is_program && !*alike->tag)
        return NULL;
    if (strcmp(record->state, "placed") == 0)
        return &alike->berth;
    return strcmp(record->state, "observed") == 0 ||
                   (strcmp(record->state, "left") == 0 && record->moves == 0)
               ? &alike->slurm
               : NULL;
}

struct benefit_alike *benefit_programs_add(struct benefit_programs *programs,
                                           struct report_intern *words,
                                           const struct ledger_record *record, double core_s)
{
    struct benefit_alike *alike = alike_of(programs, words, record);
    struct benefit_arm *arm = alike && core_s > 0 ? arm_of(alike, record) : NULL;

    if (!alike || !(core_s > 0))
        return alike;
    if (arm)
        add_measured(arm, record, core_s);
    alike->steps++;
    alike->unknown += isnan(record->slowdown_predicted);
    alike->core_s += core_s;
    if (record->end > alike->last || alike->steps == 1) {
        alike->last = record->end;
        alike->knowledge = report_intern_keep(words, record->knowledge);
    }
    return alike->knowledge ? alike : NULL;
}

/* ---- the greatest ---- */

bool benefit_rank_takes(const struct benefit_rank *rank, double core_s)
{
    return rank->n < BENEFIT_LIST || fabs(core_s) > fabs(rank->step[rank->n - 1].core_s);
}

/* Puts the step where it belongs by magnitude; of a full list the last one goes. */
static void put_step(struct benefit_step *list, size_t *n, const struct benefit_step *step)
{
    size_t at;

    if (*n == BENEFIT_LIST && fabs(list[*n - 1].core_s) >= fabs(step->core_s))
        return;
    at = *n < BENEFIT_LIST ? (*n)++ : BENEFIT_LIST - 1;
    for (; at > 0 && fabs(list[at - 1].core_s) < fabs(step->core_s); at--)
        list[at] = list[at - 1];
    list[at] = *step;
}

int benefit_rank_put(struct benefit_rank *rank, const struct benefit_step *step)
{
    if (rank->n < BENEFIT_LIST &&
        array_grow(&rank->step, &rank->room, rank->n + 1, sizeof(*step)) < 0)
        return -1;
    put_step(rank->step, &rank->n, step);
    return 0;
}

/* ---- both ways ---- */

enum way { AS_SLURM, AS_BERTH, WAYS };

/* Sums over the programs, each weighing as its core time where berth put it. */
struct both {
    size_t programs, n[WAYS];
    double weight, mean[WAYS];
    double variance[WAYS], squares[WAYS]; /* of the means; and by their degrees of freedom */
    double core_s;
};

/* What a program has measured one way. */
struct measured {
    struct benefit_mean mean;
    double weight, variance, squares; /* of the mean; and by its degrees of freedom */
};

static struct measured measured_of(const struct benefit_arm *arm)
{
    struct benefit_arm whole = *arm;
    double error, freedom;

    end_step(&whole);
    error = benefit_sum_error(&whole.sum, &freedom);
    return (struct measured){benefit_sum_mean(&whole.sum), whole.sum.w, error * error,
                             pow(error, 4) / freedom};
}

/* The half of an interval of a sum of variances, by Welch and Satterthwaite: `squares` are their
 * squares by their degrees of freedom. */
static double half_of(double variance, double squares)
{
    return variance > 0 ? benefit_student(variance * variance / squares) * sqrt(variance) : 0;
}

/* Keeps a program among those that gained or lost most. */
static void note_compared(const struct benefit_compared *of, struct benefit_result *result)
{
    bool gains = of->core_s >= 0;
    struct benefit_compared *list = gains ? result->gain : result->loss;
    size_t *n = gains ? &result->gained : &result->lost, at;

    ++*(gains ? &result->all_gained : &result->all_lost);
    if (*n == BENEFIT_LIST && fabs(list[*n - 1].core_s) >= fabs(of->core_s))
        return;
    at = *n < BENEFIT_LIST ? (*n)++ : BENEFIT_LIST - 1;
    for (; at > 0 && fabs(list[at - 1].core_s) < fabs(of->core_s); at--)
        list[at] = list[at - 1];
    list[at] = *of;
}

/* Notes how many runs the program lacks that lacks least. */
static void note_lack(const struct measured *way, struct benefit_pairs *pairs)
{
    size_t lacks[WAYS];

    for (int i = 0; i < WAYS; i++)
        lacks[i] = way[i].mean.n < RUNS_LEAST ? RUNS_LEAST - way[i].mean.n : 0;
    if (lacks[0] + lacks[1] >= pairs->lacks_slurm + pairs->lacks_berth)
        return;
    pairs->lacks_slurm = lacks[AS_SLURM];
    pairs->lacks_berth = lacks[AS_BERTH];
}

static void add_both(struct both *both, const struct measured *way)
{
    double weight = way[AS_BERTH].weight;

    both->programs++;
    both->weight += weight;
    for (int i = 0; i < WAYS; i++) {
        both->n[i] += way[i].mean.n;
        both->mean[i] += weight * way[i].mean.mean;
        both->variance[i] += weight * weight * way[i].variance;
        both->squares[i] += pow(weight, 4) * way[i].squares;
    }
}

/* Takes in the runs of one program. Returns whether it was measured both ways. */
static bool compare(const struct benefit_alike *alike, struct both *both,
                    struct benefit_result *result)
{
    struct measured way[WAYS];
    struct benefit_compared of = {.user = alike->user,
                                  .program = alike->program,
                                  .tag = alike->tag,
                                  .uid = alike->uid,
                                  .cores = alike->cores};

    way[AS_SLURM] = measured_of(&alike->slurm);
    way[AS_BERTH] = measured_of(&alike->berth);

    if (isnan(way[AS_SLURM].variance) || isnan(way[AS_BERTH].variance)) {
        if (alike->is_program || *alike->tag)
            note_lack(way, &result->pairs);
        return false;
    }
    of.slurm = way[AS_SLURM].mean;
    of.berth = way[AS_BERTH].mean;
    of.less = (struct benefit_mean){of.berth.n, of.slurm.mean - of.berth.mean,
                                    half_of(way[AS_SLURM].variance + way[AS_BERTH].variance,
                                            way[AS_SLURM].squares + way[AS_BERTH].squares)};
    of.core_s = way[AS_BERTH].weight * ((1 + of.slurm.mean) / (1 + of.berth.mean) - 1);
    both->core_s += of.core_s;
    note_compared(&of, result);
    add_both(both, way);
    return true;
}

static struct benefit_mean mean_over(const struct both *both, enum way way)
{
    return (struct benefit_mean){both->n[way], both->mean[way] / both->weight,
                                 half_of(both->variance[way], both->squares[way]) / both->weight};
}

static void conclude_pairs(const struct both *both, struct benefit_pairs *pairs)
{
    double variance = both->variance[AS_SLURM] + both->variance[AS_BERTH];

    pairs->programs = both->programs;
    pairs->slurm = pairs->berth = pairs->less = (struct benefit_mean){0, NAN, NAN};
    pairs->core_s = pairs->error = NAN;
    if (both->programs == 0)
        return;
    pairs->slurm = mean_over(both, AS_SLURM);
    pairs->berth = mean_over(both, AS_BERTH);
    pairs->less = (struct benefit_mean){
        both->programs, pairs->slurm.mean - pairs->berth.mean,
        half_of(variance, both->squares[AS_SLURM] + both->squares[AS_BERTH]) / both->weight};
    pairs->error = sqrt(variance) / both->weight;
    pairs->core_s = both->core_s;
}

/* Takes over what is predicted of the steps of a program that was not measured both ways. */
static void take_predicted(const struct benefit_alike *alike, struct benefit_result *result)
{
    for (size_t i = 0; i < alike->winner.n; i++)
        put_step(result->winner, &result->winners, &alike->winner.step[i]);
    for (size_t i = 0; i < alike->loser.n; i++)
        put_step(result->loser, &result->losers, &alike->loser.step[i]);
    result->all_winners += alike->winner.all;
    result->all_losers += alike->loser.all;
}

/* ---- to be profiled ---- */

/* Is as much known as a profile tells? */
static bool is_profiled(const char *knowledge)
{
    return strcmp(knowledge, "stack distances") == 0 || strcmp(knowledge, "measured pairs") == 0;
}

static int compare_program(const struct benefit_alike *a, const struct benefit_alike *b)
{
    int order = by_number(a->uid, b->uid);

    return order ? order : a->program == b->program ? 0 : strcmp(a->program, b->program);
}

static int in_order(const void *a, const void *b)
{
    const struct benefit_alike *left = *(struct benefit_alike *const *)a;
    const struct benefit_alike *right = *(struct benefit_alike *const *)b;
    int order = compare_program(left, right);

    if (order == 0)
        order = strcmp(left->tag, right->tag);
    return order ? order : by_number(left->cores, right->cores);
}

/* Keeps a program among the first by core time; what was known of it last counts. */
static void rank_program(struct benefit_alike *const *alike, size_t n,
                         struct benefit_result *result)
{
    struct benefit_program program = {
        .user = alike[0]->user, .program = alike[0]->program, .uid = alike[0]->uid};
    const struct benefit_alike *last = alike[0];
    size_t at;

    for (size_t i = 0; i < n; i++) {
        program.steps += alike[i]->steps;
        program.unknown += alike[i]->unknown;
        program.core_s += alike[i]->core_s;
        if (alike[i]->last > last->last)
            last = alike[i];
    }
    program.knowledge = last->knowledge;
    if (program.steps == 0 || is_profiled(last->knowledge))
        return;
    if (result->programs == BENEFIT_LIST) {
        if (result->program[BENEFIT_LIST - 1].core_s >= program.core_s)
            return;
        result->programs--;
    }
    for (at = result->programs++; at > 0 && result->program[at - 1].core_s < program.core_s; at--)
        result->program[at] = result->program[at - 1];
    result->program[at] = program;
}

void benefit_programs_conclude(struct benefit_programs *programs, struct benefit_result *result)
{
    struct benefit_alike **alike = programs->alike;
    struct both both = {.programs = 0};
    size_t n = programs->n;

    result->programs = result->winners = result->losers = result->gained = result->lost = 0;
    result->all_winners = result->all_losers = result->all_gained = result->all_lost = 0;
    result->pairs.lacks_slurm = result->pairs.lacks_berth = RUNS_LEAST;
    if (n)
        qsort(alike, n, sizeof(struct benefit_alike *), in_order);
    for (size_t i = 0; i < n; i++)
        if (!compare(alike[i], &both, result))
            take_predicted(alike[i], result);
    conclude_pairs(&both, &result->pairs);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_program(alike[i], alike[end]) == 0;)
            end++;
        if (alike[i]->is_program)
            rank_program(alike + i, end - i, result);
    }
}
