/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic - what one core of a step asks of each node's memory. */
#ifndef BERTH_SIZE_TRAFFIC_H
#define BERTH_SIZE_TRAFFIC_H

#include "packer/counters/counters.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/packer.h"

/* Where the matrix of traffic between nodes is from, the least first. */
enum size_matrix {
    SIZE_MATRIX_NOTHING, /* it is not known: all is taken to be local */
    SIZE_MATRIX_STORE,   /* `berthctl profile demand` */
    SIZE_MATRIX_PAGES,   /* remote traffic, divided by where the pages lie */
    SIZE_MATRIX_COUNTED, /* counters of the nodes */
    SIZE_MATRICES
};
extern const char *const size_matrix_name[SIZE_MATRICES]; /* NULL, "store", "pages", "counted" */

/* Bandwidths in GB/s (1e9 bytes/s); the nodes are those of the machine profile, in its order. */
struct size_traffic {
    size_t nodes;
    double *read_solo;  /* [from * nodes + to] what one core of `to` reads from `from` */
    double *write_solo; /* [from * nodes + to] what one core of `from` writes to `to` */
    double core_gbps;   /* what one core alone reads from its own memory; NAN not known */
    enum size_matrix source;
    /* Of what was measured, now or, as the store says, in an earlier run: */
    bool measured; /* the matrices were: their diagonals are what a core asks of its own memory */
    struct cpus known;             /* the nodes whose cores were measured */
    bool disturbed;                /* others ran beside it */
    double error;                  /* relative standard error of its counters; 0 exact */
    double seconds;                /* of measuring */
    struct profile_dram dram;      /* as its requests were counted; profile_dram_known says if */
    struct profile_demand *stored; /* NULL: the store has none */
};

/* Finds the best that is known of the step. *traffic is the caller's to free, also after an error.
 * Returns 0, or -1 and err: nothing can be said of it. */
int traffic_of(const struct packer *packer, const struct step *step, struct size_traffic *traffic,
               struct berth_error *err);
void traffic_free(struct size_traffic *traffic);

/* Makes one of so many nodes that asks for nothing. Returns 0, or -1 and err: nothing is to be
 * freed. */
int traffic_new(size_t nodes, struct size_traffic *traffic, struct berth_error *err);

/* Makes a copy, without what the store has. Returns 0, or -1 and err: nothing is to be freed. */
int traffic_copy(const struct size_traffic *from, struct size_traffic *to, struct berth_error *err);

/* Returns what one core of the node asks of the node's own memory, GB/s; NAN not known. */
double traffic_local(const struct size_traffic *traffic, size_t node);

/* Measures it: what the step did between two readings of its counters, in which it stood on
 * cores[i] cores of the topology's i-th NUMA node, is divided by these. Between nodes it goes as
 * it was counted, of three nodes or more that no counter tells apart by where the step's pages lie
 * (Wang 2015, section 5.2.1; the paper's counters tell each pair). Where nothing tells own memory
 * from others', there is core_gbps alone. disturbed: others were seen to work meanwhile, so that
 * what the memories count of all is not the step's. *traffic is the caller's to free, also after an
 * error. Returns 0, or -1 and err: the counters do not say it. */
int traffic_measure(const struct packer *packer, const struct step *step,
                    const struct counters_sample *before, const struct counters_sample *after,
                    const unsigned *cores, bool disturbed, struct size_traffic *traffic,
                    struct berth_error *err);

/* Has the profile store keep what was measured, and how fast the step was then (size_judge_speed),
 * for the next launch of the program by its user. Not more than once a run: a run is sized at its
 * launch by how it begins. */
void traffic_learn(const struct packer *packer, const struct step *step,
                   const struct size_traffic *traffic, const struct profile_speed *speed);

#endif
