/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_options - see cluster_options.h */
#include "tests/bench/cluster_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enum_table.h"
#include "tests/bench/day_words.h"

static const char about[] =
    "usage: cluster [OPTION]... --log LOG FILE\n"
    "What it brings to choose a job's node, beside what berth brings inside a node.\n\n"
    "The jobs of LOG (Standard Workload Format) run on a simulated cluster; each has a program of\n"
    "FILE (as `day --help` has it) by lot, and they slow each other down where they share caches.\n"
    "Jobs of whole nodes are there for the queue, and suffer nothing. A row is a way to choose a\n"
    "node (cluster_sim.h) with something inside the node (cluster_node.h): nothing; berth, for\n"
    "which contend with noisy counters stands in (--sample shows how far the real berthd agrees);\n"
    "the best by the truth. Figures are means over seeds, +- their standard deviation:\n"
    "job       slowdown of the mean job, % of its time alone\n"
    "user      of the mean user, by his core-hours\n"
    "core-h    of all core-hours that were asked, those of whole nodes among them\n"
    "brings    core-hours less than the first way to choose with nothing inside, % of those asked\n"
    "avoids    the same, as part of what the row brings that brings most: with knows, nothing, berth\n"
    "          and best among them that is about all that can be avoided inside and between nodes\n"
    "of berth  what choosing so brings, where berth is inside, as part of what berth brings there\n"
    "          with the first way, %\n"
    "waits     hours in the queue of the mean job\n"
    "longest   hours in the queue of the job that waited longest\n"
    "moves     of the mean job\n"
    "node-h    hours of nodes in use for 1000 core-hours of work done\n"
    "kWh       for 1000 core-hours of work; nodes that nobody uses are off\n\n";

static void set_log(struct cluster_options *options, char *value)
{
    options->log = value;
}

static void set_nodes(struct cluster_options *options, char *value)
{
    options->plan.nodes = (size_t)day_words_number(value, 1, 100000);
}

static void set_load(struct cluster_options *options, char *value)
{
    options->plan.load = day_words_number(value, 0.01, 2);
}

static void set_days(struct cluster_options *options, char *value)
{
    options->plan.days = day_words_number(value, 0, 10000);
}

static void set_seed(struct cluster_options *options, char *value)
{
    options->plan.seed = (uint64_t)day_words_number(value, 0, 1e9);
}

static void set_seeds(struct cluster_options *options, char *value)
{
    options->seeds = (size_t)day_words_number(value, 1, 100);
}

static void set_noise(struct cluster_options *options, char *value)
{
    options->noise = day_words_noise(value);
}

static void set_programs(struct cluster_options *options, char *value)
{
    if (strcmp(value, "user") != 0 && strcmp(value, "job") != 0)
        day_words_wrong(value);
    options->plan.by_job = strcmp(value, "job") == 0;
}

static void add_choice(struct cluster_options *options, const char *name)
{
    for (size_t i = 0; i < cluster_choices; i++)
        if (strcmp(cluster_choice[i].name, name) == 0 && options->choices < CLUSTER_CHOICES_MAX) {
            options->choice[options->choices++] = &cluster_choice[i];
            return;
        }
    day_words_wrong(name);
}

static void set_choices(struct cluster_options *options, char *value)
{
    char *save;

    options->choices = 0;
    for (char *word = strtok_r(value, ",", &save); word; word = strtok_r(NULL, ",", &save))
        add_choice(options, word);
}

const char *const TABLE(cluster_inside_name, CLUSTER_INSIDES) = {
    ROW(CLUSTER_NOTHING) = "nothing",
    ROW(CLUSTER_BERTH) = "berth",
    ROW(CLUSTER_BEST) = "best",
};
TABLE_COMPLETE(cluster_inside_name);

static void set_inside(struct cluster_options *options, char *value)
{
    char *save;

    memset(options->inside, 0, sizeof(options->inside));
    for (char *word = strtok_r(value, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        size_t i = 0;

        while (i < CLUSTER_INSIDES && strcmp(word, cluster_inside_name[i]) != 0)
            i++;
        if (i == CLUSTER_INSIDES)
            day_words_wrong(word);
        options->inside[i] = true;
    }
    options->inside[CLUSTER_NOTHING] = true; /* all is compared with it */
}

static void set_look(struct cluster_options *options, char *value)
{
    options->look = (size_t)day_words_number(value, 1, 1e6);
}

static void set_known(struct cluster_options *options, char *value)
{
    options->known = day_words_number(value, 0, 1);
}

static void set_queue(struct cluster_options *options, char *value)
{
    if (strcmp(value, "easy") != 0 && strcmp(value, "fcfs") != 0)
        day_words_wrong(value);
    options->backfill = strcmp(value, "easy") == 0;
}

static void set_idle(struct cluster_options *options, char *value)
{
    options->idle = day_words_is_on(value);
}

static void set_machine(struct cluster_options *options, char *value)
{
    options->machine = day_words_machine(value);
}

static void set_topology(struct cluster_options *options, char *value)
{
    options->topology = value;
}

static void set_socket(struct cluster_options *options, char *value)
{
    options->socket = day_words_socket(value);
}

static void set_set(struct cluster_options *options, char *value)
{
    options->set = (long)day_words_number(value, 0, 1e6);
}

static void set_null(struct cluster_options *options, char *value)
{
    (void)value;
    options->null = true;
}

static void set_sample(struct cluster_options *options, char *value)
{
    options->sample.nodes = (size_t)day_words_number(value, 0, 1000);
}

static void set_sample_days(struct cluster_options *options, char *value)
{
    options->sample.days = day_words_number(value, 0.01, 1000);
}

static void set_window(struct cluster_options *options, char *value)
{
    options->sample.window_s = day_words_number(value, 0.1, 3600);
}

static void set_learned(struct cluster_options *options, char *value)
{
    options->learned = day_words_number(value, 0, 1);
}

static void set_watts(struct cluster_options *options, char *value)
{
    char *save, *idle = strtok_r(value, ",", &save), *busy = strtok_r(NULL, ",", &save);

    if (!idle || !busy)
        day_words_wrong("--watts: IDLE,BUSY expected");
    options->idle_w = day_words_number(idle, 0, 1000);
    options->busy_w = day_words_number(busy, 0, 1000);
}

static void set_json(struct cluster_options *options, char *value)
{
    (void)value;
    options->json = true;
}

static void help(struct cluster_options *options, char *value);

static const struct row {
    struct day_word word;
    void (*set)(struct cluster_options *options, char *value);
} rows[] = {
    {{"log", "LOG", "the jobs; packed by gzip or not"}, set_log},
    {{"nodes", "N", "nodes (50)"}, set_nodes},
    {{"load", "L", "part of the cores in use if nobody disturbed anybody (0.85)"}, set_load},
    {{"days", "D", "of arrivals (0: as long as the log); the first and last fifth do not count"},
     set_days},
    {{"seed", "S", "other programs, copies and lots (1)"}, set_seed},
    {{"seeds", "N", "so many seeds, from that one on (1)"}, set_seeds},
    {{"noise", "JOB,PHASE,WINDOW", "how uneven counters are, as day has it (0,0,0)"}, set_noise},
    {{"programs", "user|job",
      "who draws a program: a user for all of his jobs, or each job (user)"},
     set_programs},
    {{"choices", "LIST", "ways to choose a node; the first is what all are compared with (all)"},
     set_choices},
    {{"inside", "LIST", "of nothing, berth, best (nothing,berth)"}, set_inside},
    {{"look", "N", "nodes that complement and knows look at for a job, by lot (128)"}, set_look},
    {{"known", "PART", "of the jobs whose program is known to levels+heavy and the like (1)"},
     set_known},
    {{"queue", "easy|fcfs", "with backfill, or without (easy)"}, set_queue},
    {{"learned", "PART", "of what the stand-in for berth predicts that is the truth (0.5)"},
     set_learned},
    {{"idle", "on|off", "inside a node, cores that Slurm has given nobody are places (on)"},
     set_idle},
    {{"machine", "NAME", "nodes as of `day --help`, with cores for two of FILE's programs a cache"},
     set_machine},
    {{"topology", "SPEC", "hwloc synthetic (package:2 l3:1 core:8 pu:1)"}, set_topology},
    {{"socket", "WHAT", "what Slurm takes for a socket: package, or l3 (package)"}, set_socket},
    {{"set", "N", "of FILE, from 0 (all of them, one after the other)"}, set_set},
    {{"null", NULL, "nobody disturbs anybody: there is nothing to gain"}, set_null},
    {{"sample", "N", "play so many nodes again with the real berthd, of each seed (0)"},
     set_sample},
    {{"sample-days", "D", "days of each (10)"}, set_sample_days},
    {{"window", "S", "its window, seconds (10)"}, set_window},
    {{"watts", "IDLE,BUSY",
      "a core's part of its node's constant power, and what it takes more "
      "(2.83,3.5: 102 W a package of 36 cores, measured)"},
     set_watts},
    {{"json", NULL, "one JSON object a set"}, set_json},
    {{"help", NULL, "this"}, help},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static void help(struct cluster_options *options, char *value)
{
    (void)options, (void)value;
    fputs(about, stdout);
    day_words_list(&rows[0].word, ROWS, sizeof(*rows));
    fputs("\nWays to choose:", stdout);
    for (size_t i = 0; i < cluster_choices; i++)
        printf(" %s", cluster_choice[i].name);
    puts("\n+packed: an empty node only where no other has room. used, levels, heavy, classes: "
         "what\n"
         "berth-steer(8) can do, by weights and features of nodes that are up to 30 s old.");
    exit(0);
}

void cluster_options_take(struct cluster_options *options, int argc, char **argv)
{
    int row;

    *options = (struct cluster_options){.plan = {.nodes = 50, .load = 0.85, .seed = 1, .kinds = 1},
                                        .sample = {.days = 10, .window_s = 10},
                                        .inside = {true, true, false},
                                        .set = -1,
                                        .seeds = 1,
                                        .look = 128,
                                        .known = 1,
                                        .learned = 0.5,
                                        .idle = true,
                                        .backfill = true,
                                        .idle_w = 2.83,
                                        .busy_w = 3.5};
    for (size_t i = 0; i < cluster_choices; i++)
        options->choice[options->choices++] = &cluster_choice[i];
    while ((row = day_words_next(&rows[0].word, ROWS, sizeof(*rows), argc, argv)) >= 0)
        rows[row].set(options, optarg);
    if (optind + 1 != argc)
        day_words_wrong("one FILE expected");
    if (!options->log)
        day_words_wrong("--log is missing");
    options->file = argv[optind];
}
