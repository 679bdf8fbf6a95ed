/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steered - see steered.h */
#include "packer/report/steered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/report/benefit_verdict.h"

/* What a run of a job has measured of a program: means over its records, by core time. */
struct measured_run {
    const struct benefit_alike *alike;
    size_t hour;
    double w[BENEFIT_SCALES], wx[BENEFIT_SCALES];
};

struct steered {
    const struct ledger_hours *hours;
    uint32_t job, restart; /* whose records come now */
    bool any;
    size_t hour;  /* theirs; hours->n: none */
    size_t first; /* of its runs, in `run` */
    struct measured_run *run;
    size_t n, room;
};

struct steered *steered_new(const struct ledger_hours *hours)
{
    struct steered *steered = calloc(1, sizeof(*steered));

    if (steered)
        steered->hours = hours;
    return steered;
}

void steered_free(struct steered *steered)
{
    if (!steered)
        return;
    free(steered->run);
    free(steered);
}

/* ---- reading ---- */

/* Returns the hour of a time; hours->n: it is of none. */
static size_t hour_of(const struct ledger_hours *hours, int64_t at)
{
    size_t from = 0, to = hours->n;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (at >= hours->hour[middle].ends)
            from = middle + 1;
        else
            to = middle;
    }
    return from < hours->n && at >= hours->hour[from].begins ? from : hours->n;
}

void steered_note(struct steered *steered, const struct ledger_record *record)
{
    if (steered->any && record->id.job == steered->job && record->restart == steered->restart)
        return;
    steered->any = true;
    steered->job = record->id.job;
    steered->restart = record->restart;
    steered->hour = hour_of(steered->hours, record->start);
    steered->first = steered->n;
}

static struct measured_run *run_of(struct steered *steered, const struct benefit_alike *alike)
{
    for (size_t i = steered->first; i < steered->n; i++)
        if (steered->run[i].alike == alike)
            return &steered->run[i];
    if (array_grow(&steered->run, &steered->room, steered->n + 1, sizeof(*steered->run)) < 0)
        return NULL;
    steered->run[steered->n] = (struct measured_run){.alike = alike, .hour = steered->hour};
    return &steered->run[steered->n++];
}

int steered_add(struct steered *steered, const struct benefit_alike *alike,
                const double value[BENEFIT_SCALES], double core_s)
{
    struct measured_run *run;

    if (steered->hour == steered->hours->n || !(core_s > 0))
        return 0;
    run = run_of(steered, alike);
    for (int i = 0; run && i < BENEFIT_SCALES; i++)
        if (isfinite(value[i])) {
            run->w[i] += core_s;
            run->wx[i] += core_s * value[i];
        }
    return run ? 0 : -1;
}

/* ---- sums ---- */

/* Runs of a program, or those of one hour: how many, how many of them steered, and their logs. */
struct sums {
    double n, steered, log, steered_log;
};

/* The runs of a program in an hour. */
struct cell {
    size_t program, hour;
    struct sums sums;
};

struct table {
    struct cell *cell; /* [n] */
    size_t n;
    struct sums *program; /* [programs] */
    size_t programs;
    double jobs[BENEFIT_WAYS];
};

static void add_sums(struct sums *sums, const struct sums *other, double sign)
{
    sums->n += sign * other->n;
    sums->steered += sign * other->steered;
    sums->log += sign * other->log;
    sums->steered_log += sign * other->steered_log;
}

/* What a program adds to the estimate: the covariance of steering and time within it, and the
 * variance of steering. */
static void covary(const struct sums *sums, double sign, double *both, double *own)
{
    if (!(sums->n > 0.5)) /* whole numbers, after subtractions */
        return;
    *both += sign * (sums->steered_log - sums->steered * sums->log / sums->n);
    *own += sign * (sums->steered - sums->steered * sums->steered / sums->n);
}

static int by_program(const void *a, const void *b)
{
    const struct measured_run *left = a, *right = b;

    if (left->alike != right->alike)
        return (uintptr_t)left->alike < (uintptr_t)right->alike ? -1 : 1;
    return (left->hour > right->hour) - (left->hour < right->hour);
}

static int by_hour(const void *a, const void *b)
{
    const struct cell *left = a, *right = b;

    return (left->hour > right->hour) - (left->hour < right->hour);
}

/* Returns by what a program's runs are compared: by what more of the rarer way have. */
static enum benefit_scale scale_of(const struct steered *steered, size_t from, size_t to)
{
    size_t n[BENEFIT_SCALES][BENEFIT_WAYS] = {{0}}, rarer[BENEFIT_SCALES];

    for (size_t i = from; i < to; i++)
        for (int s = 0; s < BENEFIT_SCALES; s++)
            n[s][steered->hours->hour[steered->run[i].hour].steered] += steered->run[i].w[s] > 0;
    for (int s = 0; s < BENEFIT_SCALES; s++)
        rarer[s] = n[s][0] < n[s][1] ? n[s][0] : n[s][1];
    return rarer[BENEFIT_BY_SPEED] > rarer[BENEFIT_BY_SLOWDOWN] ? BENEFIT_BY_SPEED
                                                                : BENEFIT_BY_SLOWDOWN;
}

static void take_run(const struct steered *steered, const struct measured_run *run,
                     enum benefit_scale scale, struct table *table)
{
    double x = run->wx[scale] / run->w[scale];
    double log = scale == BENEFIT_BY_SLOWDOWN ? log1p(x) : x;
    bool by_steer = steered->hours->hour[run->hour].steered;
    const struct sums one = {1, by_steer, log, by_steer ? log : 0};
    struct cell *last = table->n ? &table->cell[table->n - 1] : NULL;

    if (!last || last->program != table->programs || last->hour != run->hour) {
        last = &table->cell[table->n++];
        *last = (struct cell){.program = table->programs, .hour = run->hour};
    }
    add_sums(&last->sums, &one, 1);
    add_sums(&table->program[table->programs], &one, 1);
}

/* Takes in the runs of one program; those of one that ran one way only tell nothing, and are taken
 * out again. */
static void take_program(const struct steered *steered, size_t from, size_t to, struct table *table)
{
    enum benefit_scale scale = scale_of(steered, from, to);
    struct sums *sums = &table->program[table->programs];
    size_t before = table->n;

    for (size_t i = from; i < to; i++)
        if (steered->run[i].w[scale] > 0)
            take_run(steered, &steered->run[i], scale, table);
    if (sums->steered > 0 && sums->steered < sums->n) {
        table->jobs[BENEFIT_AS_SLURM] += sums->n - sums->steered;
        table->jobs[BENEFIT_AS_BERTH] += sums->steered;
        table->programs++;
        return;
    }
    *sums = (struct sums){0};
    table->n = before;
}

static int fill(struct steered *steered, struct table *table)
{
    *table = (struct table){.cell = calloc(steered->n + 1, sizeof(*table->cell)),
                            .program = calloc(steered->n + 1, sizeof(*table->program))};
    if (!table->cell || !table->program)
        return -1;
    if (steered->n)
        qsort(steered->run, steered->n, sizeof(*steered->run), by_program);
    for (size_t i = 0, end; i < steered->n; i = end) {
        for (end = i + 1; end < steered->n && steered->run[end].alike == steered->run[i].alike;)
            end++;
        take_program(steered, i, end, table);
    }
    if (table->n)
        qsort(table->cell, table->n, sizeof(*table->cell), by_hour);
    steered->first = steered->n; /* the order is another now */
    steered->any = false;
    return 0;
}

/* ---- the estimate ---- */

struct estimate {
    double log, error; /* of the time's logs: of steering less without */
    size_t hours[BENEFIT_WAYS];
};

/* Returns the estimate without the cells of one hour. */
static double without(const struct table *table, size_t from, size_t to, double both, double own)
{
    for (size_t i = from; i < to; i++) {
        struct sums rest = table->program[table->cell[i].program];

        covary(&rest, -1, &both, &own);
        add_sums(&rest, &table->cell[i].sums, -1);
        covary(&rest, 1, &both, &own);
    }
    return own > 1e-9 ? both / own : NAN;
}

static void estimate(const struct table *table, const struct ledger_hours *hours,
                     struct estimate *of)
{
    double both = 0, own = 0, squares = 0, n;

    *of = (struct estimate){.log = NAN, .error = NAN};
    for (size_t i = 0; i < table->programs; i++)
        covary(&table->program[i], 1, &both, &own);
    if (!(own > 0))
        return;
    of->log = both / own;
    for (size_t i = 0, end; i < table->n; i = end) {
        for (end = i + 1; end < table->n && table->cell[end].hour == table->cell[i].hour;)
            end++;
        squares += pow(without(table, i, end, both, own) - of->log, 2);
        of->hours[hours->hour[table->cell[i].hour].steered]++;
    }
    n = (double)(of->hours[0] + of->hours[1]);
    of->error = sqrt(squares * (n - 1) / n);
}

void steered_conclude(struct steered *steered, struct benefit_steering *result)
{
    struct table table;
    struct estimate of;

    *result = (struct benefit_steering){.known = fill(steered, &table) == 0};
    if (result->known) {
        estimate(&table, steered->hours, &of);
        memcpy(result->hours, of.hours, sizeof(result->hours));
        result->verdict.programs = table.programs;
        result->verdict.slurm_n = (size_t)table.jobs[BENEFIT_AS_SLURM];
        result->verdict.berth_n = (size_t)table.jobs[BENEFIT_AS_BERTH];
        benefit_judge_steering(result, of.log, of.error);
    }
    free(table.cell);
    free(table.program);
}
