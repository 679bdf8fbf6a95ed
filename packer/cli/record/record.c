/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record - `berthctl record`: ask berthd again and again what its steps have counted, and write
 * it down as a file of samples (counters/sample_line.h).
 *
 * Whatever ends it, the file has whole lines only. A berthd that is restarted meanwhile is waited
 * for, and its counts go on where they were. */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/find/job_raw.h"
#include "packer/cli/record/record_file.h"
#include "packer/cli/record/record_lines.h"
#include "packer/cli/common/verbs.h"
#include "packer/counters/sample_line.h"

static const struct wire_request request = {.op = WIRE_OP_COUNTERS};

/* Holds a STEP or JOB of the command line. */
struct wanted {
    struct wire_step_id id;
    const char *text;
    bool seen, lives, missed; /* ever, in the last round; it was said that it is not here */
};

struct record {
    const char *socket, *output, *name; /* name: of the output, for people */
    enum { FORMAT_DEFAULT, FORMAT_JSON, FORMAT_CSV } format;
    enum record_mode mode;
    double interval_s, duration_s; /* INFINITY: no end */
    size_t nwanted;
    struct wanted *wanted;
    int signals;             /* signalfd */
    bool terminal;           /* stderr is one: progress is shown */
    double begun_s, asked_s; /* berthd was asked last */
    struct record_file file;
    struct record_lines *recording;
    struct recorded *before;
    double started_until_s; /* by our clock, berthd was started before then; NAN: not known */
    bool lost, waits;       /* it was said that berthd does not answer, that nothing is counted */
};

static bool is_csv(const struct record *record)
{
    return record->format == FORMAT_CSV;
}

/* ---- what is said on the way ---- */

static void say(const struct record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct record *record, const char *format, ...)
{
    va_list args;

    fputs(record->terminal ? "\r\033[Kberthctl: record: " : "berthctl: record: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static const char *count(size_t n, const char *one, char text[64])
{
    snprintf(text, 64, "%zu %s%s", n, one, n == 1 ? "" : "s");
    return text;
}

static void show_progress(const struct record *record)
{
    char elapsed[CTL_TIME_MAX], samples[64], steps[64];

    if (!record->terminal)
        return;
    ctl_time(clock_s() - record->begun_s, elapsed);
    ctl_put_progress("berthctl: record: %s: %s of %s", elapsed,
                     count(record_lines_samples(record->recording), "sample", samples),
                     count(record_lines_steps(record->recording), "step", steps));
}

static void say_summary(const struct record *record)
{
    bool to_file = record->file.ours;
    char samples[64], steps[64];

    say(record, "%s of %s in %.1f s%s%s",
        count(record_lines_samples(record->recording), "sample", samples),
        count(record_lines_steps(record->recording), "step", steps), clock_s() - record->begun_s,
        to_file ? ", in " : "", to_file ? record->output : "");
}

/* ---- which steps ---- */

static bool is_wanted(struct record *record, struct json_object *sample)
{
    bool found = record->nwanted == 0;
    struct wire_step_id id;

    if (found || wire_step_parse(ctl_text(sample, "id"), &id) < 0)
        return found;
    for (size_t i = 0; i < record->nwanted; i++) {
        struct wanted *wanted = &record->wanted[i];

        if (wanted->id.job == id.job &&
            (wanted->id.step == UINT32_MAX || wanted->id.step == id.step))
            found = wanted->seen = wanted->lives = true;
    }
    return found;
}

/* Says whether all steps that were named have been here, and have ended. */
static bool all_ended(struct record *record)
{
    bool ended = record->nwanted > 0;

    for (size_t i = 0; i < record->nwanted; i++) {
        struct wanted *wanted = &record->wanted[i];

        ended = ended && wanted->seen && !wanted->lives;
        if (!wanted->seen && !wanted->missed)
            say(record, "%s is not here: waiting for it", wanted->text);
        wanted->missed = !wanted->seen;
    }
    return ended;
}

/* ---- a round ---- */

/* Was berthd started after it answered last? Its start is between the times of our question and of
 * its answer, less its uptime. */
static void notice_restart(struct record *record, struct json_object *answer)
{
    double uptime_s = ctl_number(ctl_object(answer, "node"), "uptime_s");

    if (record->asked_s - uptime_s > record->started_until_s) {
        say(record, "berthd has been restarted: counts go on");
        record_lines_restarted(record->recording);
    }
    record->started_until_s = clock_s() - uptime_s;
}

/* Writes the header of a new CSV file, and the lines of a round behind it, in one go. */
static int put_lines(struct record *record, const char *lines, struct berth_error *err)
{
    char *header = is_csv(record) && record->file.whole == 0 ? sample_line_csv_header() : NULL,
         *text;
    int length = asprintf(&text, "%s%s", header ? header : "", lines), rc;

    free(header);
    if (length < 0)
        return berth_no_memory(err);
    rc = record_file_put(&record->file, text, (size_t)length, err);
    free(text);
    return rc;
}

/* Returns the lines of an answer, which the caller frees. When a sample is refused, *rc is -1 and
 * the lines are those before it. */
static char *lines_of(struct record *record, struct json_object *answer, int *rc,
                      struct berth_error *err)
{
    struct json_object *samples = ctl_object(answer, "samples");
    char *lines = NULL, *line;
    size_t length;
    FILE *out = open_memstream(&lines, &length);

    *rc = out ? 0 : berth_no_memory(err);
    for (size_t i = 0; i < record->nwanted; i++)
        record->wanted[i].lives = false;
    for (size_t i = 0; *rc >= 0 && i < ctl_length(samples); i++) {
        struct json_object *sample = json_object_array_get_idx(samples, i);

        if (!is_wanted(record, sample))
            continue;
        *rc = record_lines_add(record->recording, sample, &line, err);
        if (*rc == 1) {
            fputs(line, out);
            free(line);
        }
    }
    if (out)
        fclose(out);
    return lines;
}

/* Writes down an answer. 0, or -1 and err. */
static int write_answer(struct record *record, struct json_object *answer, struct berth_error *err)
{
    struct berth_error why;
    char *lines;
    int rc;

    notice_restart(record, answer);
    lines = lines_of(record, answer, &rc, &why);
    if (lines && lines[0] && put_lines(record, lines, &why) < 0)
        rc = -1;
    free(lines);
    if (rc >= 0 && record_lines_samples(record->recording) == 0 && !record->waits) {
        say(record, "nothing is counted yet: waiting");
        record->waits = true;
    }
    return rc < 0 ? berth_error_set(err, "%s: %.400s", record->name, why.text) : 0;
}

/* Asks again, and says once that there is no answer, and once that there is one again. Returns NULL
 * where there is none. */
static struct json_object *ask_again(struct record *record)
{
    struct json_object *answer;
    struct berth_error err;

    record->asked_s = clock_s();
    answer = ctl_ask(record->socket, &request, &err);
    if (!answer && !record->lost)
        say(record, "berthd: %s: waiting", err.text);
    if (answer && record->lost)
        say(record, "berthd answers again");
    record->lost = !answer;
    return answer;
}

/* Sleeps until that time. Returns false when a signal asks to leave. */
static bool wait_until(const struct record *record, double until_s)
{
    struct pollfd fd = {.fd = record->signals, .events = POLLIN};
    double left_s;
    int ready = 0;

    do {
        left_s = until_s - clock_s();
        ready = poll(&fd, 1, left_s > 0 ? (int)ceil(left_s * 1000) : 0);
    } while (ready <= 0 && left_s > 0);
    return ready <= 0;
}

/* Rounds at multiples of the interval, from that first answer on; one that comes too late for the
 * next is left out. 0, or -1 and err. */
static int rounds(struct record *record, struct json_object *answer, struct berth_error *err)
{
    double at_s = 0, past_s;
    bool go_on;
    int rc;

    do {
        rc = answer ? write_answer(record, answer, err) : 0;
        json_object_put(answer);
        show_progress(record);
        past_s = clock_s() - record->begun_s;
        at_s += record->interval_s * fmax(1, ceil((past_s - at_s) / record->interval_s));
        go_on = rc == 0 && at_s <= record->duration_s * (1 + 1e-9) &&
                (record->lost || !all_ended(record)) && wait_until(record, record->begun_s + at_s);
        answer = go_on ? ask_again(record) : NULL;
    } while (go_on);
    return rc;
}

/* ---- the verb ---- */

/* Records into the open file, beginning with that answer, and closes the file. */
static int record_steps(struct record *record, struct json_object *answer)
{
    struct berth_error err, why;
    int rc;

    record->begun_s = clock_s();
    record->recording = record_lines_new(is_csv(record), record->before);
    if (!record->recording) {
        json_object_put(answer);
        rc = berth_no_memory(&err);
    } else {
        rc = rounds(record, answer, &err);
    }
    if (record_file_close(&record->file, &why) < 0 && rc == 0)
        rc = berth_error_set(&err, "%s: %.400s", record->name, why.text);
    if (rc < 0)
        say(record, "%s", err.text);
    if (record->recording)
        say_summary(record);
    record_lines_free(record->recording);
    recorded_free(record->before);
    return rc < 0;
}

/* Asks berthd before a file is made: there may be no berthd, or one that cannot count. */
static int record_start(struct record *record)
{
    struct json_object *answer;
    struct berth_error err;
    int rc;

    record->name = strcmp(record->output, "-") == 0 ? "stdout" : record->output;
    record->asked_s = clock_s();
    answer = ctl_ask(record->socket, &request, &err);
    if (!answer)
        return ctl_fail("berthd", "%s", err.text);
    if (record_file_open(&record->file, record->output, record->mode, is_csv(record),
                         &record->before, &err) < 0) {
        json_object_put(answer);
        return ctl_fail("record", "%s", err.text);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to tell */
    record->signals = ctl_signals(0);
    rc = record_steps(record, answer);
    close(record->signals);
    return rc;
}

/* ---- options ---- */

static const struct ctl_option option_rows[] = {
    {"interval", 'i', "S", "seconds between two samples of a step, 0.1 to 3600; 1 where not given",
     CTL_NUMBER(struct record, interval_s, "seconds", 0.1, 3600)},
    {"duration", 'd', "S", "end after so many seconds",
     CTL_NUMBER(struct record, duration_s, "seconds", 0, 1e9)},
    {"output", 'o', "FILE", "where to; stdout, or -, where not given",
     CTL_TEXT(struct record, output)},
    {"append", 0, NULL, "go on with a file that is there",
     CTL_ONE(struct record, mode, RECORD_APPEND)},
    {"force", 0, NULL, "replace a file that is there", CTL_ONE(struct record, mode, RECORD_FORCE)},
    {"csv", 0, NULL, "CSV: a header, and a row for each sample",
     CTL_ONE(struct record, format, FORMAT_CSV)},
    {"json", 0, NULL, "JSON lines, which have all that is known; the default",
     CTL_ONE(struct record, format, FORMAT_JSON)},
    CTL_OPTION_SOCKET(struct record),
};
static const struct ctl_options options = {
    .verb = "record",
    .synopsis = "[--interval S] [--duration S] [--output FILE] [--append | --force] "
                "[--csv | --json] [--socket PATH] [STEP | JOB ...]",
    .about = "Write what steps do to the machine into a file of samples, for berthctl plan "
             "--samples and\n"
             "counters_replay of berth.conf. All steps that you may see, or those that are named; "
             "it ends\n"
             "with Ctrl-C, with --duration, or when the named ones have ended.",
    CTL_OPTIONS(option_rows),
    .most = -1,
};

/* Returns -1 to go on, else the exit status. */
static int read_steps(struct record *record, int argc, char **argv)
{
    record->nwanted = (size_t)argc;
    record->wanted = calloc((size_t)argc + 1, sizeof(*record->wanted));
    if (!record->wanted)
        return ctl_fail("record", "out of memory");
    for (int i = 0; i < argc; i++) {
        struct berth_error err;
        struct job_id id;

        record->wanted[i].text = argv[i];
        if (job_id_parse(argv[i], &id) < 0)
            return ctl_usage("record", "'%s' is no " JOB_ID_FORMS, argv[i]);
        if (job_raw_find(record->socket, &id, &err) < 0)
            return ctl_fail(argv[i], "%s", err.text);
        record->wanted[i].id = (struct wire_step_id){id.job, id.step};
    }
    return -1;
}

int ctl_record(int argc, char **argv)
{
    struct record record = {.output = "-",
                            .interval_s = 1,
                            .duration_s = INFINITY,
                            .started_until_s = NAN,
                            .terminal = isatty(STDERR_FILENO)};
    int rc = ctl_options_read(&options, argc, argv, &record);

    if (rc < 0)
        rc = read_steps(&record, argc - optind, argv + optind);
    if (rc < 0)
        rc = record_start(&record);
    free(record.wanted);
    return rc;
}
