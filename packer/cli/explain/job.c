/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job - `berthctl job JOB`: a page about a job as a whole, like seff's: how it ended as Slurm has
 * it, what it used of what it was given, what berth did, and one hint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/common/screen.h"
#include "packer/cli/common/users.h"
#include "packer/cli/explain/course_plot.h"
#include "packer/cli/explain/explain_summary.h"
#include "packer/cli/find/find.h"
#include "packer/cli/explain/job_sum.h"
#include "packer/cli/find/untold.h"
#include "packer/cli/common/verbs.h"

#define INDENT 10 /* of what is said of a row */
#define STEPS_SHOWN 8
#define COLUMNS_WITHOUT_TERMINAL 100
#define CLOCKS_DIFFER_S 5 /* between slurmctld's and a node's, at most */

struct question {
    struct find find;
    bool json, plot;
};

static const struct ctl_option option_rows[] = {
    {"json", 0, NULL, "{\"jobs\":[{...}]}, each with its steps as explain has them",
     CTL_FLAG(struct question, json)},
    {"plot", 0, NULL, "each step's speed over time, with who came and who left",
     CTL_FLAG(struct question, plot)},
    FIND_OPTIONS(struct question),
    FIND_ASK(struct question),
};
static const struct ctl_options options = {
    .verb = "job",
    .synopsis =
        "[--json | --plot] [--ask] [--config FILE] [--here] [--wait S] [--socket PATH] JOB[_TASK]",
    .about = "How a job did, on one page: its state as Slurm has it, CPU time, memory, energy,\n"
             "neighbours, slowdown, what berth did, and one hint. Of an array, a page a task.",
    CTL_OPTIONS(option_rows),
    .least = 1,
    .most = 1,
    .takes = "one JOB or JOB_TASK",
};

/* A job as Slurm has it (NULL: it does not know it) with its steps. */
struct page {
    const struct slurm_job *job;
    struct json_object *steps; /* explanations */
    struct job_sum sum;
    char state[48]; /* one word: "CANCELLED" */
    char hint[512];
};

/* ---- rows ---- */

static void say_head(FILE *out, const struct page *page)
{
    struct json_object *step = json_object_array_get_idx(page->steps, 0);
    const struct slurm_job *job = page->job;
    double uid = ctl_number(ctl_object(step, "request"), "uid");
    char name[USERS_NAME_MAX] = "-";

    if (job || !isnan(uid))
        users_name(job ? job->uid : (uint32_t)uid, name);
    fprintf(out, "%s of %s", job && job->name[0] ? job->name : "a job", name);
    if (job && job->account[0])
        fprintf(out, ", account %s", job->account);
    if (job && job->partition[0])
        fprintf(out, ", partition %s", job->partition);
    if (job && job->node_list[0])
        fprintf(out, ", on %s", job->node_list);
}

static void say_state(FILE *out, const struct page *page)
{
    char elapsed[CTL_TIME_MAX];

    ctl_time(page->sum.elapsed_s, elapsed);
    fprintf(out, "%s; %s %s", page->job ? page->job->state : "not known to squeue and sacct",
            page->sum.running ? "runs for" : "ran for", elapsed);
}

static void say_cpu(FILE *out, const struct page *page)
{
    const struct job_sum *sum = &page->sum;
    char used[CTL_TIME_MAX], percent[32];

    ctl_time(sum->cpu_s, used);
    fprintf(out, "%s of %.0f core%s: %s of CPU time used", screen_percent(sum->cpu, percent),
            sum->cores, sum->cores == 1 ? "" : "s", used);
}

/* Says a fact that has a line of its own; of a wait also what part it is of it and the time on CPUs
 * together. */
static void say_fact(FILE *out, const struct page *page, enum job_fact i)
{
    const struct job_fact_of *of = &job_fact_of[i];
    double value = page->sum.fact[i], cpu_s = page->sum.cpu_s;
    char time[CTL_TIME_MAX], percent[32];

    if (isnan(value))
        return;
    ctl_time(value, time);
    fprintf(out, "%s %s", time, of->words);
    if (fact[of->id].kind == FACT_WAIT && value + cpu_s > 0)
        fprintf(out, ": %s of the time that it could have run",
                screen_percent(value / (value + cpu_s), percent));
}

static void say_memory(FILE *out, const struct page *page)
{
    char percent[32];

    if (isnan(page->sum.maxrss_bytes)) {
        fputs("not known", out);
        return;
    }
    fprintf(out, "largest process %.1f MiB", page->sum.maxrss_bytes / 1048576);
    if (!isnan(page->sum.memory))
        fprintf(out, ": %s of what Slurm gave on its node",
                screen_percent(page->sum.memory, percent));
}

static void say_energy(FILE *out, const struct page *page)
{
    const struct job_sum *sum = &page->sum;
    char joules[32], percent[32];

    if (isnan(sum->energy_j)) {
        fputs("not metered", out);
        return;
    }
    fprintf(out, "%s", ctl_joules(sum->energy_j, joules));
    if (!isnan(sum->power_w))
        fprintf(out, ", %.1f W on average", sum->power_w);
    if (sum->modelled)
        fputs(", by model", out);
    if (sum->idle_j >= 0 && sum->energy_j > 0)
        fprintf(out, "; %s of it is what cores take when idle",
                screen_percent(sum->idle_j / sum->energy_j, percent));
    if (sum->metered < sum->steps)
        fprintf(out, " (%zu of %zu records metered)", sum->metered, sum->steps);
}

static void say_slowdown(FILE *out, const struct page *page)
{
    const double value[] = {page->sum.predicted, page->sum.home, page->sum.measured};
    static const char *const what[] = {"predicted", "where Slurm put it", "measured"};
    const char *before = "";
    char percent[32];

    for (size_t i = 0; i < 3; i++)
        if (!isnan(value[i])) {
            fprintf(out, "%s%s %s", before, what[i], screen_percent(value[i], percent));
            before = ", ";
        }
    fputs(before[0] ? " (slower than alone)" : "not known", out);
}

static void say_lost(FILE *out, const struct page *page)
{
    loss_say(out, &page->sum.loss);
}

static void say_beside(FILE *out, const struct page *page)
{
    const struct job_sum *sum = &page->sum;

    if (isnan(sum->neighbours))
        return; /* it has ended: what they did to it is in `lost` */
    explain_sharers(out, (size_t)sum->neighbours, (size_t)sum->devils);
    if (sum->siblings > 0)
        fprintf(out, ", %.0f share%s a core with it", sum->siblings, sum->siblings == 1 ? "s" : "");
}

static void say_deed(FILE *out, const struct page *page)
{
    const struct job_sum *sum = &page->sum;
    double moves = sum->fact[JOB_MOVES];
    const struct {
        size_t n;
        const char *what, *why;
    } deeds[] = {{sum->placed, "placed", NULL},
                 {sum->observed, "only observed", sum->watched},
                 {sum->left, "left alone", sum->reason}};
    const char *before = "";

    for (size_t i = 0; i < 3; i++)
        if (deeds[i].n) {
            fprintf(out, "%s%zu step%s %s", before, deeds[i].n, deeds[i].n == 1 ? "" : "s",
                    deeds[i].what);
            if (deeds[i].why)
                fprintf(out, " (%s)", deeds[i].why);
            before = ", ";
        }
    if (moves > 0)
        fprintf(out, "; moved %.0f time%s", moves, moves == 1 ? "" : "s");
}

static void say_hint(FILE *out, const struct page *page)
{
    fputs(page->hint[0] ? page->hint : "none", out);
}

#define FACT_JOB(ID, key, title, words)                                                            \
    static void say_##ID(FILE *out, const struct page *page)                                       \
    {                                                                                              \
        say_fact(out, page, JOB_##ID);                                                             \
    }
#include "packer/fact/facts.def"

static const struct row {
    const char *title; /* NULL: it has no line */
    void (*say)(FILE *out, const struct page *page);
} rows[] = {
    {"state", say_state},   {"cpu", say_cpu},
#define FACT_JOB(ID, key, title, words) {title, say_##ID},
#include "packer/fact/facts.def"
    {"memory", say_memory}, {"energy", say_energy}, {"slowdown", say_slowdown}, {"lost", say_lost},
    {"beside", say_beside}, {"berth", say_deed},    {"hint", say_hint},
};

/* ---- the page ---- */

/* Prints what `say` says beside a title; no line where it says nothing. Returns the exit status. */
static int put(const char *title, void (*say)(FILE *, const struct page *), const struct page *page,
               void (*say_step)(FILE *, struct json_object *), struct json_object *step)
{
    size_t size, columns = ctl_columns();
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);

    if (out && say)
        say(out, page);
    else if (out)
        say_step(out, step);
    if (!out || fclose(out) != 0) {
        free(text);
        return ctl_fail("job", "%m");
    }
    if (size > 0)
        ctl_put_paragraph(stdout, title, INDENT, text,
                          columns ? columns : COLUMNS_WITHOUT_TERMINAL);
    free(text);
    return 0;
}

static int put_page(const struct page *page)
{
    struct json_object *first = json_object_array_get_idx(page->steps, 0);
    size_t n = ctl_length(page->steps);
    char title[80];
    int rc;

    snprintf(title, sizeof(title), "job %.63s", page->job ? page->job->id : ctl_text(first, "id"));
    if (!page->job)
        title[strcspn(title, ".")] = '\0';
    rc = put(title, say_head, page, NULL, NULL);
    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
        rc = rows[i].title ? put(rows[i].title, rows[i].say, page, NULL, NULL) : 0;
    for (size_t i = 0; rc == 0 && i < n && i < STEPS_SHOWN; i++) {
        struct json_object *step = json_object_array_get_idx(page->steps, i);

        rc = put(ctl_text(step, "id"), NULL, NULL, explain_what, step);
    }
    if (n > STEPS_SHOWN)
        printf("and %zu more (berthctl explain)\n", n - STEPS_SHOWN);
    return rc;
}

/* Puts the curves of its steps. */
static void put_plots(const struct page *page)
{
    struct screen screen = screen_stdout();

    for (size_t i = 0; i < ctl_length(page->steps) && i < STEPS_SHOWN; i++) {
        screen_end(&screen);
        course_plot(&screen, json_object_array_get_idx(page->steps, i));
    }
}

/* What Slurm does not say is null. */
static const char *said(const char *text)
{
    return text[0] ? text : NULL;
}

static struct json_object *page_json(const struct page *page)
{
    struct json_object *object = json_object_new_object(), *slowdown = json_object_new_object();
    const struct job_sum *sum = &page->sum;
    const struct slurm_job *job = page->job;

    json_add_text(object, "job_id", job ? job->id : NULL);
    json_add_text(object, "state", said(page->state));
    json_add_text(object, "job_name", job ? said(job->name) : NULL);
    json_add_text(object, "partition", job ? said(job->partition) : NULL);
    json_add_text(object, "account", job ? said(job->account) : NULL);
    json_add_text(object, "node_list", job ? said(job->node_list) : NULL);
    json_add_number(object, "elapsed_s", sum->elapsed_s);
    json_add_number(object, "alloc_cpus", sum->cores);
    json_add_number(object, "total_cpu_s", sum->cpu_s);
    json_add_number(object, "cpu_efficiency", sum->cpu);
    json_add_number(object, "max_rss_bytes", sum->maxrss_bytes);
    json_add_number(object, "run_efficiency",
                    sum->cpu_s / (sum->cpu_s + sum->fact[JOB_CPU_WAIT_S]));
    json_add_number(object, "memory_efficiency", sum->memory);
    json_add_number(object, "energy_j", sum->energy_j);
    json_add_number(object, "average_power_w", sum->power_w);
    json_add_number(object, "idle_j", sum->idle_j);
    json_add_text(object, "idle_energy", said(sum->idle_energy));
    json_add_number(slowdown, "predicted", sum->predicted);
    json_add_number(slowdown, "home", sum->home);
    json_add_number(slowdown, "measured", sum->measured);
    json_add(object, "slowdown", slowdown);
    json_add(object, "loss", loss_json(&sum->loss));
    json_add_number(object, "neighbours", sum->neighbours);
    json_add_number(object, "siblings", isnan(sum->neighbours) ? NAN : sum->siblings);
    for (size_t i = 0; i < JOB_FACTS; i++)
        json_add_number(object, job_fact_of[i].key, sum->fact[i]);
    json_add_text(object, "hint", said(page->hint));
    json_add(object, "steps", json_object_get(page->steps));
    return object;
}

/* ---- which jobs ---- */

/* Takes the steps of one job out of all: of its last run where Slurm says when that began. */
static struct json_object *steps_of(struct json_object *all, uint32_t number,
                                    const struct slurm_job *job)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < ctl_length(all); i++) {
        struct json_object *step = json_object_array_get_idx(all, i);
        double own = ctl_number(ctl_object(step, "request"), "job");
        double began = ctl_number(step, "started_at");

        if (own != number || (job && job->start && began + CLOCKS_DIFFER_S < (double)job->start))
            continue;
        json_append(list, json_object_get(step));
    }
    return list;
}

static void fill(struct page *page, const struct slurm_job *job, struct json_object *steps)
{
    *page = (struct page){.job = job, .steps = steps};
    if (job)
        snprintf(page->state, sizeof(page->state), "%.*s", (int)strcspn(job->state, " "),
                 job->state);
    job_sum(steps, job, &page->sum);
    job_hint(&page->sum, page->state, page->hint, sizeof(page->hint));
}

/* Finds the job as Slurm knows it: sacct only where squeue does not, any more. */
static size_t ask_slurm(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    size_t n = slurm_jobs_named(id, jobs), kept = 0;

    for (size_t i = 0; i < n; i++)
        slurm_job_ask_memory(&jobs[i]);
    if (n == 0)
        n = slurm_jobs_accounted(id, jobs);
    for (size_t i = 0; i < n; i++)
        if (!id->exact || jobs[i].job == id->job)
            jobs[kept++] = jobs[i];
    return kept;
}

/* Returns the number of the first step's job: Slurm does not know it any more. */
static uint32_t number_of(struct json_object *steps)
{
    double number = ctl_number(ctl_object(json_object_array_get_idx(steps, 0), "request"), "job");

    return number > 0 ? (uint32_t)number : 0;
}

/* Shows a job; *shown counts those that have steps. Returns the exit status. */
static int show(uint32_t number, const struct slurm_job *job, struct json_object *all, bool plot,
                struct json_object *json, size_t *shown)
{
    struct page page;
    int rc = 0;

    fill(&page, job, steps_of(all, number, job));
    if (page.sum.steps == 0) {
        json_object_put(page.steps);
        return 0;
    }
    if (json)
        json_append(json, page_json(&page));
    else if ((*shown == 0 || putchar('\n') != EOF))
        rc = put_page(&page);
    if (rc == 0 && plot && !json)
        put_plots(&page);
    (*shown)++;
    json_object_put(page.steps);
    return rc;
}

/* Says in one line that nothing is known of the job's steps, and what Slurm has of it. */
static int say_unknown(const char *name, const struct slurm_job *jobs, size_t n,
                       const struct berth_error *err)
{
    const struct typed typed = {"job", name};
    struct berth_error why = *err;

    if (n > 0 && jobs[0].uid != getuid() && getuid() != 0)
        untold_set(&why, UNTOLD_FOREIGN, &typed, &jobs[0], "");
    else if (n > 0 && strncmp(err->text, "it ", 3) != 0) /* else that is all there is to say */
        untold_set(&why, UNTOLD_NO_RECORD, &typed, &jobs[0], err->text);
    return ctl_fail(name, "%s", why.text);
}

static int tell(const struct question *question, struct job_id *id, const char *name)
{
    struct slurm_job jobs[SLURM_JOBS_MAX];
    struct json_object *json = question->json ? json_object_new_array() : NULL, *answer, *all;
    struct berth_error err = {"no step of it is known"};
    size_t n, shown = 0;
    int rc = 0;

    answer = find_steps(&question->find, "job", id, name, &err);
    n = ask_slurm(id, jobs);
    all = ctl_object(answer, "steps");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = show(jobs[i].job, &jobs[i], all, question->plot, json, &shown);
    if (rc == 0 && n == 0 && answer)
        rc = show(number_of(all), NULL, all, question->plot, json, &shown);
    if (rc == 0 && shown == 0)
        rc = say_unknown(name, jobs, n, &err);
    else if (rc == 0 && json) {
        struct json_object *object = json_object_new_object();

        json_add(object, "jobs", json_object_get(json));
        rc = ctl_print_json(object);
    }
    json_object_put(json);
    json_object_put(answer);
    return rc;
}

int ctl_job(int argc, char **argv)
{
    struct question question = {0};
    struct job_id id;
    int status = ctl_options_read(&options, argc, argv, &question);

    if (status >= 0)
        return status;
    if (job_id_parse(argv[optind], &id) < 0 || id.step != UINT32_MAX)
        return ctl_usage("job", "'%s' is no JOB[_TASK|+PART], as 4711, 4711_2 or 4711+1",
                         argv[optind]);
    return tell(&question, &id, argv[optind]);
}
