/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_machines - the machines that tests/bench/day knows by name. */
#ifndef BERTH_BENCH_DAY_MACHINES_H
#define BERTH_BENCH_DAY_MACHINES_H

#include <stddef.h>

#include "tests/bench/day_truth.h"

struct day_machine {
    const char *name, *what;
    const char *above; /* hwloc synthetic, down to the last-level cache or the memory node */
};

extern const struct day_machine day_machine[];
extern const size_t day_machines;

/* Returns the machine of that name, or NULL. */
const struct day_machine *day_machine_of(const char *name);

/* Writes the machine (NULL: the first) as hwloc synthetic: each cache has cores for two of the
 * truth's largest program, with so many hardware threads each. */
void day_machine_topology(const struct day_machine *machine, const struct day_truth *truth,
                          unsigned threads, char *text, size_t size);

#endif
