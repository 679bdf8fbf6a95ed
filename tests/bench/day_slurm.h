/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_slurm - which cores of a node Slurm gives: select/cons_tres with CR_Core and the default
 * distribution, block:cyclic. tests/cluster/t18-cores.sh compares it with a slurmctld.
 *
 * - Tasks of one core come to the sockets in turn, each to the lowest free core of its socket.
 * - Tasks of several cores fill the sockets: each comes to the lowest cores of the first socket
 * that has as many free.
 * - Where none has, the cores of the tasks that are left come to the sockets in turn, as if each
 * were a task. (So Slurm 22.05; 24.11 and 26.05 give wide tasks other cores where not every
 * socket has room for one.)
 *
 * How the cores are divided among the tasks then is task/affinity's doing, and follows the manual
 * (srun(1), --distribution): in turn over the sockets, a task on one socket where it fits. */
#ifndef BERTH_BENCH_DAY_SLURM_H
#define BERTH_BENCH_DAY_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/machine/topo.h"

/* What Slurm takes for a socket. */
enum day_socket {
    DAY_SOCKET_PACKAGE,
    DAY_SOCKET_L3, /* SlurmdParameters=l3cache_as_socket */
    DAY_SOCKETS
};

/* Gives tasks * width cores of those that are free[topo->cores], task by task: the first `width` of
 * core[tasks * width] are the first task's. Returns 0, or -1: there are not as many. */
int day_slurm_give(const struct topo *topo, enum day_socket socket, const bool *is_free,
                   size_t tasks, size_t width, size_t *core);

#endif
