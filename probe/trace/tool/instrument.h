/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instrument - adds code to the program's own that counts instructions and references. */
#ifndef BERTH_PROBE_TRACE_TOOL_INSTRUMENT_H
#define BERTH_PROBE_TRACE_TOOL_INSTRUMENT_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Returns a superblock with the code that counts; valgrind's core calls this for each superblock.
 */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word);

#endif
