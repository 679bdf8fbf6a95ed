/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - what a program is, by all that was counted of it and not by its last window.
 *
 * What a step counts wobbles with its phases, and its run with its input. Models and classes ask
 * for a figure of the program instead: the geometric mean over its runs, in which this one counts
 * as another one as soon as it has FIGURES_WINDOWS windows, and one of which less was counted
 * counts less. A run is its own mean over all its windows. But a run that is another thing than
 * those before, by more than FIGURES_APART times, is taken as it is; so is a phase that is another
 * thing than its run. With learn = off nothing is remembered of other runs. */
#ifndef BERTH_OBSERVE_FIGURES_H
#define BERTH_OBSERVE_FIGURES_H

#include "packer/steps/packer.h"

#define FIGURES_WINDOWS 30
#define FIGURES_APART 2

/* Brings step->figures up to date, after a window of it. */
void figures_take(const struct packer *packer, struct step *step);

/* The step ends: its run is one of its program's from now on. */
void figures_end(const struct packer *packer, const struct step *step);

#endif
