/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phases - what is remembered of the phases of programs: how each looks (its signature), what one
 * core of it asks of the memories, and how long it stays.
 *
 * A phase that was measured once is sized at once when it comes back, in this run of the program or
 * in another one of the same user on this node. */
#ifndef BERTH_SIZE_PHASES_H
#define BERTH_SIZE_PHASES_H

#include "models/online/opticore.h"
#include "packer/base/cpus.h"
#include "packer/size/traffic.h"

#define PHASES_SIGNATURES 4 /* of one phase, the newest: it looks different on other cores */
#define PHASES_OF_ONE 16    /* of one program; the one that was seen longest ago gives way */
#define PHASES_PROGRAMS 256 /* the program that was seen longest ago gives way */

struct size_phase {
    unsigned number; /* among those of its program, from 1 */
    size_t signatures;
    struct opticore_signature signature[PHASES_SIGNATURES];
    struct cpus nodes;           /* NUMA nodes (indices of the topology) of the cores measured */
    struct size_traffic traffic; /* owned; nodes 0: it could not be measured */
    double profiled_s;           /* of a profiling run; 0: measured on the cores that it had */
    double stay_s;               /* that it stays on average; NAN: no stay of it is over */
    unsigned stays;
    size_t given; /* cores that its step had in it last; 0: not known */
    uint64_t used;
};

struct phases;

/* Returns NULL for want of memory. */
struct phases *phases_open(void);
void phases_close(struct phases *phases); /* NULL is fine */

/* Whose phases are meant is a number that the caller makes (loop.c).
 *
 * Finds the phase of this signature that was measured on all of these nodes. Returns NULL where
 * there is none. Good until the next phases_add(). */
struct size_phase *phases_find(struct phases *phases, uint64_t owner,
                               const struct opticore_signature *signature,
                               const struct cpus *nodes);

/* Returns the phase of that number; NULL: it is forgotten. */
struct size_phase *phases_get(struct phases *phases, uint64_t owner, unsigned number);

/* Remembers a phase. Its traffic is the caller's to fill in. NULL for want of memory. */
struct size_phase *phases_add(struct phases *phases, uint64_t owner,
                              const struct opticore_signature *signature, const struct cpus *nodes);

/* The phase was seen to look like this, too. */
void phase_looks(struct size_phase *phase, const struct opticore_signature *signature);

/* It has stayed so long. */
void phase_stayed(struct size_phase *phase, double stay_s);

#endif
