/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slowdown - by how much slower than alone steps are beside their neighbours, from the moments when
 * these come, go, move or stop working.
 *
 * Speed is instructions per CPU second, at one clock: what cycles per CPU second say of the clock is
 * taken out, as far as the program's time goes with it. A window counts when the same steps stood on the step's
 * caches from its beginning to its end and each of them was at work or idle for all of it, and
 * nobody else was. Windows one after the other beside the same programs on as many cores each are a
 * spell (spell.h). From one spell to the next the step's speed changes by what the neighbours cost,
 * and by what the program does by itself: the error says how much that may be. Where one of the two
 * spells was alone, the other's slowdown is measured; else each is measured against what is
 * predicted of the other (step->slowdown, else step->place), with a part of that as a further
 * error. What the store knows of the program's speed alone is no reference: another input has
 * another speed.
 *
 * What is measured goes to packer->steps->pairs, for the next decision: after SPELL_AFTER windows,
 * or the first, where that is clear enough; and to the profile store at the step's end, when it has
 * not been beside these neighbours for long, and every five minutes. */
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
