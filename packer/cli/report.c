/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - `berthctl report`: what steps cost that have ended, out of the ledger, with sacct's
 * habits. */
#include "packer/cli/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/base/clock.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/records.h"
#include "packer/cli/verbs.h"
#include "packer/report/benefit.h"
#include "packer/report/html.h"
#include "packer/report/sacct_time.h"

#define PATIENCE_S 2 /* from then on a terminal is told how far it is */

/* ---- reading ---- */

struct reading {
    const struct report_args *args;
    struct report *report;
    struct benefit *benefit; /* NULL: it is not told */
    size_t seen;
    double begun_s, said_s;
    bool terminal;
    int error; /* errno of ours; 0: none */
};

static void say_progress(struct reading *reading)
{
    double now_s;

    if (!reading->terminal || reading->seen % 1024)
        return;
    now_s = clock_s();
    if (now_s - reading->begun_s < PATIENCE_S || now_s - reading->said_s < 0.2)
        return;
    reading->said_s = now_s;
    fprintf(stderr, "\r\033[Kberthctl: report: %zu records read", reading->seen);
}

static bool is_wanted_job(const struct report_args *args, const struct ledger_record *record)
{
    for (size_t i = 0; i < args->jobs; i++) {
        if (job_id_means(&args->job[i], record->id, record->array_job, record->array_task))
            return true;
    }
    return args->jobs == 0;
}

static bool is_wanted_state(const struct report_args *args, const struct ledger_record *record)
{
    if (!args->states)
        return true;
    for (size_t i = 0; i < args->placed.n; i++)
        if (strcmp(args->placed.word[i], record->state) == 0)
            return true;
    return (record->exit_status == 0 && args->state[REPORT_STATE_COMPLETED]) ||
           (record->exit_status > 0 && args->state[REPORT_STATE_FAILED]);
}

static int take(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    reading->seen++;
    say_progress(reading);
    if (!is_wanted_job(reading->args, record) || !is_wanted_state(reading->args, record))
        return 0;
    if ((!reading->benefit || benefit_add(reading->benefit, record) == 0) &&
        (reading->args->benefit || report_add(reading->report, record) == 0))
        return 0;
    reading->error = errno;
    return 1;
}

/* Returns the jobs as the ledger is asked for them; is_wanted_job tells apart what the ledger
 * cannot. */
static struct wire_step_id *ids_of(const struct report_args *args)
{
    struct wire_step_id *id = calloc(args->jobs + 1, sizeof(*id));

    for (size_t i = 0; id && i < args->jobs; i++) {
        bool task = args->job[i].task != JOB_ID_NONE;

        id[i] = (struct wire_step_id){args->job[i].job, task ? UINT32_MAX : args->job[i].step};
    }
    return id;
}

static int read_records(const struct report_args *args, struct records *records,
                        struct reading *reading, struct berth_error *err)
{
    struct wire_step_id *id = ids_of(args);
    struct ledger_filter filter = {
        .njobs = args->jobs,
        .nusers = args->users.n,
        .naccounts = args->accounts.n,
        .npartitions = args->partitions.n,
        .nnodes = args->nodes.n,
        .job = id,
        .user = (const char *const *)args->users.word,
        .account = (const char *const *)args->accounts.word,
        .partition = (const char *const *)args->partitions.word,
        .node = (const char *const *)args->nodes.word,
        .since = args->since,
        .until = args->until - 1, /* it is outside */
    };
    int rc;

    if (!id)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    rc = records_read(records, &filter, take, reading, err);
    free(id);
    if (reading->terminal && reading->said_s > 0)
        fputs("\r\033[K", stderr);
    if (rc == 0 && reading->error)
        rc = berth_error_set(err, "%s", strerror(reading->error));
    return rc;
}

/* ---- nothing to write ---- */

static int stop_at_first(const struct ledger_record *record, void *any)
{
    (void)record;
    *(bool *)any = true;
    return 1;
}

/* Writes why there is no row, where a table would stand: nothing was ever kept, or nothing of it is
 * what was asked for. */
static int write_nothing(const struct report_args *args, struct records *records)
{
    static const struct ledger_filter all;
    char since[32], until[32];
    struct berth_error err;
    bool any = false;

    if (records_read(records, &all, stop_at_first, &any, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    sacct_time_format(args->since, since, sizeof(since));
    sacct_time_format(args->until, until, sizeof(until));
    if (!any)
        puts("no step has ended yet");
    else if (args->jobs && !args->since_given)
        puts("no such step has ended");
    else
        printf("no such step ran between %s and %s%s\n", since, until,
               args->since_given ? "" : " (-S now-7days looks at a week)");
    return fflush(stdout) != 0 || ferror(stdout) ? ctl_fail("stdout", "%m") : 0;
}

/* ---- writing ---- */

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

struct writing {
    const struct report_args *args;
    struct report_table put;
    size_t written; /* elements of the JSON array */
};

/* Writes an element of {"jobs":[...]} at a time: a hundred thousand jobs need not fit into memory
 * twice. */
static int put_element(struct writing *writing, struct json_object *object)
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

static int put_job_object(struct writing *writing, const struct report_row *job,
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
    struct writing *writing = arg;
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
    struct writing *writing = arg;

    if (writing->put.shape == REPORT_SHAPE_JSON)
        return put_element(writing, report_table_object(&writing->put, total));
    report_table_row(&writing->put, total);
    return 0;
}

/* A table of steps has its own columns where the user names none: there the first one has room for
 * the word. */
static void put_grand(struct writing *writing, const struct report_row *grand)
{
    const struct report_args *args = writing->args;
    bool named = args->by_given || (!args->format && !args->no_header);

    if (named && writing->put.shape == REPORT_SHAPE_TABLE && writing->put.rows > 1)
        report_table_sum(&writing->put, grand, "total");
    if (named && writing->put.shape == REPORT_SHAPE_TABLE && !args->no_header)
        report_format_terms(writing->put.out, grand, &writing->put.terms);
}

/* Writes the beginning of {"since":..,"until":..,"jobs":[..],"total":{..}}. */
static void begin_json(struct writing *writing)
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

static int end_json(struct writing *writing, const struct report_row *grand)
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

static int put_rows(struct writing *writing, struct report *report)
{
    const struct report_args *args = writing->args;
    struct report_visitor visitor = {.arg = writing};
    struct report_row grand;
    bool json = writing->put.shape == REPORT_SHAPE_JSON;

    if (args->by_given)
        visitor.total = put_total;
    else
        visitor.job = put_job;
    if (json)
        begin_json(writing);
    else
        report_table_header(&writing->put);
    if (report_walk(report, args->by, args->per_node, &visitor, &grand) != 0)
        return -1;
    if (json)
        return end_json(writing, &grand);
    put_grand(writing, &grand);
    return 0;
}

/* Chooses the columns that were asked for, or those that suit the shape: programs get all there
 * are. */
static int choose_columns(const struct report_args *args, struct report_column **column, size_t *n,
                          struct berth_error *err)
{
    static const char *const title[REPORT_BYS] = {"Group",     "User", "Account",
                                                  "Partition", "Node", "Day"};
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

static int write_rows(const struct report_args *args, const struct report_terms *terms,
                      const struct report_column *column, size_t n, struct report *report)
{
    struct writing writing = {
        .args = args,
        .put = {.out = stdout,
                .shape = args->shape,
                .delimiter = args->delimiter,
                .header = !args->no_header,
                .terms = *terms,
                .column = column,
                .columns = n},
    };

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    errno = 0;
    if (put_rows(&writing, report) < 0)
        return ctl_fail("report", "%s", strerror(errno ? errno : ENOMEM));
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

static int write_benefit(const struct report_args *args, struct benefit *benefit)
{
    const struct benefit_result *result = benefit_conclude(benefit);
    struct benefit_about about = {args->since, args->until};
    struct json_object *object;

    if (args->shape != REPORT_SHAPE_JSON) {
        benefit_print(stdout, result, &about);
        return fflush(stdout) != 0 || ferror(stdout) ? ctl_fail("stdout", "%m") : 0;
    }
    object = benefit_json(result, &about);
    return object ? ctl_print_json(object) : ctl_fail("report", "%s", strerror(ENOMEM));
}

static int write_page(const struct report_args *args, const struct report_terms *terms,
                      const char *ledger, struct report *report, struct benefit *benefit)
{
    struct report_page page = {.now = args->now,
                               .since = args->since,
                               .until = args->until,
                               .terms = *terms,
                               .ledger = ledger,
                               .benefit = benefit_conclude(benefit)};
    struct berth_error err;

    if (report_html_write(report, &page, args->html, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    return 0;
}

/* Tells who asked for others' steps, and was told of his own only, that there may be others. */
static void say_own(const struct report_args *args, const struct records *records,
                    const struct reading *reading)
{
    if (records->own && (args->all_users || (reading->seen == 0 && !args->own)))
        fputs("berthctl: report: your own steps only: others' are shown to who may read the "
              "ledger\n",
              stderr);
}

static int run(const struct report_args *args, const struct report_column *column, size_t columns)
{
    struct reading reading = {.args = args, .terminal = isatty(STDERR_FILENO)};
    struct berth_error err;
    struct conf conf;
    struct records records = {.conf = &conf, .ledger = args->ledger, .defaults = args->defaults};
    struct report_terms terms;
    int status;

    if (ctl_conf(args->config, &conf, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    terms =
        (struct report_terms){args->unit, conf.energy_price, conf.energy_currency, conf.energy_co2};
    reading.report = report_new();
    if (args->benefit || args->html)
        reading.benefit = benefit_new();
    if (!reading.report || (!reading.benefit && (args->benefit || args->html)))
        return ctl_fail("report", "%s", strerror(ENOMEM));
    reading.begun_s = clock_s();
    if (read_records(args, &records, &reading, &err) < 0)
        status = ctl_fail("report", "%s", err.text);
    else if (args->benefit)
        status = write_benefit(args, reading.benefit);
    else if (args->html)
        status = write_page(args, &terms, records_url(&records), reading.report, reading.benefit);
    else if (report_records(reading.report) == 0 && args->shape == REPORT_SHAPE_TABLE &&
             !args->no_header)
        status = write_nothing(args, &records);
    else
        status = write_rows(args, &terms, column, columns, reading.report);
    if (status == 0)
        say_own(args, &records, &reading);
    if (status == 0 && !args->benefit && report_records(reading.report) == 0 && args->states &&
        !args->since_given && args->jobs == 0)
        fputs("berthctl: report: with --state alone sacct and this look at what runs now: give "
              "--starttime\n",
              stderr);
    benefit_free(reading.benefit);
    report_free(reading.report);
    return status;
}

int ctl_report(int argc, char **argv)
{
    struct report_args args;
    struct report_column *column = NULL;
    struct berth_error err;
    size_t columns = 0;
    int status = ctl_report_args(argc, argv, &args);

    if (status < 0 && choose_columns(&args, &column, &columns, &err) < 0)
        status = ctl_usage("report", "--format: %s", err.text);
    if (status < 0)
        status = run(&args, column, columns);
    free(column);
    ctl_report_args_clear(&args);
    return status;
}
