/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe - one short run of a program with so many threads: it is started, watched once its threads
 * are there, and stopped with all that it has started.
 *
 * It runs as whoever runs berthctl, in a process group of its own, its standard input empty and its
 * standard output nowhere. What it leaves behind comes to us, for we are a subreaper: a run has
 * ended when we have no child any more, whatever has detached itself. */
#ifndef BERTH_PROBE_THREADS_PROBE_H
#define BERTH_PROBE_THREADS_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

#include "models/inside/reinforce.h"
#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct probe_want {
    char *const *command; /* its arguments; "{n}" in them is the parameter */
    unsigned parameter;   /* also in OMP_NUM_THREADS, where no argument has {n}; 0: none */
    unsigned threads;     /* that it should then have */
    unsigned cores;       /* that it has, for cpu_util */
    double start_s;       /* at most, for its threads to be there */
    double probe_s;       /* of watching */
    double grace_s;       /* between SIGTERM and SIGKILL */
    int signals;          /* ctl_signals() */
    void (*place)(const void *arg); /* called in the new process before it becomes the command, to
                                       bind it; NULL: nothing is */
    const void *place_arg;
};

struct probe {
    struct reinforce_profile profile; /* percent of the cores' time, of the threads' time; per s */
    unsigned seen;                    /* threads at the end of the watch */
    bool fewer;                       /* not all that it should have came in start_s */
    int signal;                       /* one has come: the run was given up, and stopped */
};

/* Says whether an argument of the command has "{n}". */
bool probe_has_place(char *const *command);

/* Returns the command with the parameter in its places: an array and texts in one block that the
 * caller frees; NULL without memory. */
char **probe_command(char *const *command, unsigned parameter);

/* Starts it, in a process group of its own; the caller is a subreaper (PR_SET_CHILD_SUBREAPER).
 * Returns its pid, or -1 and err. */
pid_t probe_start(const struct probe_want *want, struct berth_error *err);

/* Ends all that has been started, whatever has detached itself; `pid` is one of them. 0, or -1 and
 * err: something cannot be stopped. */
int probe_stop(const struct probe_want *want, const struct rootfs *root, pid_t pid,
               struct berth_error *err);

/* Runs it. Returns 0, or -1 and err: it cannot be started, ended by itself, or could not be
 * stopped.
 */
int probe_run(const struct probe_want *want, const struct rootfs *root, struct probe *probe,
              struct berth_error *err);

#endif
