/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_cores - whether Slurm lets jobs share a core, each on a hardware thread of it.
 *
 * slurm.conf(5): with SelectTypeParameters = CR_CPU each CPU is given to a job by itself. Where a
 * node's line tells ThreadsPerCore, no core is given to more than one job; where it does not, and
 * CPUs counts hardware threads, jobs share cores. All other parameters give whole cores. */
#ifndef BERTH_SLURM_CORES_H
#define BERTH_SLURM_CORES_H

#include <stddef.h>

#include "packer/conf/conf.h"

enum slurm_cores { SLURM_CORES_WHOLE, SLURM_CORES_SHARED, SLURM_CORES_UNKNOWN };

/* Returns what slurm.conf says of a node with so many hardware threads: shared where some node's
 * line has that many CPUs, and none tells ThreadsPerCore = 2 or more. (Which line is this node's
 * only Slurm knows.) Unknown where it cannot be read; err says why. */
enum slurm_cores slurm_cores_read(const char *path, size_t threads, struct berth_error *err);

/* Tells whether berth takes each hardware thread for a place, as berth.conf (places) and slurm.conf
 * have it. Logs why not where that was asked for. */
bool slurm_cores_are_split(const struct conf *conf, size_t threads);

#endif
