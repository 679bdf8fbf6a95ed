/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - see run.h */
#include "probe/study/run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "probe/threads/probe.h"

#define GRACE_S 2
#define MODE_BIND 2 /* MPOL_BIND of linux/mempolicy.h */

struct both {
    const struct study_program *first, *other;
    const struct rootfs *root;
    int signals;
    pid_t pid, beside; /* 0: it does not run */
    struct study_ran *ran;
};

/* ---- starting ---- */

/* In the new process: what cannot be bound is told by its end. */
static void place(const void *arg)
{
    const struct study_program *program = arg;
    unsigned long nodes[CPUS_MAX / (8 * sizeof(unsigned long))] = {0};
    const size_t bits = 8 * sizeof(nodes[0]);

    if (sched_setaffinity(0, sizeof(program->cpus), (const cpu_set_t *)&program->cpus) < 0)
        _exit(125);
    if (program->node < 0)
        return;
    nodes[(size_t)program->node / bits] |= 1ul << (size_t)program->node % bits;
    if (syscall(SYS_set_mempolicy, MODE_BIND, nodes, (unsigned long)CPUS_MAX) < 0)
        _exit(125);
}

static pid_t start(const struct study_program *program, struct berth_error *err)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *command[] = {shell, option, (char *)program->command, NULL};
    const struct probe_want want = {.command = command, .place = place, .place_arg = program};

    return probe_start(&want, err);
}

static int start_other(struct both *both, struct berth_error *err)
{
    both->beside = start(both->other, err);
    if (both->beside < 0)
        return -1;
    both->ran->beside++;
    return 0;
}

/* ---- waiting ---- */

static int check(const struct study_program *program, int status, struct berth_error *err)
{
    if (WIFSIGNALED(status))
        return berth_error_set(err, "%.80s: ended by SIG%s", program->command,
                               sigabbrev_np(WTERMSIG(status)));
    if (WEXITSTATUS(status) == 125)
        return berth_error_set(err, "%.80s: it cannot be bound to its place", program->command);
    if (WEXITSTATUS(status) != 0)
        return berth_error_set(err, "%.80s: exit status %d", program->command, WEXITSTATUS(status));
    return 0;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Takes in who has ended; the other one is started again. 1: the first one has; 0, or -1 and err.
 */
static int reap(struct both *both, struct berth_error *err)
{
    struct rusage use;
    pid_t pid;
    int status;

    while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0) {
        if (pid == both->pid) {
            both->ran->cpu_s = seconds(&use.ru_utime) + seconds(&use.ru_stime);
            both->pid = 0;
            return check(both->first, status, err) < 0 ? -1 : 1;
        }
        if (pid == both->beside &&
            (check(both->other, status, err) < 0 || start_other(both, err) < 0))
            return -1;
    }
    return 0;
}

/* Waits until the first one has ended (until_s infinite), or for so long. Returns as reap(), 1 also
 * when a signal has come. */
static int wait_until(struct both *both, double until_s, struct berth_error *err)
{
    struct pollfd poll_fd = {.fd = both->signals, .events = POLLIN};
    struct signalfd_siginfo signal;
    int rc = 0;

    while (rc == 0 && clock_s() < until_s) {
        int in_ms = isinf(until_s) ? -1 : (int)ceil(1000 * (until_s - clock_s()));

        if (poll(&poll_fd, 1, in_ms) == 1 &&
            read(both->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal) &&
            signal.ssi_signo != SIGCHLD) {
            both->ran->signal = (int)signal.ssi_signo;
            return 1;
        }
        rc = reap(both, err);
    }
    return rc;
}

static int run_both(struct both *both, double warm_s, struct berth_error *err)
{
    double began_s;
    int rc;

    if (both->other) {
        if (start_other(both, err) < 0)
            return -1;
        rc = wait_until(both, clock_s() + warm_s, err);
        if (rc != 0)
            return rc;
    }
    began_s = clock_s();
    both->pid = start(both->first, err);
    if (both->pid < 0)
        return -1;
    rc = wait_until(both, INFINITY, err);
    both->ran->wall_s = clock_s() - began_s;
    return rc;
}

int study_run(const struct study_program *first, const struct study_program *other, double warm_s,
              int signals, const struct rootfs *root, struct study_ran *ran,
              struct berth_error *err)
{
    struct both both = {.first = first, .root = root, .signals = signals, .ran = ran};
    char name[] = "what was started";
    char *command[] = {name, NULL};
    const struct probe_want want = {.command = command, .grace_s = GRACE_S};
    struct berth_error stopped;
    int rc;

    *ran = (struct study_ran){.cpu_s = NAN, .wall_s = NAN};
    both.other = other && other->command ? other : NULL;
    rc = run_both(&both, warm_s, err);
    if (probe_stop(&want, root, both.pid, rc < 0 ? &stopped : err) < 0)
        return -1;
    return rc < 0 ? -1 : 0;
}
