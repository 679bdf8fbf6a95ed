/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore_check - what makes no sense in a NuCore problem. */
#include "models/numa/nucore.h"

#include <math.h>

unsigned nucore_most(const struct nucore *nucore, size_t program, size_t node)
{
    const unsigned *most = nucore->program[program].most;

    return most ? most[node] : nucore->machine->cores[node];
}

/* Says what is wrong with a field that is one value. */
static int fault_value(struct numem_fault *fault, const char *field, double value, const char *why)
{
    return numem_fault_set(fault, (struct numem_fault){field, {0}, 0, value, why});
}

/* Says the same of a field that has one value for each node. */
static int fault_node(struct numem_fault *fault, const char *field, size_t i, double value,
                      const char *why)
{
    return numem_fault_set(fault, (struct numem_fault){field, {i}, 1, value, why});
}

static int check_limits(const struct numem_machine *m, const struct nucore_program *program,
                        struct numem_fault *fault)
{
    for (size_t i = 0; i < m->nodes; i++) {
        unsigned most = program->most ? program->most[i] : m->cores[i];

        if (most > m->cores[i])
            return fault_node(fault, "most", i, most, "the node has fewer cores");
        if (program->least && program->least[i] > m->cores[i])
            return fault_node(fault, "least", i, program->least[i], "the node has fewer cores");
        if (program->least && program->least[i] > most)
            return fault_node(fault, "least", i, program->least[i], "it is more than most");
    }
    return 0;
}

/* Checks that eq. 5.7 has a solution for some count of each node's cores. */
static int check_counts(const struct numem_machine *m, const struct nucore_program *program,
                        struct numem_fault *fault)
{
    for (size_t i = 0; i < m->nodes; i++) {
        unsigned c = program->least ? program->least[i] : 0;
        unsigned most = program->most ? program->most[i] : m->cores[i];

        while (c <= most && m->beta[i] * program->use.local_demand[i][c] > m->alpha[i])
            c++;
        if (c > most)
            return fault_node(
                fault, "local_demand", i, NAN,
                "infeasible: beta x local_demand is more than alpha for any number of cores");
    }
    return 0;
}

static int check_program(const struct numem_machine *m, const struct nucore_program *program,
                         struct numem_fault *fault)
{
    unsigned most = program->cores_max;

    if (numem_check_program(m, &program->use, fault) < 0 || check_limits(m, program, fault) < 0 ||
        check_counts(m, program, fault) < 0)
        return -1;
    if (most > 0 && program->cores_min > most)
        return fault_value(fault, "cores_max", most, "it is less than cores_min");
    if (!(program->weight > 0) || program->weight > NUCORE_WEIGHT_MAX)
        return fault_value(fault, "weight", program->weight,
                           "a weight is more than 0 and at most 1000");
    if (!(program->floor >= 0) || program->floor > NUMEM_GBPS_MAX)
        return fault_value(fault, "floor", program->floor,
                           "a bandwidth is not negative, and at most 1e12 GB/s");
    return 0;
}

int nucore_check(const struct nucore *nucore, struct numem_fault *fault, size_t *program)
{
    size_t p = nucore->programs;

    if (program)
        *program = p;
    if (numem_check_machine(nucore->machine, fault) < 0)
        return -1;
    if (p < 1 || p > NUCORE_PROGRAMS_MAX)
        return fault_value(fault, "programs", (double)p, "1 to 64 programs expected");
    if (!(nucore->fairness >= 0) || nucore->fairness > 1)
        return fault_value(fault, "fairness", nucore->fairness, "a fraction is 0 to 1");
    for (p = 0; p < nucore->programs; p++) {
        if (program)
            *program = p;
        if (check_program(nucore->machine, &nucore->program[p], fault) < 0)
            return -1;
    }
    return 0;
}
