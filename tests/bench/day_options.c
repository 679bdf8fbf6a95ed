/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_options - see day_options.h */
#include "tests/bench/day_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire.h"
#include "tests/bench/day_machines.h"
#include "tests/bench/day_words.h"

static const char about[] =
    "usage: day [OPTION]... FILE\n"
    "Days on one simulated node, with the real berthd behind its socket.\n\n"
    "Jobs of the programs in FILE arrive (Poisson); Slurm gives each the free cores with the "
    "lowest\n"
    "numbers; berthd, which has a clock of its own that the simulation advances, is told of them "
    "as\n"
    "the plugin does it, reads what they count, and says where each stands. They go on as FILE "
    "says\n"
    "that they do beside each other (more than two on a cache: what each suffers is added up; "
    "with\n"
    "--sizes: day_beside.h).\n"
    "Four kinds of runs have the same jobs: Slurm alone, berthd with each policy, `payer`, which "
    "knows\n"
    "the truth and moves a job where that is worth what it costs (day_payer.h), and the optimum,\n"
    "which knows the truth and puts all where the node does most work at each start and end, on "
    "the\n"
    "cores that berthd may use, too; with --idle it moves also those of --keep. Of each day's jobs "
    "are printed the mean stretch (time from\n"
    "their start to their end by the time that they take alone: a long job counts for more);\n"
    "`avoided`, (slurm - policy) / (slurm - optimum), which may pass 100 %, for the optimum is "
    "the\n"
    "best of each moment, not of the day; `at once`, which part was done of the work that the "
    "node\n"
    "could have done more than at Slurm's cores, moment by moment in that run; moves and waiting "
    "in\n"
    "the queue of a job.\n"
    "With --memory-gib each job has memory, and pays where it stands far from it (day_memory.h); "
    "it is\n"
    "also printed how much followed a job, and how long it lost to that and to far memory. The "
    "optimum\n"
    "then stays what it is without memory, and `forgetful` is the payer that forgets its jobs' "
    "memory.\n\n"
    "FILE has \"apps\", \"machine\" and \"corun_degradation\" (what i suffers beside j), or "
    "\"sets\"\n"
    "of these; README of the tests: CONTRIBUTING.md.\n\n";

/* ---- what each option does ---- */

static void set_load(struct day_options *options, char *value)
{
    options->plan.load = day_words_number(value, 0.01, 10);
}

static void set_jobs(struct day_options *options, char *value)
{
    options->plan.jobs = (size_t)day_words_number(value, 1, 1e5);
}

static void set_days(struct day_options *options, char *value)
{
    options->plan.days = (size_t)day_words_number(value, 1, 1000);
}

static void set_seed(struct day_options *options, char *value)
{
    options->plan.seed = (uint64_t)day_words_number(value, 0, 1e9);
}

static void set_opted(struct day_options *options, char *value)
{
    options->plan.strangers = 1 - day_words_number(value, 0, 1);
}

static void set_keep(struct day_options *options, char *value)
{
    options->plan.keep = day_words_number(value, 0, 1);
}

static void set_noise(struct day_options *options, char *value)
{
    options->plan.noise = day_words_noise(value);
}

static void set_memory_gib(struct day_options *options, char *value)
{
    options->plan.memory_gib = day_words_number(value, 0, 1e4);
}

static void set_null(struct day_options *options, char *value)
{
    (void)value;
    options->null = true;
}

static void set_wrong(struct day_options *options, char *value)
{
    (void)value;
    options->wrong = true;
}

static void set_idle(struct day_options *options, char *value)
{
    (void)value;
    options->plan.idle = true;
}

static void set_threads(struct day_options *options, char *value)
{
    (void)value;
    options->plan.threads = true;
}

static void set_topology(struct day_options *options, char *value)
{
    options->topology = value;
}

static void set_machine(struct day_options *options, char *value)
{
    options->machine = day_words_machine(value);
}

static void set_sizes(struct day_options *options, char *value)
{
    struct berth_error err;

    day_sizes_free(&options->sizes);
    if (day_sizes_read(&options->sizes, value, &err) < 0)
        day_words_wrong(err.text);
    options->plan.sizes = &options->sizes;
}

static void set_socket(struct day_options *options, char *value)
{
    options->plan.socket = day_words_socket(value);
}

static struct day_policy *add_policy(struct day_options *options)
{
    if (options->policies == DAY_POLICIES_MAX)
        day_words_wrong("too many policies");
    return &options->policy[options->policies++];
}

static void add_conf(const char **conf, size_t *confs, const char *line)
{
    if (*confs == DAY_CONF_MAX)
        day_words_wrong("too many --conf");
    conf[(*confs)++] = line;
}

/* "contend+learn=off": a policy and lines of berth.conf. */
static void take_policy(struct day_options *options, char *text)
{
    struct day_policy *policy = add_policy(options);
    char *save;

    snprintf(policy->title, sizeof(policy->title), "%s", text);
    policy->name = strtok_r(text, "+", &save);
    for (char *line; (line = strtok_r(NULL, "+", &save));)
        add_conf(policy->conf, &policy->confs, line);
}

static void set_policies(struct day_options *options, char *value)
{
    char *save;

    if (strcmp(value, "all") == 0) {
        for (size_t i = 0; i < WIRE_POLICIES; i++)
            add_policy(options)->name = wire_policy_name[i];
        return;
    }
    for (char *text = strtok_r(value, ",", &save); text; text = strtok_r(NULL, ",", &save))
        take_policy(options, text);
}

static void set_free(struct day_options *options, char *value)
{
    options->free = day_words_is_on(value);
}

static void set_set(struct day_options *options, char *value)
{
    options->set = (long)day_words_number(value, 0, 1e6);
}

static void set_sdp(struct day_options *options, char *value)
{
    options->study.sdp = day_words_is_on(value);
}

static void set_timed(struct day_options *options, char *value)
{
    options->study.timed = day_words_is_on(value);
}

static void set_memory(struct day_options *options, char *value)
{
    options->study.calibrated = day_words_is_on(value);
}

static void set_window(struct day_options *options, char *value)
{
    options->study.window_s = day_words_number(value, 0.1, 3600);
}

static void set_conf(struct day_options *options, char *value)
{
    add_conf(options->conf, &options->confs, value);
}

static void set_control(struct day_options *options, char *value)
{
    options->control = day_words_number(value, 0.1, 50);
}

static void set_build(struct day_options *options, char *value)
{
    options->study.build = value;
}

static void set_store(struct day_options *options, char *value)
{
    options->store = value;
}

static void set_json(struct day_options *options, char *value)
{
    (void)value;
    options->json = true;
}

static void set_page(struct day_options *options, char *value)
{
    (void)value;
    options->page = true;
}

static void help(struct day_options *options, char *value);

static const struct row {
    struct day_word word;
    void (*set)(struct day_options *options, char *value);
} rows[] = {
    {{"load", "L", "part of the cores in use if nobody disturbed anybody (0.85)"}, set_load},
    {{"jobs", "N",
      "jobs a day (1000); with the load, this says how long they are: log-normal, sigma 1"},
     set_jobs},
    {{"days", "D", "days, one after the other; what was learned stays (3)"}, set_days},
    {{"seed", "S", "other jobs (1)"}, set_seed},
    {{"noise", "JOB,PHASE,WINDOW",
      "how uneven counters are: sigmas of factors a job, a phase, a window (day_noise.h; 0,0,0)"},
     set_noise},
    {{"memory-gib", "M", "a job's memory: its median, log-normal, sigma 1.2 (0: jobs have none)"},
     set_memory_gib},
    {{"idle", NULL, "cores that Slurm has given nobody are places, too"}, set_idle},
    {{"threads", NULL,
      "each core has two hardware threads, and these are places, as with CR_CPU (day_threads.h)"},
     set_threads},
    {{"null", NULL, "nobody disturbs anybody: there is nothing to gain"}, set_null},
    {{"wrong", NULL,
      "programs disturb others the less the more they miss: who goes by misses alone hurts "
      "(--policies di+learn=off)"},
     set_wrong},
    {{"opted", "SHARE", "part of the jobs that opt in (1)"}, set_opted},
    {{"keep", "SHARE", "part of those that stay where they started, as they bind threads (0)"},
     set_keep},
    {{"machine", "NAME", "a machine by name: see below"}, set_machine},
    {{"topology", "SPEC", "hwloc synthetic; its last-level caches get the size of FILE's"},
     set_topology},
    {{"sizes", "LOG",
      "jobs have the sizes of those in LOG (Standard Workload Format), and Slurm gives cores as it "
      "does to tasks of such; else each has the size that FILE measured"},
     set_sizes},
    {{"socket", "WHAT",
      "what Slurm takes for a socket, with sizes: package, or l3 (l3cache_as_socket) (package)"},
     set_socket},
    {{"policies", "LIST",
      "of berth.conf's policy (berthd's default); all; \"contend+learn=off\": with that line"},
     set_policies},
    {{"policy", "P", "the same"}, set_policies},
    {{"free", "on|off",
      "what costs nothing, too: by lot, miss rate, the emptiest cache; and the best at each start "
      "(off)"},
     set_free},
    {{"set", "N", "of FILE, from 0 (all of them, one after the other)"}, set_set},
    {{"sdp", "on|off", "berthd's store has FILE's stack-distance profiles (on)"}, set_sdp},
    {{"timed", "on|off", "with the speed alone, as berthctl profile stores it (off)"}, set_timed},
    {{"memory", "on|off", "there is a machine profile with the memory's bandwidth (off)"},
     set_memory},
    {{"window", "S", "berth.conf's window, seconds (10)"}, set_window},
    {{"conf", "LINE", "a further line of berth.conf; may be repeated"}, set_conf},
    {{"control", "PCT",
      "each policy once more, with a standing trial (berth.conf's control): what that costs, and "
      "when it knows"},
     set_control},
    {{"build", "FOLDER", "the berthd of that build folder, which may be of another tree"},
     set_build},
    {{"store", "FILE",
      "keep what berthd has learned there (of the last set and policy), for berthctl pairs"},
     set_store},
    {{"json", NULL, "one JSON object a set"}, set_json},
    {{"page", NULL,
      "three sentences and a drawing of the node: Slurm alone beside the first policy"},
     set_page},
    {{"help", NULL, "this"}, help},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static void help(struct day_options *options, char *value)
{
    (void)options, (void)value;
    fputs(about, stdout);
    day_words_list(&rows[0].word, ROWS, sizeof(*rows));
    puts("\nMachines; each cache has C cores for two of FILE's programs:");
    for (size_t i = 0; i < day_machines; i++)
        printf("  %-8s %s\n", day_machine[i].name, day_machine[i].what);
    exit(0);
}

void day_options_take(struct day_options *options, int argc, char **argv)
{
    int row;

    *options = (struct day_options){.plan = {.load = 0.85, .jobs = 1000, .days = 3, .seed = 1},
                                    .study = {.sdp = true, .window_s = 10},
                                    .set = -1};
    while ((row = day_words_next(&rows[0].word, ROWS, sizeof(*rows), argc, argv)) >= 0)
        rows[row].set(options, optarg);
    if (optind + 1 != argc)
        day_words_wrong("one FILE expected");
    if (options->plan.threads && options->plan.sizes)
        day_words_wrong("--threads: not with --sizes");
    options->file = argv[optind];
    if (options->policies == 0)
        add_policy(options);
}
