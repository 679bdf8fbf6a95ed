/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence [OPTION..] - how much berthd disturbs a program that has the whole node and needs nothing
 * of it: `silence --help`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"
#include "tests/bench/silence_scene.h"
#include "tests/bench/silence_tell.h"
#include "tests/bench/silence_watch.h"

#define SCENES_MAX 32
/* Between two looks at the watch while detours are noted: a look may be one, too. */
#define LOOK_S 5
#define SCHEDSTAT_LOOK_S 0.002

static const char help[] =
    "usage: silence [OPTION..]   (in the build folder)\n"
    "\n"
    "How much berthd disturbs a program that has the whole node and needs nothing of it.\n"
    "\n"
    "  --only SCENE    only that scene; may be repeated\n"
    "  --list          the scenes; with a +, counters, energy, memory, blackboard and ledger are "
    "on;\n"
    "                  with a -, all of these but the blackboard\n"
    "  --seconds S     how long berthd is watched in each scene (120)\n"
    "  --settle S      how long before that it is left alone, for what is done once (8)\n"
    "  --detours S     how long detours are noted, without berthd and then with it; 0: not (20)\n"
    "  --skew MS       together: so far are the nodes' clocks apart (0)\n"
    "  --seed N        of the played program (1)\n"
    "  --schedstat     look at schedstat, even where the kernel gives records of switches\n"
    "  --build DIR     the berthd of that build folder, which may be of another tree\n"
    "  --bursts FILE   write each burst there: scene, thread, its begin (s), length (ms), CPU\n"
    "  --json          one JSON object in the place of the tables\n"
    "  --help\n"
    "\n"
    "Tasks are processes that sleep, on a made-up node with a core for each (enforcement =\n"
    "dryrun); meters are files that are kept counting; counters are those that this machine has.\n"
    "\n"
    "A burst is what a thread of berthd does between two sleeps, and its length is what it had of\n"
    "a CPU. `switches`: by the kernel's records, exact. `schedstat`: looked at every 2 ms, where\n"
    "those are refused (they need CAP_PERFMON).\n"
    "\n"
    "How many times as long a bulk-synchronous program takes: each of its nodes has the bursts\n"
    "that were seen, from any instant on, or all at the same instants (together). A burst\n"
    "lengthens the iteration in which it begins, on its node, for the program has all cores; the\n"
    "iteration ends with the slowest node.\n"
    "\n"
    "Detours: a thread on each CPU reads the clock without a pause, and notes where that took\n"
    "more than 0.1 ms. They are berthd's as long as a burst of it was under way on that CPU.\n";

struct arguments {
    double seconds, settle, detours, skew_ms;
    unsigned seed;
    bool schedstat, json;
    FILE *bursts;
    const struct silence_scene *scene[SCENES_MAX];
    size_t scenes;
};

/* ---- what is asked ---- */

static int wrong(const char *what, const char *value)
{
    fprintf(stderr, "silence: %s '%s' (try 'silence --help')\n", what, value);
    exit(2);
}

static double number(const char *option, const char *text, double least)
{
    char *end;
    double value = strtod(text, &end);

    if (*end || end == text || !(value >= least) || value > 1e6)
        wrong(option, text);
    return value;
}

static void add_scene(struct arguments *args, const char *name)
{
    for (size_t i = 0; i < silence_scenes_n; i++)
        if (strcmp(silence_scenes[i].name, name) == 0 && args->scenes < SCENES_MAX) {
            for (size_t known = 0; known < args->scenes; known++)
                if (args->scene[known] == &silence_scenes[i])
                    return;
            args->scene[args->scenes++] = &silence_scenes[i];
            return;
        }
    wrong("--only: no such scene, or too many,", name);
}

static void list(void)
{
    for (size_t i = 0; i < silence_scenes_n; i++)
        printf("%-12s %s\n", silence_scenes[i].name, silence_scenes[i].what);
    exit(0);
}

enum { ONLY, LIST, SECONDS, SETTLE, DETOURS, SKEW, SEED, SCHEDSTAT, BUILD, BURSTS, JSON, HELP };

static const struct option options[] = {{"only", required_argument, NULL, ONLY},
                                        {"list", no_argument, NULL, LIST},
                                        {"seconds", required_argument, NULL, SECONDS},
                                        {"settle", required_argument, NULL, SETTLE},
                                        {"detours", required_argument, NULL, DETOURS},
                                        {"skew", required_argument, NULL, SKEW},
                                        {"seed", required_argument, NULL, SEED},
                                        {"schedstat", no_argument, NULL, SCHEDSTAT},
                                        {"build", required_argument, NULL, BUILD},
                                        {"bursts", required_argument, NULL, BURSTS},
                                        {"json", no_argument, NULL, JSON},
                                        {"help", no_argument, NULL, HELP},
                                        {0}};

static void take(struct arguments *args, int option)
{
    switch (option) {
    case ONLY:
        add_scene(args, optarg);
        break;
    case LIST:
        list();
        break;
    case SECONDS:
        args->seconds = number("--seconds", optarg, 0.1);
        break;
    case SETTLE:
        args->settle = number("--settle", optarg, 0);
        break;
    case DETOURS:
        args->detours = number("--detours", optarg, 0);
        break;
    case SKEW:
        args->skew_ms = number("--skew", optarg, 0);
        break;
    case SEED:
        args->seed = (unsigned)number("--seed", optarg, 0);
        break;
    case SCHEDSTAT:
        args->schedstat = true;
        break;
    case BUILD:
        bench_berthd_of(optarg);
        break;
    case BURSTS:
        args->bursts = fopen(optarg, "w");
        if (!args->bursts)
            bench_die(optarg, strerror(errno));
        break;
    case JSON:
        args->json = true;
        break;
    case HELP:
        fputs(help, stdout);
        exit(0);
    default:
        fputs("try 'silence --help'\n", stderr);
        exit(2);
    }
}

static struct arguments parse(int argc, char **argv)
{
    struct arguments args = {.seconds = 120, .settle = 8, .detours = 20, .seed = 1};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
        take(&args, option);
    if (optind < argc)
        wrong("no argument is expected:", argv[optind]);
    for (size_t i = 0; args.scenes == 0 && i < silence_scenes_n; i++)
        args.scene[i] = &silence_scenes[i];
    if (args.scenes == 0)
        args.scenes = silence_scenes_n;
    return args;
}

/* ---- a scene ---- */

static const struct silence_stage *stage_now;
static const char *doing;

static void each(double done)
{
    if (stage_now)
        silence_stage_meter(stage_now);
    silence_tell_progress(doing, done);
}

static void settle(double seconds)
{
    double began_s = clock_s(), now_s;

    while ((now_s = clock_s()) < began_s + seconds) {
        each((now_s - began_s) / seconds);
        usleep(200000);
    }
}

static void watch(const struct arguments *args, struct silence_train *train)
{
    struct silence_watch *watch = silence_watch_open(stage_now->berthd, args->schedstat);

    silence_watch_pass(watch, args->seconds, each);
    silence_watch_close(watch, train);
}

/* With berthd or without. By schedstat, it has to be looked at all the time. */
static void detours(const struct arguments *args, pid_t berthd, struct silence_detours *seen)
{
    struct silence_watch *watch = berthd ? silence_watch_open(berthd, args->schedstat) : NULL;
    struct silence_loop *loop = silence_detours_begin();
    double until_s = clock_s() + args->detours, now_s;
    double pause_s = watch && silence_watch_by_schedstat(watch) ? SCHEDSTAT_LOOK_S : LOOK_S;
    struct silence_train train = {0};

    silence_tell_progress(doing, 0);
    while ((now_s = clock_s()) < until_s) {
        if (watch)
            silence_watch_look(watch);
        usleep((useconds_t)(1e6 * fmin(until_s - now_s, pause_s)));
    }
    silence_detours_stop(loop);
    if (watch)
        silence_watch_close(watch, &train);
    silence_detours_tell(loop, watch ? &train : NULL, seen);
    silence_train_clear(&train);
}

static void write_bursts(const struct arguments *args, const struct silence_result *result)
{
    const struct silence_train *train = &result->train;

    for (size_t i = 0; args->bursts && i < train->n; i++)
        fprintf(args->bursts, "%s %d %.6f %.6f %d\n", result->scene->name,
                (int)train->burst[i].thread, train->burst[i].at_s - train->began_s,
                1e3 * train->burst[i].run_s, train->burst[i].cpu);
}

static void run(const struct arguments *args, const char *folder, struct silence_result *result)
{
    struct silence_stage stage;

    doing = result->scene->name;
    if (args->detours > 0)
        detours(args, 0, &result->without);
    silence_stage_open(&stage, result->scene, folder);
    stage_now = &stage;
    settle(args->settle);
    watch(args, &result->train);
    if (args->detours > 0)
        detours(args, stage.berthd, &result->with);
    stage_now = NULL;
    silence_stage_close(&stage);
    silence_tell_progress(NULL, 0);
}

int main(int argc, char **argv)
{
    struct arguments args = parse(argc, argv);
    static struct silence_result result[SCENES_MAX];
    static char folder[BENCH_FOLDER_MAX];

    bench_folder_make(folder, sizeof(folder));
    for (size_t i = 0; i < args.scenes; i++) {
        result[i].scene = args.scene[i];
        run(&args, folder, &result[i]);
        write_bursts(&args, &result[i]);
        silence_play(&result[i], args.skew_ms / 1e3, args.seed);
        if (!args.json)
            silence_tell(&result[i]);
    }
    if (args.json)
        silence_tell_json(result, args.scenes, args.skew_ms / 1e3, args.seed);
    for (size_t i = 0; i < args.scenes; i++)
        silence_train_clear(&result[i].train);
    if (args.bursts && fclose(args.bursts) != 0)
        bench_die("--bursts", strerror(errno));
    return 0;
}
