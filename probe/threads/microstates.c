/* SPDX-License-Identifier: GPL-2.0-or-later */
/* microstates - `berthctl microstates PID`: of each thread of running processes the parts of the
 * time in which it ran in its program and in the kernel, could have run and had no CPU, and waited
 * for a lock (Pusukuri 2012, section 2.1, Figure 2.1), and how often a second it gave up its CPU,
 * which is what a program's synchronisation rate is at most (FlexThread, Wang 2015, section 6.6).
 *
 * All is read of /proc as any user may of his own processes; nothing is changed. User and system
 * time are those that the kernel counts by ticks, as parts of the time that it counts exactly. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "probe/threads/census.h"
#include "probe/threads/threads.h"

#define LOOKS_A_SECOND 50 /* at who waits for a lock */
#define PIDS_MAX 256

struct args {
    double for_s;
    bool json;
};

static const struct ctl_option option_rows[] = {
    {"for", 0, "SECONDS", "watch so long (default 2)",
     CTL_NUMBER(struct args, for_s, "seconds", 0.1, 3600)},
    {"json", 0, NULL, "print JSON", CTL_FLAG(struct args, json)},
};
static const struct ctl_options options = {
    .verb = "microstates",
    .synopsis = "[OPTION...] PID...",
    .about =
        "Tell of each thread of these processes, in percent of the time: CPU, it ran: USR, in\n"
        "its program, SYS, in the kernel; LAT, it could have run and had no CPU; LCK, it waited\n"
        "for a lock; and WAITS/S, how often it gave up its CPU (Pusukuri 2012, section 2.1).",
    .more = "Nothing is changed in them. \"-\" is what the kernel does not tell.",
    CTL_OPTIONS(option_rows),
    .least = 1,
    .most = PIDS_MAX,
    .takes = "PIDs",
};

/* What is known of a thread beside its census, from when it was first seen. */
struct ticks {
    double user, system; /* NAN */
    char name[20];
};

struct state {
    double cpu, usr, sys, lat, lck, waits; /* percent, per second; NAN not known */
};

struct watch {
    struct rootfs root;
    size_t n;
    pid_t pid[PIDS_MAX];
    struct census before, after;
    struct ticks *ticks;    /* [before.n] */
    size_t *looks, *waited; /* [before.n] */
    double seconds;
};

/* ---- reading ---- */

/* Reads name, user and system time of /proc/PID/task/TID/stat. */
static struct ticks read_ticks(const struct rootfs *root, const struct census_thread *thread)
{
    struct ticks ticks = {NAN, NAN, ""};
    char path[96], *text, *name, *end;

    snprintf(path, sizeof(path), "proc/%d/task/%d/stat", (int)thread->pid, (int)thread->tid);
    text = rootfs_read(root, path);
    name = text ? strchr(text, '(') : NULL;
    end = text ? strrchr(text, ')') : NULL;
    if (name && end) {
        snprintf(ticks.name, sizeof(ticks.name), "%.*s", (int)(end - name - 1), name + 1);
        if (sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf", &ticks.user,
                   &ticks.system) != 2)
            ticks.user = ticks.system = NAN;
    }
    free(text);
    return ticks;
}

static int first_look(struct watch *watch, struct berth_error *err)
{
    size_t n;

    if (census_take_of(&watch->before, &watch->root, watch->n, watch->pid, err) < 0)
        return -1;
    n = watch->before.n;
    if (n == 0)
        return berth_error_set(err, "%d: no such process, or not to be seen", (int)watch->pid[0]);
    watch->ticks = calloc(n, sizeof(*watch->ticks));
    watch->looks = calloc(2 * n, sizeof(*watch->looks));
    if (!watch->ticks || !watch->looks)
        return berth_no_memory(err);
    watch->waited = watch->looks + n;
    for (size_t i = 0; i < n; i++)
        watch->ticks[i] = read_ticks(&watch->root, &watch->before.thread[i]);
    return 0;
}

static void look(struct watch *watch)
{
    for (size_t i = 0; i < watch->before.n; i++) {
        bool gone;
        int waits = census_thread_waits(&watch->root, &watch->before.thread[i], &gone);

        watch->looks[i] += waits >= 0;
        watch->waited[i] += waits == 1;
    }
}

/* Watches so long. Returns the signal that has ended it before, 0. */
static int watch_for(struct watch *watch, double for_s, int signals)
{
    double began_s = clock_s(), end_s = began_s + for_s;
    struct pollfd poll_fd = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo signal;
    int rc = 0;

    while (rc == 0 && clock_s() < end_s) {
        look(watch);
        if (poll(&poll_fd, 1, 1000 / LOOKS_A_SECOND) == 1 &&
            read(signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
            rc = (int)signal.ssi_signo;
    }
    watch->seconds = clock_s() - began_s;
    return rc;
}

/* ---- what follows ---- */

/* The state of a thread that was there all the time. False: it has ended. */
static bool state_of(const struct watch *watch, size_t i, struct state *state)
{
    const struct census_thread *was = &watch->before.thread[i],
                               *now = census_find(&watch->after, was);
    struct ticks ticks;
    double cpu, user, system;

    if (!now)
        return false;
    ticks = read_ticks(&watch->root, now);
    cpu = 100 * (now->cpu_ns - was->cpu_ns) / 1e9 / watch->seconds;
    user = ticks.user - watch->ticks[i].user;
    system = ticks.system - watch->ticks[i].system;
    *state = (struct state){
        .cpu = cpu,
        .usr = cpu > 0 ? cpu * user / (user + system) : cpu, /* 0/0: no tick has met it */
        .sys = cpu > 0 ? cpu * system / (user + system) : cpu,
        .lat = 100 * (now->delay_ns - was->delay_ns) / 1e9 / watch->seconds,
        .lck = watch->looks[i] ? 100. * (double)watch->waited[i] / (double)watch->looks[i] : NAN,
        .waits = (now->voluntary - was->voluntary) / watch->seconds};
    return true;
}

static struct json_object *thread_json(const struct watch *watch, size_t i,
                                       const struct state *state)
{
    const struct census_thread *thread = &watch->before.thread[i];
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "pid", (uint64_t)thread->pid);
    json_add_u64(object, "tid", (uint64_t)thread->tid);
    json_add_text(object, "name", watch->ticks[i].name);
    json_add_measure(object, "cpu", state->cpu);
    json_add_measure(object, "usr", state->usr);
    json_add_measure(object, "sys", state->sys);
    json_add_measure(object, "lat", state->lat);
    json_add_measure(object, "lck", state->lck);
    json_add_measure(object, "waits_per_s", state->waits);
    return object;
}

static int put_json(const struct watch *watch)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();
    struct state state;

    json_add_double(object, "seconds", watch->seconds);
    for (size_t i = 0; i < watch->before.n; i++)
        if (state_of(watch, i, &state))
            json_append(list, thread_json(watch, i, &state));
    json_add(object, "threads", list);
    return ctl_print_json(object);
}

static int put_table(const struct watch *watch)
{
    struct state state;
    char text[6][32];

    printf("%8s %8s %-15s %6s %6s %6s %6s %6s %9s\n", "PID", "TID", "NAME", "CPU%", "USR%", "SYS%",
           "LAT%", "LCK%", "WAITS/S");
    for (size_t i = 0; i < watch->before.n; i++) {
        char line[160];

        if (!state_of(watch, i, &state))
            continue;
        snprintf(line, sizeof(line), "%8d %8d %-15s %6s %6s %6s %6s %6s %9s",
                 (int)watch->before.thread[i].pid, (int)watch->before.thread[i].tid,
                 watch->ticks[i].name, ctl_measure(state.cpu, 1, text[0]),
                 ctl_measure(state.usr, 1, text[1]), ctl_measure(state.sys, 1, text[2]),
                 ctl_measure(state.lat, 1, text[3]), ctl_measure(state.lck, 1, text[4]),
                 ctl_measure(state.waits, 1, text[5]));
        ctl_put_line(stdout, line, ctl_columns());
    }
    return 0;
}

/* ---- the verb ---- */

static int run_watch(struct watch *watch, const struct args *args)
{
    struct berth_error err;
    int signals = ctl_signals(0), signal;

    if (signals < 0)
        return ctl_fail("microstates", "signalfd: %m");
    if (first_look(watch, &err) < 0)
        return ctl_fail("microstates", "%s", err.text);
    signal = watch_for(watch, args->for_s, signals);
    if (signal)
        return ctl_fail("microstates", "stopped by SIG%s", sigabbrev_np(signal));
    if (census_take_of(&watch->after, &watch->root, watch->n, watch->pid, &err) < 0)
        return ctl_fail("microstates", "%s", err.text);
    if (watch->after.n == 0)
        return ctl_fail("microstates", "%d: it has ended meanwhile", (int)watch->pid[0]);
    return args->json ? put_json(watch) : put_table(watch);
}

static int read_pids(struct watch *watch, char **argv)
{
    for (; *argv; argv++) {
        char *end;
        long pid = strtol(*argv, &end, 10);

        if (*end || pid <= 0 || pid > INT32_MAX)
            return ctl_usage("microstates", "the number of a process expected, not '%.64s'", *argv);
        watch->pid[watch->n++] = (pid_t)pid;
    }
    return 0;
}

int ctl_microstates(int argc, char **argv)
{
    struct args args = {.for_s = 2};
    struct watch watch = {.n = 0};
    struct berth_error err;
    int rc = ctl_options_read(&options, argc, argv, &args);

    if (rc >= 0)
        return rc;
    rc = read_pids(&watch, argv + optind);
    if (rc != 0)
        return rc;
    if (rootfs_open(&watch.root, "/", &err) < 0)
        return ctl_fail("microstates", "%s", err.text);
    rc = run_watch(&watch, &args);
    rootfs_close(&watch.root);
    census_free(&watch.before);
    census_free(&watch.after);
    free(watch.ticks);
    free(watch.looks);
    return rc;
}
