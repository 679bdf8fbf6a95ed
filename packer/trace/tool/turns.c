/* SPDX-License-Identifier: GPL-2.0-or-later */
/* turns - see turns.h
 *
 * Valgrind runs the threads of a process in turn, each for 100,000 blocks. In that time a thread
 * can fill a cache and use it again as if it were alone; so turns are cut to blocks that refer to a
 * small part of the LLC. And which thread
 * has the next turn is up to who asks first: on a busy machine one thread may have many turns
 * before another gets a CPU to ask. So a thread that is ahead of another that could run, in
 * instructions, lets go until that one has come. The other may be ending, which is not always seen:
 * nobody waits for ever. */
#include "packer/trace/tool/turns.h"

#include "packer/trace/tool/count.h"
#include "pub_tool_threadstate.h"

#define THREADS_MAX CACHESIM_CORES_MAX
#define BLOCKS_MAX 2000U /* takes longer than to change threads does */
#define BLOCKS_MIN 50U
#define LINES_PER_BLOCK 64 /* of the LLC; a block refers to up to some 16 lines */
#define INSTRUCTIONS 10    /* of a block, about */
#define YIELDS_MAX 1000000 /* some seconds */

/* Of valgrind's core: lets other threads, and other programs, run. Not in its headers for tools. */
extern void VG_(vg_yield)(void);

static struct {
    Bool runs;  /* it does, or would if it were its turn */
    ULong done; /* instructions, and what it was given for the time in which it did not run */
} thread[THREADS_MAX];

static ThreadId greatest;   /* that there ever was */
static ThreadId present;    /* whose turn it is */
static ULong present_began; /* at this many instructions of the process */
static UInt turn_blocks;

/* Of the threads that run but this one, which has done least? VG_INVALID_THREADID: none runs. */
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

/* As long as there is one thread its turns need not be short. */
static UInt blocks(void)
{
    return greatest > 1 ? turn_blocks : ~0U;
}

UInt turns_begin(ThreadId tid)
{
    ThreadId last;
    UInt yields = 0;

    end_turn();
    turns_join(tid);
    if (tid >= THREADS_MAX)
        return blocks();
    while ((last = last_of_others(tid)) != VG_INVALID_THREADID &&
           thread[tid].done > thread[last].done + INSTRUCTIONS * turn_blocks) {
        if (++yields > YIELDS_MAX)
            thread[last].runs = False;
        else
            VG_(vg_yield)();
    }
    end_turn(); /* of those that ran meanwhile */
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
