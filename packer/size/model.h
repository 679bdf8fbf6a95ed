/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - NuCore's question about one step: its cores on each NUMA node, what they ask of the
 * memories (profile store) and what these can do (machine profile). */
#ifndef BERTH_SIZE_MODEL_H
#define BERTH_SIZE_MODEL_H

#include "packer/steps/packer.h"

struct size_model; /* opaque */

/* held[i] cores of the topology's i-th NUMA node are the step's. NULL and err: why it cannot be
 * sized. Free with size_model_free (NULL is fine). */
struct size_model *size_model_new(const struct packer *packer, const struct step *step,
                                  const unsigned *held, struct berth_error *err);
void size_model_free(struct size_model *model);

struct size_bounds {
    unsigned least, most;   /* cores in all: least <= most <= all held */
    const unsigned *needed; /* [NUMA nodes of the topology] cores of each in any case */
    double patience_s;      /* a step that starts waits for the answer */
};

/* The best vector within the bounds, into chosen[NUMA nodes of the topology]. *proven: that no
 * other is better. 0, or -1 and err. */
int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      unsigned *chosen, bool *proven, struct berth_error *err);

/* The bandwidth of a vector in GB/s, and what limits it (NULL: not wanted); NAN where there is
 * none.
 */
double size_model_predict(const struct size_model *model, const unsigned *cores,
                          enum numem_constraint *constraint);

#endif
