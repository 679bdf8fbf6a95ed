/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numem - the memory bandwidth of a program that has a given number of cores on each node of a NUMA
 * machine (NuMem: Wang 2015, section 5.3, eq. 5.11).
 *
 * Bandwidths are in GB/s (1e9 bytes/s). A matrix is an array of nodes * nodes, row by row: element
 * from * nodes + to is about data from node `from` to node `to`. Its diagonal is not looked at:
 * what stays on a node is in local_demand.
 *
 * Readings: eq. 5.9 puts traffic that only passes a node into I_ji, which eq. 5.7, 5.8 and 5.10
 * then would add up at memories that it does not come from, and several times in the objective.
 * Here each flow counts once in the objective and at its memory, and on every hop of its way for
 * the links. Writes from j to i grow with the cores of j, as eq. 5.2 says; eq. 5.18 prints n_j, all
 * of them.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_NUMEM_H
#define BERTH_MODELS_NUMA_NUMEM_H

#include <stdbool.h>
#include <stddef.h>

#define NUMEM_NODES_MAX 256
#define NUMEM_CORES_MAX 4096 /* of a node */
#define NUMEM_GBPS_MAX 1e12
#define NUMEM_HOPS_MAX (NUMEM_NODES_MAX - 1)

/* How data gets from one node to another: over links hop[0][0] to hop[0][1], hop[1][0] = hop[0][1]
 * to hop[1][1], ... Without hops the pair has a link of its own; so it has with one. */
struct numem_route {
    size_t hops;
    const size_t (*hop)[2];
};

struct numem_machine {
    size_t nodes;
    const unsigned *cores; /* of each node */
    const double *alpha;   /* of each node: all that its memory can deliver (eq. 5.8) */
    const double *beta;    /* of each node: the share of its local demand that its own cores are
                              left with whatever others ask of it, 0 .. 1 (eq. 5.7) */
    const double *uni_max; /* matrix: one way, from node to node (eq. 5.5); 0: no connection */
    const double *bi_max;  /* matrix: both ways together (eq. 5.6); the lower one of a pair holds */
    const struct numem_route *route; /* matrix; NULL: each pair has a link of its own */
};

struct numem_program {
    const double *const *local_demand; /* of each node i: a table of cores[i] + 1, the bandwidth
                                          that so many cores ask of their own memory (DraMon) */
    const double *read_solo;  /* matrix: what one core of node `to` reads from node `from` */
    const double *write_solo; /* matrix: what one core of node `from` writes to node `to` */
};

/* What keeps a node from more bandwidth, as the paper's Tables 5.3 and 5.5 call it. */
enum numem_constraint {
    NUMEM_NONE,            /* nothing: all that its cores ask for arrives */
    NUMEM_LOCAL_BANDWIDTH, /* its memory, asked by its own cores ("Local BW") */
    NUMEM_MAX_OUT,         /* a memory that all share, and nothing else ("Max Out") */
    NUMEM_LINK,            /* a link, one way or both ways ("Inter-Comm") */
    NUMEM_CONTENTION,      /* a memory that its own cores and others want ("Local/Remote Cont.") */
    NUMEM_CONSTRAINTS
};

/* "none", "local bandwidth", "max out", "link", "local/remote contention" */
extern const char *const numem_constraint_name[NUMEM_CONSTRAINTS];

/* An input that makes no sense: field is the JSON name of what is wrong, index[0..indices-1] where
 * in it, value what stands there (NAN where it is no number), why what is wrong with it. All texts
 * are constants. */
struct numem_fault {
    const char *field;
    size_t index[4];
    size_t indices;
    double value;
    const char *why;
};

/* Returns 0; -1 with errno EINVAL and *fault (NULL: not asked) where the machine makes no sense. */
int numem_check_machine(const struct numem_machine *machine, struct numem_fault *fault);
/* Does the same for a program on a machine that makes sense. */
int numem_check_program(const struct numem_machine *machine, const struct numem_program *program,
                        struct numem_fault *fault);

/* Says what is wrong: *fault (NULL: not asked) and errno EINVAL. Returns -1. */
int numem_fault_set(struct numem_fault *fault, struct numem_fault what);

/* What a program gets. The caller's arrays; each may be NULL where it is not wanted. */
struct numem_usage {
    double bandwidth;                  /* the sum of all local and inter */
    double *local;                     /* of each node */
    double *inter;                     /* matrix; the diagonal is 0 */
    enum numem_constraint *constraint; /* of each node */
    size_t (*where)[2]; /* of each node, where there is a constraint: the memory that it is, twice;
                           a link: the two nodes, from and to, whose traffic it stops */
};

/* Finds the greatest bandwidth of the program with allocation[i] <= cores[i] cores on node i, and
 * where it flows. Where several flows give as much, a node's own cores come first. Returns 0, or -1
 * with *fault and errno EINVAL (an input makes no sense; the cores of a node ask for so much, beta
 * * local_demand > alpha, that no bandwidth satisfies eq. 5.7: field "allocation") or ENOMEM (field
 * NULL). */
int numem_solve(const struct numem_machine *machine, const struct numem_program *program,
                const unsigned *allocation, struct numem_usage *usage, struct numem_fault *fault);

#endif
