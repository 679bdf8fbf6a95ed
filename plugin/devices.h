/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices - which devices a step has, as its environment says.
 *
 * Slurm's own numbers are of the whole node; those of a vendor's variable may be what is left of
 * them inside the step's device cgroup, and so count only where Slurm says nothing. */
#ifndef BERTH_DEVICES_H
#define BERTH_DEVICES_H

#include "packer/wire/wire.h"

/* Writes the step's devices as a registration has them ("gpu:0,gpu:1"); "" where it has none, or
 * one of them has a name that a registration cannot have. env ends with NULL, or is NULL. */
void devices_of_environment(char *const *env, char devices[WIRE_DEVICES_MAX]);

#endif
