/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer - see tracer.h
 *
 * The trace comes through a pipe. Valgrind opens it by the path of our descriptor (/proc/PID/fd/N),
 * not as an inherited one: so the command sees no descriptor that it would not see otherwise, and
 * those of its children that close all they inherit are traced too. The price is that the pipe can
 * be without a writer for a moment (while a process executes another): an end of file means the end
 * only once the command itself has ended.
 *
 * lackey writes each line with a write(2) of its own, so lines of several processes do not tear
 * each other. It also makes lackey the bottleneck: we must not be woken by each line, and so sleep
 * a little whenever the pipe was drained.
 *
 * The processes share the caches as they would a core's. Their lines do not say whose they are, so
 * equal addresses of different processes are taken for the same memory: exact for a script that
 * runs one program after another, all but for the lines that the next one finds; too good a picture
 * of programs that run side by side. */
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lackey.h"

#define PIPE_BYTES (1 << 20) /* some 50 ms of trace */
#define NAP_MS 2
#define DRAINED_BYTES (64 << 10) /* a read that brought less has drained the pipe: nap */
#define GRACE_S 1.0              /* from the polite signal to SIGKILL */
#define EXEC_FAILED 127

struct run {
    const struct tracer_want *want;
    struct tracer_result *result;
    struct cachesim *sim;
    struct lackey *lackey;
    pid_t pid; /* valgrind, which becomes the command */
    int trace; /* our end of the pipe, not blocking */
    bool ended, marked, stopping;
    struct tracer_seen mark; /* what was seen when the caches were warm */
    double started_s, stop_s;
    double cpu_s; /* of all that have ended */
};

static volatile sig_atomic_t asked_to_stop; /* the signal; a handler can reach nothing else */

static void note_signal(int number)
{
    asked_to_stop = number;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the processes ---- */

/* In the child: become valgrind. Returns only when that failed. */
static void become_valgrind(const struct tracer_want *want, const char *log_file)
{
    static const char *const option[] = {"-q",
                                         "--command-line-only=yes",
                                         "--tool=lackey",
                                         "--trace-mem=yes",
                                         "--basic-counts=no",
                                         "--trace-children=yes",
                                         "--vgdb=no",
                                         "--run-libc-freeres=no",
                                         "--run-cxx-freeres=no"};
    size_t options = sizeof(option) / sizeof(option[0]), words = 0, at = 0;
    char **argv;

    while (want->command[words])
        words++;
    argv = calloc(options + words + 3, sizeof(*argv));
    if (!argv || dup2(want->stdout_fd, STDOUT_FILENO) < 0)
        return;
    argv[at++] = (char *)VALGRIND;
    for (size_t i = 0; i < options; i++)
        argv[at++] = (char *)option[i];
    argv[at++] = (char *)log_file;
    memcpy(argv + at, want->command, words * sizeof(*argv));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(VALGRIND, argv);
}

/* In the child: become the command itself, on one CPU. Returns only when that failed. */
static void become_command(const struct tracer_want *want)
{
    int cpu = sched_getcpu(), null = open("/dev/null", O_WRONLY);
    cpu_set_t one;

    CPU_ZERO(&one);
    if (cpu >= 0 && cpu < CPU_SETSIZE) {
        CPU_SET(cpu, &one);
        (void)!sched_setaffinity(0, sizeof(one), &one); /* else it is timed on several */
    }
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(want->command[0], want->command);
}

/* Start the command, traced or not; what an exec that fails has to say comes through a pipe that
 * the exec closes. */
static int start(struct run *run, const char *program, struct berth_error *err)
{
    char log_file[64];
    int report[2], why = 0;
    ssize_t got;

    snprintf(log_file, sizeof(log_file), "--log-file=/proc/%d/fd/%d", (int)getpid(), run->trace);
    if (pipe2(report, O_CLOEXEC) < 0)
        return berth_error_set(err, "pipe: %s", strerror(errno));
    run->pid = fork();
    if (run->pid == 0) {
        if (run->lackey)
            become_valgrind(run->want, log_file);
        else
            become_command(run->want);
        why = errno;
        (void)!write(report[1], &why, sizeof(why));
        _exit(EXEC_FAILED);
    }
    close(report[1]);
    got = run->pid < 0 ? 0 : read(report[0], &why, sizeof(why));
    close(report[0]);
    if (run->pid < 0)
        return berth_error_set(err, "fork: %s", strerror(errno));
    if (got <= 0)
        return 0;
    waitpid(run->pid, NULL, 0);
    if (why == ENOENT && run->lackey)
        return berth_error_set(err, "%s is not installed (Debian: valgrind)", VALGRIND);
    return berth_error_set(err, "%s: %s", program, strerror(why));
}

static void note_end(struct run *run, pid_t pid, int status, const struct rusage *used)
{
    run->cpu_s += (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
                  (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
    if (pid != run->pid)
        return;
    run->ended = true;
    run->result->status = status;
}

/* Wait for who has ended, the command or orphans of it that became ours. */
static void reap(struct run *run)
{
    struct rusage used;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        note_end(run, pid, status, &used);
}

/* Any one child of ours, or 0. */
static pid_t any_child(void)
{
    FILE *children = fopen("/proc/thread-self/children", "re");
    int pid = 0;

    if (children) {
        if (fscanf(children, "%d", &pid) != 1)
            pid = 0;
        fclose(children);
    }
    return (pid_t)pid;
}

/* Kill what is left: the command, and its children, which become ours as their parents end. */
static void kill_all(struct run *run)
{
    pid_t pid;

    if (!run->ended) {
        kill(run->pid, SIGKILL);
        waitpid(run->pid, &run->result->status, 0);
        run->ended = true;
    }
    while ((pid = any_child()) > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* ---- the trace ---- */

static void copy_seen(const struct run *run, struct tracer_seen *seen)
{
    seen->instructions = run->result->seen.instructions;
    seen->counts = *cachesim_counts(run->sim);
}

/* Simulate the records that are in the buffer. False at the limit. */
static bool consume(struct run *run)
{
    const struct cachesim_counts *counts = cachesim_counts(run->sim);
    struct lackey_record record;

    while (lackey_next(run->lackey, &record)) {
        if (record.kind == LACKEY_INSTRUCTION) {
            run->result->seen.instructions++;
            continue;
        }
        if (!run->marked && counts->references >= run->want->skip) {
            copy_seen(run, &run->mark);
            run->marked = true;
        }
        if (counts->references >= run->want->limit)
            return false;
        cachesim_reference(run->sim, record.address, record.size);
    }
    return true;
}

/* Begin to stop: the command may clean up for GRACE_S, and its trace is thrown away meanwhile. */
static void stop(struct run *run, int number)
{
    run->stopping = true;
    run->stop_s = now_s();
    if (!run->ended)
        kill(run->pid, number);
}

/* Take what is in the pipe. 1 when there may be more at once, 0 when it was drained, -1 at the end
 * of file or on an error. */
static int take(struct run *run)
{
    size_t room;
    char *space = lackey_space(run->lackey, &room);
    ssize_t got = read(run->trace, space, room);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return -1;
    if (got < 0)
        return 0;
    if (run->stopping)
        return got >= DRAINED_BYTES;
    lackey_fed(run->lackey, (size_t)got);
    if (!consume(run)) {
        run->result->truncated = true;
        stop(run, SIGTERM);
    }
    return got >= DRAINED_BYTES;
}

/* Is there a reason to go on? */
static bool go_on(struct run *run, int taken)
{
    if (asked_to_stop && !run->result->signal) {
        run->result->signal = asked_to_stop;
        stop(run, asked_to_stop);
    }
    if (run->stopping)
        return !run->ended && now_s() - run->stop_s < GRACE_S;
    return !run->ended || taken >= 0;
}

static void pump(struct run *run)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    struct tracer_seen seen;
    int taken;

    do {
        reap(run);
        taken = take(run);
        if (run->want->progress && !run->stopping) {
            copy_seen(run, &seen);
            run->want->progress(&seen, now_s() - run->started_s, run->want->arg);
        }
        if (taken <= 0 && !(run->ended && taken < 0))
            nanosleep(&nap, NULL);
    } while (go_on(run, taken));
}

/* ---- the run ---- */

/* Part what was seen into warm-up and the rest. */
static void conclude(struct run *run)
{
    struct tracer_result *result = run->result;

    copy_seen(run, &result->seen);
    result->garbage = run->lackey->garbage;
    result->counted = result->seen;
    if (!run->want->skip_always && !result->truncated)
        return;
    if (!run->marked)
        run->mark = result->seen;
    result->counted.instructions = result->seen.instructions - run->mark.instructions;
    cachesim_difference(&result->seen.counts, &run->mark.counts, &result->counted.counts);
}

/* A pipe whose writing end is opened by its path; ours does not block. */
static int open_trace(struct berth_error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return berth_error_set(err, "pipe: %s", strerror(errno));
    close(ends[1]);
    (void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* a smaller one is only slower */
    return ends[0];
}

static const int stop_signal[] = {SIGINT, SIGTERM, SIGHUP};
#define STOP_SIGNALS (sizeof(stop_signal) / sizeof(stop_signal[0]))

/* Note the signals that end a run, but for those that our parent had ignored. */
static void catch_signals(struct sigaction *saved)
{
    struct sigaction note = {.sa_handler = note_signal};

    asked_to_stop = 0;
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        sigaction(stop_signal[i], NULL, &saved[i]);
        if (saved[i].sa_handler != SIG_IGN)
            sigaction(stop_signal[i], &note, NULL);
    }
}

int tracer_run(struct tracer_result *result, struct cachesim *sim, const struct tracer_want *want,
               struct berth_error *err)
{
    struct run run = {.want = want, .result = result, .sim = sim, .lackey = NULL};
    struct sigaction saved[STOP_SIGNALS];
    int rc = -1;

    memset(result, 0, sizeof(*result));
    run.lackey = malloc(sizeof(*run.lackey));
    if (!run.lackey)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    lackey_init(run.lackey);
    run.trace = open_trace(err);
    if (run.trace < 0)
        goto out;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    catch_signals(saved);
    run.started_s = now_s();
    if (start(&run, VALGRIND, err) == 0) {
        pump(&run);
        kill_all(&run);
        conclude(&run);
        rc = 0;
    }
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signal[i], &saved[i], NULL);
    close(run.trace);
out:
    free(run.lackey);
    return rc;
}

/* ---- at full speed ---- */

/* Wait for the command and its children. */
static void wait_all(struct run *run, double limit_s, struct tracer_time *time)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};

    for (;;) {
        reap(run);
        if (run->ended && any_child() == 0)
            return;
        time->signal = asked_to_stop;
        time->late = now_s() - run->started_s > limit_s;
        if (time->signal || time->late)
            return;
        nanosleep(&nap, NULL);
    }
}

int tracer_time(struct tracer_time *time, char *const *command, double limit_s,
                struct berth_error *err)
{
    const struct tracer_want want = {.command = command};
    struct tracer_result result = {.status = 0};
    struct run run = {.want = &want, .result = &result, .trace = -1, .started_s = now_s()};
    struct sigaction saved[STOP_SIGNALS];
    int rc;

    *time = (struct tracer_time){0};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    catch_signals(saved);
    rc = start(&run, command[0], err);
    if (rc == 0) {
        wait_all(&run, limit_s, time);
        kill_all(&run);
        time->cpu_s = run.cpu_s;
        time->status = result.status;
    }
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signal[i], &saved[i], NULL);
    return rc;
}
