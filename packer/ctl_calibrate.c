/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_calibrate - `berthctl calibrate`: measure this machine's memory and write its profile.
 *
 * Whatever can fail is tried before the machine is measured, and the file appears whole at the end
 * or not at all: Ctrl-C leaves nothing. */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <math.h>
#include <numa.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate.h"
#include "ctl.h"
#include "ctl_calibrate.h"
#include "mono.h"

#define RUNS 5
#define RUNS_QUICK 3
#define RUNS_MAX 1000
#define PROGRESS_AFTER_S 2 /* where stderr is no terminal */
#define PROGRESS_PLAIN_S 5
#define PROGRESS_TTY_S 0.1
#define BAR 30

static const char help_text[] =
    "usage: berthctl calibrate [OPTION...]\n"
    "\n"
    "Measure what this machine's memory can do, on each NUMA node and between the nodes, and "
    "write\n"
    "a machine profile, which berthd reads at its next start. Nothing else should run meanwhile.\n"
    "\n"
    "  --output FILE  where to write it (default: machine_profile of berth.conf); '-' for stdout,\n"
    "                 as JSON\n"
    "  --force        replace a file that is there\n"
    "  --runs N       repeat each measurement N times (default 5, quick 3)\n"
    "  --quick        shorter measurements, and not every number of cores\n"
    "  --json         print the profile as JSON on stdout, too\n"
    "  --help         this text\n"
    "\n"
    "It uses the CPUs and NUMA nodes that it may run on (see taskset(1)), and needs no "
    "privileges.\n";

struct args {
    const char *output; /* NULL: where the configuration says */
    unsigned runs;      /* 0: not given */
    bool force, quick, json;
};

/* ---- arguments ---- */

static int take_option(struct args *args, int option, const char *value, const char *typed)
{
    char *end;
    long runs;

    switch (option) {
    case 'o':
        args->output = value;
        return 0;
    case 'f':
        args->force = true;
        return 0;
    case 'r':
        errno = 0;
        runs = strtol(value, &end, 10);
        if (errno || end == value || *end || runs < 1 || runs > RUNS_MAX)
            return ctl_usage("calibrate", "--runs '%s': a number from 1 to %d", value, RUNS_MAX);
        args->runs = (unsigned)runs;
        return 0;
    case 'q':
        args->quick = true;
        return 0;
    case 'j':
        args->json = true;
        return 0;
    case ':':
        return ctl_usage("calibrate", "%s: its value is missing", typed);
    }
    return ctl_usage("calibrate", "%s: no such option", typed);
}

static int parse(struct args *args, int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
        {"runs", required_argument, NULL, 'r'},   {"quick", no_argument, NULL, 'q'},
        {"json", no_argument, NULL, 'j'},         {0}};
    int option, rc = 0;

    optind = 0;
    opterr = 0;
    while (rc == 0 && (option = getopt_long(argc, argv, ":", options, NULL)) != -1)
        rc = take_option(args, option, optarg, argv[optind - 1]);
    if (rc != 0)
        return rc;
    if (optind < argc)
        return ctl_usage("calibrate", "%s: no such argument", argv[optind]);
    if (args->runs == 0)
        args->runs = args->quick ? RUNS_QUICK : RUNS;
    return 0;
}

/* ---- the file ---- */

/* Whether the profile can be written there later; the folder of the default is made. */
static int check_output(const struct args *args, const char *path, struct berth_error *err)
{
    char folder[PATH_MAX], *parent;
    struct stat st;

    if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder))
        return berth_error_set(err, "%.64s...: %s", path, strerror(ENAMETOOLONG));
    parent = dirname(folder);
    if (!args->output && mkdir(parent, 0755) == 0)
        (void)!chmod(parent, 0755);
    if (lstat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return berth_error_set(err, "%s: not a regular file", path);
        if (!args->force)
            return berth_error_set(err, "%s: there is one already; --force replaces it", path);
    }
    if (access(parent, W_OK | X_OK) < 0)
        return berth_error_set(err, "%s: %s", parent, strerror(errno));
    return 0;
}

/* ---- progress ---- */

static volatile sig_atomic_t interrupted;

struct progress {
    bool tty, shown;
    double started_s, last_s;
};

static void on_signal(int number)
{
    interrupted = number;
}

static void show_bar(struct progress *progress, double done_s, double total_s, const char *what)
{
    int percent = total_s > 0 ? (int)(100 * done_s / total_s) : 0, filled = percent * BAR / 100;
    double elapsed_s = mono_s() - progress->started_s;
    double left_s = done_s > 0 ? elapsed_s * (total_s - done_s) / done_s : total_s;
    char bar[BAR + 1];

    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)filled);
    bar[BAR] = '\0';
    fprintf(stderr, "%sberthctl: calibrate: [%s] %d %%, %.0f s left: %s%s",
            progress->tty ? "\r" : "", bar, percent, ceil(left_s), what,
            progress->tty ? "\033[K" : "\n");
    progress->shown = true;
}

static bool on_progress(double done_s, double total_s, const char *what, void *arg)
{
    struct progress *progress = arg;
    double now = mono_s(), every_s = progress->tty ? PROGRESS_TTY_S : PROGRESS_PLAIN_S;

    if ((progress->tty || now - progress->started_s >= PROGRESS_AFTER_S) &&
        now - progress->last_s >= every_s) {
        show_bar(progress, done_s, total_s, what);
        progress->last_s = now;
    }
    return interrupted != 0;
}

static void clear_bar(struct progress *progress)
{
    if (progress->tty && progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}

static void on_note(const char *line, void *arg)
{
    clear_bar(arg);
    fprintf(stderr, "berthctl: calibrate: %s\n", line);
}

/* ---- the machine ---- */

/* The CPUs and the nodes that this process may use. */
static int read_limits(struct calibrate_wish *wish, struct berth_error *err)
{
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    struct bitmask *mems;
    int rc = set ? sched_getaffinity(0, size, set) : -1;

    if (rc < 0)
        berth_error_set(err, "affinity: %s", strerror(errno));
    for (size_t cpu = 0; rc == 0 && cpu < CPUS_MAX; cpu++)
        if (CPU_ISSET_S(cpu, size, set))
            cpus_add(&wish->cpus, cpu);
    CPU_FREE(set);
    mems = numa_available() >= 0 ? numa_get_mems_allowed() : NULL;
    for (unsigned node = 0; node < CPUS_MAX; node++)
        if (!mems || (node < mems->size && numa_bitmask_isbitset(mems, node)))
            cpus_add(&wish->mems, node);
    if (mems)
        numa_bitmask_free(mems);
    return rc;
}

static struct machine_profile *measure(const struct args *args, struct progress *progress,
                                       struct berth_error *err)
{
    struct calibrate_wish wish = {.runs = args->runs,
                                  .quick = args->quick,
                                  .progress = on_progress,
                                  .note = on_note,
                                  .arg = progress};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct machine_profile *profile = NULL;
    struct topo *topo;

    if (topo_read(&topo, NULL, err) < 0)
        return NULL;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    wish.topo = topo;
    if (read_limits(&wish, err) == 0)
        profile = calibrate(&wish, err);
    clear_bar(progress);
    topo_free(topo);
    return profile;
}

static int run(const struct args *args)
{
    struct progress progress = {.tty = isatty(STDERR_FILENO), .started_s = mono_s()};
    bool to_stdout = args->output && strcmp(args->output, "-") == 0;
    struct machine_profile *profile;
    struct berth_error err;
    struct conf conf;
    const char *path;
    int rc = 0;

    if (!args->output && ctl_conf(NULL, &conf, &err) < 0)
        return ctl_fail("calibrate", "%s", err.text);
    path = args->output ? args->output : conf.machine_profile;
    if (!to_stdout && check_output(args, path, &err) < 0)
        return ctl_fail("calibrate", "%s", err.text);
    profile = measure(args, &progress, &err);
    if (!profile)
        return ctl_fail("calibrate", "%s%s", err.text,
                        interrupted && !to_stdout ? ": nothing written" : "");
    if (!to_stdout && machine_profile_write(profile, path, args->force, &err) < 0)
        rc = ctl_fail("calibrate", "%s", err.text);
    if (args->json || to_stdout)
        rc = ctl_print_json(machine_profile_json(profile)) || rc;
    else
        calibrate_print(profile, stdout);
    if (rc == 0 && !args->json && !to_stdout)
        printf("written to %s\n", path);
    machine_profile_free(profile);
    return rc == 0 && fflush(stdout) != 0 ? ctl_fail("stdout", "%m") : rc;
}

int ctl_calibrate(int argc, char **argv)
{
    struct args args = {0};
    int rc;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return fputs(help_text, stdout) < 0;
    rc = parse(&args, argc, argv);
    return rc != 0 ? rc : run(&args);
}
