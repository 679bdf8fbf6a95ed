/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probing - the stage of the interference probe (probe.h): when it runs, and what its results mean
 * for the steps. Nothing happens here unless berth.conf says `probe = on`. */
#ifndef BERTH_OBSERVE_PROBE_H
#define BERTH_OBSERVE_PROBE_H

#include "packer/steps/packer.h"

/* What a turn waits for: fd to be readable (-1: nothing), or so many seconds (< 0: for ever). */
struct probing_wait {
    int fd;
    double in_s;
};

/* One turn: takes the result of the probe under way, or begins one if it is time. */
struct probing_wait probing_turn(const struct packer *packer);

#endif
