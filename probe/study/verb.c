/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verb - `berthctl study A B`: which part of what A loses beside B is the cache's, the bus's, the
 * memory controller's and the prefetchers' (Blagodurov 2010, chapter 3). A is run alone and with B
 * in all places that this machine has, in rounds, so that what changes by itself meets all alike.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "probe/study/places.h"
#include "probe/study/prefetch.h"
#include "probe/study/run.h"
#include "probe/study/study.h"
#include "probe/threads/census.h"

enum by { BY_CPU, BY_WALL };
static const char *const by_words[] = {"cpu", "wall", NULL};

struct args {
    uint64_t runs, cores;
    double warm_s;
    enum by by;
    const char *times, *conf;
    bool json;
};

static const struct ctl_option option_rows[] = {
    {"runs", 0, "N", "run A so often in each place (default 5)",
     CTL_WHOLE(struct args, runs, "runs", 1, STUDY_RUNS_MOST)},
    {"cores", 0, "N", "cores for each of the two (default 1)",
     CTL_WHOLE(struct args, cores, "cores", 1, CPUS_MAX)},
    {"warm", 0, "SECONDS", "B has run so long before A starts (default 1)",
     CTL_NUMBER(struct args, warm_s, "seconds", 0, 3600)},
    {"by", 0, "CLOCK", "what is compared: cpu, the CPU time of A (the default), or wall",
     CTL_WORD(struct args, by, by_words)},
    {"times", 0, "FILE", "run nothing: divide the times that --json has printed",
     CTL_TEXT(struct args, times)},
    {"conf", 0, "FILE", "berth.conf, whose topology and device_root are the machine's",
     CTL_TEXT(struct args, conf)},
    {"json", 0, NULL, "print JSON, with all times", CTL_FLAG(struct args, json)},
};
static const struct ctl_options options = {
    .verb = "study",
    .synopsis = "[OPTION...] A B\n"
                "       berthctl study [--json] --times FILE",
    .about =
        "Find which part of what program A loses beside program B is the cache's, the bus's, the\n"
        "memory controller's and the prefetchers' (Blagodurov 2010, chapter 3).",
    .more =
        "A and B are commands of a shell. A is run alone, and beside B in another package, on\n"
        "another cache, on the same one, and there with B's memory elsewhere; all that once\n"
        "more without prefetchers, where root can switch them. What this machine has not is\n"
        "said. A is to take a second at least; B is started again whenever it ends, and killed\n"
        "at last. Their standard output goes nowhere.",
    CTL_OPTIONS(option_rows),
    .least = 0,
    .most = 2,
    .takes = "A and B, each one word of the shell's,",
};

/* What is under way. */
struct work {
    const struct args *args;
    const struct topo *topo;
    struct rootfs root, devices;
    struct study_places places;
    struct study_prefetch prefetch;
    struct study *study;
    int signals;
    size_t done, all; /* runs */
    double began_s;
};

/* ---- progress ---- */

static void show(const struct work *work, enum parts_where where, bool off)
{
    char bar[21], left[CTL_TIME_MAX] = "";
    size_t full = 20 * work->done / work->all;

    memset(bar, '.', 20);
    memset(bar, '#', full);
    bar[20] = '\0';
    if (work->done > 0)
        ctl_time((clock_s() - work->began_s) / (double)work->done *
                     (double)(work->all - work->done),
                 left);
    ctl_put_progress("[%s] %zu of %zu: %s%s%s%s", bar, work->done, work->all,
                     parts_where_name[where], off ? ", without prefetchers" : "",
                     left[0] ? "; left " : "", left);
}

/* Says why it ends, below what stood in the line of progress. */
static int fail(const char *why)
{
    ctl_put_progress("%s", "");
    return ctl_fail("study", "%s", why);
}

/* ---- the runs ---- */

/* Runs A once under a condition. 0, or the exit status after saying why not. */
static int run_once(struct work *work, enum parts_where where, bool off)
{
    struct study *study = work->study;
    struct study_times *times = off ? &study->off[where] : &study->on[where];
    const struct study_program first = {study->first, work->places.cpus, work->places.node};
    const struct study_program other = {study->other, work->places.at[where].cpus,
                                        work->places.at[where].node};
    struct berth_error err;
    struct study_ran ran;

    show(work, where, off);
    if (study_run(&first, where == PARTS_ALONE ? NULL : &other, work->args->warm_s, work->signals,
                  &work->root, &ran, &err) < 0)
        return fail(err.text);
    if (ran.signal) {
        berth_error_set(&err, "stopped by SIG%s: nothing found", sigabbrev_np(ran.signal));
        return fail(err.text);
    }
    times->seconds[times->n++] = work->args->by == BY_CPU ? ran.cpu_s : ran.wall_s;
    work->done++;
    return 0;
}

/* Runs A in all places once. */
static int run_round(struct work *work, bool off)
{
    int rc = 0;

    for (enum parts_where where = 0; where < PARTS_PLACES && rc == 0; where++)
        if (!work->study->lacks[where][0])
            rc = run_once(work, where, off);
    return rc;
}

/* The guardian of the registers is started while its parent's end makes it nobody's child of ours.
 */
static int adopt(bool on)
{
    return prctl(PR_SET_CHILD_SUBREAPER, on) < 0 ? ctl_fail("study", "PR_SET_CHILD_SUBREAPER: %m")
                                                 : 0;
}

static int round_without(struct work *work)
{
    struct berth_error err;
    int rc;

    adopt(false);
    if (study_prefetch_off(&work->prefetch, &work->devices, &err) < 0)
        return fail(err.text);
    rc = adopt(true);
    if (rc == 0)
        rc = run_round(work, true);
    if (study_prefetch_back(&work->prefetch, &work->devices, &err) < 0)
        rc = ctl_fail("study", "prefetchers are not as they were: %s", err.text);
    return rc;
}

static int run_rounds(struct work *work)
{
    size_t places = 0;
    int rc = adopt(true);

    for (enum parts_where where = 0; where < PARTS_PLACES; where++)
        places += !work->study->lacks[where][0];
    work->all = work->args->runs * places * (work->study->lacks_off[0] ? 1 : 2);
    work->began_s = clock_s();
    for (uint64_t i = 0; i < work->args->runs && rc == 0; i++) {
        rc = run_round(work, false);
        if (rc == 0 && !work->study->lacks_off[0])
            rc = round_without(work);
    }
    ctl_put_progress("%s", "");
    return rc;
}

/* ---- the machine ---- */

static int find_places(struct work *work, struct berth_error *err)
{
    struct study *study = work->study;
    struct cpus allowed, used;

    cpus_zero(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), (cpu_set_t *)&allowed) < 0)
        return berth_error_set(err, "sched_getaffinity: %m");
    if (study_places(&work->places, work->topo, &allowed, work->args->cores, err) < 0)
        return -1;
    used = work->places.cpus;
    for (enum parts_where where = 0; where < PARTS_PLACES; where++) {
        if (work->places.at[where].lacks)
            snprintf(study->lacks[where], sizeof(study->lacks[where]), "%s",
                     work->places.at[where].lacks);
        else
            cpus_or(&used, &work->places.at[where].cpus);
    }
    if (study_prefetch_find(&work->prefetch, &work->devices, work->topo, &used, err) < 0)
        snprintf(study->lacks_off, sizeof(study->lacks_off), "%.255s", err->text);
    return 0;
}

/* Children that are there already would be stopped with the programs. */
static int check_alone(const struct rootfs *root, struct berth_error *err)
{
    size_t n = 0;
    pid_t *pid = census_processes(root, &n);

    free(pid);
    if (!pid)
        return berth_error_set(err, "/proc: %m");
    return n > 0 ? berth_error_set(err, "this process has children already: start it from a shell, "
                                        "without exec")
                 : 0;
}

static int measure_on(struct work *work)
{
    struct berth_error err;

    if (check_alone(&work->root, &err) < 0 || find_places(work, &err) < 0)
        return ctl_fail("study", "%s", err.text);
    work->signals = ctl_signals(SIGCHLD);
    if (work->signals < 0)
        return ctl_fail("study", "signalfd: %m");
    return run_rounds(work);
}

static int measure(const struct args *args, struct study *study)
{
    struct work work = {.args = args, .study = study};
    struct berth_error err;
    struct topo *topo;
    struct conf conf;
    int rc;

    if (ctl_conf(args->conf, &conf, &err) < 0 || topo_read(&topo, conf.topology, &err) < 0)
        return ctl_fail("study", "%s", err.text);
    work.topo = topo;
    if (rootfs_open(&work.root, "/", &err) < 0) {
        topo_free(topo);
        return ctl_fail("study", "%s", err.text);
    }
    if (rootfs_open(&work.devices, conf.device_root, &err) < 0)
        rc = ctl_fail("study", "%s", err.text);
    else {
        rc = measure_on(&work);
        rootfs_close(&work.devices);
    }
    rootfs_close(&work.root);
    topo_free(topo);
    return rc;
}

/* ---- the verb ---- */

static int name_programs(struct study *study, int argc, char **argv)
{
    if (argc != 2)
        return ctl_usage("study", "A and B expected, each one word of the shell's");
    if (strlen(argv[0]) >= sizeof(study->first) || strlen(argv[1]) >= sizeof(study->other))
        return ctl_usage("study", "a command of at most %zu bytes expected",
                         sizeof(study->first) - 1);
    strcpy(study->first, argv[0]);
    strcpy(study->other, argv[1]);
    return 0;
}

static int study_it(const struct args *args, struct study *study, int argc, char **argv)
{
    struct berth_error err;
    int rc;

    if (args->times && argc > 0)
        return ctl_usage("study", "--times runs nothing: no A and B expected");
    if (args->times)
        return study_read(study, args->times, &err) < 0 ? ctl_fail("study", "%s", err.text)
                                                        : study_put(study, args->json);
    rc = name_programs(study, argc, argv);
    if (rc == 0)
        rc = measure(args, study);
    return rc == 0 ? study_put(study, args->json) : rc;
}

int ctl_study(int argc, char **argv)
{
    struct args args = {.runs = 5, .cores = 1, .warm_s = 1};
    struct study *study;
    int rc = ctl_options_read(&options, argc, argv, &args);

    if (rc >= 0)
        return rc;
    study = calloc(1, sizeof(*study));
    if (!study)
        return ctl_fail("study", "out of memory");
    rc = study_it(&args, study, argc - optind, argv + optind);
    free(study);
    return rc;
}
