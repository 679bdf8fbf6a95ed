/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idle - looks at what is at work on cores that Slurm has given to nobody. */
#ifndef BERTH_ENACT_IDLE_H
#define BERTH_ENACT_IDLE_H

#include "packer/steps/packer.h"

/* Reads how long the node's CPUs were at work, and brings packer->state->idle.used up to date:
 * those of nobody, on which no step stands, that were at work since the look before the last. Where
 * they are others than before the cores are dealt anew. now_s is on CLOCK_MONOTONIC, above 0. */
void idle_look(const struct packer *packer, double now_s);

#endif
