/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_work - the jobs of a simulated cluster: arrivals, lengths, limits, users and sizes of a
 * real log, programs by lot.
 *
 * The log is played as it is, but for its speed: one factor on all arrivals makes the load what is
 * asked for. A cluster that is larger than the log's gets as many copies of the log as come nearest
 * to that, each shifted by lot, round and round; users are the same in all of them, so that who
 * dominates the log does so here. What a job has on one node of the log is a piece (day_log.h). A
 * piece that is wider than a node, and what asked for whole nodes, is taken apart into whole nodes
 * and a rest. The pieces of a job come to different nodes. */
#ifndef BERTH_BENCH_CLUSTER_WORK_H
#define BERTH_BENCH_CLUSTER_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

/* A job of the log. */
struct cluster_logged {
    double submitted_s, ran_s, asked_s;
    long user;
    size_t first, pieces; /* cores of each, in cluster_log.cores */
    bool by_node, exclusive;
};

struct cluster_log {
    size_t n, cores_n;
    struct cluster_logged *job; /* [n] */
    size_t *cores;              /* [cores_n] */
    double length_s;            /* from the first submission to the last */
    size_t users;
};

/* 0, or -1 and err. Free with cluster_log_free. */
int cluster_log_read(struct cluster_log *log, const char *path, struct berth_error *err);
void cluster_log_free(struct cluster_log *log);

struct cluster_plan {
    size_t nodes, cores; /* of a node */
    double load;         /* of all cores, by what jobs take alone */
    double days;         /* of arrivals; 0: as long as the log is */
    uint64_t seed;
    bool by_job;        /* each job draws its program; else each user draws one for all of his */
    size_t apps, kinds; /* programs, and in how many ways each may be counted (cluster_guess.h) */
};

#define CLUSTER_NOBODY SIZE_MAX

struct cluster_piece {
    size_t job;
    size_t cores, tasks, width; /* cores = tasks * width */
    size_t node;                /* CLUSTER_NOBODY: not yet */
    double slowdown;            /* beside its neighbours, by what it suffers alone on a node */
};

struct cluster_job {
    double arrives_s, run_s, asked_s; /* run_s: with its nodes to itself */
    size_t user, app, kind;           /* kind: app * kinds + its way of being counted */
    size_t first, pieces;             /* the widest first */
    size_t cores;
    bool counted; /* it arrives when the cluster is full, and not at the end */
    /* What a run makes of it. */
    double starts_s, ends_s, left_s, at_s; /* left_s: of run_s, at the time at_s */
    double slowdown, due_s;                /* the worst piece's; when it ends if nothing changes */
    size_t heap;                           /* place among those that run */
    size_t moves;
    bool disturbed; /* its slowdown was not 0 at all times */
};

struct cluster_work {
    size_t n, pieces, users, copies, left_out; /* left_out: jobs that are wider than the cluster */
    struct cluster_job *job;                   /* [n] in the order of arrival */
    struct cluster_piece *piece;               /* [pieces] */
    double from_s, to_s;                       /* arrivals that are counted */
    double user_most, shared; /* parts of the counted core-seconds: the greatest user's; of pieces
                                 that are no whole nodes */
};

/* Draws the jobs. 0, or -1 and err. Free with cluster_work_free. */
int cluster_work_draw(struct cluster_work *work, const struct cluster_log *log,
                      const struct cluster_plan *plan, struct berth_error *err);
void cluster_work_free(struct cluster_work *work);

/* Takes everything back to the beginning. */
void cluster_work_rewind(struct cluster_work *work);

#endif
