/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller - what slurmctld says of its nodes, and what it is told: the only file with libslurm.
 *
 * libslurm ends the process when it dislikes slurm.conf, and waits long for a slurmctld that is
 * away. */
#ifndef BERTH_STEER_CONTROLLER_H
#define BERTH_STEER_CONTROLLER_H

#include "packer/base/error.h"
#include "steer/node.h"

void controller_open(void);
void controller_close(void);

/* Asks for all nodes: one RPC. chosen: a list of hosts as slurm.conf has it; NULL: all. Returns 0;
 * free with steer_nodes_free; or -1 and err. */
int controller_load(struct steer_nodes *nodes, const char *chosen, struct berth_error *err);

/* Tells the wanted weights of all nodes whose weight is another: one RPC a weight. *rpcs: how many
 * there were, *changed: of how many nodes. What could be told is in `weight`. Returns 0, or -1 and
 * err: some could not. */
int controller_tell(struct steer_nodes *nodes, size_t *rpcs, size_t *changed,
                    struct berth_error *err);

#endif
