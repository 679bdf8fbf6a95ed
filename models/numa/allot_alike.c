/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_alike - nodes that can be exchanged for one another: with nothing known but their numbers,
 * nobody could tell them apart. Of allocations that differ by exchanges of them only, the first by
 * nucore.h's rule has the more cores on the lower node, so only such ones are looked for. */
#include <string.h>

#include "models/numa/allot_impl.h"

static bool are_same(const double *matrix, size_t nodes, size_t i, size_t j)
{
    for (size_t k = 0; k < nodes; k++)
        if (k != i && k != j &&
            (matrix[i * nodes + k] != matrix[j * nodes + k] ||
             matrix[k * nodes + i] != matrix[k * nodes + j]))
            return false;
    return matrix[i * nodes + j] == matrix[j * nodes + i];
}

static bool machine_is_alike(const struct numem_machine *m, size_t i, size_t j)
{
    return m->alpha[i] == m->alpha[j] && m->beta[i] == m->beta[j] && m->cores[i] == m->cores[j] &&
           are_same(m->uni_max, m->nodes, i, j) && are_same(m->bi_max, m->nodes, i, j);
}

static bool program_is_alike(const struct allot *a, size_t p, size_t i, size_t j)
{
    const struct numem_program *program = a->flows->program[p];
    const struct points *x = &a->problem->points[p * a->nodes + i];
    const struct points *y = &a->problem->points[p * a->nodes + j];

    return x->n == y->n && memcmp(x->count, y->count, x->n * sizeof(*x->count)) == 0 &&
           memcmp(program->local_demand[i], program->local_demand[j],
                  (a->flows->machine->cores[i] + 1) * sizeof(double)) == 0 &&
           are_same(program->read_solo, a->nodes, i, j) &&
           are_same(program->write_solo, a->nodes, i, j);
}

static bool are_alike(const struct allot *a, size_t i, size_t j)
{
    if (!flows_in(a->flows, i) || !flows_in(a->flows, j) ||
        !machine_is_alike(a->flows->machine, i, j))
        return false;
    for (size_t p = 0; p < a->programs; p++)
        if (!program_is_alike(a, p, i, j))
            return false;
    return true;
}

void alike_find(struct allot *a)
{
    for (size_t j = 0; j < a->nodes; j++) {
        a->before[j] = j;
        for (size_t i = j; !a->flows->machine->route && a->before[j] == j && i-- > 0;)
            if (are_alike(a, i, j))
                a->before[j] = i;
    }
}

/* Returns whether the matrix stays as it is when each node is taken for the next one. */
static bool turns(const double *matrix, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = 0; j < nodes; j++)
            if (i != j &&
                matrix[i * nodes + j] != matrix[(i + 1) % nodes * nodes + (j + 1) % nodes])
                return false;
    return true;
}

static bool nodes_are_same(const struct allot *a)
{
    const struct numem_machine *m = a->flows->machine;
    const struct points *x = &a->problem->points[0];

    for (size_t i = 1; i < a->nodes; i++) {
        const struct points *y = &a->problem->points[i];

        if (!flows_in(a->flows, i) || m->alpha[i] != m->alpha[0] || m->beta[i] != m->beta[0] ||
            x->n != y->n || memcmp(x->count, y->count, x->n * sizeof(*x->count)) != 0 ||
            memcmp(x->demand, y->demand, x->n * sizeof(*x->demand)) != 0)
            return false;
    }
    return true;
}

bool alike_turns(const struct allot *a)
{
    const struct numem_machine *m = a->flows->machine;
    const struct numem_program *program = a->flows->program[0];

    return a->programs == 1 && !m->route && nodes_are_same(a) && turns(m->uni_max, a->nodes) &&
           turns(m->bi_max, a->nodes) && turns(program->read_solo, a->nodes) &&
           turns(program->write_solo, a->nodes);
}

bool alike_narrow(const struct allot *a, struct box *box)
{
    for (size_t j = 0; j < a->nodes; j++)
        if (box->hi[j] > box->hi[a->before[j]])
            box->hi[j] = box->hi[a->before[j]];
    for (size_t j = a->nodes; j-- > 0;)
        if (box->lo[j] > box->lo[a->before[j]])
            box->lo[a->before[j]] = box->lo[j];
    for (size_t j = 0; j < a->nodes; j++)
        if (box->lo[j] > box->hi[j])
            return false;
    return true;
}
