/* SPDX-License-Identifier: GPL-2.0-or-later */
/* join - see join.h */
#include "packer/report/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR_MS (7LL * 86400 * 1000) /* a job's number that comes again is another job's */
#define CLOCKS_MS (LEDGER_CLOCKS_DIFFER_S * 1000)

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By job and user, and then by time. */
static int compare(const struct report_row *a, const struct report_row *b)
{
    int rc = order(a->id.job, b->id.job);

    if (rc == 0)
        rc = order((int64_t)a->number[REPORT_UID], (int64_t)b->number[REPORT_UID]);
    return rc ? rc : order(a->start_ms, b->start_ms);
}

static int compare_rows(const void *a, const void *b)
{
    return compare(*(struct report_row *const *)a, *(struct report_row *const *)b);
}

static bool is_of_job(const struct report_row *row, const struct report_row *known)
{
    return row->id.job == known->id.job && row->number[REPORT_UID] == known->number[REPORT_UID];
}

/* Milliseconds between the two; 0 where both ran at some time. */
static int64_t apart_ms(const struct report_row *a, const struct report_row *b)
{
    if (a->start_ms > b->end_ms)
        return a->start_ms - b->end_ms;
    return b->start_ms > a->end_ms ? b->start_ms - a->end_ms : 0;
}

/* Could both be of one run? srun's steps are numbered as they start; the same number is the same
 * step, on another node. Slurm's own steps last as long as the job. */
static bool fits(const struct report_row *row, const struct report_row *known)
{
    int32_t a = (int32_t)wire_step_number(row->id.step);
    int32_t b = (int32_t)wire_step_number(known->id.step);
    int64_t later_ms = row->start_ms - known->start_ms;

    if (!is_of_job(row, known) || apart_ms(row, known) > FAR_MS)
        return false;
    if (a == b)
        return llabs(later_ms) <= CLOCKS_MS;
    if (a < 0 || b < 0)
        return true;
    return a > b ? later_ms >= -CLOCKS_MS : later_ms <= CLOCKS_MS;
}

static bool same_run(const struct report_row *a, const struct report_row *b)
{
    return a->number[REPORT_RESTARTS] == b->number[REPORT_RESTARTS] &&
           strcmp(a->text[REPORT_CLUSTER], b->text[REPORT_CLUSTER]) == 0;
}

static bool on_same_node(const struct report_row *a, const struct report_row *b)
{
    return strcmp(a->text[REPORT_NODES], b->text[REPORT_NODES]) == 0;
}

/* Returns which of the rows before and after it in time, each of which may be NULL, is of its run;
 * NULL: neither, or that cannot be told. */
static const struct report_row *choose(const struct report_row *row,
                                       const struct report_row *before,
                                       const struct report_row *after)
{
    before = before && fits(row, before) ? before : NULL;
    after = after && fits(row, after) ? after : NULL;
    if (!before || !after || same_run(before, after))
        return before ? before : after;
    if (strcmp(before->text[REPORT_CLUSTER], after->text[REPORT_CLUSTER]) != 0) {
        if (on_same_node(row, before) == on_same_node(row, after))
            return NULL;
        return on_same_node(row, before) ? before : after;
    }
    return apart_ms(row, before) <= apart_ms(row, after) ? before : after;
}

static void take_over(struct report_row *row, const struct report_row *known)
{
    static const enum report_text said[] = {REPORT_CLUSTER, REPORT_ACCOUNT, REPORT_QOS,
                                            REPORT_PARTITION, REPORT_JOB_NAME};

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        row->text[said[i]] = known->text[said[i]];
    row->number[REPORT_RESTARTS] = known->number[REPORT_RESTARTS];
    row->array_job = known->array_job;
    row->array_task = known->array_task;
}

/* Returns how many of known[n], in order, are not after the row. */
static size_t count_before(struct report_row *const *known, size_t n, const struct report_row *row)
{
    size_t from = 0;

    while (from < n) {
        size_t middle = from + (n - from) / 2;

        if (compare(known[middle], row) <= 0)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

int report_join(struct report_row *row, size_t n)
{
    struct report_row **known = malloc((n + 1) * sizeof(*known));
    size_t m = 0;

    if (!known)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (row[i].said)
            known[m++] = &row[i];
    if (m > 0 && m < n)
        qsort(known, m, sizeof(*known), compare_rows);
    for (size_t i = 0; i < n && m > 0 && m < n; i++) {
        size_t at = row[i].said ? 0 : count_before(known, m, &row[i]);
        const struct report_row *run =
            row[i].said ? NULL
                        : choose(&row[i], at > 0 ? known[at - 1] : NULL, at < m ? known[at] : NULL);

        if (run)
            take_over(&row[i], run);
    }
    free(known);
    return 0;
}
