/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wrap - has the threads of a parallel region pass through the library, so that those that meet in
 * a loop are known to be of one team. Only where the page turns throttling on. */
#ifndef BERTH_RUNTIME_WRAP_H
#define BERTH_RUNTIME_WRAP_H

#include <stdbool.h>

#include "runtime/throttle.h"

typedef void wrap_outlined(void *);

struct wrap {
    struct throttle_team team;
    wrap_outlined *region;
    void *data;
};

enum wrap_loop { WRAP_NO_LOOP, WRAP_LOOP, WRAP_RUNTIME_LOOP };

/* Puts itself into the place of a region and its data, which `start` of the run-time (gcc's) is
 * about to be called with; *wrap lives until that has returned. `loop`: it begins with one. Changes
 * nothing where the region is not to be wrapped. */
void wrap_region(struct wrap *wrap, const void *start, wrap_outlined **region, void **data,
                 enum wrap_loop loop);

/* Returns what is called, with the same arguments, for a region of LLVM's: a function that calls
 * `start`, or `start` itself. */
void *wrap_fork_call(void *start);
void *wrap_fork_call_if(void *start);

/* Says whether loops with schedule(runtime) hand out their iterations while they run: dynamic or
 * guided. `function`: any of the run-time. */
bool wrap_runtime_deals(const void *function);

#endif
