/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiling - half a second of a step on one core of each NUMA node: what one core of its program
 * asks of the memories (Wang 2015, 5.2.1).
 *
 * It begins by saying which cores (step->size.loop.only: share.c gives the tasks no others), and is
 * read from when the step stands there until it is over. The step's windows wait meanwhile. What it
 * stood on before is what the journal has: whoever finds it there gives the cores back. */
#ifndef BERTH_SIZE_PROFILING_H
#define BERTH_SIZE_PROFILING_H

#include "packer/size/traffic.h"

#define PROFILING_S 0.5      /* that it lasts */
#define PROFILING_SETTLE_S 2 /* that the step may take to stand there */

struct profiling; /* opaque */

/* Says why a profiling run of the step would say nothing or cost too much, or NULL. */
const char *profiling_unfit(const struct packer *packer, const struct step *step);

/* Begins one: the step is to be moved. NULL for want of memory. */
struct profiling *profiling_begin(const struct packer *packer, struct step *step);

/* Reads its first sample as soon as the step stands where it shall. Returns the seconds until the
 * next call, 0: it is over. */
double profiling_turn(const struct packer *packer, struct step *step, struct profiling *profiling);

/* Ends it, however far it is: the step is to be moved back. */
void profiling_end(const struct packer *packer, struct step *step, struct profiling *profiling);

/* Fills in what it has shown, after its last turn: the traffic, which is the caller's to free also
 * after an error, and what the program looked like. Returns 0, or -1 and err. */
int profiling_result(const struct packer *packer, const struct step *step,
                     const struct profiling *profiling, struct size_traffic *traffic,
                     struct opticore_signature *signature, struct berth_error *err);

void profiling_free(struct profiling *profiling); /* NULL is fine */

#endif
