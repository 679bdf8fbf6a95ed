/* SPDX-License-Identifier: GPL-2.0-or-later */
/* as_if - where steps that are only observed would stand if berth placed them:
 * packer->state->as_if->
 *
 * What berth would have done is told honestly only when it goes on from what it would have done
 * before: so the pool of that other node is kept while an observed step lives, and each decision
 * begins with it, on the terms of decisions that are real. While steps are placed as well, it
 * begins with where these stand. */
#ifndef BERTH_ENACT_AS_IF_H
#define BERTH_ENACT_AS_IF_H

#include "packer/steps/packer.h"

/* Brings packer->state->as_if up to date with the live steps. Returns whether there is one: false
 * where nobody is observed, and for want of memory. */
bool as_if_sync(const struct packer *packer);

/* Finds a step that has just come, and is only observed, the place that it would get; describes all
 * that are observed. */
void as_if_place(const struct packer *packer, struct step *step);

/* The observed steps would stand so from now on: `next` is taken over. */
void as_if_stand(const struct packer *packer, struct pool *next);

/* Forgets it. */
void as_if_close(const struct packer *packer);

#endif
