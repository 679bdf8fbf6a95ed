/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - how many cores a program should have on each node of a NUMA machine: the greatest
 * bandwidth, with the fewest cores (NuCore: Wang 2015, section 5.4, eq. 5.18); and the same for
 * several programs that share the machine. It is found, not proven: lab/model/nucore_proof.h
 * proves.
 *
 * One program: the objective is NUCORE_CORES_PER_GBPS * bandwidth - cores. Several: the sum of
 * weight * speed, speed being the bandwidth that a program gets as a fraction of what all cores
 * would ask for; less NUCORE_SPEED_PER_CORE for each core that is used. */
#ifndef BERTH_MODELS_NUMA_NUCORE_H
#define BERTH_MODELS_NUMA_NUCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/numa/numem.h"

#define NUCORE_CORES_PER_GBPS 1000.0 /* C of eq. 5.17 */
#define NUCORE_SPEED_PER_CORE 1e-6
#define NUCORE_PROGRAMS_MAX 64
#define NUCORE_WEIGHT_MAX 1000.0

struct nucore_program {
    struct numem_program use;
    const unsigned *least; /* cores of each node that it has in any case; NULL: none */
    const unsigned *most;  /* cores of each node that it may have; NULL: all */
    unsigned cores_min;    /* of all nodes together */
    unsigned cores_max;    /* 0: as many as there are */
    /* Looked at where there are several programs: */
    double weight; /* of its speed */
    double floor;  /* GB/s that it gets at least; 0: no bound */
};

struct nucore {
    const struct numem_machine *machine;
    const struct nucore_program *program;
    size_t programs;
    /* No program gets less than this part of the bandwidth that it gets alone on the machine; 0: no
     * bound; looked at where there are several programs. */
    double fairness;
    /* Asked often; true ends the search with the best so far. NULL: never. */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

enum nucore_status {
    NUCORE_OPTIMAL,    /* nothing is better: said by who has proven it, not by nucore_solve */
    NUCORE_FOUND,      /* no small change makes it better */
    NUCORE_LIMIT,      /* stopped: what was found is feasible */
    NUCORE_UNKNOWN,    /* stopped before anything was found */
    NUCORE_INFEASIBLE, /* no allocation was found that satisfies everything; `culprit` tells whom */
    NUCORE_STATUSES
};

/* "optimal", "found", "limit", "unknown", "infeasible" */
const char *nucore_status_name(enum nucore_status status);

struct nucore_result {
    enum nucore_status status;
    double objective;     /* of the allocation */
    size_t culprit;       /* infeasible: the program that cannot have what it must; programs: the
                             machine has too few cores for all of them */
    unsigned *allocation; /* programs * nodes: cores of program p on node i */
    struct numem_usage *usage; /* of each program; their arrays may be NULL */
    double *speed;             /* of each program; NULL: not wanted */
    double *solo; /* of each program: its speed alone on the machine; NULL: not wanted. NAN where it
                     was not computed (one program; fairness 0) */
};

/* Returns how many cores of a node the program may have. */
unsigned nucore_most(const struct nucore *nucore, size_t program, size_t node);

/* Returns 0 where all makes sense; else -1 with errno EINVAL, *fault (field "programs", "weight",
 * "cores_min", "cores_max", "least", "most", "floor", "fairness" or one of numem's), and in
 * *program whose it is. */
int nucore_check(const struct nucore *nucore, struct numem_fault *fault, size_t *program);

/* Returns what a GB/s of a program is worth, in cores. */
double nucore_gain(const struct nucore *nucore, size_t program);

/* Finds an allocation that is the best one, or nearly so: of what changes of some cores lead to
 * from where the linear relaxation is best (berth-models(7), NUCORE, says how near). The caller
 * fills in the result's pointers, and gets the rest.
 *
 * Of allocations whose objectives do not differ by more than NUCORE_TIE, the first one is taken,
 * as far as such changes lead to it:
 * 1. the one with the fewest nodes in use; several programs: nodes in use by each, added up;
 * 2. of those, the one with the least spread of bandwidth per core over the nodes in use: how much
 *    slower the program's slowest core is than its fastest, as a fraction; several programs: added
 *    up. What a core gets is what it gets where each memory that is asked for more than it has
 *    serves everyone by the same fraction (NuMem's optimum leaves open who goes short) and no link
 *    limits it.
 *    Spreads that differ by no more than 1e-9 are the same;
 * 3. of those, the one that has more cores on node 0; of those that agree there, on node 1; and so
 *    on, the first program's nodes before the second's.
 * Equal input gives an equal result where stop says nothing.
 *
 * Returns 0, also where status says that nothing was found; -1 with errno EINVAL (nucore_check says
 * why) or ENOMEM, and nothing changed. */
int nucore_solve(const struct nucore *nucore, struct nucore_result *result);

/* Returns the bandwidth that a program gets at least: its floor, and with fairness a part of its
 * speed alone, of which solo are those of all programs. */
double nucore_floor(const struct nucore *nucore, size_t program, const double *solo);

/* Fills in what an allocation is worth that gives everybody what he must have: objective, usage and
 * speed. The result's solo are read where there is fairness; its status stays. Returns as
 * nucore_solve. */
int nucore_describe(const struct nucore *nucore, const unsigned *allocation,
                    struct nucore_result *result);

#define NUCORE_TIE 1e-8 /* of the objective, relative to 1 + |objective| / 1000 */

#endif
