/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth_main - a tool of valgrind that simulates the caches in the traced processes themselves, for
 * `berthctl profile`.
 *
 * It is a program of its own: valgrind's core, linked with this. `valgrind --tool=berth` finds it
 * in the folder that VALGRIND_LIB names. It prints nothing; what it counts is in the file that
 * --berth-area names (tracer_area.h).
 *
 * Valgrind runs the threads of a process in turn, each for 100,000 blocks. In that time a thread
 * can fill a cache and use it again as if it were alone; so where there are several, the turns are
 * cut to QUANTUM blocks, and the LLC sees them interleaved. */
#include <stddef.h>

#include "count.h"
#include "instrument.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"

#define QUANTUM 2000U /* some 10,000 instructions: longer than changing threads takes */

static const HChar *area_path;

static Bool take_option(const HChar *option)
{
    return VG_STR_CLO(option, "--berth-area", area_path);
}

static void print_usage(void)
{
    VG_(printf)("    --berth-area=FILE         where to count, made by berthctl profile\n");
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

static void begin(void)
{
    if (!area_path) {
        VG_(umsg)("berth: a part of berthctl(1), which runs it\n");
        VG_(exit)(1);
    }
    count_begin(area_path);
}

static void thread_runs(ThreadId tid, ULong blocks)
{
    const PtrdiffT offset = offsetof(VexGuestArchState, host_EvC_COUNTER);
    UInt left;

    (void)blocks;
    if (!count_thread(tid))
        return;
    VG_(get_shadow_regs_area)(tid, (UChar *)&left, 0, offset, sizeof(left));
    if (left <= QUANTUM)
        return;
    left = QUANTUM;
    VG_(set_shadow_regs_area)(tid, 0, offset, sizeof(left), (const UChar *)&left);
}

static void before_call(ThreadId tid, UInt number, UWord *args, UInt count)
{
    (void)tid, (void)number, (void)args, (void)count;
    count_flush();
}

static void after_call(ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
    (void)tid, (void)number, (void)args, (void)count, (void)result;
}

static void forked(ThreadId tid)
{
    (void)tid;
    count_forked();
}

static void end(Int status)
{
    (void)status;
    count_flush();
}

static void before_options(void)
{
    VG_(details_name)("berth");
    VG_(details_version)(NULL);
    VG_(details_description)("stack-distance profiles of the last-level cache");
    VG_(details_copyright_author)("GPL-2.0-or-later, the authors of berth");
    VG_(details_bug_reports_to)("the authors of berth");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(begin, instrument, end);
    VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(thread_runs);
    VG_(atfork)(NULL, NULL, forked);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
