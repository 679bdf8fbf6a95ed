/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns - see turns.h
 *
 * Valgrind runs the threads of a process in turn, each for 100,000 blocks. In that time a thread
 * can fill a cache and use it again as if it were alone; so turns are cut to blocks that refer to a
 * small part of the LLC. Which thread has the next turn depends on which thread asks first: on a
 * busy machine one thread may have many turns before another gets a CPU to ask. So a thread that is
 * ahead, in instructions, of another that could run yields until the other has come, however long
 * that takes.
 *
 * That is safe because it is known which threads will come: those that neither are in a system call
 * nor end. A system call is over for this account when valgrind has its result, not when the thread
 * runs again: after clone(2), say, the thread yields in between. */
#include "probe/trace/tool/turns.h"

#include "probe/trace/tool/count.h"
#include "pub_tool_threadstate.h"

#define THREADS_MAX CACHESIM_CORES_MAX
#define BLOCKS_MAX 2000U /* takes longer than to change threads does */
#define BLOCKS_MIN 50U
#define LINES_PER_BLOCK 64 /* of the LLC; a block refers to up to some 16 lines */
#define INSTRUCTIONS 10    /* of a block, about */

/* These are valgrind's core's, not in its headers for tools. vg_yield lets other threads run. A
 * thread is valid until its end; it is exiting when it will run no more of the program. */
extern void VG_(vg_yield)(void);
extern Bool VG_(is_valid_tid)(ThreadId tid);
extern Bool VG_(is_exiting)(ThreadId tid);

static struct {
    Bool runs;  /* the thread runs, or would run if it had the turn */
    ULong done; /* its instructions, and what it was given for the time in which it did not run */
} thread[THREADS_MAX];

static ThreadId greatest;   /* of all threads that there ever were */
static ThreadId present;    /* the thread that has the turn */
static ULong present_began; /* at this many instructions of the process */
static UInt turn_blocks;

/* Returns the thread that has done least of those that run, this one left out, or
 * VG_INVALID_THREADID when no other runs. */
static ThreadId last_of_others(ThreadId tid)
{
    ThreadId last = VG_INVALID_THREADID;

    for (ThreadId other = 1; other <= greatest; other++)
        if (other != tid && thread[other].runs &&
            (last == VG_INVALID_THREADID || thread[other].done < thread[last].done))
            last = other;
    return last;
}

void turns_init(ULong llc_lines)
{
    turn_blocks =
        llc_lines / LINES_PER_BLOCK > BLOCKS_MAX ? BLOCKS_MAX : (UInt)(llc_lines / LINES_PER_BLOCK);
    if (turn_blocks < BLOCKS_MIN)
        turn_blocks = BLOCKS_MIN;
}

static void end_turn(void)
{
    thread[present].done += count_instructions - present_began;
    present_began = count_instructions;
}

void turns_join(ThreadId tid)
{
    ThreadId last = last_of_others(tid);

    if (tid >= THREADS_MAX || thread[tid].runs)
        return;
    if (tid > greatest)
        greatest = tid;
    end_turn();
    if (last == VG_INVALID_THREADID)
        last = present;
    thread[tid].runs = True;
    if (thread[tid].done < thread[last].done)
        thread[tid].done = thread[last].done;
}

/* Returns how many blocks a turn has. Those of a single thread need not be short. */
static UInt blocks(void)
{
    return greatest > 1 ? turn_blocks : ~0U;
}

static Bool will_come(ThreadId tid)
{
    return VG_(is_valid_tid)(tid) && !VG_(is_exiting)(tid);
}

UInt turns_begin(ThreadId tid)
{
    ThreadId last;

    end_turn();
    turns_join(tid);
    if (tid >= THREADS_MAX)
        return blocks();
    while ((last = last_of_others(tid)) != VG_INVALID_THREADID &&
           thread[tid].done > thread[last].done + INSTRUCTIONS * turn_blocks) {
        if (will_come(last))
            VG_(vg_yield)();
        else
            thread[last].runs = False;
    }
    end_turn(); /* of the threads that ran meanwhile */
    present = tid;
    return blocks();
}

void turns_leave(ThreadId tid)
{
    end_turn();
    if (tid < THREADS_MAX)
        thread[tid].runs = False;
}

void turns_forked(ThreadId tid)
{
    for (ThreadId other = 1; other <= greatest; other++)
        thread[other].runs = other == tid;
}
