/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count - what a traced process counts, and how it comes into the memory that it shares with
 * berthctl. */
#ifndef BERTH_TRACE_TOOL_COUNT_H
#define BERTH_TRACE_TOOL_COUNT_H

#include "packer/trace/cachesim.h"
#include "pub_tool_basics.h"

/* Counted by the instrumented code itself. */
extern ULong count_instructions;
extern Long count_left; /* references of the present batch; below 0: count_batch is due */

/* Map the area (a path) and make the caches. The number of lines of the LLC. Ends the process with
 * a message where that fails. */
ULong count_begin(const HChar *path);

/* The L1's table of recent lines, or NULL. */
const struct cachesim_recent *count_recent(void);

/* The batch is used up: take the next one. At the limit nothing is counted any more. */
void count_batch(void);

/* A reference that the table of recent lines does not answer. It is in count_left already. */
void count_reference(HWord address, HWord size);

/* One that is not, for code that makes it under a condition. */
void count_guarded_reference(HWord address, HWord size);

/* Add what was counted to the area and give back what is left of the batch. */
void count_flush(void);

/* In a child that was just forked: what the parent counted is not the child's. */
void count_forked(void);

/* Thread tid runs from now on: it has private caches of its own. */
void count_thread(UInt tid);

#endif
