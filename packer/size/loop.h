/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop - OptiCore's loop about each step that asked for `size` and runs (Wang 2015, chapter 8):
 * measured, sized, watched, sized again when it does something else. When is the model's
 * (models/online/opticore.h); this does it.
 *
 * What a profiling run costs. For half a second the step has one core of each NUMA node. So there
 * is one only where something may come of it and nobody knows the answer:
 *   - the machine's memory was calibrated, somebody counts the step, and nobody has stored what its
 *     program asks (`berthctl profile demand`)
 *   - the phase is not remembered, of this run or of another one
 *   - its traffic is at least half of what the least of the memories and links that it may meet can
 *     do. Below, a core fewer costs nearly all that it does, whichever it is, and one that is not
 *     kept waiting asks now what it asks alone: the phase is known without a run
 *   - it keeps half of its cores at work: who stands still shows nothing
 *   - the phase has lasted LOOP_STAY_WINDOWS windows, and no run has begun in LOOP_REST_S. Before
 *     the first run LOOP_FIRST_WINDOWS are enough: so many tell how fast the step is on all its
 *     cores, which the loss is measured by (judge.h)
 *   - the step has not been profiled before, or all runs together stay below LOOP_COST of what
 *     `size=PCT` may cost of the time that it has run: a second one after 200 s with the usual 2 %;
 *     none with `size=0`
 *
 * Only observed steps are followed, too, and never moved. */
#ifndef BERTH_SIZE_LOOP_H
#define BERTH_SIZE_LOOP_H

#include "models/online/verdict.h"
#include "packer/steps/packer.h"

#define LOOP_REST_S 30
#define LOOP_STAY_WINDOWS 10
#define LOOP_FIRST_WINDOWS (VERDICT_WINDOWS + 1)
#define LOOP_COST 0.25

#endif
