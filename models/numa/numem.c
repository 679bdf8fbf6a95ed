/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numem - see numem.h
 *
 * One program, beta <= 1: whatever its flows are, a node's memory delivers min(alpha, local demand
 * + flows), because own cores that take more need never cost the flows more than they gain. So own
 * cores come first, and what is left is a problem of flows (flows.h), solved in closed form where
 * no link is in the way, and as a linear program where one is. */
#include "models/numa/numem.h"

#include <math.h>
#include <stdlib.h>

#include "models/numa/flows.h"
#include "models/numa/numem_constraint.h"
#include "enum_table.h"

const char *const TABLE(numem_constraint_name, NUMEM_CONSTRAINTS) = {
    ROW(NUMEM_NONE) = "none",
    ROW(NUMEM_LOCAL_BANDWIDTH) = "local bandwidth",
    ROW(NUMEM_MAX_OUT) = "max out",
    ROW(NUMEM_LINK) = "link",
    ROW(NUMEM_CONTENTION) = "local/remote contention",
};
TABLE_COMPLETE(numem_constraint_name);

static int check_allocation(const struct numem_machine *m, const struct numem_program *program,
                            const unsigned *allocation, struct numem_fault *fault)
{
    for (size_t i = 0; i < m->nodes; i++) {
        const char *why = NULL;

        if (allocation[i] > m->cores[i])
            why = "the node has fewer cores";
        else if (m->beta[i] * program->local_demand[i][allocation[i]] > m->alpha[i])
            why = "infeasible: beta x local_demand of so many cores is more than alpha";
        if (why)
            return numem_fault_set(fault,
                                   (struct numem_fault){"allocation", {i}, 1, allocation[i], why});
    }
    return 0;
}

int numem_solve(const struct numem_machine *machine, const struct numem_program *program,
                const unsigned *allocation, struct numem_usage *usage, struct numem_fault *fault)
{
    const struct flows_aim aim = {.above = -INFINITY};
    struct flows *flows;
    double *local, *amount;
    int rc = -1;

    if (numem_check_machine(machine, fault) < 0 ||
        numem_check_program(machine, program, fault) < 0 ||
        check_allocation(machine, program, allocation, fault) < 0)
        return -1;
    if (fault)
        *fault = (struct numem_fault){.field = NULL};
    flows = flows_new(machine, &program, 1);
    if (!flows)
        return -1;
    local = calloc(machine->nodes, sizeof(*local));
    amount = calloc(flows->flows + 1, sizeof(*amount));
    if (local && amount)
        rc = flows_solve(flows, allocation, &aim, local, amount);
    if (rc == 0)
        constraint_fill_usage(flows, allocation, local, amount, 0, NULL, usage);
    flows_free(flows);
    free(local);
    free(amount);
    return rc == 0 ? 0 : -1;
}
