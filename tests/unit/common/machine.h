/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine - regular machines for the tests of the placement models. */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include "models/placing/di.h"

#define MACHINE_CORES 64 /* at most */

/* Packages, caches and cores of a regular machine. Points into itself: not to be copied. */
struct machine {
    size_t arity[3];
    struct di_machine di;
    struct di_level level[3];
    size_t parent[3][MACHINE_CORES];
};

/* Packages, caches of each, and cores of each cache. */
void machine_make(struct machine *machine, const size_t *arity);

#endif
