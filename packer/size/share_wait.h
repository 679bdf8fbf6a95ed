/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share_wait - when a step gets its part of cores that others have, too (share.h): when its
 * start-up and first window are over (startup and first_window of berth.conf).
 *
 * Until then it has all of its cores, so that a program which asks at its start how many CPUs there
 * are is told what Slurm alone would tell it; and the others keep what they have, as if it was not
 * there. So nobody is narrowed early, neither the newcomer nor who was there before. Who has a part
 * keeps that, however many steps come and go beside it: a newcomer runs on it, too, as Slurm meant
 * it, and gets its own when it has waited. A batch script has its part until a step of its job gets
 * one.
 *
 * Steps that ask for `adapt` do not wait: that word asks for parts by name, as `size` and `cores`
 * do for fewer cores. */
#ifndef BERTH_SIZE_SHARE_WAIT_H
#define BERTH_SIZE_SHARE_WAIT_H

#include "packer/steps/packer.h"

/* Returns for how many seconds yet the step would have to wait; 0: it would not. */
double share_wait_s(const struct packer *packer, const struct step *step);

/* Returns in how many seconds the first of those that do wait (step->share.waits) has waited; < 0:
 * nobody does. */
double share_due(const struct packer *packer);

/* Returns whether one has waited: then the cores are to be divided anew. */
bool share_turn(const struct packer *packer);

#endif
