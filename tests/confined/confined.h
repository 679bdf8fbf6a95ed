/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confined - the parts of tests/confined/confined.c. Each prints what fails and exits with 2. */
#ifndef BERTH_TESTS_CONFINED_CONFINED_H
#define BERTH_TESTS_CONFINED_CONFINED_H

#include "tests/confined/unit.h"

/* Gives the process the file system that the unit leaves it. What the caller names in `writable`
 * stays so, and reachable where the unit has a folder of its own: it stands for the unit's
 * RuntimeDirectory and StateDirectory; what it names in `readable` stays reachable. */
void mounts_apply(const struct unit *unit, const struct words *writable,
                  const struct words *readable);

/* Takes the capabilities away that the unit does not leave. */
void powers_apply(const struct unit *unit);

/* Refuses the system calls that the unit does not leave: the last of all. */
void calls_apply(const struct unit *unit);

#endif
