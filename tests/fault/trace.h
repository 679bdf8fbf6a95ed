/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace - a program's system calls, watched one by one with ptrace(2): it is killed before a chosen
 * one, or something happens to its world before it, or a chosen one does not happen and fails. */
#ifndef BERTH_TESTS_TRACE_H
#define BERTH_TESTS_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls that change something outside the program. */
enum trace_kind {
    TRACE_WRITE_CGROUP, /* write to a file of a cgroup, and opening one to write */
    TRACE_WRITE_FILE,   /* write or pwrite to any other file (not to a socket) */
    TRACE_AFFINITY,     /* sched_setaffinity */
    TRACE_CLASS,        /* sched_setattr */
    TRACE_MKDIR,
    TRACE_REMOVE, /* unlinkat, unlink, rmdir */
    TRACE_RENAME,
    TRACE_TRUNCATE,
    TRACE_KINDS
};
extern const char *const trace_kind_name[TRACE_KINDS];

struct trace_plan {
    long kill_at;   /* killed before its n-th system call, from 1; 0: not */
    long meddle_at; /* before its n-th system call something happens; 0: nothing */
    void (*meddle)(void *arg);
    bool rewrites; /* it writes where the program has written */
    long fail_at;  /* the n-th call of this kind fails, from 1; 0: none */
    enum trace_kind fail_kind;
    int fail_errno; /* 0: it is killed before that call instead */
};

struct trace_result {
    long calls;           /* system calls begun */
    bool killed, meddled; /* as planned */
    bool failed;          /* as planned */
    bool ended;           /* by itself: status is of waitpid(2) */
    int status;
};

/* Can calls be made to fail on this architecture? */
bool trace_can_fail(void);

/* Watch a running program from now on; or the calling process, which then executes it. 0 or -1. */
int trace_attach(pid_t pid);
int trace_me(void);

/* Let it run until it ends, is killed as planned, or waits for events (epoll; not a mere look) when
 * it is done with what has come of the plan so far. In the last case it runs on unwatched. */
typedef bool trace_done(void *arg, const struct trace_result *so_far);
struct trace_result trace_run(pid_t pid, const struct trace_plan *plan, trace_done *done,
                              void *arg);

#endif
