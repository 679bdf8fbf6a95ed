/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch_cores - the prefetchers of the cores that a step has to itself, switched and given back
 * (system/prefetchers.h).
 *
 * A core is the step's where all of its hardware threads are, and nobody else may run on one of
 * them. Before the first register is written, the journal has what all of them held
 * (steps/registers.h). A register is given back if and only if it holds what berth has written; one
 * that somebody else has written meanwhile is his. After a kill nobody knows which of the two
 * values was written last, all prefetchers on or all off: either is berth's. */
#ifndef BERTH_INSIDE_PREFETCH_CORES_H
#define BERTH_INSIDE_PREFETCH_CORES_H

#include "packer/steps/packer.h"

enum prefetch_want { PREFETCH_LEAVE, PREFETCH_SWITCH_ON, PREFETCH_SWITCH_OFF };

/* Finds out whether this machine's prefetchers can be switched:
 * packer->state->registers->prefetchers. */
void prefetch_open(const struct packer *packer);

/* Finds the cores, by their first hardware threads, that the step has to itself. */
void prefetch_own(const struct packer *packer, const struct step *step, struct cpus *own);

/* Says whether all its cores' prefetchers, and no others of its, are as wanted. */
bool prefetch_is(const struct packer *packer, const struct step *step, enum prefetch_want want);

/* Makes them so. 0, or -1 and err: some may be, and prefetch_give_back() is right. */
int prefetch_set(const struct packer *packer, const struct step *step, enum prefetch_want want,
                 struct berth_error *err);

/* Gives back all of the step's. What cannot be is logged, and tried again by prefetch_settle(). */
void prefetch_give_back(const struct packer *packer, const struct step *step);

/* Gives back those of steps that have ended, are not placed any more or have left their cores, and
 * what could not be given back before. */
void prefetch_settle(const struct packer *packer);

/* Counts the step's cores whose registers hold what berth has written. */
size_t prefetch_switched(const struct packer *packer, const struct step *step);

#endif
