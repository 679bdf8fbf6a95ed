/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_judge - what a size has cost, as measured, and the end of one that costs more than its user
 * allows.
 *
 * The step's speed on fewer cores is compared with that on all of its cores in the same phase and
 * beside the same steps (models/online/verdict.h). A step that had fewer from its start, by the
 * store, has shown no speed on all of them: it is compared with the run in which the store's
 * figures were measured, where that had as many cores of such a machine, the same shape of
 * arguments, and both were alone. Else what it lost is not known. */
#ifndef BERTH_SIZE_JUDGE_H
#define BERTH_SIZE_JUDGE_H

#include "packer/steps/packer.h"

#define SIZE_JUDGE_REST_S                                                                          \
    3600 /* for so long a program keeps its cores in a phase that lost more                        \
          */

struct windows;

/* Says of a step that starts whether its program lost more lately, in whichever phase:
 * step->size.verdict.refused. */
void size_judge_begin(const struct packer *packer, struct step *step);

/* Returns how fast the step was on all its cores, alone, in its present phase; cores 0: not known.
 */
struct profile_speed size_judge_speed(const struct step *step);

/* Returns the part of its speed that the step is predicted to lose; NAN not known. */
double size_judge_predicted(const struct step *step);

#endif
