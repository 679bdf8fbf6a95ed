/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller - see steer/controller.h */
#include "steer/controller.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

void controller_open(void)
{
    slurm_init(NULL);
}

void controller_close(void)
{
    slurm_fini();
}

/* ---- what it says ---- */

/* Jobs can start there: what is drained, fails, does not answer or is switched off has no news. */
static bool is_up(uint32_t state)
{
    uint32_t base = state & NODE_STATE_BASE;

    return (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED) &&
           !(state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND));
}

static void take_node(struct steer_node *node, const node_info_t *info, hostlist_t chosen)
{
    snprintf(node->name, sizeof(node->name), "%s", info->name);
    node->chosen = !chosen || slurm_hostlist_find(chosen, info->name) >= 0;
    node->up = is_up(info->node_state);
    node->in_use = (info->node_state & NODE_STATE_BASE) != NODE_STATE_IDLE ||
                   (info->node_state & NODE_STATE_COMPLETING);
    node->weight = node->own = node->wanted = info->weight;
    node->pressure = NAN;
}

static int take_nodes(struct steer_nodes *nodes, const node_info_msg_t *said, const char *chosen,
                      struct berth_error *err)
{
    hostlist_t list = chosen ? slurm_hostlist_create(chosen) : NULL;

    if (chosen && !list)
        return berth_error_set(err, "--nodes: '%.100s' is no list of hosts", chosen);
    nodes->node = calloc(said->record_count + 1, sizeof(*nodes->node));
    for (uint32_t i = 0; nodes->node && i < said->record_count; i++)
        if (said->node_array[i].name) /* else it is not for us to see */
            take_node(&nodes->node[nodes->n++], &said->node_array[i], list);
    if (list)
        slurm_hostlist_destroy(list);
    if (!nodes->node)
        return berth_no_memory(err);
    steer_nodes_sort(nodes);
    return 0;
}

int controller_load(struct steer_nodes *nodes, const char *chosen, struct berth_error *err)
{
    node_info_msg_t *said = NULL;
    int rc;

    *nodes = (struct steer_nodes){0};
    if (slurm_load_node(0, &said, SHOW_ALL) != SLURM_SUCCESS)
        return berth_error_set(err, "slurmctld: %s", slurm_strerror(errno));
    rc = take_nodes(nodes, said, chosen, err);
    slurm_free_node_info_msg(said);
    return rc;
}

/* ---- what it is told ---- */

/* One RPC for all nodes that want the weight of the first of them. */
static int tell_weight(struct steer_nodes *nodes, size_t first, size_t *changed,
                       struct berth_error *err)
{
    uint32_t weight = nodes->node[first].wanted;
    hostlist_t list = slurm_hostlist_create(NULL);
    update_node_msg_t message;
    int rc;

    for (size_t i = first; list && i < nodes->n; i++)
        if (nodes->node[i].wanted == weight && nodes->node[i].weight != weight)
            slurm_hostlist_push_host(list, nodes->node[i].name);
    slurm_init_update_node_msg(&message);
    message.weight = weight;
    message.node_names = list ? slurm_hostlist_ranged_string_malloc(list) : NULL;
    if (list)
        slurm_hostlist_destroy(list);
    if (!message.node_names)
        return berth_no_memory(err);
    rc = slurm_update_node(&message);
    if (rc != SLURM_SUCCESS)
        rc = berth_error_set(err, "%.100s: %s", message.node_names, slurm_strerror(errno));
    free(message.node_names);
    for (size_t i = first; rc == 0 && i < nodes->n; i++)
        if (nodes->node[i].wanted == weight && nodes->node[i].weight != weight) {
            nodes->node[i].weight = weight;
            ++*changed;
        }
    return rc;
}

static bool was_tried(const struct steer_nodes *nodes, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (nodes->node[i].wanted == nodes->node[at].wanted &&
            nodes->node[i].weight != nodes->node[i].wanted)
            return true;
    return false;
}

int controller_tell(struct steer_nodes *nodes, size_t *rpcs, size_t *changed,
                    struct berth_error *err)
{
    int rc = 0;

    *rpcs = *changed = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        if (nodes->node[i].weight == nodes->node[i].wanted || (rc < 0 && was_tried(nodes, i)))
            continue;
        ++*rpcs;
        if (tell_weight(nodes, i, changed, err) < 0)
            rc = -1;
    }
    return rc;
}
