/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rest - whether there is nothing to decide, so that berthd looks at what runs but seldom.
 *
 * A step that has the pool to itself has nobody to be put beside; when its first windows are over
 * and it stands where Slurm put it, there it stays. If it asked for nothing that follows what it
 * does (size, throttle, ...), then all that is read of it is read for people, the bill and the
 * profile store: these take one long window as well as thirty short ones. So do they while nobody
 * is there, and where each of several steps has all of the pool: a batch script, and what it
 * started.
 *
 * Whatever happens ends the rest: a step that comes, goes or moves, a question of berthctl. */
#ifndef BERTH_STEPS_REST_H
#define BERTH_STEPS_REST_H

#include "packer/steps/packer.h"

/* After a question berthd keeps what it answers up to date for so long: who asks asks again. */
#define REST_ASKED_S 10.0

/* What others tell, or nobody looks at, is read that rarely while berthd rests. */
#define REST_RARELY_S 600.0

/* Does it rest as long as nobody asks? Reads nothing. */
bool rest_nothing_to_decide(const struct packer *packer);

/* May it rest now? Nor does this. */
bool rest_may(const struct packer *packer);

/* Returns the seconds until a turn that is due in in_s (< 0: never) has to be: while berthd may
 * rest, at the common instant (together.h) of conf.rest that comes then. */
double rest_until(const struct packer *packer, double in_s);

/* Somebody has asked for what is known of the steps. */
void rest_asked(const struct packer *packer);

#endif
