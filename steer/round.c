/* SPDX-License-Identifier: GPL-2.0-or-later */
/* round - see steer/round.h */
#include "steer/round.h"

#include <math.h>
#include <stdlib.h>

#include "models/placing/steer.h"

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

int round_levels(struct steer_nodes *nodes, struct berth_error *err)
{
    uint32_t *own = calloc(nodes->n + 1, sizeof(*own)), a, b;
    bool has_room;

    if (!own)
        return berth_no_memory(err);
    for (size_t i = 0; i < nodes->n; i++)
        own[i] = nodes->node[i].own;
    qsort(own, nodes->n, sizeof(*own), by_number);
    nodes->levels = steer_has_room(own, nodes->n, STEER_FINE, &a, &b) ? STEER_FINE : STEER_COARSE;
    has_room = steer_has_room(own, nodes->n, nodes->levels, &a, &b);
    free(own);
    if (has_room)
        return 0;
    return berth_error_set(err,
                           "slurm.conf: the weights %u and %u of nodes are too near: weights that "
                           "differ must differ by %d or more",
                           a, b, STEER_COARSE + 1);
}

static bool has_news(const struct steer_node *node, int64_t now)
{
    return node->chosen && node->up && node->at + STEER_NEWS_S >= now && !isnan(node->pressure);
}

static int level_of(const struct steer_node *node, int levels, int64_t now)
{
    if (!node->chosen || !node->up)
        return STEER_UNKNOWN;
    if (!node->in_use)
        return levels;
    if (!has_news(node, now))
        return STEER_UNKNOWN;
    return steer_level(node->pressure, steer_level_of(node->own, node->weight, levels), levels);
}

size_t round_want(struct steer_nodes *nodes, int64_t now)
{
    size_t news = 0;

    for (size_t i = 0; i < nodes->n; i++) {
        struct steer_node *node = &nodes->node[i];

        news += has_news(node, now);
        node->wanted = steer_weight(node->own, level_of(node, nodes->levels, now));
    }
    if (news == 0)
        round_undo(nodes);
    return news;
}

void round_undo(struct steer_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        nodes->node[i].wanted = nodes->node[i].own;
}
