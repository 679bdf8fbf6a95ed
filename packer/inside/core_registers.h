/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core_registers - what berth changes of the cores that a step has to itself, and gives back: their
 * prefetchers (system/prefetchers.h) and their greatest frequency (system/cpufreq.h).
 *
 * A core is the step's where all of its hardware threads are, and nobody else may run on one of
 * them; a policy of cpufreq where all of its CPUs are of such cores. Before the first register is
 * written, the journal has what all of them held (steps/registers.h). A register is given back if
 * and only if it holds what berth has written; one that somebody else has written meanwhile is his.
 * After a kill nobody knows what was written last: any value that berth may have written is
 * berth's. */
#ifndef BERTH_INSIDE_CORE_REGISTERS_H
#define BERTH_INSIDE_CORE_REGISTERS_H

#include "packer/steps/packer.h"
#include "packer/steps/registers.h"

enum registers_how {
    REGISTERS_LEAVE, /* as they were before berth */
    REGISTERS_CLEAR, /* the bits of the mask are 0: all prefetchers are on */
    REGISTERS_SET    /* they are 1: all are off; of a frequency, it is the mask, or what it was
                        where that is less */
};

struct registers_want {
    enum register_kind kind;
    enum registers_how how;
    uint64_t mask; /* where it is not LEAVE */
};

/* Finds out what of this machine's cores can be changed: the prefetchers and the clock of
 * packer->state->registers. */
void core_registers_open(const struct packer *packer);

/* Finds those of that kind that are the step's, by their CPUs (struct core_register). */
void core_registers_own(const struct packer *packer, const struct step *step,
                        enum register_kind kind, struct cpus *own);

/* Says whether all of the step's, and no others of that kind, are as wanted. */
bool core_registers_are(const struct packer *packer, const struct step *step,
                        const struct registers_want *want);

/* Makes them so. 0, or -1 and err: some may be, and core_registers_give_back() is right. */
int core_registers_set(const struct packer *packer, const struct step *step,
                       const struct registers_want *want, struct berth_error *err);

/* Gives back all of the step's of that kind. What cannot be is logged, and tried again by
 * core_registers_settle(). */
void core_registers_give_back(const struct packer *packer, const struct step *step,
                              enum register_kind kind);

/* Gives back those of steps that have ended, are not placed any more or have left their cores, and
 * what could not be given back before. */
void core_registers_settle(const struct packer *packer);

/* Counts the step's of that kind that hold what berth has written. */
size_t core_registers_changed(const struct packer *packer, const struct step *step,
                              enum register_kind kind);

#endif
