/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_tool - berth's own tool of valgrind (probe/trace/tool), seen from berthctl: where the
 * tool is, and the memory through which the traced processes say what they counted. */
#ifndef BERTH_PROBE_TRACE_TOOL_H
#define BERTH_PROBE_TRACE_TOOL_H

#include <limits.h>

#include "packer/base/error.h"
#include "probe/trace/tracer.h"

struct tracer_tool {
    char folder[PATH_MAX]; /* what VALGRIND_LIB must name */
    char option[64];       /* the tool's option that names the memory */
    int file;
    struct tracer_area *area;
};

/* Finds the folder of the tool: the one beside this program where it runs in the build folder, else
 * where the tool is installed. 0, or -1 and err. */
int tracer_tool_find(char folder[PATH_MAX], struct berth_error *err);

/* Finds the tool and makes the memory, for the limits and caches of want. 0, or -1 and err. */
int tracer_tool_open(struct tracer_tool *tool, const struct tracer_want *want,
                     struct berth_error *err);
void tracer_tool_close(struct tracer_tool *tool);

/* Copies what the processes have counted so far to result->seen and result->processes, and sets
 * result->truncated where they reached the limit. */
void tracer_tool_take(const struct tracer_tool *tool, struct tracer_result *result);

/* Copies what the processes counted while the caches warmed. */
void tracer_tool_warmup(const struct tracer_tool *tool, struct tracer_seen *seen);

/* Ends the warm-up of the caches, if it has not ended yet. */
void tracer_tool_warm(struct tracer_tool *tool);

/* Lets no process count another batch. */
void tracer_tool_stop(struct tracer_tool *tool);

#endif
