/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_write - see report_write.h */
#include "packer/cli/report_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "enum_table.h"

/* ---- columns ---- */

#define COLUMNS_WITHOUT_TERMINAL 80
#define FORMAT_MAX 256

/* What a table has where nobody says it: a field, and from which width of a line on. The others
 * fill a line of 80. */
struct offered {
    const char *field;
    size_t columns;
};

static const struct offered of_steps[] = {
    {"JobID%-12", 0}, {"JobName%10", 0},   {"User%8", 0},   {"Account%10", 100},
    {"NCPUS%5", 0},   {"Elapsed%10", 0},   {"State%9", 90}, {"ExitCode%8", 120},
    {"Energy%9", 0},  {"AvePower%9", 110}, {"EDP%10", 0},   {"Avoided%7", 0},
};
static const struct offered of_totals[] = {
    {"Group%-12", 0},   {"Jobs%6", 0}, {"Steps%6", 0},        {"CPUTime%11", 0}, {"Energy%9", 0},
    {"AvePower%9", 90}, {"EDP%10", 0}, {"SlowdownObs%11", 0}, {"Avoided%7", 0},  {"Metered%9", 100},
};
#define OFFERED(list) (list), sizeof(list) / sizeof((list)[0])

/* Writes the fields that fit a line of stdout, as --format takes them. Without a table there is no
 * line to fit. */
static void offer(const struct offered *list, size_t n, bool table, char format[FORMAT_MAX])
{
    size_t columns = ctl_columns(), used = 0;

    if (columns == 0)
        columns = COLUMNS_WITHOUT_TERMINAL;
    for (size_t i = 0; i < n; i++)
        if (!table || list[i].columns <= columns)
            used += (size_t)snprintf(format + used, FORMAT_MAX - used, "%s%s", used ? "," : "",
                                     list[i].field);
}

int report_choose_columns(const struct report_args *args, struct report_column **column, size_t *n,
                          struct berth_error *err)
{
    static const char *const TABLE(title, REPORT_BYS) = {
        ROW(REPORT_BY_NOTHING) = "Group",   ROW(REPORT_BY_USER) = "User",
        ROW(REPORT_BY_ACCOUNT) = "Account", ROW(REPORT_BY_PARTITION) = "Partition",
        ROW(REPORT_BY_NODE) = "Node",       ROW(REPORT_BY_DAY) = "Day",
    };
    TABLE_COMPLETE(title);
    bool table = args->shape == REPORT_SHAPE_TABLE;
    char fitting[FORMAT_MAX];
    const char *format = args->format ? args->format : fitting;
    bool all = !args->format && !args->by_given &&
               (args->shape == REPORT_SHAPE_JSON || args->shape == REPORT_SHAPE_CSV);

    if (args->by_given)
        offer(OFFERED(of_totals), table, fitting);
    else
        offer(OFFERED(of_steps), table, fitting);
    if ((all ? report_columns_all(column, n, err) : report_columns_parse(format, column, n, err)) <
        0)
        return -1;
    for (size_t i = 0; i < *n && args->by_given; i++)
        if ((*column)[i].field->form == REPORT_FORM_GROUP) {
            (*column)[i].title = title[args->by];
            (*column)[i].key = report_by_name[args->by];
        }
    return 0;
}

/* ---- rows ---- */

/* Writes an element of {"jobs":[...]} at a time: a hundred thousand jobs need not fit into memory
 * twice. */
static int put_element(struct report_writing *writing, struct json_object *object)
{
    const char *text = object ? json_object_to_json_string_ext(
                                    object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                              : NULL;

    if (text) {
        fputs(writing->written++ ? ",\n" : "\n", writing->put.out);
        text_put_json(writing->put.out, text);
    }
    json_object_put(object);
    return text ? 0 : -1;
}

static int put_job_object(struct report_writing *writing, const struct report_row *job,
                          const struct report_row *steps, size_t n)
{
    struct json_object *object = report_table_object(&writing->put, job), *list;

    if (!object || writing->args->jobs_only)
        return put_element(writing, object);
    list = json_object_new_array();
    for (size_t i = 0; list && i < n; i++)
        json_append(list, report_table_object(&writing->put, &steps[i]));
    json_add(object, "steps", list);
    return put_element(writing, object);
}

static int put_job(const struct report_row *job, const struct report_row *steps, size_t n,
                   void *arg)
{
    struct report_writing *writing = arg;
    bool whole = false;

    if (writing->put.shape == REPORT_SHAPE_JSON)
        return put_job_object(writing, job, steps, n);
    for (size_t i = 0; i < writing->args->jobs; i++)
        whole = whole || writing->args->job[i].step == UINT32_MAX;
    if (writing->args->jobs == 0 || whole || writing->args->jobs_only)
        report_table_row(&writing->put, job);
    for (size_t i = 0; i < n && !writing->args->jobs_only; i++)
        report_table_row(&writing->put, &steps[i]);
    return 0;
}

static int put_total(const struct report_row *total, void *arg)
{
    struct report_writing *writing = arg;

    if (writing->put.shape == REPORT_SHAPE_JSON)
        return put_element(writing, report_table_object(&writing->put, total));
    report_table_row(&writing->put, total);
    return 0;
}

/* A table of steps has its own columns where the user names none: there the first one has room for
 * the word. */
static void put_grand(struct report_writing *writing, const struct report_row *grand)
{
    const struct report_args *args = writing->args;
    bool named = args->by_given || (!args->format && !args->no_header);

    if (named && writing->put.shape == REPORT_SHAPE_TABLE && writing->put.rows > 1)
        report_table_sum(&writing->put, grand, "total");
    if (named && writing->put.shape == REPORT_SHAPE_TABLE && !args->no_header)
        report_format_terms(writing->put.out, grand, &writing->put.terms);
}

/* Writes the beginning of {"since":..,"until":..,"jobs":[..],"total":{..}}. */
static void begin_json(struct report_writing *writing)
{
    const struct report_args *args = writing->args;

    fprintf(writing->put.out, "{\"since\":%lld,\"until\":%lld,", (long long)args->since,
            (long long)args->until);
    if (writing->put.terms.price > 0)
        fprintf(writing->put.out, "\"currency\":\"%s\",", writing->put.terms.currency);
    if (args->by_given)
        fprintf(writing->put.out, "\"by\":\"%s\",\"totals\":[", report_by_name[args->by]);
    else
        fputs("\"jobs\":[", writing->put.out);
}

static int end_json(struct report_writing *writing, const struct report_row *grand)
{
    struct json_object *total = report_table_object(&writing->put, grand);
    const char *text = total ? json_object_to_json_string_ext(total, JSON_C_TO_STRING_PLAIN) : NULL;

    if (text) {
        fputs("],\n\"total\":", writing->put.out);
        text_put_json(writing->put.out, text);
        fputs("}\n", writing->put.out);
    }
    json_object_put(total);
    return text ? 0 : -1;
}

int report_writing_begin(struct report_writing *writing)
{
    writing->keeper = report_new();
    if (!writing->keeper)
        return -1;
    report_sum_begin(&writing->sum);
    setvbuf(writing->put.out, NULL, _IOFBF, 1 << 16);
    errno = 0;
    if (writing->put.shape == REPORT_SHAPE_JSON)
        begin_json(writing);
    else
        report_table_header(&writing->put);
    return 0;
}

int report_writing_put(struct report_writing *writing, struct report *report)
{
    const struct report_args *args = writing->args;
    struct report_visitor visitor = {.arg = writing};
    struct report_row grand;

    if (args->by_given)
        visitor.total = put_total;
    else
        visitor.job = put_job;
    if (report_walk(report, args->by, args->per_node, &visitor, &grand) != 0)
        return -1;
    return report_records(report) == 0 ? 0 : report_sum(writing->keeper, &writing->sum, &grand);
}

int report_writing_end(struct report_writing *writing)
{
    int rc = 0;

    report_sum_end(&writing->sum);
    if (writing->put.shape == REPORT_SHAPE_JSON)
        rc = end_json(writing, &writing->sum);
    else
        put_grand(writing, &writing->sum);
    report_free(writing->keeper);
    writing->keeper = NULL;
    return rc;
}
