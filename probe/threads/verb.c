/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verb - `berthctl threads -- COMMAND`: short runs of a program with ever more threads, until more
 * are of no use. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "probe/threads/census.h"
#include "probe/threads/probe.h"
#include "probe/threads/threads.h"
#include "enum_table.h"

struct
try {
    unsigned threads, parameter;
    struct probe probe;
};

struct search {
    const struct threads_args *args;
    struct rootfs root;
    int signals;
    struct reinforce_rules rules;
    struct reinforce reinforce;
    struct try *try;
    size_t n, room;
};

/* ---- what was ---- */

static void put_line(const struct try *try)
{
    const struct reinforce_profile *profile = &try->probe.profile;
    char util[32], lock[32], vcx[32], migr[32];

    printf("%8u %8u %8s %8s %10s %10s\n", try->threads, try->probe.seen,
           ctl_measure(profile->cpu_util, 1, util), ctl_measure(profile->lock, 1, lock),
           ctl_measure(profile->vcx, 0, vcx), ctl_measure(profile->migr, 0, migr));
    fflush(stdout);
}

static void put_head(void)
{
    printf("%8s %8s %8s %8s %10s %10s\n", "THREADS", "SEEN", "CPU%", "LOCK%", "VCX/S", "MIGR/S");
}

static const char *const TABLE(ended_by, REINFORCE_ENDS) = {
    ROW(REINFORCE_RUNNING) = "",
    ROW(REINFORCE_UTIL) = "more threads use no more of the CPUs",
    ROW(REINFORCE_LOCK) =
        "with more threads waiting for locks rises, and switches or migrations do",
    ROW(REINFORCE_MAX) = "that is --max",
};
TABLE_COMPLETE(ended_by);

static void put_result(const struct search *search)
{
    const struct reinforce *reinforce = &search->reinforce;

    if (search->args->record)
        printf("\n%zu runs are in %s\n", search->n, search->args->record);
    else
        printf("\n%u threads (n = %u) on %u cores: %s\n", reinforce->best,
               threads_parameter(search->args, reinforce->best), search->rules.cores,
               ended_by[reinforce->end]);
}

static struct json_object *try_json(const struct try *try)
{
    const struct reinforce_profile *profile = &try->probe.profile;
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "threads", try->threads);
    json_add_u64(object, "n", try->parameter);
    json_add_u64(object, "seen", try->probe.seen);
    json_add_measure(object, "cpu_util", profile->cpu_util);
    json_add_measure(object, "lock", profile->lock);
    json_add_measure(object, "vcx", profile->vcx);
    json_add_measure(object, "migr", profile->migr);
    return object;
}

static struct json_object *search_object(const struct search *search, bool stored)
{
    struct json_object *output = json_object_new_object(), *tried = json_object_new_array();
    const struct reinforce *reinforce = &search->reinforce;

    for (size_t i = 0; i < search->n; i++)
        json_append(tried, try_json(&search->try[i]));
    if (!search->args->record) {
        json_add_u64(output, "threads", reinforce->best);
        json_add_u64(output, "n", threads_parameter(search->args, reinforce->best));
        json_add_text(output, "ended", reinforce_end_name[reinforce->end]);
        json_add(output, "thresholds", sweep_thresholds_json(&search->rules.thresholds));
    }
    json_add_u64(output, "cores", search->rules.cores);
    json_add(output, "tried", tried);
    json_add_bool(output, "stored", stored);
    return output;
}

/* ---- the runs ---- */

/* Says which ways to end the search are closed, once the first run has shown what can be read. */
static void say_closed(const struct search *search)
{
    const struct reinforce_profile *profile = &search->try[0].probe.profile;
    const struct reinforce_thresholds *limit = &search->rules.thresholds;

    if (isnan(profile->lock))
        fprintf(stderr, "berthctl: threads: who waits for locks cannot be read here "
                        "(/proc/PID/task/TID/syscall): only the use of the CPUs ends the search\n");
    else if (!search->args->record && isnan(limit->lock))
        fprintf(stderr,
                "berthctl: threads: no threshold of lock: only the use of the CPUs ends the "
                "search\n");
    else if (isnan(profile->migr))
        fprintf(stderr, "berthctl: threads: migrations cannot be read here "
                        "(/proc/PID/task/TID/sched): they end no search\n");
}

/* Had the program fewer threads than it should in any run? Then the numbers say nothing. */
static bool had_fewer(const struct search *search)
{
    for (size_t i = 0; i < search->n; i++)
        if (search->try[i].probe.fewer)
            return true;
    return false;
}

/* Says, once, that the program does not make the threads that it should. */
static void say_fewer(const struct search *search, const struct probe_want *want,
                      const struct probe *probe)
{
    if (probe->fewer && !had_fewer(search))
        fprintf(stderr,
                "berthctl: threads: with n = %u it should have %u threads, and has %u after %g s: "
                "does it take n? (--makes, --start)\n",
                want->parameter, want->threads, probe->seen, want->start_s);
}

/* Runs it with so many threads. 0, or 1 after saying why not. */
static int try_count(struct search *search, unsigned threads)
{
    const struct threads_args *args = search->args;
    struct probe_want want = {
        .command = args->command,
        .parameter = threads_parameter(args, threads),
        .threads = (unsigned)(threads_parameter(args, threads) * args->factor + args->offset),
        .cores = search->rules.cores,
        .start_s = args->start_s,
        .probe_s = args->probe_s,
        .grace_s = args->grace_s,
        .signals = search->signals,
    };
    struct berth_error err;
    struct try *try;

    if (array_grow(&search->try, &search->room, search->n + 1, sizeof(*search->try)) < 0)
        return ctl_fail("threads", "%m");
    try = &search->try[search->n];
    *try = (struct try){.threads = threads, .parameter = want.parameter};
    if (probe_run(&want, &search->root, &try->probe, &err) < 0)
        return ctl_fail("threads", "%s", err.text);
    if (try->probe.signal)
        return ctl_fail("threads", "stopped by SIG%s: nothing found",
                        sigabbrev_np(try->probe.signal));
    if (isnan(try->probe.profile.cpu_util))
        return ctl_fail("threads", "CPU time of threads cannot be read here "
                                   "(/proc/PID/task/TID/schedstat)");
    say_fewer(search, &want, &try->probe);
    if (search->n++ == 0)
        say_closed(search);
    if (!args->json)
        put_line(try);
    return 0;
}

static int run_search(struct search *search)
{
    int rc = 0;

    reinforce_init(&search->reinforce, &search->rules);
    while (rc == 0 && search->reinforce.next) {
        rc = try_count(search, search->reinforce.next);
        if (rc == 0)
            reinforce_run(&search->reinforce, &search->rules,
                          &search->try[search->n - 1].probe.profile);
    }
    return rc;
}

/* Runs it with all counts, and records them. */
static int run_sweep(struct search *search)
{
    const struct reinforce_rules *rules = &search->rules;
    struct reinforce_point *point;
    struct berth_error err;
    int rc = 0;

    for (unsigned threads = rules->t_min; rc == 0; threads += rules->t_step) {
        rc = try_count(search, threads);
        if (rules->t_max - threads < rules->t_step)
            break;
    }
    if (rc == 0 && had_fewer(search))
        return ctl_fail("threads", "not recorded: it did not have the threads that it should");
    point = rc == 0 ? calloc(search->n, sizeof(*point)) : NULL;
    if (!point)
        return rc ? rc : ctl_fail("threads", "%m");
    for (size_t i = 0; i < search->n; i++)
        point[i] = (struct reinforce_point){search->try[i].threads, search->try[i].probe.profile};
    if (sweep_record(search->args->record, search->args->command[0], search->args, search->n, point,
                     &err) < 0)
        rc = ctl_fail("threads", "%s", err.text);
    free(point);
    return rc;
}

/* Nobody's children but those of the runs may be stopped: a shell that became us by exec may have
 * some. */
static int has_none(const struct rootfs *root)
{
    size_t n;
    pid_t *pid = census_processes(root, &n);
    pid_t first = pid && n > 0 ? pid[0] : 0;

    free(pid);
    if (!pid)
        return ctl_fail("threads", "/proc: %m");
    return first ? ctl_fail("threads",
                            "process %d is a child of this one already, and would be "
                            "killed with COMMAND: start it from a shell, without exec",
                            (int)first)
                 : 0;
}

/* Stores what was found. That it cannot be is told, and no failure: it is on the screen. */
static bool keep(const struct search *search)
{
    struct berth_error err;

    if (search->args->record)
        return false;
    if (had_fewer(search))
        berth_error_set(&err, "it did not have the threads that it should");
    else if (threads_keep(search->args, threads_parameter(search->args, search->reinforce.best),
                          &err) == 0)
        return true;
    fprintf(stderr, "berthctl: threads: not stored: %s\n", err.text);
    return false;
}

static int search_threads(struct search *search)
{
    const struct threads_args *args = search->args;
    int rc = has_none(&search->root);
    bool stored;

    if (rc != 0)
        return rc;
    fprintf(stderr,
            "berthctl: threads: %s is started at most %u times, and killed each time: files that "
            "it writes are left half done\n",
            args->command[0], reinforce_most(&search->rules));
    search->signals = ctl_signals(0);
    if (search->signals < 0)
        return ctl_fail("threads", "signalfd: %m");
    if (!args->json)
        put_head();
    rc = args->record ? run_sweep(search) : run_search(search);
    if (rc != 0)
        return rc;
    if (!args->json)
        put_result(search);
    stored = keep(search);
    return args->json ? ctl_print_json(search_object(search, stored)) : 0;
}

static int read_thresholds(const struct threads_args *args, struct reinforce_rules *rules,
                           struct berth_error *err)
{
    unsigned cores;

    if (sweep_thresholds(args->thresholds, rules->t_step, &rules->thresholds, &cores, err) < 0)
        return -1;
    if (cores > 0 && cores != rules->cores)
        return berth_error_set(err, "%s: learnt on %u cores, and it will have %u (--cores)",
                               ctl_input_name(args->thresholds), cores, rules->cores);
    return 0;
}

int ctl_threads(int argc, char **argv)
{
    struct threads_args args;
    struct search search = {.args = &args};
    struct berth_error err;
    int rc = threads_args_parse(&args, argc, argv);

    if (rc >= 0)
        return rc;
    if (args.learn)
        return sweep_learn(args.command);
    search.rules = (struct reinforce_rules){(unsigned)args.cores,
                                            (unsigned)args.least,
                                            (unsigned)args.most,
                                            (unsigned)args.step,
                                            {NAN, NAN, NAN, NAN, NAN}};
    if (args.thresholds && read_thresholds(&args, &search.rules, &err) < 0)
        return ctl_fail("threads", "%s", err.text);
    if (args.dry_run)
        return threads_dry_run(&args, &search.rules);
    if (rootfs_open(&search.root, "/", &err) < 0)
        return ctl_fail("threads", "%s", err.text);
    rc = search_threads(&search);
    rootfs_close(&search.root);
    free(search.try);
    return rc;
}
