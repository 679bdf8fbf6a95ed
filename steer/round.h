/* SPDX-License-Identifier: GPL-2.0-or-later */
/* round - which weights the nodes shall have: arithmetic, without slurmctld and files. */
#ifndef BERTH_STEER_ROUND_H
#define BERTH_STEER_ROUND_H

#include "packer/base/error.h"
#include "steer/node.h"

#define STEER_NEWS_S 600 /* older news of a node is none; berthd writes each 300 s at least */

/* Sets how many levels there are: fine ones where they leave the order of all the admin's weights
 * as it is, also of nodes that are not chosen, else coarse ones. Returns 0, or -1 and err: not even
 * these do. */
int round_levels(struct steer_nodes *nodes, struct berth_error *err);

/* Sets the wanted weight of each node, with the levels that there are. now: Unix seconds. Who is
 * not chosen, is not up, or has jobs and no news wants its admin's; all do where no node has news.
 * Returns how many have news. */
size_t round_want(struct steer_nodes *nodes, int64_t now);

/* Has all nodes that were steered want their admin's weights. */
void round_undo(struct steer_nodes *nodes);

#endif
