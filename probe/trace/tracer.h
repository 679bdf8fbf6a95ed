/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer - runs a command under valgrind, with its memory references simulated, and once more at
 * full speed, to see how long that takes. */
#ifndef BERTH_PROBE_TRACE_TRACER_H
#define BERTH_PROBE_TRACE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "packer/system/memory_nodes.h"
#include "probe/trace/area.h"
#include "probe/trace/cachesim.h"

extern const char tracer_valgrind[]; /* the path of the valgrind that runs the commands */

struct tracer_result {
    struct tracer_seen seen;    /* all that was simulated */
    struct tracer_seen counted; /* of it, what was not spent on warming the caches */
    unsigned processes;         /* program images that were traced */
    bool truncated;             /* a limit was reached and the command stopped */
    bool late;                  /* it was that on time */
    int signal;                 /* one that this process was sent to end the run; 0: none */
    int status;                 /* wait(2) status of the command */
};

struct tracer_want {
    char *const *command;              /* NULL-terminated; command[0] is a path */
    struct cachesim_geometry geometry; /* one that cachesim_check takes */
    struct dramsim_geometry dram;      /* channels 0: no memory is simulated */
    uint64_t limit;                    /* references; there the command is stopped */
    double limit_s;                    /* seconds; 0: no such limit */
    uint64_t skip;                     /* references that warm the caches */
    bool skip_always; /* else they are skipped only when a limit was reached, and end at half of
                         limit_s if not before */
    int stdout_fd;    /* what the command's standard output goes to */
    /* called some hundred times a second with what was seen so far, and the seconds since the
     * start; NULL: not */
    void (*progress)(const struct tracer_seen *seen, double elapsed_s, void *arg);
    void *arg;
};

/* Runs the command, with this process's standard input and error, until it and all its children
 * have ended, or a limit, or SIGINT, SIGTERM or SIGHUP; nothing of it runs afterwards. Returns 0
 * and result (which tells how the command ended), or -1 and err when it could not be started or
 * traced. Not for programs with children of their own: it becomes a subreaper and waits for all. */
int tracer_run(struct tracer_result *result, const struct tracer_want *want,
               struct berth_error *err);

struct tracer_time {
    double cpu_s; /* user and system, of the command and all its children */
    int signal;   /* as in tracer_result */
    int status;
    bool late;                  /* it was stopped at the limit */
    struct memory_nodes memory; /* of all its processes, added up over some looks at them */
};

/* Runs the command as it is, all of it on one CPU, its output thrown away, until the command and
 * all its children have ended, or limit_s seconds, or one of those signals. Returns 0, or -1 and
 * err when it could not be started. */
int tracer_time(struct tracer_time *time, char *const *command, double limit_s,
                struct berth_error *err);

#endif
