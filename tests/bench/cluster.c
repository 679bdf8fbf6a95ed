/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - what it brings to choose the node that a job goes to, beside what berth brings inside
 * the node, on the jobs of a real log.
 *
 * `cluster --help` tells what is simulated; cluster_work.h, cluster_node.h and cluster_sim.h tell
 * how. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enum_table.h"
#include "packer/base/json.h"
#include "packer/cli/common/input.h"
#include "tests/bench/bench.h"
#include "tests/bench/cluster_guess.h"
#include "tests/bench/cluster_options.h"
#include "tests/bench/day_bar.h"

enum figure {
    JOB,
    USER,
    CORE,
    BRINGS,
    AVOIDED,
    OF_BERTH,
    WAITS,
    LONGEST,
    MOVES,
    NODES,
    ENERGY,
    FIGURES
};

static const struct {
    const char *title, *key;
    int width, digits;
} TABLE(figures, FIGURES) = {
    ROW(JOB) = {"job %", "slowdown_a_job", 6, 2},
    ROW(USER) = {"user %", "slowdown_a_user", 6, 2},
    ROW(CORE) = {"core-h %", "slowdown_a_core_hour", 6, 3},
    ROW(BRINGS) = {"brings %", "brings", 6, 3},
    ROW(AVOIDED) = {"avoids %", "avoided", 6, 1},
    ROW(OF_BERTH) = {"of berth %", "of_berth", 6, 0},
    ROW(WAITS) = {"waits h", "wait_h", 7, 2},
    ROW(LONGEST) = {"longest h", "longest_wait_h", 6, 1},
    ROW(MOVES) = {"moves", "moves_a_job", 5, 2},
    ROW(NODES) = {"node-h", "node_hours", 6, 2},
    ROW(ENERGY) = {"kWh", "kwh", 6, 3},
};
TABLE_COMPLETE(figures);

/* A row: what came of each seed. */
struct row {
    const struct cluster_choice *choice;
    enum cluster_inside inside;
    double *value[FIGURES]; /* [seeds] */
};

struct results {
    size_t n, seeds;
    struct row row[CLUSTER_CHOICES_MAX * CLUSTER_INSIDES];
    double *shared, *user_most, *jobs, *copies, *left_out; /* [seeds] */
};

static double *new_figures(size_t n)
{
    double *figures_of = calloc(n, sizeof(*figures_of));

    if (!figures_of)
        bench_die("cluster", strerror(errno));
    return figures_of;
}

static void results_open(struct results *results, const struct cluster_options *args)
{
    *results = (struct results){.seeds = args->seeds};
    for (size_t inside = 0; inside < CLUSTER_INSIDES; inside++)
        for (size_t c = 0; args->inside[inside] && c < args->choices; c++) {
            struct row *row = &results->row[results->n++];

            row->choice = args->choice[c];
            row->inside = (enum cluster_inside)inside;
            for (size_t f = 0; f < FIGURES; f++)
                row->value[f] = new_figures(args->seeds);
        }
    results->shared = new_figures(args->seeds);
    results->user_most = new_figures(args->seeds);
    results->jobs = new_figures(args->seeds);
    results->copies = new_figures(args->seeds);
    results->left_out = new_figures(args->seeds);
}

static void results_free(struct results *results)
{
    for (size_t i = 0; i < results->n; i++)
        for (size_t f = 0; f < FIGURES; f++)
            free(results->row[i].value[f]);
    free(results->shared);
    free(results->user_most);
    free(results->jobs);
    free(results->copies);
    free(results->left_out);
}

/* ---- runs ---- */

static void conclude(const struct cluster_options *args, const struct cluster_sim *sim,
                     struct row *row, size_t seed)
{
    const struct cluster_tally *tally = &sim->tally;
    double kilo = tally->work_core_s / 1000, cores = (double)sim->machine->topo->cores;

    row->value[JOB][seed] = 100 * tally->slowdowns / tally->jobs;
    row->value[USER][seed] = 100 * tally->user_slowdowns / tally->users;
    row->value[CORE][seed] = 100 * tally->more_core_s / tally->alone_core_s;
    row->value[WAITS][seed] = tally->waits_s / tally->jobs / 3600;
    row->value[LONGEST][seed] = tally->longest_s / 3600;
    row->value[MOVES][seed] = tally->moves / tally->jobs;
    row->value[NODES][seed] = tally->node_s / kilo;
    row->value[ENERGY][seed] =
        (tally->node_s * cores * args->idle_w + tally->core_s * args->busy_w) / kilo / 1000;
}

static const struct row *row_of(const struct results *results, const struct cluster_choice *choice,
                                enum cluster_inside inside)
{
    for (size_t i = 0; i < results->n; i++)
        if (results->row[i].choice == choice && results->row[i].inside == inside)
            return &results->row[i];
    return NULL;
}

/* What each brings, by the first row; and choosing where berth is inside. */
static void compare(struct results *results, size_t seed)
{
    const struct cluster_choice *first = results->row[0].choice;
    double base = results->row[0].value[CORE][seed];

    for (size_t i = 0; i < results->n; i++) {
        struct row *row = &results->row[i];
        const struct row *berth = row_of(results, first, row->inside);
        double there = base - berth->value[CORE][seed];

        row->value[BRINGS][seed] = base - row->value[CORE][seed];
        row->value[OF_BERTH][seed] = NAN;
        if (row->inside != CLUSTER_NOTHING && row != berth && there > 1e-9)
            row->value[OF_BERTH][seed] =
                100 * (berth->value[CORE][seed] - row->value[CORE][seed]) / there;
    }
}

/* What each brings as part of what the row brings that brings most: with `knows` and `best` among
 * them, of what can be avoided. */
static void compare_most(struct results *results, size_t seed)
{
    double most = 0;

    for (size_t i = 0; i < results->n; i++)
        most = fmax(most, results->row[i].value[BRINGS][seed]);
    for (size_t i = 0; i < results->n; i++)
        results->row[i].value[AVOIDED][seed] =
            most > 1e-9 ? 100 * results->row[i].value[BRINGS][seed] / most : NAN;
}

/* The truth, what is made of it, and the node. */
struct study {
    struct day_truth truth, guess;
    struct day_beside by_truth, by_guess;
    struct topo *topo;
    struct cluster_log log;
    char topology[128];
};

static void run_row(const struct cluster_options *args, const struct study *study,
                    struct cluster_work *work, struct row *row, size_t seed,
                    struct cluster_sample *sample)
{
    struct cluster_machine machine = {.topo = study->topo,
                                      .truth = &study->by_truth,
                                      .guess = &study->by_guess,
                                      .work = work,
                                      .inside = row->inside,
                                      .socket = args->socket,
                                      .idle = args->idle};
    struct cluster_sim sim = {.work = work,
                              .machine = &machine,
                              .choice = row->choice,
                              .noise = args->noise,
                              .seed = args->plan.seed + seed,
                              .look = args->look,
                              .known = args->known,
                              .backfill = args->backfill};
    struct berth_error err;

    day_bar_begin(row->choice->name);
    if (cluster_machine_open(&machine, args->plan.nodes, &err) < 0 ||
        cluster_sim_run(&sim, day_bar_show, &err) < 0)
        bench_die(row->choice->name, err.text);
    day_bar_end();
    conclude(args, &sim, row, seed);
    if (sample && sample->nodes > 0) {
        day_bar_begin("the sample");
        if (cluster_sample_play(sample, &sim, &err) < 0)
            bench_die("the sample", err.text);
        day_bar_end();
    }
    cluster_machine_close(&machine);
}

static void run_seed(const struct cluster_options *args, struct study *study,
                     struct results *results, size_t seed, struct cluster_sample *sample)
{
    struct cluster_plan plan = args->plan;
    struct cluster_work work;
    struct berth_error err;

    plan.seed += seed;
    plan.cores = study->topo->cores;
    plan.apps = study->truth.apps.n;
    plan.kinds = CLUSTER_KINDS;
    if (cluster_guess_open(&study->guess, &study->truth, &args->noise, plan.seed, args->learned,
                           &err) < 0 ||
        day_beside_open(&study->by_guess, &study->guess, &err) < 0 ||
        cluster_work_draw(&work, &study->log, &plan, &err) < 0)
        bench_die(args->log, err.text);
    for (size_t i = 0; i < results->n; i++)
        run_row(args, study, &work, &results->row[i], seed, i == 0 ? sample : NULL);
    compare(results, seed);
    compare_most(results, seed);
    results->shared[seed] = 100 * work.shared;
    results->user_most[seed] = 100 * work.user_most;
    results->jobs[seed] = (double)work.n;
    results->copies[seed] = (double)work.copies;
    results->left_out[seed] = (double)work.left_out;
    cluster_work_free(&work);
    day_beside_free(&study->by_guess);
    cluster_guess_free(&study->guess);
}

/* ---- what is printed ---- */

static double mean_of(const double *value, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += value[i] / (double)n;
    return sum;
}

static double deviation_of(const double *value, size_t n)
{
    double mean = mean_of(value, n), sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (value[i] - mean) * (value[i] - mean);
    return n > 1 ? sqrt(sum / (double)(n - 1)) : 0;
}

static void print_cell(const double *value, size_t n, enum figure f)
{
    double mean = mean_of(value, n);
    int width = figures[f].width, digits = figures[f].digits;

    if (isnan(mean))
        printf("  %*s%*s", width, "-", n > 1 ? width + 2 : 0, "");
    else if (n > 1)
        printf("  %*.*f+-%-*.*f", width, digits, mean, width, digits, deviation_of(value, n));
    else
        printf("  %*.*f", width, digits, mean);
}

static void print_table(const struct results *results)
{
    printf("%-17s %-7s", "node", "inside");
    for (size_t f = 0; f < FIGURES; f++)
        printf("  %*s", figures[f].width + (results->seeds > 1 ? figures[f].width + 2 : 0),
               figures[f].title);
    putchar('\n');
    for (size_t i = 0; i < results->n; i++) {
        printf("%-17s %-7s", results->row[i].choice->name,
               cluster_inside_name[results->row[i].inside]);
        for (size_t f = 0; f < FIGURES; f++)
            print_cell(results->row[i].value[f], results->seeds, (enum figure)f);
        putchar('\n');
    }
}

static void print_head(const struct cluster_options *args, const struct study *study,
                       const struct results *results)
{
    size_t n = results->seeds;

    printf("%s, %s: %zu nodes of %zu cores and %zu caches (%s); load %g; %zu seeds\n", args->log,
           args->file, args->plan.nodes, study->topo->cores, study->topo->llcs, study->topology,
           args->plan.load, n);
    printf("%.0f jobs, of %.0f copies of the log (%.0f of a copy are wider than the cluster); "
           "%.1f %% of the core-hours are of pieces smaller than a node, %.1f %% are one user's\n",
           mean_of(results->jobs, n), mean_of(results->copies, n), mean_of(results->left_out, n),
           mean_of(results->shared, n), mean_of(results->user_most, n));
}

/* Returns which part of what could be avoided is avoided, %. */
static double avoided(const struct cluster_sample *sample, double more_s)
{
    double all = sample->slurm_s - sample->best_s;

    return all > 1e-6 ? 100 * (sample->slurm_s - more_s) / all : NAN;
}

static void print_sample(const struct cluster_sample *sample)
{
    if (sample->jobs > 0)
        printf("sample: %.0f jobs of nodes played again: of what the best inside avoids, %.0f %% "
               "are avoided by the stand-in, %.0f %% by the real berthd\n",
               sample->jobs, avoided(sample, sample->stand_in_s), avoided(sample, sample->berth_s));
}

static struct json_object *row_json(const struct results *results, const struct row *row)
{
    struct json_object *object = json_object_new_object();
    char key[64];

    json_add_text(object, "node", row->choice->name);
    json_add_text(object, "inside", cluster_inside_name[row->inside]);
    for (size_t f = 0; f < FIGURES; f++) {
        json_add_number(object, figures[f].key, mean_of(row->value[f], results->seeds));
        snprintf(key, sizeof(key), "%s_deviation", figures[f].key);
        json_add_number(object, key, deviation_of(row->value[f], results->seeds));
    }
    return object;
}

static void print_json(const struct cluster_options *args, const struct results *results,
                       const struct cluster_sample *sample)
{
    struct json_object *object = json_object_new_object(), *rows = json_object_new_array();

    json_add_text(object, "file", args->file);
    json_add_text(object, "log", args->log);
    json_add_u64(object, "nodes", args->plan.nodes);
    json_add_u64(object, "seeds", results->seeds);
    json_add_double(object, "load", args->plan.load);
    json_add_number(object, "shared", mean_of(results->shared, results->seeds));
    json_add_number(object, "user_most", mean_of(results->user_most, results->seeds));
    json_add_number(object, "sample_stand_in", avoided(sample, sample->stand_in_s));
    json_add_number(object, "sample_berthd", avoided(sample, sample->berth_s));
    for (size_t i = 0; i < results->n; i++)
        json_object_array_add(rows, row_json(results, &results->row[i]));
    json_object_object_add(object, "rows", rows);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

/* ---- one set ---- */

static void study_open(struct study *study, const struct cluster_options *args,
                       struct json_object *file, size_t set)
{
    struct berth_error err;

    if (day_truth_read(&study->truth, file, set, &err) < 0)
        bench_die(args->file, err.text);
    if (args->null)
        day_truth_nobody(&study->truth);
    snprintf(study->topology, sizeof(study->topology), "package:2 l3:1 core:8 pu:1");
    if (args->machine)
        day_machine_topology(args->machine, &study->truth, 1, study->topology,
                             sizeof(study->topology));
    if (args->topology)
        snprintf(study->topology, sizeof(study->topology), "%s", args->topology);
    if (topo_read(&study->topo, study->topology, &err) < 0)
        bench_die("topology", err.text);
    if (day_beside_open(&study->by_truth, &study->truth, &err) < 0)
        bench_die(args->file, err.text);
}

static void run_set(const struct cluster_options *args, struct study *study,
                    struct json_object *file, size_t set)
{
    struct cluster_sample sample = args->sample;
    struct results results;

    study_open(study, args, file, set);
    sample.topology = study->topology;
    results_open(&results, args);
    for (size_t seed = 0; seed < args->seeds; seed++)
        run_seed(args, study, &results, seed, &sample);
    if (args->json) {
        print_json(args, &results, &sample);
    } else {
        print_head(args, study, &results);
        print_table(&results);
        print_sample(&sample);
    }
    results_free(&results);
    day_beside_free(&study->by_truth);
    topo_free(study->topo);
    day_truth_free(&study->truth);
}

int main(int argc, char **argv)
{
    struct cluster_options args;
    struct json_object *file;
    struct study study = {0};
    struct berth_error err;

    cluster_options_take(&args, argc, argv);
    file = ctl_input_read(args.file, &err);
    if (!file)
        bench_die(args.file, err.text);
    if (cluster_log_read(&study.log, args.log, &err) < 0)
        bench_die("log", err.text);
    for (size_t set = 0; set < day_truth_sets(file); set++)
        if (args.set < 0 || args.set == (long)set)
            run_set(&args, &study, file, set);
    cluster_log_free(&study.log);
    json_object_put(file);
    return 0;
}
