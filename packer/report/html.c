/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html - writes the page: page.html, in which are page.css, page.js and, as JSON, all that page.js
 * draws. The figures are the same as those of --json, and their texts those of the table. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/base/text.h"
#include "packer/report/html_impl.h"
#include "packer/report/sacct_time.h"
#include "packer/report/table.h"

#define HOUR_S 3600

/* ---- rows ---- */

static struct json_object *columns_object(const struct report_table *table)
{
    struct json_object *list = json_object_new_array(), *column;

    for (size_t i = 0; i < table->columns; i++) {
        const struct report_field *field = table->column[i].field;

        column = json_object_new_object();
        json_add_text(column, "key", table->column[i].key);
        json_add_text(column, "title",
                      field->form == REPORT_FORM_GROUP ? "User" : table->column[i].title);
        json_add_bool(column, "figure", field->form >= REPORT_FORM_SPAN);
        json_append(list, column);
    }
    return list;
}

static struct json_object *row_object(const struct report_table *table,
                                      const struct report_row *row)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();
    char text[REPORT_CELL_MAX];

    for (size_t i = 0; i < table->columns; i++) {
        report_format_cell(row, table->column[i].field, &table->terms, text);
        json_append(list, json_object_new_string(text));
    }
    json_add(object, "value", report_table_object(table, row));
    json_add(object, "text", list);
    return object;
}

/* Adds the first n of `of` rows, with these columns, and with those that the site wants. */
static struct json_object *add_rows(const struct report_html *page, struct json_object *data,
                                    const char *key, const char *format, const char *site,
                                    const struct report_row *row, size_t n, size_t of)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();
    struct report_table table = {.terms = page->about.terms};
    struct berth_error err;
    char all[512];

    snprintf(all, sizeof(all), "%s%s%s", format, site && *site ? "," : "", site ? site : "");
    json_add(data, key, object);
    json_add_u64(object, "of", of);
    json_add(object, "rows", list);
    if (report_columns_parse(all, &table.column, &table.columns, &err) < 0)
        table.columns = 0;
    json_add(object, "columns", columns_object(&table));
    for (size_t i = 0; i < n; i++)
        json_append(list, row_object(&table, &row[i]));
    free(table.column);
    return object;
}

/* A price and CO2 have a place where the site has told what a kWh is to it. */
static void add_total(const struct report_html *page, struct json_object *data)
{
    char format[256];

    snprintf(format, sizeof(format),
             "Energy%s%s,EDP,AvePower,Avoided,Jobs,Steps,CoreHours,UnusedHours,Metered,Records,"
             "Cluster,EnergySource,IdleEnergy,CountersSource,SlowdownSource",
             report_terms_price(&page->about.terms) ? ",Cost" : "",
             report_terms_co2(&page->about.terms) ? ",CO2" : "");
    add_rows(page, data, "total", format, NULL, &page->grand, 1, 1);
}

static void add_tables(const struct report_html *page, struct json_object *data)
{
    bool price = report_terms_price(&page->about.terms);
    const char *of_user = price ? "Group,Jobs,Steps,CoreHours,UnusedHours,Energy,Cost,AvePower,EDP,"
                                  "SlowdownObs,Avoided,Metered"
                                : "Group,Jobs,Steps,CoreHours,UnusedHours,Energy,AvePower,EDP,"
                                  "SlowdownObs,Avoided,Metered";
    size_t users = page->users < PAGE_ROWS ? page->users : PAGE_ROWS;

    add_rows(page, data, "users", of_user, page->about.fields, page->user, users, page->users);
    add_rows(page, data, "all", of_user, page->about.fields, &page->grand, 1, 1);
    add_rows(page, data, "jobs",
             price ? "UID,JobID,JobName,User,Account,NCPUS,Elapsed,Energy,Cost,EDP,SlowdownObs,"
                     "Avoided,State"
                   : "UID,JobID,JobName,User,Account,NCPUS,Elapsed,Energy,AvePower,EDP,SlowdownObs,"
                     "Avoided,State",
             page->about.fields, page->job, page->kept, page->jobs);
}

/* Single steps are drawn as long as they are few. */
static void add_steps(const struct report_html *page, struct json_object *data)
{
    size_t n = page->records > PAGE_STEPS ? 0 : page->steps;

    json_add_u64(data, "records", page->records);
    json_add_u64(add_rows(page, data, "steps",
                          "Cluster,NodeList,JobID,JobName,User,UID,CPUs,Home,Start,End,Elapsed,"
                          "Energy",
                          NULL, page->step, n, page->steps),
                 "most", PAGE_STEPS);
}

/* ---- time ---- */

/* Returns [[from, seconds east of UTC]..] of this machine's time: a browser's may be another. */
static struct json_object *zone_of(int64_t from, int64_t to)
{
    struct json_object *list = json_object_new_array(), *change;
    long offset = 0;

    for (int64_t at = from; at <= to; at += HOUR_S) {
        time_t seconds = (time_t)at;
        struct tm tm;
        long its = localtime_r(&seconds, &tm) ? tm.tm_gmtoff : 0;

        if (at != from && its == offset)
            continue;
        offset = its;
        change = json_object_new_array();
        json_append(change, json_object_new_int64(at));
        json_append(change, json_object_new_int64(offset));
        json_append(list, change);
    }
    return list;
}

/* The time from left to right: what the report is of, as far as steps ran in it. */
static void add_axis(const struct report_html *page, struct json_object *data)
{
    struct json_object *axis = json_object_new_object();
    int64_t since = page->about.since, until = page->about.until;
    int64_t from = page->records && page->from > since ? page->from : since;
    int64_t to = page->to < until ? page->to : until;

    if (to <= from)
        to = from + 1;
    json_add_number(axis, "from", (double)from);
    json_add_number(axis, "to", (double)to);
    json_add(axis, "zone", zone_of(from, to));
    json_add(data, "axis", axis);
}

static void add_moment(struct json_object *data, const char *key, int64_t at)
{
    char text[64];

    sacct_time_format(at, text, sizeof(text));
    if (strlen(text) > 10 && text[10] == 'T')
        text[10] = ' ';
    json_add_text(data, key, at > 0 ? text : NULL);
}

static void add_power(const struct page_watts *watts, struct json_object *data)
{
    struct json_object *power = json_object_new_object();
    size_t n = watts->any ? (size_t)(watts->last - watts->first + 1) : 0;

    json_add_number(power, "width_s", (double)watts->width_s);
    json_add_number(power, "first", (double)watts->first);
    json_add(power, "joule", json_new_list(n, &json_number, watts->joule, sizeof(*watts->joule)));
    json_add(data, "power", power);
}

static void add_slowdowns(const struct page_counts *counts, struct json_object *data)
{
    static const struct json_field count = {.kind = JSON_UNSIGNED, .size = sizeof(unsigned)};
    struct json_object *slowdowns = json_object_new_object();

    json_add(slowdowns, "from",
             json_new_list(PAGE_CLASSES, &json_number, page_class_pct, sizeof(*page_class_pct)));
    json_add(slowdowns, "n",
             json_new_matrix(PAGE_CLASSES, PAGE_KINDS, &count, counts->n, sizeof(unsigned)));
    json_add(data, "slowdowns", slowdowns);
}

/* ---- what berth is worth ---- */

/* How many there are of each list, of which the result has the greatest. */
static void add_benefit(const struct report_html *page, struct json_object *data)
{
    const struct benefit_about about = {page->about.since, page->about.until};
    const struct benefit_result *result = page->benefit;
    struct json_object *of = json_object_new_object();

    json_add(data, "benefit", result ? benefit_json(result, &about) : NULL);
    json_add(data, "of", of);
    if (!result)
        return;
    json_add_u64(of, "gained", result->all_gained);
    json_add_u64(of, "lost", result->all_lost);
    json_add_u64(of, "gained_predicted", result->all_winners);
    json_add_u64(of, "lost_predicted", result->all_losers);
}

/* ---- the page ---- */

static void add_all(struct report_html *page, struct json_object *data)
{
    page_conclude(page);
    json_add_text(data, "version", PACKAGE_VERSION);
    json_add_text(data, "ledger", page->about.ledger);
    add_moment(data, "now", page->about.now);
    add_moment(data, "since", page->about.since);
    add_moment(data, "until", page->about.until);
    add_total(page, data);
    add_tables(page, data);
    add_steps(page, data);
    add_axis(page, data);
    add_power(&page->watts, data);
    add_slowdowns(&page->counts, data);
    add_benefit(page, data);
    page_days_add_to(page, data);
}

/* Writes JSON that stands in a page: there "<" might end the script that it is in. Outside of its
 * texts JSON has none. */
static int put_data(FILE *out, const char *json)
{
    char *clean = NULL;
    size_t length;
    FILE *text = open_memstream(&clean, &length);

    if (!text)
        return -1;
    text_put_json(text, json);
    if (fclose(text) != 0) {
        free(clean);
        return -1;
    }
    for (const char *at = clean; *at; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            putc(*at, out);
    free(clean);
    return 0;
}

static int put_report(struct report_html *page, FILE *out)
{
    struct json_object *data = json_object_new_object();
    const char *json;
    int rc = -1;

    errno = 0;
    if (data)
        add_all(page, data);
    if (data && errno != ENOMEM &&
        (json = json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN |
                                                         JSON_C_TO_STRING_NOSLASHESCAPE))) {
        fputs(page_head, out);
        rc = put_data(out, json);
        fputs(page_tail, out);
    }
    json_object_put(data);
    return rc < 0 || fflush(out) != 0 || ferror(out) ? -1 : 0;
}

/* Writes the page into a file, with the mode that this user gives to files. */
static int put_file(const char *path, const char *text, size_t length)
{
    mode_t mask = umask(0);

    umask(mask);
    return file_replace(path, 0666 & ~mask, FILE_SYNC | FILE_ANY, text, length);
}

int report_html_write(struct report_html *page, const struct benefit_result *benefit,
                      const char *path, struct berth_error *err)
{
    char *text = NULL;
    size_t length;
    FILE *out;
    int rc;

    page->benefit = benefit;
    if (strcmp(path, "-") == 0)
        return put_report(page, stdout) == 0 ? 0 : berth_error_set(err, "stdout: %m");
    out = open_memstream(&text, &length);
    if (!out)
        return berth_no_memory(err);
    rc = put_report(page, out);
    if (fclose(out) != 0 || rc < 0)
        rc = berth_no_memory(err);
    else if (put_file(path, text, length) < 0)
        rc = berth_error_set(err, "%s: %s", path,
                             errno == EINVAL ? "not a regular file" : strerror(errno));
    free(text);
    return rc;
}
