/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe - what a step has used: CPU time of its processes while it runs, the plugin's figures at
 * its end. */
#ifndef BERTH_OBSERVE_USAGE_H
#define BERTH_OBSERVE_USAGE_H

#include "packer/steps/packer.h"

/* Brings the CPU time of the live steps up to date: by their counters, where these have ended a
 * window, else by the cgroup that Slurm has made for them, or by their processes, each step's once
 * in a second at most, and so seldom that this takes a hundredth of the time. Nobody's question
 * does that. While berthd rests (steps/rest.h) they are read when the metrics were scraped, else
 * each ten minutes. */
void observe_turn(const struct packer *packer);

/* Returns the seconds until the processes of a step are to be read next, or < 0: of none. */
double observe_due(const struct packer *packer);

/* Reads the CPU time of a live step's processes now. */
void observe_step(const struct packer *packer, struct step *step);

/* The last word: the plugin's figures (end), or, where there are none, what was read last. */
void observe_end(const struct packer *packer, struct step *step, const struct wire_end *end);

/* Seconds since the start, or from start to end. */
double observe_elapsed_s(const struct step *step);

#endif
