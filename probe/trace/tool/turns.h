/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns - lets the threads of a process run in turn, in short turns of equal number. */
#ifndef BERTH_PROBE_TRACE_TOOL_TURNS_H
#define BERTH_PROBE_TRACE_TOOL_TURNS_H

#include "pub_tool_basics.h"

/* Says how many lines the LLC has; called before anything else. */
void turns_init(ULong llc_lines);

/* Counts thread tid among those that run: it was created, or its system call has a result. The
 * thread has no turns to make up for. */
void turns_join(ThreadId tid);

/* Begins a turn of thread tid, and may let others run before. Returns for how many blocks the
 * thread is to run at most. */
UInt turns_begin(ThreadId tid);

/* Counts thread tid no longer among those that run: it makes a system call, in which it may wait,
 * or it ends. */
void turns_leave(ThreadId tid);

/* Leaves tid as the only thread, in a child that was just forked. */
void turns_forked(ThreadId tid);

#endif
