/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locality - which memory node a task belongs to, by the shared objects that it uses and where they
 * lie (Vikranth 2018, section 5.4).
 *
 * The similarity of a task and a node is the part of all objects that the task uses and the node
 * has (eq. 5.1 and 5.2). The paper divides by the size of the union D_T and D_N, of all objects
 * that anybody uses or that lie anywhere. An object that nobody has touched yet lies on no node:
 * its first user binds it to its own.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_LOCALITY_H
#define BERTH_MODELS_TASKS_LOCALITY_H

#include <stddef.h>

#define LOCALITY_NOWHERE ((size_t)-1)

struct locality {
    size_t tasks;
    const size_t *first; /* [tasks + 1]: use[first[t]] .. use[first[t + 1] - 1] are task t's */
    const size_t *use;   /* objects, each at most once in a task */
    size_t objects;
    const size_t *node; /* [objects] where each lies, or LOCALITY_NOWHERE */
    size_t nodes;
};

/* Fills row[nodes] with the similarity of a task and each node. */
void locality_similarity(const struct locality *locality, size_t task, double *row);

/* Returns the node of the greatest similarity, the first of equal ones; LOCALITY_NOWHERE: all are
 * 0.
 */
size_t locality_node(size_t nodes, const double *row);

#endif
