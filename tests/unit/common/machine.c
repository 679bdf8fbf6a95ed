/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine - see machine.h */
#include "tests/unit/common/machine.h"

void machine_make(struct machine *machine, const size_t *arity)
{
    size_t count = 1;

    for (size_t i = 0; i < 3; i++) {
        machine->arity[i] = arity[i];
        count *= arity[i];
        for (size_t j = 0; j < count; j++)
            machine->parent[i][j] = j / arity[i];
        machine->level[i] = (struct di_level){count, machine->parent[i]};
    }
    machine->di = (struct di_machine){3, machine->level};
}
