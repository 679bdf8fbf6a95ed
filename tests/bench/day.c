/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day - days on one simulated node, with the real berthd behind its socket: how much of the
 * slowdown that could be avoided each policy avoids, and by how many moves.
 *
 * `day --help` tells what is simulated; day_sim.h, day_best.h and day_berthd.h tell how. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/cli/common/input.h"
#include "tests/bench/bench.h"
#include "tests/bench/day_berthd.h"
#include "tests/bench/day_best.h"
#include "tests/unit/common/folder.h"

#define POLICIES_MAX 16
#define CONF_MAX 32
#define BAR_AFTER_S 2

struct arguments {
    struct day_plan plan;
    struct day_study study;
    const char *file, *topology, *store;
    long set; /* -1: all */
    bool json;
    size_t policies, confs;
    const char *policy[POLICIES_MAX], *conf[CONF_MAX + 1];
};

/* What came of one placer. */
struct outcome {
    char name[32];
    struct day_tally *day; /* [days] */
    double *cpu_s;         /* [days] of berthd; NULL where there is none */
};

/* Slurm alone, berthd with each policy, the optimum. */
struct results {
    size_t n;
    struct outcome of[POLICIES_MAX + 2];
};

static struct {
    const char *name; /* of the placer that runs */
    double since_s;
    bool shown;
} bar;

/* ---- the command line ---- */

static const char usage[] =
    "usage: day [OPTION]... FILE\n"
    "Days on one simulated node, with the real berthd behind its socket.\n\n"
    "Jobs of the programs in FILE arrive (Poisson); Slurm gives each the free cores with the "
    "lowest\n"
    "numbers; berthd, which has a clock of its own that the simulation advances, is told of them "
    "as\n"
    "the plugin does it, reads what they count, and says where each stands. They go on as FILE "
    "says\n"
    "that they do beside each other (more than two on a cache: what each suffers is added up).\n"
    "Three kinds of runs have the same jobs: Slurm alone, berthd with each policy, and the "
    "optimum,\n"
    "which knows the truth and puts all where the node does most work at each start and end, on "
    "the\n"
    "cores that berthd may use, too. Of each day's jobs are printed the mean stretch (time from\n"
    "their start to their end by the time that they take alone: a long job counts for more);\n"
    "`avoided`, (slurm - policy) / (slurm - optimum), which may pass 100 %, for the optimum is the\n"
    "best of each moment, not of the day; `at once`, which part was done of the work that the node\n"
    "could have done more than at Slurm's cores, moment by moment in that run; moves and waiting in\n"
    "the queue of a job.\n\n"
    "FILE has \"apps\", \"machine\" and \"corun_degradation\" (what i suffers beside j), or "
    "\"sets\"\n"
    "of these; README of the tests: CONTRIBUTING.md.\n\n"
    "  --load L          part of the cores in use if nobody disturbed anybody (0.85)\n"
    "  --jobs N          jobs a day (1000); with the load, this says how long they are: "
    "log-normal,\n"
    "                    sigma 1\n"
    "  --days D          days, one after the other; what was learned stays (3)\n"
    "  --seed S          other jobs (1)\n"
    "  --topology SPEC   hwloc synthetic; its last-level caches get the size of FILE's\n"
    "                    (\"package:2 l3:4 core:C pu:1\" with a NUMA node a cache, C cores for two "
    "of\n"
    "                    FILE's programs)\n"
    "  --policies LIST   of berth.conf's policy; all (berthd's default)\n"
    "  --policy P        the same\n"
    "  --set N           of FILE, from 0 (all of them, one after the other)\n"
    "  --sdp on|off      berthd's store has FILE's stack-distance profiles (on)\n"
    "  --timed on|off    with the speed alone, as berthctl profile stores it (off)\n"
    "  --memory on|off   there is a machine profile with the memory's bandwidth (off)\n"
    "  --window S        berth.conf's window, seconds (10)\n"
    "  --conf LINE       a further line of berth.conf; may be repeated\n"
    "  --build FOLDER    the berthd of that build folder, which may be of another tree\n"
    "  --store FILE      keep what berthd has learned there (of the last set and policy), for\n"
    "                    berthctl pairs and berthctl profile\n"
    "  --json            one JSON object a set\n"
    "  --help\n";

enum {
    LOAD = 256,
    JOBS,
    DAYS,
    SEED,
    TOPOLOGY,
    POLICIES,
    SET,
    SDP,
    TIMED,
    MEMORY,
    WINDOW,
    CONF,
    BUILD,
    STORE,
    JSON,
    HELP
};

static const struct option options[] = {{"load", required_argument, NULL, LOAD},
                                        {"jobs", required_argument, NULL, JOBS},
                                        {"days", required_argument, NULL, DAYS},
                                        {"seed", required_argument, NULL, SEED},
                                        {"topology", required_argument, NULL, TOPOLOGY},
                                        {"policies", required_argument, NULL, POLICIES},
                                        {"policy", required_argument, NULL, POLICIES},
                                        {"set", required_argument, NULL, SET},
                                        {"sdp", required_argument, NULL, SDP},
                                        {"timed", required_argument, NULL, TIMED},
                                        {"memory", required_argument, NULL, MEMORY},
                                        {"window", required_argument, NULL, WINDOW},
                                        {"conf", required_argument, NULL, CONF},
                                        {"build", required_argument, NULL, BUILD},
                                        {"store", required_argument, NULL, STORE},
                                        {"json", no_argument, NULL, JSON},
                                        {"help", no_argument, NULL, HELP},
                                        {0}};

static void wrong(const char *what)
{
    fprintf(stderr, "day: %s (try 'day --help')\n", what);
    exit(2);
}

static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= least && value <= most))
        wrong(text);
    return value;
}

static bool is_on(const char *text)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        wrong(text);
    return strcmp(text, "on") == 0;
}

static void take_policies(struct arguments *args, char *list)
{
    if (strcmp(list, "all") == 0) {
        for (size_t i = 0; i < WIRE_POLICIES; i++)
            args->policy[args->policies++] = wire_policy_name[i];
        return;
    }
    for (char *save, *name = strtok_r(list, ",", &save); name && args->policies < POLICIES_MAX;
         name = strtok_r(NULL, ",", &save))
        args->policy[args->policies++] = name;
}

static void take_option(struct arguments *args, int option, char *value)
{
    switch (option) {
    case LOAD:
        args->plan.load = number(value, 0.01, 10);
        break;
    case JOBS:
        args->plan.jobs = (size_t)number(value, 1, 1e5);
        break;
    case DAYS:
        args->plan.days = (size_t)number(value, 1, 1000);
        break;
    case SEED:
        args->plan.seed = (uint64_t)number(value, 0, 1e9);
        break;
    case TOPOLOGY:
        args->topology = value;
        break;
    case POLICIES:
        take_policies(args, value);
        break;
    case SET:
        args->set = (long)number(value, 0, 1e6);
        break;
    case SDP:
        args->study.sdp = is_on(value);
        break;
    case TIMED:
        args->study.timed = is_on(value);
        break;
    case MEMORY:
        args->study.calibrated = is_on(value);
        break;
    case WINDOW:
        args->study.window_s = number(value, 0.1, 3600);
        break;
    case CONF:
        if (args->confs == CONF_MAX)
            wrong("too many --conf");
        args->conf[args->confs++] = value;
        break;
    case BUILD:
        args->study.build = value;
        break;
    case STORE:
        args->store = value;
        break;
    case JSON:
        args->json = true;
        break;
    case HELP:
        fputs(usage, stdout);
        exit(0);
    default:
        exit(2);
    }
}

static void parse(struct arguments *args, int argc, char **argv)
{
    int option;

    *args = (struct arguments){.plan = {.load = 0.85, .jobs = 1000, .days = 3, .seed = 1},
                               .study = {.sdp = true, .window_s = 10},
                               .set = -1};
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        take_option(args, option, optarg);
    if (optind + 1 != argc)
        wrong("one FILE expected");
    args->file = argv[optind];
    args->study.conf = args->conf;
    if (args->policies == 0)
        args->policy[args->policies++] = NULL;
}

/* ---- runs ---- */

static void show_bar(double part)
{
    int filled = (int)(30 * fmin(part, 1));

    if (!isatty(STDERR_FILENO) || clock_s() - bar.since_s < BAR_AFTER_S)
        return;
    fprintf(stderr, "\r%-12s [%.*s%*s] %3.0f %%", bar.name, filled,
            "##############################", 30 - filled, "", 100 * fmin(part, 1));
    bar.shown = true;
}

static void bar_begin(const char *name)
{
    bar.name = name;
    bar.since_s = clock_s();
    bar.shown = false;
}

static void bar_end(void)
{
    if (bar.shown)
        fprintf(stderr, "\r%50s\r", "");
}

/* Takes the figures of a run that is over. */
static void conclude(const struct day_sim *sim, const struct day_berthd *berthd,
                     struct outcome *outcome)
{
    outcome->day = calloc(sim->days, sizeof(*outcome->day));
    outcome->cpu_s = berthd ? calloc(sim->days, sizeof(*outcome->cpu_s)) : NULL;
    if (!outcome->day || (berthd && !outcome->cpu_s))
        bench_die("day", strerror(errno));
    memcpy(outcome->day, sim->tally, sim->days * sizeof(*outcome->day));
    for (size_t d = 0; berthd && d < sim->days; d++)
        outcome->cpu_s[d] = day_berthd_cpu_s(berthd, d);
}

static void run(struct day_sim *sim, const struct day_placer *placer,
                const struct day_berthd *berthd, struct outcome *outcome)
{
    struct berth_error err;

    snprintf(outcome->name, sizeof(outcome->name), "%s", placer->name);
    bar_begin(outcome->name);
    if (day_sim_run(sim, placer, show_bar, &err) < 0)
        bench_die(outcome->name, err.text);
    bar_end();
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

/* Returns which part a run avoids of what there is more with Slurm alone than at the best. */
static double avoided(const struct results *results, size_t i, size_t d)
{
    const struct outcome *slurm = &results->of[0], *best = &results->of[results->n - 1];

    return (stretch(slurm, d) - stretch(&results->of[i], d)) /
           (stretch(slurm, d) - stretch(best, d));
}

/* Returns the same part of the work that the run itself could have done more at each moment. */
static double at_once(const struct day_tally *day)
{
    return (day->work_s[DAY_STAND] - day->work_s[DAY_HOME]) /
           (day->work_s[DAY_BEST] - day->work_s[DAY_HOME]);
}

static void print_row(const struct results *results, size_t i, size_t d)
{
    const struct outcome *of = &results->of[i];
    const struct day_tally *day = &of->day[d];

    printf("%3zu  %-9s  %7.4f  %6.1f %%  %6.1f %%  %9.2f  %8.1f s", d + 1, of->name, stretch(of, d),
           100 * avoided(results, i, d), 100 * at_once(day), day->moves / day->jobs,
           day->wait_s / day->jobs);
    if (of->cpu_s)
        printf("  %8.3f s", of->cpu_s[d]);
    putchar('\n');
}

static void print_table(const struct results *results, size_t days)
{
    printf("day  placed by  stretch   avoided   at once  moves/job     waiting  berthd CPU\n");
    for (size_t d = 0; d < days; d++)
        for (size_t i = 0; i < results->n; i++)
            print_row(results, i, d);
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
    json_add_measure(row, "avoided", avoided(results, i, d));
    json_add_measure(row, "avoided_at_once", at_once(day));
    json_add_measure(row, "moves_a_job", day->moves / day->jobs);
    json_add_measure(row, "wait_s", day->wait_s / day->jobs);
    json_add_measure(row, "berthd_cpu_s", of->cpu_s ? of->cpu_s[d] : NAN);
    return row;
}

static void print_json(const struct arguments *args, size_t set, const struct results *results)
{
    struct json_object *object = json_object_new_object(), *rows = json_object_new_array();

    json_add_text(object, "file", args->file);
    json_add_u64(object, "set", set);
    json_add_double(object, "load", args->plan.load);
    json_add_u64(object, "jobs_a_day", args->plan.jobs);
    json_add_u64(object, "seed", args->plan.seed);
    for (size_t d = 0; d < args->plan.days; d++)
        for (size_t i = 0; i < results->n; i++)
            json_object_array_add(rows, row_json(results, i, d));
    json_object_object_add(object, "days", rows);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

/* ---- one set ---- */

static const char *topology_of(const struct arguments *args, const struct day_truth *truth)
{
    static char text[128];
    size_t cores = 1;

    for (size_t i = 0; i < truth->apps.n; i++)
        if (truth->apps.app[i].cores > cores)
            cores = truth->apps.app[i].cores;
    snprintf(text, sizeof(text), "package:2 l3:4 [numa] core:%zu pu:1", 2 * cores);
    return args->topology ? args->topology : text;
}

static void run_all(const struct arguments *args, struct day_sim *sim, const char *folder,
                    const struct day_truth *truth, struct results *results)
{
    static const struct day_placer slurm = {.name = "slurm"};
    char each[PATH_MAX];
    struct berth_error err;

    run(sim, &slurm, NULL, &results->of[0]);
    for (size_t i = 0; i < args->policies; i++) {
        struct day_study study = args->study;

        study.policy = args->policy[i];
        snprintf(each, sizeof(each), "%.1000s/%zu", folder, i);
        folder_remove(each);
        if (mkdir(each, 0700) < 0)
            bench_die(each, strerror(errno));
        if (day_feed_machine(each, topology_of(args, truth), truth, &err) < 0)
            bench_die("topology", err.text);
        run_berthd(sim, &study, each, &results->of[i + 1]);
        if (args->store)
            keep_store(each, args->store);
    }
    run(sim, &day_best, NULL, &results->of[args->policies + 1]);
}

static void run_set(const struct arguments *args, struct json_object *file, size_t set,
                    const char *folder)
{
    struct results results = {.n = args->policies + 2};
    struct day_truth truth;
    struct berth_error err;
    struct day_sim sim;
    struct topo *topo;

    if (day_truth_read(&truth, file, set, &err) < 0)
        bench_die(args->file, err.text);
    if (topo_read(&topo, topology_of(args, &truth), &err) < 0 ||
        day_sim_open(&sim, &truth, topo, &args->plan, &err) < 0)
        bench_die("topology", err.text);
    if (!args->json)
        printf("%s, set %zu: %zu programs (%zu pairs guessed); %zu caches, %zu cores; load %g, %zu "
               "jobs a day, seed %llu\n",
               args->file, set, truth.apps.n, truth.guessed, topo->llcs, topo->cores,
               args->plan.load, args->plan.jobs, (unsigned long long)args->plan.seed);
    run_all(args, &sim, folder, &truth, &results);
    if (args->json)
        print_json(args, set, &results);
    else
        print_table(&results, args->plan.days);
    for (size_t i = 0; i < results.n; i++) {
        free(results.of[i].day);
        free(results.of[i].cpu_s);
    }
    day_sim_close(&sim);
    topo_free(topo);
    day_truth_free(&truth);
}

/* TMPDIR, or what is in memory. */
static const char *folder_for_files(void)
{
    const char *wish = getenv("TMPDIR");

    if (wish && *wish)
        return wish;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

int main(int argc, char **argv)
{
    static char folder[PATH_MAX];
    struct json_object *file;
    struct arguments args;
    struct berth_error err;

    parse(&args, argc, argv);
    file = ctl_input_read(args.file, &err);
    if (!file)
        bench_die(args.file, err.text);
    snprintf(folder, sizeof(folder), "%.1000s/berth-day.XXXXXX", folder_for_files());
    bench_folder(folder);
    for (size_t set = 0; set < day_truth_sets(file); set++)
        if (args.set < 0 || args.set == (long)set)
            run_set(&args, file, set, folder);
    json_object_put(file);
    return 0;
}
