/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain - `berthctl explain JOB[.STEP]`: a step's life as sentences, stage by stage in the
 * order of the way of the data. Every figure comes from berthd's answer; what it does not know is
 * said to be unknown. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <time.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/common/options.h"
#include "packer/cli/verbs.h"

#define TASKS_SHOWN 8
#define INDENT 9 /* of what is said of a stage */
#define COLUMNS_WITHOUT_TERMINAL 100

static const struct ctl_option option_rows[] = {
    {"json", 0, NULL, "{\"steps\":[...]}", CTL_FLAG(struct ctl_query, json)},
    CTL_OPTION_SOCKET(struct ctl_query),
};
static const struct ctl_options options = {
    .verb = "explain",
    .synopsis = "[--json] [--socket PATH] JOB[.STEP]",
    .about = "Why a step runs where it runs: every decision, in the order it was made.\n"
             "STEP is a number, batch or interactive; without it all steps of the job.",
    CTL_OPTIONS(option_rows),
    .least = 1,
    .most = 1,
    .takes = "one JOB or JOB.STEP",
};

/* Holds a sentence under way, about a stage of a step. */
struct text {
    FILE *out;
    struct json_object *step;
};

static void add_reason(struct text *text, struct json_object *stage)
{
    const char *reason = ctl_text(stage, "reason");

    if (reason[0] && strcmp(reason, "-") != 0)
        fprintf(text->out, ": %s", reason);
}

static const char *plural(double n)
{
    return n == 1 ? "" : "s";
}

static bool given(const char *field)
{
    return field[0] && strcmp(field, "-") != 0;
}

static const char *or_none(const char *field)
{
    return given(field) ? field : "none";
}

static void add_when(struct text *text, double unix_s)
{
    time_t when = (time_t)unix_s;
    char buffer[64];
    struct tm tm;

    if (isnan(unix_s) || unix_s <= 0)
        return;
    localtime_r(&when, &tm);
    strftime(buffer, sizeof(buffer), "%Y-%m-%d %H:%M:%S", &tm);
    fputs(buffer, text->out);
}

/* ---- the stages ---- */

static void say_request(struct text *text, struct json_object *request)
{
    double tasks = ctl_number(request, "tasks"), cpus = ctl_number(request, "cpus_per_task");
    const char *job = ctl_text(request, "job_cores"), *step = ctl_text(request, "step_cores");

    fprintf(text->out, "user %.0f asked for --contention-aware=%s: %.0f task%s",
            ctl_number(request, "uid"), ctl_text(request, "options"), tasks, plural(tasks));
    if (cpus > 0)
        fprintf(text->out, " of %.0f CPU%s", cpus, plural(cpus));
    if (given(step))
        fprintf(text->out, "; Slurm gave the step cores %s of the job's %s", step, job);
    if (ctl_number(request, "array_job") > 0)
        fprintf(text->out, "; task %.0f of array %.0f", ctl_number(request, "array_task"),
                ctl_number(request, "array_job"));
    if (given(ctl_text(request, "refused")))
        fprintf(text->out, "; the site does not allow %s", ctl_text(request, "refused"));
    if (ctl_true(request, "bound_by_hand"))
        fputs("; bound to its cores by hand", text->out);
    if (given(ctl_text(request, "exe")))
        fprintf(text->out, "; the program is %s", ctl_text(request, "exe"));
    else
        fputs("; the program is not known", text->out);
}

static void say_profile(struct text *text, struct json_object *profile)
{
    struct json_object *request = ctl_object(text->step, "request");

    if (ctl_true(profile, "known")) {
        fprintf(text->out, "%.0f cache misses per million instructions, from %s, measured ",
                ctl_number(profile, "miss_pmi"), ctl_text(profile, "source"));
        add_when(text, ctl_number(profile, "measured_at"));
        if (ctl_true(profile, "truncated"))
            fputs(" over the program's beginning only", text->out);
        if (!isnan(ctl_number(profile, "core_gbps")))
            fprintf(text->out, "; %.2f GB/s by one core alone", ctl_number(profile, "core_gbps"));
        fprintf(text->out, "; key %s", ctl_text(profile, "key"));
    } else if (given(ctl_text(profile, "key"))) {
        fprintf(text->out, "none in the store for %s (berthctl profile -- %s ... makes one)",
                ctl_text(profile, "key"), ctl_text(request, "exe"));
    } else {
        fputs("none: neither a program nor a tag to look up", text->out);
    }
}

/* Adds " (node 0: 2 of 4, node 1: 1 of 4)". */
static void add_vector(struct text *text, struct json_object *nodes)
{
    size_t n = ctl_length(nodes);

    for (size_t i = 0; i < n; i++) {
        struct json_object *node = json_object_array_get_idx(nodes, i);

        fprintf(text->out, "%snode %.0f: %.0f of %.0f%s", i ? ", " : " (", ctl_number(node, "node"),
                ctl_number(node, "given"), ctl_number(node, "cores"), i + 1 == n ? ")" : "");
    }
}

/* Adds what limits the bandwidth, and what is predicted of it. */
static void add_prediction(struct text *text, struct json_object *size)
{
    double with = ctl_number(size, "gbps"), all = ctl_number(size, "gbps_all");

    if (!given(ctl_text(size, "constraint")))
        return;
    fprintf(text->out, "; what limits it: %s; predicted %.2f GB/s with them",
            ctl_text(size, "constraint"), with);
    if (isnan(all))
        fputs(", not known with all", text->out);
    else
        fprintf(text->out, ", %.2f with all", all);
}

static void say_size(struct text *text, struct json_object *size)
{
    double given_cores = ctl_number(size, "given"), threads = ctl_number(size, "threads");

    fprintf(text->out, "%.0f core%s of the %.0f that Slurm gave", given_cores, plural(given_cores),
            ctl_number(size, "cores"));
    if (given_cores < ctl_number(size, "cores"))
        add_vector(text, ctl_object(size, "nodes"));
    add_reason(text, size);
    add_prediction(text, size);
    if (!isnan(threads))
        fprintf(text->out, "; OMP_NUM_THREADS=%.0f", threads);
}

/* Adds "cache 0", "caches 0, 1" or "no cache". */
static void add_caches(struct text *text, struct json_object *caches)
{
    size_t n = ctl_length(caches);

    fputs(n == 0 ? "no cache" : n == 1 ? "cache" : "caches", text->out);
    for (size_t i = 0; i < n; i++)
        fprintf(text->out, "%s%" PRIu64, i ? ", " : " ",
                json_object_get_uint64(json_object_array_get_idx(caches, i)));
}

static void add_neighbours(struct text *text, struct json_object *neighbours)
{
    size_t n = ctl_length(neighbours);

    fputs(n ? "; beside it there:" : "; nobody else stands there", text->out);
    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_array_get_idx(neighbours, i);
        double miss = ctl_number(one, "miss_pmi");

        fprintf(text->out, "%s %s (%s", i ? "," : "",
                json_object_object_get(one, "id") ? ctl_text(one, "id") : "another user's step",
                ctl_text(one, "class"));
        if (!isnan(miss))
            fprintf(text->out, ", %.0f misses", miss);
        fprintf(text->out, ", cache %.0f)", ctl_number(one, "llc"));
    }
}

/* Adds what came of `isolate`, where the step's user asked for it. */
static void add_isolation(struct text *text, struct json_object *isolate)
{
    if (!ctl_true(isolate, "asked"))
        return;
    if (ctl_true(isolate, "granted"))
        fprintf(text->out, "; isolated in %s", ctl_text(isolate, "domain"));
    else
        fputs("; not isolated", text->out);
    add_reason(text, isolate);
}

/* Cores that Slurm gave to several jobs. */
static void add_share(struct text *text, struct json_object *share)
{
    double others = ctl_number(share, "others"), cores = ctl_number(share, "cores");

    if (isnan(others))
        return;
    fprintf(text->out, "; Slurm gave cores of it to %.0f other%s too: ", others, plural(others));
    if (isnan(cores))
        fputs("they share them", text->out);
    else
        fprintf(text->out, "its part is %.0f core%s", cores, plural(cores));
}

/* Adds "LABEL N UNIT", or that the value is not known. */
static void add_measure(struct text *text, const char *label, double value, int digits,
                        const char *unit)
{
    if (isnan(value))
        fprintf(text->out, "; %s not known", label);
    else
        fprintf(text->out, "; %s %.*f %s", label, digits, value, unit);
}

/* Adds DIO-POWER's two predictions; nothing where another policy placed the step. */
static void add_edp(struct text *text, struct json_object *place)
{
    const char *choice = ctl_text(place, "edp_choice"), *source = ctl_text(place, "edp_source");

    if (!given(choice))
        return;
    if (!given(source)) {
        fputs("; energy-delay products are not known", text->out);
        return;
    }
    add_measure(text, "energy-delay product clustered", ctl_number(place, "edp_cluster"), 3, "J s");
    add_measure(text, "spread", ctl_number(place, "edp_spread"), 3, "J s");
    fprintf(text->out, " (predicted, power %s)",
            strcmp(source, "model") == 0 ? "by the site's model" : source);
}

/* Says where the step is and why; how the policy ranked it stands in the reason. */
static void say_place(struct text *text, struct json_object *place)
{
    const char *asked = ctl_text(place, "policy_asked");

    fprintf(text->out, "CPUs %s -> %s, ", or_none(ctl_text(place, "home")),
            or_none(ctl_text(place, "cpus")));
    add_caches(text, ctl_object(place, "llc"));
    fprintf(text->out, ", memory node %s, by %s", or_none(ctl_text(place, "mems")),
            ctl_text(place, "policy"));
    if (given(asked) && strcmp(asked, ctl_text(place, "policy")) != 0)
        fprintf(text->out, " (%s was asked for)", asked);
    add_reason(text, place);
    add_edp(text, place);
    add_share(text, ctl_object(place, "share"));
    add_isolation(text, ctl_object(place, "isolate"));
    add_neighbours(text, ctl_object(place, "neighbours"));
}

static const char *held(struct json_object *enforce)
{
    if (strcmp(ctl_text(enforce, "way"), "dryrun") == 0)
        return "nothing was touched";
    return ctl_true(enforce, "verified") ? "read back as wanted" : "not verified";
}

static void say_enforce(struct text *text, struct json_object *enforce)
{
    struct json_object *tasks = ctl_object(enforce, "tasks");
    double moves = ctl_number(enforce, "moves");
    size_t n = ctl_length(tasks);

    fprintf(text->out, "by %s, %s, moved %.0f time%s", ctl_text(enforce, "way"), held(enforce),
            moves, plural(moves));
    add_reason(text, enforce);
    for (size_t i = 0; i < n && i < TASKS_SHOWN; i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        fprintf(text->out, "; task %.0f (pid %.0f) %s -> %s", ctl_number(task, "id"),
                ctl_number(task, "pid"), or_none(ctl_text(task, "home")),
                or_none(ctl_text(task, "cpus")));
    }
    if (n > TASKS_SHOWN)
        fprintf(text->out, "; and %zu more tasks (--json has all)", n - TASKS_SHOWN);
}

/* Adds those rates of the present phase that people ask for, as far as they are known. */
static void add_rates(struct text *text, struct json_object *rates)
{
    static const struct {
        const char *name, *label, *unit;
        double scale;
        int digits;
    } shown[] = {
        {"miss_pmi", "misses", "per million instructions", 1, 0},
        {"ipc", "", "instructions per cycle", 1, 2},
        {"stalled", "waiting for memory", "% of the cycles", 100, 0},
        {"remote", "remote memory", "% of the lines read", 100, 0},
        {"bytes_s", "memory traffic", "GB/s", 1e-9, 2},
        {"occupancy_bytes", "cache held", "MiB", 1.0 / (1 << 20), 1},
        {"cpu", "on CPUs", "cores", 1, 2},
        {"run_delay", "waiting for CPUs", "threads", 1, 2},
        {"lock_wait", "waiting for locks", "threads", 1, 2},
        {"switches_s", "context switches", "per second", 1, 1},
        {"migrations_s", "migrations", "per second", 1, 1},
    };

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        struct json_object *rate = ctl_object(rates, shown[i].name);
        double mean = ctl_number(rate, "mean") * shown[i].scale;
        double error = ctl_number(rate, "error") * shown[i].scale;

        if (isnan(mean))
            continue;
        fprintf(text->out, "; %s%s%.*f", shown[i].label, shown[i].label[0] ? " " : "",
                shown[i].digits, mean);
        if (!isnan(error))
            fprintf(text->out, " (+- %.*f)", shown[i].digits, error);
        fprintf(text->out, " %s", shown[i].unit);
    }
}

/* Adds what was counted, and in which windows. */
static void add_counts(struct text *text, struct json_object *counts)
{
    double windows = ctl_number(counts, "windows");
    double alone = ctl_number(ctl_object(counts, "alone"), "windows");
    double beside = ctl_number(ctl_object(counts, "beside"), "windows");

    if (!(windows > 0))
        return;
    fprintf(text->out, "; counted in %.0f window%s (%.0f alone on its caches, %.0f beside others)",
            windows, plural(windows), alone, beside);
    if (ctl_number(counts, "phase") > 1)
        fprintf(text->out, ", now in phase %.0f", ctl_number(counts, "phase"));
    add_rates(text, ctl_object(counts, "rates"));
}

static void say_observe(struct text *text, struct json_object *observe)
{
    double rss_kib = ctl_number(observe, "maxrss_kib");
    char elapsed[CTL_TIME_MAX];

    ctl_time(ctl_number(observe, "elapsed_s"), elapsed);
    fprintf(text->out, "elapsed %s", elapsed);
    add_measure(text, "CPU time user", ctl_number(observe, "user_s"), 2, "s");
    add_measure(text, "system", ctl_number(observe, "system_s"), 2, "s");
    add_measure(text, "cores in use", ctl_number(observe, "cores_used"), 2, "on average");
    add_measure(text, "largest process", rss_kib / 1024, 1, "MiB");
    if (isnan(ctl_number(observe, "miss_pmi")))
        add_measure(text, "cache misses", NAN, 0, "");
    add_counts(text, ctl_object(observe, "counts"));
}

static void say_replace(struct text *text, struct json_object *replace)
{
    bool by_energy = strcmp(ctl_text(replace, "gain_by"), "edp") == 0;
    double bytes = ctl_number(replace, "memory_bytes");

    fprintf(text->out, "%s", ctl_text(replace, "verdict"));
    fprintf(text->out, "; cores %s", ctl_text(replace, "cpus"));
    add_measure(text, by_energy ? "gain in energy times time, as" : "gain",
                ctl_number(replace, "gain_cores"), 3, "cores");
    add_measure(text, "cost", ctl_number(replace, "cost_core_s"), 3, "core-seconds");
    if (bytes > 0)
        add_measure(text, "memory that would follow", bytes / (1 << 20), 1, "MiB");
    fputs(" (predicted)", text->out);
}

static void say_memory(struct text *text, struct json_object *memory)
{
    double moved = ctl_number(memory, "moved_bytes");

    fprintf(text->out, "%s", ctl_true(memory, "running") ? "pages are under way" : "it has moved");
    add_measure(text, "to move", ctl_number(memory, "bytes") / (1 << 20), 1, "MiB");
    add_measure(text, "moved", moved / (1 << 20), 1, "MiB");
    add_measure(text, "gain", ctl_number(memory, "gain_cores"), 3, "cores");
    add_measure(text, "cost", ctl_number(memory, "lost_core_s"), 3, "core-seconds");
    if (given(ctl_text(memory, "reason")))
        fprintf(text->out, "; %s", ctl_text(memory, "reason"));
}

/* Adds the same as add_measure, and nothing where the value is not known. */
static void add_known(struct text *text, const char *label, double value, int digits,
                      const char *unit)
{
    if (!isnan(value))
        add_measure(text, label, value, digits, unit);
}

static void say_bill(struct text *text, struct json_object *bill)
{
    double energy = ctl_number(bill, "energy_j"), gaps = ctl_number(bill, "gaps");
    double edp = ctl_number(bill, "edp_per_instruction");

    if (isnan(energy)) {
        fputs("not metered", text->out);
        return;
    }
    fprintf(text->out, "%.1f J by %s", energy, ctl_text(bill, "source"));
    if (given(ctl_text(bill, "by")))
        fprintf(text->out, ", shared by %s", ctl_text(bill, "by"));
    add_known(text, "packages", ctl_number(bill, "package_j"), 1, "J");
    add_known(text, "memory", ctl_number(bill, "dram_j"), 1, "J");
    add_known(text, "node", ctl_number(bill, "node_j"), 1, "J");
    add_known(text, "average power", ctl_number(bill, "power_w"), 1, "W");
    add_known(text, "energy-delay product", ctl_number(bill, "edp"), 1, "J s");
    if (!isnan(edp))
        fprintf(text->out, ", %.3g J s per instruction", edp);
    if (gaps > 0)
        fprintf(text->out, "; not metered for a time: %.0f gap%s", gaps, plural(gaps));
}

/* ---- a step ---- */

static void add_exit(struct text *text, double status)
{
    int code = isnan(status) ? 0 : (int)status;

    if (isnan(status))
        fputs(", exit status not known", text->out);
    else if (WIFSIGNALED(code))
        fprintf(text->out, ", killed by signal %d", WTERMSIG(code));
    else
        fprintf(text->out, ", exit status %d", WEXITSTATUS(code));
}

static void say_class(struct text *text, struct json_object *class)
{
    fputs(ctl_text(class, "name"), text->out);
    add_reason(text, class);
}

static void say_head(struct text *text, struct json_object *step)
{
    double ended = ctl_number(step, "ended_at");

    fprintf(text->out, "%s %s, started ", ctl_text(step, "id"), ctl_text(step, "state"));
    add_when(text, ctl_number(step, "started_at"));
    if (!isnan(ended)) {
        fputs(", ended ", text->out);
        add_when(text, ended);
        add_exit(text, ctl_number(step, "exit_status"));
    }
}

struct paragraph {
    const char *stage; /* its title; NULL: a line without one, about the step itself */
    void (*say)(struct text *text, struct json_object *stage);
    bool always; /* though the answer has nothing of it */
};

/* Prints one paragraph about the step. Returns the exit status. */
static int put_paragraph(const struct paragraph *paragraph, struct json_object *step,
                         size_t columns)
{
    struct json_object *stage = paragraph->stage ? ctl_object(step, paragraph->stage) : step;
    char *buffer = NULL;
    size_t size;
    struct text text = {.step = step};

    if (!stage && !paragraph->always)
        return 0;
    text.out = open_memstream(&buffer, &size);
    if (text.out)
        paragraph->say(&text, stage);
    if (!text.out || fclose(text.out) != 0) {
        free(buffer);
        return ctl_fail("explain", "%m");
    }
    if (paragraph->stage)
        ctl_put_paragraph(stdout, paragraph->stage, INDENT, buffer, columns);
    else
        ctl_put_line(stdout, buffer, 0);
    free(buffer);
    return 0;
}

static int explain_step(struct json_object *step, size_t columns)
{
    static const struct paragraph paragraphs[] = {
        {NULL, say_head, true},          {"request", say_request, true},
        {"profile", say_profile, true},  {"class", say_class, true},
        {"size", say_size, false},       {"place", say_place, false},
        {"enforce", say_enforce, false}, {"replace", say_replace, false},
        {"memory", say_memory, false},   {"observe", say_observe, false},
        {"bill", say_bill, false},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(paragraphs) / sizeof(paragraphs[0]); i++)
        rc = put_paragraph(&paragraphs[i], step, columns);
    return rc;
}

static int explain(const char *socket, struct wire_step_id id, const char *name, bool json)
{
    struct wire_request request = {.op = WIRE_OP_EXPLAIN, .id = id};
    size_t columns = ctl_columns();
    struct json_object *answer, *steps;
    struct berth_error err;
    int rc = 0;

    answer = ctl_ask(socket, &request, &err);
    if (!answer)
        return ctl_fail("berthd", "%s", err.text);
    steps = ctl_object(answer, "steps");
    if (ctl_length(steps) == 0) {
        double history = ctl_number(ctl_object(answer, "node"), "history");

        json_object_put(answer);
        return ctl_fail(name, "no such step here (ended steps are remembered: the last %.0f)",
                        history);
    }
    if (json) {
        json_object_object_del(answer, "node");
        return ctl_print_json(answer);
    }
    for (size_t i = 0; rc == 0 && i < ctl_length(steps); i++) {
        if (i)
            putchar('\n');
        rc = explain_step(json_object_array_get_idx(steps, i),
                          columns ? columns : COLUMNS_WITHOUT_TERMINAL);
    }
    json_object_put(answer);
    return rc;
}

int ctl_explain(int argc, char **argv)
{
    struct ctl_query query = {0};
    struct wire_step_id id;
    int status = ctl_options_read(&options, argc, argv, &query);

    if (status >= 0)
        return status;
    if (wire_step_parse(argv[optind], &id) < 0)
        return ctl_usage("explain", "'%s' is no JOB[.STEP], as 4711 or 4711.0", argv[optind]);
    return explain(query.socket, id, argv[optind], query.json);
}
