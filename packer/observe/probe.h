/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probing - the stage of the interference probe (probe.h): when it runs, and what its results mean
 * for the steps. Nothing happens here unless berth.conf says `probe = on`. */
#ifndef BERTH_OBSERVE_PROBE_H
#define BERTH_OBSERVE_PROBE_H

#include "packer/steps/packer.h"

/* Open the probe, where berth.conf wants one and the node allows it. */
void probing_open(const struct packer *packer);

/* What a turn waits for: fd to be readable (-1: nothing), or so many seconds (< 0: for ever). */
struct probing_wait {
    int fd;
    double in_s;
};

/* One turn: takes the result of the probe under way, or begins one if it is time. */
struct probing_wait probing_turn(const struct packer *packer);

/* The step begins: what the store knows of its program. It has ended: the store learns. */
void probing_start(const struct packer *packer, struct step *step);
void probing_end(const struct packer *packer, struct step *step);

/* Ranks the steps without a miss rate by their intensities: step->probe.rank. NAN where too few
 * probes know the step, or it does not differ from the typical one by more than its error. */
void probing_rank(const struct packer *packer);

#endif
