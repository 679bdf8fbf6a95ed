/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_identity - who a job is: what Slurm itself says of it, and who of Slurm has said so.
 *
 * A step's environment is its user's, and is never asked: SLURM_JOB_ACCOUNT and its kin can be set
 * to anything before srun. Root's sources are slurmctld and slurmdbd, which berth-job asks, and
 * slurmd, which tells an epilog what stands in the credential that slurmctld has signed. */
#ifndef BERTH_WIRE_WIRE_IDENTITY_H
#define BERTH_WIRE_WIRE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/json_fields.h"

/* Who has said so, the weakest first: slurmd knows no QOS before Slurm 26.05, and no name. */
enum wire_source {
    WIRE_SOURCE_NONE,
    WIRE_SOURCE_SLURMD,
    WIRE_SOURCE_SLURMDBD,
    WIRE_SOURCE_SLURMCTLD,
    WIRE_SOURCES
};
extern const char *const wire_source_name[WIRE_SOURCES]; /* "none", "slurmd", .. */

struct wire_identity {
    enum wire_source source; /* none: nothing else here is known */
    uint32_t job, uid;
    int64_t start;                  /* Unix time at which this run of the job began; 0 not known */
    uint32_t restart;               /* times the job was requeued before */
    uint32_t nodes;                 /* of the job; 0 not known */
    uint32_t array_job, array_task; /* 0 and 0 when not of an array, or not known */
    char cluster[64], account[64], qos[64], partition[64]; /* "" not known */
    char job_name[128];                                    /* its user's own word */
};

/* The fields of an identity as JSON. All but job and uid may be absent. */
extern const struct json_field wire_identity_fields[];

/* Says whether a text may be the name of a cluster, an account, a QOS or a list of partitions:
 * letters, digits, '_', '.', ',', '+' and '-', at least one. */
bool wire_name_valid(const char *name);

/* Makes names that are none unknown. */
void wire_identity_clean(struct wire_identity *identity);

#endif
