/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - `berthctl report`: what steps cost that have ended, out of the ledger, with sacct's
 * habits. */
#include "packer/cli/report/report.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/base/clock.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/find/records.h"
#include "packer/cli/report/report_write.h"
#include "packer/cli/common/verbs.h"
#include "packer/report/benefit.h"
#include "packer/report/html.h"
#include "packer/report/sacct_time.h"

#define PATIENCE_S 2 /* from then on a terminal is told how far it is */
#define LATE_S 60    /* after its end all records of a job should be there */

/* ---- reading ---- */

struct reading {
    const struct report_args *args;
    struct report *report;     /* of the job that is read now; own ones: of all */
    struct benefit *benefit;   /* NULL: it is not told */
    struct ledger_hours hours; /* of berth-steer, for that */
    struct report_html *page;  /* NULL: there is none */
    struct report_writing *writing;
    const struct records *records;
    size_t seen, taken;
    size_t over, late;      /* records that ran over a limit; jobs that have just ended */
    uint32_t job, late_job; /* of the record before; and of those that have just ended */
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

/* Hands on what is read. */
static int hand_on(struct reading *reading)
{
    if (reading->page)
        return report_html_add(reading->page, reading->report);
    if (!reading->writing->totals && report_writing_begin(reading->writing) < 0)
        return -1;
    return report_writing_put(reading->writing, reading->report);
}

/* Hands on the job that is read, where another one begins. The ledger has them in the order of
 * their numbers; berthd, who tells a user of his own, has not. */
static int end_job(struct reading *reading, uint32_t next)
{
    if (reading->records->own || next == reading->job || report_records(reading->report) == 0)
        return 0;
    if (hand_on(reading) < 0)
        return -1;
    report_clear(reading->report);
    return 0;
}

/* Keeps a record for what is told of all. */
static int keep(struct reading *reading, const struct ledger_record *record)
{
    if (reading->benefit && benefit_add(reading->benefit, record) < 0)
        return -1;
    if (reading->args->benefit)
        return 0;
    return end_job(reading, record->id.job) < 0 ? -1 : report_add(reading->report, record);
}

/* Notes what a bill should be told of: a step that ran over a limit is billed whole on both sides,
 * and of a job that has just ended records may still be on their way. */
static void note(struct reading *reading, const struct ledger_record *record)
{
    const struct report_args *args = reading->args;

    reading->over += record->start < args->since || record->end > args->until;
    if (record->end <= args->now - LATE_S)
        return;
    reading->late += reading->late == 0 || reading->late_job != record->id.job;
    reading->late_job = record->id.job;
}

static int take_record(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    reading->seen++;
    say_progress(reading);
    if (!is_wanted_job(reading->args, record) || !is_wanted_state(reading->args, record))
        return 0;
    reading->taken++;
    note(reading, record);
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
        .by_job = true,
    };
    int rc;

    if (!id)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    rc = records_read(records, &filter, take_record, reading, err);
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

/* Writes which users that were asked for nobody knows here: by name, and not by number. */
static void write_unknown_users(const struct report_args *args)
{
    for (size_t i = 0; i < args->users.n; i++) {
        const char *user = args->users.word[i];

        if (user[strspn(user, "0123456789")] && !getpwnam(user))
            printf("no user '%.64s' is known here\n", user);
    }
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
    write_unknown_users(args);
    return fflush(stdout) != 0 || ferror(stdout) ? ctl_fail("stdout", "%m") : 0;
}

/* ---- pages ---- */

static int write_benefit(const struct report_args *args, struct benefit *benefit)
{
    const struct benefit_result *result = benefit_conclude(benefit);
    struct benefit_about about = {args->since, args->until};
    struct json_object *object;

    if (args->shape != REPORT_SHAPE_JSON) {
        (args->variation ? variation_print : benefit_print)(stdout, result, &about);
        return fflush(stdout) != 0 || ferror(stdout) ? ctl_fail("stdout", "%m") : 0;
    }
    object = (args->variation ? variation_json : benefit_json)(result, &about);
    return object ? ctl_print_json(object) : ctl_fail("report", "%s", strerror(ENOMEM));
}

static int write_page(const struct report_args *args, struct reading *reading)
{
    struct berth_error err;

    if (report_html_add(reading->page, reading->report) < 0)
        return ctl_fail("report", "%s", strerror(ENOMEM));
    if (report_html_write(reading->page, benefit_conclude(reading->benefit), args->html, &err) < 0)
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
    if ((!writing->totals && report_writing_begin(writing) < 0) ||
        report_writing_put(writing, reading->report) < 0 || report_writing_end(writing) < 0)
        return ctl_fail("report", "%s", strerror(errno ? errno : ENOMEM));
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

/* Writes what was asked for, of the records that were read. */
static int write_read(struct reading *reading, struct records *records)
{
    const struct report_args *args = reading->args;

    if (args->benefit)
        return write_benefit(args, reading->benefit);
    if (args->html)
        return write_page(args, reading);
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
    if (args->benefit)
        return;
    if (reading->over && !args->divide && args->by_given)
        fprintf(stderr,
                "berthctl: report: %zu record%s of steps that ran over the beginning or the end "
                "count%s whole, as in sacct: --divide counts what lies within\n",
                reading->over, reading->over == 1 ? "" : "s", reading->over == 1 ? "s" : "");
    if (reading->late && !args->no_header)
        fprintf(stderr,
                "berthctl: report: %zu job%s ended a step less than %d s ago: more of %s records "
                "may come\n",
                reading->late, reading->late == 1 ? "" : "s", LATE_S,
                reading->late == 1 ? "its" : "their");
}

static int open_benefit(struct reading *reading)
{
    reading->benefit = benefit_new();
    if (!reading->benefit)
        return -1;
    records_hours(reading->records, &reading->hours);
    return benefit_hours_are(reading->benefit, &reading->hours);
}

/* Makes what gathers the records that are read. */
static int reading_open(struct reading *reading, const struct report_page *about,
                        const struct report_how *how)
{
    const struct report_args *args = reading->args;

    reading->begun_s = clock_s();
    reading->report = report_new();
    if (reading->report)
        report_set(reading->report, how);
    if (args->html)
        reading->page = report_html_new(about);
    if (!reading->report || (args->html && !reading->page))
        return -1;
    return args->benefit || args->html ? open_benefit(reading) : 0;
}

static int read_and_write(struct reading *reading, struct records *records)
{
    struct berth_error err;
    int status;

    if (read_records(reading->args, records, reading, &err) < 0)
        return ctl_fail("report", "%s", err.text);
    status = write_read(reading, records);
    if (status == 0)
        say_hints(reading);
    return status;
}

/* How records become rows. A step is divided where totals are, too. */
static void how_of(const struct report_args *args, const struct report_terms *terms,
                   struct report_how *how)
{
    *how = (struct report_how){
        .terms = *terms, .divide = args->divide, .since = args->since, .until = args->until};
    if (report_keys_have(&args->by, REPORT_BY_DAY))
        how->at = REPORT_BY_DAY;
    else if (report_keys_have(&args->by, REPORT_BY_MONTH))
        how->at = REPORT_BY_MONTH;
}

static int write_report(const struct report_args *args, const struct conf *conf,
                        const struct report_terms *terms, struct report_column *column,
                        size_t columns)
{
    struct records records = {.conf = conf, .ledger = args->ledger, .defaults = args->defaults};
    struct report_writing writing = {.args = args,
                                     .put = {.out = stdout,
                                             .shape = args->shape,
                                             .delimiter = args->delimiter,
                                             .header = !args->no_header,
                                             .terms = *terms,
                                             .column = column,
                                             .columns = columns}};
    const struct report_page about = {.now = args->now,
                                      .since = args->since,
                                      .until = args->until,
                                      .terms = *terms,
                                      .fields = conf->report_fields,
                                      .ledger = records_url(&records)};
    bool whole = args->benefit || args->html || args->by_given;
    struct reading reading = {.args = args,
                              .records = &records,
                              .writing = &writing,
                              .terminal =
                                  isatty(STDERR_FILENO) && (whole || !isatty(STDOUT_FILENO))};
    struct report_how how;
    int status;

    how_of(args, terms, &how);
    status = reading_open(&reading, &about, &how) < 0 ? ctl_fail("report", "%s", strerror(ENOMEM))
                                                      : read_and_write(&reading, &records);
    report_html_free(reading.page);
    benefit_free(reading.benefit);
    free(reading.hours.hour);
    report_free(reading.report);
    report_totals_free(writing.totals);
    return status;
}

/* What berth.conf says of energy. */
struct site {
    struct conf conf;
    struct tariff price, co2;
    struct report_terms terms;
};

static int read_site(const struct report_args *args, struct site *site, struct berth_error *err)
{
    if (ctl_conf(args->config, &site->conf, err) < 0 ||
        tariff_parse(&site->price, site->conf.energy_tariff, err) < 0 ||
        tariff_parse(&site->co2, site->conf.energy_co2_tariff, err) < 0)
        return -1;
    site->terms = (struct report_terms){.unit = args->unit,
                                        .price = site->conf.energy_price,
                                        .currency = site->conf.energy_currency,
                                        .co2_g = site->conf.energy_co2,
                                        .tariff = &site->price,
                                        .co2 = &site->co2};
    return 0;
}

int ctl_report(int argc, char **argv)
{
    struct report_args args;
    struct report_column *column = NULL;
    struct berth_error err;
    struct site site;
    size_t columns = 0;
    int status = ctl_report_args(argc, argv, &args);

    if (status < 0 && read_site(&args, &site, &err) < 0)
        status = ctl_fail("report", "%s", err.text);
    if (status < 0 &&
        report_choose_columns(&args, site.conf.report_fields, &column, &columns, &err) < 0)
        status = ctl_usage("report", "%s", err.text);
    if (status < 0)
        status = write_report(&args, &site.conf, &site.terms, column, columns);
    free(column);
    ctl_report_args_clear(&args);
    return status;
}
