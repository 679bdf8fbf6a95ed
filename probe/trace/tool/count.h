/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count - counts what a traced process does, and brings the counts into the memory that the process
 * shares with berthctl. */
#ifndef BERTH_PROBE_TRACE_TOOL_COUNT_H
#define BERTH_PROBE_TRACE_TOOL_COUNT_H

#include "probe/trace/cachesim.h"
#include "pub_tool_basics.h"

/* The instrumented code itself counts these. */
extern ULong count_instructions;
extern Long count_left; /* references of the present batch; below 0: count_batch is due */

/* Maps the area (a path) and makes the caches. Returns the number of lines of the LLC. Ends the
 * process with a message where that fails. */
ULong count_begin(const HChar *path);

/* Returns the L1's table of recent lines, or NULL. */
const struct cachesim_recent *count_recent(void);

/* Says whether stores are told apart: then one that modifies what was just loaded is a reference,
 * too. */
Bool count_stores(void);
#define COUNT_STORE 0x10000 /* added to the size of a reference: it is a store */

/* Takes the next batch, when one is used up. At the limit nothing is counted any more. */
void count_batch(void);

/* Simulates a reference that the table of recent lines does not answer; the code has taken the
 * reference off count_left. */
void count_reference(HWord address, HWord size);

/* Simulates a reference that code makes under a condition, and takes it off count_left. */
void count_guarded_reference(HWord address, HWord size);

/* Adds what was counted to the area, and gives back what is left of the batch. */
void count_flush(void);

/* Forgets, in a child that was just forked, what the parent has counted. */
void count_forked(void);

/* Changes to thread tid, which has private caches of its own. */
void count_thread(UInt tid);

#endif
