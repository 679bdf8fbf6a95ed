/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain - `berthctl explain JOB[.STEP]`: what berth did with a step, why, and what that gains, in
 * three lines, and one about what was asked for inside it; with -v its life as sentences, stage by
 * stage in the order of the way of the data. Every figure comes from berthd's answer; what it does
 * not know is said to be unknown. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/common/users.h"
#include "packer/cli/explain/explain_inside.h"
#include "packer/cli/explain/explain_summary.h"
#include "packer/cli/find/find.h"
#include "packer/cli/common/verbs.h"
#include "packer/fact/fact.h"

#define TASKS_SHOWN 8
#define INDENT 9 /* of what is said of a stage */
#define COLUMNS_WITHOUT_TERMINAL 100

struct question {
    struct find find;
    bool json, verbose;
};

static const struct ctl_option option_rows[] = {
    {"verbose", 'v', NULL, "every decision, in the order it was made",
     CTL_FLAG(struct question, verbose)},
    {"json", 0, NULL, "{\"steps\":[...]}, always all of it", CTL_FLAG(struct question, json)},
    FIND_OPTIONS(struct question),
    FIND_ASK(struct question),
};
static const struct ctl_options options = {
    .verb = "explain",
    .synopsis = "[-v] [--json] [--ask] [--config FILE] [--here] [--wait S] [--socket PATH] "
                "JOB[_TASK][.STEP]",
    .about = "What berth did with a step, why, and what the step gains by that.\n"
             "STEP is a number, batch or interactive; without it all steps of the job.",
    CTL_OPTIONS(option_rows),
    .least = 1,
    .most = 1,
    .takes = "one JOB or JOB.STEP",
};

/* ---- the stages ---- */

static void say_vector(FILE *out, struct json_object *nodes)
{
    for (size_t i = 0, n = ctl_length(nodes); i < n; i++) {
        fputs(i ? ", " : " (", out);
        ctl_say(out, json_object_array_get_idx(nodes, i), "node {node}: {given} of {cores}");
        fputs(i + 1 == n ? ")" : "", out);
    }
}

static void say_size(FILE *out, struct json_object *size)
{
    ctl_say(out, size, "{given} core{given*} of the {cores} that Slurm gave");
    if (ctl_number(size, "given") < ctl_number(size, "cores"))
        say_vector(out, ctl_object(size, "nodes"));
    ctl_say(
        out, size,
        "[: {reason}]"
        "[; what limits it: {constraint}[ of node {constraint_at.node}]"
        "[ from node {constraint_at.from} to {constraint_at.to}]; predicted {gbps:2} GB/s with them"
        "[, {gbps_all:2} with all|, not known with all]]"
        "[; OMP_NUM_THREADS={threads}]"
        "[; idle: {idle}][; left to other steps of the job: {offered}]"
        "[; {state}[, phase {phase>0}]]"
        "[; traffic between nodes: {matrix}][, measured for {measured_s:2} s]"
        "[, relative error {matrix_error:3}][{disturbed?}, while others ran beside it]"
        "[; it may cost {loss.asked_pct%3} % of its speed[, predicted {loss.predicted:1/0.01} %]"
        "[, measured {loss.measured:1/0.01} %[ +- {loss.error:1/0.01}]]]"
        "[; {gain.core_s>0} core-seconds left to others]"
        "[; profiled for {profiled_s>0:1} s][; {why}]");
}

/* Says "cache 0", "caches 0, 1" or "no cache". */
static void say_caches(FILE *out, struct json_object *caches)
{
    size_t n = ctl_length(caches);

    fputs(n == 0 ? "no cache" : n == 1 ? "cache" : "caches", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : " ",
                json_object_get_uint64(json_object_array_get_idx(caches, i)));
}

static void say_neighbours(FILE *out, struct json_object *neighbours)
{
    size_t n = ctl_length(neighbours);

    fputs(n ? "; beside it there:" : "; nobody else stands there", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : " ", out);
        ctl_say(out, json_object_array_get_idx(neighbours, i),
                "[{id}|another user's step] ({class}[, {miss_pmi} misses], cache {llc}"
                "[; it shares the core of CPU {shared}])");
    }
}

/* Says who keeps others of the pool off its cores: Slurm put him there, and berth has no say. */
static void say_strangers(FILE *out, struct json_object *strangers)
{
    for (size_t i = 0; i < ctl_length(strangers); i++) {
        struct json_object *stranger = json_object_array_get_idx(strangers, i);

        fputs(i ? ", " : "; on cores of its own, and not in berth's care: ", out);
        ctl_say(out, stranger,
                strchr(ctl_text(stranger, "id"), '.')
                    ? "step {id}, which is not registered, on {cpus}"
                    : "[job {id}|another user's job] on {cpus}");
    }
}

/* Says where the step is and why; how the policy ranked it stands in the reason. */
static void say_place(FILE *out, struct json_object *place)
{
    ctl_say(out, place, "CPUs [{home}|none] -> [{cpus}|none], ");
    say_caches(out, ctl_object(place, "llc"));
    ctl_say(out, place, ", memory node [{mems}|none], by {policy}");
    if (strcmp(ctl_text(place, "policy_asked"), ctl_text(place, "policy")) != 0)
        ctl_say(out, place, "[ ({policy_asked} was asked for)]");
    ctl_say(out, place,
            "[: {reason}]"
            "[{edp_choice?}[{edp_source?}; energy-delay product clustered "
            "[{edp_cluster:3} J s|not known]; spread [{edp_spread:3} J s|not known]"
            " (predicted, power [{edp_source=model}by the site's model|{edp_source}])"
            "|; energy-delay products are not known]]"
            "[{spread.reason?}; each task on {spread.caches} cache{spread.caches*} at most"
            "[ ({spread.asked} was asked for)]: {spread.reason}"
            "[, {spread.shared:2} of their hits]]"
            "[; memory {bandwidth.text}]"
            "[; {near.text}]"
            "[; Slurm gave cores of it to {share.others} other{share.others*} too: "
            "[its part is {share.cores} core{share.cores*}|they share them]]"
            "[{max_slowdown.reason?}; max-slowdown "
            "[{max_slowdown.met?}is met|{max_slowdown.predicted?}is not met|has no effect]"
            ": {max_slowdown.reason}]"
            "[{isolate.asked?}[{isolate.granted?}; isolated in {isolate.domain}|; not isolated]"
            "[: {isolate.reason}]]");
    say_strangers(out, ctl_object(place, "strangers"));
    say_neighbours(out, ctl_object(place, "neighbours"));
}

/* Says the first of a list by the template, and how many more there are. */
static void say_each(FILE *out, struct json_object *list, const char *each, const char *what)
{
    size_t n = ctl_length(list);

    for (size_t i = 0; i < n && i < TASKS_SHOWN; i++)
        ctl_say(out, json_object_array_get_idx(list, i), each);
    if (n > TASKS_SHOWN)
        fprintf(out, "; and %zu more %s (--json has all)", n - TASKS_SHOWN, what);
}

static void say_enforce(FILE *out, struct json_object *enforce)
{
    ctl_say(out, enforce,
            "by {way}, [{way=dryrun}nothing was touched|{verified?}read back as wanted"
            "|not verified], moved {moves} time{moves*}[: {reason}]");
    say_each(out, ctl_object(enforce, "tasks"),
             "; [{rank?}rank|task] {id}[ of {of}] (pid {pid}) [{home}|none] -> [{cpus}|none]",
             "tasks");
}

static void say_ranks(FILE *out, struct json_object *ranks)
{
    ctl_say(out, ranks,
            "{n} rank{n*} started by {launcher}, "
            "[{tasks?}placed one by one|not placed one by one][: {reason}]");
    say_each(out, ctl_object(ranks, "ranks"), "; rank {id} (pid {pid}) on [{cpus}|none]", "ranks");
}

/* Says what facts.def has to say of each part. */
static void say_loss(FILE *out, struct json_object *loss)
{
    for (enum fact_id id = fact_next("loss", 0); id < FACTS; id = fact_next("loss", id + 1))
        if (fact[id].say)
            ctl_say(out, loss, fact[id].say);
}

static void say_observe(FILE *out, struct json_object *observe)
{
    static const struct {
        const char *name, *sentence;
    } shown[] = {
        {"miss_pmi", "[; misses {mean}[ (+- {error})] per million instructions]"},
        {"ipc", "[; {mean:2}[ (+- {error:2})] instructions per cycle]"},
        {"stalled", "[; waiting for memory {mean/0.01}[ (+- {error/0.01})] % of the cycles]"},
        {"remote", "[; remote memory {mean/0.01}[ (+- {error/0.01})] % of the lines read]"},
        {"bytes_s", "[; memory traffic {mean:2/1e9}[ (+- {error:2/1e9})] GB/s]"},
        {"occupancy_bytes", "[; cache held {mean:1/1048576}[ (+- {error:1/1048576})] MiB]"},
        {"cpu", "[; on CPUs {mean:2}[ (+- {error:2})] cores]"},
        {"run_delay", "[; waiting for CPUs {mean:2}[ (+- {error:2})] threads]"},
        {"lock_wait", "[; waiting for locks {mean:2}[ (+- {error:2})] threads]"},
        {"switches_s", "[; context switches {mean:1}[ (+- {error:1})] per second]"},
        {"migrations_s", "[; migrations {mean:1}[ (+- {error:1})] per second]"},
    };
    struct json_object *counts = ctl_object(observe, "counts");

    for (enum fact_id id = fact_next("observe", 0); id < FACTS; id = fact_next("observe", id + 1))
        if (fact[id].say)
            ctl_say(out, observe, fact[id].say);
    say_each(out, ctl_object(observe, "unread"),
             "; [{what=program}its program|{what=ranks}its ranks|{what=sdp}its reuse "
             "distances|{what=processes}what its processes use|its "
             "memory by node] not known: [{hung?}a process of it lets nobody look|too many threads "
             "hang that look at its user's processes]",
             "unread");
    if (!(ctl_number(counts, "windows") > 0))
        return;
    ctl_say(out, counts,
            "; counted in {windows} window{windows*} ({alone.windows} alone on its caches, "
            "{beside.windows} beside others)[, now in phase {phase>1}]");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        ctl_say(out, ctl_object(ctl_object(counts, "rates"), shown[i].name), shown[i].sentence);
}

static void say_head(FILE *out, struct json_object *step)
{
    double status = ctl_number(step, "exit_status");
    int code = isnan(status) ? 0 : (int)status;

    ctl_say(out, step, "{id} {state}[ (from the ledger of {node_name})], started {started_at@}");
    if (isnan(ctl_number(step, "ended_at")))
        return;
    ctl_say(out, step, ", ended {ended_at@}");
    if (isnan(status))
        fputs(", exit status not known", out);
    else if (WIFSIGNALED(code))
        fprintf(out, ", killed by signal %d", WTERMSIG(code));
    else
        fprintf(out, ", exit status %d", WEXITSTATUS(code));
}

/* A paragraph is one sentence of ctl_say(), about the step, or the work of a function, about the
 * stage. */
static const struct paragraph {
    const char *stage; /* its title; NULL: a line without one, about the step itself */
    bool always;       /* though the answer has nothing of the stage */
    void (*say)(FILE *out, struct json_object *stage); /* NULL: the sentence */
    const char *sentence;
} paragraphs[] = {
    {NULL, true, say_head, NULL},
    {"request", true, NULL,
     "user {request.user} asked for --contention-aware={request.options}: "
     "{request.tasks} task{request.tasks*}"
     "[ of {request.cpus_per_task>0} CPU{request.cpus_per_task*}]"
     "[; Slurm gave the step cores {request.step_cores} of the job's [{request.job_cores}|-]]"
     "[; task {request.array_task} of array {request.array_job>0}]"
     "[; the site does not allow {request.refused}]"
     "[{request.bound_by_hand?}; bound to its cores by hand]"
     "[{request.late?}; its tasks had begun before berthd's answer was heard]"
     "[; the program is {request.exe}|; the program is not known]"
     "[{request.found?}, which uses its CPUs]"},
    {"profile", true, NULL,
     "[{profile.known?}{profile.miss_pmi} cache misses per million instructions, "
     "from {profile.source}, measured {profile.measured_at@}"
     "[{profile.truncated?} over the program's beginning only]"
     "[; {profile.core_gbps:2} GB/s by one core alone]; key {profile.key}"
     "|none in the store for {profile.key}[{hint.tag?} (berthctl profile --tag {hint.tag} -- "
     "COMMAND makes one)|{hint.exe?} (berthctl profile -- {hint.exe} ... makes one)]"
     "[{hint.script?}: a batch script, whose programs are profiled where srun starts them]"
     "|none: neither a program nor a tag to look up]"},
    {"class", true, NULL, "{class.name}[: {class.reason}]"},
    {"size", false, say_size, NULL},
    {"place", false, say_place, NULL},
    {"enforce", false, say_enforce, NULL},
    {"ranks", false, say_ranks, NULL},
    {"replace", false, NULL,
     "{replace.verdict}; cores {replace.cpus}"
     "; [{replace.gain_by=edp}gain in energy times time, as|gain] "
     "[{replace.gain_cores:3} cores|not known]"
     "; cost [{replace.cost_core_s:3} core-seconds|not known]"
     "[; memory that would follow {replace.memory_bytes>0:1/1048576} MiB] (predicted)"},
    {"thermal", false, NULL,
     "[{thermal.limit}: the core of CPU {thermal.core} had {thermal.celsius:0} degrees[, moved to "
     "that "
     "of CPU {thermal.moved_to}|, and nowhere was it cooler], {thermal.at@}|nothing since berthd "
     "started]; moved {thermal.moves} times[; does not come back to CPUs {thermal.hot}]"},
    {"proposed", false, NULL,
     "policy {proposed.by} proposed its [{proposed.what=cpus}place|[{proposed.what=khz}greatest "
     "frequency|prefetchers]][: refused: {proposed.why}|: done], {proposed.at@}; "
     "{proposed.changes} done so far, {proposed.refused} refused"},
    {"memory", false, NULL,
     "[{memory.running?}pages are under way|it has moved]"
     "; to move [{memory.bytes:1/1048576} MiB|not known]"
     "; moved [{memory.moved_bytes:1/1048576} MiB|not known]"
     "; gain [{memory.gain_cores:3} cores|not known]"
     "; cost [{memory.lost_core_s:3} core-seconds|not known][; {memory.reason}]"},
    {"faithful", false, explain_faithful, NULL},
    {"tranquil", false, explain_tranquil, NULL},
    {"shuffle", false, explain_shuffle, NULL},
    {"adapt", false, explain_adapt, NULL},
    {"follow", false, explain_follow, NULL},
    {"throttle", false, explain_throttle, NULL},
    {"flex", false, explain_flex, NULL},
    {"locks", false, explain_locks, NULL},
    {"prefetch", false, explain_prefetch, NULL},
    {"frequency", false, explain_frequency, NULL},
    {"observe", false, say_observe, NULL},
    {"loss", false, say_loss, NULL},
    {"bill", false, NULL,
     "[{bill.energy_j:1} J by [{bill.source}|-][, shared by {bill.by}]"
     "[; packages {bill.package_j:1} J][; memory {bill.dram_j:1} J][; node {bill.node_j:1} J]"
     "[; idle part {bill.idle_j:1} J by the rule {bill.idle_energy}]"
     "[; average power {bill.power_w:1} W][; energy-delay product {bill.edp:1} J s]"
     "[, {bill.edp_per_instruction%3} J s per instruction]"
     "[; not metered for a time: {bill.gaps>0} gap{bill.gaps*}]|not metered]"},
};

/* Prints one paragraph about the step. Returns the exit status. */
static int put_paragraph(const struct paragraph *paragraph, struct json_object *step,
                         size_t columns)
{
    struct json_object *stage = paragraph->stage ? ctl_object(step, paragraph->stage) : step;
    char *buffer = NULL;
    size_t size;
    FILE *out;

    if (!stage && !paragraph->always)
        return 0;
    out = open_memstream(&buffer, &size);
    if (out && paragraph->say)
        paragraph->say(out, stage);
    else if (out)
        ctl_say(out, step, paragraph->sentence);
    if (!out || fclose(out) != 0) {
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

static const struct line {
    const char *title; /* NULL: the step's id */
    void (*say)(FILE *out, struct json_object *step);
} lines[] = {{NULL, explain_what},
             {"why", explain_why},
             {"lost", explain_lost},
             {"gain", explain_gain},
             {"inside", explain_inside}};

static int put_summary(struct json_object *step, size_t columns)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        if (out)
            lines[i].say(out, step);
        if (!out || fclose(out) != 0) {
            free(text);
            return ctl_fail("explain", "%m");
        }
        if (size > 0)
            ctl_put_paragraph(stdout, lines[i].title ? lines[i].title : ctl_text(step, "id"),
                              INDENT, text, columns);
        free(text);
    }
    return 0;
}

/* Adds what can be profiled: the tag that the step's profile is looked up by, else its program. A
 * batch script, which slurmd names so, is no program that somebody can start again. */
static void add_hint(struct json_object *step)
{
    const char *key = ctl_text(ctl_object(step, "profile"), "key");
    const char *exe = ctl_text(ctl_object(step, "request"), "exe"), *slash = strrchr(exe, '/');
    const char *id = ctl_text(step, "id"), *dot = strchr(id, '.');
    struct json_object *hint = json_object_new_object();
    bool found = ctl_true(ctl_object(step, "request"), "found");

    if (strncmp(key, "tag:", 4) == 0)
        json_add_text(hint, "tag", key + 4);
    else if ((!found && dot && strcmp(dot, ".batch") == 0) ||
             (slash && strcmp(slash, "/slurm_script") == 0))
        json_add_bool(hint, "script", true);
    else if (slash)
        json_add_text(hint, "exe", exe);
    json_add(step, "hint", hint);
}

/* Adds the user's name, which berthd does not look up. */
static void add_user(struct json_object *step)
{
    struct json_object *request = ctl_object(step, "request");
    double uid = ctl_number(request, "uid");
    char name[USERS_NAME_MAX];

    if (isnan(uid))
        return;
    users_name((uint32_t)uid, name);
    json_add(request, "user", json_object_new_string(name));
}

static int explain_step(struct json_object *step, bool verbose, size_t columns)
{
    int rc;

    add_user(step);
    add_hint(step);
    rc = put_summary(step, columns);
    if (rc == 0 && verbose)
        putchar('\n');
    for (size_t i = 0; rc == 0 && verbose && i < sizeof(paragraphs) / sizeof(paragraphs[0]); i++)
        rc = put_paragraph(&paragraphs[i], step, columns);
    return rc;
}

/* Explains all steps of an answer. Returns the exit status. */
static int explain_all(struct json_object *steps, bool verbose)
{
    size_t columns = ctl_columns();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ctl_length(steps); i++) {
        if (i)
            putchar('\n');
        rc = explain_step(json_object_array_get_idx(steps, i), verbose,
                          columns ? columns : COLUMNS_WITHOUT_TERMINAL);
    }
    return rc;
}

static int explain(const struct question *question, struct job_id *id, const char *name)
{
    struct json_object *answer;
    struct berth_error err;
    int rc;

    answer = find_steps(&question->find, "explain", id, name, &err);
    if (!answer)
        return ctl_fail(name, "%s", err.text);
    if (question->json) {
        json_object_object_del(answer, "node");
        return find_print_json(&question->find, answer);
    }
    rc = explain_all(ctl_object(answer, "steps"), question->verbose);
    json_object_put(answer);
    return rc;
}

int ctl_explain(int argc, char **argv)
{
    struct question question = {0};
    struct job_id id;
    int status = ctl_options_read(&options, argc, argv, &question);

    if (status >= 0)
        return status;
    if (job_id_parse(argv[optind], &id) < 0)
        return ctl_usage("explain", "'%s' is no " JOB_ID_FORMS, argv[optind]);
    return explain(&question, &id, argv[optind]);
}
