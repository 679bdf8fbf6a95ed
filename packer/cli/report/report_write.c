/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_write - see report_write.h */
#include "packer/cli/report/report_write.h"

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
#define FORMAT_MAX 1024

/* What a table has where nobody says it: a field, its width, and its rank. Those of the lowest
 * ranks that fit the line stand there, in this order. */
struct offered {
    const char *field;
    size_t width;
    int rank;
};

static const struct offered of_steps[] = {
    {"JobID%-12", 12, 0}, {"JobName%10", 10, 0}, {"User%8", 8, 0},  {"Account%10", 10, 2},
    {"NCPUS%5", 5, 0},    {"Elapsed%10", 10, 0}, {"State%9", 9, 1}, {"ExitCode%8", 8, 4},
    {"Energy%9", 9, 0},   {"AvePower%9", 9, 3},  {"EDP%10", 10, 0}, {"Avoided%7", 7, 0},
};
static const struct offered of_totals[] = {
    {"Jobs%6", 6, 0},    {"Steps%6", 6, 1},    {"CoreHours%9", 9, 0}, {"UnusedHours%11", 11, 1},
    {"Energy%9", 9, 0},  {"AvePower%9", 9, 3}, {"EDP%10", 10, 4},     {"SlowdownObs%11", 11, 2},
    {"Avoided%7", 7, 2}, {"Metered%9", 9, 5},
};
#define RANKS 6
#define GROUP_WIDTH 12
#define OFFERED(list) (list), sizeof(list) / sizeof((list)[0])

/* Writes the fields that fit a line of stdout into `format`, as --format takes them, where `taken`
 * columns are taken already. Without a table there is no line to fit. */
static void offer(const struct offered *list, size_t n, bool table, size_t taken,
                  char format[FORMAT_MAX])
{
    size_t columns = ctl_columns(), used = strlen(format);
    bool fits[32] = {false};

    if (columns == 0)
        columns = COLUMNS_WITHOUT_TERMINAL;
    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < n; i++) {
            if (list[i].rank != rank)
                continue;
            if (table && taken + list[i].width > columns)
                rank = RANKS; /* nothing of less worth stands in its place */
            else
                fits[i] = true;
            taken += list[i].width + 1;
        }
    for (size_t i = 0; i < n; i++)
        if (fits[i] && used < FORMAT_MAX - 32)
            used += (size_t)snprintf(format + used, FORMAT_MAX - used, "%s%s", used ? "," : "",
                                     list[i].field);
}

/* Puts what stands for "Group" as often as there are words of --by, each with its own. */
static int name_groups(const struct report_args *args, struct report_column **column, size_t *n,
                       struct berth_error *err)
{
    static const char *const TABLE(title, REPORT_BYS) = {
        ROW(REPORT_BY_NOTHING) = "Group",   ROW(REPORT_BY_USER) = "User",
        ROW(REPORT_BY_ACCOUNT) = "Account", ROW(REPORT_BY_PARTITION) = "Partition",
        ROW(REPORT_BY_NODE) = "Node",       ROW(REPORT_BY_DAY) = "Day",
        ROW(REPORT_BY_MONTH) = "Month",
    };
    TABLE_COMPLETE(title);
    struct report_column *all = calloc(*n * REPORT_KEYS_MOST + 1, sizeof(*all));
    size_t used = 0;

    if (!all)
        return berth_no_memory(err);
    for (size_t i = 0; i < *n; i++) {
        if (!args->by_given || (*column)[i].field->form != REPORT_FORM_GROUP) {
            all[used++] = (*column)[i];
            continue;
        }
        for (size_t k = 0; k < args->keys; k++) {
            all[used] = report_column_group(k);
            all[used].width = (*column)[i].width;
            all[used].title = title[args->by.by[k]];
            all[used++].key = report_by_name[args->by.by[k]];
        }
    }
    free(*column);
    *column = all;
    *n = used;
    return 0;
}

/* Writes the columns of a table that nobody has named: those of the site at its end. */
static int offer_all(const struct report_args *args, const char *site, char format[FORMAT_MAX],
                     struct berth_error *err)
{
    bool table = args->shape == REPORT_SHAPE_TABLE;
    struct report_column *column;
    size_t n = 0, taken = args->by_given ? args->keys * (GROUP_WIDTH + 1) : 0;

    if (site[0] && report_columns_parse(site, &column, &n, err) < 0)
        return berth_error_before(err, "report_fields of berth.conf: ");
    for (size_t i = 0; i < n; i++)
        taken += (size_t)abs(column[i].width) + 1;
    if (site[0])
        free(column);
    strcpy(format, args->by_given ? "Group%-12" : "");
    if (args->by_given)
        offer(OFFERED(of_totals), table, taken, format);
    else
        offer(OFFERED(of_steps), table, taken, format);
    if (site[0])
        snprintf(format + strlen(format), FORMAT_MAX - strlen(format), ",%s", site);
    return 0;
}

int report_choose_columns(const struct report_args *args, const char *site,
                          struct report_column **column, size_t *n, struct berth_error *err)
{
    bool whole = args->shape == REPORT_SHAPE_CSV || args->shape == REPORT_SHAPE_JSON;
    char format[FORMAT_MAX];

    if (!args->format && whole && !args->by_given)
        return report_columns_all(column, n, err);
    if (!args->format && offer_all(args, site, format, err) < 0)
        return -1;
    if (report_columns_parse(args->format ? args->format : format, column, n, err) < 0)
        return args->format ? berth_error_before(err, "--format: ") : -1;
    return name_groups(args, column, n, err);
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

static int put_total(struct report_writing *writing, const struct report_row *total)
{
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
    if (report_terms_price(&writing->put.terms))
        fprintf(writing->put.out, "\"currency\":\"%s\",", writing->put.terms.currency);
    for (size_t i = 0; i < args->keys; i++)
        fprintf(writing->put.out, "%s%s", i ? "," : "\"by\":\"", report_by_name[args->by.by[i]]);
    fputs(args->by_given ? "\",\"totals\":[" : "\"jobs\":[", writing->put.out);
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

static void begin_rows(struct report_writing *writing)
{
    setvbuf(writing->put.out, NULL, _IOFBF, 1 << 16);
    errno = 0;
    if (writing->put.shape == REPORT_SHAPE_JSON)
        begin_json(writing);
    else
        report_table_header(&writing->put);
}

int report_writing_begin(struct report_writing *writing)
{
    writing->totals = report_totals_new(&writing->args->by);
    if (!writing->totals)
        return -1;
    if (!writing->args->by_given)
        begin_rows(writing);
    return 0;
}

int report_writing_put(struct report_writing *writing, struct report *report)
{
    const struct report_visitor jobs = {.job = put_job, .arg = writing};

    return report_totals_add(writing->totals, report, writing->args->per_node,
                             writing->args->by_given ? NULL : &jobs) == 0
               ? 0
               : -1;
}

/* Writes the totals, which are all known by now: their columns are as wide as they need. */
static int put_totals(struct report_writing *writing, const struct report_row *total, size_t n,
                      const struct report_row *grand)
{
    if (writing->put.shape == REPORT_SHAPE_TABLE)
        for (size_t i = 0; i <= n; i++)
            report_table_widen(&writing->put, i < n ? &total[i] : grand);
    begin_rows(writing);
    for (size_t i = 0; i < n; i++)
        if (put_total(writing, &total[i]) < 0)
            return -1;
    return 0;
}

int report_writing_end(struct report_writing *writing)
{
    struct report_row grand, *total;
    size_t n;
    int rc = 0;

    total = report_totals_conclude(writing->totals, &n, &grand);
    if (writing->args->by_given)
        rc = put_totals(writing, total, n, &grand);
    if (rc == 0 && writing->put.shape == REPORT_SHAPE_JSON)
        rc = end_json(writing, &grand);
    else if (rc == 0)
        put_grand(writing, &grand);
    report_totals_free(writing->totals);
    writing->totals = NULL;
    return rc;
}
