/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - see steer/node.h */
#include "steer/node.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct steer_node *)a)->name, ((const struct steer_node *)b)->name);
}

void steer_nodes_sort(struct steer_nodes *nodes)
{
    qsort(nodes->node, nodes->n, sizeof(*nodes->node), by_name);
}

struct steer_node *steer_node_find(const struct steer_nodes *nodes, const char *name)
{
    size_t from = 0, to = nodes->n;

    while (from < to) {
        size_t middle = (from + to) / 2;
        int order = strcmp(name, nodes->node[middle].name);

        if (order == 0)
            return &nodes->node[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

void steer_nodes_free(struct steer_nodes *nodes)
{
    free(nodes->node);
    *nodes = (struct steer_nodes){0};
}
