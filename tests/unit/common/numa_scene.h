/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_scene - the machines of Wang 2015 (Tables 5.1a and 5.1b) and the traffic of its programs, as
 * chapters 3 and 5 describe it: where the document prints no figure, it is the caller's. */
#ifndef BERTH_TESTS_NUMA_SCENE_H
#define BERTH_TESTS_NUMA_SCENE_H

#include "models/numa/nucore.h"

struct numa_scene {
    size_t nodes;
    unsigned cores[8];
    double alpha[8], beta[8], uni[64], bi[64], table[8][9], read[64], write[64];
    const double *demand[8];
    struct numem_machine machine;
    struct nucore_program program;
    struct nucore nucore;
};

/* Makes a machine of so many nodes alike, and a program that asks for nothing; GB/s. */
void numa_scene_init(struct numa_scene *s, size_t nodes, unsigned cores, double alpha, double beta,
                     double uni, double bi);

/* Makes the eight nodes of the Opteron: neighbours in a socket, and 3 and 4, by a wide link; 5 and
 * 6, 7 and 0 over two hops; the others, that the text does not name, over one. */
void numa_opteron(struct numa_scene *s);

/* Put all data on node 0, of which a core reads per_core; let every core ask its own memory for l
 * and every other one for r; let it ask its own for `own`, and node 0 for what is shared; let it
 * write to the next node. GB/s of one core. */
void numa_share(struct numa_scene *s, double per_core);
void numa_all_to_all(struct numa_scene *s, double l, double r);
void numa_partly_shared(struct numa_scene *s, double own, double shared);
void numa_write_ring(struct numa_scene *s, double rate);

#endif
