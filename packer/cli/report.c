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
#include "packer/cli/report_write.h"
#include "packer/cli/verbs.h"
#include "packer/report/benefit.h"
#include "packer/report/html.h"
#include "packer/report/sacct_time.h"

#define PATIENCE_S 2 /* from then on a terminal is told how far it is */

/* ---- reading ---- */

struct reading {
    const struct report_args *args;
    struct report *report;   /* of all, or of the job that is read now */
    struct benefit *benefit; /* NULL: it is not told */
    struct report_writing *writing;
    bool by_job; /* jobs are written as they come; else when all are read */
    const struct records *records;
    size_t seen, taken;
    uint32_t job; /* of the record before */
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

/* Writes the job that is read, where another one begins. The ledger has them in the order of their
 * numbers; berthd, who tells a user of his own, has not. */
static int write_job(struct reading *reading, uint32_t next)
{
    if (!reading->by_job || reading->records->own || next == reading->job ||
        report_records(reading->report) == 0)
        return 0;
    if ((!reading->writing->keeper && report_writing_begin(reading->writing) < 0) ||
        report_writing_put(reading->writing, reading->report) < 0)
        return -1;
    report_free(reading->report);
    reading->report = report_new();
    return reading->report ? 0 : -1;
}

/* Keeps a record for what is told of all. */
static int keep(struct reading *reading, const struct ledger_record *record)
{
    if (reading->benefit && benefit_add(reading->benefit, record) < 0)
        return -1;
    if (reading->args->benefit)
        return 0;
    return write_job(reading, record->id.job) < 0 ? -1 : report_add(reading->report, record);
}

static int take(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    reading->seen++;
    say_progress(reading);
    if (!is_wanted_job(reading->args, record) || !is_wanted_state(reading->args, record))
        return 0;
    reading->taken++;
    if (keep(reading, record) == 0) {
        reading->job = record->id.job;
        return 0;
    }
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
        .by_job = reading->by_job,
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

/* ---- pages ---- */

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

/* Writes what is not written yet, and the end. */
static int write_rest(struct reading *reading)
{
    struct report_writing *writing = reading->writing;

    errno = 0;
    if ((!writing->keeper && report_writing_begin(writing) < 0) ||
        report_writing_put(writing, reading->report) < 0 || report_writing_end(writing) < 0)
        return ctl_fail("report", "%s", strerror(errno ? errno : ENOMEM));
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

/* Writes what was asked for, of the records that were read. */
static int write_read(struct reading *reading, struct records *records,
                      const struct report_terms *terms)
{
    const struct report_args *args = reading->args;

    if (args->benefit)
        return write_benefit(args, reading->benefit);
    if (args->html)
        return write_page(args, terms, records_url(records), reading->report, reading->benefit);
    if (reading->taken == 0 && args->shape == REPORT_SHAPE_TABLE && !args->no_header)
        return write_nothing(args, records);
    return write_rest(reading);
}

/* Says on stderr what figures do not. */
static void say_hints(const struct reading *reading)
{
    const struct report_args *args = reading->args;

    say_own(args, reading->records, reading);
    if (!args->benefit && reading->taken == 0 && args->states && !args->since_given &&
        args->jobs == 0)
        fputs("berthctl: report: with --state alone sacct and this look at what runs now: give "
              "--starttime\n",
              stderr);
}

/* Reads and writes; the caller frees what the reading has. */
static int read_and_write(struct reading *reading, struct records *records,
                          const struct report_terms *terms)
{
    const struct report_args *args = reading->args;
    struct berth_error err;
    int status;

    reading->report = report_new();
    if (args->benefit || args->html)
        reading->benefit = benefit_new();
    if (!reading->report || (!reading->benefit && (args->benefit || args->html)))
        return ctl_fail("report", "%s", strerror(ENOMEM));
    reading->begun_s = clock_s();
    if (read_records(args, records, reading, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    status = write_read(reading, records, terms);
    if (status == 0)
        say_hints(reading);
    return status;
}

/* Totals by user and the like, and pages, need all records at once; jobs come one by one. */
static int run(const struct report_args *args, const struct report_column *column, size_t columns)
{
    bool whole = args->benefit || args->html || args->by_given;
    struct berth_error err;
    struct conf conf;
    struct records records = {.conf = &conf, .ledger = args->ledger, .defaults = args->defaults};
    struct report_terms terms;
    struct report_writing writing = {.args = args,
                                     .put = {.out = stdout,
                                             .shape = args->shape,
                                             .delimiter = args->delimiter,
                                             .header = !args->no_header,
                                             .column = column,
                                             .columns = columns}};
    struct reading reading = {.args = args,
                              .records = &records,
                              .writing = &writing,
                              .by_job = !whole,
                              .terminal =
                                  isatty(STDERR_FILENO) && (whole || !isatty(STDOUT_FILENO))};
    int status;

    if (ctl_conf(args->config, &conf, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    terms =
        (struct report_terms){args->unit, conf.energy_price, conf.energy_currency, conf.energy_co2};
    writing.put.terms = terms;
    status = read_and_write(&reading, &records, &terms);
    benefit_free(reading.benefit);
    report_free(reading.report);
    report_free(writing.keeper);
    return status;
}

int ctl_report(int argc, char **argv)
{
    struct report_args args;
    struct report_column *column = NULL;
    struct berth_error err;
    size_t columns = 0;
    int status = ctl_report_args(argc, argv, &args);

    if (status < 0 && report_choose_columns(&args, &column, &columns, &err) < 0)
        status = ctl_usage("report", "--format: %s", err.text);
    if (status < 0)
        status = run(&args, column, columns);
    free(column);
    ctl_report_args_clear(&args);
    return status;
}
