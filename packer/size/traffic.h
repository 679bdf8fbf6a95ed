/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic - what one core of a step asks of each node's memory. */
#ifndef BERTH_SIZE_TRAFFIC_H
#define BERTH_SIZE_TRAFFIC_H

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
    bool disturbed;                /* measured while others moved or ran beside it */
    double seconds;                /* of measuring; 0: it was not measured by this berthd */
    struct profile_demand *stored; /* NULL: the store has none */
};

/* Finds the best that is known of the step. *traffic is the caller's to free, also after an error.
 * Returns 0, or -1 and err: nothing can be said of it. */
int traffic_of(const struct packer *packer, const struct step *step, struct size_traffic *traffic,
               struct berth_error *err);
void traffic_free(struct size_traffic *traffic);

/* Makes a copy, without what the store has. Returns 0, or -1 and err. */
int traffic_copy(const struct size_traffic *from, struct size_traffic *to, struct berth_error *err);

/* Measures it: what the step did between two readings of its counters, on cores[i] cores of the
 * topology's i-th NUMA node, is divided by these. *traffic is the caller's to free, also after an
 * error. Returns 0, or -1 and err: the counters do not say it. */
int traffic_measure(const struct packer *packer, const struct step *step,
                    const struct counters_sample *before, const struct counters_sample *after,
                    const unsigned *cores, struct size_traffic *traffic, struct berth_error *err);

#endif
