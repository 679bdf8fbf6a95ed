/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share - steps of different jobs that Slurm put on the same cores (OverSubscribe=FORCE): each gets
 * a part of these cores, instead of sharing the time of all; or, where ADAPT says so
 * (size/share_adapt.h), they share them. Overlapping steps of one job that ask for `adapt` are
 * treated alike.
 *
 * A step gets no part before its first window is over (share_wait.h).
 *
 * Its part is of its own cores, so nobody has more than Slurm gave him, and what is left of them
 * others do not touch: steps that Slurm kept apart stay apart. The parts are then units like any
 * other, which DI spreads over the pool. */
#ifndef BERTH_SIZE_SHARE_H
#define BERTH_SIZE_SHARE_H

#include "packer/steps/packer.h"

/* Divide cores of `pool` that live steps of several jobs hold, in proportion to what each needs
 * (the cores it was seen to use, where it leaves some idle, else those it has; ADAPT may say how
 * many), with a core of its own for each task at least. Where there are too few cores for that, or
 * not all of them are in the pool, they are shared as Slurm meant it. Writes the tasks' `use` and
 * step->share. */
void share_cores(const struct packer *packer, const struct pool *pool);

/* Lets a step that has just come use all that Slurm, and sizing, left it: it gets no part yet, and
 * who is beside it keeps his until share_cores() is called, soon and once for all that have come.
 */
void share_begin(struct step *step);

#endif
