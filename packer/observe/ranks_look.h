/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks_look - which of some processes are the ranks of an MPI program, from what /proc says.
 *
 * A rank is the child of a launcher (mpirun; orted, prted, hydra_pmi_proxy and pmi_proxy, which
 * mpirun has start the ranks of a node), and is no launcher itself, nor what takes a launcher to
 * another node. The environment, which tells a rank's number, is not read: a process can hold up
 * whoever reads it. So ranks are numbered on this node, in the order of their starts, which is that
 * of their numbers.
 *
 * Where a rank may run is its main thread's affinity: launchers bind between fork and exec, and
 * before exec a rank has its launcher's executable and is none yet.
 *
 * May read files that hang (executables): for a thread that nobody waits for. */
#ifndef BERTH_OBSERVE_RANKS_LOOK_H
#define BERTH_OBSERVE_RANKS_LOOK_H

#include <stddef.h>
#include <sys/types.h>

#include "packer/steps/registry.h"
#include "packer/system/rootfs.h"
#include "packer/wire/wire_calls.h"

#define RANKS_CLOSED "closed" /* calls.by, where an executable cannot be opened */

struct ranks_found {
    char launcher[STEP_LAUNCHER_MAX]; /* the first rank's; "": there is no rank */
    struct wire_calls calls;          /* of the ranks' executables: the first that may bind */
    double others_ns; /* CPU time of those that are no ranks, of none, and no launchers */
    double at_s;      /* CLOCK_MONOTONIC */
    size_t n;
    struct step_rank rank[];
};

/* Looks at n processes of a step; sorts their list. The caller frees what was found; NULL: no
 * memory. */
struct ranks_found *ranks_look(const struct rootfs *root, pid_t *pid, size_t n);

#endif
