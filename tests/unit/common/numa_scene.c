/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_scene - see numa_scene.h */
#include "tests/unit/common/numa_scene.h"

#include <string.h>

void numa_scene_init(struct numa_scene *s, size_t nodes, unsigned cores, double alpha, double beta,
                     double uni, double bi)
{
    memset(s, 0, sizeof(*s));
    s->nodes = nodes;
    for (size_t i = 0; i < nodes; i++) {
        s->cores[i] = cores;
        s->alpha[i] = alpha;
        s->beta[i] = beta;
        s->demand[i] = s->table[i];
    }
    for (size_t k = 0; k < nodes * nodes; k++) {
        s->uni[k] = uni;
        s->bi[k] = bi;
    }
    s->machine = (struct numem_machine){.nodes = nodes,
                                        .cores = s->cores,
                                        .alpha = s->alpha,
                                        .beta = s->beta,
                                        .uni_max = s->uni,
                                        .bi_max = s->bi};
    s->program.use = (struct numem_program){
        .local_demand = s->demand, .read_solo = s->read, .write_solo = s->write};
    s->program.weight = 1;
    s->nucore = (struct nucore){.machine = &s->machine, .program = &s->program, .programs = 1};
}

/* All data on node 0: its own cores first, then those of lower nodes, as far as its memory goes. */
void numa_share(struct numa_scene *s, double per_core)
{
    for (unsigned c = 0; c <= s->cores[0]; c++)
        s->table[0][c] = per_core * c;
    for (size_t i = 1; i < s->nodes; i++)
        s->read[i] = per_core;
}

/* Every core asks its own memory for l, and every other one for r. */
void numa_all_to_all(struct numa_scene *s, double l, double r)
{
    for (size_t i = 0; i < s->nodes; i++) {
        for (unsigned c = 0; c <= s->cores[i]; c++)
            s->table[i][c] = l * c;
        for (size_t j = 0; j < s->nodes; j++)
            s->read[i * s->nodes + j] = i == j ? 0 : r;
    }
}

/* Its own cores' data are on every node, that of all on node 0. */
void numa_partly_shared(struct numa_scene *s, double own, double shared)
{
    for (size_t i = 0; i < s->nodes; i++) {
        for (unsigned c = 0; c <= s->cores[i]; c++)
            s->table[i][c] = (i == 0 ? own + shared : own) * c;
        s->read[i] = i == 0 ? 0 : shared;
    }
}

static void link_pair(struct numa_scene *s, size_t a, size_t b, double uni, double bi)
{
    s->uni[a * 8 + b] = s->uni[b * 8 + a] = uni;
    s->bi[a * 8 + b] = s->bi[b * 8 + a] = bi;
}

/* Table 5.1b: neighbours in a socket, and 3 and 4, by a wide link; 5 and 6, 7 and 0 over two hops;
 * the others, that the text does not name, over one. */
void numa_opteron(struct numa_scene *s)
{
    numa_scene_init(s, 8, 6, 8.1, 0.4, 2.1, 4.1);
    for (size_t k = 0; k < 8; k += 2)
        link_pair(s, k, k + 1, 4.9, 8.5);
    link_pair(s, 3, 4, 4.9, 8.5);
    link_pair(s, 5, 6, 1.8, 3.6);
    link_pair(s, 7, 0, 1.8, 3.6);
}

/* Every core writes to the next node. */
void numa_write_ring(struct numa_scene *s, double rate)
{
    for (size_t i = 0; i < s->nodes; i++)
        s->write[i * s->nodes + (i + 1) % s->nodes] = rate;
}
