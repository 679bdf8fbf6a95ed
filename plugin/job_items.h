/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_items - what Slurm knows about the step, as a struct wire_register. The only file that asks
 * spank_get_item about a whole step. */
#ifndef BERTH_JOB_ITEMS_H
#define BERTH_JOB_ITEMS_H

#include <slurm/spank.h>

#include "packer/wire/wire.h"

/* What a registration only points at. */
struct job_texts {
    char job_cores[WIRE_CORES_MAX], step_cores[WIRE_CORES_MAX], bound_cpus[WIRE_CORES_MAX];
    char exe[PATH_MAX], devices[WIRE_DEVICES_MAX];
    uint32_t group[WIRE_GROUPS_MAX];
};

/* Fill in who the step is (job, step, uid, gid) and what it was given (cores, nodes,
 * node, groups); *ntasks is the number of its tasks on this node. reg->task and reg->options are
 * not touched; texts, all zero before, must stay as long as reg. What is only for people stays
 * empty where Slurm does not say it. 0, or -1 and err when Slurm does not say who the step is. */
int job_items_read(spank_t spank, struct wire_register *reg, struct job_texts *texts,
                   size_t *ntasks, struct berth_error *err);

/* Fill in what the step runs (exe, hash, shape), whether it may bind itself (pin), its devices,
 * and what its user's environment may say of it: binding by hand and threads, his own to say.
 * Account, QOS, partition, cluster, restarts and the like are not: whoever needs them asks Slurm
 * (wire_identity.h). Call it in user_init: there the working directory and the rights are the
 * user's. What cannot be found, or, of the program, not within limit_ms, stays "". */
void job_items_read_program(spank_t spank, struct wire_register *reg, struct job_texts *texts,
                            unsigned limit_ms);

/* Fills in what slurmd tells an epilog of the job (its own environment, which no user writes: his
 * words there begin with SPANK_): what slurmctld has put into the job's credential. The source
 * stays none where this is no epilog of slurmd's. */
void job_items_read_epilog(struct wire_identity *said);

#endif
