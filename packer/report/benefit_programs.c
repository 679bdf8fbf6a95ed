/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_programs - see benefit_programs.h: a program has its sums, and no record is kept. */
#include "packer/report/benefit_programs.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "enum_table.h"
#include "packer/base/array.h"
#include "packer/report/variation.h"
#include "packer/wire/wire_program.h"

#define RUNS_LEAST 2 /* of each kind: one alone has no spread */

bool benefit_is_program(const char *name)
{
    return name[0] && (!wire_program_starts_others(name) || wire_program_interprets(name));
}

static void free_alike(void *at)
{
    struct benefit_alike *alike = at;

    for (int way = 0; way < BENEFIT_WAYS; way++)
        for (int scale = 0; scale < BENEFIT_SCALES; scale++) {
            free(alike->arm[way].value[scale].x);
            free(alike->trial[way].value[scale].x);
        }
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

/* Puts the job that came last into the sums. There is room for its values. */
static void end_job(struct benefit_arm *arm)
{
    for (int i = 0; i < BENEFIT_SCALES; i++) {
        double value = arm->wx[i] / arm->w[i];
        double time = i == BENEFIT_BY_SLOWDOWN ? log1p(value) : value;

        if (!(arm->w[i] > 0))
            continue;
        benefit_sum_add(&arm->log[i], time, 1);
        arm->value[i].x[arm->value[i].n++] = time;
        if (i == BENEFIT_BY_SLOWDOWN)
            benefit_sum_add(&arm->slowdown, value, arm->w[i]);
        arm->core_s[i] += arm->w[i];
        arm->w[i] = arm->wx[i] = 0;
    }
}

/* Has room for the value of a job more. 0, or -1 with errno. */
static int make_room(struct benefit_arm *arm)
{
    for (int i = 0; i < BENEFIT_SCALES; i++)
        if (array_grow(&arm->value[i].x, &arm->value[i].room, arm->value[i].n + 1, sizeof(double)) <
            0)
            return -1;
    return 0;
}

void benefit_values(const struct ledger_record *record, double value[BENEFIT_SCALES])
{
    const double TABLE(of, BENEFIT_SCALES) = {
        ROW(BENEFIT_BY_SPEED) = record->core_speed > 0 ? -log(record->core_speed) : NAN,
        ROW(BENEFIT_BY_SLOWDOWN) = record->slowdown_observed > -1 ? record->slowdown_observed : NAN,
    };
    TABLE_COMPLETE(of);

    memcpy(value, of, sizeof(of));
}

/* 0, or -1 with errno. */
static int add_measured(struct benefit_arm *arm, const struct ledger_record *record, double core_s)
{
    double value[BENEFIT_SCALES];

    benefit_values(record, value);
    if (record->id.job != arm->job)
        end_job(arm);
    arm->job = record->id.job;
    if (make_room(arm) < 0)
        return -1;
    for (int i = 0; i < BENEFIT_SCALES; i++) {
        if (!isfinite(value[i]))
            continue;
        arm->w[i] += core_s;
        arm->wx[i] += core_s * value[i];
    }
    return 0;
}

/* Returns which way a record is a measurement of; BENEFIT_WAYS: of none. */
static enum benefit_way way_of(const struct ledger_record *record)
{
    if (strcmp(record->state, "placed") == 0)
        return BENEFIT_AS_BERTH;
    return strcmp(record->state, "observed") == 0 ||
                   (strcmp(record->state, "left") == 0 && record->moves == 0)
               ? BENEFIT_AS_SLURM
               : BENEFIT_WAYS;
}

/* Returns its arm in the trial, whatever became of it then: what the lot said is by chance, and
 * nothing else is; BENEFIT_WAYS: it took no part. */
static enum benefit_way drawn_of(const struct ledger_record *record)
{
    if (strcmp(record->trial, "control") == 0)
        return BENEFIT_AS_SLURM;
    return strcmp(record->trial, "placed") == 0 ? BENEFIT_AS_BERTH : BENEFIT_WAYS;
}

/* 0, or -1 with errno. */
static int compare_later(struct benefit_programs *programs, struct benefit_alike *alike,
                         const struct ledger_record *record, double core_s)
{
    enum benefit_way way = way_of(record), drawn = drawn_of(record);

    if (drawn < BENEFIT_WAYS)
        programs->drawn[drawn]++;
    if (!alike->is_program && !*alike->tag)
        return 0;
    if (way < BENEFIT_WAYS && add_measured(&alike->arm[way], record, core_s) < 0)
        return -1;
    return drawn < BENEFIT_WAYS ? add_measured(&alike->trial[drawn], record, core_s) : 0;
}

struct benefit_alike *benefit_programs_add(struct benefit_programs *programs,
                                           struct report_intern *words,
                                           const struct ledger_record *record, double core_s)
{
    struct benefit_alike *alike = alike_of(programs, words, record);

    if (!alike || !(core_s > 0))
        return alike;
    if (compare_later(programs, alike, record, core_s) < 0)
        return NULL;
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

/* Sums over the programs, each weighing as its core time where berth put it. */
struct both {
    size_t programs, n[BENEFIT_WAYS];
    double weight, log[BENEFIT_WAYS];
    double variance, squares; /* of the logs; and by their degrees of freedom */
    double slowdown[BENEFIT_WAYS], slowdown_weight;
    double core_s;
};

/* What a program has measured one way. */
struct measured {
    struct benefit_mean slowdown; /* its n are jobs */
    double log, core_s;
    double variance, squares; /* of the log; and by its degrees of freedom; NAN: too few jobs */
};

static struct measured measured_of(const struct benefit_arm *arm, enum benefit_scale scale)
{
    const struct benefit_sum *sum = &arm->log[scale];
    double freedom, error = benefit_sum_error(sum, &freedom);
    struct measured of = {.slowdown = benefit_sum_mean(&arm->slowdown),
                          .log = sum->first + sum->wx / sum->w,
                          .core_s = arm->core_s[scale],
                          .variance = error * error,
                          .squares = pow(error, 4) / freedom};

    of.slowdown.n = sum->n;
    return of;
}

static size_t fewer(const struct benefit_arm arm[BENEFIT_WAYS], enum benefit_scale scale)
{
    size_t slurm = arm[BENEFIT_AS_SLURM].log[scale].n, berth = arm[BENEFIT_AS_BERTH].log[scale].n;

    return slurm < berth ? slurm : berth;
}

/* Returns by what a program is compared: by what more of its jobs have. */
static enum benefit_scale scale_of(const struct benefit_arm arm[BENEFIT_WAYS])
{
    return fewer(arm, BENEFIT_BY_SPEED) > fewer(arm, BENEFIT_BY_SLOWDOWN) ? BENEFIT_BY_SPEED
                                                                          : BENEFIT_BY_SLOWDOWN;
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
    size_t lacks[BENEFIT_WAYS];

    for (int i = 0; i < BENEFIT_WAYS; i++)
        lacks[i] = way[i].slowdown.n < RUNS_LEAST ? RUNS_LEAST - way[i].slowdown.n : 0;
    if (lacks[0] + lacks[1] >= pairs->lacks_slurm + pairs->lacks_berth)
        return;
    pairs->lacks_slurm = lacks[BENEFIT_AS_SLURM];
    pairs->lacks_berth = lacks[BENEFIT_AS_BERTH];
}

static void add_both(struct both *both, const struct measured way[BENEFIT_WAYS])
{
    double weight = way[BENEFIT_AS_BERTH].core_s;
    bool slower = !isnan(way[BENEFIT_AS_SLURM].slowdown.mean + way[BENEFIT_AS_BERTH].slowdown.mean);

    both->programs++;
    both->weight += weight;
    both->slowdown_weight += slower ? weight : 0;
    for (int i = 0; i < BENEFIT_WAYS; i++) {
        both->n[i] += way[i].slowdown.n;
        both->log[i] += weight * way[i].log;
        both->variance += weight * weight * way[i].variance;
        both->squares += pow(weight, 4) * way[i].squares;
        both->slowdown[i] += slower ? weight * way[i].slowdown.mean : 0;
    }
}

/* Returns the part of Slurm's time that was less, of a difference of logs, and its interval. */
static struct benefit_part part_of(size_t n, double log, double half)
{
    return (struct benefit_part){n, -expm1(-log), -expm1(-log + half), -expm1(-log - half)};
}

/* Takes in the runs of one program. Returns whether it was measured both ways. */
static bool compare(const struct benefit_alike *alike, const struct benefit_arm arm[BENEFIT_WAYS],
                    struct both *both, struct benefit_result *result)
{
    const enum benefit_scale scale = scale_of(arm);
    const struct measured TABLE(way, BENEFIT_WAYS) = {
        ROW(BENEFIT_AS_SLURM) = measured_of(&arm[BENEFIT_AS_SLURM], scale),
        ROW(BENEFIT_AS_BERTH) = measured_of(&arm[BENEFIT_AS_BERTH], scale),
    };
    TABLE_COMPLETE(way);
    const struct measured *slurm = &way[BENEFIT_AS_SLURM], *berth = &way[BENEFIT_AS_BERTH];
    struct benefit_compared of = {.user = alike->user,
                                  .program = alike->program,
                                  .tag = alike->tag,
                                  .uid = alike->uid,
                                  .cores = alike->cores,
                                  .slurm = slurm->slowdown,
                                  .berth = berth->slowdown};

    if (isnan(slurm->variance) || isnan(berth->variance)) {
        if (alike->is_program || *alike->tag)
            note_lack(way, &result->pairs);
        return false;
    }
    of.less = part_of(berth->slowdown.n, slurm->log - berth->log,
                      half_of(slurm->variance + berth->variance, slurm->squares + berth->squares));
    of.core_s = berth->core_s * expm1(slurm->log - berth->log);
    both->core_s += of.core_s;
    note_compared(&of, result);
    add_both(both, way);
    return true;
}

static struct benefit_mean mean_over(const struct both *both, enum benefit_way way)
{
    return (struct benefit_mean){both->n[way], both->slowdown[way] / both->slowdown_weight, NAN};
}

static void conclude_pairs(const struct both *both, struct benefit_pairs *pairs)
{
    double log = (both->log[BENEFIT_AS_SLURM] - both->log[BENEFIT_AS_BERTH]) / both->weight;

    pairs->programs = both->programs;
    pairs->slurm = pairs->berth = (struct benefit_mean){0, NAN, NAN};
    pairs->less = (struct benefit_part){0, NAN, NAN, NAN};
    pairs->core_s = pairs->error = NAN;
    if (both->programs == 0)
        return;
    pairs->slurm = mean_over(both, BENEFIT_AS_SLURM);
    pairs->berth = mean_over(both, BENEFIT_AS_BERTH);
    pairs->less =
        part_of(both->programs, log, half_of(both->variance, both->squares) / both->weight);
    pairs->error = sqrt(both->variance) / both->weight;
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

/* ---- how much they vary ---- */

/* Puts the program where it belongs, by its jobs; of a full list the last one goes. */
static void note_varied(const struct benefit_varied *of, struct benefit_variation *variation)
{
    size_t at = variation->listed < BENEFIT_LIST ? variation->listed++ : BENEFIT_LIST;

    for (; at > 0 &&
           variation->list[at - 1].n[0] + variation->list[at - 1].n[1] < of->n[0] + of->n[1];
         at--)
        if (at < BENEFIT_LIST)
            variation->list[at] = variation->list[at - 1];
    if (at < BENEFIT_LIST)
        variation->list[at] = *of;
}

/* Takes in how much the runs of one program vary either way. */
static void vary(const struct benefit_alike *alike, const struct benefit_arm arm[BENEFIT_WAYS],
                 struct variation_sum *sum, struct benefit_variation *variation)
{
    const enum benefit_scale scale = scale_of(arm);
    struct benefit_varied of = {.user = alike->user,
                                .program = alike->program,
                                .tag = alike->tag,
                                .uid = alike->uid,
                                .cores = alike->cores};
    struct variation_spread spread[BENEFIT_WAYS];
    struct variation_sum own = {0};
    struct variation_less less;
    bool known = true;

    for (int way = 0; way < BENEFIT_WAYS; way++) {
        known &= variation_spread(arm[way].value[scale].n, arm[way].value[scale].x, &spread[way]);
        of.n[way] = spread[way].n;
        of.cv[way] = spread[way].cv;
    }
    if (!known)
        return;
    variation_add(&own, &spread[BENEFIT_AS_SLURM], &spread[BENEFIT_AS_BERTH]);
    variation_add(sum, &spread[BENEFIT_AS_SLURM], &spread[BENEFIT_AS_BERTH]);
    less = variation_less(&own);
    of.less = (struct benefit_part){of.n[BENEFIT_AS_BERTH], less.mean, less.low, less.high};
    for (int way = 0; way < BENEFIT_WAYS; way++)
        variation->jobs[way] += of.n[way];
    note_varied(&of, variation);
}

static void conclude_variation(const struct variation_sum *sum, struct benefit_variation *variation)
{
    struct variation_less less = variation_less(sum);

    variation->programs = sum->programs;
    variation->less = (struct benefit_part){sum->programs, less.mean, less.low, less.high};
    variation->word = less.low > 0    ? BENEFIT_VARIES_LESS
                      : less.high < 0 ? BENEFIT_VARIES_MORE
                                      : BENEFIT_VARIES_UNTOLD;
}

/* Compares all programs: where there is a trial, by that alone, for what users choose is no chance.
 */
static void compare_all(struct benefit_programs *programs, struct benefit_result *result)
{
    bool trial = programs->drawn[BENEFIT_AS_SLURM] > 0;
    struct both both = {.programs = 0};
    struct variation_sum sum = {0};

    result->variation = (struct benefit_variation){.trial = trial};
    result->pairs.lacks_slurm = result->pairs.lacks_berth = RUNS_LEAST;
    for (size_t i = 0; i < programs->n; i++) {
        const struct benefit_alike *alike = programs->alike[i];
        struct benefit_arm arm[BENEFIT_WAYS]; /* more records may come: theirs stay as they are */

        memcpy(arm, trial ? alike->trial : alike->arm, sizeof(arm));
        end_job(&arm[BENEFIT_AS_SLURM]);
        end_job(&arm[BENEFIT_AS_BERTH]);
        vary(alike, arm, &sum, &result->variation);
        if (!compare(alike, arm, &both, result))
            take_predicted(alike, result);
    }
    conclude_pairs(&both, &result->pairs);
    conclude_variation(&sum, &result->variation);
    result->pairs.control = programs->drawn[BENEFIT_AS_SLURM];
    result->pairs.treated = programs->drawn[BENEFIT_AS_BERTH];
}

void benefit_programs_conclude(struct benefit_programs *programs, struct benefit_result *result)
{
    struct benefit_alike **alike = programs->alike;
    size_t n = programs->n;

    result->programs = result->winners = result->losers = result->gained = result->lost = 0;
    result->all_winners = result->all_losers = result->all_gained = result->all_lost = 0;
    if (n)
        qsort(alike, n, sizeof(struct benefit_alike *), in_order);
    compare_all(programs, result);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_program(alike[i], alike[end]) == 0;)
            end++;
        if (alike[i]->is_program)
            rank_program(alike + i, end - i, result);
    }
}
