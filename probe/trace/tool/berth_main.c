/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth_main - a tool of valgrind that simulates the caches in the traced processes themselves, for
 * `berthctl profile`.
 *
 * It is a program of its own: valgrind's core, linked with this. `valgrind --tool=berth` finds it
 * in the folder that VALGRIND_LIB names. It prints nothing; what it counts is in the file that
 * --berth-area names (trace/area.h).
 */
#include <stddef.h>

#include "probe/trace/tool/count.h"
#include "probe/trace/tool/instrument.h"
#include "probe/trace/tool/turns.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"

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

static void begin_trace(void)
{
    if (!area_path) {
        VG_(umsg)("berth: a part of berthctl(1), which runs it\n");
        VG_(exit)(1);
    }
    turns_init(count_begin(area_path));
}

static void thread_runs(ThreadId tid, ULong blocks)
{
    const PtrdiffT offset = offsetof(VexGuestArchState, host_EvC_COUNTER);
    UInt most = turns_begin(tid), left;

    (void)blocks;
    count_thread(tid); /* after others may have run */
    VG_(get_shadow_regs_area)(tid, (UChar *)&left, 0, offset, sizeof(left));
    if (most < left)
        VG_(set_shadow_regs_area)(tid, 0, offset, sizeof(most), (const UChar *)&most);
}

static void thread_begins(ThreadId parent, ThreadId tid)
{
    (void)parent;
    turns_join(tid);
}

static void thread_ends(ThreadId tid)
{
    turns_leave(tid);
}

static void before_call(ThreadId tid, UInt number, UWord *args, UInt count)
{
    (void)number, (void)args, (void)count;
    turns_leave(tid);
    count_flush();
}

static void after_call(ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
    (void)number, (void)args, (void)count, (void)result;
    turns_join(tid);
}

static void forked(ThreadId tid)
{
    turns_forked(tid);
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
    VG_(basic_tool_funcs)(begin_trace, instrument, end);
    VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(thread_runs);
    VG_(track_pre_thread_ll_create)(thread_begins);
    VG_(track_pre_thread_ll_exit)(thread_ends);
    VG_(atfork)(NULL, NULL, forked);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
