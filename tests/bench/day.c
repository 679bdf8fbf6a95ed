/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day - days on one simulated node, with the real berthd behind its socket: how much of the
 * slowdown that could be avoided each policy avoids, and by how many moves.
 *
 * `day --help` tells what is simulated; day_sim.h, day_best.h and day_berthd.h tell how. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/cli/common/input.h"
#include "tests/bench/bench.h"
#include "tests/bench/day_bar.h"
#include "tests/bench/day_berthd.h"
#include "tests/bench/day_best.h"
#include "tests/bench/day_free.h"
#include "tests/bench/day_machines.h"
#include "tests/bench/day_memory.h"
#include "tests/bench/day_options.h"
#include "tests/bench/day_page.h"
#include "tests/bench/day_payer.h"
#include "tests/bench/day_threads.h"
#include "tests/bench/day_trial.h"
#include "tests/unit/common/folder.h"

#define LEAST 1e-6 /* of the time: what could be avoided is not less */

/* What came of one placer. */
struct outcome {
    char name[64];
    struct day_tally *day; /* [days] */
    double *cpu_s;         /* [days] of berthd; NULL where there is none */
    double core_s;         /* that cores worked, on all days */
};

/* Slurm alone, berthd with each policy, what costs nothing, the payer, the forgetful one where jobs
 * have memory, the optimum. */
struct results {
    size_t n;
    struct outcome of[2 * DAY_POLICIES_MAX + DAY_FREE_PLACERS + 4];
    size_t trials;
    struct day_trial trial[DAY_POLICIES_MAX];
    size_t tried[DAY_POLICIES_MAX]; /* of[], the trial's run; the one before it is without */
};

/* ---- runs ---- */

/* Takes the figures of a run that is over. */
static void conclude(const struct day_sim *sim, const struct day_berthd *berthd,
                     struct outcome *outcome)
{
    outcome->day = calloc(sim->days, sizeof(*outcome->day));
    outcome->cpu_s = berthd ? calloc(sim->days, sizeof(*outcome->cpu_s)) : NULL;
    if (!outcome->day || (berthd && !outcome->cpu_s))
        bench_die("day", strerror(errno));
    memcpy(outcome->day, sim->tally, sim->days * sizeof(*outcome->day));
    outcome->core_s = 0;
    for (size_t c = 0; c < sim->topo->cores; c++)
        outcome->core_s += sim->busy_s[c];
    for (size_t d = 0; berthd && d < sim->days; d++)
        outcome->cpu_s[d] = day_berthd_cpu_s(berthd, d);
}

static void run(struct day_sim *sim, const struct day_placer *placer,
                const struct day_berthd *berthd, struct outcome *outcome)
{
    struct berth_error err;

    snprintf(outcome->name, sizeof(outcome->name), "%s", placer->name);
    day_bar_begin(outcome->name);
    if (day_sim_run(sim, placer, day_bar_show, &err) < 0)
        bench_die(outcome->name, err.text);
    day_bar_end();
    conclude(sim, berthd, outcome);
}

static void keep_store(const char *folder, const char *to)
{
    char from[PATH_MAX], *text;
    struct berth_error err;
    size_t length;

    snprintf(from, sizeof(from), "%.1000s/profiles.db", folder);
    text = file_read(from, SIZE_MAX, &length, &err);
    if (!text || file_replace(to, 0644, 0, text, length) < 0)
        bench_die(to, text ? strerror(errno) : err.text);
    free(text);
}

static void run_berthd(struct day_sim *sim, const struct day_study *study, const char *folder,
                       struct outcome *outcome)
{
    struct day_berthd *berthd;
    struct day_placer placer;
    struct berth_error err;

    day_sim_rewind(sim);
    if (day_berthd_open(&berthd, folder, sim, study, &placer, &err) < 0)
        bench_die(study->policy ? study->policy : "berthd", err.text);
    run(sim, &placer, berthd, outcome);
    day_berthd_close(berthd);
}

/* ---- what is printed ---- */

static double stretch(const struct outcome *of, size_t d)
{
    return of->day[d].took_s / of->day[d].alone_s;
}

/* The same of all days. */
static double whole_stretch(const struct outcome *of, size_t days)
{
    double took_s = 0, alone_s = 0;

    for (size_t d = 0; d < days; d++) {
        took_s += of->day[d].took_s;
        alone_s += of->day[d].alone_s;
    }
    return took_s / alone_s;
}

/* Returns a part of what there is to be had; NAN: there is next to nothing. */
static double part(double of, double all)
{
    return all > LEAST ? of / all : NAN;
}

/* Returns which part a run avoids of what there is more with Slurm alone than at the best. */
static double avoided(const struct results *results, size_t i, size_t d)
{
    double slurm = stretch(&results->of[0], d), best = stretch(&results->of[results->n - 1], d);

    return part(slurm - stretch(&results->of[i], d), slurm - best);
}

/* Returns the GiB that followed a job, and the seconds that it lost to memory. */
static double moved_gib(const struct day_tally *day)
{
    return day->moved_bytes / day->jobs / (1 << 30);
}

static double far_s(const struct day_tally *day)
{
    return day->far_s / day->jobs;
}

/* Returns the same part of the work that the run itself could have done more at each moment. */
static double at_once(const struct day_tally *day)
{
    double home_s = day->work_s[DAY_HOME];

    return part(day->work_s[DAY_STAND] / home_s - 1, day->work_s[DAY_BEST] / home_s - 1);
}

static int name_width(const struct results *results)
{
    size_t width = strlen("placed by");

    for (size_t i = 0; i < results->n; i++)
        if (strlen(results->of[i].name) > width)
            width = strlen(results->of[i].name);
    return (int)width;
}

static void print_part(double part)
{
    if (isnan(part))
        printf("  %6s %%", "-");
    else
        printf("  %6.1f %%", 100 * part);
}

static void print_row(const struct results *results, size_t i, size_t d, bool memory)
{
    const struct outcome *of = &results->of[i];
    const struct day_tally *day = &of->day[d];

    printf("%3zu  %-*s  %7.4f", d + 1, name_width(results), of->name, stretch(of, d));
    print_part(avoided(results, i, d));
    print_part(at_once(day));
    printf("  %9.2f  %8.1f s", day->moves / day->jobs, day->wait_s / day->jobs);
    if (memory)
        printf("  %9.2f  %9.2f s", moved_gib(day), far_s(day));
    if (of->cpu_s)
        printf("  %8.3f s", of->cpu_s[d]);
    putchar('\n');
}

static void print_trials(const struct results *results, size_t days)
{
    for (size_t i = 0; i < results->trials; i++) {
        const struct outcome *of = &results->of[results->tried[i]];

        printf("%s, ", of->name);
        day_trial_print(&results->trial[i], whole_stretch(of - 1, days), whole_stretch(of, days));
    }
}

static void print_table(const struct results *results, size_t days, bool memory)
{
    printf("day  %-*s  stretch   avoided   at once  moves/job     waiting%s  berthd CPU\n",
           name_width(results), "placed by", memory ? "  moved GiB  lost to far" : "");
    for (size_t d = 0; d < days; d++)
        for (size_t i = 0; i < results->n; i++)
            print_row(results, i, d, memory);
    print_trials(results, days);
}

static struct json_object *row_json(const struct results *results, size_t i, size_t d)
{
    struct json_object *row = json_object_new_object();
    const struct outcome *of = &results->of[i];
    const struct day_tally *day = &of->day[d];

    json_add_u64(row, "day", d + 1);
    json_add_text(row, "placed_by", of->name);
    json_add_measure(row, "stretch", stretch(of, d));
    json_add_measure(row, "stretch_a_job", day->stretches / day->jobs);
    json_add_number(row, "avoided", avoided(results, i, d));
    json_add_number(row, "avoided_at_once", at_once(day));
    json_add_measure(row, "moves_a_job", day->moves / day->jobs);
    json_add_measure(row, "wait_s", day->wait_s / day->jobs);
    json_add_measure(row, "moved_gib_a_job", moved_gib(day));
    json_add_measure(row, "far_s_a_job", far_s(day));
    json_add_measure(row, "berthd_cpu_s", of->cpu_s ? of->cpu_s[d] : NAN);
    return row;
}

static struct json_object *trials_json(const struct results *results, size_t days)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < results->trials; i++) {
        const struct outcome *of = &results->of[results->tried[i]];
        struct json_object *object = day_trial_json(&results->trial[i], whole_stretch(of - 1, days),
                                                    whole_stretch(of, days));

        json_add_text(object, "placed_by", of->name);
        json_append(list, object);
    }
    return list;
}

static void print_json(const struct day_options *args, size_t set, const struct results *results)
{
    struct json_object *object = json_object_new_object(), *rows = json_object_new_array();

    json_add_text(object, "file", args->file);
    json_add_u64(object, "set", set);
    json_add_double(object, "load", args->plan.load);
    json_add_u64(object, "jobs_a_day", args->plan.jobs);
    json_add_u64(object, "seed", args->plan.seed);
    json_add_double(object, "memory_gib", args->plan.memory_gib);
    for (size_t d = 0; d < args->plan.days; d++)
        for (size_t i = 0; i < results->n; i++)
            json_object_array_add(rows, row_json(results, i, d));
    json_object_object_add(object, "days", rows);
    json_add(object, "trials", trials_json(results, args->plan.days));
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

/* ---- one set ---- */

static const char *topology_of(const struct day_options *args, const struct day_truth *truth)
{
    static char text[128];

    day_machine_topology(args->machine, truth, args->plan.threads ? 2 : 1, text, sizeof(text));
    return args->topology ? args->topology : text;
}

/* Runs one policy; with `control` percent of the jobs only observed. */
static void run_policy(const struct day_options *args, const struct day_policy *policy,
                       double control, struct day_sim *sim, const char *folder,
                       struct outcome *outcome)
{
    const char *conf[2 * DAY_CONF_MAX + 1] = {NULL};
    struct day_study study = args->study;
    struct berth_error err;

    memcpy(conf, args->conf, args->confs * sizeof(*conf));
    memcpy(conf + args->confs, policy->conf, policy->confs * sizeof(*conf));
    study.policy = policy->name;
    study.control = control;
    study.conf = conf;
    folder_remove(folder);
    if (mkdir(folder, 0700) < 0)
        bench_die(folder, strerror(errno));
    if (day_feed_machine(folder, topology_of(args, sim->truth), sim->truth, &err) < 0)
        bench_die("topology", err.text);
    run_berthd(sim, &study, folder, outcome);
    if (policy->title[0])
        snprintf(outcome->name, sizeof(outcome->name), "%s", policy->title);
    if (args->store)
        keep_store(folder, args->store);
}

/* Runs a policy once more with a trial, and reads what that can tell. */
static void run_trial(const struct day_options *args, const struct day_policy *policy,
                      struct day_sim *sim, const char *folder, struct results *results)
{
    const struct outcome *slurm = &results->of[0], *without = &results->of[results->n - 1];
    double gain = 1 - whole_stretch(without, sim->days) / whole_stretch(slurm, sim->days);
    struct outcome *with = &results->of[results->n];
    size_t i = results->trials++;
    char name[sizeof(with->name)];
    struct berth_error err;

    run_policy(args, policy, args->control, sim, folder, with);
    memcpy(name, without->name, sizeof(name));
    snprintf(with->name, sizeof(with->name), "%.40s, control %g", name, args->control);
    if (day_trial_read(&results->trial[i], folder, gain, &err) < 0)
        bench_die("trial", err.text);
    results->tried[i] = results->n++;
}

/* Those who know the truth. The last of them is the optimum, which pays for no memory. The payer
 * knows caches only, so that it is left out where hardware threads are places. */
static void run_bounds(struct day_sim *sim, struct results *results)
{
    struct day_memory *memory = sim->memory;

    if (!sim->plan.threads)
        run(sim, &day_payer, NULL, &results->of[results->n++]);
    if (memory)
        run(sim, &day_forgetful, NULL, &results->of[results->n++]);
    sim->memory = NULL;
    run(sim, &day_best, NULL, &results->of[results->n++]);
    sim->memory = memory;
}

static void run_all(const struct day_options *args, struct day_sim *sim, const char *folder,
                    struct results *results)
{
    static const struct day_placer slurm = {.name = "slurm"};
    char each[PATH_MAX];

    run(sim, &slurm, NULL, &results->of[results->n++]);
    for (size_t i = 0; i < args->policies; i++) {
        snprintf(each, sizeof(each), "%.1000s/%zu", folder, i);
        run_policy(args, &args->policy[i], 0, sim, each, &results->of[results->n++]);
        if (args->control > 0)
            run_trial(args, &args->policy[i], sim, each, results);
    }
    for (size_t i = 0; args->free && i < DAY_FREE_PLACERS; i++)
        run(sim, &day_free_placer[i], NULL, &results->of[results->n++]);
    run_bounds(sim, results);
}

/* Slurm alone, and berthd with the first policy. */
static void run_page(const struct day_options *args, struct day_sim *sim, const char *folder,
                     struct results *results)
{
    static const struct day_placer slurm = {.name = "slurm"};
    struct day_page page = {.sim = sim};
    struct outcome *of = results->of;

    results->n = 2;
    run(sim, &slurm, NULL, &of[0]);
    sim->seen = day_scenes_see;
    sim->seen_by = &page.scenes;
    run_policy(args, &args->policy[0], 0, sim, folder, &of[1]);
    sim->seen = NULL;
    page.slurm = (struct day_page_side){day_page_sum(of[0].day, sim->days), of[0].core_s};
    page.berth = (struct day_page_side){day_page_sum(of[1].day, sim->days), of[1].core_s};
    day_page_print(&page);
    day_scenes_free(&page.scenes);
}

static void print_heading(const struct day_options *args, size_t set, const struct day_sim *sim)
{
    printf("%s, set %zu: %zu programs (%zu pairs guessed); %zu caches, %zu cores; load %g, %zu "
           "jobs a day, seed %llu\n",
           args->file, set, sim->truth->apps.n, sim->truth->guessed, sim->topo->llcs,
           sim->topo->cores, args->plan.load, args->plan.jobs, (unsigned long long)args->plan.seed);
}

/* Has the days run, and prints them in the form that was asked for. */
static void run_form(const struct day_options *args, size_t set, struct day_sim *sim,
                     const char *folder, struct results *results)
{
    if (args->page) {
        run_page(args, sim, folder, results);
        return;
    }
    if (!args->json)
        print_heading(args, set, sim);
    run_all(args, sim, folder, results);
    if (args->json)
        print_json(args, set, results);
    else
        print_table(results, args->plan.days, args->plan.memory_gib > 0);
}

static void run_set(const struct day_options *args, struct json_object *file, size_t set,
                    const char *folder)
{
    struct results results = {0};
    struct day_truth truth;
    struct berth_error err;
    struct day_sim sim;
    struct topo *topo;

    if (day_truth_read(&truth, file, set, &err) < 0)
        bench_die(args->file, err.text);
    if (args->plan.threads && day_threads_draw(&truth, args->plan.seed, &err) < 0)
        bench_die("threads", err.text);
    if (args->null)
        day_truth_nobody(&truth);
    if (args->wrong && day_truth_wrong(&truth, &err) < 0)
        bench_die(args->file, err.text);
    if (topo_read(&topo, topology_of(args, &truth), &err) < 0 ||
        (args->plan.threads && topo_split(topo, &err) < 0) ||
        day_sim_open(&sim, &truth, topo, &args->plan, &err) < 0 ||
        (args->plan.memory_gib > 0 &&
         day_memory_open(&sim, args->plan.memory_gib, args->plan.seed, &err) < 0))
        bench_die("topology", err.text);
    run_form(args, set, &sim, folder, &results);
    for (size_t i = 0; i < results.n; i++) {
        free(results.of[i].day);
        free(results.of[i].cpu_s);
    }
    day_memory_close(&sim);
    day_sim_close(&sim);
    topo_free(topo);
    day_truth_free(&truth);
}

int main(int argc, char **argv)
{
    static char folder[PATH_MAX];
    struct json_object *file;
    struct day_options args;
    struct berth_error err;

    day_options_take(&args, argc, argv);
    file = ctl_input_read(args.file, &err);
    if (!file)
        bench_die(args.file, err.text);
    day_feed_folder(folder);
    bench_folder(folder);
    for (size_t set = 0; set < day_truth_sets(file); set++)
        if (args.set < 0 || args.set == (long)set)
            run_set(&args, file, set, folder);
    json_object_put(file);
    day_sizes_free(&args.sizes);
    return 0;
}
