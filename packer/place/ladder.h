/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ladder - what the models take a step for: a program alone on one core, from the best that is
 * known of it, down to the average of the node's known programs (enum step_rung). */
#ifndef BERTH_PLACE_LADDER_H
#define BERTH_PLACE_LADDER_H

#include <stdbool.h>

#include "models/slowdown/app.h"
#include "packer/steps/registry.h"

/* Tells whether the step is at work: not new, no shell, and as far as it is counted not idle. */
bool ladder_at_work(const struct step *step);

/* Returns the step as the models take it: an app of one core. `average` (NULL: nobody is known)
 * stands in for what is not known of it. app.sdp.hits points into the step. */
struct app ladder_app(const struct step *step, const struct app *average);

/* Returns the average of the n apps, of the figures that are known of each; it has no stack
 * distances. All figures of none are NAN. */
struct app ladder_average(size_t n, const struct app *app);

/* Fills in the stack distances of a cache of so many ways where app has none: its hits fall off as
 * measured on real programs (models/slowdown/contend.h), none where its accesses are not known.
 * hits[ways] is the caller's. */
void ladder_distances(struct app *app, size_t ways, double *hits);

#endif
