/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer - see tracer.h
 *
 * The run ends when the command and all that it left running have ended: children whose parents
 * have ended become children of this process. */
#include "probe/trace/tracer.h"

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

#include "packer/base/clock.h"
#include "probe/trace/tool.h"

#define NAP_MS 2
#define GRACE_S 1.0 /* from the polite signal to SIGKILL */
#define EXEC_FAILED 127
#define LOOK_S 0.02  /* to the second look at the memory of what is timed; later ones are rarer */
#define DEPTH_MAX 16 /* of children of children that are looked at */

const char tracer_valgrind[] = VALGRIND;

struct run {
    const struct tracer_want *want;
    struct tracer_result *result;
    struct tracer_tool *tool; /* NULL: the command runs at full speed */
    pid_t pid;                /* valgrind, which becomes the command */
    bool ended, stopping;
    double started_s, stop_s;
    double cpu_s; /* of all that have ended */
};

static volatile sig_atomic_t asked_to_stop; /* the signal; a handler can reach nothing else */

static void note_signal(int number)
{
    asked_to_stop = number;
}

/* ---- the processes ---- */

/* Becomes valgrind, in the child. Returns only when that failed. */
static void become_valgrind(const struct run *run)
{
    /* fair-sched: else a thread that gave up its turn may have the next one, too */
    const char *const option[] = {tracer_valgrind,         "-q",
                                  "--tool=berth",          "--fair-sched=try",
                                  run->tool->option,       "--command-line-only=yes",
                                  "--trace-children=yes",  "--vgdb=no",
                                  "--run-libc-freeres=no", "--run-cxx-freeres=no"};
    const size_t options = sizeof(option) / sizeof(option[0]);
    size_t words = 0;
    char **argv;

    while (run->want->command[words])
        words++;
    argv = calloc(options + words + 1, sizeof(*argv));
    if (!argv || dup2(run->want->stdout_fd, STDOUT_FILENO) < 0 ||
        setenv("VALGRIND_LIB", run->tool->folder, 1) < 0)
        return;
    memcpy(argv, option, sizeof(option));
    memcpy(argv + options, run->want->command, words * sizeof(*argv));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(tracer_valgrind, argv);
}

/* Becomes the command itself, in the child, on one CPU. Returns only when that failed. */
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

/* Starts the command, traced or not. Why an exec failed comes through a pipe that an exec closes.
 */
static int start(struct run *run, const char *program, struct berth_error *err)
{
    int report[2], why = 0;
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) < 0)
        return berth_error_set(err, "pipe: %s", strerror(errno));
    run->pid = fork();
    if (run->pid == 0) {
        if (run->tool)
            become_valgrind(run);
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
    if (why == ENOENT && run->tool)
        return berth_error_set(err, "%s is not installed (Debian: valgrind)", tracer_valgrind);
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

/* Waits for children that have ended: the command, or orphans of it. */
static void reap(struct run *run)
{
    struct rusage used;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        note_end(run, pid, status, &used);
}

/* Returns the pid of any one child of this process, or 0. */
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

/* Kills what is left: the command, and its children, which become children of this process as their
 * parents end. */
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

/* ---- the run ---- */

/* Begins to stop: the command has GRACE_S to clean up, and nothing counts any more. */
static void stop(struct run *run, int number)
{
    run->stopping = true;
    run->stop_s = clock_s();
    tracer_tool_stop(run->tool);
    if (!run->ended)
        kill(run->pid, number);
}

/* Ends the warm-up, or the run, when its time has come. */
static void keep_time(struct run *run, double elapsed_s)
{
    const struct tracer_want *want = run->want;

    if (want->limit_s <= 0)
        return;
    if (!want->skip_always && elapsed_s >= want->limit_s / 2)
        tracer_tool_warm(run->tool);
    if (elapsed_s >= want->limit_s)
        run->result->truncated = run->result->late = true;
}

/* Is there a reason to go on? */
static bool go_on(struct run *run)
{
    if (asked_to_stop && !run->result->signal) {
        run->result->signal = asked_to_stop;
        stop(run, asked_to_stop);
    } else if (run->result->truncated && !run->stopping) {
        stop(run, SIGTERM);
    }
    if (run->stopping)
        return !run->ended && clock_s() - run->stop_s < GRACE_S;
    return !run->ended || any_child() > 0;
}

static void watch(struct run *run)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    double elapsed_s;

    for (;;) {
        reap(run);
        tracer_tool_take(run->tool, run->result);
        elapsed_s = clock_s() - run->started_s;
        if (!run->stopping)
            keep_time(run, elapsed_s);
        if (run->want->progress && !run->stopping)
            run->want->progress(&run->result->seen, elapsed_s, run->want->arg);
        if (!go_on(run))
            return;
        nanosleep(&nap, NULL);
    }
}

/* Parts what was seen into warm-up and the rest. A command that did nothing in the second half of
 * its time is taken whole. */
static void conclude(struct run *run)
{
    struct tracer_result *result = run->result;
    struct tracer_seen warmup;

    tracer_tool_take(run->tool, result); /* what came after the last look */
    tracer_tool_warmup(run->tool, &warmup);
    result->counted = result->seen;
    if (!run->want->skip_always &&
        (!result->truncated || warmup.instructions == result->seen.instructions))
        return;
    result->counted.instructions = result->seen.instructions - warmup.instructions;
    cachesim_difference(&result->seen.counts, &warmup.counts, &result->counted.counts);
    dramsim_difference(&result->seen.dram, &warmup.dram, &result->counted.dram);
}

static const int stop_signal[] = {SIGINT, SIGTERM, SIGHUP};
#define STOP_SIGNALS (sizeof(stop_signal) / sizeof(stop_signal[0]))

/* Notes the signals that end a run, but for those that our parent had ignored. */
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

static void restore_signals(const struct sigaction *saved)
{
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signal[i], &saved[i], NULL);
}

int tracer_run(struct tracer_result *result, const struct tracer_want *want,
               struct berth_error *err)
{
    struct tracer_tool tool;
    struct run run = {.want = want, .result = result, .tool = &tool, .started_s = clock_s()};
    struct sigaction saved[STOP_SIGNALS];
    int rc;

    memset(result, 0, sizeof(*result));
    if (tracer_tool_open(&tool, want, err) < 0)
        return -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    catch_signals(saved);
    rc = start(&run, tracer_valgrind, err);
    if (rc == 0) {
        watch(&run);
        kill_all(&run);
        conclude(&run);
    }
    restore_signals(saved);
    tracer_tool_close(&tool);
    return rc;
}

/* ---- at full speed ---- */

/* Adds where the memory of a process and its children is. */
static void look_at(struct memory_nodes *memory, const struct rootfs *root, int pid, int depth)
{
    char path[64], *children, *next;

    memory_nodes_of_process(memory, root, (pid_t)pid);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    children = depth < DEPTH_MAX ? rootfs_read(root, path) : NULL;
    for (char *at = children; at; at = next) {
        long child = strtol(at, &next, 10);

        if (next == at || child <= 0 || child > INT_MAX)
            break;
        look_at(memory, root, (int)child, depth + 1);
    }
    free(children);
}

/* Waits for the command and its children. */
static void wait_all(struct run *run, double limit_s, struct tracer_time *time)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    double look_s = 0, elapsed_s;
    struct rootfs root;
    int looks = rootfs_open(&root, "/", NULL) == 0;

    for (;;) {
        reap(run);
        if (run->ended && any_child() == 0)
            break;
        elapsed_s = clock_s() - run->started_s;
        time->signal = asked_to_stop;
        time->late = elapsed_s > limit_s;
        if (time->signal || time->late)
            break;
        if (looks && !run->ended && elapsed_s > look_s) {
            look_at(&time->memory, &root, run->pid, 0);
            look_s = 1.5 * elapsed_s + LOOK_S;
        }
        nanosleep(&nap, NULL);
    }
    if (looks)
        rootfs_close(&root);
}

int tracer_time(struct tracer_time *time, char *const *command, double limit_s,
                struct berth_error *err)
{
    const struct tracer_want want = {.command = command};
    struct tracer_result result = {.status = 0};
    struct run run = {.want = &want, .result = &result, .started_s = clock_s()};
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
    restore_signals(saved);
    return rc;
}
