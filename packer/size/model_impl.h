/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_impl - what the files of size/model.h share. */
#ifndef BERTH_SIZE_MODEL_IMPL_H
#define BERTH_SIZE_MODEL_IMPL_H

#include "packer/size/model.h"
#include "packer/size/traffic.h"

/* A step of the question; the nodes are those of the machine profile. */
struct asker {
    struct size_traffic traffic;
    const struct step *step;
    unsigned *held; /* [nodes] */
    double *idle;   /* [nodes] what a core asks of an idle memory, GB/s; 0: not by the roof */
    double **local; /* [nodes][held + 1] what so many of its cores have where nobody else is */
    double **bent;  /* [nodes][held + 1] what NuCore is told of it (size/demand.h) */
};

struct size_model {
    const struct packer *packer;
    struct numem_machine *whole; /* of the machine profile */
    size_t nodes;                /* of it */
    size_t *topology;            /* [nodes] the same node in the topology */
    double *load;                /* [nodes] GB/s that others ask of the memory */
    size_t steps, room;
    struct asker *asker; /* [steps] */
};

/* Node i of the machine profile is this element of an array of the topology's nodes a step. */
static inline size_t model_cell(const struct size_model *model, size_t step, size_t node)
{
    return step * model->packer->world.topo->nodes + model->topology[node];
}

/* Fills in has[held + 1], GB/s, what so many cores of the step have of its own node's memory, of
 * which others ask others_gbps: where `give_way`, while they use as many of theirs as it does. */
void model_has(const struct size_model *model, size_t step, size_t node, double others_gbps,
               bool give_way, double *has);

/* Returns what so many cores[nodes of the machine profile] of the step ask of a node's memory. */
double model_asks(const struct size_model *model, size_t step, const unsigned *cores, size_t node);

/* Returns what who asks for so much of a node's memory gets beside the load. */
double model_beside_load(const struct size_model *model, size_t node, double gbps);

#endif
