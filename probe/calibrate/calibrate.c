/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate - `berthctl calibrate`: measure this machine's memory and write its profile.
 *
 * Whatever can fail is tried before the machine is measured, and the file appears whole at the end
 * or not at all: Ctrl-C leaves nothing. */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <numa.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "probe/calibrate/calibrate.h"
#include "probe/calibrate/measure.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/options/options.h"

#define RUNS 5
#define RUNS_QUICK 3
#define RUNS_MAX 1000
#define PROGRESS_AFTER_S 2 /* where stderr is no terminal */
#define PROGRESS_PLAIN_S 5
#define PROGRESS_TTY_S 0.1
#define BAR 30

struct args {
    const char *output; /* NULL: where the configuration says */
    uint64_t runs;      /* 0: not given */
    const char *adapt;  /* a file of runs; NULL: not given */
    const char *dram;   /* a file of what nothing shows of the memory; NULL: not given */
    bool force, quick, json;
};

static const struct ctl_option option_rows[] = {
    {"output", 0, "FILE",
     "where to write it (default: machine_profile of berth.conf); '-' for stdout, as JSON",
     CTL_TEXT(struct args, output)},
    {"force", 0, NULL, "replace a file that is there", CTL_FLAG(struct args, force)},
    {"dram", 0, "FILE",
     "figures of the memory that this machine does not show, as JSON "
     "{\"tRTRS_ns\",\"auto_close\",...}; they come before those that it shows",
     CTL_TEXT(struct args, dram)},
    {"runs", 0, "N", "repeat each measurement N times (default 5, quick 3)",
     CTL_WHOLE(struct args, runs, "a number", 1, RUNS_MAX)},
    {"quick", 0, NULL, "shorter measurements, and not every number of cores",
     CTL_FLAG(struct args, quick)},
    {"adapt", 0, "PATH",
     "instead, fit the coefficients of ADAPT to the runs in a file, or in all files of a folder, "
     "and print them as JSON",
     CTL_TEXT(struct args, adapt)},
    {"json", 0, NULL, "print the profile as JSON on stdout, too", CTL_FLAG(struct args, json)},
};
static const struct ctl_options options = {
    .verb = "calibrate",
    .synopsis = "[OPTION...]",
    .about =
        "Measure what this machine's memory can do, on each NUMA node and between the nodes, and\n"
        "write a machine profile, which berthd reads at its next start. Nothing else should run\n"
        "meanwhile.",
    .more = "It uses the CPUs and NUMA nodes that it may run on (see taskset(1)), and needs no\n"
            "privileges.",
    CTL_OPTIONS(option_rows),
};

/* ---- the file ---- */

/* Checks whether the profile can be written there later; the folder of the default is made. */
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
    double elapsed_s = clock_s() - progress->started_s;
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
    double now = clock_s(), every_s = progress->tty ? PROGRESS_TTY_S : PROGRESS_PLAIN_S;

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

/* ---- the modules of the memory ---- */

/* Returns how many nodes have cores, and so channels of their own. */
static size_t count_nodes(const struct topo *topo)
{
    size_t n = 0;

    for (size_t i = 0; i < topo->nodes; i++)
        n += cpus_count(&topo->node[i].cpus) > 0;
    return n;
}

/* Fills in what the machine shows of its memory, and what the file says in the place of that. What
 * shows nothing is noted. */
static int read_dram(const struct args *args, const struct topo *topo, struct progress *progress,
                     struct machine_dram *dram, struct berth_error *err)
{
    struct json_object *given = NULL;
    struct rootfs root;
    int rc = 0;

    machine_dram_init(dram);
    if (args->dram && (!(given = ctl_input_read(args->dram, err)) ||
                       json_read(given, machine_dram_fields, dram, err) < 0))
        rc = berth_error_before(err, "%s: ", ctl_input_name(args->dram));
    else
        rc = rootfs_open(&root, "/", err);
    if (rc == 0) {
        machine_dram_read(&root, count_nodes(topo), dram, on_note, progress);
        rootfs_close(&root);
        if (given) {
            machine_dram_give(given, dram);
            ctl_input_tell_unread(ctl_input_name(args->dram), given, true);
        }
    }
    json_object_put(given);
    return rc;
}

/* ---- the machine ---- */

/* Reads which CPUs and nodes this process may use. */
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
    struct calibrate_wish wish = {.runs = (unsigned)args->runs,
                                  .quick = args->quick,
                                  .progress = on_progress,
                                  .note = on_note,
                                  .arg = progress};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct machine_profile *profile = NULL;
    struct machine_dram dram;
    struct topo *topo;

    if (topo_read(&topo, NULL, err) < 0)
        return NULL;
    if (read_dram(args, topo, progress, &dram, err) < 0) {
        topo_free(topo);
        return NULL;
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    wish.topo = topo;
    if (read_limits(&wish, err) == 0)
        profile = calibrate(&wish, err);
    if (profile)
        profile->dram = dram;
    clear_bar(progress);
    topo_free(topo);
    return profile;
}

static int calibrate_machine(const struct args *args)
{
    struct progress progress = {.tty = isatty(STDERR_FILENO), .started_s = clock_s()};
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
    int status = ctl_options_read(&options, argc, argv, &args);

    if (status >= 0)
        return status;
    if (args.adapt)
        return calibrate_adapt(args.adapt);
    if (args.runs == 0)
        args.runs = args.quick ? RUNS_QUICK : RUNS;
    return calibrate_machine(&args);
}
