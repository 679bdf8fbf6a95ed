/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_node - the nodes of a simulated cluster: which cores Slurm gives (day_slurm.h), on which
 * caches jobs stand, and what they suffer there (day_beside.h).
 *
 * Inside a node nobody moves anybody, or jobs change places and go to idle cores at each start and
 * end as long as that pays (day_exchange.h): by what contend makes of noisy counters, which stands
 * in for berth, or by the truth, which is the most that could be had. A piece suffers what it takes
 * longer than alone on an empty node, on the cores that Slurm gives it there: the log's time has
 * that in it. So who has a node to himself suffers nothing, exactly. */
#ifndef BERTH_BENCH_CLUSTER_NODE_H
#define BERTH_BENCH_CLUSTER_NODE_H

#include "packer/machine/topo.h"
#include "tests/bench/cluster_work.h"
#include "tests/bench/day_exchange.h"
#include "tests/bench/day_noise.h"
#include "tests/bench/day_slurm.h"

#define CLUSTER_LLCS_MAX 32
#define CLUSTER_CORES_MAX 256

enum cluster_inside { CLUSTER_NOTHING, CLUSTER_BERTH, CLUSTER_BEST, CLUSTER_INSIDES };

struct cluster_stand {
    size_t piece;
    uint16_t on[CLUSTER_LLCS_MAX];
    uint64_t given[CLUSTER_CORES_MAX / 64];
};

struct cluster_node {
    size_t free, n;
    struct cluster_stand *stand; /* [n] room for a piece a core */
    double weight;               /* bytes a second, 1e9, as last measured */
    int level;                   /* of that, as Slurm was told */
    bool quiet, busy;            /* its features, as Slurm was told */
};

struct cluster_machine {
    const struct topo *topo;
    const struct day_beside *truth, *guess; /* of programs; of kinds */
    struct cluster_work *work;
    enum cluster_inside inside;
    enum day_socket socket;
    bool idle; /* cores that Slurm has given nobody are places, too */
    size_t n;
    struct cluster_node *node; /* [n] */
    struct cluster_stand *stands;
    double
        *alone; /* [apps][2: threads, ranks][cores] what is in the log's time; NAN: not asked yet */
    struct day_exchange scratch;
    struct day_exchange_job *scratch_job;
    double moves;
};

/* 0, or -1 and err: no memory, or the node is too large. Free with cluster_machine_close. */
int cluster_machine_open(struct cluster_machine *machine, size_t nodes, struct berth_error *err);
void cluster_machine_close(struct cluster_machine *machine);

/* A piece starts on a node that has room for it, or ends there. Its and its neighbours' slowdowns
 * are as they should be afterwards. */
void cluster_node_start(struct cluster_machine *machine, size_t node, size_t piece);
void cluster_node_end(struct cluster_machine *machine, size_t node, size_t piece);

/* Returns how much more work the node's pieces would lose, in cores, if this one started there, as
 * the truth or the guess has it. */
double cluster_node_cost(struct cluster_machine *machine, size_t node, size_t piece, bool by_truth);

/* Measures the node's traffic now: its weight. */
void cluster_node_weigh(struct cluster_machine *machine, size_t node, const struct day_noise *noise,
                        uint64_t seed, double now_s);

#endif
