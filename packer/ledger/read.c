/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_read - the records that somebody asks for (ledger.h): the filter becomes a query whose
 * values are all parameters. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/ledger/columns.h"
#include "packer/ledger/schema.h"
#include "packer/sql/fields.h"

#define ORDER "\"start\", job, step, cluster, node, restart"
#define PAGE_ORDER "\"end\", " ORDER /* as the indexes of ends have it */

/* A query as it is built: its text, and its parameters in order. */
struct query {
    FILE *out;
    char *text;
    size_t size, n, room;
    bool failed, some; /* out of memory; there is a condition */
    const bool *lacks; /* columns.h */
    struct parameter {
        const char *text; /* NULL: the number */
        int64_t number;
    } * param;
};

static void add_param(struct query *query, const char *text, int64_t number)
{
    if (array_grow(&query->param, &query->room, query->n + 1, sizeof(*query->param)) < 0)
        query->failed = true;
    else
        query->param[query->n++] = (struct parameter){text, number};
}

/* Another condition begins. */
static void begin_condition(struct query *query)
{
    fputs(query->some ? " AND " : " WHERE ", query->out);
    query->some = true;
}

/* The column is one of these. */
static void add_names(struct query *query, const char *column, const char *const *name, size_t n)
{
    if (n == 0)
        return;
    begin_condition(query);
    fprintf(query->out, "\"%s\" IN (", column);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", ?" : "?", query->out);
        add_param(query, name[i], 0);
    }
    fputc(')', query->out);
}

static bool is_number(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length > 0 && length < 11 && text[length] == '\0';
}

static void add_users(struct query *query, const struct ledger_filter *filter)
{
    if (filter->nusers == 0)
        return;
    begin_condition(query);
    for (size_t i = 0; i < filter->nusers; i++) {
        bool number = is_number(filter->user[i]);

        fprintf(query->out, "%s%s = ?", i ? " OR " : "(", number ? "uid" : "\"user\"");
        add_param(query, number ? NULL : filter->user[i],
                  number ? strtoll(filter->user[i], NULL, 10) : 0);
    }
    fputc(')', query->out);
}

/* The same of what Slurm says of a job: what a user said does not count. */
static void add_said(struct query *query, const char *column, const char *const *name, size_t n)
{
    if (n == 0)
        return;
    add_names(query, column, name, n);
    begin_condition(query);
    fputs(ledger_columns_have(query->lacks, "identity") ? "identity IN ('" : "NULL IN ('",
          query->out);
    for (int i = WIRE_SOURCE_NONE + 1; i < WIRE_SOURCES; i++)
        fprintf(query->out, "%s%s", wire_source_name[i], i + 1 < WIRE_SOURCES ? "', '" : "')");
}

/* An array's number means all of its tasks, as in sacct. */
static void add_jobs(struct query *query, const struct ledger_filter *filter)
{
    if (filter->njobs == 0)
        return;
    begin_condition(query);
    for (size_t i = 0; i < filter->njobs; i++) {
        bool all = filter->job[i].step == UINT32_MAX;

        fprintf(query->out, "%s%s", i ? " OR " : "(",
                all ? "job = ? OR array_job = ?" : "(job = ? AND step = ?)");
        add_param(query, NULL, filter->job[i].job);
        add_param(query, NULL, all ? filter->job[i].job : filter->job[i].step);
    }
    fputc(')', query->out);
}

static void add_time(struct query *query, const char *condition, int64_t at)
{
    if (at == 0)
        return;
    begin_condition(query);
    fputs(condition, query->out);
    add_param(query, NULL, at);
}

/* The record is this user's, by his number: a name may be anybody's. */
static void add_uid(struct query *query, const uint32_t *uid)
{
    if (!uid)
        return;
    begin_condition(query);
    fputs("uid = ?", query->out);
    add_param(query, NULL, *uid);
}

/* The record stands behind that one in the order of pages. The index has `end` first, so that is
 * asked for by itself. */
static void add_after(struct query *query, const struct wire_record_place *after)
{
    const int64_t number[] = {after->end, after->start, after->id.job, after->id.step};

    begin_condition(query);
    fputs("(" PAGE_ORDER ") > (?, ?, ?, ?, ?, ?, ?)", query->out);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        add_param(query, NULL, number[i]);
    add_param(query, after->cluster, 0);
    add_param(query, after->node, 0);
    add_param(query, NULL, after->restart);
}

/* Returns since when steps may have ended. */
static int64_t since_of(const struct ledger_filter *filter)
{
    return filter->after && filter->after->end > filter->since ? filter->after->end : filter->since;
}

static int build(struct query *query, const struct ledger_filter *filter, const bool *lacks,
                 struct berth_error *err)
{
    *query = (struct query){.lacks = lacks};
    query->out = open_memstream(&query->text, &query->size);
    if (!query->out)
        return berth_no_memory(err);
    fputs("SELECT ", query->out);
    ledger_columns_put(lacks, query->out);
    fputs(" FROM ledger_record", query->out);
    add_jobs(query, filter);
    add_users(query, filter);
    add_said(query, "account", filter->account, filter->naccounts);
    add_said(query, "partition", filter->partition, filter->npartitions);
    add_names(query, "node", filter->node, filter->nnodes);
    add_names(query, "state", filter->state, filter->nstates);
    add_uid(query, filter->uid);
    add_time(query, "\"end\" >= ?", since_of(filter));
    add_time(query, "\"start\" <= ?", filter->until);
    if (filter->after)
        add_after(query, filter->after);
    if (filter->page)
        fprintf(query->out, " ORDER BY " PAGE_ORDER " LIMIT %zu", filter->page);
    else
        fprintf(query->out, " ORDER BY %s" ORDER, filter->by_job ? "job, " : "");
    if (fclose(query->out) != 0 || query->failed)
        return berth_no_memory(err);
    return 0;
}

/* ---- rows ---- */

/* Run the query, a call for each row. */
static int each(struct sql *sql, const struct query *query,
                int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                struct berth_error *err)
{
    struct sql_statement *row;
    struct ledger_record record;
    int rc;

    if (sql_prepare(sql, query->text, &row, err) < 0)
        return -1;
    for (size_t i = 0; i < query->n; i++)
        if (query->param[i].text)
            sql_bind_text(row, i, query->param[i].text);
        else
            sql_bind_int(row, i, query->param[i].number);
    while ((rc = sql_step(row, err)) == 1) {
        ledger_record_init(&record);
        sql_take_fields(row, 0, ledger_fields, &record);
        if (fn(&record, arg) != 0) {
            rc = 0;
            break;
        }
    }
    sql_finish(row);
    return rc;
}

/* ---- a view ---- */

struct ledger_view {
    struct sql *sql;
    bool *lacks; /* columns.h; NULL: its schema is this berth's */
};

/* Looks whether this berth can read the ledger, and which columns that lacks. */
static int check(struct ledger_view *view, const char *url, struct berth_error *err)
{
    int version = sql_version(view->sql, "ledger", err);

    free(view->lacks);
    view->lacks = NULL;
    if (version < 0)
        return -1;
    if (version == 0)
        return berth_error_set(err, "%.200s: there is no ledger yet", url);
    if (version > ledger_schema)
        return berth_error_set(err, "%.200s: its schema %d is of a newer berth: this one knows %d",
                               url, version, ledger_schema);
    return ledger_columns_find(&view->lacks, view->sql, version, err);
}

int ledger_view_open(struct ledger_view **out, const char *url, const char *defaults_file,
                     struct berth_error *err)
{
    const struct sql_options options = {.defaults = defaults_file, .group = ""};
    struct ledger_view *view = calloc(1, sizeof(*view));

    if (!view)
        return berth_no_memory(err);
    if (sql_open(&view->sql, url, &options, err) == 0 && check(view, url, err) == 0) {
        *out = view;
        return 0;
    }
    ledger_view_close(view);
    return -1;
}

void ledger_view_close(struct ledger_view *view)
{
    if (!view)
        return;
    sql_close(view->sql);
    free(view->lacks);
    free(view);
}

bool ledger_view_is_current(const struct ledger_view *view)
{
    return sql_is_current(view->sql);
}

int ledger_view_read(struct ledger_view *view, const struct ledger_filter *filter,
                     int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                     struct berth_error *err)
{
    struct query query;
    int rc;

    if (view->lacks && check(view, "the ledger", err) < 0) /* somebody may have added them */
        return -1;
    rc = build(&query, filter, view->lacks, err);
    if (rc == 0)
        rc = each(view->sql, &query, fn, arg, err);
    free(query.text);
    free(query.param);
    return rc;
}

int ledger_read(const char *url, const char *defaults_file, const struct ledger_filter *filter,
                int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                struct berth_error *err)
{
    struct ledger_view *view;
    int rc;

    if (ledger_view_open(&view, url, defaults_file, err) < 0)
        return -1;
    rc = ledger_view_read(view, filter, fn, arg, err);
    ledger_view_close(view);
    return rc;
}
