/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_lackey - the trace of valgrind's lackey, read from a pipe and simulated here.
 *
 * Valgrind opens the pipe by the path of our descriptor (/proc/PID/fd/N), not as an inherited one:
 * so the command sees no descriptor that it would not see otherwise, and those of its children that
 * close all they inherit are traced too. The price is that the pipe can be without a writer for a
 * moment (while a process executes another): an end of file means the end only once all processes
 * have ended.
 *
 * lackey writes each line with a write(2) of its own, so lines of several processes do not tear
 * each other. It also makes lackey the bottleneck.
 *
 * The lines do not say whose they are: all threads and processes share the caches as they would a
 * core's, and equal addresses of different processes are taken for the same memory. Exact for one
 * thread of one process; too good a picture of programs that run side by side. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lackey.h"
#include "tracer_way.h"

#define PIPE_BYTES (1 << 20)     /* some 50 ms of trace */
#define DRAINED_BYTES (64 << 10) /* a read that brought less has drained the pipe */

struct trace {
    int pipe; /* our end, not blocking */
    struct cachesim *sim;
    uint64_t instructions, limit, skip;
    bool marked, stopped;
    struct tracer_seen mark; /* what was seen when the caches were warm */
    char log_file[64];       /* valgrind's option */
    struct lackey lackey;
};

static void trace_close(void *state)
{
    struct trace *trace = state;

    if (!trace)
        return;
    if (trace->pipe >= 0)
        close(trace->pipe);
    cachesim_free(trace->sim);
    free(trace);
}

/* A pipe whose writing end is opened by its path; ours does not block. */
static int open_pipe(struct trace *trace, struct berth_error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return berth_error_set(err, "pipe: %s", strerror(errno));
    close(ends[1]);
    (void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* a smaller one is only slower */
    trace->pipe = ends[0];
    snprintf(trace->log_file, sizeof(trace->log_file), "--log-file=/proc/%d/fd/%d", (int)getpid(),
             ends[0]);
    return 0;
}

static int trace_open(void **state, const struct tracer_want *want, struct tracer_start *start,
                      struct berth_error *err)
{
    struct trace *trace = calloc(1, sizeof(*trace));

    if (!trace)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    trace->pipe = -1;
    trace->limit = want->limit;
    trace->skip = want->skip;
    lackey_init(&trace->lackey);
    if (cachesim_create(&trace->sim, &want->geometry, err) < 0 || open_pipe(trace, err) < 0) {
        trace_close(trace);
        return -1;
    }
    *start = (struct tracer_start){
        .option = {"--tool=lackey", "--trace-mem=yes", "--basic-counts=no", trace->log_file}};
    *state = trace;
    return 0;
}

static void copy_seen(const struct trace *trace, struct tracer_seen *seen)
{
    seen->instructions = trace->instructions;
    seen->counts = *cachesim_counts(trace->sim);
}

static void trace_warm(void *state)
{
    struct trace *trace = state;

    if (!trace->marked)
        copy_seen(trace, &trace->mark);
    trace->marked = true;
}

/* Simulate the records that are in the buffer. False at the limit. */
static bool consume(struct trace *trace)
{
    const struct cachesim_counts *counts = cachesim_counts(trace->sim);
    struct lackey_record record;

    while (lackey_next(&trace->lackey, &record)) {
        if (record.kind == LACKEY_INSTRUCTION) {
            trace->instructions++;
            continue;
        }
        if (counts->references >= trace->skip)
            trace_warm(trace);
        if (counts->references >= trace->limit)
            return false;
        cachesim_reference(trace->sim, record.address, record.size);
    }
    return true;
}

static int trace_take(void *state, struct tracer_result *result)
{
    struct trace *trace = state;
    size_t room;
    char *space = lackey_space(&trace->lackey, &room);
    ssize_t got = read(trace->pipe, space, room);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return -1;
    if (got < 0)
        return 0;
    if (!trace->stopped) {
        lackey_fed(&trace->lackey, (size_t)got);
        result->truncated = !consume(trace);
        result->garbage = trace->lackey.garbage;
        copy_seen(trace, &result->seen);
    }
    return got >= DRAINED_BYTES;
}

static void trace_stop(void *state)
{
    struct trace *trace = state;

    trace->stopped = true;
}

static void trace_warmup(void *state, struct tracer_seen *seen)
{
    struct trace *trace = state;

    trace_warm(trace);
    *seen = trace->mark;
}

const struct tracer_way tracer_lackey = {
    .source = "valgrind lackey",
    .open = trace_open,
    .take = trace_take,
    .warm = trace_warm,
    .stop = trace_stop,
    .warmup = trace_warmup,
    .close = trace_close,
};
