/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - what berth-steer knows of the nodes of the cluster, by their names. */
#ifndef BERTH_STEER_NODE_H
#define BERTH_STEER_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEER_NAME 64

struct steer_node {
    char name[STEER_NAME];
    bool chosen;     /* it is one of those that are to be steered */
    bool up, in_use; /* jobs can start there; jobs run there */
    uint32_t weight; /* as Slurm has it now */
    uint32_t own;    /* its admin's */
    uint32_t wanted; /* as Slurm shall have it */
    double pressure; /* NAN: there is no news */
    int64_t at;      /* when berthd measured that, Unix seconds; 0: never */
};

struct steer_nodes {
    size_t n;
    struct steer_node *node; /* [n] in the order of strcmp */
    int levels;              /* that their admin's weights leave room for; 0: not known yet */
};

/* Brings nodes into their order. */
void steer_nodes_sort(struct steer_nodes *nodes);

/* Returns the node of that name, or NULL. */
struct steer_node *steer_node_find(const struct steer_nodes *nodes, const char *name);

void steer_nodes_free(struct steer_nodes *nodes);

#endif
