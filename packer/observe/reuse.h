/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reuse - the stage that samples how steps use the last-level cache again (reuse/sampler.h), where
 * berth.conf says `reuse_sampling = on` and the processor can. Elsewhere nothing happens here. */
#ifndef BERTH_OBSERVE_REUSE_H
#define BERTH_OBSERVE_REUSE_H

#include "packer/reuse/sampler.h"
#include "packer/steps/packer.h"

/* A counted step: counting has begun, its CPUs have changed, a window is over (of a new phase), it
 * has ended. */
void reuse_attach(const struct packer *packer, struct step *step);
void reuse_follow(struct step *step);
void reuse_window(struct step *step, bool changed);
void reuse_end(struct step *step);

/* Its stack-distance profile on one of the node's caches, of the present phase. 0, or -1: not
 * known. */
int reuse_sdp(const struct packer *packer, const struct step *step, struct reuse_sdp *sdp);

#endif
