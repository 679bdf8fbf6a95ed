/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe - see probe.h */
#include "probe/threads/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "probe/threads/census.h"

#define PLACE "{n}"
#define LOOKS 20 /* at who waits, in a probe */
#define START_LOOK_S 0.01
#define KILL_LOOK_S 0.01
#define KILLED_S 10 /* what lives so long after SIGKILL cannot be killed */

/* ---- the command ---- */

bool probe_has_place(char *const *command)
{
    for (size_t i = 0; command[i]; i++)
        if (strstr(command[i], PLACE))
            return true;
    return false;
}

/* The length of an argument with the number in its places; written to out where there is one. */
static size_t fill(const char *argument, const char *number, char *out)
{
    size_t length = 0;

    while (*argument) {
        bool place = strncmp(argument, PLACE, strlen(PLACE)) == 0;
        const char *from = place ? number : argument;
        size_t n = place ? strlen(number) : 1;

        if (out)
            memcpy(out + length, from, n);
        length += n;
        argument += place ? strlen(PLACE) : 1;
    }
    if (out)
        out[length] = '\0';
    return length;
}

char **probe_command(char *const *command, unsigned parameter)
{
    char number[16], *text, **filled;
    size_t n = 0, bytes = 0;

    snprintf(number, sizeof(number), "%u", parameter);
    for (; command[n]; n++)
        bytes += fill(command[n], number, NULL) + 1;
    filled = malloc((n + 1) * sizeof(*filled) + bytes);
    if (!filled)
        return NULL;
    text = (char *)(filled + n + 1);
    for (size_t i = 0; i < n; i++) {
        filled[i] = text;
        text += fill(command[i], number, text) + 1;
    }
    filled[n] = NULL;
    return filled;
}

/* ---- starting ---- */

/* In the child: becomes the command. Does not return; errno goes into the pipe. */
static void become(const struct probe_want *want, char **command, int told)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char number[16];
    sigset_t none;
    int error;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(number, sizeof(number), "%u", want->parameter);
    if (want->parameter > 0 && !probe_has_place(want->command))
        setenv("OMP_NUM_THREADS", number, 1);
    if (want->place)
        want->place(want->place_arg);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 && command[0])
        execvp(command[0], command);
    error = errno;
    if (write(told, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* A command that takes no parameter may have "{n}" in it, which is its own. */
static char **filled(const struct probe_want *want)
{
    size_t n = 0;
    char **same;

    if (want->parameter > 0)
        return probe_command(want->command, want->parameter);
    while (want->command[n])
        n++;
    same = malloc((n + 1) * sizeof(*same));
    if (same)
        memcpy(same, want->command, (n + 1) * sizeof(*same));
    return same;
}

pid_t probe_start(const struct probe_want *want, struct berth_error *err)
{
    char **command = filled(want);
    int told[2], error = 0;
    pid_t pid;

    if (!command || pipe2(told, O_CLOEXEC) < 0) {
        free(command);
        return berth_error_set(err, "%s", strerror(errno));
    }
    pid = fork();
    if (pid == 0)
        become(want, command, told[1]);
    file_close(told[1]);
    free(command);
    if (pid < 0)
        berth_error_set(err, "%s", strerror(errno));
    else if (read(told[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        waitpid(pid, NULL, 0);
        berth_error_set(err, "%s: %s", want->command[0], strerror(error));
        pid = -1;
    }
    file_close(told[0]);
    return pid;
}

/* ---- watching ---- */

/* Waits so long. Returns the signal that has come meanwhile; 0. */
static int wait_for(const struct probe_want *want, double seconds)
{
    struct pollfd poll_fd = {.fd = want->signals, .events = POLLIN};
    struct signalfd_siginfo signal;

    if (poll(&poll_fd, 1, seconds > 0 ? (int)ceil(1000 * seconds) : 0) == 1 &&
        read(want->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
        return (int)signal.ssi_signo;
    return 0;
}

/* Takes in the children that have ended. Returns whether there are any left; *main: the status of
 * that one, where it has ended. */
static bool reap(pid_t pid, bool *ended, int *status)
{
    pid_t one;
    int how;

    while ((one = waitpid(-1, &how, WNOHANG)) > 0)
        if (one == pid) {
            *ended = true;
            *status = how;
        }
    return one == 0;
}

static int has_ended(const struct probe_want *want, pid_t pid, struct berth_error *err)
{
    bool ended = false;
    int status = 0;

    reap(pid, &ended, &status);
    if (!ended)
        return 0;
    if (WIFSIGNALED(status))
        return berth_error_set(err, "%s with %u was ended by SIG%s before it could be observed",
                               want->command[0], want->parameter, sigabbrev_np(WTERMSIG(status)));
    return berth_error_set(
        err,
        "%s with %u has ended by itself before it could be observed (exit status "
        "%d): it must run longer than a probe",
        want->command[0], want->parameter, WEXITSTATUS(status));
}

/* Waits until its threads are there. 0, or -1 and err. */
static int await_threads(const struct probe_want *want, const struct rootfs *root, pid_t pid,
                         struct census *census, struct probe *probe, struct berth_error *err)
{
    double end = clock_s() + want->start_s;

    do {
        probe->signal = wait_for(want, START_LOOK_S);
        if (has_ended(want, pid, err) < 0 || census_take(census, root, err) < 0)
            return -1;
    } while (!probe->signal && census->n < want->threads && clock_s() < end);
    probe->fewer = census->n < want->threads;
    return 0;
}

/* Looks LOOKS times, over the time of a probe, at who waits. Returns the part of the threads' time,
 * in percent; NAN: not known. */
static double watch_locks(const struct probe_want *want, const struct rootfs *root,
                          const struct census *census, double began, struct probe *probe)
{
    size_t alive, waiting, all_alive = 0, all_waiting = 0;
    bool known = true;

    for (unsigned i = 1; i <= LOOKS && !probe->signal; i++) {
        probe->signal = wait_for(want, began + i * want->probe_s / LOOKS - clock_s());
        known &= census_waiting(census, root, &alive, &waiting);
        all_alive += alive;
        all_waiting += waiting;
    }
    return known && all_alive > 0 ? 100. * (double)all_waiting / (double)all_alive : NAN;
}

static int watch(const struct probe_want *want, const struct rootfs *root, pid_t pid,
                 struct census *before, struct probe *probe, struct berth_error *err)
{
    double began = clock_s(), seconds, lock;
    struct census after = {0};
    struct census_done done;

    if (census_take(before, root, err) < 0)
        return -1;
    lock = watch_locks(want, root, before, began, probe);
    if (has_ended(want, pid, err) < 0 || census_take(&after, root, err) < 0) {
        census_free(&after);
        return -1;
    }
    seconds = clock_s() - began;
    done = census_since(before, &after);
    probe->seen = (unsigned)after.n;
    probe->profile =
        (struct reinforce_profile){100 * done.cpu_ns / 1e9 / seconds / want->cores, lock,
                                   done.voluntary / seconds, done.migrations / seconds};
    census_free(&after);
    return 0;
}

/* ---- stopping ---- */

static void signal_all(const struct rootfs *root, int signal)
{
    size_t n;
    pid_t *pid = census_processes(root, &n);

    for (size_t i = 0; pid && i < n; i++)
        kill(pid[i], signal);
    free(pid);
}

/* Waits until nobody is left; SIGKILL goes to those that are born meanwhile, too. Returns whether
 * nobody is. */
static bool await_end(const struct rootfs *root, pid_t pid, double seconds, bool kills)
{
    double end = clock_s() + seconds;
    bool ended;
    int status;

    while (reap(pid, &ended, &status)) {
        if (clock_s() >= end)
            return false;
        if (kills)
            signal_all(root, SIGKILL);
        poll(NULL, 0, (int)(1000 * KILL_LOOK_S));
    }
    return true;
}

int probe_stop(const struct probe_want *want, const struct rootfs *root, pid_t pid,
               struct berth_error *err)
{
    signal_all(root, SIGTERM);
    signal_all(root, SIGCONT);
    if (await_end(root, pid, want->grace_s, false) || await_end(root, pid, KILLED_S, true))
        return 0;
    return berth_error_set(err, "%s: what it has started cannot be stopped", want->command[0]);
}

int probe_run(const struct probe_want *want, const struct rootfs *root, struct probe *probe,
              struct berth_error *err)
{
    struct census census = {0};
    struct berth_error stopped;
    pid_t pid;
    int rc;

    *probe = (struct probe){.profile = {NAN, NAN, NAN, NAN}};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return berth_error_set(err, "PR_SET_CHILD_SUBREAPER: %s", strerror(errno));
    pid = probe_start(want, err);
    if (pid < 0)
        return -1;
    rc = await_threads(want, root, pid, &census, probe, err);
    if (rc == 0 && !probe->signal)
        rc = watch(want, root, pid, &census, probe, err);
    census_free(&census);
    if (probe_stop(want, root, pid, rc == 0 ? err : &stopped) < 0)
        rc = -1;
    return rc;
}
