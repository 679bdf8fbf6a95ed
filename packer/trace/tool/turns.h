/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns - the threads of a process run in turn, in short turns of equal number. */
#ifndef BERTH_TRACE_TOOL_TURNS_H
#define BERTH_TRACE_TOOL_TURNS_H

#include "pub_tool_basics.h"

/* Before anything else: how many lines the LLC has. */
void turns_init(ULong llc_lines);

/* Thread tid was created, or comes back from a system call. It has no turns to make up for. */
void turns_join(ThreadId tid);

/* Thread tid is about to run. May first let others run. For how many blocks it is to run at most.
 */
UInt turns_begin(ThreadId tid);

/* It makes a system call, in which it may wait, or ends. */
void turns_leave(ThreadId tid);

/* In a child that was just forked: it is the only thread. */
void turns_forked(ThreadId tid);

#endif
