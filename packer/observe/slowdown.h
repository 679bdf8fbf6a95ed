/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slowdown - by how much slower than alone steps are beside their neighbours, from their windows.
 *
 * Speed is instructions per CPU second. A window counts when the same steps stood on the step's
 * caches from its beginning to its end and each of them was at work or idle for all of it, and
 * nobody else was. Windows beside the same programs on as many cores each go together. Alone is,
 * the first of these that is known:
 *
 *   - this run's own windows alone, since the program last changed by itself: a phase that began
 *     while nobody came, left, moved or changed beside it
 *   - what the store has of the program alone, with these arguments, on as many cores of such a
 *     machine
 *   - where the step was seen beside two sets of neighbours at least: the speed that the
 *     predictions of its slowdowns (step->slowdown, else step->place) come to. What that teaches is
 * by which of them it suffers more than predicted, not by how much in all; its error says so.
 *
 * What is measured goes to packer->steps->pairs, for the next decision: with the first window, and
 * again each time that there are twice as many; and to the profile store at the step's end, when it
 * has not been beside these neighbours for long, and every five minutes. */
#ifndef BERTH_OBSERVE_SLOWDOWN_H
#define BERTH_OBSERVE_SLOWDOWN_H

#include "packer/steps/packer.h"

struct windows;

/* Takes in the windows that have just ended. */
void slowdown_windows(const struct packer *packer, const struct windows *windows);

/* The step is over: what is left goes to the store. */
void slowdown_learn(const struct packer *packer, struct step *step);

/* Nothing is measured of the step any more. */
void slowdown_drop(struct step *step);

#endif
