/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_way - a way to see what a command refers to under valgrind. */
#ifndef BERTH_TRACER_WAY_H
#define BERTH_TRACER_WAY_H

#include "tracer.h"

#define TRACER_OPTIONS_MAX 8

struct tracer_start {
    const char *option[TRACER_OPTIONS_MAX]; /* valgrind's, NULL-terminated */
    const char *library; /* VALGRIND_LIB; NULL: valgrind's own. Both valid while the way is open */
};

struct tracer_way {
    const char *source;
    /* Prepare to trace. *state is the way's own; fills *start. 0, or -1 and err. */
    int (*open)(void **state, const struct tracer_want *want, struct tracer_start *start,
                struct berth_error *err);
    /* Take what has come, count it in result->seen, and set result->truncated at the limit. 1 when
     * there may be more at once, 0 when not, -1 when nothing comes any more unless a process begins
     * anew. */
    int (*take)(void *state, struct tracer_result *result);
    /* What comes from now on no longer warms the caches, if it still did. */
    void (*warm)(void *state);
    /* Nothing that comes from now on counts. */
    void (*stop)(void *state);
    /* What came while the caches warmed. */
    void (*warmup)(void *state, struct tracer_seen *seen);
    void (*close)(void *state); /* NULL is fine */
};

/* By lackey, a tool of valgrind that writes each reference as a line of text. */
extern const struct tracer_way tracer_lackey;

/* By a tool of our own that simulates the caches in the traced processes. */
extern const struct tracer_way tracer_tool;

/* Is our own tool there? 1 and its folder, or 0. */
int tracer_tool_find(char folder[PATH_MAX]);

#endif
