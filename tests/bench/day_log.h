/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_log - the jobs of a log of a real cluster, line by line.
 *
 * The log is in the Standard Workload Format (Feitelson), packed by gzip or not. Where its lines
 * have the node of each core behind the format's fields ("{17,17,18}", as MetaCentrum's have), a
 * job is taken apart: a piece is what it has on one node. Without them a job is one piece of the
 * cores that it was allocated. Jobs that never ran are left out. */
#ifndef BERTH_BENCH_DAY_LOG_H
#define BERTH_BENCH_DAY_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"

struct day_log_job {
    double submitted_s, ran_s; /* as the log counts; ran_s > 0 */
    double asked_s;            /* its time limit; <= 0: not known */
    long user, program;        /* numbers of the log; -1: not known */
    bool by_node;              /* the log says which node each core was of */
    bool exclusive;            /* it asked for whole nodes ("#excl", MetaCentrum) */
    size_t pieces;
    const size_t *cores; /* [pieces] */
};

/* Calls `each` for each job, in the order of the log; it returns 0, or -1: no memory. 0, or -1 and
 * err: the log cannot be read, or has no job. */
int day_log_read(const char *path, int (*each)(void *arg, const struct day_log_job *job), void *arg,
                 struct berth_error *err);

#endif
