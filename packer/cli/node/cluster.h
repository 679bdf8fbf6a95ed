/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - `berthctl status --cluster`: how berth fares on all nodes, a row a node, first those on
 * which it does nothing. What each berthd tells is in the ledger that the nodes share; which nodes
 * there are, Slurm says. */
#ifndef BERTH_CLI_NODE_CLUSTER_H
#define BERTH_CLI_NODE_CLUSTER_H

#include <stdbool.h>

/* Prints the table, or JSON. `config` is berth.conf; NULL: the usual one; `ledger` is
 * another one than it names; NULL: that one. Returns the exit status:
 * 1 where a node that Slurm has up is silent or places no step, or nothing is known. */
int cluster_status(const char *config, const char *ledger, bool json);

#endif
