/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe - what a step has used: CPU time of its processes while it runs, the plugin's figures at
 * its end. */
#ifndef BERTH_OBSERVE_USAGE_H
#define BERTH_OBSERVE_USAGE_H

#include "packer/steps/packer.h"

/* Read the CPU time of a live step's processes now. */
void observe_step(struct packer *packer, struct step *step);

/* The last word: the plugin's figures (end), or, where there are none, what was read last. */
void observe_end(struct packer *packer, struct step *step, const struct wire_end *end);

/* Seconds since the start, or from start to end. */
double observe_elapsed_s(const struct step *step);

#endif
