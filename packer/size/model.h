/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - NuCore's question about the steps of a node that are sized, all at once: their cores
 * on each NUMA node, what they ask of the memories (size/demand.h, size/traffic.h) and what these
 * can do (machine profile). */
#ifndef BERTH_SIZE_MODEL_H
#define BERTH_SIZE_MODEL_H

#include "packer/steps/packer.h"

struct size_model; /* opaque */

/* A question about no step yet. NULL and err: why none can be asked. Free with size_model_free
 * (NULL is fine). */
struct size_model *size_model_new(const struct packer *packer, struct berth_error *err);
void size_model_free(struct size_model *model);

/* Adds a step, which has held[i] cores on the topology's i-th NUMA node. The steps are numbered
 * from 0, as they were added. 0, or -1 and err: why it cannot be sized; nothing is added then. */
int size_model_add(struct size_model *model, const struct step *step, const unsigned *held,
                   struct berth_error *err);
size_t size_model_steps(const struct size_model *model);

struct size_bounds {
    unsigned least, most;   /* cores in all: least <= most <= all held */
    const unsigned *needed; /* [NUMA nodes of the topology] cores of each in any case */
};

/* Finds the best vectors within bounds[steps] together, looking for so long: step s gets
 * chosen[s * nodes + i] cores of the topology's i-th NUMA node. *proven: that nothing else is
 * better. 0, or -1 and err. */
int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      double patience_s, unsigned *chosen, bool *proven, struct berth_error *err);

/* What a step gets of the memories: GB/s, NAN where nothing can be said; and what limits it. */
struct size_prediction {
    double gbps;
    enum numem_constraint constraint;
};

/* Predicts that of all steps, predicted[steps], with these cores[steps * nodes] together. */
void size_model_predict(const struct size_model *model, const unsigned *cores,
                        struct size_prediction *predicted);

#endif
