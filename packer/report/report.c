/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - see report.h: records are kept as rows, sorted once, and merged on a walk through them.
 */
#include "packer/report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/report/allocation.h"
#include "packer/report/calendar.h"
#include "packer/report/intern.h"
#include "packer/report/join.h"
#include "packer/report/node_list.h"
#include "enum_table.h"

const char *const TABLE(report_by_name, REPORT_BYS) = {
    ROW(REPORT_BY_NOTHING) = "nothing", ROW(REPORT_BY_USER) = "user",
    ROW(REPORT_BY_ACCOUNT) = "account", ROW(REPORT_BY_PARTITION) = "partition",
    ROW(REPORT_BY_NODE) = "node",       ROW(REPORT_BY_DAY) = "day",
    ROW(REPORT_BY_MONTH) = "month",
};
TABLE_COMPLETE(report_by_name);

#define WORDS_KEPT 4096 /* by an empty report: the next records have many of them, too */

struct report {
    struct report_row *row;
    size_t n, room;
    struct report_row **order; /* [n] sorted for the walk */
    size_t order_room;
    struct report_intern *words;
    const struct report_how *how;
    struct calendar day, month; /* of groups */
};

/* ---- by what ---- */

size_t report_keys_count(const struct report_keys *keys)
{
    size_t n = 0;

    while (keys && n < REPORT_KEYS_MOST && keys->by[n] != REPORT_BY_NOTHING)
        n++;
    return n;
}

bool report_keys_have(const struct report_keys *keys, enum report_by by)
{
    size_t n = report_keys_count(keys);

    for (size_t i = 0; i < n; i++)
        if (keys->by[i] == by)
            return true;
    return false;
}

bool report_keys_divide(const struct report_keys *keys)
{
    return report_keys_have(keys, REPORT_BY_NODE) || report_keys_have(keys, REPORT_BY_DAY) ||
           report_keys_have(keys, REPORT_BY_MONTH);
}

/* ---- records ---- */

struct report *report_new(void)
{
    struct report *report = calloc(1, sizeof(*report));

    if (!report)
        return NULL;
    report->words = report_intern_new();
    if (!report->words) {
        free(report);
        return NULL;
    }
    report->month.months = true;
    return report;
}

void report_free(struct report *report)
{
    if (!report)
        return;
    free(report->row);
    free(report->order);
    report_intern_free(report->words);
    free(report);
}

void report_set(struct report *report, const struct report_how *how)
{
    report->how = how;
}

void report_clear(struct report *report)
{
    report->n = 0;
    if (report_intern_count(report->words) > WORDS_KEPT)
        report_intern_clear(report->words);
}

size_t report_records(const struct report *report)
{
    return report->n;
}

const struct report_row *report_record(const struct report *report, size_t i)
{
    return &report->row[i];
}

static const char *keep(void *words, const char *text)
{
    return report_intern_keep(words, text);
}

/* Keeps the row's texts; most are those of the row before. */
static int keep_texts(struct report *report, struct report_row *row)
{
    const struct report_row *before = report->n ? &report->row[report->n - 1] : NULL;

    for (int i = 0; i < REPORT_TEXTS; i++) {
        if (before && strcmp(before->text[i], row->text[i]) == 0)
            row->text[i] = before->text[i];
        else
            row->text[i] = keep(report->words, row->text[i]);
        if (!row->text[i])
            return -1;
    }
    return 0;
}

static int append(struct report *report, const struct report_row *row)
{
    struct report_row *added;

    if (array_grow(&report->row, &report->room, report->n + 1, sizeof(*added)) < 0)
        return -1;
    added = &report->row[report->n++];
    *added = *row;
    if (report->how) {
        double energy_j = report_energy_j(&row->energy[REPORT_ENERGY]);

        added->number[REPORT_COST] =
            report_terms_cost_of(&report->how->terms, energy_j, row->start_ms, row->end_ms);
        added->number[REPORT_CO2] =
            report_terms_co2_of(&report->how->terms, energy_j, row->start_ms, row->end_ms);
    }
    return 0;
}

/* Returns the first limit behind a time, both in Unix milliseconds. */
static int64_t next_limit(struct report *report, int64_t at_ms)
{
    struct calendar *calendar = report->how->at == REPORT_BY_DAY ? &report->day : &report->month;
    int64_t until_ms = report->how->until * 1000;

    if ((report->how->at != REPORT_BY_DAY && report->how->at != REPORT_BY_MONTH) ||
        !calendar_find(calendar, at_ms / 1000) || calendar->next * 1000 <= at_ms)
        return until_ms;
    return calendar->next * 1000 < until_ms ? calendar->next * 1000 : until_ms;
}

/* Adds the parts of a row that the limits make of it: of what took no time one, or none. */
static int append_parts(struct report *report, const struct report_row *row)
{
    int64_t from_ms = report->how->since * 1000, until_ms = report->how->until * 1000;
    int64_t at_ms = row->start_ms > from_ms ? row->start_ms : from_ms, next_ms;
    struct report_row part;

    if (row->end_ms <= row->start_ms)
        return row->start_ms >= from_ms && row->start_ms < until_ms ? append(report, row) : 0;
    for (; at_ms < row->end_ms && at_ms < until_ms; at_ms = next_ms) {
        next_ms = next_limit(report, at_ms);
        if (next_ms > row->end_ms)
            next_ms = row->end_ms;
        report_divide(row, at_ms, next_ms, &part);
        if (append(report, &part) < 0)
            return -1;
    }
    return 0;
}

int report_add(struct report *report, const struct ledger_record *record)
{
    struct report_row row;

    report_row_of(record, &row);
    if (keep_texts(report, &row) < 0)
        return -1;
    return report->how && report->how->divide ? append_parts(report, &row) : append(report, &row);
}

/* ---- the order ---- */

/* What was divided ran before its end; else its end counts, in whole seconds as it is shown. */
static const char *name_period(struct report *report, struct calendar *calendar,
                               const struct report_row *row)
{
    bool divided = report->how && report->how->divide && row->end_ms > row->start_ms;

    if (!calendar_find(calendar, divided ? (row->end_ms - 1) / 1000 : row->end))
        return "";
    return keep(report->words, calendar->name);
}

static const char *name_user(struct report *report, const struct report_row *row)
{
    char uid[16];

    if (*row->text[REPORT_USER])
        return row->text[REPORT_USER];
    snprintf(uid, sizeof(uid), "%.0f", row->number[REPORT_UID]);
    return keep(report->words, uid);
}

static const char *name_group(struct report *report, const struct report_row *row,
                              enum report_by by)
{
    switch (by) {
    case REPORT_BY_USER:
        return name_user(report, row);
    case REPORT_BY_ACCOUNT:
        return row->text[REPORT_ACCOUNT];
    case REPORT_BY_PARTITION:
        return row->text[REPORT_PARTITION];
    case REPORT_BY_NODE:
        return row->text[REPORT_NODES];
    case REPORT_BY_DAY:
        return name_period(report, &report->day, row);
    case REPORT_BY_MONTH:
        return name_period(report, &report->month, row);
    case REPORT_BY_NOTHING:
    case REPORT_BYS:
        break;
    }
    return "";
}

static int name_groups(struct report *report, struct report_row *row,
                       const struct report_keys *keys)
{
    for (size_t i = 0; i < REPORT_KEYS_MOST; i++) {
        row->group[i] = name_group(report, row, keys ? keys->by[i] : REPORT_BY_NOTHING);
        if (!row->group[i])
            return -1;
    }
    return 0;
}

static int by_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Returns -1 where they are not known. */
static int64_t restarts_of(const struct report_row *row)
{
    return isnan(row->number[REPORT_RESTARTS]) ? -1 : (int64_t)row->number[REPORT_RESTARTS];
}

static int compare_group(const struct report_row *a, const struct report_row *b)
{
    int order = 0;

    for (size_t i = 0; i < REPORT_KEYS_MOST && order == 0; i++)
        order = by_text(a->group[i], b->group[i]);
    return order;
}

/* Is it of the same job: the restarts of a job are jobs of their own, as with sacct -D. */
static int compare_job(const struct report_row *a, const struct report_row *b)
{
    int order = compare_group(a, b);

    if (order == 0)
        order = by_number(a->id.job, b->id.job);
    if (order == 0)
        order = by_text(a->text[REPORT_CLUSTER], b->text[REPORT_CLUSTER]);
    if (order == 0) /* where the cluster is not known, a number is several users' */
        order = by_number((int64_t)a->number[REPORT_UID], (int64_t)b->number[REPORT_UID]);
    return order ? order : by_number(restarts_of(a), restarts_of(b));
}

/* Slurm's own steps are below 0 then: interactive, batch, 0, 1, .. */
static int compare_step(const struct report_row *a, const struct report_row *b)
{
    int order = compare_job(a, b);

    if (order == 0)
        order =
            by_number((int32_t)wire_step_number(a->id.step), (int32_t)wire_step_number(b->id.step));
    return order ? order : by_number(a->id.step, b->id.step);
}

static int compare(const void *a, const void *b)
{
    const struct report_row *left = *(struct report_row *const *)a;
    const struct report_row *right = *(struct report_row *const *)b;
    int order = compare_step(left, right);

    if (order == 0)
        order = by_number(left->start, right->start);
    return order ? order : by_text(left->text[REPORT_NODES], right->text[REPORT_NODES]);
}

static int sort(struct report *report, const struct report_keys *keys)
{
    bool sorted = true;

    if (array_grow(&report->order, &report->order_room, report->n + 1, sizeof(*report->order)) < 0)
        return -1;
    for (size_t i = 0; i < report->n; i++) {
        struct report_row *row = &report->row[i];

        if (name_groups(report, row, keys) < 0)
            return -1;
        report->order[i] = row;
        sorted = sorted && (i == 0 || compare(&report->order[i - 1], &report->order[i]) <= 0);
    }
    if (!sorted)
        qsort(report->order, report->n, sizeof(*report->order), compare);
    return 0;
}

/* ---- the walk ---- */

struct walk {
    struct report *report;
    const struct report_visitor *visitor;
    bool per_node;
    struct report_row *step; /* of the job at hand */
    size_t steps, room;
};

static struct report_row *next_step(struct walk *walk)
{
    if (array_grow(&walk->step, &walk->room, walk->steps + 1, sizeof(*walk->step)) < 0)
        return NULL;
    return &walk->step[walk->steps++];
}

/* The nodes of the records [from, to) as a list, and their number. */
static int name_nodes(struct walk *walk, size_t from, size_t to, struct report_row *row)
{
    struct report_row *const *order = walk->report->order;
    const char **name, *first = order[from]->text[REPORT_NODES];
    size_t n = 0;
    char *text;

    row->number[REPORT_NNODES] = 1;
    row->text[REPORT_NODES] = first;
    while (from < to && order[from]->text[REPORT_NODES] == first)
        from++;
    if (from == to)
        return 0;
    name = malloc((to - from + 1) * sizeof(*name));
    if (!name)
        return -1;
    name[n++] = first;
    for (; from < to; from++)
        if (order[from]->text[REPORT_NODES] != name[n - 1])
            name[n++] = order[from]->text[REPORT_NODES];
    text = node_list_compress(name, &n);
    free(name);
    if (!text)
        return -1;
    row->number[REPORT_NNODES] = (double)n;
    row->text[REPORT_NODES] = keep(walk->report->words, text);
    free(text);
    return row->text[REPORT_NODES] ? 0 : -1;
}

/* The steps of the job's records [from, to), or each record by itself. */
static int gather_steps(struct walk *walk, size_t from, size_t to, bool per_node)
{
    struct report_row *const *order = walk->report->order;

    walk->steps = 0;
    for (size_t i = from, end; i < to; i = end) {
        struct report_row *step = next_step(walk);

        if (!step)
            return -1;
        *step = *order[i];
        for (end = i + 1; end < to && !per_node && compare_step(order[i], order[end]) == 0; end++)
            if (report_merge(step, order[end], REPORT_MERGE_NODES, keep, walk->report->words) < 0)
                return -1;
        report_derive(step);
        if (end - i > 1 && name_nodes(walk, i, end, step) < 0)
            return -1;
    }
    return 0;
}

/* A job ended as its batch script did, as with sacct; without one as the worst of its steps. */
static int exit_of(const struct walk *walk, const struct report_row *job)
{
    for (size_t i = 0; i < walk->steps; i++)
        if (walk->step[i].id.step == WIRE_STEP_BATCH)
            return walk->step[i].exit_status;
    return job->exit_status;
}

static int visit_job(struct walk *walk, size_t from, size_t to, struct report_row *job)
{
    if (gather_steps(walk, from, to, false) < 0)
        return -1;
    *job = walk->step[0];
    job->kind = REPORT_JOB;
    for (size_t i = 1; i < walk->steps; i++)
        if (report_merge(job, &walk->step[i], REPORT_MERGE_STEPS, keep, walk->report->words) < 0)
            return -1;
    report_derive(job);
    job->exit_status = exit_of(walk, job);
    if (to - from > 1 && name_nodes(walk, from, to, job) < 0)
        return -1;
    if (walk->per_node && to - from > walk->steps && gather_steps(walk, from, to, true) < 0)
        return -1;
    return walk->visitor->job ? walk->visitor->job(job, walk->step, walk->steps, walk->visitor->arg)
                              : 0;
}

/* Add a job, or a group, to a total. */
static int add_up(struct report_intern *words, struct report_row *total,
                  const struct report_row *part)
{
    if (total->kind == REPORT_TOTAL)
        return report_merge(total, part, REPORT_MERGE_JOBS, keep, words);
    *total = *part;
    total->kind = REPORT_TOTAL;
    total->id = (struct wire_step_id){0};
    total->array_job = total->array_task = 0;
    total->number[REPORT_NNODES] = total->number[REPORT_TASKS] = NAN;
    total->number[REPORT_CORES_GIVEN] = total->number[REPORT_USED_CORES] = NAN;
    total->number[REPORT_RESTARTS] = total->number[REPORT_EDP_PER_INSTRUCTION] = NAN;
    total->number[REPORT_POWER_W] = NAN;
    total->text[REPORT_JOB_NAME] = total->text[REPORT_PROGRAM] = total->text[REPORT_TAG] = "";
    total->text[REPORT_NODES] = total->text[REPORT_HOME] = total->text[REPORT_CPUS] = "";
    total->text[REPORT_PROPOSED] = total->text[REPORT_KNOWLEDGE] = total->text[REPORT_REASON] = "";
    total->text[REPORT_PLACED] = total->text[REPORT_POLICY] = "";
    return 0;
}

static int visit_group(struct walk *walk, size_t from, size_t to, struct report_row *total)
{
    struct report_row *const *order = walk->report->order;

    total->kind = REPORT_STEP;
    for (size_t i = from, end; i < to; i = end) {
        struct report_row job;
        int rc;

        for (end = i + 1; end < to && compare_job(order[i], order[end]) == 0;)
            end++;
        rc = visit_job(walk, i, end, &job);
        if (rc || add_up(walk->report->words, total, &job) < 0)
            return rc ? rc : -1;
    }
    memcpy(total->group, order[from]->group, sizeof(total->group));
    report_derive(total);
    return walk->visitor->total ? walk->visitor->total(total, walk->visitor->arg) : 0;
}

static int visit_all(struct walk *walk, struct report_row *grand)
{
    struct report_row *const *order = walk->report->order;
    size_t n = walk->report->n;

    grand->kind = REPORT_STEP;
    for (size_t i = 0, end; i < n; i = end) {
        struct report_row total;
        int rc;

        for (end = i + 1; end < n && compare_group(order[i], order[end]) == 0;)
            end++;
        rc = visit_group(walk, i, end, &total);
        if (rc || add_up(walk->report->words, grand, &total) < 0)
            return rc ? rc : -1;
    }
    if (n)
        report_derive(grand);
    return 0;
}

static void name_nobody(struct report_row *sum)
{
    sum->kind = REPORT_TOTAL;
    for (size_t i = 0; i < REPORT_KEYS_MOST; i++)
        sum->group[i] = "";
}

void report_sum_begin(struct report_row *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (int i = 0; i < REPORT_NUMBERS; i++)
        sum->number[i] = NAN;
    for (int i = 0; i < REPORT_TEXTS; i++)
        sum->text[i] = "";
}

int report_sum(struct report_intern *words, struct report_row *sum, const struct report_row *total)
{
    const char *before[REPORT_TEXTS];

    memcpy(before, sum->text, sizeof(before));
    if (add_up(words, sum, total) < 0)
        return -1;
    for (int i = 0; i < REPORT_TEXTS; i++) {
        if (sum->text[i] == before[i]) /* `words` has it */
            continue;
        sum->text[i] = keep(words, sum->text[i]);
        if (!sum->text[i])
            return -1;
    }
    return 0;
}

void report_sum_end(struct report_row *sum)
{
    if (sum->kind == REPORT_TOTAL)
        report_derive(sum);
    name_nobody(sum);
}

int report_walk(struct report *report, const struct report_keys *keys, bool per_node,
                const struct report_visitor *visitor, struct report_row *grand)
{
    static const struct report_visitor nobody;
    struct walk walk = {report, visitor, per_node, NULL, 0, 0};
    struct report_row total;
    int rc;

    if (grand && report_keys_divide(keys)) {
        rc = report_walk(report, NULL, false, &nobody, grand);
        return rc ? rc : report_walk(report, keys, per_node, visitor, NULL);
    }

    if (report_join(report->row, report->n) < 0 || report_allocate(report->row, report->n) < 0 ||
        sort(report, keys) < 0)
        return -1;
    report_sum_begin(&total);
    rc = visit_all(&walk, &total);
    name_nobody(&total);
    if (grand)
        *grand = total;
    free(walk.step);
    return rc;
}
