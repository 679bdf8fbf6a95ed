/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_model - NuCore's question about the steps of a node that are sized, all at once: their cores
 * on each NUMA node, what they ask of the memories (size/demand.h, size/traffic.h), what others ask
 * of these, and what the memories can do (machine profile). Wang 2015, section 5.4; models/numa. */
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

/* Takes it that others ask so many GB/s, gbps[i], of the memory of the topology's i-th NUMA node,
 * and do not give way: where a memory is asked for more than it has, each gets in proportion. */
void size_model_load(struct size_model *model, const double *gbps);

struct size_bounds {
    unsigned least, most;   /* cores in all: least <= most <= all held */
    const unsigned *needed; /* [NUMA nodes of the topology] cores of each in any case */
    double floor_gbps;      /* bandwidth in any case, where there are several steps; 0: none */
};

struct size_answer {
    double speed;   /* the sum of all steps' speeds: of the bandwidth that each would ask for */
    unsigned cores; /* of all steps together */
    bool proven;    /* nothing better was found in time enough */
};

/* Finds the best vectors within bounds[steps] together, looking for so long: step s gets
 * chosen[s * nodes + i] cores of the topology's i-th NUMA node. 0, or -1 and err. */
int size_model_choose(const struct size_model *model, const struct size_bounds *bounds,
                      double patience_s, unsigned *chosen, struct size_answer *answer,
                      struct berth_error *err);

/* What a step gets of the memories: GB/s, NAN where nothing can be said; what limits it, and
 * between which NUMA nodes of the topology (the same twice: that memory); and where the matrix is
 * from. */
struct size_prediction {
    double gbps;
    enum numem_constraint constraint;
    size_t where[2];
    const struct size_traffic *traffic; /* the model's */
};

/* Predicts that of all steps, predicted[steps], with these cores[steps * nodes] together, if none
 * of them gave way: a memory that is asked for more than it has gives to each in proportion to what
 * he asks. */
void size_model_predict(const struct size_model *model, const unsigned *cores,
                        struct size_prediction *predicted);

/* Returns by which fraction speeds must differ to be told apart: the spread of the runs that the
 * machine profile is the median of. */
double size_model_doubt(const struct size_model *model);

#endif
